//! The trait of observers, which record events at the ends of flows.

use crate::payload::Packet;
use network::StreamId;
use tcp::Sender;
use units::Time;

/// Receives events at the ends of flows. The type of the observer is chosen at compile time, so that runs without an
/// observer spend no time on it.
pub trait Observer {
    /// Whether anything is recorded.
    const ON: bool;

    /// Called when a connection opens, with the stream of its data.
    fn opened(&mut self, connection: u32, data: StreamId);

    /// Called when a connection of a flow is removed.
    fn forgotten(&mut self, flow: u32, connection: u32);

    /// Called after the sender of a connection has run.
    fn turn(&mut self, time: Time, flow: u32, connection: u32, sender: &Sender);

    /// Called when an endpoint sends a packet; `mss`: payload of a full segment of its flow.
    fn sent(&mut self, time: Time, mss: u32, packet: &Packet);

    /// Called when a packet reaches its endpoint.
    fn arrived(&mut self, time: Time, packet: &Packet);
}
