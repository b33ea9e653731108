//! Propagation delay to and from a satellite, which changes when another satellite takes over.

use units::{Duration, Rng, Time};

/// Times at which another satellite takes over, and the range of delays.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Time of the first change.
    pub at: Time,
    /// Time between changes.
    pub every: Duration,
    /// Minimum and maximum propagation delay.
    pub low: Duration,
    pub high: Duration,
}

/// The satellites that serve a cell, one after the other. The delays of the satellites are uniformly distributed.
#[derive(Clone, Debug)]
pub struct Satellites {
    rules: Rules,
    /// Delays drawn so far, in the order of time.
    delays: Vec<Duration>,
    rng: Rng,
}

impl Satellites {
    /// Create satellites; each delay is drawn when it is first needed.
    pub fn new(rules: Rules, rng: Rng) -> Satellites {
        Satellites { rules, delays: Vec::new(), rng }
    }

    /// The propagation delay of a packet that leaves at a time.
    pub fn delay(&mut self, time: Time) -> Duration {
        let Rules { at, every, low, high } = self.rules;
        let since = (time >= at).then(|| time.since(at).as_nanos() / every.as_nanos().max(1) + 1);
        let number = since.unwrap_or(0) as usize;
        while self.delays.len() <= number {
            let range = high.saturating_sub(low).as_nanos() as f64;
            self.delays.push(low + Duration::from_nanos((range * self.rng.unit()) as u64));
        }
        self.delays[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_delay_holds_from_one_time_to_the_next_whatever_is_asked_first() {
        let at = |seconds: u64| Time::ZERO + ms(seconds * 1_000);
        let rules = Rules { at: at(12), every: ms(15_000), low: ms(3), high: ms(8) };
        let made = || Satellites::new(rules, Rng::stream(1, "test"));
        let mut forth = made();
        let delays = [0, 11, 12, 26, 27, 41, 42].map(|second| forth.delay(at(second)));
        assert!(delays[0] == delays[1] && delays[2] == delays[3] && delays[4] == delays[5]);
        assert!([0, 2, 4].iter().all(|&n| delays[n] != delays[n + 2]));
        let mut back = made();
        let mut backwards = [42, 41, 27, 26, 12, 11, 0].map(|second| back.delay(at(second)));
        backwards.reverse();
        assert_eq!(backwards, delays);
    }

    #[test]
    fn delays_are_even_between_two() {
        let rules = Rules { at: Time::ZERO, every: ms(1), low: ms(4), high: ms(8) };
        let mut made = Satellites::new(rules, Rng::stream(1, "test"));
        let drawn: Vec<f64> =
            (0..10_000).map(|n| made.delay(Time::ZERO + ms(n)).as_secs_f64() * 1e3).collect();
        assert!(drawn.iter().all(|delay| (4.0..8.0).contains(delay)));
        let mean = drawn.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 6.0).abs() < 0.05, "{mean}"); // the standard error is 0.012
    }
}
