//! # Hybla
//!
//! ## Idea
//! The window on a path with a long RTT grows as fast as on a reference path with an RTT of 25 ms. Growth per
//! round is rho² packets, where rho is the RTT divided by the reference RTT.
//!
//! ## Source and revision
//! Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", Int. J. Satellite Communications
//! and Networking 22, 2004; behaviour of Linux 7.2 `net/ipv4/tcp_hybla.c`.
//!
//! ## Signals
//! Loss, classic ECN marks; the smallest smoothed RTT.
//!
//! ## State diagram
//! slow start by 2^rho - 1 packets per ACK → (cwnd ≥ ssthresh) → growth by rho² packets per round of ACKs →
//! (congestion) → ssthresh = cwnd / 2.
//!
//! ## Deviations from the source
//! None known. Details of Linux that apply here, too:
//!
//! - Growth counts ACKs, not packets.
//! - The initial window is rho packets, and one packet on paths with an RTT up to 50 ms.
//! - Growth is Reno's during loss recovery.
//! - The window is at most 65,535 packets.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`).

use crate::registry::Algorithm;
use crate::{Ack, CaState, Congestion, Path, Probe, Window, WindowAlgorithm};
use params::params;
use units::Duration;

params! {
    /// Parameters of Hybla.
    pub struct HyblaParams {
        /// RTT of the reference path.
        rtt0_ms: u32 = 25, "ms", 1..=10_000;
    }
}

const CWND_MAX: u32 = 65_535;
/// Units of growth per packet: growth is counted in 1/128 packets.
const FRACTIONS: u32 = 128;
/// Largest integer part of rho in slow start.
const RHO_MAX: u32 = 16;

/// A sender whose window grows as on a path with an RTT of 25 ms.
pub struct Hybla {
    params: HyblaParams,
    window: Window,
    /// RTT in eighths of the reference RTT.
    rho_8: u32,
    /// Growth per ACK in slow start, 1/128 packets.
    slow_start: u32,
    min_srtt: Duration,
    fractions: u32,
}

impl Algorithm for Hybla {
    type Params = HyblaParams;
    const TITLE: &'static str = "Hybla (growth independent of the RTT)";
    const SOURCE: &'static str = "Caini and Firrincieli 2004; Linux net/ipv4/tcp_hybla.c";

    fn new(params: HyblaParams, _seed: u64) -> Hybla {
        Hybla {
            params,
            window: Window::default(),
            rho_8: 8,
            slow_start: FRACTIONS,
            min_srtt: Duration::MAX,
            fractions: 0,
        }
    }
}

impl Hybla {
    /// Update rho, if the smoothed RTT is the smallest so far.
    fn learn(&mut self, path: &Path) {
        let Some(srtt) = path.srtt.filter(|&srtt| srtt < self.min_srtt) else { return };
        self.min_srtt = srtt;
        let rho_8 = srtt.as_micros() * 8 / (u64::from(self.params.rtt0_ms) * 1_000);
        self.rho_8 = rho_8.clamp(8, 8 * u64::from(CWND_MAX)) as u32;
        let eighths = (f64::from(FRACTIONS) * 2f64.powf(f64::from(self.rho_8 % 8) / 8.0)) as u32;
        self.slow_start = (1 << (self.rho_8 / 8).min(RHO_MAX)) * eighths - FRACTIONS; // 2^rho - 1
    }

    /// Growth per ACK in congestion avoidance: rho² / cwnd, in 1/128 packets.
    fn increment(&self) -> u32 {
        let square = u64::from(self.rho_8) * u64::from(self.rho_8) * 2;
        (square / u64::from(self.window.cwnd)).min(u64::from(u32::MAX / 2)) as u32
    }

    fn add(&mut self, increment: u32) {
        let total = self.fractions + increment;
        let packets = total / FRACTIONS;
        let whole = increment / FRACTIONS;
        self.fractions = total % FRACTIONS;
        self.window.cwnd = self.window.cwnd.saturating_add(packets);
        if packets > whole {
            self.window.credit = 0;
        }
    }
}

impl WindowAlgorithm for Hybla {
    has_window!();

    fn established(&mut self, path: &Path) {
        self.learn(path);
        self.window.set_cwnd(self.rho_8 / 8);
    }

    fn measure(&mut self, ack: &Ack, path: &Path) {
        if ack.may_grow {
            self.learn(path);
        }
    }

    fn grow(&mut self, ack: &Ack, path: &Path) {
        if path.state != CaState::Open {
            self.window.reno(ack.acked);
            return;
        }
        if self.window.in_slow_start() {
            self.add(self.slow_start);
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
        } else {
            let increment = self.increment();
            self.window.credit += u32::from(increment < FRACTIONS);
            self.add(increment);
            if increment == 0 && self.window.full_window_acked(0) {
                self.window.cwnd += 1;
            }
        }
        self.window.cwnd = self.window.cwnd.min(CWND_MAX);
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.window.cwnd / 2
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.see("rho", f64::from(self.rho_8) / 8.0, "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;
    use crate::test_support::path_at;

    /// A flow in congestion avoidance on a path with this RTT.
    fn steady(cwnd: u32, rtt_ms: u64) -> (Hybla, Drive) {
        let mut hybla = Hybla::new(HyblaParams::default(), 0);
        let path = Path { srtt: Some(Duration::from_millis(rtt_ms)), ..path_at(0) };
        hybla.on_established(&path);
        hybla.set_cwnd(cwnd);
        (hybla.window.ssthresh, hybla.min_srtt) = (2, Duration::ZERO); // keep rho constant
        (hybla, Drive::new())
    }

    #[test]
    fn at_25_ms_it_is_reno() {
        let (mut hybla, mut drive) = steady(64, 25);
        drive.round(&mut hybla, 25_000);
        assert_eq!((hybla.window.cwnd, hybla.slow_start), (65, FRACTIONS));
    }

    #[test]
    fn at_250_ms_the_window_grows_by_100_per_round() {
        let (hybla, _) = steady(400, 250);
        assert_eq!(hybla.increment() * 400, 100 * FRACTIONS); // rho² = 100
    }

    #[test]
    fn below_25_ms_rho_is_one() {
        assert_eq!(steady(10, 5).0.rho_8, 8);
    }

    #[test]
    fn slow_start_multiplies_by_two_to_the_rho() {
        let (mut hybla, mut drive) = steady(1, 100);
        hybla.window.ssthresh = u32::MAX;
        drive.ack(&mut hybla, 1, 1, 100_000);
        assert_eq!(hybla.window.cwnd, 16); // 1 + (2^4 - 1)
    }

    #[test]
    fn slow_start_stops_at_ssthresh() {
        let (mut hybla, mut drive) = steady(10, 200);
        hybla.window.ssthresh = 50;
        drive.ack(&mut hybla, 10, 1, 200_000);
        assert_eq!(hybla.window.cwnd, 50);
    }

    #[test]
    fn the_first_window_is_rho() {
        let mut hybla = Hybla::new(HyblaParams::default(), 0);
        let path = Path { srtt: Some(Duration::from_millis(100)), ..path_at(0) };
        hybla.on_established(&path);
        assert_eq!(hybla.control().cwnd, 4);
    }

    #[test]
    fn growth_is_renos_while_packets_are_missing() {
        let (mut hybla, _) = steady(10, 250);
        let path = Path { state: CaState::Disorder, ..path_at(0) };
        let ack = Ack { acked: 10, may_grow: true, ..Ack::default() };
        hybla.on_ack(&ack, &path);
        assert_eq!(hybla.window.cwnd, 11);
    }
}
