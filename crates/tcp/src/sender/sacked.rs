//! Selective acknowledgements: the SACK blocks of ACKs, and the ranges that these blocks have reported.

use crate::ranges::RangeSet;
use crate::segment::SackBlocks;

/// Ranges of packets that were selectively acknowledged, and the duplicates that DSACKs have reported.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Sacked {
    ranges: RangeSet,
    /// SACK blocks of the preceding ACK, all of which are in `ranges`.
    known: SackBlocks,
    /// Ranges that the last ACK reported for the first time.
    new: Vec<(u32, u32)>,
    /// Packets that the receiver has reported as duplicates.
    duplicates: u64,
}

impl Sacked {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// One past the highest SACKed packet.
    #[inline]
    pub fn end(&self) -> Option<u32> {
        self.ranges.end()
    }

    /// The `n`-th highest SACKed packet, counted from 1; `None` if fewer packets are SACKed.
    pub fn nth_highest(&self, n: u32) -> Option<u32> {
        self.ranges.nth_highest(n)
    }

    /// Remove the packets below `una`, which are cumulatively acknowledged.
    #[inline]
    pub fn remove_below(&mut self, una: u32) {
        self.ranges.remove_below(una);
    }

    /// The only packet that `blocks` report and the preceding ACK did not report; `None` if the blocks differ in
    /// any other way.
    #[inline]
    pub fn grown(&self, blocks: &SackBlocks) -> Option<u32> {
        blocks.grown_since(&self.known)
    }

    /// Add the only packet that `blocks` report and the preceding ACK did not report. False if an earlier ACK had
    /// reported this packet.
    #[inline]
    pub fn add_one(&mut self, seq: u32, blocks: &SackBlocks) -> bool {
        let mut is_new = false;
        self.ranges.add(seq, seq + 1, |_, _| is_new = true);
        self.known = *blocks;
        is_new
    }

    /// Add the packets in `una..next` that `blocks` report. Return the number of new ranges.
    /// [`new_range`](Self::new_range) returns these ranges in ascending order. `dsack`: the first block reports a
    /// duplicate.
    #[inline]
    pub fn add(&mut self, blocks: &SackBlocks, dsack: bool, una: u32, next: u32) -> usize {
        let (known, mut is_all_known) = (self.known, !dsack);
        let (ranges, new) = (&mut self.ranges, &mut self.new);
        new.clear();
        for (start, end) in blocks.iter().skip(usize::from(dsack)) {
            if known.has(start, end) {
                continue; // most blocks were also in the preceding ACK (`recv_sack_cache`)
            }
            is_all_known &= end <= next;
            let (start, end) = (start.max(una), end.min(next));
            if start < end {
                ranges.add(start, end, |start, end| new.push((start, end)));
            }
        }
        self.known = if is_all_known { *blocks } else { SackBlocks::default() };
        if new.len() > 1 {
            new.sort_unstable();
        }
        new.len()
    }

    /// The `n`-th range that the last ACK reported for the first time, counted from 0.
    #[inline]
    pub fn new_range(&self, n: usize) -> (u32, u32) {
        self.new[n]
    }

    /// Count the duplicates `start..end`. False if there are more duplicates than `retransmitted` packets, so that the
    /// network must have duplicated packets (Linux `tcp_dsack_seen`).
    pub fn are_plausible(&mut self, start: u32, end: u32, retransmitted: u64) -> bool {
        self.duplicates += u64::from(end.saturating_sub(start));
        self.duplicates <= retransmitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_beyond_what_was_retransmitted_are_the_networks() {
        let mut sacked = Sacked::default();
        assert_eq!([5, 6, 7].map(|seq| sacked.are_plausible(seq, seq + 1, 2)), [true, true, false]);
    }

    #[test]
    fn ranges_reported_for_the_first_time_are_found_in_ascending_order() {
        let mut sacked = Sacked::default();
        let report = |sacked: &mut Sacked, blocks: &[(u32, u32)]| {
            let found = sacked.add(&SackBlocks::from_ranges(blocks.iter().copied()), false, 2, 20);
            (0..found).map(|n| sacked.new_range(n)).collect::<Vec<_>>()
        };
        assert_eq!(report(&mut sacked, &[(8, 10), (1, 4)]), [(2, 4), (8, 10)]);
        assert_eq!(report(&mut sacked, &[(7, 12), (1, 4)]), [(7, 8), (10, 12)]);
    }
}
