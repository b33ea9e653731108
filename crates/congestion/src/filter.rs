//! Windowed minimum and maximum of a series of samples.

use units::Duration;

/// The maximum over a sliding window (Kathleen Nichols' algorithm, as in Linux `lib/win_minmax.c`). The filter
/// stores three samples, from the oldest and largest to the newest and smallest. The result is not exact, but the
/// filter needs constant space and time.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowedMax {
    samples: [(u32, u64); 3], // (when, value); values do not increase along the array
}

impl WindowedMax {
    /// The largest sample of the window.
    pub fn get(&self) -> u64 {
        self.samples[0].1
    }

    /// Forget all samples except the sample `value`, taken at `when`.
    pub fn reset(&mut self, when: u32, value: u64) -> u64 {
        self.samples = [(when, value); 3];
        value
    }

    /// Add a sample taken at `when` (any clock that only moves forward) and return the maximum over `window`.
    #[inline]
    pub fn update(&mut self, window: u32, when: u32, value: u64) -> u64 {
        let [best, second, third] = &self.samples;
        let age = when.wrapping_sub(best.0);
        // The best sample is within the window, and the second and third samples need no newer replacement yet.
        let is_calm = || match (second.0 == best.0, third.0 == second.0) {
            (true, _) => false,
            (false, true) => age <= window / 2,
            (false, false) => age <= window,
        };
        let is_idle = value < third.1 && (age <= window / 4 || is_calm());
        if is_idle { best.1 } else { self.weigh(window, when, value) }
    }

    fn weigh(&mut self, window: u32, when: u32, value: u64) -> u64 {
        let [best, second, third] = &mut self.samples;
        if value >= best.1 || when.wrapping_sub(third.0) > window {
            return self.reset(when, value);
        }
        let sample = (when, value);
        if value >= second.1 {
            (*second, *third) = (sample, sample);
        } else if value >= third.1 {
            *third = sample;
        }
        self.age(window, sample)
    }

    /// Replace old samples: the best by the second when the best is older than the window, the second and the
    /// third by newer samples.
    fn age(&mut self, window: u32, sample: (u32, u64)) -> u64 {
        let [best, second, third] = &mut self.samples;
        let age = sample.0.wrapping_sub(best.0);
        if age > window {
            (*best, *second, *third) = (*second, *third, sample);
            if sample.0.wrapping_sub(best.0) > window {
                (*best, *second, *third) = (*second, *third, sample);
            }
        } else if second.0 == best.0 && age > window / 4 {
            (*second, *third) = (sample, sample);
        } else if third.0 == second.0 && age > window / 2 {
            *third = sample;
        }
        best.1
    }
}

/// The exact minimum of the most recent values.
#[derive(Clone, Debug)]
pub(crate) struct Recent {
    values: Box<[Duration]>,
    at: usize,
    min: Duration,
}

impl Recent {
    /// Create an empty filter for the last `length` values.
    pub(crate) fn new(length: u32) -> Recent {
        Recent { values: vec![Duration::MAX; length as usize].into_boxed_slice(), at: 0, min: Duration::MAX }
    }

    /// Add a value, which replaces the oldest.
    pub(crate) fn push(&mut self, value: Duration) {
        self.at = if self.at + 1 < self.values.len() { self.at + 1 } else { 0 };
        let (before, rest) = self.values.split_at(self.at);
        let least = |values: &[Duration], least: Duration| values.iter().fold(least, |m, v| m.min(*v));
        self.min = least(&rest[1..], least(before, value)); // reading `values` after the write would stall the CPU
        self.values[self.at] = value;
    }

    /// Reduce the last value to `value`, if `value` is smaller.
    pub(crate) fn lower_last(&mut self, value: Duration) {
        self.values[self.at] = self.values[self.at].min(value);
        self.min = self.min.min(value);
    }

    /// The smallest stored value; `Duration::MAX` before the first value.
    pub(crate) fn min(&self) -> Duration {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_is_kept_for_the_window_and_then_forgotten() {
        let mut max = WindowedMax::default();
        max.update(10, 0, 100);
        for round in 1..=10 {
            assert_eq!(max.update(10, round, 50), 100, "round {round}");
        }
        assert_eq!(max.update(10, 11, 50), 50);
    }

    proptest::proptest! {
        #[test]
        fn samples_that_change_nothing_are_known_at_once(samples in proptest::collection::vec((0u32..8, 0u64..20), 1..80)) {
            let (mut max, mut weighed, mut now) = (WindowedMax::default(), WindowedMax::default(), 0);
            for (pause, value) in samples {
                now += pause;
                proptest::prop_assert_eq!(max.update(10, now, value), weighed.weigh(10, now, value));
                proptest::prop_assert_eq!(max.samples, weighed.samples);
            }
        }
    }

    #[test]
    fn a_larger_sample_takes_over_at_once() {
        let mut max = WindowedMax::default();
        max.update(10, 0, 100);
        assert_eq!(max.update(10, 1, 101), 101);
    }

    #[test]
    fn falling_samples_leave_the_best_of_the_window() {
        let mut max = WindowedMax::default();
        for round in 0..100u32 {
            let value = max.update(10, round, u64::from(1000 - round));
            let exact = u64::from(1000 - round.saturating_sub(10));
            // The result is at least the newest sample and at most the true maximum.
            assert!(
                value <= exact && value >= u64::from(1000 - round.saturating_sub(0)),
                "round {round}: {value}"
            );
        }
    }
}
