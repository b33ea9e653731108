//! # Compound
//!
//! ## Idea
//! The window is the sum of two windows: Reno's window and a delay window. The delay window grows fast while
//! there is no queue and shrinks as soon as there is a queue. On a busy path, Compound is hardly more aggressive
//! than Reno.
//!
//! ## Source and revision
//! draft-sridharan-tcpm-ctcp-02 (2008); Tan, Song, Zhang and Sridharan, "A Compound TCP approach for high-speed and long
//! distance networks", INFOCOM 2006.
//!
//! ## Signals
//! Loss, classic ECN marks, and the smallest RTT of each round, compared with the smallest RTT ever measured.
//!
//! ## State diagram
//! slow start → (cwnd ≥ ssthresh) → Reno's growth. Once per round the delay window rises by win^¾/8 - 1 while the
//! flow has fewer than gamma packets queued, and otherwise falls by the number of queued packets. → (congestion) →
//! both windows halve. A timeout sets the delay window to zero and resets the base RTT and gamma.
//!
//! ## Deviations from the source
//! The exponent is fixed at ¾ (two square roots, which give the same result on every machine). At each loss, gamma is
//! updated from ¾ of the queue that Reno's window alone would have had. The factor by which a loss reduces the window
//! differs between implementations (1/2, 1/4, 0.8) and is a parameter. Linux has no Compound module. An old port for
//! Linux (2006 to 2008) keeps the delay window across losses; this implementation does not.
//!
//! ## Validated against
//! Values computed by hand from the law, as unit tests; there is no reference implementation to measure.

use crate::delay::RttWatch;
use crate::registry::Algorithm;
use crate::{Ack, Congestion, Path, Probe, Sent, Undo, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of Compound.
    pub struct CompoundParams {
        /// Scale of the delay window's growth.
        alpha: f64 = 0.125, "", 0.001..=10.0;
        /// Decrease on congestion, as a share of the window.
        beta: f64 = 0.5, "", 0.05..=0.9;
        /// Packets by which the delay window shrinks per packet queued.
        zeta: f64 = 1.0, "", 0.0..=10.0;
        /// Number of queued packets from which the delay window shrinks: initial and largest value.
        gamma: f64 = 30.0, "packets", 1.0..=10_000.0;
        /// Smallest value of gamma after losses.
        gamma_low: f64 = 5.0, "packets", 1.0..=10_000.0;
        /// Whether losses adapt gamma to the queue that Reno's window alone would have.
        tune_gamma: bool = true, "";
        /// Weight of one loss in the average that gamma follows.
        lambda: f64 = 0.5, "", 0.0..=1.0;
        /// Smallest window at which the delay window is used.
        low_window: u32 = 41, "packets", 2..=10_000;
    }
}

/// A sender with a loss window and a delay window.
pub struct Compound {
    params: CompoundParams,
    /// Sum of Reno's window and the delay window.
    window: Window,
    delay_window: f64,
    prior_delay_window: f64,
    gamma: f64,
    /// Queue that Reno's window alone would have had in the last round, packets.
    reno_queue: f64,
    watch: RttWatch,
}

impl Algorithm for Compound {
    type Params = CompoundParams;
    const TITLE: &'static str = "Compound TCP (a loss window and a delay window)";
    const SOURCE: &'static str = "draft-sridharan-tcpm-ctcp-02";

    fn new(params: CompoundParams, _seed: u64) -> Compound {
        Compound {
            gamma: params.gamma,
            params,
            window: Window::default(),
            delay_window: 0.0,
            prior_delay_window: 0.0,
            reno_queue: 0.0,
            watch: RttWatch::default(),
        }
    }
}

impl Compound {
    /// Reno's part of the window, packets.
    fn loss_window(&self) -> u32 {
        self.window.cwnd.saturating_sub(self.delay_window as u32)
    }

    /// Update the delay window once per round: grow on an empty path, shrink by the queue.
    fn judge_round(&mut self) {
        let loss_window = self.loss_window();
        let win = f64::from(self.window.cwnd);
        let queued_share = 1.0 - f64::from(self.watch.base_us) / f64::from(self.watch.min_us);
        let queue = win * queued_share;
        self.reno_queue = f64::from(loss_window) * queued_share;
        let step = if queue < self.gamma { self.growth(win) } else { -self.params.zeta * queue };
        self.delay_window = (self.delay_window + step).max(0.0);
        self.window.cwnd = loss_window + self.delay_window as u32;
    }

    /// Growth of the delay window in a round without a queue, packets.
    fn growth(&self, win: f64) -> f64 {
        (self.params.alpha * (win * win.sqrt()).sqrt() - 1.0).max(0.0)
    }

    fn adapt_gamma(&mut self) {
        if self.params.tune_gamma {
            let lambda = self.params.lambda;
            let mean = (1.0 - lambda) * self.gamma + lambda * 0.75 * self.reno_queue;
            self.gamma = mean.max(self.params.gamma_low).min(self.params.gamma);
        }
    }
}

impl WindowAlgorithm for Compound {
    has_window!();

    fn measure(&mut self, ack: &Ack, path: &Path) {
        self.watch.digest(ack, path);
    }

    fn grow(&mut self, ack: &Ack, path: &Path) {
        let growing_slowly = !self.window.in_slow_start();
        self.window.reno(ack.acked);
        if self.watch.round_is_over(ack, path) {
            let large = self.window.cwnd >= self.params.low_window;
            if growing_slowly && large && self.watch.enabled() && self.watch.knows() {
                self.judge_round();
            }
            self.watch.forget_round();
        }
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.watch.suspend();
        self.adapt_gamma();
        self.prior_delay_window = self.delay_window;
        let kept = f64::from(self.window.cwnd) * (1.0 - self.params.beta);
        self.delay_window = (kept - f64::from(self.loss_window()) / 2.0).max(0.0);
        kept as u32
    }

    fn timed_out(&mut self, path: &Path) {
        self.watch.restart(path); // the path may have changed
        self.watch.suspend();
        self.gamma = self.params.gamma;
        self.delay_window = 0.0;
    }

    fn undone(&mut self, undo: &Undo, _path: &Path) {
        self.delay_window = self.prior_delay_window;
        self.window.undo(undo);
    }

    fn sending(&mut self, sent: &Sent, _path: &Path) {
        if sent.from_idle {
            self.delay_window = 0.0; // an idle time does not reset the base RTT
            self.watch.forget_round();
        }
    }

    fn restarted(&mut self, cwnd: u32) {
        self.delay_window = 0.0;
        self.window.restart(cwnd);
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        self.watch.observe(probe);
        probe.see("loss_window", f64::from(self.loss_window()), "packets");
        probe.see("delay_window", self.delay_window, "packets");
        probe.see("gamma", self.gamma, "packets");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    const BASE_US: u64 = 100_000;

    /// A flow in congestion avoidance with a known base RTT; `delay_window` is part of `cwnd`.
    fn steady(cwnd: u32, delay_window: f64) -> (Compound, Drive) {
        let (mut compound, mut drive) = (Compound::new(CompoundParams::default(), 0), Drive::new());
        compound.window.ssthresh = 2;
        compound.set_cwnd(10);
        drive.rounds(&mut compound, 2, BASE_US);
        compound.set_cwnd(cwnd);
        compound.delay_window = delay_window;
        (compound, drive)
    }

    /// The delay window after a round with this RTT.
    fn after_round(cwnd: u32, delay_window: f64, rtt_us: u32) -> f64 {
        let (mut compound, _) = steady(cwnd, delay_window);
        (compound.watch.base_us, compound.watch.min_us) = (BASE_US as u32, rtt_us);
        compound.judge_round();
        compound.delay_window
    }

    #[test]
    fn an_empty_path_adds_21_packets_per_round_to_a_thousand() {
        let gained = after_round(1_000, 100.0, 100_000) - 100.0;
        assert!((gained - 21.2).abs() < 0.1, "{gained}"); // 1000^0.75 / 8 - 1
    }

    #[test]
    fn thirty_packets_in_the_queue_end_the_growth() {
        assert!(after_round(1_000, 100.0, 103_000) > 100.0); // 29.1 packets queued
        assert!(after_round(1_000, 100.0, 103_200) < 100.0); // 31.0 packets queued
    }

    #[test]
    fn a_queue_takes_the_delay_window_back_but_not_renos() {
        let (mut compound, _) = steady(1_000, 100.0);
        (compound.watch.base_us, compound.watch.min_us) = (100_000, 200_000);
        compound.judge_round();
        assert_eq!((compound.delay_window, compound.window.cwnd), (0.0, 900));
    }

    #[test]
    fn a_loss_halves_both_windows() {
        let (mut compound, mut drive) = steady(1_000, 400.0);
        assert_eq!(drive.lose(&mut compound), 500);
        assert_eq!((compound.delay_window, compound.loss_window()), (200.0, 300));
    }

    #[test]
    fn a_timeout_ends_the_delay_window_and_forgets_gamma() {
        let (mut compound, mut drive) = steady(1_000, 400.0);
        drive.lose(&mut compound);
        drive.time_out(&mut compound);
        assert_eq!((compound.delay_window, compound.gamma), (0.0, 30.0));
    }

    #[test]
    fn undo_restores_the_delay_window() {
        let (mut compound, drive) = steady(1_000, 400.0);
        compound.on_congestion(Congestion::Loss, &drive.path(1_000));
        compound.on_undo(&Undo { prior_cwnd: 1_000, prior_ssthresh: 750 }, &drive.path(1_000));
        assert_eq!((compound.delay_window, compound.window.cwnd), (400.0, 1_000));
    }

    #[test]
    fn below_41_packets_it_is_reno() {
        let (mut compound, mut drive) = steady(30, 0.0);
        drive.rounds(&mut compound, 3, BASE_US);
        assert_eq!((compound.delay_window, compound.window.cwnd), (0.0, 33));
    }

    #[test]
    fn gamma_follows_what_reno_would_have_queued() {
        let (mut compound, mut drive) = steady(1_000, 0.0);
        compound.reno_queue = 0.0;
        drive.lose(&mut compound);
        assert_eq!(compound.gamma, 15.0);
        (0..10).for_each(|_| {
            drive.lose(&mut compound);
        });
        assert_eq!(compound.gamma, 5.0);
    }
}
