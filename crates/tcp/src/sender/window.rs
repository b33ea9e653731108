//! The congestion window: the algorithm that sets the window, and the validation of the window. The window grows
//! only while it is used, and shrinks after an idle time (similar to RFC 7661; Linux `tcp_cwnd_validate`,
//! `tcp_cwnd_restart`).

use super::scoreboard::Scoreboard;
use congestion::{
    Ack, Congestion, CongestionControl, Control, LostPacket, Path, Recovery, Sent, Traits, Undo,
};
use units::{Duration, Time};

/// The algorithm, its decisions after its last event, and the use of its window in the current round.
pub(super) struct Window {
    algorithm: Box<dyn CongestionControl>,
    control: Control,
    traits: Traits,
    /// Initial window, packets.
    initial: u32,
    /// Whether the window stopped the sender in this round.
    cwnd_limited: bool,
    most_out: u32,
    round_end: u32,
    used: u32,
    /// When the window was last filled or confirmed (Linux `tcp_sock`, `snd_cwnd_stamp`).
    used_since: Time,
}

impl Window {
    pub fn new(mut algorithm: Box<dyn CongestionControl>, initial: u32) -> Window {
        algorithm.set_cwnd(initial);
        Window {
            traits: algorithm.traits(),
            control: algorithm.control(),
            algorithm,
            initial,
            cwnd_limited: false,
            most_out: 0,
            round_end: 0,
            used: 0,
            used_since: Time::ZERO,
        }
    }

    /// The algorithm, for observation.
    pub fn algorithm(&self) -> &dyn CongestionControl {
        &*self.algorithm
    }

    /// The algorithm's decisions.
    #[inline]
    pub fn control(&self) -> &Control {
        &self.control
    }

    #[inline]
    pub fn traits(&self) -> &Traits {
        &self.traits
    }

    /// The congestion window, packets.
    #[inline]
    pub fn cwnd(&self) -> u32 {
        self.control.cwnd
    }

    /// Packets that the window allows in addition to the packets in flight.
    #[inline]
    pub fn room(&self, in_flight: u32) -> u32 {
        self.control.cwnd.saturating_sub(in_flight)
    }

    /// Whether the transport, not the algorithm, sets the window during recovery.
    #[inline]
    pub fn belongs_to_transport(&self) -> bool {
        self.traits.recovery == Recovery::Transport
    }

    /// The slow-start threshold that an undo would restore if a reduction began now.
    pub fn ssthresh_to_restore(&self) -> u32 {
        let cwnd = self.control.cwnd;
        self.control.ssthresh.max(cwnd / 2 + cwnd / 4)
    }

    #[inline]
    fn refresh(&mut self) {
        self.control = self.algorithm.control();
    }

    pub fn on_established(&mut self, path: &Path) {
        self.algorithm.on_established(path);
        self.traits = self.algorithm.traits();
        self.refresh();
    }

    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, path: &Path) {
        self.algorithm.on_ack(ack, path);
        self.refresh();
    }

    #[inline]
    pub fn on_send(&mut self, sent: &Sent, path: &Path) {
        self.algorithm.on_send(sent, path);
        self.refresh();
    }

    #[inline]
    pub fn on_lost(&mut self, lost: &LostPacket, path: &Path) {
        self.algorithm.on_lost(lost, path);
        self.refresh();
    }

    pub fn on_congestion(&mut self, cause: Congestion, path: &Path) {
        self.algorithm.on_congestion(cause, path);
        self.refresh();
    }

    pub fn on_loss_in_reduction(&mut self, path: &Path) {
        self.algorithm.on_loss_in_reduction(path);
        self.refresh();
    }

    pub fn on_undo(&mut self, undo: &Undo, path: &Path) {
        self.algorithm.on_undo(undo, path);
        self.refresh();
    }

    pub fn on_recovery_exit(&mut self, path: &Path) {
        self.algorithm.on_recovery_exit(path);
        self.refresh();
    }

    /// When the algorithm must be called next; `NEVER` if it requests no call.
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        self.algorithm.next_wakeup().unwrap_or(Time::NEVER)
    }

    pub fn on_wakeup(&mut self, path: &Path) {
        self.algorithm.on_wakeup(path);
        debug_assert!(self.next_wakeup() > path.now, "a wake-up must move the next wake-up into the future");
        self.refresh();
    }

    #[inline]
    pub fn set_cwnd(&mut self, cwnd: u32) {
        self.algorithm.set_cwnd(cwnd);
        self.refresh();
    }

    /// Restart the time for which the window counts as unused. The sender calls this method on an ACK that may
    /// raise the window, at the end or undo of a reduction, and on a timeout (Linux `tcp_cong_avoid`,
    /// `tcp_end_cwnd_reduction`, `tcp_undo_cwnd_reduction`, `tcp_enter_loss`, `tcp_init_transfer`).
    #[inline]
    pub fn confirm(&mut self, now: Time) {
        self.used_since = now;
    }

    /// Record that the window is the limit that stops the sender.
    #[inline]
    pub fn fill(&mut self, now: Time, board: &Scoreboard) {
        self.cwnd_limited = true;
        self.most_out = board.packets_out();
        self.round_end = board.next();
        self.used = 0;
        self.used_since = now;
    }

    /// Whether the window stopped the sender in this round, or slow start has not yet raised the window to twice the
    /// packets outstanding.
    #[inline]
    pub fn is_limit(&self) -> bool {
        let has_slow_start = self.traits.slow_start || self.belongs_to_transport();
        let slow_start = has_slow_start && self.control.cwnd < self.control.ssthresh;
        self.cwnd_limited || (slow_start && self.control.cwnd < 2 * self.most_out)
    }

    /// Record that the window has room, so that another limit stops the sender. True if the window has been neither
    /// filled nor confirmed for the timeout `rto`, and is due to shrink.
    pub fn note_room(&mut self, now: Time, board: &Scoreboard, rto: Duration) -> bool {
        let out = board.packets_out();
        let stronger = !self.cwnd_limited && out > self.most_out;
        if board.una() >= self.round_end || stronger {
            self.cwnd_limited = false;
            self.most_out = out;
            self.round_end = board.next();
        }
        if self.is_limit() {
            self.used = 0;
            self.used_since = now;
            return false;
        }
        self.used = self.used.max(out);
        now.since(self.used_since) >= rto && self.belongs_to_transport()
    }

    /// Reduce the window to the mean of the window and its used part, because the unused part was never tested on the
    /// network. The sender calls this method when the window was neither filled nor confirmed for an RTO.
    /// `only_unused`: no other reason, such as recovery or a full send buffer, kept the window unused.
    pub fn shrink_unused(&mut self, now: Time, only_unused: bool) {
        let used = self.used.max(self.initial);
        if only_unused && used < self.control.cwnd {
            self.algorithm.restart((self.control.cwnd + used) / 2);
            self.refresh();
        }
        self.used = 0;
        self.used_since = now;
    }

    /// Halve the window for every `rto` that passed without sending, down to the initial window. The sender calls
    /// this method when no packet is outstanding.
    pub fn restart_after(&mut self, now: Time, idle: Duration, rto: Duration) {
        if idle <= rto || !self.belongs_to_transport() {
            return;
        }
        let floor = self.initial.min(self.control.cwnd);
        let halvings = (idle.as_nanos() / rto.as_nanos()).min(31) as u32;
        self.algorithm.restart((self.control.cwnd >> halvings).max(floor));
        self.refresh();
        self.used = 0;
        self.used_since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_window_is_halved_every_rto_down_to_the_initial_one() {
        let reno = congestion::build("reno", &serde_json::Value::Null, 1).unwrap();
        let mut window = Window::new(reno, 10);
        window.set_cwnd(64);
        let [idle, rto] = [1_100, 500].map(Duration::from_millis);
        window.restart_after(Time::ZERO, rto, rto);
        assert_eq!(window.cwnd(), 64);
        window.restart_after(Time::ZERO, idle, rto);
        assert_eq!(window.cwnd(), 16);
        window.restart_after(Time::ZERO, idle, rto);
        assert_eq!(window.cwnd(), 10);
    }
}
