//! Counts of arrived and missing datagrams, found from the numbers of the datagrams.

/// Counts each datagram once, regardless of order and of duplicates.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// One bit per datagram number.
    seen: Vec<u64>,
    /// The highest datagram number that has arrived, plus one.
    expected: u64,
    count: u64,
}

impl Arrivals {
    /// Adds an arrival. True if this is the first arrival of the datagram `number`.
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

    /// Number of datagrams that have arrived.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Missing datagrams below the highest number that has arrived (RFC 3550, section 6.4.1: expected minus received).
    pub fn lost(&self) -> u64 {
        self.expected - self.count
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
        assert!(arrivals.see(3) && !arrivals.see(3), "datagram 3 arrives late, and then its copy");
        assert_eq!((arrivals.count(), arrivals.lost()), (5, 66));
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
