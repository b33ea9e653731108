//! Rates and sizes.

use crate::Duration;
use core::fmt;

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(u64);

impl Rate {
    /// Rate without a limit, at which transmission takes no time.
    pub const UNLIMITED: Rate = Rate(u64::MAX);

    /// A rate of `bits` per second.
    pub const fn from_bits_per_sec(bits: u64) -> Rate {
        Rate(bits)
    }

    /// A rate of `bytes` per second.
    pub const fn from_bytes_per_sec(bytes: u64) -> Rate {
        Rate(bytes.saturating_mul(8))
    }

    /// Bits per second.
    pub const fn bits_per_sec(self) -> u64 {
        self.0
    }

    /// Whole bytes per second.
    pub const fn bytes_per_sec(self) -> u64 {
        self.0 / 8
    }

    /// Transmission time of `bytes` bytes at this rate, rounded down to the nanosecond.
    ///
    /// # Panics
    /// If the rate is zero.
    pub const fn time_to_send(self, bytes: u64) -> Duration {
        if self.0 == u64::MAX {
            return Duration::ZERO;
        }
        if bytes < 1 << 31 {
            return Duration::from_nanos(bytes * 8_000_000_000 / self.0); // 64-bit arithmetic, far faster than 128-bit arithmetic
        }
        Duration::from_nanos((bytes as u128 * 8_000_000_000 / self.0 as u128) as u64)
    }
}

impl Bytes {
    /// A size of `bytes` bytes.
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// The size in bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bit/s", self.0)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_takes_12_112_microseconds_at_a_gigabit() {
        let gigabit = Rate::from_bits_per_sec(1_000_000_000);
        assert_eq!(gigabit.time_to_send(1514), Duration::from_nanos(12_112));
    }

    #[test]
    fn an_unlimited_rate_takes_no_time() {
        assert_eq!(Rate::UNLIMITED.time_to_send(1 << 40), Duration::ZERO);
    }
}
