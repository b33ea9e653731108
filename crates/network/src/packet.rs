//! Packets: size, stream, marks and payload.

use crate::StreamId;

/// The two ECN bits of the IP header (RFC 3168, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The endpoints do not use ECN: drop instead of marking.
    #[default]
    NotEct,
    /// May be marked, classic meaning.
    Ect0,
    /// May be marked, and is for low latency (L4S).
    Ect1,
    /// Congestion was experienced.
    Ce,
}

impl Ecn {
    /// A queue may mark this packet instead of dropping it.
    pub fn may_mark(self) -> bool {
        self != Ecn::NotEct
    }
}

/// A packet: plain data, copied from ring to ring, never allocated.
///
/// With a TCP segment as its payload it is 48 bytes: 8 here, 40 for the segment, whose three selective
/// acknowledgement ranges travel inline. Those 24 bytes would need a side table (and its lookups, on every
/// acknowledgement) to shrink it to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<P> {
    /// What it is part of. Fair queues go by it, and so do routes ([`Streams`](crate::Streams)).
    pub stream: StreamId,
    /// Bytes on the wire, headers included.
    pub size: u16,
    /// ECN bits.
    pub ecn: Ecn,
    /// Differentiated services code point: 0 to 63.
    pub dscp: u8,
    /// What it carries.
    pub payload: P,
}
