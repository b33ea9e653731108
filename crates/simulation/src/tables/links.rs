//! The table `links`: one row per sample and hop: link, or port of a medium.

use super::cell::LinkName;
use super::declare::table;
use crate::plan::Plan;
use crate::routes::HopId;
use network::Counters;
use units::Time;

table! {
    /// A link at a sample.
    pub struct LinkRow, one row per "sample and link, from the start of the run to its end" {
        /// end of the interval
        time_s: Time, "s";
        /// name
        link: LinkName, "";
        /// bytes that wait
        backlog_bytes: u64, "bytes";
        /// packets that wait
        backlog_packets: u64, "packets";
        /// mean wait of the packets sent in the interval; null if there is none
        sojourn_s: f64, "s";
        /// packets dropped in the interval, by the queue or on the wire
        dropped_packets: u64, "packets";
        /// packets marked in the interval
        marked_packets: u64, "packets";
        /// share of the interval in which the link sent; null if the rate is unlimited
        utilisation: f64, "1";
    }
}

impl LinkRow {
    /// What a hop did in the `interval` after `from` that ends at `time`. Beside it: what it did in the run by then, and the bytes
    /// that it could have sent in the interval if it sends at given moments only.
    pub fn new(
        plan: &Plan,
        hop: HopId,
        (run, offered): (Counters, Option<u64>),
        interval: &Counters,
        from: Time,
        time: Time,
    ) -> LinkRow {
        LinkRow {
            time_s: time,
            link: LinkName(hop.0),
            backlog_bytes: run.waiting_bytes(),
            backlog_packets: run.waiting_packets(),
            sojourn_s: interval.mean_wait_s(),
            dropped_packets: interval.dropped_packets + interval.lost_packets,
            marked_packets: interval.marked_packets,
            utilisation: utilisation(plan, hop, offered, interval, from, time),
        }
    }
}

/// The share of the time after `from` up to `to` during which a hop transmitted, for a port of a medium without the
/// overhead of its turns; if it sends at given moments only, the
/// share of what they could carry that packets were begun with; NaN if it is unlimited.
pub(crate) fn utilisation(
    plan: &Plan,
    hop: HopId,
    offered: Option<u64>,
    counters: &Counters,
    from: Time,
    to: Time,
) -> f64 {
    match (plan.has_rate(hop), offered) {
        (true, _) => counters.busy_ns as f64 / to.since(from).as_nanos() as f64,
        (false, Some(offered)) if offered > 0 => (counters.started_bytes as f64 / offered as f64).min(1.0),
        _ => f64::NAN,
    }
}
