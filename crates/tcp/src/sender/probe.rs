//! State of a tail loss probe. If the last packets of a flight are lost, no ACK arrives, so the sender sends one
//! more packet to elicit an ACK (RFC 8985 section 7; Linux `tcp_send_loss_probe`).

/// The probe that awaits its ACK, if any.
#[derive(Debug, Default)]
pub(super) struct TailProbe {
    /// Number of the next new packet when the probe was sent; `None` without a probe.
    end: Option<u32>,
    /// Whether the probe was a retransmission of the last packet.
    was_retransmission: bool,
    /// Whether the last packet was first sent while the flow was app-limited.
    app_limited: bool,
}

/// Conclusion about the tail of the flight from an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// The ACK does not reach a probe, or no packet was lost.
    Calm,
    /// Either the original packet or the probe arrived. The next ACK shows whether both arrived.
    Undecided,
    /// The last packet of the flight was lost; `app_limited`: this packet was sent while the flow was
    /// app-limited.
    Lost { app_limited: bool },
}

impl TailProbe {
    /// Whether a probe awaits its ACK.
    #[inline]
    pub fn is_out(&self) -> bool {
        self.end.is_some()
    }

    /// Whether a probe that was a retransmission awaits its ACK.
    pub fn is_retransmission_out(&self) -> bool {
        self.end.is_some() && self.was_retransmission
    }

    /// Whether a probe awaits its ACK and `end` was the number of the next new packet when the probe was sent.
    pub fn ends_at(&self, end: u32) -> bool {
        self.end == Some(end)
    }

    /// Record that new data was sent as a probe; `next`: number of the next new packet after the probe.
    pub fn sent_new(&mut self, next: u32) {
        self.was_retransmission = false;
        self.end = Some(next);
    }

    /// Record that the last packet was retransmitted as a probe; `app_limited`: this packet was app-limited when it was
    /// sent before.
    pub fn sent_again(&mut self, next: u32, app_limited: bool) {
        *self = TailProbe { end: Some(next), was_retransmission: true, app_limited };
    }

    /// Stop waiting for the ACK of the probe.
    pub fn forget(&mut self) {
        self.end = None;
    }

    /// Whether an ACK of all packets below `ack` reaches a probe that awaits its ACK.
    #[inline]
    pub fn is_reached(&self, ack: u32) -> bool {
        self.end.is_some_and(|end| ack >= end)
    }

    /// Judge whether the tail was lost, from an ACK of all packets below `ack`. `both`: a DSACK reports that the packet
    /// and the probe arrived. `news`: the ACK acknowledges or SACKs packets.
    pub fn judge(&mut self, ack: u32, both: bool, news: bool) -> Tail {
        let Some(end) = self.end.filter(|&end| ack >= end) else { return Tail::Calm };
        if !self.was_retransmission || both {
            self.end = None; // the packet and its retransmission arrived, or the probe was new data: no packet was lost
        } else if ack > end {
            return Tail::Lost { app_limited: self.app_limited };
        } else if !news {
            self.end = None; // a duplicate ACK shows that the packet and the probe arrived
        } else {
            return Tail::Undecided;
        }
        Tail::Calm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_beyond_a_retransmitted_tail_means_that_the_tail_was_lost() {
        let mut probe = TailProbe::default();
        assert_eq!(probe.judge(9, false, true), Tail::Calm);
        probe.sent_again(9, true);
        assert_eq!(probe.judge(8, false, true), Tail::Calm);
        assert_eq!(probe.judge(9, false, true), Tail::Undecided);
        assert_eq!(probe.judge(10, false, true), Tail::Lost { app_limited: true });
    }

    #[test]
    fn new_data_as_a_probe_and_a_duplicate_of_it_mean_no_loss() {
        let mut probe = TailProbe::default();
        probe.sent_new(9);
        assert_eq!((probe.judge(10, false, true), probe.is_out()), (Tail::Calm, false));
        probe.sent_again(9, false);
        assert_eq!((probe.judge(9, true, true), probe.is_out()), (Tail::Calm, false));
        probe.sent_again(9, false);
        assert_eq!((probe.judge(9, false, false), probe.is_out()), (Tail::Calm, false));
    }
}
