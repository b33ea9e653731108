//! Packets: size, stream, marks and payload.

use crate::StreamId;

/// The two ECN bits of the IP header (RFC 3168, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The endpoints do not use ECN: a queue drops instead of marking.
    #[default]
    NotEct,
    /// May be marked, with the classic meaning.
    Ect0,
    /// May be marked, and requests low latency (L4S).
    Ect1,
    /// Congestion was experienced.
    Ce,
}

impl Ecn {
    /// Whether a queue may mark this packet instead of dropping it.
    pub fn may_mark(self) -> bool {
        self != Ecn::NotEct
    }
}

/// A packet: plain data, copied from ring to ring, never allocated.
///
/// With a TCP segment as its payload it has 48 bytes: 8 here and 40 for the segment, which stores three ranges of
/// selective acknowledgements inline. With these 24 bytes in a side table it would have 32, but every ACK would need
/// look-ups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<P> {
    /// Its stream, which determines its flow in fair queues and its route ([`Streams`](crate::Streams)).
    pub stream: StreamId,
    /// Bytes on the wire, headers included.
    pub size: u16,
    /// ECN bits.
    pub ecn: Ecn,
    /// Differentiated services code point: 0 to 63.
    pub dscp: u8,
    /// Content of the packet.
    pub payload: P,
}
