//! A ring buffer: first in, first out, in one block of memory.

/// A queue of plain values in a ring whose number of slots is a power of two. The number of slots doubles when all
/// slots are in use. The number of slots halves when the oldest value is in the first slot and at most a quarter of the
/// slots is in use. The memory of a burst is therefore not released until some time after the burst.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// Slots that have been used at least once, from the first slot on.
    slots: Vec<T>,
    /// Number of slots.
    capacity: usize,
    head: usize,
    len: usize,
}

/// Minimum number of slots of a ring that has allocated memory.
const FEWEST: usize = 8;

impl<T: Copy> Ring<T> {
    /// Create an empty ring. The first push allocates memory.
    pub const fn new() -> Ring<T> {
        Ring { slots: Vec::new(), capacity: 0, head: 0, len: 0 }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the ring is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Append a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        let slot = self.head.wrapping_add(self.len) & self.capacity.wrapping_sub(1);
        match self.slots.get_mut(slot) {
            Some(used) if self.len < self.capacity => *used = value,
            _ => {
                self.make_room();
                self.slots.push(value);
            }
        }
        self.len += 1;
    }

    /// Double the slots if no slot is free.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        if self.len == self.capacity {
            self.grow();
        }
    }

    /// The youngest value.
    pub fn back(&self) -> Option<&T> {
        let last = self.len.checked_sub(1)?;
        self.slots.get(self.head.wrapping_add(last) & self.capacity.wrapping_sub(1))
    }

    /// Insert a value before all younger values that it must precede. Equal values stay in order.
    pub fn insert(&mut self, value: T, before: impl Fn(&T, &T) -> bool) {
        self.push(value);
        let slot = |n: usize| (self.head + n) & (self.capacity - 1);
        let mut at = self.len - 1;
        while at > 0 && before(&value, &self.slots[slot(at - 1)]) {
            self.slots.swap(slot(at - 1), slot(at));
            at -= 1;
        }
    }

    /// The oldest value.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.slots.get(self.head) }
    }

    /// Remove the oldest value and return a reference, which is valid until the next push.
    #[inline]
    pub fn pop(&mut self) -> Option<&T> {
        self.pop_if(|_| true)
    }

    /// Remove and return the oldest value as [`pop`](Self::pop) does, but only if it is `wanted`.
    #[inline]
    pub fn pop_if(&mut self, wanted: impl FnOnce(&T) -> bool) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        if self.head == 0 {
            self.shrink();
        }
        let oldest = self.slots.get(self.head)?;
        if !wanted(oldest) {
            return None;
        }
        self.head = (self.head + 1) & (self.capacity - 1);
        self.len -= 1;
        Some(oldest)
    }

    /// All values, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> + '_ {
        (0..self.len).filter_map(|n| self.slots.get((self.head + n) & (self.capacity - 1)))
    }

    /// Remove the value at index `n`, counted from the oldest value. The cost is proportional to the number of
    /// younger values.
    pub fn remove(&mut self, n: usize) -> Option<T> {
        let slot = |n: usize| (self.head + n) & (self.capacity - 1);
        if n >= self.len {
            return None;
        }
        (n + 1..self.len).for_each(|n| self.slots.swap(slot(n - 1), slot(n)));
        self.len -= 1;
        self.slots.get(slot(self.len)).copied()
    }

    /// Halve the number of slots if at most a quarter of the slots is in use, wherever the values are. Useful after a
    /// burst.
    #[inline]
    pub fn trim(&mut self) {
        if self.capacity > FEWEST && 4 * self.len <= self.capacity {
            self.move_to(self.capacity / 2);
        }
    }

    #[cold]
    #[inline(never)]
    fn move_to(&mut self, capacity: usize) {
        let mut slots = Vec::with_capacity(capacity);
        slots.extend(self.iter().copied());
        (self.slots, self.capacity, self.head) = (slots, capacity, 0);
    }

    /// Halve the number of slots if at most a quarter of the slots is in use. All values must be in the first slots.
    #[cold]
    #[inline(never)]
    fn shrink(&mut self) {
        if self.capacity > FEWEST && 4 * self.len <= self.capacity {
            self.capacity /= 2;
            self.slots.truncate(self.capacity);
            self.slots.shrink_to(self.capacity);
        }
    }

    /// Double the slots.
    fn grow(&mut self) {
        self.slots.rotate_left(self.head);
        self.head = 0;
        self.capacity = (2 * self.capacity).max(FEWEST);
        self.slots.reserve_exact(self.capacity - self.slots.len());
    }
}

impl<T: Copy> Default for Ring<T> {
    fn default() -> Self {
        Ring::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn growing_while_wrapped_keeps_the_order() {
        let mut ring = Ring::new();
        (0..8).for_each(|n| ring.push(n));
        assert_eq!([0; 2].map(|_| ring.pop().copied()), [Some(0), Some(1)]);
        (8..20).for_each(|n| ring.push(n)); // wraps around, then grows
        assert_eq!((2..20).map(|_| *ring.pop().unwrap()).collect::<Vec<_>>(), (2..20).collect::<Vec<_>>());
        assert_eq!(ring.pop(), None);
    }

    #[test]
    fn slots_of_a_burst_are_given_back() {
        let mut ring = Ring::new();
        (0..1_000).for_each(|n| ring.push(n));
        (0..1_000).for_each(|n| assert_eq!(ring.pop(), Some(&n)));
        assert_eq!(ring.slots.capacity(), 1_024);
        (0..10_000).for_each(|n| {
            ring.push(n);
            ring.push(n);
            assert_eq!([ring.pop().copied(), ring.pop().copied()], [Some(n); 2]);
        });
        assert_eq!((ring.slots.capacity(), ring.capacity), (FEWEST, FEWEST));
    }

    #[test]
    fn trimming_halves_what_is_mostly_free() {
        let mut ring = Ring::new();
        (0..1_000).for_each(|n| ring.push(n));
        ring.trim();
        assert_eq!(ring.capacity, 1_024);
        (0..900).for_each(|n| assert_eq!(ring.pop(), Some(&n)));
        (0..9).for_each(|_| ring.trim());
        assert_eq!((ring.capacity, ring.slots.capacity()), (256, 256));
        assert_eq!(ring.iter().copied().collect::<Vec<_>>(), (900..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn only_a_wanted_value_is_removed() {
        let mut ring = Ring::new();
        assert_eq!(ring.pop_if(|_| true), None);
        ring.push(1);
        assert_eq!((ring.pop_if(|&n| n > 1).copied(), ring.len()), (None, 1));
        assert_eq!((ring.pop_if(|&n| n == 1).copied(), ring.len()), (Some(1), 0));
    }

    proptest! {
        #[test]
        fn removing_from_the_middle_keeps_the_order(turn in 0..8, n in 0..12usize, length in 0..12) {
            let mut ring = Ring::new();
            (0..turn).for_each(|n| ring.push(n));
            (0..turn).for_each(|_| { ring.pop(); });
            (0..length).for_each(|n| ring.push(n));
            let mut model: Vec<_> = (0..length).collect();
            let expected = (n < model.len()).then(|| model.remove(n));
            prop_assert_eq!(ring.remove(n), expected);
            prop_assert_eq!(ring.iter().copied().collect::<Vec<_>>(), model);
        }

        #[test]
        fn behaves_like_a_vec_deque(spans in proptest::collection::vec((any::<bool>(), 1..60usize), 0..60)) {
            let (mut ring, mut model) = (Ring::new(), VecDeque::new());
            let steps = spans.into_iter().flat_map(|(push, times)| std::iter::repeat_n(push, times));
            for (n, push) in steps.enumerate() {
                if n % 7 == 0 { ring.trim(); }
                if push { ring.push(n); model.push_back(n); } else { prop_assert_eq!(ring.pop().copied(), model.pop_front()); }
                prop_assert_eq!((ring.len(), ring.front()), (model.len(), model.front()));
            }
        }
    }
}
