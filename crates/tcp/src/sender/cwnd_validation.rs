//! Validation of the congestion window: it grows only while it is used, and shrinks after an idle time (similar to
//! RFC 7661; Linux `tcp_cwnd_validate`, `tcp_cwnd_restart`).

use super::Sender;
use super::scoreboard::Scoreboard;
use congestion::{CaState, Recovery};
use units::Time;

/// Use of the congestion window in the current round.
#[derive(Debug, Default)]
pub(super) struct WindowUsage {
    cwnd_limited: bool,
    most_out: u32,
    round_end: u32,
    used: u32,
    /// When the window was last filled or confirmed (Linux `tcp_sock`, `snd_cwnd_stamp`).
    used_since: Time,
}

impl WindowUsage {
    /// Restart the time in which the window is unused. Called on an ACK that may raise the window, at the end or undo
    /// of a reduction, and on a timeout (Linux `tcp_cong_avoid`, `tcp_end_cwnd_reduction`, `tcp_undo_cwnd_reduction`,
    /// `tcp_enter_loss`, `tcp_init_transfer`).
    pub fn confirm(&mut self, now: Time) {
        self.used_since = now;
    }

    /// Note that the window stops the sender.
    #[inline]
    pub fn fill(&mut self, now: Time, board: &Scoreboard) {
        self.cwnd_limited = true;
        self.most_out = board.packets_out();
        self.round_end = board.next;
        self.used = 0;
        self.used_since = now;
    }
}

impl Sender {
    /// Whether cwnd stopped the sender in this round, or slow start has not yet doubled the packets outstanding.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        let has_slow_start = self.traits.slow_start || self.window_belongs_to_transport();
        let slow_start = has_slow_start && self.control.cwnd < self.control.ssthresh;
        self.usage.cwnd_limited || (slow_start && self.control.cwnd < 2 * self.usage.most_out)
    }

    /// Note whether cwnd was the limit, once per attempt to send.
    pub(super) fn note_window_usage(&mut self, now: Time, cwnd_limited: bool) {
        if cwnd_limited {
            return self.usage.fill(now, &self.board);
        }
        let out = self.board.packets_out();
        let stronger = !self.usage.cwnd_limited && out > self.usage.most_out;
        if self.board.una >= self.usage.round_end || stronger {
            self.usage.cwnd_limited = false;
            self.usage.most_out = out;
            self.usage.round_end = self.board.next;
        }
        if self.is_cwnd_limited() {
            self.usage.used = 0;
            self.usage.used_since = now;
            return;
        }
        self.usage.used = self.usage.used.max(out);
        if now.since(self.usage.used_since) >= self.rtt.rto() && self.window_belongs_to_transport() {
            self.shrink_unused_window(now);
        }
    }

    fn window_belongs_to_transport(&self) -> bool {
        self.traits.recovery == Recovery::Transport
    }

    /// Reduce a window that was neither filled nor confirmed for an RTO halfway to its used part, as it says nothing
    /// about the network.
    fn shrink_unused_window(&mut self, now: Time) {
        let used = self.usage.used.max(self.config.initial_window);
        if self.recovery.state == CaState::Open && used < self.control.cwnd && !self.waits_for_send_buffer() {
            let half = (self.control.cwnd + used) / 2;
            self.algorithm.restart(half);
            self.refresh_control();
        }
        self.usage.used = 0;
        self.usage.used_since = now;
    }

    /// Halve the window for every RTO that passed without sending, down to the initial window. Called when no packet is
    /// outstanding.
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        let idle = now.since(self.last_send);
        let rto = self.rtt.rto();
        if idle <= rto || !self.window_belongs_to_transport() {
            return;
        }
        let floor = self.config.initial_window.min(self.control.cwnd);
        let halvings = (idle.as_nanos() / rto.as_nanos()).min(31) as u32;
        self.algorithm.restart((self.control.cwnd >> halvings).max(floor));
        self.refresh_control();
        self.usage.used = 0;
        self.usage.used_since = now;
    }
}
