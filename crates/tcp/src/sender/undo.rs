//! Undo of a reduction that turned out to be spurious, as shown by DSACK (RFC 3708), by timestamps (Eifel, RFC 3522)
//! or by F-RTO (RFC 5682).

use super::Sender;
use congestion::CaState;
use units::Time;

impl Sender {
    /// Begin an episode that may be undone.
    pub(super) fn watch_for_undo(&mut self) {
        let probe = self.probe.end.is_some() && self.probe.was_retransmission;
        let out = self.board.retrans_out + u32::from(probe);
        self.recovery.undo_from = self.config.undo.then_some(self.board.una);
        self.recovery.unproven = (out > 0).then_some(out);
    }

    /// Whether the episode was spurious: every retransmission was a duplicate, or an original arrived after its
    /// retransmission was sent.
    pub(super) fn undo_is_due(&self) -> bool {
        self.recovery.can_undo() && (self.recovery.unproven == Some(0) || self.original_was_delayed())
    }

    /// Whether the original arrived: the echoed timestamp is older than the first retransmission, or no retransmission
    /// has been sent yet (pacing may hold it back).
    fn original_was_delayed(&self) -> bool {
        self.recovery.first_retransmission.is_none_or(|first| self.last_echo < first)
    }

    /// Restore window and threshold.
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

    /// Undo if all retransmissions were reported as duplicates, so that no packet was lost. True if so.
    pub(super) fn undo_if_all_duplicates(&mut self, now: Time) -> bool {
        let due = self.recovery.can_undo() && self.recovery.unproven == Some(0);
        if due {
            self.rack.recovery_was_spurious();
            self.undo(now, false);
        }
        due
    }

    /// Undo recovery if an original arrived late, as the path reorders more than assumed. True if recovery must only
    /// wait for its outstanding retransmissions.
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

    /// Undo a timeout that was spurious: `proven` by F-RTO, or by DSACK or timestamps. True if so.
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
