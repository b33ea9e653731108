//! Distributions of sizes and pauses.

use crate::plan::range::{Check, LONGEST_NS, MOST_BYTES, refuse, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Rng};

/// Largest number drawn: a petabyte or eleven days, so that sums of many numbers stay far from overflow.
const LARGEST: f64 = 1e15;

/// Distribution of random numbers: bytes or nanoseconds.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// A constant.
    Constant {
        /// The value of every number.
        value: f64,
    },
    /// Uniform between two bounds.
    Uniform {
        /// Smallest number.
        low: f64,
        /// Largest number.
        high: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Log-normal.
    Lognormal {
        /// Mean of the numbers, not of their logarithms.
        mean: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Bounded Pareto.
    Pareto {
        /// Shape parameter; the larger it is, the rarer are large numbers.
        shape: f64,
        /// Smallest number.
        low: f64,
        /// Largest number.
        high: f64,
    },
    /// Linear interpolation between points of a cumulative distribution.
    Cdf {
        /// Pairs of a value and the share of numbers that do not exceed the value. Values and shares rise; the last
        /// share is 1.
        points: Vec<(f64, f64)>,
    },
}

impl Default for Distribution {
    fn default() -> Distribution {
        Distribution::Constant { value: 0.0 }
    }
}

impl Distribution {
    /// Rejects a distribution of sizes that is out of range.
    pub fn check_bytes(&self, path: &str) -> Check {
        self.check(path, 1.0..=MOST_BYTES as f64)
    }

    /// Rejects a distribution of pauses that is out of range.
    pub fn check_pause(&self, path: &str) -> Check {
        self.check(path, 0.0..=LONGEST_NS as f64)
    }

    /// Rejects parameters out of range, and points that are no cumulative distribution.
    pub fn check(&self, path: &str, range: std::ops::RangeInclusive<f64>) -> Check {
        let check = |name: &str, value: f64| within(format!("{path}.{name}"), value, range.clone());
        match self {
            Distribution::Constant { value } => check("value", *value),
            Distribution::Exponential { mean } => check("mean", *mean),
            Distribution::Lognormal { mean, sigma } => {
                within(format!("{path}.sigma"), *sigma, 0.0..=5.0)?;
                check("mean", *mean)
            }
            Distribution::Uniform { low, high } => {
                check("low", *low)?;
                within(format!("{path}.high"), *high, *low..=*range.end())
            }
            Distribution::Pareto { shape, low, high } => {
                within(format!("{path}.shape"), *shape, 0.01..=100.0)?;
                within(format!("{path}.low"), *low, range.start().max(1.0)..=*range.end())?;
                within(format!("{path}.high"), *high, *low..=*range.end())
            }
            Distribution::Cdf { points } => {
                let mut last = (*range.start(), 0.0);
                for (n, point) in points.iter().enumerate() {
                    within(format!("{path}.points[{n}][0]"), point.0, last.0..=*range.end())?;
                    within(format!("{path}.points[{n}][1]"), point.1, last.1..=1.0)?;
                    last = *point;
                }
                if last.1 < 1.0 {
                    refuse!(format!("{path}.points"), "the last share is {}; it must be 1", last.1);
                }
                Ok(())
            }
        }
    }
}

/// Sequence of numbers drawn from a distribution with its own random stream.
#[derive(Clone, Debug)]
pub struct Draws {
    distribution: Distribution,
    rng: Rng,
}

impl Draws {
    /// Numbers drawn from the distribution `distribution`, which must have been checked.
    pub fn new(distribution: &Distribution, rng: Rng) -> Draws {
        Draws { distribution: distribution.clone(), rng }
    }

    /// Draws a number of bytes, at least 1.
    pub fn bytes(&mut self) -> u64 {
        (self.next().min(LARGEST).round() as u64).max(1)
    }

    /// Draws a time.
    pub fn pause(&mut self) -> Duration {
        Duration::from_nanos(self.next().min(LARGEST).round() as u64)
    }

    fn next(&mut self) -> f64 {
        let (distribution, rng) = (&self.distribution, &mut self.rng);
        match distribution {
            Distribution::Constant { value } => *value,
            Distribution::Uniform { low, high } => low + rng.unit() * (high - low),
            Distribution::Exponential { mean } => -mean * (1.0 - rng.unit()).ln(),
            Distribution::Lognormal { mean, sigma } => {
                // The mean of the logarithm is lower than ln(mean) by half its variance.
                mean * (sigma * rng.normal() - sigma * sigma / 2.0).exp()
            }
            Distribution::Pareto { shape, low, high } => {
                let (at_low, at_high) = (low.powf(-shape), high.powf(-shape));
                (at_low - rng.unit() * (at_low - at_high)).powf(-1.0 / shape).clamp(*low, *high)
            }
            Distribution::Cdf { points } => quantile(points, rng.unit()),
        }
    }
}

/// The quantile `u` by linear interpolation between the points. Below the first point, the result is the value of that
/// point.
fn quantile(points: &[(f64, f64)], u: f64) -> f64 {
    let after = points.partition_point(|point| point.1 <= u).min(points.len() - 1);
    let Some(before) = after.checked_sub(1) else { return points[0].0 };
    let ((low, from), (high, to)) = (points[before], points[after]);
    if to > from { low + (high - low) * (u - from) / (to - from) } else { high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, proptest};

    fn mean(distribution: &Distribution, draws: u32) -> f64 {
        let mut source = Draws::new(distribution, Rng::stream(1, "test"));
        (0..draws).map(|_| source.next()).sum::<f64>() / f64::from(draws)
    }

    #[test]
    fn the_means_are_those_of_the_distributions() {
        let expected = [
            (Distribution::Constant { value: 7.0 }, 7.0),
            (Distribution::Uniform { low: 10.0, high: 30.0 }, 20.0),
            (Distribution::Exponential { mean: 50.0 }, 50.0),
            (Distribution::Lognormal { mean: 50.0, sigma: 1.0 }, 50.0),
            // shape / (shape - 1) * (1 - (low / high)^(shape - 1)) / (1 - (low / high)^shape) * low
            (Distribution::Pareto { shape: 2.0, low: 10.0, high: 1000.0 }, 20.0 * 0.99 / 0.9999),
            (Distribution::Cdf { points: vec![(0.0, 0.0), (10.0, 0.5), (100.0, 1.0)] }, 2.5 + 27.5),
            (Distribution::Cdf { points: vec![(8.0, 0.5), (10.0, 1.0)] }, 4.0 + 4.5),
        ];
        for (distribution, expected) in expected {
            let found = mean(&distribution, 200_000);
            assert!((found / expected - 1.0).abs() < 0.015, "{distribution:?}: {found}, not {expected}");
        }
    }

    #[test]
    fn half_of_an_exponential_is_below_the_mean_times_the_logarithm_of_two() {
        let mut source = Draws::new(&Distribution::Exponential { mean: 1.0 }, Rng::stream(2, "test"));
        let below = (0..100_000).filter(|_| source.next() < std::f64::consts::LN_2).count();
        assert!((49_000..51_000).contains(&below), "{below}");
    }

    proptest! {
        #[test]
        fn a_pareto_stays_between_its_bounds(shape in 0.1f64..5.0, low in 1.0f64..1e6, factor in 1.0f64..1e6, seed: u64) {
            let high = low * factor;
            let mut source = Draws::new(&Distribution::Pareto { shape, low, high }, Rng::stream(seed, "test"));
            prop_assert!((0..100).map(|_| source.next()).all(|value| (low..=high).contains(&value)));
        }

        #[test]
        fn a_quantile_lies_between_its_points(u in 0.0f64..1.0) {
            let points = [(100.0, 0.2), (200.0, 0.6), (200.0, 0.8), (1_000.0, 1.0)];
            let value = quantile(&points, u);
            let expected = match u {
                u if u < 0.2 => 100.0..=100.0,
                u if u < 0.6 => 100.0..=200.0,
                u if u < 0.8 => 200.0..=200.0,
                _ => 200.0..=1_000.0,
            };
            prop_assert!(expected.contains(&value), "{u}: {value}");
        }
    }
}
