//! The record of one outstanding packet.

use units::{Duration, Time};

/// Value for "no packet" in the links of the send order.
pub(super) const NONE: u32 = u32::MAX;

/// The packet was selectively acknowledged.
pub(super) const SACKED: u16 = 1;
/// The packet is marked lost.
pub(super) const LOST: u16 = 2;
/// A retransmission of the packet is in the network.
pub(super) const RETRANSMITTED: u16 = 4;
/// The packet was retransmitted at some time.
pub(super) const EVER_RETRANSMITTED: u16 = 8;
/// The packet was sent while the flow was app-limited.
pub(super) const APP_LIMITED: u16 = 16;
/// The packet is the first of its burst.
pub(super) const BURST_HEAD: u16 = 32;
/// The packet is in the send order.
pub(super) const LINKED: u16 = 64;
/// The packet carries the FIN.
pub(super) const FIN: u16 = 128;
/// The packet was the last of the written data when it was sent (Linux `tcp_mark_push`).
pub(super) const PUSH: u16 = 256;

/// One packet: its time of sending and the delivery counters at that time. A record fits into one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Record {
    /// When the packet was last sent.
    pub sent: Time,
    /// Start of the send interval of the packet's rate sample (Linux `first_tx_mstamp`).
    pub flight_start: Time,
    /// Time of the last change of `delivered` before the packet was sent.
    pub delivered_time: Time,
    pub delivered: u32,
    pub lost: u32,
    pub marked: u32,
    pub in_flight: u32,
    /// Neighbours of the packet in the send order; `NONE` at the ends.
    pub earlier: u32,
    pub later: u32,
    pub len: u16,
    pub flags: u16,
}

impl Record {
    /// Describe a packet of `len` bytes before its first transmission.
    pub fn new(sent: Time, len: u16, flags: u16) -> Record {
        Record { sent, len, flags, ..Record::default() }
    }

    #[inline]
    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// The next packet in the send order.
    #[inline]
    pub fn next_sent(&self) -> Option<u32> {
        (self.later != NONE).then_some(self.later)
    }

    /// Time from `flight_start` until the packet was sent.
    #[inline]
    pub fn send_elapsed(&self) -> Duration {
        self.sent.since(self.flight_start)
    }
}
