//! The spread of RTT samples over the last seconds.

use units::{Duration, Time};

/// The window is kept in this many slices; it moves by one at a time.
const SLICES: usize = 20;

/// Number, mean and sum of squared deviations of samples (Welford; merging after Chan, Golub and LeVeque).
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, sample: f64) {
        self.count += 1.0;
        let off = sample - self.mean;
        self.mean += off / self.count;
        self.squares += off * (sample - self.mean);
    }

    fn merged(self, other: Moments) -> Moments {
        let count = self.count + other.count;
        if count == 0.0 {
            return self;
        }
        let off = other.mean - self.mean;
        Moments {
            count,
            mean: self.mean + off * other.count / count,
            squares: self.squares + other.squares + off * off * self.count * other.count / count,
        }
    }
}

/// Standard deviation of RTT samples over a sliding window, exact but for the window's edge, which moves in
/// twentieths.
#[derive(Clone, Debug)]
pub(crate) struct RttHistory {
    slice: Duration,
    slices: [Moments; SLICES],
    /// Number of the slice that takes samples, from the start of time.
    current: u64,
    /// All slices but the current one.
    rest: Moments,
}

impl RttHistory {
    pub(crate) fn over(window: Duration) -> RttHistory {
        RttHistory {
            slice: (window / SLICES as u64).max(Duration::from_millis(1)),
            slices: [Moments::default(); SLICES],
            current: 0,
            rest: Moments::default(),
        }
    }

    /// Adds a sample taken `now`.
    pub(crate) fn add(&mut self, rtt: Duration, now: Time) {
        let number = now.as_nanos() / self.slice.as_nanos();
        if number != self.current {
            self.move_to(number);
        }
        self.slices[(number % SLICES as u64) as usize].add(rtt.as_micros() as f64);
    }

    fn move_to(&mut self, number: u64) {
        let passed = number.saturating_sub(self.current).min(SLICES as u64);
        for n in 0..passed {
            self.slices[((number - n) % SLICES as u64) as usize] = Moments::default();
        }
        self.current = number;
        let at = (number % SLICES as u64) as usize;
        let others = self.slices.iter().enumerate().filter(|&(n, _)| n != at);
        self.rest = others.fold(Moments::default(), |sum, (_, slice)| sum.merged(*slice));
    }

    /// Standard deviation of the samples in the window, microseconds; 0 with fewer than two.
    pub(crate) fn std_micros(&self) -> f64 {
        let all = self.rest.merged(self.slices[(self.current % SLICES as u64) as usize]);
        if all.count < 2.0 { 0.0 } else { (all.squares / all.count).max(0.0).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_spread_is_that_of_the_samples() {
        let mut history = RttHistory::over(Duration::from_secs(10));
        for (n, ms) in [10, 14, 10, 14, 10, 14].into_iter().enumerate() {
            history.add(Duration::from_millis(ms), at(1_000 * n as u64));
        }
        assert!((history.std_micros() - 2_000.0).abs() < 1e-6, "{}", history.std_micros());
    }

    #[test]
    fn old_samples_do_not_count() {
        let mut history = RttHistory::over(Duration::from_secs(10));
        history.add(Duration::from_millis(500), at(0));
        for second in 1..=11 {
            history.add(Duration::from_millis(20), at(1_000 * second));
        }
        assert_eq!(history.std_micros(), 0.0);
    }

    #[test]
    fn a_lone_sample_has_no_spread() {
        let mut history = RttHistory::over(Duration::from_secs(10));
        history.add(Duration::from_millis(20), at(5));
        assert_eq!(history.std_micros(), 0.0);
    }
}
