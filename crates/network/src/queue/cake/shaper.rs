//! CAKE's shaper. The shaper uses clocks instead of token buckets, which prevents bursts. The shaper counts the bytes
//! that packets have on the real link.

use serde::{Deserialize, Serialize};
use units::Time;

/// Bits per byte times nanoseconds per second. Own choice: the unit of an exact clock.
const BIT_NANOS_PER_BYTE: u64 = 8_000_000_000;
/// Bytes of the link-layer header that packet sizes contain. `overhead` replaces this header.
/// Source: Linux `cake_overhead`.
const ETHERNET_HEADER: i64 = 14;

/// The time at which a rate allows the next packet. The time is exact, as rounding remainders are carried over.
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

    /// Advance by a packet of `bytes` bytes.
    /// Source: Linux `cake_advance_shaper`.
    pub(super) fn advance(&mut self, bytes: u64) {
        let span = bytes * BIT_NANOS_PER_BYTE + self.carry;
        self.carry = span % self.rate;
        self.next = Time::from_nanos(self.next.as_nanos() + span / self.rate);
    }

    /// Advance to `now` if the clock is behind.
    pub(super) fn catch_up(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// Advance the clock of a tin, which may use the capacity that other tins leave. The clock may differ from the
    /// schedule of the tin's rate by at most one packet in either direction.
    /// Source: Linux `cake_advance_shaper`.
    pub(super) fn advance_loosely(&mut self, bytes: u64, now: Time) {
        if self.next < now {
            return self.advance(bytes);
        }
        let scheduled = std::mem::replace(&mut self.next, now);
        self.advance(bytes);
        self.next = self.next.max(scheduled);
    }
}

/// The shaper of the whole discipline. Without a rate the shaper never delays packets.
#[derive(Clone, Debug)]
pub(super) struct Shaper {
    clocks: Option<Clocks>,
    wire: Wire,
}

/// Clocks of a shaper. The schedule runs at the rate of the shaper, and dropped packets count as sent. The failsafe
/// runs at two thirds of the rate and counts only packets that were sent. The failsafe ensures that dropped packets do
/// not block the shaper.
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

    /// Whether the shaper has a rate.
    pub(super) fn is_limited(&self) -> bool {
        self.clocks.is_some()
    }

    /// The time at which the next packet may leave.
    pub(super) fn ready(&self) -> Time {
        self.clocks.as_ref().map_or(Time::ZERO, |clocks| clocks.schedule.next.min(clocks.failsafe.next))
    }

    /// Restart the clocks after an idle time. Idle time gives no credit.
    /// Source: Linux `cake_enqueue`.
    pub(super) fn wake(&mut self, now: Time) {
        if let Some(Clocks { schedule, failsafe }) = &mut self.clocks
            && schedule.next < now
        {
            (schedule.next, failsafe.next) = (now, now);
        }
    }

    /// Charge all clocks for a packet that is sent or counts as sent. Return the bytes that the packet has on the link.
    /// Source: Linux `cake_advance_shaper`.
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

/// Framing of the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// No framing.
    #[default]
    Noatm,
    /// ATM: a cell of 53 bytes for every 48 bytes.
    Atm,
    /// PTM: one additional byte for every 64 bytes.
    Ptm,
}

/// Settings from which CAKE computes the size of a packet on the real link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    /// Bytes that replace the Ethernet header. `None`: packet sizes are used unchanged.
    pub(super) overhead: Option<i64>,
    pub(super) mpu: u64,
    pub(super) framing: Framing,
}

impl Wire {
    /// Bytes that a packet of `size` bytes has on the link.
    /// Source: Linux `cake_calc_overhead`.
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
