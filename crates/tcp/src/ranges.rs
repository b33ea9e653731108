//! Sets of packet numbers as sorted, disjoint ranges.

use std::collections::VecDeque;

/// A set of packet numbers, as ranges `[start, end)` in ascending order that neither touch nor overlap.
///
/// Most changes remove the lowest ranges and extend the highest range. A deque makes changes at its two ends
/// cheap, for any number of ranges.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    ranges: VecDeque<(u32, u32)>,
}

impl RangeSet {
    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Number of ranges.
    #[inline]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The ranges in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> + '_ {
        self.ranges.iter().copied()
    }

    /// The lowest range.
    #[inline]
    pub fn first(&self) -> Option<(u32, u32)> {
        self.ranges.front().copied()
    }

    /// One past the highest number.
    #[inline]
    pub fn end(&self) -> Option<u32> {
        self.ranges.back().map(|r| r.1)
    }

    /// The `n`-th highest number of the set, counted from 1; `None` if the set has fewer numbers.
    pub fn nth_highest(&self, n: u32) -> Option<u32> {
        let mut above = 0;
        self.iter().rev().find_map(|(start, end)| {
            above += end - start;
            (above >= n).then(|| start + (above - n))
        })
    }

    /// The range that holds `number`.
    pub fn find(&self, number: u32) -> Option<(u32, u32)> {
        let i = self.ranges.partition_point(|r| r.1 <= number);
        self.ranges.get(i).copied().filter(|r| r.0 <= number)
    }

    /// Add `[start, end)`, merge it with the ranges that it touches, and return the merged range. `new` is called
    /// with each part that was not in the set, in ascending order.
    #[inline]
    pub fn add(&mut self, start: u32, end: u32, mut new: impl FnMut(u32, u32)) -> (u32, u32) {
        match self.ranges.back_mut() {
            Some(last) if start < last.0 => self.add_below(start, end, new),
            // Most packets beyond a hole extend the last range or open a new range.
            Some(last) if start <= last.1 => {
                if last.1 < end {
                    new(last.1, end);
                    last.1 = end;
                }
                *last
            }
            _ => {
                new(start, end);
                self.ranges.push_back((start, end));
                (start, end)
            }
        }
    }

    /// Same as [`RangeSet::add`], for a range that begins below the last range of the set.
    fn add_below(&mut self, start: u32, end: u32, mut new: impl FnMut(u32, u32)) -> (u32, u32) {
        let first = self.ranges.partition_point(|r| r.1 < start);
        let (mut merged, mut from, mut after) = ((start, end), start, first);
        while let Some(&(low, high)) = self.ranges.get(after)
            && low <= end
        {
            if from < low {
                new(from, low);
            }
            from = from.max(high);
            merged = (merged.0.min(low), merged.1.max(high));
            after += 1;
        }
        if from < end {
            new(from, end);
        }
        self.replace(first, after, merged);
        merged
    }

    /// Replace the ranges with indices `first..after` by one range.
    fn replace(&mut self, first: usize, after: usize, range: (u32, u32)) {
        if first == after {
            return self.ranges.insert(first, range);
        }
        self.ranges[first] = range;
        if first + 1 < after {
            self.ranges.drain(first + 1..after);
        }
    }

    /// Remove every number below `bound`.
    #[inline]
    pub fn remove_below(&mut self, bound: u32) {
        while let Some(first) = self.ranges.front_mut()
            && first.0 < bound
        {
            if bound < first.1 {
                first.0 = bound;
                return;
            }
            self.ranges.pop_front();
        }
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
                    let (mut told, missing) = (Vec::new(), (start..start + length).filter(|n| !reference.contains(n)));
                    let missing: Vec<u32> = missing.collect();
                    let range = set.add(start, start + length, |low, high| told.extend(low..high));
                    prop_assert_eq!(told, missing);
                    prop_assert_eq!(set.find(start), Some(range));
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
    }
}
