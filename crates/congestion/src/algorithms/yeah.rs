//! # YeAH
//!
//! ## Idea
//! Yet another high-speed TCP. YeAH grows as fast as Scalable while the queue of the flow itself is short (fast
//! mode), and otherwise like Reno (slow mode). YeAH drains its queue before the buffer overflows, unless a
//! competing Reno flow would gain bandwidth from the drained queue.
//!
//! ## Source and revision
//! Behaviour of Linux 7.2 `net/ipv4/tcp_yeah.c`; Baiocchi, Castellani and Vacirca, "YeAH-TCP: Yet Another Highspeed
//! TCP", PFLDnet 2007.
//!
//! ## Signals
//! RTT (smallest of each round compared with the smallest since the flow was last idle), loss, classic ECN marks.
//!
//! ## State diagram
//! slow start → fast ⇄ slow, decided once per round: slow if more than 80 packets are queued or the RTT is an eighth
//! above the base RTT → (more than 80 packets queued) → cwnd is reduced by the queue, but not below cwnd / 2 or the
//! estimated Reno window → (congestion) → ssthresh = cwnd less the queue (the reduction is between an eighth and a
//! half), or cwnd / 2 after 16 slow rounds in a row.
//!
//! ## Deviations from the source
//! No deviation from Linux is known. As in Linux, fast growth is one packet per min(cwnd, 100) acknowledged packets,
//! so fast and slow growth are the same below 100 packets. Unlike Vegas, YeAH also classifies rounds outside the Open
//! state.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`); the queue of a single flow on a long path
//! (`tests/theory/test_delay_based.py`).

use crate::delay::RttWatch;
use crate::registry::Algorithm;
use crate::window::MIN_CWND;
use crate::{Ack, Congestion, Path, Probe, Sent, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of YeAH.
    pub struct YeahParams {
        /// Queue above which the flow drains its queue.
        alpha: u32 = 80, "packets", 1..=100000;
        /// Largest queueing delay of a fast round, as the base RTT divided by this value.
        phy: u32 = 8, "", 1..=1000;
        /// Slow rounds in a row after which a loss halves the window, because competing flows are then assumed to
        /// be loss-based.
        rho: u32 = 16, "rounds", 1..=100000;
        /// Fast rounds after which no competing flow is assumed.
        zeta: u32 = 50, "rounds", 1..=100000;
        /// Smallest reduction on a loss: the window divided by 2 to the power of this value.
        delta: u32 = 3, "", 1..=10;
    }
}

/// Acknowledged packets per packet of growth in fast mode (Linux's Scalable).
const FAST_INCREMENT: u32 = 100;

/// A sender that grows like Scalable while its queue is short, and otherwise like Reno.
pub struct Yeah {
    params: YeahParams,
    window: Window,
    watch: RttWatch,
    /// Queue in the last round, packets.
    queued: u32,
    slow_rounds: u32,
    fast_rounds: u32,
    /// Estimated window of a competing Reno flow, packets.
    reno_window: u32,
}

impl Algorithm for Yeah {
    type Params = YeahParams;
    const TITLE: &'static str = "YeAH (Scalable while the queue is short, Reno otherwise)";
    const SOURCE: &'static str = "Baiocchi et al. 2007; Linux net/ipv4/tcp_yeah.c";

    fn new(params: YeahParams, _seed: u64) -> Yeah {
        Yeah {
            params,
            window: Window::default(),
            watch: RttWatch::default(),
            queued: 0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno_window: MIN_CWND,
        }
    }
}

impl Yeah {
    fn climb(&mut self, acked: u32) {
        let left = if self.window.in_slow_start() { self.window.slow_start(acked) } else { acked };
        if left > 0 {
            let cwnd = self.window.cwnd;
            let per_increment = if self.slow_rounds == 0 { cwnd.min(FAST_INCREMENT) } else { cwnd };
            self.window.additive_increase(per_increment, left);
        }
    }

    /// Classify the round as fast or slow, and drain a long queue.
    fn judge_round(&mut self) {
        let extra_us = self.watch.min_us - self.watch.base_us;
        let cwnd = u64::from(self.window.cwnd);
        self.queued = (cwnd * u64::from(extra_us) / u64::from(self.watch.min_us)) as u32;
        let long = self.queued > self.params.alpha;
        if long || extra_us > self.watch.base_us / self.params.phy {
            if long {
                self.decongest();
            }
            self.reno_window =
                if self.reno_window <= MIN_CWND { self.half() } else { self.reno_window.saturating_add(1) };
            self.slow_rounds = self.slow_rounds.saturating_add(1);
        } else {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > self.params.zeta {
                self.fast_rounds = 0;
                self.reno_window = MIN_CWND;
            }
        }
    }

    /// Reduce the window by the queue, but not below half the window or the estimated Reno window.
    fn decongest(&mut self) {
        let cwnd = self.window.cwnd;
        if cwnd > self.reno_window {
            self.window.cwnd = (cwnd - self.queued.min(cwnd / 2)).max(self.reno_window);
            self.window.ssthresh = self.window.cwnd;
        }
    }

    fn half(&self) -> u32 {
        (self.window.cwnd / 2).max(MIN_CWND)
    }

    /// Reduction of the window on a loss, packets.
    fn reduction(&self) -> u32 {
        if self.slow_rounds >= self.params.rho {
            return self.half();
        }
        self.queued.min(self.half()).max(self.window.cwnd >> self.params.delta)
    }
}

impl WindowAlgorithm for Yeah {
    has_window!();

    fn measure(&mut self, ack: &Ack, path: &Path) {
        self.watch.digest(ack, path);
    }

    fn grow(&mut self, ack: &Ack, path: &Path) {
        self.climb(ack.acked);
        if self.watch.round_is_over(ack, path) {
            if self.watch.knows() {
                self.judge_round();
            }
            self.watch.forget_round();
        }
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.watch.suspend();
        let kept = self.window.cwnd.saturating_sub(self.reduction());
        self.fast_rounds = 0;
        self.reno_window = (self.reno_window / 2).max(MIN_CWND);
        kept
    }

    fn timed_out(&mut self, _path: &Path) {
        self.watch.suspend();
    }

    fn sending(&mut self, sent: &Sent, path: &Path) {
        if sent.from_idle {
            self.watch.restart(path);
        }
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        self.watch.observe(probe);
        probe.state("mode", if self.slow_rounds == 0 { "Fast" } else { "Slow" });
        probe.see("queued", f64::from(self.queued), "packets");
        probe.see("reno_window", f64::from(self.reno_window), "packets");
        probe.see("slow_rounds", f64::from(self.slow_rounds), "rounds");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    const BASE_US: u64 = 100_000;
    /// An RTT with a queue of 1000 * (1 - 100/110) = 91 packets, above `alpha`, and with a delay below the limit.
    const LONG_US: u64 = 110_000;
    /// An RTT slightly more than an eighth above the base RTT: slow mode with any queue.
    const SLOW_US: u64 = 113_000;

    /// A flow with `cwnd` packets in congestion avoidance, in fast mode, with a known base RTT.
    fn steady(cwnd: u32) -> (Yeah, Drive) {
        let (mut yeah, mut drive) = (Yeah::new(YeahParams::default(), 0), Drive::new());
        yeah.set_cwnd(cwnd);
        yeah.window.ssthresh = 20;
        drive.round(&mut yeah, BASE_US);
        yeah.set_cwnd(cwnd);
        (yeah, drive)
    }

    #[test]
    fn a_thousand_packets_without_a_queue_grow_by_ten_per_round() {
        let (mut yeah, mut drive) = steady(1000);
        drive.round(&mut yeah, BASE_US);
        assert_eq!(yeah.window.cwnd, 1010);
    }

    #[test]
    fn decongestion_takes_the_queue_out_once_per_round() {
        let (mut yeah, mut drive) = steady(1000);
        drive.round(&mut yeah, LONG_US); // its first ACK ends the preceding round
        let before = yeah.window.cwnd;
        drive.ack(&mut yeah, before, 1, LONG_US); // ends the round with the long RTT
        assert_eq!(yeah.window.cwnd, before - before / 11);
        assert_eq!(yeah.window.ssthresh, yeah.window.cwnd);
        drive.ack(&mut yeah, before, 1, LONG_US);
        assert_eq!(yeah.window.cwnd, before - before / 11);
    }

    #[test]
    fn decongestion_leaves_half_the_window() {
        let (mut yeah, _) = steady(1000);
        yeah.queued = 900;
        yeah.decongest();
        assert_eq!(yeah.window.cwnd, 500);
    }

    #[test]
    fn decongestion_leaves_a_competing_reno_flows_window() {
        let (mut yeah, _) = steady(1000);
        (yeah.queued, yeah.reno_window) = (400, 700);
        yeah.decongest();
        assert_eq!(yeah.window.cwnd, 700);
    }

    #[test]
    fn a_loss_without_a_queue_costs_an_eighth() {
        let (mut yeah, mut drive) = steady(1000);
        assert_eq!(drive.lose(&mut yeah), 875);
    }

    #[test]
    fn a_loss_after_sixteen_slow_rounds_costs_half() {
        let (mut yeah, mut drive) = steady(200);
        drive.rounds(&mut yeah, 18, SLOW_US);
        assert!(yeah.slow_rounds >= 16);
        let cwnd = yeah.window.cwnd;
        assert_eq!(drive.lose(&mut yeah), cwnd - cwnd / 2);
    }

    #[test]
    fn fifty_fast_rounds_forget_the_competitor() {
        let (mut yeah, mut drive) = steady(200);
        drive.rounds(&mut yeah, 2, SLOW_US);
        assert!(yeah.reno_window > MIN_CWND);
        drive.rounds(&mut yeah, 53, BASE_US);
        assert_eq!(yeah.reno_window, MIN_CWND);
    }
}
