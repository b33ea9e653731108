//! Plans of applications that write into their socket at a rate.

use super::PeriodsPlan;
use super::range::{Check, within};
use network::Server;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data comes in writes of equal size, all the time or now and then. The socket takes what fits into its send buffer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WritesPlan {
    /// Payload while it is active; `None`: without limit.
    pub rate_bps: Option<u64>,
    /// Payload of each write.
    pub write_bytes: u32,
    /// It is active now and then only; `None`: all the time.
    pub periods: Option<PeriodsPlan>,
    /// A write that does not fit is lost; otherwise the application waits until it does.
    pub drops: bool,
}

impl WritesPlan {
    /// Refuses numbers that make no sense; `path` is the workload's.
    pub(super) fn check(&self, path: &str) -> Check {
        let field = |name: &str| format!("{path}.{name}");
        within(field("rate_bps"), self.rate_bps.unwrap_or(1), 1..=Server::MAX_RATE)?;
        within(field("write_bytes"), self.write_bytes, 1..=1_000_000_000)?;
        self.periods.map_or(Ok(()), |periods| periods.check(&field("periods")))
    }
}
