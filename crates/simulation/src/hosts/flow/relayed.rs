//! Both flows of a relay: the flow whose data are relayed, and the flow that relays these data.

use super::{Flow, Phase};
use crate::hosts::connection::End;
use crate::hosts::observer::Observer;
use crate::hosts::outbox::Outbox;

impl Flow {
    /// Payload that the stream of this flow has delivered; `None` before the connection is open.
    pub fn received_bytes(&self) -> Option<u64> {
        self.connections.single().map(|connection| connection.delivered())
    }

    /// Acknowledged payload of the stream of this flow; `None` before the connection is open.
    pub fn acked_bytes(&self) -> Option<u64> {
        self.connections.single().map(|connection| connection.sender().stats().acked_bytes)
    }

    /// Called when the previous flow has delivered a total of `bytes` of the data that this flow relays.
    pub fn feed<R: Observer>(&mut self, bytes: u64, out: &mut Outbox<'_, R>) {
        let is_new = bytes > self.sockets.stream.fed_bytes || self.connections.single().is_none();
        if is_new && self.phase == Phase::Running {
            self.sockets.stream.fed_bytes = bytes;
            self.let_application_run(out);
        }
    }

    /// Called when data of the next flow have been acknowledged. The receive buffer now has room for all bytes below
    /// `until`.
    pub fn make_room<R: Observer>(&mut self, until: u64, out: &mut Outbox<'_, R>) {
        if let Some(connection) = self.connections.single_mut() {
            connection.make_room(until, out.segments);
            self.send(0, End::Receiver, out);
        }
    }
}
