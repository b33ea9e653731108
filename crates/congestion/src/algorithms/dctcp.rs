//! # DCTCP
//!
//! ## Idea
//! Switches mark packets that arrive at a queue longer than a small threshold. The window is reduced in proportion to
//! the share of marked packets, averaged over about sixteen round trips, and grows as in Reno. Queues stay short and
//! the link stays busy.
//!
//! ## Source and revision
//! Behaviour and fixed-point arithmetic of Linux 6.18 `net/ipv4/tcp_dctcp.c`; RFC 8257.
//!
//! ## Signals
//! Marks and loss. The receiver sends an ACK immediately when packets change from marked to unmarked or back (RFC 8257
//! section 3.2).
//!
//! ## State diagram
//! The diagram of Reno: slow start → (a mark, at most one reduction per round trip) → ssthresh = cwnd (1 - alpha / 2)
//! → congestion avoidance. A loss halves cwnd. Once per round trip alpha ← alpha (1 - g) + g F, where F is the share
//! of packets marked in that round trip.
//!
//! ## Deviations from the source
//! None known. As in Linux, a loss that a tail loss probe has repaired reduces the window by alpha / 2, not by half.
//! A loss during a reduction for marks halves the already reduced window. Without ECN, DCTCP behaves like Reno.
//!
//! ## Validated against
//! Linux 7.2 in virtual time, without ECN (`tests/differential`) and with CoDel marking at 1 ms and 5 ms; utilisation
//! and queue at the threshold of the DCTCP paper (`tests/theory/test_ecn.py`).

use crate::registry::Algorithm;
use crate::{Ack, CaState, Congestion, EcnMode, Path, Probe, Traits, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of DCTCP, with the names of the Linux module.
    pub struct DctcpParams {
        /// Gain of the average as a power of two: g = 1/2^shift_g.
        shift_g: u32 = 4, "", 0..=10;
        /// Initial alpha; 1024 is the value with all packets marked.
        alpha_on_init: u32 = 1024, "1/1024", 0..=1024;
    }
}

/// Fixed-point value of 1 in alpha: all packets are marked.
const ALPHA_ONE: u32 = 1 << ALPHA_BITS;
const ALPHA_BITS: u32 = 10;

/// A sender that reduces its window in proportion to the share of marked packets.
pub struct Dctcp {
    params: DctcpParams,
    window: Window,
    /// Average share of packets marked, 1/1024.
    alpha: u32,
    /// Packet that ends the round trip over which marks are counted.
    round_end: u64,
    /// `Path::delivered` when the present round trip began.
    delivered: u64,
    /// `Path::marked` when the present round trip began.
    marked: u64,
    state: CaState,
}

impl Algorithm for Dctcp {
    type Params = DctcpParams;
    const TITLE: &'static str = "DCTCP (reduction in proportion to marks)";
    const SOURCE: &'static str = "RFC 8257; Linux net/ipv4/tcp_dctcp.c";

    fn new(params: DctcpParams, _seed: u64) -> Dctcp {
        Dctcp {
            alpha: params.alpha_on_init,
            params,
            window: Window::default(),
            round_end: 0,
            delivered: 0,
            marked: 0,
            state: CaState::Open,
        }
    }
}

impl Dctcp {
    fn start_round(&mut self, path: &Path) {
        self.round_end = path.next;
        self.delivered = path.delivered;
        self.marked = path.marked;
    }

    /// Update alpha with the share of marked packets, once per round trip.
    fn update_alpha(&mut self, path: &Path) {
        let una = path.next - u64::from(path.packets_out);
        if una < self.round_end {
            return;
        }
        let shift = self.params.shift_g;
        let decay = self.alpha >> shift;
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        let marked = (path.marked - self.marked) << (ALPHA_BITS - shift);
        let share = marked / (path.delivered - self.delivered).max(1);
        self.alpha = (u64::from(self.alpha) + share).min(u64::from(ALPHA_ONE)) as u32;
        self.start_round(path);
    }

    fn half(&self) -> u32 {
        self.window.cwnd / 2
    }
}

impl WindowAlgorithm for Dctcp {
    has_window!();

    fn established(&mut self, path: &Path) {
        self.start_round(path);
    }

    fn measure(&mut self, _ack: &Ack, path: &Path) {
        if path.ecn {
            self.update_alpha(path);
            if (self.state, path.state) == (CaState::Cwr, CaState::Recovery) {
                self.window.ssthresh = self.half().max(2);
            }
        }
        self.state = path.state;
    }

    /// Linux `dctcp_state`.
    fn lost_in_reduction(&mut self, path: &Path) {
        if path.ecn {
            self.window.ssthresh = self.half().max(2);
            self.state = CaState::Recovery; // `measure` must not do it again
        }
    }

    fn reduced(&mut self, congestion: Congestion, path: &Path) -> u32 {
        let cwnd = self.window.cwnd;
        if !path.ecn || matches!(congestion, Congestion::Loss | Congestion::Timeout { .. }) {
            return self.half();
        }
        self.update_alpha(path);
        let cut = (u64::from(cwnd) * u64::from(self.alpha)) >> (ALPHA_BITS + 1);
        cwnd - cut as u32
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.see("alpha", f64::from(self.alpha) / f64::from(ALPHA_ONE), "");
    }

    fn needs(&self) -> Traits {
        Traits { ecn: EcnMode::EveryMark, ..Traits::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::ideal;
    use units::Time;

    /// DCTCP with a window of 100 packets. The test marks some packets of each round trip.
    struct Rounds {
        dctcp: Dctcp,
        path: Path,
    }

    impl Rounds {
        fn new() -> Rounds {
            let path = Path { packets_out: 100, next: 101, delivered: 1, ..ideal::path(Time::ZERO) };
            let mut dctcp = Dctcp::new(DctcpParams::default(), 1);
            dctcp.window.cwnd = 100;
            dctcp.established(&path);
            Rounds { dctcp, path }
        }

        fn alpha_after(&mut self, rounds: u32, marked: u64) -> f64 {
            for _ in 0..rounds {
                self.path.next += 100;
                self.path.delivered += 100;
                self.path.marked += marked;
                self.dctcp.measure(&ideal::ack(100), &self.path);
            }
            f64::from(self.dctcp.alpha) / 1024.0
        }
    }

    #[test]
    fn alpha_goes_to_a_constant_share_with_a_time_constant_of_sixteen_rounds() {
        let mut rounds = Rounds::new();
        // Alpha closes 1/16 of its distance to F per round, so a fraction e^-1 of the distance is left after 15.5
        // rounds.
        let after_16 = rounds.alpha_after(16, 25);
        assert!((after_16 - (0.25 + 0.75 * (15.0f64 / 16.0).powi(16))).abs() < 0.02, "{after_16}");
        let settled = rounds.alpha_after(200, 25);
        assert!((settled - 0.25).abs() < 0.02, "{settled}");
    }

    #[test]
    fn alpha_is_updated_once_per_round_trip() {
        let mut rounds = Rounds::new();
        rounds.alpha_after(1, 0);
        let alpha = rounds.dctcp.alpha;
        for _ in 0..99 {
            rounds.path.delivered += 1;
            rounds.path.next += 1;
            rounds.dctcp.measure(&ideal::ack(1), &rounds.path);
        }
        assert_eq!(rounds.dctcp.alpha, alpha);
        rounds.alpha_after(1, 0);
        assert_eq!(rounds.dctcp.alpha, alpha - alpha / 16);
    }

    #[test]
    fn alpha_without_marks_goes_to_zero_in_the_end() {
        assert_eq!(Rounds::new().alpha_after(100, 0), 0.0);
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha_and_a_loss_by_half() {
        let mut rounds = Rounds::new();
        rounds.alpha_after(200, 50);
        let alpha = f64::from(rounds.dctcp.alpha) / 1024.0;
        let cut = rounds.dctcp.reduced(Congestion::Ecn, &rounds.path);
        assert_eq!(cut, 100 - (100.0 * alpha / 2.0) as u32);
        assert_eq!(rounds.dctcp.reduced(Congestion::Loss, &rounds.path), 50);
    }

    #[test]
    fn when_everything_is_marked_every_reduction_halves() {
        let mut rounds = Rounds::new();
        rounds.alpha_after(5, 100);
        assert_eq!(rounds.dctcp.reduced(Congestion::Ecn, &rounds.path), 50);
    }

    #[test]
    fn marks_of_the_round_that_ends_with_the_first_echo_count() {
        let mut rounds = Rounds::new();
        rounds.alpha_after(40, 0);
        let before = rounds.dctcp.alpha;
        rounds.path.next += 100;
        rounds.path.delivered += 100;
        rounds.path.marked += 100;
        rounds.dctcp.reduced(Congestion::Ecn, &rounds.path);
        assert!(rounds.dctcp.alpha > before);
    }

    #[test]
    fn without_ecn_every_reduction_halves() {
        let mut rounds = Rounds::new();
        rounds.path.ecn = false;
        for congestion in [Congestion::Loss, Congestion::TailLoss { app_limited: false }] {
            assert_eq!(rounds.dctcp.reduced(congestion, &rounds.path), 50);
        }
    }

    #[test]
    fn a_loss_during_a_reduction_by_marks_halves_what_is_left() {
        let mut rounds = Rounds::new();
        rounds.path.state = CaState::Cwr;
        rounds.dctcp.measure(&ideal::ack(1), &rounds.path);
        rounds.dctcp.window.cwnd = 80;
        rounds.path.state = CaState::Recovery;
        rounds.dctcp.measure(&ideal::ack(1), &rounds.path);
        assert_eq!(rounds.dctcp.window.ssthresh, 40);
    }

    #[test]
    fn a_loss_that_a_timer_finds_during_a_reduction_by_marks_halves_at_once_and_once() {
        let mut rounds = Rounds::new();
        rounds.path.state = CaState::Cwr;
        rounds.dctcp.measure(&ideal::ack(1), &rounds.path);
        rounds.dctcp.window.cwnd = 80;
        rounds.dctcp.lost_in_reduction(&rounds.path);
        assert_eq!(rounds.dctcp.window.ssthresh, 40);
        rounds.dctcp.window.cwnd = 60;
        rounds.path.state = CaState::Recovery;
        rounds.dctcp.measure(&ideal::ack(1), &rounds.path);
        assert_eq!(rounds.dctcp.window.ssthresh, 40);
    }
}
