//! Slots: the times at which a direction has symbols.

use units::{Duration, Time};

/// Symbols of a slot with the normal cyclic prefix: 3GPP TS 38.211 4.3.2. The two slots of an LTE subframe together
/// also have this number of symbols: TS 36.211 6.2.1.
pub const SYMBOLS: u64 = 14;

/// The slots of one direction: a pattern that repeats from the beginning of the run.
#[derive(Clone, Debug)]
pub struct Slots {
    length: Duration,
    /// Symbols in each slot of the pattern.
    symbols: Vec<u64>,
    /// Number of slots from each slot of the pattern to the next slot with symbols.
    until_used: Vec<u64>,
}

impl Slots {
    /// Create slots of duration `length`. `symbols` are the symbols of each slot of the pattern.
    ///
    /// # Panics
    /// If no slot has symbols.
    pub fn new(length: Duration, symbols: Vec<u64>) -> Slots {
        let n = symbols.len();
        let until = |from: usize| (0..n).find(|ahead| symbols[(from + ahead) % n] > 0);
        let until_used = (0..n).map(|from| until(from).expect("a slot with symbols") as u64).collect();
        Slots { length, symbols, until_used }
    }

    /// Duration of a slot.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// Index of the slot that contains a time.
    pub fn number(&self, at: Time) -> u64 {
        at.as_nanos() / self.length.as_nanos()
    }

    /// Symbols of the slot that begins at `start`.
    pub fn symbols(&self, start: Time) -> u64 {
        self.symbols[self.place(self.number(start))]
    }

    /// The distinct numbers of symbols, without zero.
    pub fn kinds(&self) -> Vec<u64> {
        let mut kinds: Vec<u64> = self.symbols.iter().copied().filter(|&symbols| symbols > 0).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// Start of the first slot with symbols that begins at or after a time.
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
