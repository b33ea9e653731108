//! Proportional rate reduction (RFC 9937), as in Linux `tcp_cwnd_reduction`, and the variant of ns-3.

use super::quirks::Proportion;

/// A reduction of the window: the sender sends in proportion to delivery, and the window reaches the slow-start
/// threshold at the end of the round.
#[derive(Debug)]
pub(super) struct Reduction {
    arithmetic: Proportion,
    mss: u32,
    /// Window when the reduction began, packets.
    prior_cwnd: u32,
    /// Packets delivered since the reduction began.
    delivered: u32,
    /// Packets sent since the reduction began.
    sent: u32,
}

impl Reduction {
    pub fn new(arithmetic: Proportion, mss: u32) -> Reduction {
        Reduction { arithmetic, mss, prior_cwnd: 0, delivered: 0, sent: 0 }
    }

    /// Begin to reduce a window of `cwnd` packets.
    pub fn begin(&mut self, cwnd: u32) {
        *self = Reduction { prior_cwnd: cwnd, delivered: 0, sent: 0, ..*self };
    }

    /// Set the window that an undo restores, without beginning a reduction.
    pub fn remember(&mut self, cwnd: u32) {
        self.prior_cwnd = cwnd;
    }

    /// Window when the reduction began, packets.
    pub fn prior_cwnd(&self) -> u32 {
        self.prior_cwnd
    }

    #[inline]
    pub fn count_sent(&mut self, packets: u32) {
        self.sent += packets;
    }

    /// Count `delivered` packets and return the new window. `lost`: packets newly marked lost; `advanced`: the
    /// cumulative acknowledgement advanced.
    pub fn window(
        &mut self,
        delivered: u32,
        lost: u32,
        advanced: bool,
        in_flight: u32,
        ssthresh: u32,
    ) -> u32 {
        let delivered = delivered + self.counted_twice(advanced);
        self.delivered += delivered;
        let in_flight = i64::from(in_flight);
        let room = i64::from(ssthresh) - in_flight;
        let mut allowed = if room < 0 {
            self.proportion(ssthresh)
        } else {
            self.catch_up(delivered, advanced && lost == 0).min(room)
        };
        allowed = allowed.max(i64::from(self.sent == 0)); // the first retransmission is always allowed
        (in_flight + allowed).max(1) as u32
    }

    /// Additional packets, 0 or 1, that ns-3 counts as delivered for a duplicate ACK.
    fn counted_twice(&self, advanced: bool) -> u32 {
        let twice = self.arithmetic == Proportion::Ns3 && !advanced;
        u32::from(twice && self.delivered < self.prior_cwnd)
    }

    /// Packets to send while more packets than the slow-start threshold are in flight (RFC 9937 section 6.2).
    fn proportion(&self, ssthresh: u32) -> i64 {
        let prior = self.prior_cwnd.max(1);
        match self.arithmetic {
            Proportion::Rfc9937 => {
                let [prior, sent] = [prior, self.sent].map(i64::from);
                let product = i64::from(ssthresh) * i64::from(self.delivered);
                (product + prior - 1) / prior - sent
            }
            Proportion::Ns3 => {
                // ns-3 `TcpPrrRecovery::DoRecovery` multiplies bytes in 32 bits.
                let [delivered, ssthresh] =
                    [self.delivered, ssthresh].map(|packets| packets.wrapping_mul(self.mss));
                let bytes = u64::from(delivered.wrapping_mul(ssthresh)).div_ceil(u64::from(prior));
                (bytes / u64::from(self.mss)) as i64 / i64::from(self.mss) - i64::from(self.sent)
            }
        }
    }

    /// Packets to send while at most the slow-start threshold is in flight (RFC 9937 section 6.2): the larger of
    /// `delivered` and the packets owed (delivered minus sent during the reduction), and one packet more if
    /// `safe`, as in slow start.
    fn catch_up(&self, delivered: u32, safe: bool) -> i64 {
        let owed = i64::from(self.delivered) - i64::from(self.sent);
        if self.arithmetic == Proportion::Ns3 && owed < 0 {
            return 0; // ns-3 casts an unsigned difference, which then becomes negative
        }
        owed.max(i64::from(delivered)) + i64::from(safe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_as_many_packets_are_sent_as_are_delivered_while_the_window_is_halved() {
        let mut reduction = Reduction::new(Proportion::Rfc9937, 1_448);
        reduction.begin(20);
        let mut in_flight = 19;
        for delivered in 1..=16 {
            in_flight -= 1;
            let window = reduction.window(1, u32::from(delivered == 1), false, in_flight, 10);
            let sent = window - in_flight;
            reduction.count_sent(sent);
            in_flight += sent;
            assert!(reduction.sent >= delivered / 2, "{delivered} delivered");
        }
        assert_eq!((reduction.sent, in_flight), (8, 11));
    }
}
