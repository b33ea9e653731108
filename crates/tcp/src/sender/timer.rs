//! The retransmission timer, which also serves tail loss probes and the reordering window.

use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use crate::wheel::Wheel;
use units::{Duration, Time};

/// Extra time added to the timer of a tail loss probe.
const PROBE_SLACK: Duration = Duration::from_millis(2);
/// Extra time added to the reordering timer.
const REORDERING_SLACK: Duration = Duration::from_millis(2);

/// Shortest time until a timeout that counts from the sending of a packet (`tcp_rearm_rto`).
const LEAST: Duration = Duration::from_micros(1);

/// Use of the timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Purpose {
    #[default]
    Off,
    /// The retransmission timeout, also of a SYN or a zero-window probe.
    Retransmission,
    /// The timer of a tail loss probe.
    Probe,
    /// The reordering timer, which ends the wait for reordered packets.
    Reordering,
}

/// One timer with one purpose at a time, as in Linux.
#[derive(Debug)]
pub(super) struct Timer {
    purpose: Purpose,
    /// Time after which the timer fires, before it is rounded up to a tick; `NEVER` if the timer is off.
    earliest: Time,
    /// Time from when the timer was set until `earliest`.
    delay: Duration,
    /// Additional time until pacing allows a departure.
    paced: Duration,
    wheel: Wheel,
    /// Whether the timer is firing.
    fires: bool,
    /// Whether the timer was set while it fired.
    refires: bool,
    /// Zero-window probes since the window closed.
    window_probes: u32,
}

impl Timer {
    /// A timer of a host with these timers, off.
    pub fn new(wheel: Wheel) -> Timer {
        Timer {
            purpose: Purpose::Off,
            earliest: Time::NEVER,
            delay: Duration::ZERO,
            paced: Duration::ZERO,
            wheel,
            fires: false,
            refires: false,
            window_probes: 0,
        }
    }

    /// Time at which the timer fires; `NEVER` if the timer is off.
    pub fn at(&self) -> Time {
        if self.earliest == Time::NEVER {
            return Time::NEVER;
        }
        let set_at = self.earliest - self.delay;
        if self.refires {
            self.wheel.after_firing(set_at, self.delay, self.paced)
        } else {
            self.wheel.after(set_at, self.delay, self.paced)
        }
    }

    /// Time before which the timer does not fire. It is cheaper than [`Timer::at`].
    #[inline]
    pub fn earliest(&self) -> Time {
        self.earliest
    }

    /// Record that the timer fires, and is armed again while it does.
    pub fn begin_firing(&mut self) {
        self.fires = true;
    }

    /// Record that the timer has fired.
    pub fn end_firing(&mut self) {
        self.fires = false;
    }

    /// Set the timer, which almost every ACK does. The wheel is asked only when the time is needed.
    #[inline]
    fn set(&mut self, purpose: Purpose, now: Time, delay: Duration, paced: Duration) {
        (self.purpose, self.earliest, self.delay) = (purpose, now + delay, delay);
        (self.paced, self.refires) = (paced, self.fires);
    }

    #[inline]
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Arm the retransmission timer to fire after `rto`. `paced`: time until pacing allows a departure.
    #[inline]
    pub fn arm_retransmission(&mut self, now: Time, rto: Duration, paced: Duration) {
        self.set(Purpose::Retransmission, now, rto, paced);
    }

    /// Arm the reordering timer to fire after `wait` plus [`REORDERING_SLACK`].
    pub fn arm_reordering(&mut self, now: Time, wait: Duration) {
        self.set(Purpose::Reordering, now, wait + REORDERING_SLACK, Duration::ZERO);
    }

    pub fn disarm(&mut self) {
        (self.purpose, self.earliest) = (Purpose::Off, Time::NEVER);
    }

    pub fn is_probe(&self) -> bool {
        self.purpose == Purpose::Probe
    }

    pub fn is_reordering(&self) -> bool {
        self.purpose == Purpose::Reordering
    }

    /// Arm the timer of a tail loss probe, while packets are outstanding. `lone_slack`: additional time for a lone
    /// packet, whose ACK may be delayed. `delay`: time until pacing allows a departure. `rto_from_now`: the RTO counts
    /// from now, not from the transmission of the lowest outstanding packet. False if there is no RTT sample yet.
    #[inline]
    pub fn arm_probe(
        &mut self,
        now: Time,
        board: &Scoreboard,
        rtt: &RttEstimator,
        lone_slack: Duration,
        delay: Duration,
        rto_from_now: bool,
    ) -> bool {
        let Some(srtt) = rtt.srtt() else { return false };
        let slack = if board.packets_out() == 1 { lone_slack } else { PROBE_SLACK };
        let timeout = srtt * 2 + slack;
        let rto = if rto_from_now { rtt.rto() } else { head_timeout(board, rtt).since(now) };
        let due = if rto > Duration::ZERO { timeout.min(rto) } else { timeout };
        self.set(Purpose::Probe, now, due, delay);
        true
    }

    /// Restart the retransmission timeout. The timeout counts from the send time of the lowest outstanding packet
    /// if a shorter timer had replaced the retransmission timer.
    pub fn rearm(&mut self, now: Time, board: &Scoreboard, rtt: &RttEstimator, delay: Duration) {
        if board.packets_out() == 0 {
            return self.disarm();
        }
        let displaced = matches!(self.purpose, Purpose::Probe | Purpose::Reordering);
        let rto = if displaced { head_timeout(board, rtt).since(now).max(LEAST) } else { rtt.rto() };
        self.arm_retransmission(now, rto, delay);
    }

    /// Arm the timer for the first zero-window probe, which is due after an RTO, if the timer is off.
    pub fn await_window(&mut self, now: Time, rtt: &RttEstimator) {
        if self.purpose == Purpose::Off {
            self.window_probes = 0;
            self.arm_retransmission(now, rtt.rto(), Duration::ZERO);
        }
    }

    /// Restart the timer of the zero-window probe, if it runs.
    pub fn postpone_probe(&mut self, now: Time, rtt: &RttEstimator) {
        if self.purpose == Purpose::Retransmission {
            self.arm_retransmission(now, rtt.backed_off(self.window_probes), Duration::ZERO);
        }
    }

    /// Arm the timer for the next zero-window probe, after a probe was sent. The time between probes doubles, but the
    /// retransmission timeout of later data does not (`tcp_probe0_when`).
    pub fn await_next_probe(&mut self, now: Time, rtt: &RttEstimator) {
        self.window_probes += 1;
        self.arm_retransmission(now, rtt.backed_off(self.window_probes), Duration::ZERO);
    }
}

/// When the lowest outstanding packet times out.
fn head_timeout(board: &Scoreboard, rtt: &RttEstimator) -> Time {
    board.get(board.una()).sent + rtt.rto()
}

#[cfg(test)]
mod tests {
    use super::super::record::Record;
    use super::*;

    #[test]
    fn a_timeout_that_a_shorter_timer_had_replaced_counts_from_the_sending_of_the_head() {
        let (mut timer, rtt) = (Timer::new(Wheel::new(None)), RttEstimator::new(Duration::from_millis(200)));
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        let mut board = Scoreboard::new(false);
        timer.rearm(at(5), &board, &rtt, Duration::ZERO);
        assert_eq!((timer.purpose(), timer.at()), (Purpose::Off, Time::NEVER));
        board.append(&Record::new(at(10), 1_000, 0));
        timer.rearm(at(50), &board, &rtt, Duration::ZERO);
        assert_eq!(timer.at(), at(1_050));
        timer.arm_reordering(at(60), Duration::from_millis(3));
        assert_eq!(timer.at(), at(65));
        timer.rearm(at(65), &board, &rtt, Duration::from_millis(1));
        assert_eq!(timer.at(), at(1_011));
        timer.arm_reordering(at(60), Duration::from_millis(3));
        timer.rearm(at(2_000), &board, &rtt, Duration::ZERO);
        assert_eq!(timer.at(), at(2_000) + LEAST, "the time is over");
    }

    #[test]
    fn the_earliest_time_is_not_after_the_time_of_firing() {
        let ticks = [None, Some(1), Some(4)].map(|ms| ms.map(Duration::from_millis));
        for tick in ticks {
            let mut timer = Timer::new(Wheel::new(tick));
            for (now, rto, paced) in
                [(999, 200_001, 0), (1_000, 1_000, 999), (1_999, 0, 1), (7, 63_000, 5_500)]
            {
                let us = Duration::from_micros;
                timer.arm_retransmission(Time::ZERO + us(now), us(rto), us(paced));
                assert!(timer.earliest() <= timer.at(), "{tick:?} {now} {rto} {paced}");
            }
        }
    }
}
