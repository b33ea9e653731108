//! # Vegas
//!
//! ## Idea
//! At the smallest RTT, the window would give a higher rate than at the present RTT. The difference between the two
//! rates shows how many packets the flow has queued. Vegas keeps this number between alpha and beta by changes of one
//! packet per round.
//!
//! ## Source and revision
//! Behaviour of Linux 7.2 `net/ipv4/tcp_vegas.c`; Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on
//! a Global Internet", IEEE JSAC 13(8), 1995.
//!
//! ## Signals
//! RTT (smallest of each round, and smallest since the flow was last idle), loss, classic ECN marks.
//!
//! ## State diagram
//! slow start → (more than gamma packets queued, or congestion) → once per round, the window grows by one packet if
//! fewer than alpha packets are queued, and shrinks by one if more than beta are queued → (congestion) → ssthresh =
//! cwnd / 2. Outside the Open state, and in rounds with fewer than three RTT samples, Vegas grows like Reno.
//!
//! ## Deviations from the source
//! No deviation from Linux is known. Linux and this implementation share these deviations from the paper:
//!
//! - The queue is estimated as cwnd (rtt − base) / base, which is rtt / base times the paper's estimate.
//! - Slow start doubles the window every round, not every second round.
//! - There is no early retransmission.
//! - An idle time without packets in flight resets the base RTT, even if the idle time is short.
//! - The window grows in slow start and by the Vegas law even if the application does not use the window.
//! - The product in the estimate has 32 bits, so it wraps if packets times seconds of queueing delay exceed 4295.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`); the queue in steady state, sharing, and the advantage of later
//! flows (`tests/theory/test_delay_based.py`).

use crate::delay::RttWatch;
use crate::registry::Algorithm;
use crate::window::MIN_CWND;
use crate::{Ack, Congestion, Path, Probe, Sent, Traits, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of Vegas.
    pub struct VegasParams {
        /// Queue below which the window grows.
        alpha: u32 = 2, "packets", 1..=1000;
        /// Queue above which the window shrinks.
        beta: u32 = 4, "packets", 1..=1000;
        /// Queue above which slow start ends.
        gamma: u32 = 1, "packets", 0..=1000;
    }
}

/// A sender with delay-based congestion avoidance.
pub struct Vegas {
    params: VegasParams,
    window: Window,
    watch: RttWatch,
}

impl Algorithm for Vegas {
    type Params = VegasParams;
    const TITLE: &'static str = "Vegas (keeps a few packets queued)";
    const SOURCE: &'static str = "Brakmo and Peterson 1995; Linux net/ipv4/tcp_vegas.c";

    fn new(params: VegasParams, _seed: u64) -> Vegas {
        Vegas { params, window: Window::default(), watch: RttWatch::default() }
    }
}

impl Vegas {
    /// Packets queued by Linux's formula, from the smallest RTT of the round.
    fn queued(&self) -> u32 {
        let extra_us = self.watch.min_us - self.watch.base_us;
        self.window.cwnd.wrapping_mul(extra_us) / self.watch.base_us
    }

    /// The largest window without a queue, packets.
    fn without_queue(&self) -> u32 {
        (u64::from(self.window.cwnd) * u64::from(self.watch.base_us) / u64::from(self.watch.min_us)) as u32
    }

    /// Decide on the window at the end of a round.
    fn steer(&mut self, acked: u32) {
        let queued = self.queued();
        if self.window.in_slow_start() {
            if queued > self.params.gamma {
                self.shrink_to(self.window.cwnd.min(self.without_queue() + 1));
            } else {
                self.window.slow_start(acked);
            }
        } else if queued > self.params.beta {
            self.shrink_to(self.window.cwnd.saturating_sub(1));
        } else if queued < self.params.alpha {
            self.window.cwnd += 1;
        }
        self.window.cwnd = self.window.cwnd.max(MIN_CWND);
        self.window.raise_ssthresh();
    }

    fn shrink_to(&mut self, cwnd: u32) {
        self.window.cwnd = cwnd;
        self.window.ssthresh = self.window.ssthresh.min(cwnd.max(MIN_CWND));
    }
}

impl WindowAlgorithm for Vegas {
    has_window!();

    fn measure(&mut self, ack: &Ack, path: &Path) {
        self.watch.digest(ack, path);
        // The window changes here, not in `grow`: as in Linux, it changes even if the flow does not fill it.
        if !ack.may_grow || !self.watch.enabled() {
            return;
        }
        if self.watch.round_is_over(ack, path) {
            if self.watch.knows() {
                self.steer(ack.acked);
            } else if path.cwnd_limited {
                self.window.reno(ack.acked);
            }
            self.watch.forget_round();
        } else if self.window.in_slow_start() {
            self.window.slow_start(ack.acked);
        }
    }

    fn grow(&mut self, ack: &Ack, _path: &Path) {
        if !self.watch.enabled() {
            self.window.reno(ack.acked);
        }
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.watch.suspend();
        self.window.cwnd / 2
    }

    fn timed_out(&mut self, _path: &Path) {
        self.watch.suspend();
    }

    fn sending(&mut self, sent: &Sent, path: &Path) {
        if sent.from_idle {
            self.watch.restart(path);
        }
    }

    fn needs(&self) -> Traits {
        Traits { grows_unused: true, ..Traits::default() }
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        self.watch.observe(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;
    use units::Duration;

    const BASE_US: u64 = 40_000;

    /// A flow with 50 packets in congestion avoidance, with a known base RTT, at the start of a round.
    fn steady() -> (Vegas, Drive) {
        let (mut vegas, mut drive) = (Vegas::new(VegasParams::default(), 0), Drive::new());
        vegas.set_cwnd(50);
        vegas.window.ssthresh = 20;
        drive.round(&mut vegas, BASE_US);
        vegas.set_cwnd(50);
        (vegas, drive)
    }

    /// The window after a round that began with 50 packets and had this RTT.
    fn after_a_round_of(rtt_us: u64) -> u32 {
        let (mut vegas, mut drive) = steady();
        drive.round(&mut vegas, rtt_us); // the first ACK ends the preceding round, in which the RTT was the base RTT
        vegas.set_cwnd(50);
        drive.round(&mut vegas, rtt_us);
        vegas.window.cwnd
    }

    #[test]
    fn fewer_than_alpha_queued_adds_one_packet() {
        assert_eq!(after_a_round_of(41_000), 51); // 50 * 1 / 40 = 1.25 queued
    }

    #[test]
    fn between_alpha_and_beta_the_window_stands() {
        assert_eq!(after_a_round_of(42_500), 50); // 3.1 queued
    }

    #[test]
    fn more_than_beta_queued_takes_one_packet() {
        assert_eq!(after_a_round_of(44_100), 49); // 5.1 queued
    }

    #[test]
    fn never_moves_by_more_than_one_packet_per_round() {
        let (mut vegas, mut drive) = steady();
        for rtt_us in [40_000, 90_000, 41_000, 200_000, 40_000, 44_000, 400_000] {
            let before = vegas.window.cwnd;
            drive.round(&mut vegas, rtt_us);
            assert!(vegas.window.cwnd.abs_diff(before) <= 1, "{before} to {}", vegas.window.cwnd);
        }
    }

    #[test]
    fn slow_start_ends_when_more_than_a_packet_is_queued() {
        let (mut vegas, mut drive) = (Vegas::new(VegasParams::default(), 0), Drive::new());
        drive.rounds(&mut vegas, 3, BASE_US);
        let before = vegas.window.cwnd;
        assert!(before >= 70, "doubles per round: {before}");
        drive.rounds(&mut vegas, 2, 50_000);
        assert!(!vegas.window.in_slow_start());
        assert!(vegas.window.cwnd < 2 * before);
    }

    #[test]
    fn a_loss_halves() {
        let (mut vegas, mut drive) = steady();
        assert_eq!(drive.lose(&mut vegas), 25);
    }

    #[test]
    fn idle_time_forgets_the_base_rtt_and_congestion_does_not() {
        let (mut vegas, mut drive) = steady();
        drive.lose(&mut vegas);
        drive.round(&mut vegas, 60_000);
        assert_eq!(vegas.watch.base_us, 40_001);
        drive.idle(&mut vegas, Duration::from_millis(100));
        drive.round(&mut vegas, 60_000);
        assert_eq!(vegas.watch.base_us, 60_001);
    }

    #[test]
    fn rounds_with_two_samples_are_renos() {
        let (mut vegas, mut drive) = steady();
        vegas.set_cwnd(2);
        vegas.window.ssthresh = 2;
        drive.rounds(&mut vegas, 2, 400_000);
        assert!(vegas.window.cwnd > 2, "the delay has shrunk the window");
    }
}
