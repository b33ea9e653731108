//! Values of packets whose numbers are close together.

/// Values by packet number, in a ring buffer: the value of packet `n` is at index `n` modulo the number of
/// entries. The ring has an entry for every number from the lowest to the highest.
#[derive(Debug)]
pub(crate) struct Numbered<T> {
    places: Vec<Option<(u32, T)>>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered { places: Vec::new() }
    }
}

/// Smallest number of entries of the ring.
const FEWEST: usize = 16;

impl<T: Copy> Numbered<T> {
    /// Set the value of a packet; values below `lowest` may be discarded.
    pub fn set(&mut self, number: u32, value: T, lowest: u32) {
        let needed = (number - lowest) as usize + 1;
        if needed > self.places.len() {
            self.grow(needed, lowest);
        }
        let place = self.place(number);
        self.places[place] = Some((number, value));
    }

    /// The value of a packet, if one is set.
    pub fn get(&self, number: u32) -> Option<T> {
        if self.places.is_empty() {
            return None;
        }
        self.places[self.place(number)].filter(|one| one.0 == number).map(|one| one.1)
    }

    fn place(&self, number: u32) -> usize {
        number as usize & (self.places.len() - 1)
    }

    #[cold]
    fn grow(&mut self, needed: usize, lowest: u32) {
        let places = vec![None; needed.next_power_of_two().max(FEWEST)];
        for (number, value) in std::mem::replace(&mut self.places, places).into_iter().flatten() {
            if number >= lowest {
                let place = self.place(number);
                self.places[place] = Some((number, value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Packets arrive in any order, and the lowest number rises.
        #[test]
        fn values_are_those_of_a_map(steps in prop::collection::vec((0u32..40, 0u32..300), 1..200)) {
            let (mut numbered, mut map, mut lowest) = (Numbered::default(), BTreeMap::new(), 0);
            for (value, (rise, above)) in (0..).zip(steps) {
                lowest += rise;
                map = map.split_off(&lowest);
                numbered.set(lowest + above, value, lowest);
                map.insert(lowest + above, value);
                prop_assert!((lowest..lowest + 400).all(|n| numbered.get(n) == map.get(&n).copied()));
            }
        }
    }
}
