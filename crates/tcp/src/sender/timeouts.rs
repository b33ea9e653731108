//! Timers of the sender: the retransmission timer (timeout, tail loss probe, reordering), pacing, and wake-ups of
//! the algorithm.

use super::Sender;
use super::host::NEW_DATA;
use super::record::APP_LIMITED;
use super::timer::Purpose;
use crate::segment::{Segment, micros, stamp};
use congestion::CaState;
use units::{Duration, Time};

impl Sender {
    /// When `on_timer` must be called; `Time::NEVER` if no timer is set.
    pub fn next_timer(&self) -> Time {
        let other = self.window.next_wakeup().min(self.departures.wakeup());
        if self.timer.earliest() >= other { other } else { self.timer.at().min(other) }
    }

    /// Time before which `on_timer` has no effect: at most [`Sender::next_timer`], and cheaper.
    #[inline]
    pub fn earliest_timer(&self) -> Time {
        self.timer.earliest().min(self.window.next_wakeup()).min(self.departures.wakeup())
    }

    /// Run the timers that are due. The call has no effect if no timer is due.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let may_send = self.window.next_wakeup().min(self.departures.wakeup()) <= now;
        self.departures.release(now, out);
        if self.window.next_wakeup() <= now {
            let path = self.path(now);
            self.window.on_wakeup(&path);
            self.update_pacing_rate();
        }
        if self.timer.earliest() <= now && self.timer.at() <= now {
            self.watch_pauses();
            self.timer.begin_firing();
            match self.timer.purpose() {
                Purpose::Retransmission if !self.connection.is_established() => {
                    self.on_opening_timeout(now, out);
                }
                Purpose::Retransmission => self.on_timeout(now, out),
                Purpose::Probe => self.send_probe(now, out),
                Purpose::Reordering => self.on_reordering_timer(now, out),
                Purpose::Off => {}
            }
            self.timer.end_firing();
        }
        // The retransmission timer sends nothing else (Linux `tcp_write_timer_handler`), but pacing may now be the limit,
        // which `push` notes.
        if self.connection.is_established() && (may_send || self.departures.is_held(now)) {
            self.retransmit_lost(now, out);
            self.push(now, out);
        }
    }

    fn on_timeout(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.timer.disarm();
        if self.board.packets_out() == 0 {
            return self.probe_window(now, out);
        }
        self.enter_loss(now);
        self.stats.timeouts += 1;
        self.recovery.count_timeout();
        self.retransmit(now, self.board.una(), 1, out);
        self.rtt.back_off();
        self.timer.arm_retransmission(now, self.rtt.rto(), Duration::ZERO);
    }

    /// Set the timer for a zero-window probe if no packet is outstanding. Without such probes, the loss of the ACK that
    /// opens the window would stop the flow for ever (RFC 9293 section 3.8.6.1; Linux `tcp_check_probe_timer`).
    pub(super) fn await_window(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            self.timer.await_window(now, &self.rtt);
        }
    }

    /// Restart the timer of the zero-window probe, because an ACK shows that the receiver still answers and that its window
    /// is closed (Linux `tcp_ack_probe`).
    #[cold]
    pub(super) fn postpone_window_probe(&mut self, now: Time) {
        if self.queue.has_new_data(&self.board) && !self.queue.receiver_has_room(&self.board) {
            self.timer.postpone_probe(now, &self.rtt);
        }
    }

    /// Probe a closed window. If the window has room for a part of a packet, the probe is this part, which is new data
    /// (Linux `tcp_write_wakeup`). Otherwise, it is a segment with an old number and no payload (`tcp_xmit_probe_skb`).
    #[cold]
    fn probe_window(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.queue.has_new_data(&self.board) || self.queue.receiver_has_room(&self.board) {
            return;
        }
        if self.queue.payload_of(1, &self.board) > 0 {
            return self.send_burst(now, 1, out);
        }
        let Some(seq) = self.board.una().checked_sub(1) else { return };
        let (stamp, sent_us) = (stamp(now), micros(now));
        let (again, push, cwr, fin) = (true, false, false, false);
        let probe = Segment::Data { seq, len: 0, push, again, cwr, fin, stamp, sent_us, riding: None };
        self.departures.hand_over(now, now, probe, out);
        self.departures.count_empty();
        self.timer.await_next_probe(now, &self.rtt);
    }

    /// Send a tail loss probe, because the probe timer has fired.
    fn send_probe(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.recovery.probe.is_out() && self.board.packets_out() > 0 {
            let has_data = self.queue.has_written(&self.board) && self.queue.receiver_has_room(&self.board);
            let has_fin = self.connection.fin_is_due() && self.queue.unsent(self.board.next_bytes()) == 0;
            if has_data || has_fin {
                // A probe is one burst as large as the window allows, and at least one packet.
                let room = self.window.room(self.board.in_flight()).max(1);
                let count = self.next_burst(room, self.burst_packets()).unwrap_or(1);
                if self.must_wait(now)
                    || self.departures.is_throttled(count, NEW_DATA, &self.config, &self.board)
                {
                    return self.rearm_retransmission(now); // new data remains paced (Linux `tcp_write_xmit`)
                }
                self.send_new(now, count, out); // without Nagle's wait
                self.recovery.count_sent(count);
                self.validate_window(now, self.board.in_flight() >= self.window.cwnd(), true);
                self.recovery.probe.sent_new(self.board.next());
            } else {
                let last = self.board.next() - 1;
                let app_limited = self.board.get(last).is(APP_LIMITED);
                self.send_again(now, last, 1, out); // loss recovery does not count the probe as a retransmission
                self.recovery.probe.sent_again(self.board.next(), app_limited);
            }
            self.timer.disarm();
        }
        self.rearm_retransmission(now);
    }

    fn on_reordering_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let (in_flight, lost) = (self.board.in_flight(), self.delivery.lost());
        self.detect_losses(now);
        if self.board.in_flight() != in_flight {
            if self.recovery.state() != CaState::Recovery {
                self.enter_recovery(now, false);
                let newly_lost = (self.delivery.lost() - lost) as u32;
                self.reduce_proportionally(1, newly_lost, false);
            }
            self.retransmit_lost(now, out);
        }
        self.rearm_retransmission(now);
    }

    /// Arm the probe timer if a probe is allowed, and return whether the timer was armed. `rto_from_now`: the RTO
    /// counts from now, not from the transmission of the lowest outstanding packet.
    #[inline]
    pub(super) fn schedule_probe(&mut self, now: Time, rto_from_now: bool) -> bool {
        let calm =
            matches!(self.recovery.state(), CaState::Open | CaState::Cwr) && self.config.tail_loss_probe;
        if !calm || self.board.packets_out() == 0 {
            return false;
        }
        let (lone_slack, delay) = (self.config.min_rto, self.departures.delay(now));
        self.timer.arm_probe(now, &self.board, &self.rtt, lone_slack, delay, rto_from_now)
    }

    /// Restart the retransmission timeout.
    pub(super) fn rearm_retransmission(&mut self, now: Time) {
        self.timer.rearm(now, &self.board, &self.rtt, self.departures.delay(now));
    }

    /// Arm the timer after progress: for a tail loss probe if a probe is allowed, else for the timeout.
    #[inline]
    pub(super) fn set_timer_after_progress(&mut self, now: Time) {
        if !self.schedule_probe(now, true) {
            self.rearm_retransmission(now);
        }
    }
}
