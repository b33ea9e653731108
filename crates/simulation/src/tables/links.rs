//! The table `links`: one row per sample and hop (link, or port of a medium).

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
        /// bytes in the queue
        backlog_bytes: u64, "bytes";
        /// packets in the queue
        backlog_packets: u64, "packets";
        /// mean sojourn time of the packets sent in the interval; null if there is none
        sojourn_s: f64, "s";
        /// packets dropped in the interval, in the queue or on the wire
        dropped_packets: u64, "packets";
        /// packets marked in the interval
        marked_packets: u64, "packets";
        /// share of the interval in which the link sent; null if the rate is unlimited
        utilisation: f64, "1";
    }
}

impl LinkRow {
    /// Row of a hop. `interval`: the hop's counters from `from` to `time`; `run`: the hop's counters of the run so far;
    /// `offered`: bytes that a link with opportunities could have sent in the interval.
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

/// Share of the time after `from` up to `to` in which a hop transmitted. For a port of a medium the overhead of its
/// turns does not count. For a link with opportunities, the result is the share of the offered bytes that packets
/// started to use. NaN if the rate is unlimited.
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
