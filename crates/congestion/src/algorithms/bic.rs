//! # BIC
//!
//! ## Idea
//! Binary search for the window that the path can carry. After a loss, the window approaches the window of that loss
//! in smaller and smaller steps. If no loss occurs at that window, the window grows beyond it in larger and larger
//! steps.
//!
//! ## Source and revision
//! Xu, Harfoush and Rhee, "Binary increase congestion control for fast long-distance networks", INFOCOM 2004;
//! behaviour of Linux 7.2 `net/ipv4/tcp_bic.c`.
//!
//! ## Signals
//! Loss, classic ECN marks. RTT is not used.
//!
//! ## State diagram
//! slow start → (cwnd ≥ ssthresh) → additive increase → binary search → plateau at the last maximum → maximum probing
//! → (congestion) → ssthresh = 0.8 cwnd.
//!
//! ## Deviations from the source
//! None known. Details of Linux that apply here, too:
//!
//! - Growth is multiplied by the number of packets per ACK, although growth already counts packets. The number of
//!   packets per ACK is assumed to be two until it is measured.
//! - A timeout resets the maximum and the measured number of packets per ACK.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`).

use crate::registry::Algorithm;
use crate::{Ack, CaState, Congestion, Path, Probe, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of BIC.
    pub struct BicParams {
        /// Factor of the window on congestion; 819/1024 in Linux.
        beta: f64 = 819.0 / 1024.0, "", 0.1..=0.95;
        /// Largest growth of the window per round.
        max_increment: u32 = 16, "packets", 1..=1_000;
        /// Largest window at which BIC grows like Reno.
        low_window: u32 = 14, "packets", 2..=1_000;
        /// Rounds in which the window grows by the last four packets before the maximum, and rounds in which it grows
        /// by the first four packets beyond the maximum.
        smooth_part: u32 = 20, "rounds", 1..=1_000;
        /// Whether a loss before the window has reached the last maximum lowers the target below the window of that
        /// loss, so that new flows get bandwidth sooner.
        fast_convergence: bool = true, "";
    }
}

/// Divisor of the distance to the maximum: each step of the search covers a quarter of the distance.
const SEARCH: u32 = 4;
/// Shortest time between two computations of the growth per ACK while the window is constant: 1/32 s.
const SLOPE_HOLD_MS: u64 = 31;
/// Largest number of acknowledged packets per packet of growth while no maximum is known: the window grows by at
/// least 5 % per round.
const SLOWEST_UNKNOWN: u32 = 20;
/// Assumed packets per ACK before the first ACK, in 1/16.
const INITIAL_RATIO_16: u32 = 2 * 16;

/// A sender that finds its window by binary search.
pub struct Bic {
    params: BicParams,
    window: Window,
    beta_1024: u64,
    /// Packets to be acknowledged per packet of growth.
    per_increment: u32,
    last_max: u32,
    last_cwnd: u32,
    last_update_ms: u64,
    /// Measured packets per ACK, in 1/16.
    ratio_16: u32,
}

impl Algorithm for Bic {
    type Params = BicParams;
    const TITLE: &'static str = "BIC (binary increase)";
    const SOURCE: &'static str = "Xu, Harfoush and Rhee 2004; Linux net/ipv4/tcp_bic.c";

    fn new(params: BicParams, _seed: u64) -> Bic {
        Bic {
            beta_1024: (params.beta * 1024.0).round() as u64,
            params,
            window: Window::default(),
            per_increment: 0,
            last_max: 0,
            last_cwnd: 0,
            last_update_ms: 0,
            ratio_16: INITIAL_RATIO_16,
        }
    }
}

impl Bic {
    fn update_slope(&mut self, now_ms: u64) {
        let cwnd = self.window.cwnd;
        if cwnd == self.last_cwnd && now_ms - self.last_update_ms <= SLOPE_HOLD_MS {
            return;
        }
        self.last_cwnd = cwnd;
        self.last_update_ms = now_ms;
        if cwnd <= self.params.low_window {
            self.per_increment = cwnd;
            return;
        }
        let mut slope = if cwnd < self.last_max { self.search(cwnd) } else { self.probe_maximum(cwnd) };
        if self.last_max == 0 {
            slope = slope.min(SLOWEST_UNKNOWN);
        }
        self.per_increment = ((u64::from(slope) << 4) / u64::from(self.ratio_16.max(1))).max(1) as u32;
    }

    /// Acknowledged packets per packet of growth below the last maximum.
    fn search(&self, cwnd: u32) -> u32 {
        let step = (self.last_max - cwnd) / SEARCH;
        if step > self.params.max_increment {
            cwnd / self.params.max_increment
        } else if step <= 1 {
            self.smooth(cwnd)
        } else {
            cwnd / step
        }
    }

    /// Acknowledged packets per packet of growth above the last maximum. Growth is slow at first.
    fn probe_maximum(&self, cwnd: u32) -> u32 {
        let past = cwnd - self.last_max;
        if past < SEARCH {
            self.smooth(cwnd)
        } else if past < self.params.max_increment * (SEARCH - 1) {
            cwnd.saturating_mul(SEARCH - 1) / past
        } else {
            cwnd / self.params.max_increment
        }
    }

    fn smooth(&self, cwnd: u32) -> u32 {
        cwnd.saturating_mul(self.params.smooth_part) / SEARCH
    }
}

impl WindowAlgorithm for Bic {
    has_window!();

    fn measure(&mut self, ack: &Ack, _path: &Path) {
        if ack.prior_state == CaState::Open {
            self.ratio_16 = (self.ratio_16 - (self.ratio_16 >> 4)).saturating_add(ack.cumulative);
        }
    }

    fn grow(&mut self, ack: &Ack, path: &Path) {
        let left = self.window.slow_start_first(ack.acked);
        if left > 0 {
            self.update_slope(path.now.as_millis());
            self.window.additive_increase(self.per_increment, left);
        }
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        let cwnd = u64::from(self.window.cwnd);
        let early = self.params.fast_convergence && self.window.cwnd < self.last_max;
        self.last_max = if early { cwnd * (1024 + self.beta_1024) / 2048 } else { cwnd } as u32;
        if self.window.cwnd <= self.params.low_window {
            self.window.cwnd / 2
        } else {
            (cwnd * self.beta_1024 / 1024) as u32
        }
    }

    fn timed_out(&mut self, _path: &Path) {
        self.per_increment = 0;
        self.last_max = 0;
        self.last_cwnd = 0;
        self.last_update_ms = 0;
        self.ratio_16 = INITIAL_RATIO_16;
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.see("w_max", f64::from(self.last_max), "packets");
        probe.see("per_increment", f64::from(self.per_increment), "packets");
        probe.see("packets_per_ack", f64::from(self.ratio_16) / 16.0, "packets");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    /// A flow in congestion avoidance, with an ACK for every packet.
    fn steady(cwnd: u32, last_max: u32) -> (Bic, Drive) {
        let mut bic = Bic::new(BicParams::default(), 0);
        bic.set_cwnd(cwnd);
        (bic.window.ssthresh, bic.last_max, bic.ratio_16) = (2, last_max, 16);
        (bic, Drive::new())
    }

    fn growth(cwnd: u32, last_max: u32) -> u32 {
        let (mut bic, mut drive) = steady(cwnd, last_max);
        drive.round(&mut bic, 40_000);
        bic.window.cwnd - cwnd
    }

    #[test]
    fn growth_is_16_packets_per_round_at_most() {
        assert_eq!(growth(400, 1_000), 16);
        assert_eq!(growth(400, 200), 16);
    }

    #[test]
    fn the_search_goes_a_quarter_of_the_way_per_round() {
        let first = growth(400, 440);
        assert!((8..=10).contains(&first), "{first}"); // a quarter of 40 at first, then less
    }

    #[test]
    fn growth_stands_nearly_still_around_the_maximum() {
        let (mut bic, mut drive) = steady(398, 400);
        drive.rounds(&mut bic, 5, 40_000);
        assert_eq!(bic.window.cwnd, 399); // one packet per five rounds
    }

    #[test]
    fn probing_past_the_maximum_grows_faster_and_faster() {
        let (slow, fast) = (growth(405, 400), growth(440, 400));
        assert!(slow < fast && fast < 16, "{slow} {fast}");
    }

    #[test]
    fn delayed_acks_double_growth() {
        let (mut bic, mut drive) = steady(400, 1_000);
        bic.ratio_16 = 32;
        drive.ack(&mut bic, 400, 2, 40_000);
        assert_eq!(bic.per_increment, 400 / 16 / 2);
    }

    #[test]
    fn small_windows_are_renos() {
        let (mut bic, mut drive) = steady(12, 100);
        drive.round(&mut bic, 40_000);
        assert_eq!(bic.window.cwnd, 13);
        assert_eq!(drive.lose(&mut bic), 6);
    }

    #[test]
    fn a_loss_costs_a_fifth_and_an_early_one_lowers_the_aim() {
        let (mut bic, mut drive) = steady(1_000, 0);
        assert_eq!(drive.lose(&mut bic), 799); // 819/1024
        assert_eq!(bic.last_max, 1_000);
        drive.lose(&mut bic);
        assert_eq!(bic.last_max, 799 * (1024 + 819) / 2048);
    }

    #[test]
    fn a_timeout_forgets_the_maximum() {
        let (mut bic, mut drive) = steady(1_000, 1_500);
        drive.time_out(&mut bic);
        assert_eq!((bic.last_max, bic.ratio_16), (0, 32));
    }
}
