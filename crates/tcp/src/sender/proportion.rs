//! Proportional rate reduction (RFC 9937), as in Linux `tcp_cwnd_reduction`, and what ns-3 makes of it.

use super::Sender;
use super::quirks::Proportion;
use congestion::Recovery;

impl Sender {
    /// Sends in proportion to what is delivered, so that the window reaches the threshold when the round ends.
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
        allowed = allowed.max(i64::from(self.recovery.sent == 0)); // the first retransmission always goes
        self.set_cwnd((in_flight + allowed).max(1) as u32);
    }

    /// What an ACK that reports packets selectively has delivered besides, as ns-3 counts.
    fn counted_twice(&self, advanced: bool) -> u32 {
        let twice = self.config.quirks.prr == Proportion::Ns3 && !advanced;
        u32::from(twice && self.recovery.delivered < self.recovery.prior_cwnd)
    }

    /// Above the threshold (RFC 9937 section 6.2).
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

    /// Below it (RFC 9937 section 6.2): slow start, or as much as is delivered.
    fn catch_up(&self, delivered: u32, safe: bool) -> i64 {
        let owed = i64::from(self.recovery.delivered) - i64::from(self.recovery.sent);
        if self.config.quirks.prr == Proportion::Ns3 && owed < 0 {
            return 0; // it is unsigned there, and becomes negative with a sign
        }
        owed.max(i64::from(delivered)) + i64::from(safe)
    }
}
