//! What has arrived of a numbered stream.

use units::Duration;

/// Counts each datagram once, however often and in which order copies of it arrive.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// One bit per number.
    seen: Vec<u64>,
    /// One past the highest number that has arrived.
    expected: u64,
    count: u64,
}

impl Arrivals {
    /// A datagram arrives; whether it is the first of its number.
    pub fn see(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        let first = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        self.count += u64::from(first);
        self.expected = self.expected.max(u64::from(number) + 1);
        first
    }

    /// How many have arrived.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many have not, of those that were sent before one that has (RFC 3550, section 6.4.1: expected less received).
    pub fn lost(&self) -> u64 {
        self.expected - self.count
    }
}

/// Interarrival jitter (RFC 3550, section 6.4.1): by how much the time on the way differs from one arrival to the next,
/// smoothed with a gain of 1/16; and the mean of that over all arrivals.
#[derive(Clone, Debug, Default)]
pub struct InterarrivalJitter {
    last: Option<Duration>,
    smoothed_s: f64,
    sum_s: f64,
    count: u64,
}

impl InterarrivalJitter {
    /// A datagram arrives that was so long on its way.
    pub fn see(&mut self, on_the_way: Duration, measured: bool) {
        let Some(last) = self.last.replace(on_the_way) else { return };
        let difference = last.max(on_the_way) - last.min(on_the_way);
        self.smoothed_s += (difference.as_secs_f64() - self.smoothed_s) / 16.0;
        if measured {
            self.sum_s += self.smoothed_s;
            self.count += 1;
        }
    }

    /// Mean in seconds over what was measured; NaN with fewer than two arrivals.
    pub fn mean_s(&self) -> f64 {
        self.sum_s / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_missing_below_the_highest_number_is_lost() {
        let mut arrivals = Arrivals::default();
        [0, 1, 4, 70].into_iter().for_each(|n| assert!(arrivals.see(n)));
        assert_eq!((arrivals.count(), arrivals.lost()), (4, 67));
        assert!(arrivals.see(3) && !arrivals.see(3), "late, and then a copy of it");
        assert_eq!((arrivals.count(), arrivals.lost()), (5, 66));
    }

    #[test]
    fn jitter_follows_the_formula_of_the_rfc() {
        let mut jitter = InterarrivalJitter::default();
        assert!(jitter.mean_s().is_nan());
        [10, 26, 26].into_iter().for_each(|ms| jitter.see(Duration::from_millis(ms), true));
        // 16 ms / 16, then 15/16 of that.
        assert!((jitter.mean_s() - (1e-3 + 0.9375e-3) / 2.0).abs() < 1e-12, "{}", jitter.mean_s());
    }

    #[test]
    fn a_constant_time_on_the_way_has_no_jitter() {
        let mut jitter = InterarrivalJitter::default();
        (0..100).for_each(|_| jitter.see(Duration::from_millis(30), true));
        assert_eq!(jitter.mean_s(), 0.0);
    }

    proptest! {
        #[test]
        fn the_order_of_arrival_and_copies_change_nothing(mut numbers in proptest::collection::vec(0u32..500, 1..200)) {
            let count = |numbers: &[u32]| {
                let mut arrivals = Arrivals::default();
                numbers.iter().for_each(|&n| { arrivals.see(n); });
                (arrivals.count(), arrivals.lost())
            };
            let before = count(&numbers);
            numbers.sort_unstable();
            prop_assert_eq!(before, count(&numbers));
            numbers.dedup();
            prop_assert_eq!(before.0, numbers.len() as u64);
        }
    }
}
