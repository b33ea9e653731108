//! Plans of datagram flows, which are not TCP.

use super::PeriodsPlan;
use super::range::{Check, LONGEST_NS, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Datagrams that leave at times of their own, whatever happens to them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatagramPlan {
    /// What carries them.
    pub protocol: ProtocolPlan,
    /// Payload of each.
    pub payload_bytes: u32,
    /// Headers around the payload.
    pub overhead_bytes: u32,
    /// Time between two of them, or its mean.
    pub interval_ns: u64,
    /// They leave as a Poisson process: the time between two is exponential.
    pub poisson: bool,
    /// They leave now and then only; `None`: all the time.
    pub periods: Option<PeriodsPlan>,
    /// The far end sends each back.
    pub echo: bool,
    /// Write each down in the table `probes`.
    pub each: bool,
}

/// What carries datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolPlan {
    /// The User Datagram Protocol.
    Udp,
    /// The Internet Control Message Protocol.
    Icmp,
}

impl ProtocolPlan {
    /// As results have it.
    pub fn name(self) -> &'static str {
        match self {
            ProtocolPlan::Udp => "udp",
            ProtocolPlan::Icmp => "icmp",
        }
    }
}

impl DatagramPlan {
    /// Refuses numbers that make no sense; `path` is the workload's.
    pub(crate) fn check(&self, path: &str) -> Check {
        let field = |name: &str| format!("{path}.{name}");
        within(field("payload_bytes"), self.payload_bytes, 0..=9_000)?;
        within(field("overhead_bytes"), self.overhead_bytes, 1..=1_000)?;
        within(field("interval_ns"), self.interval_ns, 1..=LONGEST_NS)?;
        self.periods.map_or(Ok(()), |periods| periods.check(&field("periods")))
    }
}
