//! The table `links_summary`: one row per hop (link, or port of a medium).

use super::cell::LinkName;
use super::declare::{Rows, table};
use super::links::utilisation;
use super::{Finished, Made};
use crate::routes::HopId;
use units::Time;

const MEASURED: &str = "after the warm-up, until the end of the run";

table! {
    /// A link while it was measured.
    pub struct LinkSummaryRow, one row per "link" {
        /// name
        link: LinkName, "";
        /// packets dropped, in the queue or on the wire
        dropped_packets: u64, "packets", MEASURED;
        /// packets marked by the queue
        marked_packets: u64, "packets", MEASURED;
        /// packets that left the link
        forwarded_packets: u64, "packets", MEASURED;
        /// bytes that left the link, all headers included
        forwarded_bytes: u64, "bytes", MEASURED;
        /// share of the time in which the link sent; null if the rate is unlimited
        utilisation: f64, "1", MEASURED;
        /// mean sojourn time of packets in the queue
        sojourn_mean_s: f64, "s", MEASURED;
        /// 95th percentile of the sojourn time
        sojourn_p95_s: f64, "s", MEASURED;
        /// largest number of packets in the queue
        backlog_max_packets: u64, "packets", MEASURED;
    }
}

impl Made for LinkSummaryRow {
    fn rows(run: &mut Finished<'_>) -> Rows<LinkSummaryRow> {
        let (from, to) = (Time::from_nanos(run.plan.warmup_ns), Time::from_nanos(run.plan.duration_ns));
        let row = |hop: HopId| {
            let totals = run.net.totals(hop);
            let measured = &totals.measured;
            LinkSummaryRow {
                link: LinkName(hop.0),
                dropped_packets: measured.dropped_packets + measured.lost_packets,
                marked_packets: measured.marked_packets,
                forwarded_packets: measured.forwarded_packets,
                forwarded_bytes: measured.forwarded_bytes,
                utilisation: utilisation(
                    run.plan,
                    hop,
                    run.net.offered_bytes(hop, from, to),
                    measured,
                    from,
                    to,
                ),
                sojourn_mean_s: measured.mean_wait_s(),
                sojourn_p95_s: totals.wait_quantile_s(0.95),
                backlog_max_packets: totals.backlog_max_packets,
            }
        };
        run.net.hops().map(row).collect()
    }
}
