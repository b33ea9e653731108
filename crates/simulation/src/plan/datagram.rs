//! Plans of datagram flows, which are not TCP.

use super::range::{Check, LONGEST_NS, within};
use crate::periods::Periods;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Datagrams sent on a schedule that does not react to loss or delay.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatagramPlan {
    /// Protocol of the datagrams.
    pub protocol: Protocol,
    /// Payload of each datagram.
    pub payload_bytes: u32,
    /// Headers of each datagram.
    pub overhead_bytes: u32,
    /// Time between two datagrams; the mean if `poisson`.
    pub interval_ns: u64,
    /// Whether departures are a Poisson process, with exponentially distributed times between departures.
    pub poisson: bool,
    /// Periods of activity and silence; `None`: always active.
    pub periods: Option<Periods>,
    /// Whether the receiver echoes each datagram.
    pub echo: bool,
    /// Whether the table `probes` has a row per datagram.
    pub each: bool,
}

/// Protocol of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// The User Datagram Protocol.
    Udp,
    /// The Internet Control Message Protocol.
    Icmp,
}

impl Protocol {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Udp => "udp",
            Protocol::Icmp => "icmp",
        }
    }
}

impl DatagramPlan {
    /// Rejects settings that are out of range. `path` is the path of the workload.
    pub(crate) fn check(&self, path: &str) -> Check {
        let field = |name: &str| format!("{path}.{name}");
        within(field("payload_bytes"), self.payload_bytes, 0..=9_000)?;
        within(field("overhead_bytes"), self.overhead_bytes, 1..=1_000)?;
        within(field("interval_ns"), self.interval_ns, 1..=LONGEST_NS)?;
        self.periods.map_or(Ok(()), |periods| periods.check(&field("periods")))
    }
}
