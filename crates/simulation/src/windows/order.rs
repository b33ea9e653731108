//! Sorting of keys that are spread over a span of time.

/// Sorts numbers, with buffers that are reused between calls.
#[derive(Default)]
pub(super) struct Sorter {
    /// Start of each bucket in `spread`.
    places: Vec<u32>,
    /// Numbers, bucket by bucket.
    spread: Vec<u64>,
}

/// Length up to which lists are sorted by the standard library.
const FEW: usize = 64;
/// Largest mean number of places by which the insertion sort may move a number. More moves mean that the numbers are
/// not spread evenly.
const PASSED: usize = 8;

impl Sorter {
    /// Sorts distinct numbers of at most `most`. If the numbers are spread evenly, each number takes a few steps, as
    /// there are about as many buckets as numbers.
    pub fn sort(&mut self, numbers: &mut Vec<u64>, most: u64) {
        if numbers.len() <= FEW || !self.sort_spread(numbers, most) {
            numbers.sort(); // the stable sort makes use of sorted runs
        }
    }

    /// Sorts with buckets. Returns false if the numbers are not spread evenly, as sorting with buckets would then take
    /// long.
    fn sort_spread(&mut self, numbers: &mut Vec<u64>, most: u64) -> bool {
        let bits = usize::BITS - numbers.len().leading_zeros() - 1;
        let shift = (u64::BITS - most.leading_zeros()).saturating_sub(bits);
        self.find_places(numbers, bits, shift);
        self.spread.resize(numbers.len(), 0); // all elements are overwritten
        for &number in &*numbers {
            let place = &mut self.places[(number >> shift) as usize];
            self.spread[*place as usize] = number;
            *place += 1;
        }
        let is_sorted = insert_each(&mut self.spread);
        if is_sorted {
            std::mem::swap(numbers, &mut self.spread);
        }
        is_sorted
    }

    /// Finds the start of each of 2^`bits` buckets.
    fn find_places(&mut self, numbers: &[u64], bits: u32, shift: u32) {
        self.places.clear();
        self.places.resize(1 << bits, 0);
        for &number in numbers {
            self.places[(number >> shift) as usize] += 1;
        }
        let mut before = 0;
        for place in &mut self.places {
            before += std::mem::replace(place, before);
        }
    }
}

/// Sorts numbers that are almost in order by insertion. Gives up and returns false if the numbers are not almost in
/// order.
fn insert_each(numbers: &mut [u64]) -> bool {
    let (mut last, mut left) = (0, PASSED * numbers.len());
    for n in 0..numbers.len() {
        let number = numbers[n];
        if last <= number {
            last = number;
            continue;
        }
        let mut to = n;
        while to > 0 && numbers[to - 1] > number {
            numbers[to] = numbers[to - 1];
            to -= 1;
        }
        numbers[to] = number;
        if n - to > left {
            return false;
        }
        left -= n - to;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Numbers spread over the whole span, over a part of the span, or both, so that one bucket has many numbers.
        #[test]
        fn sorts_as_the_standard_library(
            spread in proptest::collection::hash_set(0u64..1 << 40, 0..600),
            narrow in proptest::collection::hash_set(1u64 << 20..1 << 22, 0..200),
        ) {
            let mut numbers: Vec<u64> = spread.union(&narrow).copied().collect();
            let mut expected = numbers.clone();
            expected.sort_unstable();
            let mut sorter = Sorter::default();
            sorter.sort(&mut numbers, 1 << 40);
            prop_assert_eq!(numbers, expected);
        }
    }
}
