//! Percentiles of a stream of durations.

use units::Duration;

/// Buckets per octave: two neighbours differ by at most 1/64, so a value read from the middle of its bucket is
/// off by less than 0.8 %.
const BUCKETS: usize = 64;
const BITS: u32 = BUCKETS.trailing_zeros();

/// A log-linear histogram with exact count, sum and extremes. It covers only the octaves it has seen.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Counts of the buckets from `base` on, modulo 2^32; whole octaves.
    counts: Vec<u32>,
    base: usize,
    /// The buckets whose counts have passed 2^32, once for every time.
    carried: Vec<usize>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Histogram {
    /// An empty histogram.
    pub const fn new() -> Histogram {
        Histogram {
            counts: Vec::new(),
            base: 0,
            carried: Vec::new(),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// Adds one value.
    pub fn record(&mut self, value: Duration) {
        let nanos = value.as_nanos();
        let bucket = bucket_of(nanos);
        // A bucket below the base wraps around to a huge index and is not there, either.
        match self.counts.get_mut(bucket.wrapping_sub(self.base)) {
            Some(count) => {
                *count = count.wrapping_add(1);
                if *count == 0 {
                    self.carry(bucket);
                }
            }
            None => self.cover(bucket),
        }
        self.count += 1;
        self.sum += u128::from(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest value in seconds, exact; NaN if there is none.
    pub fn min_s(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.min as f64 / 1e9 }
    }

    /// Mean in seconds, exact; NaN if there is none.
    pub fn mean_s(&self) -> f64 {
        self.sum as f64 / self.count as f64 / 1e9
    }

    /// The value in seconds that the share `q` (0 to 1) of all values does not exceed, to within 1 %; NaN if there
    /// is none.
    pub fn quantile_s(&self, q: f64) -> f64 {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        for (n, count) in self.counts.iter().enumerate() {
            let carried = self.carried.iter().filter(|&&bucket| bucket == self.base + n).count() as u64;
            seen += (carried << u32::BITS) + u64::from(*count);
            if seen >= rank {
                return middle_of(self.base + n).clamp(self.min as f64, self.max as f64) / 1e9;
            }
        }
        f64::NAN
    }

    #[cold]
    #[inline(never)]
    fn carry(&mut self, bucket: usize) {
        self.carried.push(bucket);
    }

    /// Makes room for the first value of `bucket`, octave by octave.
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
        self.counts[bucket - self.base] += 1;
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

/// Below 64 every value has its own bucket; above, an octave `[64·2^e, 128·2^e)` has 64 buckets of width `2^e`.
fn bucket_of(nanos: u64) -> usize {
    let exponent = (u64::BITS - BITS - 1) - (nanos | BUCKETS as u64).leading_zeros();
    (exponent as usize) * BUCKETS + (nanos >> exponent) as usize
}

/// The middle of a bucket, in nanoseconds.
fn middle_of(bucket: usize) -> f64 {
    if bucket < 2 * BUCKETS {
        return bucket as f64; // width one: the value itself
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
        h.counts[5] = u32::MAX;
        h.count = u64::from(u32::MAX);
        h.record(Duration::from_nanos(5));
        h.record(Duration::from_nanos(9));
        assert_eq!((h.counts[5], h.count()), (0, (1 << 32) + 1));
        assert_eq!((h.quantile_s(0.99), h.quantile_s(1.0)), (5e-9, 9e-9));
    }

    proptest! {
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
