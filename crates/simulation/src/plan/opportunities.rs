//! Plans of links that send at given times.

use super::range::{Check, LONGEST_NS, refuse, within};
use network::Opportunities;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

/// Moments at which a link may send.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpportunitiesPlan {
    /// When, from the beginning of a round on, in order and in units; the last one ends the round.
    pub times: Vec<u64>,
    /// The unit of time in nanoseconds.
    pub unit_ns: u64,
    /// Bytes that each carries.
    pub bytes: u32,
    /// A round begins where another ends.
    pub repeat: bool,
    /// The run begins at this time of the first round.
    pub offset_ns: u64,
}

impl OpportunitiesPlan {
    /// Refuses what makes no sense; `path` is that of the opportunities.
    pub(super) fn check(&self, path: &str, duration_ns: u64) -> Check {
        within(format!("{path}.bytes"), self.bytes, 1..=1_000_000_000)?;
        within(format!("{path}.unit_ns"), self.unit_ns, 1..=1_000_000_000)?;
        within(format!("{path}.offset_ns"), self.offset_ns, 0..=LONGEST_NS)?;
        let last = self.times.last().copied().unwrap_or(0);
        if last == 0 {
            refuse!(format!("{path}.times"), "a round of no length; there has to be one after zero");
        }
        within(format!("{path}.times"), last, 0..=LONGEST_NS / self.unit_ns)?;
        if let Some(n) = self.times.windows(2).position(|pair| pair[1] < pair[0]) {
            refuse!(format!("{path}.times[{}]", n + 1), "earlier than the one before it");
        }
        if !self.repeat && last * self.unit_ns < self.offset_ns + duration_ns {
            refuse!(
                path,
                "nothing is ever sent after the last one, before the end of the run; let them repeat"
            );
        }
        Ok(())
    }

    /// Makes them.
    pub(crate) fn build(&self) -> Opportunities {
        let times = self.times.iter().map(|time| Duration::from_nanos(time * self.unit_ns)).collect();
        Opportunities::new(times, self.bytes, self.repeat, Duration::from_nanos(self.offset_ns))
    }
}
