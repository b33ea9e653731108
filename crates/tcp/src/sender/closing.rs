//! Closing a direction of a connection (RFC 9293 section 3.6; Linux `tcp_send_fin`).
//!
//! The FIN is on the last data packet if that has not been sent yet. Otherwise it is a packet of its own, without
//! payload. Either way it is in the scoreboard: acknowledged, marked lost and retransmitted as any other. Statistics
//! count data only.

use super::Sender;
use super::limits::Limit;
use crate::Segment;
use units::Time;

/// State of the FIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fin {
    /// The application has not closed.
    #[default]
    Open,
    /// The application has closed; the FIN follows the data.
    Due,
    /// The FIN was sent at least once.
    Sent,
}

impl Sender {
    /// Close after the data written so far: a FIN follows it.
    pub fn close(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.fin == Fin::Open {
            self.fin = Fin::Due;
            self.config.data.get_or_insert(self.board.next_bytes);
            self.push_fin(now, out);
        }
    }

    /// Send the FIN if it is due and all data has left.
    pub(super) fn push_fin(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.fin == Fin::Due {
            self.push(now, out);
        }
    }

    /// Whether the application has closed.
    pub fn is_closing(&self) -> bool {
        self.fin != Fin::Open
    }

    /// Whether the FIN and all data are acknowledged.
    pub fn is_closed(&self) -> bool {
        self.fin == Fin::Sent && self.board.packets_out() == 0
    }

    /// Packets to send when there is no data: a FIN by itself, or none and why.
    pub(super) fn without_data(&self) -> Result<u32, Limit> {
        match self.fin {
            Fin::Due => Ok(1),
            _ if self.is_closed() => Err(Limit::Over),
            _ => Err(Limit::Application),
        }
    }
}
