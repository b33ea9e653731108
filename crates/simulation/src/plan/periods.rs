//! Plans of applications that are active and silent by turns.

use super::range::{Check, LONGEST_NS, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Times of activity and of silence take turns, activity first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeriodsPlan {
    /// Length of the active ones, or its mean.
    pub on_ns: u64,
    /// Length of the silent ones, or its mean.
    pub off_ns: u64,
    /// Lengths are exponential instead of constant.
    pub exponential: bool,
}

/// Shortest mean length of a period. Drawing periods until one has a packet in it has to end.
const SHORTEST_NS: u64 = 1_000;

impl PeriodsPlan {
    /// Refuses numbers that make no sense.
    pub(crate) fn check(&self, path: &str) -> Check {
        within(format!("{path}.on_ns"), self.on_ns, SHORTEST_NS..=LONGEST_NS)?;
        within(format!("{path}.off_ns"), self.off_ns, 0..=LONGEST_NS)
    }
}
