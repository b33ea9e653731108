//! A link whose states form a Markov chain in continuous time.

use super::ChangePlan;
use super::range::{Check, LONGEST_NS, refuse, within};
use crate::periods::exponential;
use network::Dice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Rng, Time};

/// Largest expected number of state changes in a run.
const MOST_MOVES: u64 = 1_000_000;

/// Random sequence of link states. Each state lasts for an exponentially distributed time, then another state begins.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkovPlan {
    /// Time at which the first state begins.
    pub from_ns: u64,
    /// Mean of the exponentially distributed times in a state.
    pub mean_ns: u64,
    /// Whether the next state is a neighbour in the list; otherwise the next state is any other state.
    pub neighbours: bool,
    /// The states, each as a change whose time is ignored.
    pub states: Vec<ChangePlan>,
}

impl MarkovPlan {
    /// Rejects settings that are out of range. `path` is the path of the channel. The states are checked together with
    /// the changes of the link.
    pub(super) fn check(&self, path: &str, duration_ns: u64) -> Check {
        within(format!("{path}.from_ns"), self.from_ns, 0..=LONGEST_NS)?;
        within(format!("{path}.mean_ns"), self.mean_ns, duration_ns / MOST_MOVES + 1..=LONGEST_NS)?;
        if self.states.len() < 2 {
            refuse!(format!("{path}.states"), "a channel needs at least two states; add one");
        }
        if self.states.iter().all(|state| state.rate_bps == Some(0)) {
            refuse!(
                format!("{path}.states"),
                "the rate is 0 in all states, so the link never sends; give one state a rate above 0"
            );
        }
        Ok(())
    }

    /// States until `end`, each with its start time in nanoseconds.
    pub(crate) fn moves(&self, dice: &Dice, end: Time) -> Vec<(u64, &ChangePlan)> {
        let mut rng = dice.rng("wander");
        let (mut at, mut state) = (self.from_ns, 0usize);
        let mut found = Vec::new();
        while at < end.as_nanos() {
            found.push((at, &self.states[state]));
            let stay = exponential(Duration::from_nanos(self.mean_ns), &mut rng);
            at = at.saturating_add(stay.as_nanos());
            state = self.step(state, &mut rng);
        }
        found
    }

    /// Draws the state after `state`.
    fn step(&self, state: usize, rng: &mut Rng) -> usize {
        let last = self.states.len() - 1;
        if !self.neighbours {
            return (state + 1 + rng.below(last as u32) as usize) % (last + 1);
        }
        match state {
            0 => 1,
            _ if state == last => last - 1,
            _ if rng.chance(0.5) => state + 1,
            _ => state - 1,
        }
    }
}
