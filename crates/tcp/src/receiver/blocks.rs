//! The ranges that SACK blocks report (RFC 2018).

use crate::SackBlocks;

/// Number of ranges stored: one more than an acknowledgement has room for, because a range may be merged into
/// another range.
const MOST: usize = 4;

/// Out-of-order ranges. The range that grew last comes first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    ranges: [(u32, u32); MOST],
    count: usize,
    /// The first three ranges, as an acknowledgement reports them.
    reported: SackBlocks,
}

impl Blocks {
    /// The ranges. The range that grew last comes first.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.ranges[..self.count]
    }

    /// Whether there are no ranges.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Move a range that has grown to the front, and remove the ranges that are now part of it.
    #[inline]
    pub fn remember(&mut self, range: (u32, u32)) {
        let first = &mut self.ranges[0];
        if self.count > 0 && *first == (range.0, range.1 - 1) {
            first.1 = range.1; // the usual case: the range has grown by one packet at its end, so it contains no other range
            if self.reported.grow_first() {
                return;
            }
        }
        self.put_first(range);
        self.report();
    }

    /// The SACK blocks of an acknowledgement.
    #[inline]
    pub fn reported(&self) -> SackBlocks {
        self.reported
    }

    fn report(&mut self) {
        self.reported = SackBlocks::from_first(self.as_slice());
    }

    fn put_first(&mut self, range: (u32, u32)) {
        let before = *self;
        (self.ranges[0], self.count) = (range, 1);
        before.as_slice().iter().filter(|r| r.1 <= range.0 || r.0 >= range.1).for_each(|&r| self.append(r));
    }

    /// Remove the ranges below `bound`, because all packets below `bound` have been delivered.
    pub fn forget_below(&mut self, bound: u32) {
        let before = std::mem::take(self);
        before.as_slice().iter().filter(|r| r.0 >= bound).for_each(|&r| self.append(r));
        self.report();
    }

    fn append(&mut self, range: (u32, u32)) {
        if let Some(place) = self.ranges.get_mut(self.count) {
            *place = range;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_that_grew_last_comes_first_in_the_place_of_its_parts() {
        let mut blocks = Blocks::default();
        [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)].into_iter().for_each(|range| blocks.remember(range));
        assert_eq!(blocks.as_slice(), [(9, 10), (7, 8), (5, 6), (3, 4)]);
        blocks.remember((3, 8));
        assert_eq!(blocks.as_slice(), [(3, 8), (9, 10)]);
        blocks.remember((3, 9));
        assert_eq!(blocks.reported().iter().collect::<Vec<_>>(), [(3, 9), (9, 10)]);
        blocks.forget_below(9);
        assert_eq!(blocks.as_slice(), [(9, 10)]);
        assert_eq!(blocks.reported(), SackBlocks::from_ranges([(9, 10)]));
    }

    #[test]
    fn what_is_reported_is_what_is_remembered() {
        let mut blocks = Blocks::default();
        for end in 11..70_000 {
            blocks.remember((10, end));
            assert_eq!(blocks.reported(), SackBlocks::from_ranges([(10, end)]));
        }
    }
}
