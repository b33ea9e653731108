//! Departure times of datagrams.

use crate::periods::{Periods, exponential};
use crate::plan::DatagramPlan;
use units::{Duration, Rng, Time};

/// Departure times of datagrams: at a constant interval or as a Poisson process, always or in active periods only.
///
/// An active period begins with a datagram, except in a Poisson process, which is memoryless.
#[derive(Debug)]
pub struct Departures {
    interval: Duration,
    poisson: Option<Rng>,
    /// Periods of activity, with their random numbers.
    periods: Option<(Periods, Rng)>,
    /// End of the current active period.
    until: Time,
    next: Time,
    /// Time after which no more periods are drawn. If periods are much shorter than the interval, few periods contain a
    /// departure. The search for the next departure could then take very long.
    end: Time,
}

impl Departures {
    /// Departures from `start` to `end` of a flow whose random stream has the name `stream`.
    pub fn new(plan: &DatagramPlan, [start, end]: [Time; 2], seed: u64, stream: &str) -> Departures {
        let rng = |what: &str| Rng::stream(seed, &format!("{what}/{stream}"));
        let mut departures = Departures {
            interval: Duration::from_nanos(plan.interval_ns),
            poisson: plan.poisson.then(|| rng("departures")),
            periods: plan.periods.map(|periods| (periods, rng("periods"))),
            until: Time::NEVER,
            next: start,
            end,
        };
        departures.begin(start);
        departures.skip_silence();
        departures
    }

    /// Time of the next departure.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Discards the next departure and moves on to the departure after it.
    pub fn advance(&mut self) {
        let gap = self.gap();
        self.next += gap;
        self.skip_silence();
    }

    /// Moves on to the active period of the next departure.
    fn skip_silence(&mut self) {
        while self.next >= self.until
            && self.until <= self.end
            && let Some((periods, rng)) = &mut self.periods
        {
            let silence = periods.silence(rng);
            self.begin(self.until + silence);
        }
    }

    /// Begins an active period.
    fn begin(&mut self, at: Time) {
        if let Some((periods, rng)) = &mut self.periods {
            self.until = at + periods.activity(rng);
        }
        self.next = if self.poisson.is_some() { at + self.gap() } else { at };
    }

    fn gap(&mut self) -> Duration {
        let mean = self.interval;
        self.poisson.as_mut().map_or(mean, |rng| exponential(mean, rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Protocol;

    fn departures(poisson: bool, periods: Option<Periods>) -> Departures {
        let plan = DatagramPlan {
            protocol: Protocol::Udp,
            payload_bytes: 100,
            overhead_bytes: 42,
            interval_ns: 10,
            poisson,
            periods,
            echo: false,
            each: false,
        };
        Departures::new(&plan, [Time::from_nanos(1_000), Time::from_nanos(3_600_000_000_000)], 1, "test")
    }

    fn times(mut departures: Departures, count: usize) -> Vec<u64> {
        let next = || {
            let at = departures.next().as_nanos();
            departures.advance();
            at
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    #[test]
    fn a_constant_rate_leaves_at_the_start_and_at_every_interval() {
        assert_eq!(times(departures(false, None), 4), [1_000, 1_010, 1_020, 1_030]);
    }

    #[test]
    fn every_time_of_activity_begins_with_a_datagram_and_its_end_belongs_to_the_silence() {
        let periods = Some(Periods { on_ns: 20, off_ns: 100, exponential: false });
        assert_eq!(times(departures(false, periods), 5), [1_000, 1_010, 1_120, 1_130, 1_240]);
    }

    #[test]
    fn a_poisson_process_is_silent_in_silence_from_the_first_one_on() {
        let periods = Some(Periods { on_ns: 2, off_ns: 1_000, exponential: false });
        let times = times(departures(true, periods), 100);
        assert!(times.iter().all(|at| (at - 1_000) % 1_002 < 2), "{times:?}");
    }

    #[test]
    fn periods_after_the_end_are_not_gone_through() {
        let plan = DatagramPlan {
            protocol: Protocol::Udp,
            payload_bytes: 1,
            overhead_bytes: 42,
            interval_ns: 1_000_000_000_000_000,
            poisson: true,
            periods: Some(Periods { on_ns: 1_000, off_ns: 0, exponential: false }),
            echo: false,
            each: false,
        };
        let end = Time::from_nanos(1_000_000);
        let mut departures = Departures::new(&plan, [Time::ZERO, end], 1, "test");
        departures.advance();
        assert!(departures.next() > end);
    }

    #[test]
    fn a_poisson_process_has_as_many_as_its_rate_says_and_as_much_variance() {
        let times = times(departures(true, None), 50_000);
        let counts: Vec<f64> = (0..400)
            .map(|n| {
                let from = 1_000 + n * 1_000;
                times.iter().filter(|&&at| (from..from + 1_000).contains(&at)).count() as f64
            })
            .collect();
        let mean = counts.iter().sum::<f64>() / 400.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 400.0;
        // Gaps are rounded down to whole nanoseconds, but are at least 1 ns. The mean gap of 10 ns therefore becomes
        // 9.6 ns.
        assert!(
            (95.0..=112.0).contains(&mean) && (0.75..1.25).contains(&(variance / mean)),
            "{mean} {variance}"
        );
    }
}
