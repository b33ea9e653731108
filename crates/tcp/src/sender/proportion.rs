//! Proportional rate reduction (RFC 9937), as in Linux `tcp_cwnd_reduction`, and the variant of ns-3.

use super::Sender;
use super::quirks::Proportion;
use congestion::Recovery;

impl Sender {
    /// Set the window so that the sender sends in proportion to delivery, and the window reaches the threshold at the
    /// end of the round.
    pub(super) fn reduce_proportionally(&mut self, delivered: u32, lost: u32, advanced: bool) {
        if delivered == 0 || self.traits.recovery == Recovery::Algorithm {
            return;
        }
        let delivered = delivered + self.counted_twice(advanced);
        self.recovery.delivered += delivered;
        let in_flight = i64::from(self.board.in_flight());
        let room = i64::from(self.control.ssthresh) - in_flight;
        let mut allowed = if room < 0 {
            self.proportion()
        } else {
            self.catch_up(delivered, advanced && lost == 0).min(room)
        };
        allowed = allowed.max(i64::from(self.recovery.sent == 0)); // the first retransmission is always allowed
        self.set_cwnd((in_flight + allowed).max(1) as u32);
    }

    /// Packets that ns-3 counts in addition for a duplicate ACK: 1 or 0.
    fn counted_twice(&self, advanced: bool) -> u32 {
        let twice = self.config.quirks.prr == Proportion::Ns3 && !advanced;
        u32::from(twice && self.recovery.delivered < self.recovery.prior_cwnd)
    }

    /// Packets to send while more than the threshold is in flight (RFC 9937 section 6.2).
    fn proportion(&self) -> i64 {
        let episode = &self.recovery;
        let prior = episode.prior_cwnd.max(1);
        match self.config.quirks.prr {
            Proportion::Rfc9937 => {
                let [prior, sent] = [prior, episode.sent].map(i64::from);
                let product = i64::from(self.control.ssthresh) * i64::from(episode.delivered);
                (product + prior - 1) / prior - sent
            }
            Proportion::Ns3 => {
                // ns-3 `TcpPrrRecovery::DoRecovery` multiplies bytes in 32 bits.
                let mss = self.config.mss;
                let [delivered, ssthresh] =
                    [episode.delivered, self.control.ssthresh].map(|packets| packets.wrapping_mul(mss));
                let bytes = u64::from(delivered.wrapping_mul(ssthresh)).div_ceil(u64::from(prior));
                (bytes / u64::from(mss)) as i64 / i64::from(mss) - i64::from(episode.sent)
            }
        }
    }

    /// Packets to send while at most the threshold is in flight (RFC 9937 section 6.2): slow start, or as many as are
    /// delivered.
    fn catch_up(&self, delivered: u32, safe: bool) -> i64 {
        let owed = i64::from(self.recovery.delivered) - i64::from(self.recovery.sent);
        if self.config.quirks.prr == Proportion::Ns3 && owed < 0 {
            return 0; // an unsigned number in ns-3, which becomes negative when it is cast
        }
        owed.max(i64::from(delivered)) + i64::from(safe)
    }
}
