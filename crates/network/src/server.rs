//! Transmission at a rate, exact in the long run.

use crate::weather::Agenda;
use units::{Duration, Rate, Time};

/// Transmits one packet after the other.
///
/// A transmission rarely takes a whole number of nanoseconds. The fraction is carried over to the next packet
/// of the same busy period, so a saturated link sends exactly its rate however long it runs.
#[derive(Clone, Debug)]
pub struct Server {
    /// Bits per second; `u64::MAX` is unlimited.
    rate: u64,
    /// End of the last transmission, rounded down to the nanosecond.
    free_at: Time,
    /// What was rounded away, in units of 1/rate nanoseconds.
    carry: u64,
    /// Size last sent and what it takes: whole nanoseconds and the rest. Sizes hardly vary, divisions are slow.
    known: (u16, u64, u64),
    changes: Agenda<Rate>,
}

/// When a packet is transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The first bit leaves.
    pub start: Time,
    /// The last bit has left.
    pub finish: Time,
}

impl Server {
    /// The highest rate that is not "unlimited", in bits per second: above it, sums of remainders would overflow.
    pub const MAX_RATE: u64 = 1_000_000_000_000_000_000;

    /// A server of the given rate, idle.
    ///
    /// # Panics
    /// If the rate is zero, or above [`MAX_RATE`](Self::MAX_RATE) without being [`Rate::UNLIMITED`].
    pub fn new(rate: Rate) -> Server {
        Server::changing(rate, Vec::new())
    }

    /// The same with a rate that changes: from each time on, whatever begins to be transmitted goes at that rate.
    ///
    /// # Panics
    /// As [`new`](Self::new), for any of the rates.
    pub fn changing(rate: Rate, changes: Vec<(Time, Rate)>) -> Server {
        for rate in changes.iter().map(|change| change.1).chain([rate]) {
            let bits = rate.bits_per_sec();
            assert!(rate == Rate::UNLIMITED || (1..=Self::MAX_RATE).contains(&bits), "rate {bits} bit/s");
        }
        Server {
            rate: rate.bits_per_sec(),
            free_at: Time::ZERO,
            carry: 0,
            known: (0, 0, 0),
            changes: Agenda::new(changes),
        }
    }

    /// When the packet being transmitted has left; in the past if there is none.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Transmits `size` bytes as soon as the server is free, but not before `ready`.
    #[inline]
    pub fn transmit(&mut self, size: u16, ready: Time) -> Transmission {
        if ready > self.free_at {
            self.free_at = ready;
            self.carry = 0;
        }
        let start = self.free_at;
        if let Some(rate) = self.changes.due(start) {
            (self.rate, self.carry, self.known) = (rate.bits_per_sec(), 0, (0, 0, 0));
        }
        if self.rate != u64::MAX {
            let (whole, part) = self.span(size);
            self.carry += part;
            let overflow = self.carry >= self.rate;
            if overflow {
                self.carry -= self.rate;
            }
            self.free_at = start + Duration::from_nanos(whole + u64::from(overflow));
        }
        Transmission { start, finish: self.free_at }
    }

    /// Whole nanoseconds and remainder (in 1/rate nanoseconds) that `size` bytes take.
    fn span(&mut self, size: u16) -> (u64, u64) {
        if self.known.0 != size {
            let bit_nanos = u64::from(size) * 8_000_000_000;
            self.known = (size, bit_nanos / self.rate, bit_nanos % self.rate);
        }
        (self.known.1, self.known.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_packets_of_one_byte_at_seven_bits_per_second_take_eight_seconds() {
        let mut server = Server::new(Rate::from_bits_per_sec(7));
        let ends: Vec<u64> = (0..7).map(|_| server.transmit(1, Time::ZERO).finish.as_nanos()).collect();
        assert_eq!(ends[0], 1_142_857_142); // 8/7 s, rounded down
        assert_eq!(ends[1], 2_285_714_285); // 16/7 s
        assert_eq!(ends[6], 8_000_000_000);
    }

    #[test]
    fn a_rate_that_changes_does_so_between_two_packets() {
        let rate = Rate::from_bits_per_sec;
        let change = (Time::from_nanos(1_500_000_000), rate(80));
        let mut server = Server::changing(rate(8), vec![change]);
        let ends: Vec<u64> = (0..3).map(|_| server.transmit(1, Time::ZERO).finish.as_millis()).collect();
        assert_eq!(ends, [1_000, 2_000, 2_100]);
    }

    #[test]
    fn an_idle_server_starts_at_once_and_owes_nothing() {
        let mut server = Server::new(Rate::from_bits_per_sec(3_000_000_000));
        server.transmit(1, Time::ZERO); // 2.67 ns
        let later = Time::from_nanos(100);
        let sent = server.transmit(1, later);
        assert_eq!((sent.start, sent.finish), (later, Time::from_nanos(102)));
    }

    #[test]
    fn an_unlimited_server_takes_no_time() {
        let mut server = Server::new(Rate::UNLIMITED);
        let now = Time::from_nanos(5);
        assert_eq!(server.transmit(u16::MAX, now), Transmission { start: now, finish: now });
    }
}
