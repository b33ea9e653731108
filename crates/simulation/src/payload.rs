//! Payload of the packets of a simulation: segments and datagrams.

use network::Direction;
use tcp::Segment;
use units::Time;

/// A packet of a simulation.
pub type Packet = network::Packet<Payload>;

/// A datagram, without its payload. Both ends of a simulated path share a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Number from 0, in the order of departure.
    pub number: u32,
    /// Payload bytes.
    pub len: u16,
    /// Whether the datagram is a reply, on the reverse route.
    pub reply: bool,
    /// Departure time from the sender. A reply has the departure time of its request.
    pub sent: Time,
}

/// Content of a packet. The enum is no larger than a segment, as its tag uses free values of the segment's tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Segment of a TCP connection.
    Tcp(Segment),
    /// Datagram of a flow of datagrams.
    Datagram(Datagram),
}

// A packet fits into 48 bytes; see `network::Packet`.
const _: () = assert!(size_of::<Packet>() == 48);

/// Whether a packet counts as a data packet of its flow: it carries payload from the flow's sender, or is a datagram or
/// a reply.
pub fn is_data(packet: &Packet) -> bool {
    match &packet.payload {
        Payload::Tcp(segment) => packet.stream.direction() == Direction::Forward && segment.payload() > 0,
        Payload::Datagram(_) => true,
    }
}

impl Payload {
    /// Payload bytes.
    pub fn len(&self) -> u16 {
        match self {
            Payload::Tcp(segment) => segment.payload(),
            Payload::Datagram(datagram) => datagram.len,
        }
    }

    /// Whether the packet has no payload, like a pure ACK.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the packet is an ACK with a cumulative acknowledgement only.
    pub fn is_plain_ack(&self) -> bool {
        matches!(self, Payload::Tcp(segment) if segment.is_plain_ack())
    }

    /// Whether the packet is an ACK, and the `younger` ACK contains all of its information. False for datagrams.
    pub fn is_redundant(&self, younger: &Payload) -> bool {
        match (self, younger) {
            (Payload::Tcp(segment), Payload::Tcp(younger)) => segment.is_redundant(younger),
            _ => false,
        }
    }
}
