//! Transmission at a rate. Transmission times are exact in the long run.

use crate::timetable::Timetable;
use units::{Duration, Rate, Time};

/// Transmits packets one after the other.
///
/// A transmission rarely takes a whole number of nanoseconds. The fraction is carried over to the next packet of the
/// same busy period, so a saturated link sends at exactly its rate for any duration.
#[derive(Clone, Debug)]
pub struct Server {
    /// Bits per second; `u64::MAX` means unlimited.
    rate: u64,
    /// End of the last transmission, rounded down to a nanosecond.
    free_at: Time,
    /// Remainder of the rounding of `free_at`, in units of 1/rate nanoseconds.
    carry: u64,
    /// Size of the last packet and its transmission time: whole nanoseconds and remainder. The transmission time is
    /// cached, as divisions are slow and sizes rarely change.
    known: (u16, u64, u64),
    changes: Timetable<Rate>,
}

/// Times of the transmission of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Time at which the first bit leaves.
    pub start: Time,
    /// Time at which the last bit has left.
    pub finish: Time,
}

impl Server {
    /// The highest finite rate, in bits per second. At higher rates, sums of remainders would overflow.
    pub const MAX_RATE: u64 = 1_000_000_000_000_000_000;

    /// Create an idle server with a constant rate.
    ///
    /// # Panics
    /// If the rate is zero, or above [`MAX_RATE`](Self::MAX_RATE) but not [`Rate::UNLIMITED`].
    pub fn new(rate: Rate) -> Server {
        Server::changing(rate, Vec::new())
    }

    /// Create an idle server with changes of the rate, in the order of time. The rest of a packet in transmission is
    /// sent at the new rate. At a rate of zero the packet waits for the next change, or forever if there is no further
    /// change.
    ///
    /// # Panics
    /// If [`new`](Self::new) would panic with one of the rates; a change may set the rate to zero.
    pub fn changing(rate: Rate, changes: Vec<(Time, Rate)>) -> Server {
        let sensible = |rate: Rate| rate == Rate::UNLIMITED || rate.bits_per_sec() <= Self::MAX_RATE;
        let all = || changes.iter().map(|change| change.1).chain([rate]);
        assert!(rate.bits_per_sec() > 0 && all().all(sensible), "rate {} bit/s", rate.bits_per_sec());
        Server {
            rate: rate.bits_per_sec(),
            free_at: Time::ZERO,
            carry: 0,
            known: (0, 0, 0),
            changes: Timetable::new(changes),
        }
    }

    /// End of the last transmission. The end is in the past if the server is idle.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Highest rate from now on.
    pub fn highest_rate(&self) -> Rate {
        let changed = self.changes.values().copied();
        changed.fold(Rate::from_bits_per_sec(self.rate), Rate::max)
    }

    /// Transmit `size` bytes as soon as the server is free, but not before `ready`.
    #[inline]
    pub fn transmit(&mut self, size: u16, ready: Time) -> Transmission {
        let (start, owed) = if ready > self.free_at { (ready, 0) } else { (self.free_at, self.carry) };
        let (finish, carry) = self.end(size, start, owed);
        if finish >= self.changes.next() {
            return self.transmit_as_rates_change(size, start, owed);
        }
        (self.free_at, self.carry) = (finish, carry);
        Transmission { start, finish }
    }

    /// Transmit `size` bytes at `ready`, at which the server must be idle.
    #[inline]
    pub fn transmit_at_once(&mut self, size: u16, ready: Time) -> Transmission {
        let (finish, carry) = self.end(size, ready, 0);
        if finish >= self.changes.next() {
            return self.transmit_as_rates_change(size, ready, 0);
        }
        (self.free_at, self.carry) = (finish, carry);
        Transmission { start: ready, finish }
    }

    /// Transmit `size` bytes from `start` if the rate may change before the end of the transmission, or if the
    /// transmission never ends.
    #[cold]
    #[inline(never)]
    fn transmit_as_rates_change(&mut self, size: u16, start: Time, owed: u64) -> Transmission {
        (self.free_at, self.carry) = (start, owed);
        if let Some(rate) = self.changes.due(start) {
            (self.rate, self.carry, self.known) = (rate.bits_per_sec(), 0, (0, 0, 0));
        }
        let (finish, carry) = self.end(size, start, self.carry);
        if finish > self.changes.next() {
            self.transmit_across_changes(size);
        } else {
            (self.free_at, self.carry) = (finish, carry);
        }
        Transmission { start, finish: self.free_at }
    }

    /// The end of a transmission that begins at `start`, at the current rate, and the remainder of its rounding.
    /// `owed` is the remainder of the preceding transmission.
    #[inline]
    fn end(&mut self, size: u16, start: Time, owed: u64) -> (Time, u64) {
        if self.known.0 != size {
            self.learn(size);
        }
        let (_, whole, part) = self.known;
        let carry = owed + part;
        let overflow = carry >= self.rate;
        let finish = start + Duration::from_nanos(whole + u64::from(overflow));
        (finish, if overflow { carry - self.rate } else { carry })
    }

    /// Transmit `size` bytes from the time at which the server is free, across changes of the rate.
    fn transmit_across_changes(&mut self, size: u16) {
        // Unit: billionths of a bit. At a rate of n bit/s, n units are transmitted per nanosecond.
        let mut left = u128::from(size) * 8_000_000_000 + u128::from(self.carry);
        self.carry = 0;
        while self.rate != u64::MAX {
            let (rate, change) = (u128::from(self.rate), self.changes.next());
            let possible = u128::from(change.since(self.free_at).as_nanos()) * rate;
            if possible >= left {
                self.free_at += Duration::from_nanos((left / rate) as u64);
                self.carry = (left % rate) as u64;
                return;
            }
            self.free_at = change;
            let Some(rate) = self.changes.due(change).filter(|_| change < Time::NEVER) else { return };
            left -= possible;
            (self.rate, self.known) = (rate.bits_per_sec(), (0, 0, 0));
        }
    }

    /// Compute and cache the duration of a transmission of `size` bytes: whole nanoseconds and remainder (in 1/rate
    /// nanoseconds).
    #[inline(never)]
    fn learn(&mut self, size: u16) {
        let bit_nanos = if self.rate == u64::MAX { 0 } else { u64::from(size) * 8_000_000_000 };
        let whole = bit_nanos.checked_div(self.rate).unwrap_or(u64::MAX - 1); // at a rate of zero the transmission never ends
        self.known = (size, whole, bit_nanos.checked_rem(self.rate).unwrap_or(0));
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
    fn what_remains_of_a_packet_goes_at_the_new_rate() {
        assert_eq!(ends(&[(1_500, 80)]), [1_000, 1_550, 1_650]); // half of the second packet is left
        assert_eq!(ends(&[(500, 4), (900, 80)]), [930, 1_030, 1_130]); // the first packet is sent as 4, 1.6 and 2.4 bits
        assert_eq!(ends(&[(500, u64::MAX)]), [500, 500, 500]);
    }

    #[test]
    fn a_change_between_two_packets_touches_neither() {
        assert_eq!(ends(&[(1_000, 80)]), [1_000, 1_100, 1_200]);
    }

    #[test]
    fn an_outage_holds_the_packet_being_transmitted_and_all_behind_it() {
        assert_eq!(ends(&[(500, 0), (5_000, 8)]), [5_500, 6_500, 7_500]);
        assert_eq!(ends(&[(1_000, 0), (5_000, 8)]), [1_000, 6_000, 7_000]);
        let never = Time::NEVER.as_millis();
        assert_eq!(ends(&[(1_500, 0)]), [1_000, never, never]);
    }

    /// Times in ms at which three packets of one byte have left. The rate is 8 bit/s at first, then changes at the
    /// given times.
    fn ends(changes: &[(u64, u64)]) -> [u64; 3] {
        let rate = Rate::from_bits_per_sec;
        let changes =
            changes.iter().map(|&(ms, bits)| (Time::from_nanos(ms * 1_000_000), rate(bits))).collect();
        let mut server = Server::changing(rate(8), changes);
        [0; 3].map(|_| server.transmit(1, Time::ZERO).finish.as_millis())
    }

    #[test]
    fn fractions_of_a_nanosecond_survive_a_change() {
        // 3 bit/s, then 7 bit/s: 8 bits take a second at 3 bit/s and 5/7 s at 7.
        let rate = Rate::from_bits_per_sec;
        let mut server = Server::changing(rate(3), vec![(Time::from_nanos(1_000_000_000), rate(7))]);
        let ends: Vec<u64> = (0..8).map(|_| server.transmit(1, Time::ZERO).finish.as_nanos()).collect();
        assert_eq!(ends[0], 1_714_285_714);
        assert_eq!(ends[7], 9_714_285_714); // seven times 8/7 s later
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
