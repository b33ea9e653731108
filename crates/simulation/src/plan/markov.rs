//! A link whose states form a Markov chain in continuous time.

use super::ChangePlan;
use super::range::{Check, LONGEST_NS, refuse, within};
use crate::periods::exponential;
use network::Dice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Rng, Time};

/// Most changes of state that are expected.
const MOST_MOVES: u64 = 1_000_000;

/// States that a link goes through at random: it stays in each for a random time, then goes to another one.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkovPlan {
    /// When it begins, in the first state.
    pub from_ns: u64,
    /// Mean of the exponentially distributed times in a state.
    pub mean_ns: u64,
    /// It goes to the state before or behind in the list; otherwise to any other.
    pub neighbours: bool,
    /// The states, each as a change whose time does not count.
    pub states: Vec<ChangePlan>,
}

impl MarkovPlan {
    /// Refuses what makes no sense, apart from the states themselves; `path` is that of the channel.
    pub(super) fn check(&self, path: &str, duration_ns: u64) -> Check {
        within(format!("{path}.from_ns"), self.from_ns, 0..=LONGEST_NS)?;
        within(format!("{path}.mean_ns"), self.mean_ns, duration_ns / MOST_MOVES + 1..=LONGEST_NS)?;
        if self.states.len() < 2 {
            refuse!(format!("{path}.states"), "at least two, or there is nowhere to go");
        }
        if self.states.iter().all(|state| state.rate_bps == Some(0)) {
            refuse!(format!("{path}.states"), "nothing is ever sent; one of them needs another rate");
        }
        Ok(())
    }

    /// The states that it goes through until the end, and when it enters them.
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

    /// The state after `state`.
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
