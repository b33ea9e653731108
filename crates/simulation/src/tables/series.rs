//! The table `series`: one row per sample and flow.

use super::cell::FlowName;
use super::declare::table;
use units::{Duration, Rate, Time};

/// States of a flow in loss recovery, in the order of [`congestion::CaState`].
pub const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];
/// State of a flow that has not sent anything yet or has nothing to send.
pub const WAITING: &str = "waiting";
/// State of a flow that will not send any more.
pub const DONE: &str = "done";

table! {
    /// A flow at a sample.
    pub struct SeriesRow, one row per "sample and flow, from the start of the run to its end, also after end_s" {
        /// end of the interval
        time_s: Time, "s";
        /// name
        flow: FlowName, "";
        /// payload delivered in order in the interval, over its length
        goodput_bps: f64, "bit/s";
        /// congestion window
        cwnd_bytes: Option<u64>, "bytes";
        /// payload sent and neither acknowledged nor marked lost
        in_flight_bytes: Option<u64>, "bytes";
        /// smoothed RTT; for pings and probes the mean RTT of the replies in the interval
        srtt_s: Option<Duration>, "s";
        /// smallest RTT of the last five minutes
        min_rtt_s: Option<Duration>, "s";
        /// pacing rate; null if there is none
        pacing_bps: Option<Rate>, "bit/s";
        /// latest delivery-rate sample
        delivery_bps: Option<Rate>, "bit/s";
        /// data packets retransmitted in the interval
        retransmitted_packets: u64, "packets";
        /// waiting, open, disorder, cwr, recovery, loss or done
        state: &'static str, "";
    }
}
