//! Loss detection by duplicate ACKs alone: a packet is marked lost when three packets above it have been SACKed
//! (RFC 6675, `IsLost`). Linux did so before RACK, and ns-3 does.
//!
//! There is no reordering timer, and the threshold is constant. A lost retransmission is not detected: only the timeout
//! repairs it, and marks all outstanding packets lost (RFC 6675 section 5.1).

use super::Sender;
use super::rack::DUP_THRESHOLD;
use super::scoreboard::EVER_RETRANSMITTED;
use serde::{Deserialize, Serialize};
use units::Time;

/// Method of loss detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LossDetection {
    /// Times of sending, with a reordering timer (RFC 8985).
    #[default]
    Rack,
    /// Three duplicate ACKs (RFC 6675).
    DupAck,
}

impl Sender {
    /// Mark packets lost that have three SACKed packets above them; each packet is examined once.
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
