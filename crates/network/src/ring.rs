//! First in, first out, in one block of memory.

/// A queue of plain values in a power of two of slots, which doubles when it is full and never shrinks.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Vec<T>,
    head: usize,
    len: usize,
}

impl<T: Copy> Ring<T> {
    /// An empty ring; the first push allocates.
    pub const fn new() -> Ring<T> {
        Ring { slots: Vec::new(), head: 0, len: 0 }
    }

    /// How many values wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No value waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a value.
    pub fn push(&mut self, value: T) {
        if self.len == self.slots.len() {
            self.grow(value);
        }
        let slot = (self.head + self.len) & (self.slots.len() - 1);
        self.slots[slot] = value;
        self.len += 1;
    }

    /// The oldest value.
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.slots.get(self.head) }
    }

    /// Removes the oldest value.
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.head = (self.head + 1) & (self.slots.len() - 1);
        self.len -= 1;
        Some(value)
    }

    /// Doubles the slots; `filler` occupies the new ones until they are written.
    #[cold]
    fn grow(&mut self, filler: T) {
        let slots = (2 * self.slots.len()).max(8);
        self.slots.rotate_left(self.head);
        self.slots.resize(slots, filler);
        self.head = 0;
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
        assert_eq!((ring.pop(), ring.pop()), (Some(0), Some(1)));
        (8..20).for_each(|n| ring.push(n)); // wraps, then grows
        assert_eq!((2..20).map(|_| ring.pop().unwrap()).collect::<Vec<_>>(), (2..20).collect::<Vec<_>>());
        assert_eq!(ring.pop(), None);
    }

    proptest! {
        #[test]
        fn behaves_like_a_vec_deque(steps in proptest::collection::vec(any::<bool>(), 0..400)) {
            let (mut ring, mut model) = (Ring::new(), VecDeque::new());
            for (n, push) in steps.into_iter().enumerate() {
                if push { ring.push(n); model.push_back(n); } else { prop_assert_eq!(ring.pop(), model.pop_front()); }
                prop_assert_eq!((ring.len(), ring.front()), (model.len(), model.front()));
            }
        }
    }
}
