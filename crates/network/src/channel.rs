//! Radio channels: a signal-to-noise ratio that changes with time.

use std::ops::RangeInclusive;
use units::{Duration, Rng, Time};

/// Ranges of the mean and the standard deviation of signal-to-noise ratios in dB, and of the memory in seconds.
const SNR_DB: RangeInclusive<f64> = -100.0..=100.0;
const SPREAD_DB: RangeInclusive<f64> = 0.0..=100.0;
const MEMORY_S: RangeInclusive<f64> = 1e-3..=1e6;

/// Own choice: time for which the ratio is constant. The coherence time of a device that a person carries is longer
/// than this step: 10 ms at 5 GHz and 1.5 m/s (9/(16 pi) divided by the Doppler shift).
const STEP: Duration = Duration::from_millis(1);

/// A random obstacle, such as a person in the path of millimetre waves. The times with and without the obstacle are
/// exponentially distributed (M. Gapeyenko et al., IEEE ICC 2016, cited from memory).
#[derive(Clone, Debug)]
pub struct Blockage {
    depth_db: f64,
    /// Mean durations without and with the obstacle, in seconds.
    lasting: [f64; 2],
    blocked: bool,
    /// Time of the next change.
    until: Time,
    rng: Rng,
}

impl Blockage {
    /// The requirement of [`can_be`](Self::can_be), for error messages.
    pub const WANTED: &'static str = "must be an attenuation from 0 to 100 dB, and mean times blocked and free from 0.001 to 1,000,000 s, or empty";

    /// Whether the numbers of a plan define a blockage: attenuation in dB, mean time blocked and mean time free in
    /// seconds. An empty list is also valid.
    pub fn can_be(numbers: &[f64]) -> bool {
        match *numbers {
            [] => true,
            [depth, blocked, free] => {
                SPREAD_DB.contains(&depth) && MEMORY_S.contains(&blocked) && MEMORY_S.contains(&free)
            }
            _ => false,
        }
    }

    /// Create the blockage that the numbers define, initially free; `None` if the list is empty.
    pub fn made(numbers: &[f64], rng: Rng) -> Option<Blockage> {
        let &[depth_db, blocked, free] = numbers else { return None };
        let mut made =
            Blockage { depth_db, lasting: [free, blocked], blocked: false, until: Time::ZERO, rng };
        made.until = Time::ZERO + made.stays();
        Some(made)
    }

    /// Draw the time until the next change.
    fn stays(&mut self) -> Duration {
        let mean = self.lasting[usize::from(self.blocked)];
        Duration::from_nanos((-mean * (1.0 - self.rng.unit()).ln() * 1e9) as u64 + 1)
    }

    /// Update the state up to `now`. Times never decrease.
    fn at(&mut self, now: Time) {
        while self.until <= now {
            self.blocked = !self.blocked;
            let stays = self.stays();
            self.until += stays;
        }
    }

    /// Attenuation in dB at the last update.
    fn latest(&self) -> f64 {
        if self.blocked { self.depth_db } else { 0.0 }
    }
}

/// A normally distributed signal-to-noise ratio in dB. The correlation of its values decays exponentially over time, as
/// the correlation of shadowing decays over distance (Gudmundson, Electronics Letters 27, 1991).
///
/// The ratio takes a new value every millisecond, no matter how often [`at`](Self::at) is called. The values therefore
/// do not depend on traffic.
#[derive(Clone, Debug)]
pub struct Snr {
    mean_db: f64,
    spread_db: f64,
    /// Correlation between consecutive values.
    kept: f64,
    /// Weight of the random part of each value, relative to the standard deviation.
    renewed: f64,
    /// Values drawn so far.
    steps: u64,
    /// Difference of the last value from the mean, divided by the standard deviation.
    deviation: f64,
    rng: Rng,
    /// Random obstacle; `None` if the channel has no obstacles.
    blockage: Option<Blockage>,
}

impl Snr {
    /// Create a ratio. `memory` is the time after which the correlation has decayed to 1/e.
    pub fn new(mean_db: f64, spread_db: f64, memory: Duration, mut rng: Rng) -> Snr {
        let kept = (-STEP.as_secs_f64() / memory.as_secs_f64()).exp();
        let deviation = rng.normal();
        let renewed = (1.0 - kept * kept).sqrt();
        Snr { mean_db, spread_db, kept, renewed, steps: 0, deviation, rng, blockage: None }
    }

    /// Add a random obstacle.
    #[must_use]
    pub fn behind(self, blockage: Option<Blockage>) -> Snr {
        Snr { blockage, ..self }
    }

    /// The requirement of [`can_be`](Self::can_be), for error messages.
    pub const WANTED: &'static str = "must be a mean from -100 to 100 dB, a standard deviation from 0 to 100 dB and a memory from 0.001 to 1,000,000 s, or empty";

    /// Whether the numbers of a plan define a ratio: mean and standard deviation in dB and memory in seconds. An
    /// empty list is also valid.
    pub fn can_be(numbers: &[f64]) -> bool {
        match *numbers {
            [] => true,
            [mean, spread, memory] => {
                SNR_DB.contains(&mean) && SPREAD_DB.contains(&spread) && MEMORY_S.contains(&memory)
            }
            _ => false,
        }
    }

    /// Create the ratio that the numbers define; `None` if the list is empty.
    pub fn made(numbers: &[f64], rng: Rng) -> Option<Snr> {
        let &[mean_db, spread_db, memory_s] = numbers else { return None };
        Some(Snr::new(mean_db, spread_db, Duration::from_nanos((memory_s * 1e9) as u64), rng))
    }

    /// The ratio in dB at `now`. Times never decrease.
    pub fn at(&mut self, now: Time) -> f64 {
        if self.spread_db > 0.0 {
            let due = now.since(Time::ZERO).as_nanos() / STEP.as_nanos();
            while self.steps < due {
                self.deviation = self.kept * self.deviation + self.renewed * self.rng.normal();
                self.steps += 1;
            }
        }
        if let Some(blockage) = &mut self.blockage {
            blockage.at(now);
        }
        self.latest()
    }

    /// The ratio in dB at the last call of [`at`](Self::at).
    pub fn latest(&self) -> f64 {
        let taken = self.blockage.as_ref().map_or(0.0, Blockage::latest);
        self.mean_db + self.spread_db * self.deviation - taken
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
    fn what_is_in_the_way_takes_its_share_of_the_time() {
        let blockage = Blockage::made(&[25.0, 0.5, 2.0], Rng::stream(1, "blockage"));
        let mut it = snr(0.0).behind(blockage);
        let values: Vec<f64> = (0..2_000_000).map(|n| it.at(ms(n))).collect();
        assert!(values.iter().all(|&value| value == 20.0 || value == -5.0));
        let blocked = values.iter().filter(|&&value| value < 0.0).count() as f64 / 2e6;
        assert!((blocked - 0.2).abs() < 0.02, "{blocked}"); // 2,000 s contain 800 blockages
    }

    #[test]
    fn mean_spread_and_memory_are_those_asked_for() {
        let mut it = snr(3.0);
        let values: Vec<f64> = (0..2_000_000).map(|n| it.at(ms(n)) - 20.0).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let product = |lag: usize| values.iter().zip(&values[lag..]).map(|(a, b)| a * b).sum::<f64>() / n;
        // 2,000 s contain 10,000 independent values, so the standard errors are 0.03 dB for the mean and 1/70
        // (relative) for the variance.
        assert!(mean.abs() < 0.12, "mean {mean}");
        assert!((product(0).sqrt() / 3.0 - 1.0).abs() < 0.03, "spread {}", product(0).sqrt());
        let kept = product(100) / product(0);
        assert!((kept - (-1f64).exp()).abs() < 0.04, "correlation {kept}");
    }
}
