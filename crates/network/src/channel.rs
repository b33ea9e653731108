//! Radio channels: a signal-to-noise ratio that changes with time.

use units::{Duration, Rng, Time};

/// Own: between two values the ratio is constant. Shorter than a channel stays the same for a device that is carried
/// about: 10 ms at 5 GHz and 1.5 m/s (coherence time, 9/16 pi of the inverse of the Doppler shift).
const STEP: Duration = Duration::from_millis(1);

/// A signal-to-noise ratio in decibels: normally distributed, with a correlation that decays exponentially over time, as
/// shadowing does over distance (Gudmundson, Electronics Letters 27, 1991).
///
/// It takes a value every millisecond, however often it is asked: it does not depend on the traffic.
#[derive(Clone, Debug)]
pub struct Snr {
    mean_db: f64,
    spread_db: f64,
    /// Correlation between two values that follow each other.
    kept: f64,
    /// What is new in each, as a share of the spread.
    renewed: f64,
    /// Values so far.
    steps: u64,
    /// The last one, less the mean, by the spread.
    deviation: f64,
    rng: Rng,
}

impl Snr {
    /// With a mean, a standard deviation, and the time after which the correlation has decayed to 1/e.
    pub fn new(mean_db: f64, spread_db: f64, memory: Duration, mut rng: Rng) -> Snr {
        let kept = (-STEP.as_secs_f64() / memory.as_secs_f64()).exp();
        let deviation = rng.normal();
        let renewed = (1.0 - kept * kept).sqrt();
        Snr { mean_db, spread_db, kept, renewed, steps: 0, deviation, rng }
    }

    /// The ratio in decibels, at a time that is not before the last one.
    pub fn at(&mut self, now: Time) -> f64 {
        if self.spread_db > 0.0 {
            let due = now.since(Time::ZERO).as_nanos() / STEP.as_nanos();
            while self.steps < due {
                self.deviation = self.kept * self.deviation + self.renewed * self.rng.normal();
                self.steps += 1;
            }
        }
        self.latest()
    }

    /// The ratio when it was asked for last.
    pub fn latest(&self) -> f64 {
        self.mean_db + self.spread_db * self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snr(spread_db: f64) -> Snr {
        Snr::new(20.0, spread_db, Duration::from_millis(100), Rng::stream(1, "snr"))
    }

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    #[test]
    fn without_a_spread_it_is_the_mean() {
        assert_eq!([0, 5_000].map(|at| snr(0.0).at(ms(at))), [20.0, 20.0]);
    }

    #[test]
    fn it_does_not_matter_how_often_it_is_asked() {
        let (mut often, mut once) = (snr(3.0), snr(3.0));
        (0..777).for_each(|n| {
            often.at(ms(n));
        });
        assert_eq!(often.at(ms(777)), once.at(ms(777)));
    }

    #[test]
    fn mean_spread_and_memory_are_those_asked_for() {
        let mut it = snr(3.0);
        let values: Vec<f64> = (0..2_000_000).map(|n| it.at(ms(n)) - 20.0).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let product = |lag: usize| values.iter().zip(&values[lag..]).map(|(a, b)| a * b).sum::<f64>() / n;
        // 2,000 s hold 10,000 independent values: standard errors of 0.03 dB and of one in seventy.
        assert!(mean.abs() < 0.12, "mean {mean}");
        assert!((product(0).sqrt() / 3.0 - 1.0).abs() < 0.03, "spread {}", product(0).sqrt());
        let kept = product(100) / product(0);
        assert!((kept - (-1f64).exp()).abs() < 0.04, "correlation {kept}");
    }
}
