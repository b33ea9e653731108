//! The payload of packets of a simulation: segments and datagrams.

use network::Direction;
use tcp::Segment;
use units::Time;

/// A packet of a simulation.
pub type Packet = network::Packet<Payload>;

/// What travels beside the payload of a datagram. Both ends of a simulated path share a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// From 0, in the order of departure.
    pub number: u32,
    /// Payload bytes.
    pub len: u16,
    /// It is a reply, on the route back.
    pub reply: bool,
    /// When it left the sender for the first time.
    pub sent: Time,
}

/// What a packet carries. It takes no more room than a segment alone: the tag lives in the segment's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Of a TCP connection.
    Tcp(Segment),
    /// Of a flow of datagrams.
    Datagram(Datagram),
}

// A packet fits into 48 bytes; see `network::Packet`.
const _: () = assert!(size_of::<Packet>() == 48);

/// Whether a packet is one of those that a flow counts as its data packets: payload of its sender, or a datagram, replies
/// included.
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

    /// No payload, as in a bare acknowledgement.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An acknowledgement that only says how far everything has arrived.
    pub fn is_plain_ack(&self) -> bool {
        matches!(self, Payload::Tcp(segment) if segment.is_plain_ack())
    }

    /// An acknowledgement that says nothing that a younger one does not say as well; a datagram never is.
    pub fn is_redundant(&self, younger: &Payload) -> bool {
        match (self, younger) {
            (Payload::Tcp(segment), Payload::Tcp(younger)) => segment.is_redundant(younger),
            _ => false,
        }
    }
}
