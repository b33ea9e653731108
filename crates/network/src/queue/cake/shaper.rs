//! CAKE's shaper: clocks instead of buckets, so that there are no bursts, and what a packet takes on the real link.

use serde::{Deserialize, Serialize};
use units::Time;

/// Bits of a byte, times nanoseconds of a second.
/// Own: the unit of an exact clock.
const BIT_NANOS_PER_BYTE: u64 = 8_000_000_000;
/// The link layer's header in the sizes of packets, which is not part of what `overhead` is added to.
/// Linux `cake_overhead`.
const ETHERNET_HEADER: i64 = 14;

/// When a rate allows the next packet. Exact: what is rounded away is carried over.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// Bits per second.
    rate: u64,
    pub(super) next: Time,
    carry: u64,
}

impl Clock {
    pub(super) fn new(rate: u64) -> Clock {
        Clock { rate, next: Time::ZERO, carry: 0 }
    }

    /// A packet of `bytes` goes.
    /// Linux `cake_advance_shaper`.
    pub(super) fn advance(&mut self, bytes: u64) {
        let span = bytes * BIT_NANOS_PER_BYTE + self.carry;
        self.carry = span % self.rate;
        self.next = Time::from_nanos(self.next.as_nanos() + span / self.rate);
    }

    /// Not earlier than `now`.
    pub(super) fn catch_up(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// The same for a class that gets what others leave: it may be behind its rate, or before it, by one packet at most.
    /// Linux `cake_advance_shaper`.
    pub(super) fn advance_loosely(&mut self, bytes: u64, now: Time) {
        if self.next < now {
            return self.advance(bytes);
        }
        let scheduled = std::mem::replace(&mut self.next, now);
        self.advance(bytes);
        self.next = self.next.max(scheduled);
    }
}

/// The shaper of the whole discipline; no rate, no shaping.
#[derive(Clone, Debug)]
pub(super) struct Shaper {
    clocks: Option<Clocks>,
    wire: Wire,
}

/// The schedule, and one of two thirds of the rate that counts nothing but what was really sent, so that drops which
/// count as sent cannot hold everything back.
#[derive(Clone, Debug)]
struct Clocks {
    schedule: Clock,
    failsafe: Clock,
}

impl Shaper {
    pub(super) fn new(rate: Option<u64>, wire: Wire) -> Shaper {
        let clocks = |rate| Clocks { schedule: Clock::new(rate), failsafe: Clock::new(rate) };
        Shaper { clocks: rate.map(clocks), wire }
    }

    /// There is a rate.
    pub(super) fn is_limited(&self) -> bool {
        self.clocks.is_some()
    }

    /// When the next packet may go.
    pub(super) fn ready(&self) -> Time {
        self.clocks.as_ref().map_or(Time::ZERO, |clocks| clocks.schedule.next.min(clocks.failsafe.next))
    }

    /// There is something to send again: idle time is no credit.
    /// Linux `cake_enqueue`.
    pub(super) fn wake(&mut self, now: Time) {
        if let Some(Clocks { schedule, failsafe }) = &mut self.clocks
            && schedule.next < now
        {
            (schedule.next, failsafe.next) = (now, now);
        }
    }

    /// A packet goes, or counts as if it did. Returns the bytes that it takes.
    /// Linux `cake_advance_shaper`.
    pub(super) fn charge(&mut self, tin: &mut Option<Clock>, size: u16, now: Time, dropped: bool) -> u64 {
        let bytes = self.wire.bytes(size);
        if let Some(tin) = tin {
            tin.advance_loosely(bytes, now);
        }
        if let Some(clocks) = &mut self.clocks {
            clocks.schedule.advance(bytes);
            if !dropped {
                clocks.failsafe.advance(bytes + bytes / 2);
            }
        }
        bytes
    }
}

/// Cells or symbols of the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// None.
    #[default]
    Noatm,
    /// 48 bytes in every 53.
    Atm,
    /// One byte more for every 64.
    Ptm,
}

/// What a packet takes on the link for which CAKE shapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    /// Bytes in place of the Ethernet header; none: sizes as they are.
    pub(super) overhead: Option<i64>,
    pub(super) mpu: u64,
    pub(super) framing: Framing,
}

impl Wire {
    /// Bytes for a packet of `size`.
    /// Linux `cake_calc_overhead`.
    pub(super) fn bytes(&self, size: u16) -> u64 {
        let replaced = self.overhead.map_or(0, |overhead| overhead - ETHERNET_HEADER);
        let bytes = ((i64::from(size) + replaced).max(0) as u64).max(self.mpu);
        match self.framing {
            Framing::Noatm => bytes,
            Framing::Atm => bytes.div_ceil(48) * 53,
            Framing::Ptm => bytes + bytes.div_ceil(64),
        }
    }
}
