//! Sets of packet numbers kept as sorted, disjoint ranges.

/// A set of packet numbers, as ranges `[start, end)` in ascending order that neither touch nor overlap.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    ranges: Vec<(u32, u32)>,
}

impl RangeSet {
    /// Nothing in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many ranges there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The ranges in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> + '_ {
        self.ranges.iter().copied()
    }

    /// The lowest range.
    pub fn first(&self) -> Option<(u32, u32)> {
        self.ranges.first().copied()
    }

    /// One past the highest number.
    #[inline]
    pub fn end(&self) -> Option<u32> {
        self.ranges.last().map(|r| r.1)
    }

    /// The number that has `n` - 1 others above it in the set, if it holds so many; `n` counts from 1.
    pub fn nth_highest(&self, n: u32) -> Option<u32> {
        let mut above = 0;
        self.iter().rev().find_map(|(start, end)| {
            above += end - start;
            (above >= n).then(|| start + (above - n))
        })
    }

    /// The range that holds `number`.
    pub fn find(&self, number: u32) -> Option<(u32, u32)> {
        if self.end().is_none_or(|end| end <= number) {
            return None;
        }
        let i = self.ranges.partition_point(|r| r.1 <= number);
        self.ranges.get(i).copied().filter(|r| r.0 <= number)
    }

    /// Every number of `[start, end)` is in the set.
    pub fn contains(&self, start: u32, end: u32) -> bool {
        self.find(start).is_some_and(|range| range.1 >= end)
    }

    /// Appends the parts of `[start, end)` that are not in the set to `gaps`.
    pub fn gaps_within(&self, mut start: u32, end: u32, gaps: &mut Vec<(u32, u32)>) {
        if self.end().is_none_or(|last| last <= start) {
            gaps.push((start, end)); // beyond everything known, as SACK blocks mostly are
            return;
        }
        let mut i = self.ranges.partition_point(|r| r.1 <= start);
        while start < end {
            let Some(&(low, high)) = self.ranges.get(i) else { break };
            if low > start {
                gaps.push((start, low.min(end)));
            }
            start = high.max(start);
            i += 1;
        }
        if start < end {
            gaps.push((start, end));
        }
    }

    /// Adds `[start, end)`, merges what it touches, and returns the range it became part of.
    pub fn insert(&mut self, start: u32, end: u32) -> (u32, u32) {
        if let Some(last) = self.ranges.last_mut()
            && last.0 <= start
        {
            // Most packets beyond a hole extend the last range or open a new one.
            if last.1 >= start {
                last.1 = last.1.max(end);
                return *last;
            }
            self.ranges.push((start, end));
            return (start, end);
        }
        let first = self.ranges.partition_point(|r| r.1 < start);
        let mut merged = (start, end);
        let mut last = first;
        while let Some(&(low, high)) = self.ranges.get(last)
            && low <= end
        {
            merged = (merged.0.min(low), merged.1.max(high));
            last += 1;
        }
        if last == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
        merged
    }

    /// Removes every number below `bound`.
    pub fn remove_below(&mut self, bound: u32) {
        let gone = self.ranges.iter().take_while(|r| r.1 <= bound).count();
        if gone > 0 {
            self.ranges.drain(..gone);
        }
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(bound);
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn model(set: &RangeSet) -> BTreeSet<u32> {
        set.iter().flat_map(|(a, b)| a..b).collect()
    }

    proptest! {
        #[test]
        fn behaves_like_a_set(ops in prop::collection::vec((0u32..60, 1u32..8, any::<bool>()), 0..60)) {
            let (mut set, mut reference) = (RangeSet::default(), BTreeSet::new());
            for (start, length, insert) in ops {
                if insert {
                    set.insert(start, start + length);
                    reference.extend(start..start + length);
                } else {
                    set.remove_below(start / 4);
                    reference.retain(|&n| n >= start / 4);
                }
                prop_assert_eq!(&model(&set), &reference);
                let third = reference.iter().rev().nth(2).copied();
                prop_assert_eq!(set.nth_highest(3), third);
                let ranges: Vec<_> = set.iter().collect();
                prop_assert!(ranges.windows(2).all(|w| w[0].1 < w[1].0), "{:?}", ranges);
            }
        }

        #[test]
        fn gaps_are_what_is_missing(present in prop::collection::vec((0u32..60, 1u32..8), 0..12), start in 0u32..60, length in 0u32..30) {
            let mut set = RangeSet::default();
            for (s, l) in present { set.insert(s, s + l); }
            let mut gaps = Vec::new();
            set.gaps_within(start, start + length, &mut gaps);
            let missing: Vec<u32> = gaps.iter().flat_map(|&(a, b)| a..b).collect();
            let expected: Vec<u32> = (start..start + length).filter(|n| set.find(*n).is_none()).collect();
            prop_assert_eq!(missing, expected);
        }
    }
}
