//! Plans of applications that alternate between activity and silence.

use super::range::{Check, LONGEST_NS, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Alternating periods of activity and silence, activity first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeriodsPlan {
    /// Length of active periods; the mean if `exponential`.
    pub on_ns: u64,
    /// Length of silent periods; the mean if `exponential`.
    pub off_ns: u64,
    /// Whether lengths are exponential instead of constant.
    pub exponential: bool,
}

/// Shortest mean length of an active period. It bounds how often periods are drawn until one contains a packet.
const SHORTEST_NS: u64 = 1_000;

impl PeriodsPlan {
    /// Refuses numbers out of range.
    pub(crate) fn check(&self, path: &str) -> Check {
        within(format!("{path}.on_ns"), self.on_ns, SHORTEST_NS..=LONGEST_NS)?;
        within(format!("{path}.off_ns"), self.off_ns, 0..=LONGEST_NS)
    }
}
