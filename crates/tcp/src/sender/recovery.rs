//! Loss recovery: the congestion states and F-RTO (RFC 5682), as in Linux `tcp_fastretrans_alert`, `tcp_enter_loss` and
//! `tcp_process_loss`.

use super::ack::AckSummary;
use super::scoreboard::EVER_RETRANSMITTED;
use super::{LossDetection, Sender};
use congestion::{CaState, Congestion, Recovery};
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

/// The present or most recent congestion episode.
#[derive(Debug, Default)]
pub(super) struct Episode {
    pub state: CaState,
    /// `next` when the episode began: it ends when all packets below are acknowledged.
    pub high: u32,
    pub prior_cwnd: u32,
    /// Threshold to restore if the episode was spurious; 0: must not be undone.
    pub prior_ssthresh: u32,
    /// `una` when the episode began, while the episode may still be undone.
    pub undo_from: Option<u32>,
    /// Retransmissions of the episode not yet reported as duplicates; `None` before the first.
    pub unproven: Option<u32>,
    /// Timestamp of the episode's first retransmission.
    pub first_retransmission: Option<u32>,
    pub delivered: u32,
    pub sent: u32,
    /// Whether F-RTO is still checking if the timeout was spurious.
    pub frto: bool,
    /// Timeouts since the cumulative acknowledgement last advanced.
    pub timeouts: u32,
}

impl Episode {
    /// Whether the window is being reduced.
    pub fn is_reducing(&self) -> bool {
        matches!(self.state, CaState::Cwr | CaState::Recovery)
    }

    /// Whether the episode may still be undone.
    pub fn can_undo(&self) -> bool {
        self.undo_from.is_some()
    }

    /// Note that the receiver got packet `seq` twice.
    pub fn see_duplicate(&mut self, seq: u32) {
        if self.undo_from.is_some_and(|from| seq >= from)
            && let Some(unproven) = &mut self.unproven
        {
            *unproven = unproven.saturating_sub(1);
        }
    }
}

impl Sender {
    /// Advance the state machine after an ACK and return what to retransmit.
    #[inline]
    pub(super) fn update_recovery(&mut self, now: Time, summary: &mut AckSummary) -> Resend {
        if summary.advanced {
            self.recovery.timeouts = 0;
        }
        let dubious = !summary.advanced
            || summary.sacked
            || summary.dsack
            || summary.ece
            || self.recovery.state != CaState::Open;
        if dubious { self.respond(now, summary) } else { Resend::Nothing }
    }

    /// Same as [`Sender::update_recovery`], for an ACK that does not merely advance in the state Open.
    #[inline(always)] // called for most ACKs while a packet is missing
    fn respond(&mut self, now: Time, summary: &mut AckSummary) -> Resend {
        if summary.ece {
            self.recovery.prior_ssthresh = 0; // a mark is never spurious
        }
        self.leave_finished_episode(now);
        match self.recovery.state {
            CaState::Recovery => self.continue_recovery(now, summary),
            CaState::Loss => self.continue_loss(now, summary),
            _ => self.watch(now, summary),
        }
    }

    fn leave_finished_episode(&mut self, now: Time) {
        if self.recovery.state == CaState::Open {
            self.recovery.first_retransmission = None;
            return;
        }
        if self.board.una < self.recovery.high {
            return;
        }
        match self.recovery.state {
            CaState::Cwr if self.board.una > self.recovery.high => self.end_reduction(now),
            CaState::Recovery => self.end_recovery(now),
            _ => {}
        }
    }

    fn end_recovery(&mut self, now: Time) {
        if self.undo_is_due() {
            self.undo(now, false);
        } else {
            self.rack.recovery_was_real();
        }
        if self.recovery.state == CaState::Recovery {
            self.end_reduction(now);
        } else {
            self.end_episode(now);
        }
    }

    fn end_episode(&mut self, now: Time) {
        self.recovery.state = CaState::Open;
        let path = self.path(now);
        self.algorithm.on_recovery_exit(&path);
        self.refresh_control();
    }

    fn watch(&mut self, now: Time, summary: &mut AckSummary) -> Resend {
        if self.recovery.state <= CaState::Disorder {
            self.undo_if_all_duplicates(now);
        }
        self.find_losses(now, summary);
        if self.board.lost_out == 0 {
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
        if self.recovery.state != CaState::Recovery {
            if self.board.lost_out == 0 {
                return Resend::Nothing;
            }
            self.enter_recovery(now, summary.ece);
        }
        Resend::Lost
    }

    fn continue_loss(&mut self, now: Time, summary: &mut AckSummary) -> Resend {
        let resend = self.process_loss(now, summary);
        self.find_losses(now, summary);
        let retry = self.recovery.state == CaState::Open || summary.retransmission_lost;
        if !retry {
            return resend;
        }
        if self.recovery.state <= CaState::Disorder {
            self.undo_if_all_duplicates(now);
        }
        if self.board.lost_out == 0 {
            self.try_to_open(now, summary);
            return resend;
        }
        self.enter_recovery(now, summary.ece);
        Resend::Lost
    }

    #[inline(always)] // called for most ACKs while a packet is missing
    fn find_losses(&mut self, now: Time, summary: &mut AckSummary) {
        if self.board.packets_out() == 0 {
            return;
        }
        let retransmissions = self.board.retrans_out;
        if self.detect_losses_and_arm(now) {
            summary.leave_timer_alone();
        }
        summary.retransmission_lost |= self.board.retrans_out < retransmissions;
    }

    /// Check by F-RTO whether the timeout was spurious. If it was not, retransmit in slow start.
    fn process_loss(&mut self, now: Time, summary: &AckSummary) -> Resend {
        let recovered = self.board.una >= self.recovery.high;
        if summary.advanced && self.undo_loss(now, false) {
            return Resend::Nothing;
        }
        if self.recovery.frto {
            if summary.original_delivered && self.undo_loss(now, true) {
                return Resend::Nothing;
            }
            if self.board.next > self.recovery.high {
                if summary.sacked || !summary.advanced {
                    self.recovery.frto = false; // the loss was real
                }
            } else if summary.advanced && !recovered {
                self.recovery.high = self.board.next;
                if self.has_new_data() && self.receiver_has_room() {
                    return Resend::NewDataFirst;
                }
                self.recovery.frto = false;
            }
        }
        if recovered {
            self.end_recovery(now);
            return Resend::Nothing;
        }
        Resend::Lost
    }

    fn try_to_open(&mut self, now: Time, summary: &AckSummary) {
        if !self.any_retransmission_out() {
            self.recovery.first_retransmission = None;
        }
        if summary.ece {
            self.enter_cwr(now, Congestion::Ecn);
        }
        if self.recovery.state != CaState::Cwr {
            self.keep_open();
        }
    }

    /// Go to Open, or to Disorder if packets are SACKed, marked lost or retransmitted.
    pub(super) fn keep_open(&mut self) {
        let suspicious = self.board.sacked_out + self.board.lost_out > 0 || self.any_retransmission_out();
        let state = if suspicious { CaState::Disorder } else { CaState::Open };
        if self.recovery.state != state {
            self.recovery.state = state;
            self.recovery.high = self.board.next;
        }
    }

    pub(super) fn any_retransmission_out(&self) -> bool {
        let head_was_retransmitted =
            self.board.packets_out() > 0 && self.board.get(self.board.una).is(EVER_RETRANSMITTED);
        self.board.retrans_out > 0 || head_was_retransmitted
    }

    /// Begin a reduction for another cause than loss, unless one is under way. It cannot be undone.
    pub(super) fn enter_cwr(&mut self, now: Time, cause: Congestion) {
        self.recovery.prior_ssthresh = 0;
        if self.recovery.state < CaState::Cwr {
            self.recovery.undo_from = None;
            self.enter_reduction(now, cause);
            self.recovery.state = CaState::Cwr;
        }
    }

    /// Begin fast recovery.
    pub(super) fn enter_recovery(&mut self, now: Time, ece: bool) {
        if !self.any_retransmission_out() {
            self.recovery.first_retransmission = None; // left from an earlier episode
        }
        self.recovery.prior_ssthresh = 0;
        self.watch_for_undo();
        if !self.recovery.is_reducing() {
            if !ece {
                self.recovery.prior_ssthresh = self.current_ssthresh();
            }
            self.enter_reduction(now, Congestion::Loss);
        }
        self.recovery.state = CaState::Recovery;
    }

    /// Begin a reduction: the algorithm sets the new threshold.
    pub(super) fn enter_reduction(&mut self, now: Time, cause: Congestion) {
        self.recovery.high = self.board.next;
        self.probe.end = None;
        self.recovery.prior_cwnd = self.control.cwnd;
        self.recovery.delivered = 0;
        self.recovery.sent = 0;
        let path = self.path(now);
        self.algorithm.on_congestion(cause, &path);
        self.refresh_control();
        self.tell_reduced();
    }

    /// End the reduction and set the window to the threshold.
    pub(super) fn end_reduction(&mut self, now: Time) {
        let undone = self.config.undo && !self.recovery.can_undo();
        let due = self.recovery.state == CaState::Cwr || !undone;
        if due && self.traits.recovery == Recovery::Transport && self.control.ssthresh != u32::MAX {
            self.set_cwnd(self.control.ssthresh);
            self.usage.confirm(now);
        }
        self.end_episode(now);
    }

    /// Enter the state Loss, as the retransmission timer has fired.
    pub(super) fn enter_loss(&mut self, now: Time) {
        let fresh = self.recovery.state < CaState::Recovery;
        self.mark_timed_out(now);
        let reduce = self.recovery.state <= CaState::Disorder
            || self.recovery.high <= self.board.una
            || (self.recovery.state == CaState::Loss && self.recovery.timeouts == 0);
        if reduce {
            self.recovery.prior_ssthresh = self.current_ssthresh();
            self.recovery.prior_cwnd = self.control.cwnd;
            self.watch_for_undo();
        }
        let path = self.path(now);
        self.algorithm.on_congestion(Congestion::Timeout { first: reduce }, &path);
        self.set_cwnd(self.board.in_flight() + 1);
        self.usage.confirm(now);
        if self.recovery.state <= CaState::Disorder {
            self.rack.forget_large_reordering(self.board.sacked_out);
        }
        self.recovery.state = CaState::Loss;
        self.recovery.high = self.board.next;
        self.probe.end = None;
        self.tell_reduced();
        self.recovery.frto = fresh || self.recovery.timeouts > 0;
        self.update_pacing_rate();
    }

    /// Mark the head lost on a timeout, and every packet sent long enough ago; without RACK all packets.
    fn mark_timed_out(&mut self, now: Time) {
        let head = self.board.una;
        let all = self.config.loss_detection == LossDetection::DupAck;
        for seq in head..self.board.next {
            let sent = self.board.get(seq).sent;
            if all || seq == head || self.rack.time_left(now, sent, units::Duration::ZERO).is_none() {
                self.mark_lost(now, seq);
            }
        }
    }

    /// The threshold that undoing the next reduction would restore.
    fn current_ssthresh(&self) -> u32 {
        if self.recovery.is_reducing() {
            return self.control.ssthresh;
        }
        let cwnd = self.control.cwnd;
        self.control.ssthresh.max(cwnd / 2 + cwnd / 4)
    }

    pub(super) fn undo_target(&self) -> congestion::Undo {
        congestion::Undo {
            prior_cwnd: self.recovery.prior_cwnd,
            prior_ssthresh: self.recovery.prior_ssthresh,
        }
    }
}
