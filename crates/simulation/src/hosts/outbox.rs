//! The outbox through which the ends of a flow send packets to the network.

use super::observer::Observer;
use crate::net::Net;
use crate::payload::{Packet, Payload};
use tcp::{Segment, Sender};
use units::Time;

/// Receives the packets that the ends of one flow send at one time.
pub struct Outbox<'a, R> {
    /// Current time.
    pub now: Time,
    /// The network, which receives the packets.
    pub net: &'a mut Net<Payload>,
    /// The observer.
    pub recorder: &'a mut R,
    /// Segments that an end of a connection has produced and that are not yet sent; empty between turns.
    pub segments: &'a mut Vec<Segment>,
}

impl<R: Observer> Outbox<'_, R> {
    /// Sends a packet; `mss`: payload of a full segment of its flow.
    #[inline]
    pub fn send(&mut self, packet: &Packet, mss: u32) {
        self.recorder.sent(self.now, mss, packet);
        self.net.send(packet, self.now);
    }

    /// Sends the segments that one end of a connection has produced.
    #[inline]
    pub fn flush(&mut self, mss: u32, packet: impl Fn(&Segment) -> Packet) {
        for segment in &*self.segments {
            let packet = packet(segment);
            self.recorder.sent(self.now, mss, &packet);
            self.net.send(&packet, self.now);
        }
        self.segments.clear();
    }

    /// Informs the observer that the data sender of a connection has run.
    #[inline]
    pub fn turn(&mut self, flow: u32, connection: u32, sender: &Sender) {
        self.recorder.turn(self.now, flow, connection, sender);
    }
}
