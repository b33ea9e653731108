//! Alternating periods of activity and silence.

use crate::plan::PeriodsPlan;
use units::{Duration, Rng};

/// Source of the lengths of periods.
#[derive(Clone, Debug)]
pub struct Periods {
    on: Duration,
    off: Duration,
    exponential: bool,
    rng: Rng,
}

impl Periods {
    /// The periods of a plan, with a source of randomness of their own.
    pub fn new(plan: PeriodsPlan, rng: Rng) -> Periods {
        Periods {
            on: Duration::from_nanos(plan.on_ns),
            off: Duration::from_nanos(plan.off_ns),
            exponential: plan.exponential,
            rng,
        }
    }

    /// Draws the length of the next active period.
    pub fn activity(&mut self) -> Duration {
        self.draw(self.on)
    }

    /// Draws the length of the next silent period.
    pub fn silence(&mut self) -> Duration {
        self.draw(self.off)
    }

    fn draw(&mut self, mean: Duration) -> Duration {
        if self.exponential { exponential(mean, &mut self.rng) } else { mean }
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
        let plan = PeriodsPlan { on_ns: 5, off_ns: 7, exponential: false };
        let mut periods = Periods::new(plan, Rng::stream(1, "test"));
        assert_eq!((periods.activity().as_nanos(), periods.silence().as_nanos()), (5, 7));
    }
}
