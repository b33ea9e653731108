//! The ranges that SACK blocks report (RFC 2018; Linux `tcp_sack_new_ofo_skb`).

use crate::SackBlocks;

/// Number of ranges stored (`TCP_NUM_SACKS`). A range that is pushed out is forgotten, also when a packet beside it arrives.
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

    /// Index of the first range that packet `seq` belongs to or extends.
    pub fn touched(&self, seq: u32) -> Option<usize> {
        self.as_slice().iter().position(|&range| touch(range, (seq, seq + 1)))
    }

    /// Add packet `seq` to the range that it touches, move this range to the front, and merge ranges that touch it. A packet
    /// that touches no range is a new range.
    #[inline]
    pub fn remember(&mut self, seq: u32) {
        let first = (self.ranges[0].0, seq + 1);
        let is_apart = |&range: &(u32, u32)| !touch(range, first);
        if self.count > 0 && self.ranges[0].1 == seq && self.ranges[1..self.count].iter().all(is_apart) {
            self.ranges[0] = first; // the usual case: the first range grows by one packet at its end
            if self.reported.grow_first() {
                return;
            }
        } else {
            self.put_first(seq);
        }
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

    fn put_first(&mut self, seq: u32) {
        let (before, touched) = (*self, self.touched(seq));
        let mut first = (seq, seq + 1);
        if let Some(place) = touched {
            first = joined(first, before.ranges[place]);
        }
        self.count = 1;
        for (place, &range) in before.as_slice().iter().enumerate() {
            if touched.is_some() && touch(range, first) {
                first = joined(first, range);
            } else if touched != Some(place) {
                self.append(range);
            }
        }
        self.ranges[0] = first;
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

/// Whether two ranges overlap or are adjacent (`tcp_sack_extend`).
#[inline]
fn touch(a: (u32, u32), b: (u32, u32)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

fn joined(a: (u32, u32), b: (u32, u32)) -> (u32, u32) {
    (a.0.min(b.0), a.1.max(b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembered(packets: impl IntoIterator<Item = u32>) -> Blocks {
        let mut blocks = Blocks::default();
        packets.into_iter().for_each(|seq| blocks.remember(seq));
        blocks
    }

    #[test]
    fn the_range_that_grew_last_comes_first_in_the_place_of_its_parts() {
        let mut blocks = remembered([1, 3, 5, 7, 9]);
        assert_eq!(blocks.as_slice(), [(9, 10), (7, 8), (5, 6), (3, 4)]);
        blocks.remember(4);
        assert_eq!(blocks.as_slice(), [(3, 6), (9, 10), (7, 8)]);
        blocks.remember(6);
        assert_eq!(blocks.reported().iter().collect::<Vec<_>>(), [(3, 8), (9, 10)]);
        blocks.forget_below(9);
        assert_eq!(blocks.as_slice(), [(9, 10)]);
        assert_eq!(blocks.reported(), SackBlocks::from_ranges([(9, 10)]));
    }

    #[test]
    fn a_packet_beside_a_forgotten_range_is_a_range_of_its_own() {
        let blocks = remembered([10, 11, 13, 20, 30, 40, 50, 12]);
        assert_eq!(blocks.as_slice(), [(12, 13), (50, 51), (40, 41), (30, 31)]);
    }

    #[test]
    fn a_duplicate_moves_its_range_to_the_front() {
        assert_eq!(remembered([10, 11, 20, 10]).as_slice(), [(10, 12), (20, 21)]);
    }

    #[test]
    fn what_is_reported_is_what_is_remembered() {
        let mut blocks = Blocks::default();
        for seq in 10..70_000 {
            blocks.remember(seq);
            assert_eq!(blocks.reported(), SackBlocks::from_ranges([(10, seq + 1)]));
        }
    }
}
