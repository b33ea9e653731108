//! Loss detection by duplicates alone: a packet is lost when three others above it have been selectively acknowledged
//! (RFC 6675, `IsLost`), as Linux had it before RACK and ns-3 has it.
//!
//! There is no reordering timer, and the threshold stays what it is. A retransmission that is lost is not noticed: the
//! timeout repairs it, and takes everything outstanding for lost (RFC 6675 section 5.1).

use super::Sender;
use super::rack::DUP_THRESHOLD;
use super::scoreboard::EVER_RETRANSMITTED;
use units::Time;

/// How a sender finds out that packets are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossDetection {
    /// By the time at which packets were sent, with a reordering timer (RFC 8985).
    #[default]
    Rack,
    /// By three duplicates (RFC 6675).
    DupAck,
}

impl Sender {
    /// Marks lost what has three selectively acknowledged packets above it, every packet once.
    pub(super) fn detect_losses_by_duplicates(&mut self, now: Time) {
        let Some(below) = self.board.sacked.nth_highest(DUP_THRESHOLD) else { return };
        for seq in self.settled.max(self.board.una)..below {
            if !self.board.get(seq).is(EVER_RETRANSMITTED) {
                self.mark_lost(now, seq);
                self.board.unlink(seq);
            }
        }
        self.settled = self.settled.max(below);
    }
}
