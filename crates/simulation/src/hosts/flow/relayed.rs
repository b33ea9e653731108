//! A flow of which another one is the continuation, or that is one.

use super::{Flow, Phase};
use crate::hosts::connection::End;
use crate::hosts::observer::Observer;
use crate::hosts::outbox::Outbox;

impl Flow {
    /// Payload that its stream has delivered; `None` before it is open.
    pub fn received_bytes(&self) -> Option<u64> {
        self.connections.single().map(|connection| connection.delivered())
    }

    /// Payload of its stream that is acknowledged; `None` before it is open.
    pub fn acked_bytes(&self) -> Option<u64> {
        self.connections.single().map(|connection| connection.sender().stats().acked_bytes)
    }

    /// So much has come by now of the data that it passes on.
    pub fn feed<R: Observer>(&mut self, bytes: u64, out: &mut Outbox<'_, R>) {
        let is_new = bytes > self.sockets.stream.fed_bytes || self.connections.single().is_none();
        if is_new && self.phase == Phase::Running {
            self.sockets.stream.fed_bytes = bytes;
            self.let_application_run(out);
        }
    }

    /// What its stream has delivered has been passed on in as far as there is room up to the byte before `until`.
    pub fn make_room<R: Observer>(&mut self, until: u64, out: &mut Outbox<'_, R>) {
        if let Some(connection) = self.connections.single_mut() {
            connection.make_room(until, out.segments);
            self.send(0, End::Receiver, out);
        }
    }
}
