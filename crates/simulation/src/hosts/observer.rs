//! The trait of observers, which watch what the ends of flows do.

use crate::payload::Packet;
use network::StreamId;
use tcp::Sender;
use units::Time;

/// Watches the ends of flows. Chosen when the program is compiled, so that a run without observer has no cost.
pub trait Observer {
    /// Whether anything is wanted at all.
    const ON: bool;

    /// A connection opens, whose data is stream `data`.
    fn opened(&mut self, connection: u32, data: StreamId);

    /// A connection of a flow is gone.
    fn forgotten(&mut self, flow: u32, connection: u32);

    /// The sender of a connection has just had its turn.
    fn turn(&mut self, time: Time, flow: u32, connection: u32, sender: &Sender);

    /// An endpoint sends a packet; `mss`: payload of a full segment of its flow.
    fn sent(&mut self, time: Time, mss: u32, packet: &Packet);

    /// A packet reaches its endpoint.
    fn arrived(&mut self, time: Time, packet: &Packet);
}
