//! # Scalable
//!
//! ## Idea
//! Grow in proportion to the window, and reduce by an eighth. The number of round trips in which the window recovers
//! from a loss does not depend on the size of the window.
//!
//! ## Source and revision
//! Kelly, "Scalable TCP", CCR 33(2), 2003; behaviour of Linux 7.2 `net/ipv4/tcp_scalable.c`.
//!
//! ## Signals
//! Loss, classic ECN marks. RTT is not used.
//!
//! ## State diagram
//! slow start → (cwnd ≥ ssthresh) → growth by one packet per min(cwnd, 100) acknowledged packets → (congestion) →
//! ssthresh = 7/8 cwnd.
//!
//! ## Deviations from the source
//! None known. Linux adds one packet per 100 acknowledged packets, and the paper 0.01 packets per ACK. With delayed
//! ACKs, Linux grows twice as fast as the paper.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`).

use crate::registry::Algorithm;
use crate::{Ack, Congestion, Path, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of Scalable.
    pub struct ScalableParams {
        /// Acknowledged packets per packet of growth; in smaller windows growth is Reno's.
        per_increment: u32 = 100, "packets", 2..=10_000;
        /// Decrease on congestion: the window divided by 2 to the power of this value.
        decrease_shift: u32 = 3, "", 1..=16;
    }
}

/// A sender with multiplicative increase and multiplicative decrease.
pub struct Scalable {
    params: ScalableParams,
    window: Window,
}

impl Algorithm for Scalable {
    type Params = ScalableParams;
    const TITLE: &'static str = "Scalable TCP (MIMD)";
    const SOURCE: &'static str = "Kelly 2003; Linux net/ipv4/tcp_scalable.c";

    fn new(params: ScalableParams, _seed: u64) -> Scalable {
        Scalable { params, window: Window::default() }
    }
}

impl WindowAlgorithm for Scalable {
    has_window!();

    fn grow(&mut self, ack: &Ack, _path: &Path) {
        let left = self.window.slow_start_first(ack.acked);
        if left > 0 {
            self.window.additive_increase(self.window.cwnd.min(self.params.per_increment), left);
        }
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.window.cwnd - (self.window.cwnd >> self.params.decrease_shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    fn steady(cwnd: u32) -> (Scalable, Drive) {
        let mut scalable = Scalable::new(ScalableParams::default(), 0);
        scalable.set_cwnd(cwnd);
        scalable.window.ssthresh = 2;
        (scalable, Drive::new())
    }

    #[test]
    fn growth_is_one_percent_per_round_above_100_packets() {
        let (mut scalable, mut drive) = steady(1_000);
        drive.round(&mut scalable, 40_000);
        assert_eq!(scalable.window.cwnd, 1_010);
    }

    #[test]
    fn growth_is_renos_below_100_packets() {
        let (mut scalable, mut drive) = steady(50);
        drive.round(&mut scalable, 40_000);
        assert_eq!(scalable.window.cwnd, 51);
    }

    #[test]
    fn recovery_takes_13_or_14_rounds_whatever_the_window() {
        for cwnd in [1_000, 4_000, 16_000] {
            let (mut scalable, mut drive) = steady(cwnd);
            drive.lose(&mut scalable);
            let rounds = (1..100).find(|_| {
                drive.round(&mut scalable, 40_000);
                scalable.window.cwnd >= cwnd
            });
            assert!(rounds.is_some_and(|n| (13..=14).contains(&n)), "{cwnd}: {rounds:?}"); // ln(8/7)/ln(1.01) = 13.4
        }
    }

    #[test]
    fn a_loss_costs_an_eighth() {
        let (mut scalable, mut drive) = steady(800);
        assert_eq!(drive.lose(&mut scalable), 700);
    }
}
