//! Standard deviation of RTT samples over a sliding window.

use units::{Duration, Time};

/// Slices of the window, which moves by one slice at a time.
const SLICES: usize = 20;

/// Sums for a variance, in whole microseconds. Integers are exact, so that old samples can be removed without error.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    sum: u64,
    squares: u128,
}

impl Sums {
    fn add(&mut self, micros: u64) {
        self.count += 1;
        self.sum += micros;
        self.squares += u128::from(micros) * u128::from(micros);
    }

    fn remove(&mut self, other: &Sums) {
        self.count -= other.count;
        self.sum -= other.sum;
        self.squares -= other.squares;
    }
}

/// Standard deviation of RTT samples over a sliding window. The result is exact, but the window moves in steps of
/// 1/20 of its length.
#[derive(Clone, Debug)]
pub(crate) struct RttHistory {
    slice: Duration,
    slices: [Sums; SLICES],
    /// Index of the slice that takes samples.
    current: usize,
    /// End of the current slice.
    end: Time,
    total: Sums,
}

impl RttHistory {
    pub(crate) fn over(window: Duration) -> RttHistory {
        RttHistory {
            slice: (window / SLICES as u64).max(Duration::from_millis(1)),
            slices: [Sums::default(); SLICES],
            current: 0,
            end: Time::ZERO,
            total: Sums::default(),
        }
    }

    /// Add a sample taken at `now`.
    pub(crate) fn add(&mut self, rtt: Duration, now: Time) {
        if now >= self.end {
            self.move_to(now);
        }
        let micros = rtt.as_micros();
        self.slices[self.current].add(micros);
        self.total.add(micros);
    }

    fn move_to(&mut self, now: Time) {
        let passed = now.since(self.end).as_nanos() / self.slice.as_nanos() + 1;
        for _ in 0..passed.min(SLICES as u64) {
            self.current = (self.current + 1) % SLICES;
            self.total.remove(&self.slices[self.current]);
            self.slices[self.current] = Sums::default();
        }
        self.end += self.slice * passed;
    }

    /// Standard deviation of the samples in the window, microseconds; 0 with fewer than two samples.
    pub(crate) fn std_micros(&self) -> f64 {
        let Sums { count, sum, squares } = self.total;
        let (count, sum) = (u128::from(count), u128::from(sum));
        ((count * squares - sum * sum) as f64).sqrt() / count.max(1) as f64
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
