//! Jitter: a random extra delay of every packet.

use super::{Effect, Properties};
use crate::Dice;
use params::{Entry, params};
use units::{Duration, Rng, Time};

params! {
    /// Parameters of jitter.
    pub struct Params {
        /// Maximum extra delay; with a normal distribution, its standard deviation.
        spread_ns: u64, "ns", 0.0..=3.6e12, label = "jitter", example = 5_000_000;
        /// Uniform from 0 to the spread, or the absolute value of a normal variable.
        shape: Shape = Shape::Uniform, "";
        /// Let packets overtake each other. Without this option, a packet that would overtake earlier packets waits
        /// until the earlier packets have arrived.
        reorder: bool = false, "";
    }
}

/// Distribution of the extra delay. To add a distribution, add a variant to this type and its formula to
/// `Jitter::extra`. For the engine linux, extend `linux/tc/jitter.py`. For the engine ns3, extend `ns3/input.py` and
/// `cpp/wire.cc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Uniform from 0 to the spread.
    Uniform,
    /// The absolute value of a normal variable.
    Normal,
}

/// A random extra delay of every packet.
#[derive(Clone, Debug)]
pub struct Jitter {
    params: Params,
    rng: Rng,
    /// Time of the last arrival at the far end.
    latest: Time,
}

impl Effect for Jitter {
    fn properties(&self) -> Properties {
        Properties { reorders: self.params.reorder, ..Properties::default() }
    }

    fn arrival(&mut self, _finish: Time, arrival: Time) -> Time {
        let arrival = arrival + self.extra();
        if self.params.reorder {
            return arrival;
        }
        self.latest = self.latest.max(arrival);
        self.latest
    }
}

impl Jitter {
    /// Draw the extra delay of the next packet.
    fn extra(&mut self) -> Duration {
        let share = match self.params.shape {
            Shape::Uniform => self.rng.unit(),
            Shape::Normal => self.rng.normal().abs(),
        };
        Duration::from_nanos((self.params.spread_ns as f64 * share) as u64)
    }
}

impl Entry<&Dice> for Jitter {
    type Params = Params;
    const TITLE: &'static str = "A random extra delay of every packet";
    const SOURCE: &'static str = "";

    fn new(params: Params, dice: &Dice) -> Jitter {
        Jitter { params, rng: dice.rng("jitter"), latest: Time::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_jitter_is_half_its_range_or_080_of_its_deviation() {
        let cases = [(Shape::Uniform, 0.5), (Shape::Normal, (2.0 / std::f64::consts::PI).sqrt())];
        for (shape, mean) in cases {
            let params = Params { spread_ns: 1_000_000, shape, reorder: false };
            let mut jitter = Jitter::new(params, &Dice::new(1, "test"));
            let sum: f64 = (0..20_000).map(|_| jitter.extra().as_secs_f64() * 1e3).sum();
            assert!((sum / 2e4 - mean).abs() < 0.02, "{}", sum / 2e4);
        }
    }
}
