//! Percentiles of a stream of durations.

use crate::Duration;

/// Buckets per octave. Neighbouring buckets differ by at most 1/64, so the middle of a bucket is within 0.8 % of
/// every value in the bucket.
const BUCKETS: usize = 64;
const BITS: u32 = BUCKETS.trailing_zeros();

/// A log-linear histogram with exact sum and extremes. The histogram only has buckets for the octaves of recorded
/// values.
#[derive(Clone, Debug)]
pub struct Histogram {
    sum: u128,
    min: u64,
    max: u64,
    /// Counts of the buckets from index `base` on, modulo 2^32. The buckets cover whole octaves.
    counts: Vec<u32>,
    base: usize,
    /// Indices of buckets whose counts have wrapped at 2^32, once for each wrap.
    carried: Vec<usize>,
}

impl Histogram {
    /// An empty histogram.
    pub const fn new() -> Histogram {
        Histogram { sum: 0, min: u64::MAX, max: 0, counts: Vec::new(), base: 0, carried: Vec::new() }
    }

    /// Adds one value.
    #[inline(never)] // inlining would make the callers slower
    pub fn record(&mut self, value: Duration) {
        let nanos = value.as_nanos();
        if nanos < self.min {
            return self.record_extreme(nanos);
        }
        if nanos > self.max {
            return self.record_extreme(nanos);
        }
        self.sum += u128::from(nanos);
        let bucket = bucket_of(nanos);
        // For a bucket below `base`, the index wraps to a very large number, so `get_mut` finds no count.
        let Some(count) = self.counts.get_mut(bucket.wrapping_sub(self.base)) else {
            return self.add(bucket, 1);
        };
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.carry(bucket);
        }
    }

    #[cold]
    #[inline(never)]
    fn carry(&mut self, bucket: usize) {
        self.carried.push(bucket);
    }

    #[cold]
    #[inline(never)]
    fn record_extreme(&mut self, nanos: u64) {
        (self.min, self.max) = (self.min.min(nanos), self.max.max(nanos));
        self.sum += u128::from(nanos);
        self.add(bucket_of(nanos), 1);
    }

    /// Adds `count` values to a bucket.
    #[cold]
    #[inline(never)]
    fn add(&mut self, bucket: usize, count: u64) {
        if self.counts.len() <= bucket.wrapping_sub(self.base) {
            self.cover(bucket);
        }
        let place = &mut self.counts[bucket - self.base];
        let sum = u64::from(*place) + count;
        *place = sum as u32;
        (0..sum >> u32::BITS).for_each(|_| self.carried.push(bucket));
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        let whole = self.counts.iter().copied().map(u64::from).sum::<u64>();
        whole + ((self.carried.len() as u64) << u32::BITS)
    }

    /// Smallest value in seconds, exact; NaN without any value.
    pub fn min_s(&self) -> f64 {
        if self.counts.is_empty() { f64::NAN } else { self.min as f64 / 1e9 }
    }

    /// Mean in seconds, exact; NaN without any value.
    pub fn mean_s(&self) -> f64 {
        self.sum as f64 / self.count() as f64 / 1e9
    }

    /// Quantile `q` (0 to 1) in seconds, within 1 %; NaN without any value.
    pub fn quantile_s(&self, q: f64) -> f64 {
        let count = self.count();
        let rank = ((q * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0;
        for bucket in self.buckets() {
            seen += self.count_of(bucket);
            if seen >= rank {
                return middle_of(bucket).clamp(self.min as f64, self.max as f64) / 1e9;
            }
        }
        f64::NAN
    }

    /// Returns a histogram of the values of this histogram and of `other`.
    #[must_use]
    pub fn with(&self, other: &Histogram) -> Histogram {
        let mut sum = self.clone();
        for bucket in other.buckets().filter(|&bucket| other.count_of(bucket) > 0) {
            sum.add(bucket, other.count_of(bucket));
        }
        sum.sum += other.sum;
        sum.min = sum.min.min(other.min);
        sum.max = sum.max.max(other.max);
        sum
    }

    /// Range of buckets that the histogram covers.
    fn buckets(&self) -> std::ops::Range<usize> {
        self.base..self.base + self.counts.len()
    }

    /// Number of values in a bucket.
    fn count_of(&self, bucket: usize) -> u64 {
        let carried = self.carried.iter().filter(|&&one| one == bucket).count() as u64;
        let count = self.counts.get(bucket.wrapping_sub(self.base)).copied().unwrap_or(0);
        (carried << u32::BITS) + u64::from(count)
    }

    /// Extends the counts, octave by octave, until they cover `bucket`.
    #[cold]
    #[inline(never)]
    fn cover(&mut self, bucket: usize) {
        let octave = bucket / BUCKETS * BUCKETS;
        if self.counts.is_empty() {
            self.base = octave;
        }
        if octave < self.base {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.base - octave));
            self.base = octave;
        }
        let len = (octave + BUCKETS - self.base).max(self.counts.len());
        self.counts.resize(len, 0);
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

/// Index of the bucket of a value. Below 64 every value has its own bucket. From 64 on, each octave `[64·2^e,
/// 128·2^e)` has 64 buckets of width `2^e`.
#[inline]
fn bucket_of(nanos: u64) -> usize {
    let exponent = (u64::BITS - BITS - 1) - (nanos | BUCKETS as u64).leading_zeros();
    (exponent as usize) * BUCKETS + (nanos >> exponent) as usize
}

/// Middle of a bucket in nanoseconds.
fn middle_of(bucket: usize) -> f64 {
    if bucket < 2 * BUCKETS {
        return bucket as f64; // a bucket of width 1 has a single value
    }
    let exponent = (bucket / BUCKETS - 1) as i32;
    let width = f64::from(exponent).exp2();
    ((bucket - exponent as usize * BUCKETS) as f64 + 0.5) * width
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_each_other_without_gaps() {
        assert_eq!([0, 1, 63, 64, 127].map(bucket_of), [0, 1, 63, 64, 127]);
        assert_eq!([128, 129, 130, 255, 256].map(bucket_of), [128, 128, 129, 191, 192]);
        assert_eq!(bucket_of(u64::MAX), 57 * BUCKETS + 127);
    }

    #[test]
    fn an_empty_histogram_measured_nothing() {
        let h = Histogram::new();
        assert!(h.min_s().is_nan() && h.mean_s().is_nan() && h.quantile_s(0.5).is_nan());
    }

    #[test]
    fn small_values_are_exact() {
        let mut h = Histogram::new();
        (1..=100).for_each(|n| h.record(Duration::from_nanos(n)));
        assert_eq!((h.quantile_s(0.5), h.quantile_s(0.95), h.mean_s()), (50e-9, 95e-9, 50.5e-9));
    }

    #[test]
    fn counts_go_beyond_four_billions() {
        let mut h = Histogram::new();
        (0..3).for_each(|_| h.record(Duration::from_nanos(5)));
        h.add(5, u64::from(u32::MAX) - 3);
        h.record(Duration::from_nanos(5));
        h.record(Duration::from_nanos(9));
        assert_eq!((h.counts[5], h.count()), (0, (1 << 32) + 1));
        assert_eq!((h.quantile_s(0.99), h.quantile_s(1.0)), (5e-9, 9e-9));
    }

    proptest! {
        #[test]
        fn two_are_one_that_has_seen_both(
            left in proptest::collection::vec(0u64..1 << 40, 0..50),
            right in proptest::collection::vec(0u64..1 << 40, 0..50),
            q in 0.0f64..1.0,
        ) {
            let seen = |values: &[u64]| {
                let mut h = Histogram::new();
                values.iter().for_each(|&nanos| h.record(Duration::from_nanos(nanos)));
                h
            };
            let (both, sum) = (seen(&[&left[..], &right].concat()), seen(&left).with(&seen(&right)));
            prop_assert_eq!(sum.count(), both.count());
            let numbers = |h: &Histogram| [h.mean_s(), h.min_s(), h.quantile_s(q)].map(f64::to_bits);
            prop_assert_eq!(numbers(&sum), numbers(&both));
        }

        #[test]
        fn quantiles_are_within_one_percent(mut values in proptest::collection::vec(0u64..1 << 50, 1..300), q in 0.0f64..1.0) {
            let mut h = Histogram::new();
            values.iter().for_each(|&v| h.record(Duration::from_nanos(v)));
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).max(1);
            let exact = values[rank - 1] as f64 / 1e9;
            prop_assert!((h.quantile_s(q) - exact).abs() <= 0.01 * exact, "{} {}", h.quantile_s(q), exact);
            prop_assert_eq!(h.min_s(), values[0] as f64 / 1e9);
        }
    }
}
