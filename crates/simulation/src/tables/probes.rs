//! The table `probes`: one row per datagram of the flows that record them.

use super::cell::FlowName;
use super::declare::{Rows, table};
use super::{Finished, Made};
use crate::hosts::ProbeRecord;
use units::{Duration, Time};

table! {
    /// A datagram.
    pub struct ProbeRow, one row per "packet of a ping, a probe or a call, those sent during the warm-up included" {
        /// sending time
        time_s: Time, "s";
        /// name
        flow: FlowName, "";
        /// one-way delay; null if it did not arrive
        owd_s: Option<Duration>, "s";
        /// time until its reply arrived; null if no reply arrived or none was requested
        rtt_s: Option<Duration>, "s";
    }
}

impl Made for ProbeRow {
    /// Rows in the order of flows.
    fn rows(run: &mut Finished<'_>) -> Rows<ProbeRow> {
        let probes =
            (0u32..).zip(run.flows).flat_map(|(n, flow)| flow.probes().iter().map(move |probe| (n, probe)));
        let row = |(n, probe): (u32, &ProbeRecord)| ProbeRow {
            time_s: probe.sent,
            flow: FlowName(n),
            owd_s: since(probe.arrived, probe.sent),
            rtt_s: since(probe.returned, probe.sent),
        };
        probes.map(row).collect()
    }
}

/// Time since `sent`; `None` if the event has not happened.
fn since(time: Time, sent: Time) -> Option<Duration> {
    (time != Time::NEVER).then(|| time.since(sent))
}
