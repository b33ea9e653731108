//! Slots: when one way has symbols.

use units::{Duration, Time};

/// Symbols of a slot, with the normal cyclic prefix: 3GPP TS 38.211 4.3.2; TS 36.211 6.2.1 for the two slots of an LTE subframe.
pub const SYMBOLS: u64 = 14;

/// The slots of one way: a pattern over and over again, from the beginning on.
#[derive(Clone, Debug)]
pub struct Slots {
    length: Duration,
    /// Symbols in each slot of the pattern.
    symbols: Vec<u64>,
    /// From each slot of the pattern on: how many slots until one has symbols.
    until_used: Vec<u64>,
}

impl Slots {
    /// Slots of a length, with so many symbols in each of a pattern.
    ///
    /// # Panics
    /// If no slot has symbols.
    pub fn new(length: Duration, symbols: Vec<u64>) -> Slots {
        let n = symbols.len();
        let until = |from: usize| (0..n).find(|ahead| symbols[(from + ahead) % n] > 0);
        let until_used = (0..n).map(|from| until(from).expect("a slot with symbols") as u64).collect();
        Slots { length, symbols, until_used }
    }

    /// How long a slot is.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// The number of the slot that a time is in.
    pub fn number(&self, at: Time) -> u64 {
        at.as_nanos() / self.length.as_nanos()
    }

    /// Symbols of the slot that begins at `start`.
    pub fn symbols(&self, start: Time) -> u64 {
        self.symbols[self.place(self.number(start))]
    }

    /// The different numbers of symbols that there are.
    pub fn kinds(&self) -> Vec<u64> {
        let mut kinds: Vec<u64> = self.symbols.iter().copied().filter(|&symbols| symbols > 0).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// When the first slot with symbols begins at or after a time.
    pub fn at_or_after(&self, time: Time) -> Time {
        if time == Time::NEVER {
            return time;
        }
        let number = time.as_nanos().div_ceil(self.length.as_nanos());
        Time::from_nanos(
            (number + self.until_used[self.place(number)]).saturating_mul(self.length.as_nanos()),
        )
    }

    fn place(&self, number: u64) -> usize {
        (number % self.symbols.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::from_nanos(n * 1_000)
    }

    #[test]
    fn a_pattern_goes_on_for_ever() {
        let up = Slots::new(Duration::from_micros(500), vec![0, 0, 0, 2, 14]); // DDDSU
        assert_eq!(
            [0, 1_500, 1_501, 2_000, 2_001].map(|at| up.at_or_after(us(at))),
            [1_500, 1_500, 2_000, 2_000, 4_000].map(us)
        );
        assert_eq!([1_500, 2_000, 4_500].map(|at| up.symbols(us(at))), [2, 14, 14]);
        assert_eq!(up.at_or_after(Time::NEVER), Time::NEVER);
        assert_eq!(up.kinds(), [2, 14]);
    }
}
