//! Opening and closing a connection: the state of the handshake and of the FIN.
//!
//! The FIN (RFC 9293 section 3.6; Linux `tcp_send_fin`) is on the last data packet if that packet has not been sent
//! yet. Otherwise the FIN is a separate packet without payload. In both cases the scoreboard has the packet, which is
//! acknowledged, marked lost and retransmitted like any other. Statistics count data packets only.

use super::limits::Limit;
use crate::segment::Segment;

/// State of the FIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fin {
    /// The application has not closed.
    #[default]
    Open,
    /// The application has closed. The FIN is due after the data.
    Due,
    /// The FIN was sent at least once.
    Sent,
}

/// Timeouts of a SYN that do not double the next timeout (sysctl tcp_syn_linear_timeouts, Linux 6.5 and later).
const LINEAR_TIMEOUTS: u32 = 4;

/// The SYN or SYN-ACK, which is retransmitted until the connection is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Opening {
    /// Timestamp to echo and receive window of a SYN-ACK; `None` if the segment is a SYN.
    answer: Option<(u32, u32)>,
    /// Whether the segment was sent more than once, so that its RTT is ambiguous (Karn).
    repeated: bool,
    /// Timeouts so far.
    timeouts: u32,
    /// Timestamp of the first transmission.
    first_stamp: Option<u32>,
}

/// State of the connection.
#[derive(Debug, Default)]
pub(super) struct Connection {
    established: bool,
    fin: Fin,
    opening: Opening,
}

impl Connection {
    /// Whether the handshake is complete.
    #[inline]
    pub fn is_established(&self) -> bool {
        self.established
    }

    /// Complete the handshake.
    pub fn establish(&mut self) {
        self.established = true;
    }

    /// Answer a SYN that has the timestamp `echo` with a SYN-ACK. True if this is the first SYN.
    pub fn answer(&mut self, echo: u32, window: u32) -> bool {
        let is_first = self.opening.answer.is_none();
        self.opening.repeated |= !is_first; // the first SYN-ACK was lost
        self.opening.answer = Some((echo, window));
        is_first
    }

    /// The SYN or SYN-ACK, which is now sent.
    pub fn opening_segment(&mut self, stamp: u32) -> Segment {
        self.opening.first_stamp.get_or_insert(stamp);
        match self.opening.answer {
            None => Segment::Syn { stamp },
            Some((echo, window)) => Segment::SynAck { echo, stamp, window },
        }
    }

    /// Record that the SYN or SYN-ACK is retransmitted after a timeout. True if the next timeout is twice as long, which
    /// it is for every SYN-ACK, and for a SYN after [`LINEAR_TIMEOUTS`] (Linux `tcp_retransmit_timer`,
    /// `tcp_synack_retrans`).
    pub fn repeat_opening(&mut self) -> bool {
        self.opening.repeated = true;
        self.opening.timeouts += 1;
        self.is_passive() || self.opening.timeouts > LINEAR_TIMEOUTS
    }

    /// Whether the SYN or SYN-ACK was sent more than once.
    pub fn was_opening_repeated(&self) -> bool {
        self.opening.repeated
    }

    /// Whether the window begins with one packet, because the SYN or SYN-ACK timed out more than once. Timeouts are
    /// spurious if the answer echoes the first transmission; without timestamps, `echo` is `None` (RFC 5681 section 3.1;
    /// Linux `tcp_init_transfer`, `tcp_try_undo_spurious_syn`).
    pub fn begins_with_one_packet(&self, echo: Option<u32>) -> bool {
        self.opening.timeouts > 1 && (echo.is_none() || echo != self.opening.first_stamp)
    }

    /// Whether this is the passive end, which has answered a SYN.
    pub fn is_passive(&self) -> bool {
        self.opening.answer.is_some()
    }

    /// Close after the data written so far. False if the application had already closed.
    pub fn close(&mut self) -> bool {
        let closes = self.fin == Fin::Open;
        if closes {
            self.fin = Fin::Due;
        }
        closes
    }

    /// Cancel a FIN that is due and not yet sent. Return whether a FIN was due.
    pub fn withhold_fin(&mut self) -> bool {
        let was_due = self.fin_is_due();
        if was_due {
            self.fin = Fin::Open;
        }
        was_due
    }

    /// Whether the FIN is due and not yet sent.
    #[inline]
    pub fn fin_is_due(&self) -> bool {
        self.fin == Fin::Due
    }

    /// Record that the FIN is sent.
    pub fn send_fin(&mut self) {
        self.fin = Fin::Sent;
    }

    /// Whether the application has closed.
    pub fn is_closing(&self) -> bool {
        self.fin != Fin::Open
    }

    /// Whether the FIN was sent.
    pub fn is_fin_sent(&self) -> bool {
        self.fin == Fin::Sent
    }

    /// Packets to send when there is no data: 1 if a FIN is due. If no FIN is due, the reason why the sender stops.
    /// `packets_out`: outstanding packets.
    pub fn without_data(&self, packets_out: u32) -> Result<u32, Limit> {
        match self.fin {
            Fin::Due => Ok(1),
            Fin::Sent if packets_out == 0 => Err(Limit::Over),
            _ => Err(Limit::Application),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_syn_repeats_the_answer() {
        let mut connection = Connection::default();
        assert_eq!(connection.opening_segment(3), Segment::Syn { stamp: 3 });
        assert!(connection.answer(7, 100) && !connection.was_opening_repeated());
        assert!(!connection.answer(8, 100) && connection.was_opening_repeated());
        assert_eq!(connection.opening_segment(9), Segment::SynAck { echo: 8, stamp: 9, window: 100 });
    }

    #[test]
    fn a_connection_closes_once_and_is_over_when_the_fin_is_acknowledged() {
        let mut connection = Connection::default();
        assert_eq!(connection.without_data(0), Err(Limit::Application));
        assert!(connection.close() && !connection.close());
        assert_eq!(connection.without_data(0), Ok(1));
        connection.send_fin();
        assert_eq!(
            [1, 0].map(|out| connection.without_data(out)),
            [Err(Limit::Application), Err(Limit::Over)]
        );
    }
}
