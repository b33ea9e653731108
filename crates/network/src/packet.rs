//! Packets: size, stream, marks and payload.

use crate::StreamId;

/// The two ECN bits of the IP header (RFC 3168, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The endpoints do not use ECN: a queue drops instead of marking.
    #[default]
    NotEct,
    /// ECT(0): the packet may be marked, and a mark has the meaning of RFC 3168.
    Ect0,
    /// ECT(1): the packet may be marked, and requests low latency (L4S).
    Ect1,
    /// CE: a queue has marked the packet (congestion experienced).
    Ce,
}

impl Ecn {
    /// Whether a queue may mark this packet instead of dropping it.
    pub fn may_mark(self) -> bool {
        self != Ecn::NotEct
    }
}

/// A packet. Packets are plain data, copied from ring to ring, and never allocated separately.
///
/// A packet with a TCP segment as its payload has 48 bytes: 8 in this struct and 40 for the segment. The segment stores
/// three ranges of selective acknowledgements inline, which take 24 bytes. With a side table for these ranges a packet
/// would have 32 bytes, but every ACK would need look-ups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<P> {
    /// Stream of the packet. The stream determines the flow in fair queues and the route ([`Streams`](crate::Streams)).
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
