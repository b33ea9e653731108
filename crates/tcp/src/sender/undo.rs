//! Undoing a reduction that turned out to be spurious: by duplicates reported (RFC 3708), by timestamps
//! (Eifel, RFC 3522) or by F-RTO (RFC 5682).

use super::Sender;
use congestion::CaState;
use units::Time;

impl Sender {
    /// Begins to count an episode that may be undone.
    pub(super) fn watch_for_undo(&mut self) {
        let probe = self.probe.end.is_some() && self.probe.was_retransmission;
        let out = self.board.retrans_out + u32::from(probe);
        self.recovery.undo_from = self.config.undo.then_some(self.board.una);
        self.recovery.unproven = (out > 0).then_some(out);
    }

    /// Every retransmission was a duplicate, or an original arrived after its retransmission was sent.
    pub(super) fn undo_is_due(&self) -> bool {
        self.recovery.can_undo() && (self.recovery.unproven == Some(0) || self.original_was_delayed())
    }

    /// The echoed timestamp is older than the first retransmission, or nothing was retransmitted yet (pacing may
    /// hold it): it was the original that arrived.
    fn original_was_delayed(&self) -> bool {
        self.recovery.first_retransmission.is_none_or(|first| self.last_echo < first)
    }

    /// Restores window and threshold.
    pub(super) fn undo(&mut self, now: Time, forget_losses: bool) {
        if forget_losses {
            self.board.forget_losses();
        }
        if self.recovery.prior_ssthresh > 0 {
            let (target, path) = (self.undo_target(), self.path(now));
            self.algorithm.on_undo(&target, &path);
            self.refresh_control();
            self.marks.tell_reduced = false;
        }
        self.usage.confirm(now);
        self.recovery.undo_from = None;
    }

    /// All retransmissions were reported as duplicates: nothing was lost.
    pub(super) fn undo_if_all_duplicates(&mut self, now: Time) -> bool {
        let due = self.recovery.can_undo() && self.recovery.unproven == Some(0);
        if due {
            self.rack.recovery_was_spurious();
            self.undo(now, false);
        }
        due
    }

    /// In recovery an original arrived late: the path reorders more than was thought. True if recovery should
    /// only wait for its outstanding retransmissions.
    pub(super) fn undo_partially(&mut self, now: Time, prior_una: u32) -> bool {
        if !(self.recovery.can_undo() && self.original_was_delayed()) {
            return false;
        }
        let highest = self.board.highest_sacked();
        if prior_una < highest {
            self.rack.see_reordering(highest - prior_una);
        }
        if self.board.retrans_out > 0 {
            return true;
        }
        if !self.any_retransmission_out() {
            self.recovery.first_retransmission = None;
        }
        self.undo(now, true);
        self.keep_open();
        false
    }

    /// After a timeout: `proven` by F-RTO, or by duplicates or timestamps.
    pub(super) fn undo_loss(&mut self, now: Time, proven: bool) -> bool {
        if !(proven || self.undo_is_due()) {
            return false;
        }
        self.undo(now, true);
        self.recovery.timeouts = 0;
        self.recovery.state = CaState::Open;
        true
    }
}
