//! Jitter with a measured distribution.

use super::{Effect, Properties};
use crate::Dice;
use params::{Entry, Problem, params};
use units::{Duration, Rng, Time};

params! {
    /// Parameters of jitter with a measured distribution.
    pub struct Params {
        /// Extra delays, of which each packet gets one at random. Scenario files name a file with the delays instead:
        /// `file = "delays.txt"`.
        delays_ns: Vec<u64>, "ns", label = "jitter", example = vec![1_000_000, 2_000_000, 9_000_000];
        /// Draw from the listed delays, or from all delays between them: a straight line joins neighbouring quantiles.
        draw: Draw = Draw::Listed, "";
        /// Let packets overtake each other. Without this option, a packet that would overtake earlier packets waits
        /// until the earlier packets have arrived.
        reorder: bool = false, "";
    }
}

/// Largest extra delay: one hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Method of drawing from measured delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    /// Each listed delay with the same probability.
    Listed,
    /// The quantile of a uniform number, interpolated between the listed delays.
    Interpolated,
}

/// A random extra delay of every packet with a measured distribution.
#[derive(Clone, Debug)]
pub struct RecordedJitter {
    /// Parameters, with the delays in ascending order.
    params: Params,
    rng: Rng,
    /// Time of the last arrival at the far end.
    latest: Time,
}

impl Effect for RecordedJitter {
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

impl RecordedJitter {
    /// Draw the extra delay of the next packet.
    fn extra(&mut self) -> Duration {
        let delays = &self.params.delays_ns;
        let (share, last) = (self.rng.unit(), delays.len() - 1);
        let nanos = match self.params.draw {
            Draw::Listed => delays[(share * delays.len() as f64) as usize],
            Draw::Interpolated => {
                // Hyndman and Fan, The American Statistician 50(4), 1996, definition 7
                let place = share * last as f64;
                let (below, part) = (place as usize, place.fract());
                let (low, high) = (delays[below], delays[last.min(below + 1)]);
                low + ((high - low) as f64 * part) as u64
            }
        };
        Duration::from_nanos(nanos)
    }
}

impl Entry<&Dice> for RecordedJitter {
    type Params = Params;
    const TITLE: &'static str = "A random extra delay of every packet, with a measured distribution";
    const SOURCE: &'static str = "";

    fn check(params: &Params) -> Option<Problem> {
        if params.delays_ns.is_empty() {
            return Some(Problem::new("delays_ns", "empty; give at least one delay"));
        }
        let wrong = params.delays_ns.iter().position(|&delay| delay > LONGEST_NS)?;
        Some(Problem::new(format!("delays_ns[{wrong}]"), "more than one hour"))
    }

    fn new(mut params: Params, dice: &Dice) -> RecordedJitter {
        params.delays_ns.sort_unstable();
        RecordedJitter { params, rng: dice.rng("recorded_jitter"), latest: Time::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jitter(delays_ns: &[u64], draw: Draw) -> RecordedJitter {
        let params = Params { delays_ns: delays_ns.to_vec(), draw, reorder: false };
        RecordedJitter::new(params, &Dice::new(1, "test"))
    }

    /// Extra delays in ns, in ascending order.
    fn extras(delays_ns: &[u64], draw: Draw) -> Vec<u64> {
        let mut jitter = jitter(delays_ns, draw);
        let mut found: Vec<u64> = (0..100_000).map(|_| jitter.extra().as_nanos()).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn every_listed_delay_has_the_same_probability() {
        let found = extras(&[900, 100, 100, 400], Draw::Listed);
        for (delay, share) in [(100, 0.5), (400, 0.25), (900, 0.25)] {
            let count = found.iter().filter(|&&extra| extra == delay).count();
            assert!((count as f64 / 1e5 - share).abs() < 0.005, "{delay}: {count}");
        }
    }

    #[test]
    fn interpolated_delays_have_the_quantiles_of_the_list() {
        let found = extras(&[900_000, 100_000, 400_000, 200_000, 1_000_000], Draw::Interpolated);
        for (share, quantile) in [(0.25, 200e3), (0.375, 300e3), (0.5, 400e3), (0.625, 650e3), (0.75, 900e3)]
        {
            let drawn = found[(share * 1e5) as usize] as f64;
            assert!((drawn - quantile).abs() < 12e3, "{share}: {drawn}");
        }
        let mean = found.iter().sum::<u64>() as f64 / 1e5;
        assert!((mean - 512_500.0).abs() < 3e3, "{mean}");
        assert_eq!(extras(&[7], Draw::Interpolated)[99_999], 7);
    }

    #[test]
    fn packets_keep_their_order_unless_told_otherwise() {
        let arrivals = |reorder| -> Vec<Time> {
            let mut jitter = jitter(&[0, 5_000], Draw::Listed);
            jitter.params.reorder = reorder;
            (0..100).map(|n| jitter.arrival(Time::ZERO, Time::from_nanos(n * 1_000))).collect()
        };
        assert!(arrivals(false).is_sorted() && !arrivals(true).is_sorted());
    }

    #[test]
    fn an_empty_list_and_a_delay_of_more_than_an_hour_are_refused() {
        let problem = |delays: &[u64]| {
            let params = Params { delays_ns: delays.to_vec(), ..Params::default() };
            RecordedJitter::check(&params).map(|problem| problem.name)
        };
        assert_eq!(problem(&[0, LONGEST_NS]), None);
        assert_eq!(problem(&[]).as_deref(), Some("delays_ns"));
        assert_eq!(problem(&[1, LONGEST_NS + 1]).as_deref(), Some("delays_ns[1]"));
    }
}
