//! Loss recovery: the congestion states, F-RTO (RFC 5682) and undo, as in Linux `tcp_fastretrans_alert`,
//! `tcp_enter_loss` and `tcp_process_loss`.

use super::Sender;
use super::probe::Tail;
use super::summary::AckSummary;
use congestion::{CaState, Congestion};
use units::Time;

/// Packets to send in answer to an ACK, before new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resend {
    Nothing,
    /// Lost packets.
    Lost,
    /// New data if there is any (F-RTO), else lost packets.
    NewDataFirst,
}

impl Sender {
    /// Update the state of recovery after an ACK, and return the packets to retransmit.
    #[inline]
    pub(super) fn update_recovery(&mut self, now: Time, summary: &mut AckSummary) -> Resend {
        if summary.advanced {
            self.recovery.note_progress();
        }
        if summary.is_dubious() || self.recovery.state() != CaState::Open {
            self.respond(now, summary)
        } else {
            Resend::Nothing
        }
    }

    /// Same as [`Sender::update_recovery`], but not for an ACK in the state Open that only advances the cumulative
    /// acknowledgement.
    #[inline(always)] // called for most ACKs while a packet is missing
    fn respond(&mut self, now: Time, summary: &mut AckSummary) -> Resend {
        if summary.ece {
            self.recovery.forget_threshold(); // an ECN mark is never spurious
        }
        self.leave_finished_episode(now);
        match self.recovery.state() {
            CaState::Recovery => self.continue_recovery(now, summary),
            CaState::Loss => self.continue_loss(now, summary),
            _ => self.watch(now, summary),
        }
    }

    fn leave_finished_episode(&mut self, now: Time) {
        if self.recovery.state() == CaState::Open {
            self.recovery.forget_retransmission();
            return;
        }
        if self.board.una() < self.recovery.high() {
            return;
        }
        match self.recovery.state() {
            CaState::Cwr if self.board.una() > self.recovery.high() => self.end_reduction(now),
            CaState::Recovery => self.end_recovery(now),
            _ => {}
        }
    }

    fn end_recovery(&mut self, now: Time) {
        if self.recovery.undo_is_due() {
            self.undo(now, false);
        } else {
            self.rack.recovery_was_real();
        }
        if self.recovery.state() == CaState::Recovery {
            self.end_reduction(now);
        } else {
            self.end_episode(now);
        }
    }

    fn end_episode(&mut self, now: Time) {
        self.recovery.enter(CaState::Open);
        let path = self.path(now);
        self.window.on_recovery_exit(&path);
    }

    fn watch(&mut self, now: Time, summary: &mut AckSummary) -> Resend {
        if self.recovery.state() <= CaState::Disorder {
            self.undo_if_all_duplicates(now);
        }
        self.find_losses(now, summary);
        if self.board.lost_out() == 0 {
            self.try_to_open(now, summary);
            return Resend::Nothing;
        }
        self.enter_recovery(now, summary.ece);
        Resend::Lost
    }

    fn continue_recovery(&mut self, now: Time, summary: &mut AckSummary) -> Resend {
        if summary.advanced && self.undo_partially(now, summary.prior_una) {
            return Resend::Nothing;
        }
        if self.undo_if_all_duplicates(now) {
            self.try_to_open(now, summary);
        }
        self.find_losses(now, summary);
        if self.recovery.state() != CaState::Recovery {
            if self.board.lost_out() == 0 {
                return Resend::Nothing;
            }
            self.enter_recovery(now, summary.ece);
        }
        Resend::Lost
    }

    fn continue_loss(&mut self, now: Time, summary: &mut AckSummary) -> Resend {
        let resend = self.process_loss(now, summary);
        self.find_losses(now, summary);
        let retry = self.recovery.state() == CaState::Open || summary.retransmission_lost;
        if !retry {
            return resend;
        }
        if self.recovery.state() <= CaState::Disorder {
            self.undo_if_all_duplicates(now);
        }
        if self.board.lost_out() == 0 {
            self.try_to_open(now, summary);
            return resend;
        }
        self.enter_recovery(now, summary.ece);
        Resend::Lost
    }

    /// Check by F-RTO whether the timeout was spurious. If the timeout was not spurious, retransmit in slow
    /// start.
    fn process_loss(&mut self, now: Time, summary: &AckSummary) -> Resend {
        let recovered = self.board.una() >= self.recovery.high();
        if summary.advanced && self.undo_loss(now, false) {
            return Resend::Nothing;
        }
        if self.recovery.checks_timeout() {
            if summary.original_delivered && self.undo_loss(now, true) {
                return Resend::Nothing;
            }
            if self.board.next() > self.recovery.high() {
                if summary.sacked || !summary.advanced {
                    self.recovery.accept_timeout();
                }
            } else if summary.advanced && !recovered {
                self.recovery.prolong(self.board.next());
                if self.queue.has_written(&self.board) && self.queue.window_room(self.board.next_bytes()) > 0
                {
                    return Resend::NewDataFirst;
                }
                self.recovery.accept_timeout();
            }
        }
        if recovered {
            self.end_recovery(now);
            return Resend::Nothing;
        }
        Resend::Lost
    }

    fn try_to_open(&mut self, now: Time, summary: &AckSummary) {
        if !self.board.any_retransmission_out() {
            self.recovery.forget_retransmission();
        }
        if summary.ece {
            self.enter_cwr(now, Congestion::Ecn);
        }
        if self.recovery.state() != CaState::Cwr {
            self.keep_open();
        }
    }

    /// Enter Open, or Disorder if packets are SACKed, marked lost or retransmitted.
    fn keep_open(&mut self) {
        self.recovery.settle(self.board.is_suspicious(), self.board.next());
    }

    /// Begin a reduction for another cause than loss, unless a reduction is under way. This reduction cannot be undone.
    pub(super) fn enter_cwr(&mut self, now: Time, cause: Congestion) {
        self.recovery.forget_threshold();
        if self.recovery.state() < CaState::Cwr {
            self.recovery.forbid_undo();
            self.enter_reduction(now, cause);
            self.recovery.enter(CaState::Cwr);
        }
    }

    /// Begin fast recovery.
    pub(super) fn enter_recovery(&mut self, now: Time, ece: bool) {
        if !self.board.any_retransmission_out() {
            self.recovery.forget_retransmission(); // the stored time belongs to an earlier episode
        }
        self.recovery.forget_threshold();
        self.recovery.watch_for_undo(self.board.una(), self.board.retrans_out());
        if self.recovery.is_reducing() {
            let path = self.path(now);
            self.window.on_loss_in_reduction(&path);
        } else {
            if !ece {
                self.recovery.keep_threshold(self.current_ssthresh());
            }
            self.enter_reduction(now, Congestion::Loss);
        }
        self.recovery.enter(CaState::Recovery);
    }

    /// Begin a reduction, for which the algorithm sets the new slow-start threshold.
    fn enter_reduction(&mut self, now: Time, cause: Congestion) {
        self.recovery.begin_reduction(self.board.next(), self.window.cwnd());
        let path = self.path(now);
        self.window.on_congestion(cause, &path);
        self.recovery.tell_reduced();
    }

    /// End the reduction and set the window to the slow-start threshold.
    fn end_reduction(&mut self, now: Time) {
        let due = self.recovery.state() == CaState::Cwr || !self.recovery.is_undone();
        let ssthresh = self.window.control().ssthresh;
        if due && self.window.belongs_to_transport() && ssthresh != u32::MAX {
            self.window.set_cwnd(ssthresh);
            self.window.confirm(now);
        }
        self.end_episode(now);
    }

    /// Set the window by proportional rate reduction (RFC 9937).
    pub(super) fn reduce_proportionally(&mut self, delivered: u32, lost: u32, advanced: bool) {
        if delivered > 0 && self.window.belongs_to_transport() {
            let (in_flight, ssthresh) = (self.board.in_flight(), self.window.control().ssthresh);
            let cwnd = self.recovery.reduction.window(delivered, lost, advanced, in_flight, ssthresh);
            self.window.set_cwnd(cwnd);
        }
    }

    /// Enter the state Loss, because the retransmission timer has fired.
    pub(super) fn enter_loss(&mut self, now: Time) {
        let fresh = self.recovery.state() < CaState::Recovery;
        self.mark_timed_out(now);
        let reduce = self.recovery.timeout_reduces(self.board.una());
        if reduce {
            self.recovery.keep_threshold(self.current_ssthresh());
            self.recovery.reduction.remember(self.window.cwnd());
            self.recovery.watch_for_undo(self.board.una(), self.board.retrans_out());
        }
        let path = self.path(now);
        self.window.on_congestion(Congestion::Timeout { first: reduce }, &path);
        self.window.set_cwnd(self.board.in_flight() + 1);
        self.window.confirm(now);
        if self.recovery.state() <= CaState::Disorder {
            self.rack.forget_large_reordering(self.board.sacked_out());
        }
        self.recovery.enter_loss(self.board.next(), fresh);
        self.update_pacing_rate();
    }

    /// The slow-start threshold that undoing the next reduction would restore.
    fn current_ssthresh(&self) -> u32 {
        if self.recovery.is_reducing() {
            self.window.control().ssthresh
        } else {
            self.window.ssthresh_to_restore()
        }
    }

    /// Judge whether the tail was lost, from an ACK that reaches an outstanding probe.
    #[inline]
    pub(super) fn judge_probe(&mut self, now: Time, ack: u32, summary: &mut AckSummary) {
        if self.recovery.probe.is_reached(ack) {
            self.judge_reached_probe(now, ack, summary);
        }
    }

    fn judge_reached_probe(&mut self, now: Time, ack: u32, summary: &mut AckSummary) {
        let news = summary.advanced || summary.sacked;
        match self.recovery.probe.judge(ack, summary.dsack_of_probe, news) {
            Tail::Calm => {}
            Tail::Undecided => summary.acks_probe = true,
            Tail::Lost { app_limited } => {
                self.enter_reduction(now, Congestion::TailLoss { app_limited });
                self.recovery.enter(CaState::Cwr);
                self.end_reduction(now);
                self.keep_open();
            }
        }
    }

    /// Restore the window and the slow-start threshold from before the episode.
    fn undo(&mut self, now: Time, forget_losses: bool) {
        self.rack.note_undo();
        if forget_losses {
            self.board.forget_losses();
        }
        if let Some(target) = self.recovery.to_restore() {
            let path = self.path(now);
            self.window.on_undo(&target, &path);
            self.recovery.withdraw_cwr();
        }
        self.window.confirm(now);
        self.recovery.forbid_undo();
    }

    /// Undo the episode if all retransmissions were reported as duplicates, so that no packet was lost. Return whether
    /// the episode was undone.
    #[inline]
    fn undo_if_all_duplicates(&mut self, now: Time) -> bool {
        let due = self.recovery.all_were_duplicates();
        if due {
            self.rack.recovery_was_spurious();
            self.undo(now, false);
        }
        due
    }

    /// Undo recovery if an original packet arrived late, because the path reorders more than assumed. True if recovery
    /// must now only wait for its outstanding retransmissions.
    fn undo_partially(&mut self, now: Time, prior_una: u32) -> bool {
        if !self.recovery.original_was_late() {
            return false;
        }
        let highest = self.board.highest_sacked();
        if prior_una < highest {
            self.rack.see_reordering(highest - prior_una);
        }
        if self.board.retrans_out() > 0 {
            return true;
        }
        if !self.board.any_retransmission_out() {
            self.recovery.forget_retransmission();
        }
        self.undo(now, true);
        self.keep_open();
        false
    }

    /// Undo a timeout that was spurious, as shown by F-RTO (`proven`), DSACK or timestamps. Return whether the timeout
    /// was undone.
    fn undo_loss(&mut self, now: Time, proven: bool) -> bool {
        if !(proven || self.recovery.undo_is_due()) {
            return false;
        }
        self.undo(now, true);
        self.recovery.open_after_spurious_timeout();
        true
    }
}
