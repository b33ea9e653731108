//! The retransmission timer in its three uses: timeout, tail loss probe, reordering.

use super::{Sender, stamp};
use crate::Segment;
use crate::segment::micros;
use congestion::CaState;
use units::Time;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Purpose {
    #[default]
    Off,
    Retransmission,
    Probe,
    Reordering,
}

/// One timer with one purpose at a time, as in Linux.
#[derive(Debug)]
pub(super) struct Timer {
    purpose: Purpose,
    at: Time,
}

impl Default for Timer {
    fn default() -> Self {
        Timer { purpose: Purpose::Off, at: Time::NEVER }
    }
}

impl Timer {
    pub fn arm_retransmission(&mut self, at: Time) {
        *self = Timer { purpose: Purpose::Retransmission, at };
    }

    pub fn arm_probe(&mut self, at: Time) {
        *self = Timer { purpose: Purpose::Probe, at };
    }

    pub fn arm_reordering(&mut self, at: Time) {
        *self = Timer { purpose: Purpose::Reordering, at };
    }

    pub fn disarm(&mut self) {
        *self = Timer::default();
    }

    pub fn is_probe(&self) -> bool {
        self.purpose == Purpose::Probe
    }

    pub fn is_reordering(&self) -> bool {
        self.purpose == Purpose::Reordering
    }
}

impl Sender {
    /// When `on_timer` must be called; `Time::NEVER` if no timer is set.
    pub fn next_timer(&self) -> Time {
        let pacing = self.pacing_wakeup();
        let algorithm = self.algorithm.next_wakeup().unwrap_or(Time::NEVER);
        self.timer.at.min(pacing).min(algorithm).min(self.host.next())
    }

    /// Run the timers that are due. Harmless if none is.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.host.release(now, out);
        if self.algorithm.next_wakeup().is_some_and(|at| at <= now) {
            let path = self.path(now);
            self.algorithm.on_wakeup(&path);
            debug_assert!(
                self.algorithm.next_wakeup().is_none_or(|at| at > now),
                "a wake-up must move the next one into the future"
            );
            self.refresh_control();
            self.update_pacing_rate();
        }
        if self.timer.at <= now {
            self.watch_pauses();
            match self.timer.purpose {
                Purpose::Retransmission if !self.established => self.on_syn_timeout(now, out),
                Purpose::Retransmission => self.on_timeout(now, out),
                Purpose::Probe => self.send_probe(now, out),
                Purpose::Reordering => self.on_reordering_timer(now, out),
                Purpose::Off => {}
            }
        }
        if self.established {
            self.retransmit_lost(now, out);
            self.push(now, out); // also notes whether pacing is the limit
        }
    }

    fn on_timeout(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.timer.disarm();
        if self.board.packets_out() == 0 {
            return self.probe_window(now, out);
        }
        self.enter_loss(now);
        self.stats.timeouts += 1;
        self.recovery.timeouts += 1;
        let head = self.board.una;
        self.retransmit(now, head, 1, out);
        self.rtt.back_off();
        self.timer.arm_retransmission(now + self.rtt.rto());
    }

    /// Arm the timer of zero-window probes, if the receive window is the limit and no packet is outstanding. Without
    /// probes, the loss of the ACK that opens the window would stop the flow for ever (RFC 9293 section 3.8.6.1; Linux
    /// `tcp_check_probe_timer`).
    pub(super) fn await_window(&mut self, now: Time) {
        if self.board.packets_out() == 0 && self.timer.purpose == Purpose::Off {
            self.window_probes = 0;
            self.timer.arm_retransmission(now + self.rtt.rto());
        }
    }

    /// Send a zero-window probe: a segment with an old number and no payload (Linux `tcp_xmit_probe_skb`). The time
    /// between probes doubles, but the retransmission timeout of later data does not (`tcp_probe0_when`).
    #[cold]
    fn probe_window(&mut self, now: Time, out: &mut Vec<Segment>) {
        let Some(seq) = self.board.una.checked_sub(1) else { return };
        if !self.has_new_data() || self.receiver_has_room() {
            return;
        }
        let (stamp, sent_us) = (stamp(now), micros(now));
        let (again, push, cwr, fin) = (true, false, false, false);
        let probe = Segment::Data { seq, len: 0, push, again, cwr, fin, stamp, sent_us, riding: None };
        self.host.hand_over(now, now, probe, out);
        self.count_in_host(1, 0);
        self.window_probes += 1;
        self.timer.arm_retransmission(now + self.rtt.backed_off(self.window_probes));
    }

    fn on_reordering_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let (in_flight, lost) = (self.board.in_flight(), self.delivery.lost);
        self.detect_losses(now);
        if self.board.in_flight() != in_flight {
            if self.recovery.state != CaState::Recovery {
                self.enter_recovery(now, false);
                let newly_lost = (self.delivery.lost - lost) as u32;
                self.reduce_proportionally(1, newly_lost, false);
            }
            self.retransmit_lost(now, out);
        }
        self.rearm_retransmission(now);
    }

    /// When the lowest outstanding packet times out.
    pub(super) fn head_timeout(&self) -> Time {
        self.board.get(self.board.una).sent + self.rtt.rto()
    }

    /// Restart the retransmission timeout; it counts from the sending of the head if a shorter timer had replaced it.
    pub(super) fn rearm_retransmission(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            self.timer.disarm();
            return;
        }
        let displaced = matches!(self.timer.purpose, Purpose::Probe | Purpose::Reordering);
        let at = if displaced { self.head_timeout().max(now) } else { now + self.rtt.rto() };
        self.timer.arm_retransmission(at + self.pacer.delay(now));
    }

    /// Arm the timer after progress: a tail loss probe if one is allowed, else the timeout.
    pub(super) fn set_timer_after_progress(&mut self, now: Time) {
        if !self.schedule_probe(now, true) {
            self.rearm_retransmission(now);
        }
    }
}
