//! Closing a direction of a connection (RFC 9293 section 3.6; Linux `tcp_send_fin`).
//!
//! The FIN rides on the last data if that has not been sent yet, else it is a packet of its own without payload. Either
//! way it is a packet of the scoreboard: acknowledged, lost and sent again as any other. Statistics count data only.

use super::Sender;
use super::limits::Limit;
use crate::Segment;
use units::Time;

/// What has become of the FIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fin {
    /// The application has not closed.
    #[default]
    Open,
    /// It has; the FIN follows the data.
    Due,
    /// It was sent at least once.
    Sent,
}

impl Sender {
    /// The application has no more to send than it has handed out: a FIN follows that.
    pub fn close(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.fin == Fin::Open {
            self.fin = Fin::Due;
            self.config.data.get_or_insert(self.board.next_bytes);
            self.push_fin(now, out);
        }
    }

    /// Sends the FIN if it is due and all data has left.
    pub(super) fn push_fin(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.fin == Fin::Due {
            self.push(now, out);
        }
    }

    /// The application has closed.
    pub fn is_closing(&self) -> bool {
        self.fin != Fin::Open
    }

    /// The FIN is acknowledged, and all data with it.
    pub fn is_closed(&self) -> bool {
        self.fin == Fin::Sent && self.board.packets_out() == 0
    }

    /// What to send when there is no data: a FIN by itself, or nothing.
    pub(super) fn without_data(&self) -> Result<u32, Limit> {
        match self.fin {
            Fin::Due => Ok(1),
            _ if self.is_closed() => Err(Limit::Over),
            _ => Err(Limit::Application),
        }
    }
}
