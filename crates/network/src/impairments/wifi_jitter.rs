//! Jitter of a busy Wi-Fi channel: two Poisson terms (draft-huitema-ccwg-c4-test-04, section 2.3).

use super::Effect;
use crate::Dice;
use params::{Entry, params};
use units::{Duration, Rng, Time};

params! {
    /// Parameter of Wi-Fi jitter.
    pub struct Params {
        /// Target of the mean extra delay. Up to 1 ms, only collision avoidance delays packets. Above 1 ms, a share of
        /// (target - 1 ms) / 90 ms of the packets also waits for retransmissions. The mean is 0.32 ms below the target.
        /// Packets never overtake each other.
        mean_ns: u64, "ns", 1e6..=91e6, label = "Wi-Fi jitter", example = 7_000_000;
    }
}

/// Interval of collision avoidance: a deferral takes one interval.
const SHORT_NS: f64 = 1e6;
/// Interval of a retransmission.
const LONG_NS: f64 = 7.5e6;
/// Mean number of deferrals per packet.
const DEFERRALS: f64 = 1.0;
/// Mean number of retransmission intervals of a packet that is retransmitted.
const RETRANSMISSIONS: f64 = 12.0;

/// A random extra delay of every packet, as on a busy Wi-Fi channel.
#[derive(Clone, Debug)]
pub struct WifiJitter {
    /// Probability that a packet waits for retransmissions: `x` of the draft.
    share: f64,
    rng: Rng,
    /// Time of the last arrival at the far end.
    latest: Time,
}

impl Effect for WifiJitter {
    fn arrival(&mut self, _finish: Time, arrival: Time) -> Time {
        self.latest = self.latest.max(arrival + self.extra());
        self.latest
    }
}

impl WifiJitter {
    /// Draw the extra delay of the next packet.
    fn extra(&mut self) -> Duration {
        let deferrals = poisson(&mut self.rng, DEFERRALS);
        let mut nanos = f64::from(deferrals) * SHORT_NS;
        if deferrals > 0 {
            nanos -= self.rng.unit() * SHORT_NS;
        }
        if self.share > 0.0 && self.rng.chance(self.share) {
            nanos += f64::from(poisson(&mut self.rng, RETRANSMISSIONS)) * LONG_NS;
        }
        Duration::from_nanos(nanos as u64)
    }
}

/// Draw a Poisson number by multiplying uniform numbers (Knuth, The Art of Computer Programming 2, 3.4.1). The number
/// of draws is the mean plus 1 on average.
fn poisson(rng: &mut Rng, mean: f64) -> u32 {
    let least = (-mean).exp();
    let mut product = rng.unit();
    let mut count = 0;
    while product > least {
        product *= rng.unit();
        count += 1;
    }
    count
}

impl Entry<&Dice> for WifiJitter {
    type Params = Params;
    const TITLE: &'static str = "A random extra delay of every packet, as on a busy Wi-Fi channel";
    const SOURCE: &'static str = "draft-huitema-ccwg-c4-test-04, section 2.3";

    fn new(params: Params, dice: &Dice) -> WifiJitter {
        let share = (params.mean_ns as f64 - SHORT_NS) / (RETRANSMISSIONS * LONG_NS);
        WifiJitter { share, rng: dice.rng("wifi_jitter"), latest: Time::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Extra delays in ms, in ascending order.
    fn extras(mean_ns: u64) -> Vec<f64> {
        let mut jitter = WifiJitter::new(Params { mean_ns }, &Dice::new(1, "test"));
        let mut found: Vec<f64> = (0..200_000).map(|_| jitter.extra().as_secs_f64() * 1e3).collect();
        found.sort_by(f64::total_cmp);
        found
    }

    /// P(N = n) of a Poisson number.
    fn probability(mean: f64, n: i32) -> f64 {
        (1..=n).fold((-mean).exp(), |p, k| p * mean / f64::from(k))
    }

    #[test]
    fn the_mean_is_half_a_random_interval_below_the_target() {
        let smoothing = 0.5 * (1.0 - (-1.0f64).exp());
        for target in [1.0, 7.0, 46.0, 91.0] {
            let all = extras((target * 1e6) as u64);
            let count = all.len() as f64;
            let mean = all.iter().sum::<f64>() / count;
            let variance = all.iter().map(|extra| (extra - mean).powi(2)).sum::<f64>() / count;
            let error = mean - (target - smoothing);
            assert!(error.abs() < 3.0 * (variance / count).sqrt(), "{target}: {mean}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_two_poisson_terms() {
        // N1 - r is at most n with P(N1 <= n), if N2 is 0.
        let short = extras(1_000_000);
        let at_most =
            |all: &[f64], ms: f64| all.partition_point(|&extra| extra <= ms) as f64 / all.len() as f64;
        for n in 0..5 {
            let expected: f64 = (0..=n).map(|k| probability(1.0, k)).sum();
            assert!((at_most(&short, f64::from(n)) - expected).abs() < 0.004, "{n}");
        }
        // With a target of 91 ms, N2 intervals of 7.5 ms are added to every packet; the short term shifts by at most n.
        let long = extras(91_000_000);
        let expected = |ms: f64| -> f64 {
            (0..60)
                .map(|n2| {
                    let left = ms - 7.5 * f64::from(n2);
                    // P(N1 - r <= left): N1 = 0, or r >= N1 - left with r uniform in 0..1.
                    let short = |n1: i32| {
                        if n1 == 0 {
                            f64::from(u8::from(left >= 0.0))
                        } else {
                            (left - f64::from(n1) + 1.0).clamp(0.0, 1.0)
                        }
                    };
                    probability(12.0, n2) * (0..12).map(|n1| probability(1.0, n1) * short(n1)).sum::<f64>()
                })
                .sum()
        };
        for ms in [40.0, 60.25, 90.0, 91.5, 120.0, 150.5] {
            assert!(
                (at_most(&long, ms) - expected(ms)).abs() < 0.004,
                "{ms}: {} {}",
                at_most(&long, ms),
                expected(ms)
            );
        }
    }

    #[test]
    fn packets_keep_their_order() {
        let mut jitter = WifiJitter::new(Params { mean_ns: 7_000_000 }, &Dice::new(1, "test"));
        let arrivals: Vec<Time> = (0..5_000)
            .map(|n| Time::from_nanos(n * 100_000))
            .map(|arrival| jitter.arrival(Time::ZERO, arrival))
            .collect();
        assert!(arrivals.is_sorted());
    }
}
