//! Alternating periods of activity and silence.

use crate::plan::range::{Check, LONGEST_NS, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Rng};

/// Alternating periods of activity and silence, activity first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Periods {
    /// Length of active periods; the mean if `exponential`.
    pub on_ns: u64,
    /// Length of silent periods; the mean if `exponential`.
    pub off_ns: u64,
    /// Whether lengths are exponential instead of constant.
    pub exponential: bool,
}

/// Shortest mean length of an active period. This minimum bounds how often periods are drawn until a period contains a
/// packet.
const SHORTEST_NS: u64 = 1_000;

impl Periods {
    /// Rejects lengths that are out of range.
    pub(crate) fn check(&self, path: &str) -> Check {
        within(format!("{path}.on_ns"), self.on_ns, SHORTEST_NS..=LONGEST_NS)?;
        within(format!("{path}.off_ns"), self.off_ns, 0..=LONGEST_NS)
    }

    /// Draws the length of an active period.
    pub fn activity(&self, rng: &mut Rng) -> Duration {
        self.draw(self.on_ns, rng)
    }

    /// Draws the length of a silent period.
    pub fn silence(&self, rng: &mut Rng) -> Duration {
        self.draw(self.off_ns, rng)
    }

    fn draw(&self, mean_ns: u64, rng: &mut Rng) -> Duration {
        let mean = Duration::from_nanos(mean_ns);
        if self.exponential { exponential(mean, rng) } else { mean }
    }
}

/// Draws a time from the exponential distribution with this mean, by inversion; at least 1 ns, so that time advances.
pub fn exponential(mean: Duration, rng: &mut Rng) -> Duration {
    let nanos = -(1.0 - rng.unit()).ln() * mean.as_nanos() as f64;
    Duration::from_nanos((nanos as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_and_deviation(draws: &[f64]) -> (f64, f64) {
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        (mean, (draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt())
    }

    #[test]
    fn exponential_times_have_the_mean_as_their_deviation() {
        let mut rng = Rng::stream(1, "test");
        let draws: Vec<f64> =
            (0..40_000).map(|_| exponential(Duration::from_millis(20), &mut rng).as_secs_f64()).collect();
        let (mean, deviation) = mean_and_deviation(&draws);
        // Three standard errors of the mean are 1.5 %.
        assert!((mean / 0.02 - 1.0).abs() < 0.015, "{mean}");
        assert!((deviation / mean - 1.0).abs() < 0.03, "{deviation}");
    }

    #[test]
    fn constant_periods_are_constant() {
        let periods = Periods { on_ns: 5, off_ns: 7, exponential: false };
        let mut rng = Rng::stream(1, "test");
        assert_eq!((periods.activity(&mut rng).as_nanos(), periods.silence(&mut rng).as_nanos()), (5, 7));
    }
}
