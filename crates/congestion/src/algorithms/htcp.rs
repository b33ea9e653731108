//! # H-TCP
//!
//! ## Idea
//! Growth depends on the time since the last congestion. The window grows as in Reno for the first second, then
//! faster and faster. The reduction leaves a window that just keeps the link busy.
//!
//! ## Source and revision
//! Leith and Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004, draft-leith-tcp-htcp-06;
//! behaviour of Linux 7.2 `net/ipv4/tcp_htcp.c`.
//!
//! ## Signals
//! Loss, classic ECN marks, elapsed time, smallest and largest RTT, packets acknowledged per second.
//!
//! ## State diagram
//! slow start → (cwnd ≥ ssthresh) → growth by alpha(time since congestion) per round → (congestion) → ssthresh = beta
//! cwnd. beta = min RTT / max RTT, between 0.5 and 0.8; beta = 0.5 if the throughput changed by more than a fifth.
//!
//! ## Deviations from the source
//! None known. Details of Linux that apply here, too:
//!
//! - Times are in whole milliseconds, and RTTs are rounded up.
//! - The window grows by one packet at a time, and alpha is recomputed only at these steps.
//! - The largest RTT rises by at most 20 ms per sample. At each congestion, the excess of the largest RTT over
//!   the smallest RTT falls by a twentieth.
//! - When slow start ends within an ACK, the remaining packets of the ACK do not count for growth.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`).

use crate::registry::Algorithm;
use crate::{Ack, CaState, Congestion, Path, Probe, Undo, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of H-TCP.
    pub struct HtcpParams {
        /// Whether growth is multiplied by the RTT in units of 100 ms.
        rtt_scaling: bool = true, "";
        /// Whether congestion halves the window if the throughput changed by more than a fifth since the preceding
        /// congestion.
        bandwidth_switch: bool = true, "";
    }
}

/// Fixed-point value of 1 in alpha and beta.
const ONE: u64 = 128;
const BETA_MIN: u64 = ONE / 2;
const BETA_MAX: u64 = 102;
/// Time after congestion in which growth is Reno's.
const LOW_SPEED_MS: u64 = 1_000;
/// Largest `min_rtt_ms` at which beta is always 0.5.
const SHORT_RTT_MS: u64 = 10;
/// Largest rise of the largest RTT per sample.
const RTT_STEP_MS: u64 = 20;
/// Round trips after congestion in which throughput is not averaged.
const FRESH_ROUNDS: u64 = 3;

/// Packets acknowledged per second, measured over at least a window and a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    packets: u64,
    since_ms: u64,
    average: u64,
    max: u64,
    /// `max` at the preceding congestion.
    old_max: u64,
}

impl Throughput {
    fn restart(&mut self, now_ms: u64) {
        self.packets = 0;
        self.since_ms = now_ms;
    }

    /// End a measurement. `fresh`: whether congestion was at most `FRESH_ROUNDS` round trips ago.
    fn take_sample(&mut self, now_ms: u64, fresh: bool) {
        let sample = self.packets * 1_000 / (now_ms - self.since_ms);
        if fresh {
            (self.average, self.max) = (sample, sample);
        } else {
            self.average = (3 * self.average + sample) / 4;
            self.max = self.max.max(self.average);
        }
        self.restart(now_ms);
    }

    /// Whether the maximum is within a fifth of its value at the preceding congestion.
    fn is_steady(&mut self) -> bool {
        let old = std::mem::replace(&mut self.old_max, self.max);
        (4 * old..=6 * old).contains(&(5 * self.max))
    }
}

/// State that an undo of the episode restores.
#[derive(Clone, Copy, Debug)]
struct Saved {
    congestion_ms: u64,
    max_rtt_ms: u64,
    old_max: u64,
}

/// A sender whose growth depends on the time since congestion.
pub struct Htcp {
    params: HtcpParams,
    window: Window,
    alpha: u64,
    beta: u64,
    /// Whether the reduction may be smaller than a half.
    adaptive: bool,
    min_rtt_ms: u64,
    max_rtt_ms: u64,
    /// When congestion last ended.
    congestion_ms: u64,
    throughput: Throughput,
    /// Acknowledged packets counted for the next step of growth.
    acked: u32,
    saved: Option<Saved>,
}

impl Algorithm for Htcp {
    type Params = HtcpParams;
    const TITLE: &'static str = "H-TCP (growth depends on the time since congestion)";
    const SOURCE: &'static str = "draft-leith-tcp-htcp-06; Linux net/ipv4/tcp_htcp.c";

    fn new(params: HtcpParams, _seed: u64) -> Htcp {
        Htcp {
            params,
            window: Window::default(),
            alpha: ONE,
            beta: BETA_MIN,
            adaptive: false,
            min_rtt_ms: 0,
            max_rtt_ms: 0,
            congestion_ms: 0,
            throughput: Throughput::default(),
            acked: 1,
            saved: None,
        }
    }
}

impl Htcp {
    fn measure_rtt(&mut self, rtt_ms: u64, state: CaState) {
        if self.min_rtt_ms > rtt_ms || self.min_rtt_ms == 0 {
            self.min_rtt_ms = rtt_ms;
        }
        if state == CaState::Open {
            self.max_rtt_ms = self.max_rtt_ms.max(self.min_rtt_ms);
            if rtt_ms <= self.max_rtt_ms + RTT_STEP_MS {
                self.max_rtt_ms = self.max_rtt_ms.max(rtt_ms);
            }
        }
    }

    fn measure_throughput(&mut self, acked: u32, now_ms: u64, state: CaState) {
        if !matches!(state, CaState::Open | CaState::Disorder) {
            self.throughput.restart(now_ms);
            return;
        }
        self.throughput.packets += u64::from(acked);
        let window = u64::from(self.window.cwnd).checked_sub((self.alpha / ONE).max(1));
        let a_window = window.is_some_and(|w| self.throughput.packets >= w);
        let a_round = self.min_rtt_ms > 0 && now_ms - self.throughput.since_ms >= self.min_rtt_ms;
        if a_window && a_round {
            let fresh = (now_ms - self.congestion_ms) / self.min_rtt_ms <= FRESH_ROUNDS;
            self.throughput.take_sample(now_ms, fresh);
        }
    }

    fn update_beta(&mut self) {
        if self.params.bandwidth_switch && !self.throughput.is_steady() {
            self.beta = BETA_MIN;
            self.adaptive = false;
        } else if self.adaptive && self.min_rtt_ms > SHORT_RTT_MS && self.max_rtt_ms > 0 {
            self.beta = (self.min_rtt_ms * ONE / self.max_rtt_ms).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.beta = BETA_MIN;
            self.adaptive = true;
        }
    }

    fn update_alpha(&mut self, now_ms: u64) {
        let mut factor = 1;
        let late = (now_ms - self.congestion_ms).saturating_sub(LOW_SPEED_MS);
        if late > 0 {
            factor += (10 * late + (late / 2) * (late / 2) / 1_000) / 1_000;
        }
        if self.params.rtt_scaling && self.min_rtt_ms > 0 {
            let scale_8 = (8_000 / (10 * self.min_rtt_ms)).clamp(4, 80); // 0.5 to 10
            factor = (factor * 8 / scale_8).max(1);
        }
        self.alpha = 2 * factor * (ONE - self.beta);
    }

    /// Begin an episode. Save the state that the episode changes, for an undo.
    fn save(&mut self, now_ms: u64) {
        self.saved = Some(Saved {
            congestion_ms: self.congestion_ms,
            max_rtt_ms: self.max_rtt_ms,
            old_max: self.throughput.old_max,
        });
        self.congestion_ms = now_ms;
    }
}

impl WindowAlgorithm for Htcp {
    has_window!();

    fn established(&mut self, path: &Path) {
        self.congestion_ms = path.now.as_millis();
    }

    fn measure(&mut self, ack: &Ack, path: &Path) {
        if ack.prior_state == CaState::Open {
            self.acked = ack.cumulative;
        }
        if let Some(rtt) = ack.rtt {
            self.measure_rtt(rtt.as_micros().div_ceil(1_000), ack.prior_state);
        }
        if self.params.bandwidth_switch {
            self.measure_throughput(ack.cumulative, path.now.as_millis(), ack.prior_state);
        }
    }

    fn grow(&mut self, ack: &Ack, path: &Path) {
        if self.window.in_slow_start() {
            self.window.slow_start(ack.acked);
            return;
        }
        if u64::from(self.window.credit) * self.alpha / ONE >= u64::from(self.window.cwnd) {
            self.window.cwnd += 1;
            self.window.credit = 0;
            self.update_alpha(path.now.as_millis());
        } else {
            self.window.credit = self.window.credit.saturating_add(self.acked);
        }
        self.acked = 1;
    }

    fn reduced(&mut self, congestion: Congestion, path: &Path) -> u32 {
        let now_ms = path.now.as_millis();
        self.update_beta();
        self.update_alpha(now_ms);
        if self.max_rtt_ms > self.min_rtt_ms {
            self.max_rtt_ms = self.min_rtt_ms + (self.max_rtt_ms - self.min_rtt_ms) * 95 / 100;
        }
        if !matches!(congestion, Congestion::Timeout { .. }) {
            self.save(now_ms);
        }
        (u64::from(self.window.cwnd) * self.beta / ONE) as u32
    }

    fn timed_out(&mut self, path: &Path) {
        self.save(path.now.as_millis());
    }

    fn undone(&mut self, undo: &Undo, _path: &Path) {
        if let Some(saved) = self.saved.take() {
            self.congestion_ms = saved.congestion_ms;
            self.max_rtt_ms = saved.max_rtt_ms;
            self.throughput.old_max = saved.old_max;
        }
        self.window.undo(undo);
    }

    fn recovered(&mut self, path: &Path) {
        if self.saved.take().is_some() {
            self.congestion_ms = path.now.as_millis();
        }
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.see("alpha", self.alpha as f64 / ONE as f64, "packets/round");
        probe.see("beta", self.beta as f64 / ONE as f64, "");
        probe.see("min_rtt", self.min_rtt_ms as f64 / 1e3, "s");
        probe.see("max_rtt", self.max_rtt_ms as f64 / 1e3, "s");
        probe.see("max_throughput", self.throughput.max as f64, "packets/s");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    fn htcp(min_rtt_ms: u64, max_rtt_ms: u64) -> Htcp {
        Htcp { min_rtt_ms, max_rtt_ms, ..Htcp::new(HtcpParams::default(), 0) }
    }

    /// The growth alpha at `after_ms` after congestion, packets per round.
    fn alpha(min_rtt_ms: u64, after_ms: u64) -> f64 {
        let mut htcp = htcp(min_rtt_ms, 2 * min_rtt_ms);
        htcp.update_alpha(after_ms);
        htcp.alpha as f64 / ONE as f64
    }

    #[test]
    fn growth_is_renos_for_the_first_second() {
        assert_eq!([alpha(100, 0), alpha(100, 500), alpha(100, 1_000)], [1.0; 3]);
    }

    #[test]
    fn after_three_seconds_growth_is_22_packets_per_round_of_100_ms() {
        assert_eq!(alpha(100, 3_000), 22.0); // 1 + 10 · 2 + (2/2)²
    }

    #[test]
    fn growth_per_round_scales_with_the_rtt() {
        assert_eq!(alpha(50, 3_000), 11.0);
        assert_eq!(alpha(1, 3_000), 2.0); // alpha is divided by at most ten
    }

    #[test]
    fn without_a_queue_the_cut_becomes_a_fifth() {
        let (mut htcp, mut drive) = (htcp(100, 100), Drive::new());
        htcp.set_cwnd(1_000);
        assert_eq!(drive.lose(&mut htcp), 500); // the first loss always halves
        htcp.set_cwnd(1_000);
        assert_eq!(drive.lose(&mut htcp), 1_000 * 102 / 128);
    }

    #[test]
    fn with_a_queue_the_cut_empties_it() {
        let mut htcp = Htcp { adaptive: true, ..htcp(60, 100) };
        htcp.set_cwnd(1_000);
        let kept = Drive::new().lose(&mut htcp);
        assert!((590..=600).contains(&kept), "{kept}"); // 60 / 100
    }

    #[test]
    fn a_change_of_throughput_by_more_than_a_fifth_halves_the_window() {
        for (max, kept) in [(1_210, 500), (1_190, 796), (810, 796), (790, 500)] {
            let mut htcp = Htcp { adaptive: true, ..htcp(100, 100) };
            htcp.throughput = Throughput { max, old_max: 1_000, ..Throughput::default() };
            htcp.set_cwnd(1_000);
            assert_eq!(Drive::new().lose(&mut htcp), kept, "{max}");
        }
    }

    #[test]
    fn the_largest_rtt_fades() {
        let mut htcp = htcp(40, 80);
        Drive::new().lose(&mut htcp);
        assert_eq!(htcp.max_rtt_ms, 78);
    }

    #[test]
    fn an_outlier_does_not_become_the_largest_rtt() {
        let mut htcp = htcp(40, 80);
        htcp.measure_rtt(101, CaState::Open);
        assert_eq!(htcp.max_rtt_ms, 80);
        htcp.measure_rtt(100, CaState::Open);
        assert_eq!(htcp.max_rtt_ms, 100);
    }

    #[test]
    fn undo_brings_the_time_of_congestion_back() {
        let (mut htcp, mut drive) = (htcp(40, 80), Drive::new());
        drive.rounds(&mut htcp, 10, 40_000);
        htcp.on_congestion(Congestion::Loss, &drive.path(10));
        assert!(htcp.congestion_ms > 0);
        htcp.on_undo(&Undo { prior_cwnd: 20, prior_ssthresh: 15 }, &drive.path(10));
        assert_eq!(htcp.congestion_ms, 0);
    }

    #[test]
    fn time_counts_from_the_end_of_recovery() {
        let (mut htcp, mut drive) = (htcp(40, 80), Drive::new());
        htcp.on_congestion(Congestion::Loss, &drive.path(10));
        drive.rounds(&mut htcp, 2, 40_000);
        htcp.on_recovery_exit(&drive.path(10));
        assert_eq!(htcp.congestion_ms, drive.path(10).now.as_millis());
    }
}
