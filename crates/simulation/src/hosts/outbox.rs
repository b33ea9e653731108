//! The outbox of the ends of a flow, from which their packets go to the network.

use super::observer::Observer;
use crate::net::Net;
use crate::payload::{Packet, Payload};
use tcp::{Segment, Sender};
use units::Time;

/// Takes what the ends of one flow send at one moment.
pub struct Outbox<'a, R> {
    /// The present.
    pub now: Time,
    /// Where packets go.
    pub net: &'a mut Net<Payload>,
    /// The observer.
    pub recorder: &'a mut R,
    /// Segments on their way from one end of a connection to the network; empty between turns.
    pub segments: &'a mut Vec<Segment>,
}

impl<R: Observer> Outbox<'_, R> {
    /// Sends a packet; `mss`: payload of a full segment of its flow.
    #[inline]
    pub fn send(&mut self, packet: &Packet, mss: u32) {
        self.recorder.sent(self.now, mss, packet);
        self.net.send(packet, self.now);
    }

    /// Sends the segments that one end of a connection has put out.
    #[inline]
    pub fn flush(&mut self, mss: u32, packet: impl Fn(&Segment) -> Packet) {
        for segment in &*self.segments {
            let packet = packet(segment);
            self.recorder.sent(self.now, mss, &packet);
            self.net.send(&packet, self.now);
        }
        self.segments.clear();
    }

    /// The sender of the data of a connection has had its turn.
    #[inline]
    pub fn turn(&mut self, flow: u32, connection: u32, sender: &Sender) {
        self.recorder.turn(self.now, flow, connection, sender);
    }
}
