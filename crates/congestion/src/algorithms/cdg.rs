//! # CDG
//!
//! ## Idea
//! CAIA delay gradient: back off when the RTT rises from round to round, whatever the RTT itself is. The probability
//! of a back-off grows with the slope. A shadow window tracks the window that the flow would have without these
//! back-offs. The shadow window ensures that a loss after a back-off does not reduce the window twice.
//!
//! ## Source and revision
//! Behaviour of Linux 7.2 `net/ipv4/tcp_cdg.c` (Jonassen, 2015); Hayes and Armitage, "Revisiting TCP congestion control
//! using delay gradients", Networking 2011.
//!
//! ## Signals
//! Smallest and largest RTT of each round, loss, classic ECN marks, random numbers.
//!
//! ## State diagram
//! slow start → (an ACK train of half the base RTT, an RTT an eighth above the base RTT, or congestion) → Reno growth
//! → (RTT gradient g over 8 rounds positive: with probability 1 − exp(−g · 42 / s)) → cwnd reduced to 0.7071 cwnd.
//! After five reductions that did not reverse the gradient, no further reduction follows. Loss: ssthresh = max(cwnd /
//! 2, shadow / 2).
//!
//! ## Deviations from the source
//! Two deviations from Linux: the exponential is exact, whereas the kernel multiplies table entries (within 0.1 %),
//! and the random numbers differ. Linux and this implementation share three deviations from the paper. The gradient
//! is the sum over the window of rounds, not the mean. CDG has its own HyStart. The loss-tolerance heuristic is off
//! by default.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`); the probability of a back-off (unit tests of this module).

mod gradients;

use crate::registry::Algorithm;
use crate::window::MIN_CWND;
use crate::{Ack, CaState, Congestion, Path, Probe, Sent, Window, WindowAlgorithm};
use gradients::{Extremes, Gradients, least, probability};
use params::params;
use units::{Duration, Rng, Time};

params! {
    /// Parameters of CDG.
    pub struct CdgParams {
        /// Rounds over which the gradient is summed.
        window: u32 = 8, "rounds", 1..=256;
        /// Factor of the window in a back-off; 724/1024 in Linux.
        backoff_beta: f64 = 724.0 / 1024.0, "", 0.1..=1.0;
        /// Factor of the summed gradient in the probability of a back-off.
        backoff_factor: u32 = 42, "1/s", 0..=10000;
        /// Back-offs without effect after which the delay is ignored; 0: the delay is never ignored.
        use_ineff: u32 = 5, "", 0..=1000;
        /// Whether a shadow window stores the window from before back-offs, so that the next loss reduces the
        /// window only once.
        use_shadow: bool = true, "";
        /// Whether losses are ignored while the buffer of the path seems not to be full.
        use_tolerance: bool = false, "";
        /// Whether a long ACK train or a rising delay ends slow start.
        hystart: bool = true, "";
    }
}

/// Sum of gradients at or below which back-offs count as effective, microseconds.
const EFFECT_US: i64 = -32;
/// Longest gap between ACKs of one train.
const TRAIN_GAP: Duration = Duration::from_millis(3);
/// ACKs of a round before HyStart tests the delay.
const DELAY_SAMPLES: u32 = 8;
/// Smallest threshold of HyStart for delay growth and for the length of ACK trains, microseconds.
const LEAST_US: i64 = 125;
/// Largest number of successive single-packet ACKs that count as delayed.
const MOST_DELAYED: u8 = 5;

/// Estimated state of the path's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Buffer {
    #[default]
    Unknown,
    Full,
    NotFull,
}

/// A sender that backs off when the delay rises.
pub struct Cdg {
    params: CdgParams,
    window: Window,
    rng: Rng,
    gradients: Gradients,
    rtt: Extremes,
    prior_rtt: Extremes,
    round_end: u64,
    /// Number of further single-packet ACKs that count as delayed.
    delayed: u8,
    shadow: u32,
    ineffective: u32,
    buffer: Buffer,
    asks: bool,
    backing_off: bool,
    reduction_over: bool,
    before_restart: Option<u32>,
    // HyStart
    base_us: i64,
    samples: u32,
    train_start: Time,
    last_ack: Option<Time>,
}

impl Algorithm for Cdg {
    type Params = CdgParams;
    const TITLE: &'static str = "CDG (backs off on rising delay)";
    const SOURCE: &'static str = "Hayes and Armitage 2011; Linux net/ipv4/tcp_cdg.c";

    fn new(params: CdgParams, seed: u64) -> Cdg {
        let window = Window::default();
        Cdg {
            gradients: Gradients::new(params.window),
            params,
            window,
            rng: Rng::stream(seed, "cdg/backoff"),
            rtt: Extremes::default(),
            prior_rtt: Extremes::default(),
            round_end: 0,
            delayed: 0,
            shadow: window.cwnd,
            ineffective: 0,
            buffer: Buffer::Unknown,
            asks: false,
            backing_off: false,
            reduction_over: false,
            before_restart: None,
            base_us: 0,
            samples: 0,
            train_start: Time::ZERO,
            last_ack: None,
        }
    }
}

/// Measurements.
impl Cdg {
    /// Add an RTT sample. If the receiver's delayed-ACK timer may have lengthened the RTT, the sample counts only for
    /// the minimum (Hayes' filter).
    fn sample(&mut self, rtt: Duration, ack: &Ack, path: &Path) {
        let rtt_us = rtt.as_micros() as i64;
        if matches!(path.state, CaState::Open | CaState::Cwr) {
            if ack.cumulative == 1 && self.delayed > 0 {
                self.rtt.min = self.rtt.min.min(rtt_us);
                self.delayed -= 1;
                return;
            }
            if ack.cumulative > 1 && self.delayed < MOST_DELAYED {
                self.delayed += 1;
            }
        }
        self.rtt.min = least(self.rtt.min, rtt_us);
        self.rtt.max = self.rtt.max.max(rtt_us);
    }

    fn next_round(&mut self, next: u64) {
        self.round_end = next;
        self.prior_rtt = std::mem::take(&mut self.rtt);
    }

    /// The RTT gradient at the end of a round.
    fn gradient(&mut self) -> i64 {
        if !self.prior_rtt.is_known() {
            return 0;
        }
        let sum = self.gradients.add(self.rtt.minus(self.prior_rtt));
        let trend = self.gradients.sum;
        if trend.min <= EFFECT_US || trend.max <= EFFECT_US {
            self.ineffective = 0;
        }
        if self.params.use_tolerance {
            self.judge_buffer(trend);
        }
        sum
    }

    /// Estimate the state of the buffer. If the buffer is full, the smallest RTT rises while the largest RTT is
    /// constant.
    fn judge_buffer(&mut self, trend: Extremes) {
        let rounded = |us: i64| (us + 32 * us.signum()) / 64;
        let (min, max) = (rounded(trend.min), rounded(trend.max));
        if min > 0 && max <= 0 {
            self.buffer = Buffer::Full;
        } else if (min > 0 && max > 0) || max < 0 {
            self.buffer = Buffer::NotFull;
        }
    }

    fn hystart(&mut self, path: &Path) {
        self.base_us = least(self.base_us, self.rtt.min);
        if self.base_us != 0 && (self.train_is_long(path) || self.delay_has_grown()) {
            self.window.ssthresh = self.window.cwnd.max(MIN_CWND);
        }
    }

    fn train_is_long(&mut self, path: &Path) -> bool {
        match self.last_ack {
            Some(last) if path.cwnd_limited => {
                if path.now.since(last) >= TRAIN_GAP {
                    return false;
                }
                self.last_ack = Some(path.now);
                path.now.since(self.train_start).as_micros() as i64 > (self.base_us / 2).max(LEAST_US)
            }
            _ => {
                self.last_ack = Some(path.now);
                self.train_start = path.now;
                false
            }
        }
    }

    fn delay_has_grown(&mut self) -> bool {
        if self.samples < DELAY_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.rtt.min > (self.base_us + self.base_us / 8).max(LEAST_US)
    }
}

/// Decisions.
impl Cdg {
    /// Decide at the end of a round whether to back off.
    fn end_round(&mut self, path: &Path) {
        let gradient = self.gradient();
        self.next_round(path.next);
        self.last_ack = None;
        self.samples = 0;
        if gradient > 0 && self.rng.chance(probability(gradient, self.params.backoff_factor)) {
            self.back_off();
        }
    }

    fn back_off(&mut self) {
        if self.params.use_ineff > 0 {
            self.ineffective = self.ineffective.saturating_add(1);
            if self.ineffective > self.params.use_ineff {
                return;
            }
        }
        self.shadow = self.shadow.max(self.window.cwnd);
        self.backing_off = true;
        self.asks = true;
    }
}

impl WindowAlgorithm for Cdg {
    has_window!();

    fn established(&mut self, path: &Path) {
        self.round_end = path.next;
        self.shadow = self.window.cwnd;
    }

    fn measure(&mut self, ack: &Ack, path: &Path) {
        (self.asks, self.before_restart) = (false, None);
        if let Some(rtt) = ack.rtt {
            self.sample(rtt, ack, path);
        }
        if std::mem::take(&mut self.reduction_over) && ack.prior_state != CaState::Loss {
            (self.backing_off, self.buffer) = (false, Buffer::Unknown);
            self.next_round(path.next);
        }
        if !ack.may_grow {
            return;
        }
        if self.params.hystart && self.window.in_slow_start() {
            self.hystart(path);
        }
        if ack.una > self.round_end && self.rtt.is_known() {
            self.end_round(path);
        }
        if !self.asks && !path.cwnd_limited {
            self.shadow = self.shadow.min(self.window.cwnd);
        }
    }

    fn grow(&mut self, ack: &Ack, _path: &Path) {
        if self.asks {
            return;
        }
        let before = self.window.cwnd;
        self.window.reno(ack.acked);
        self.shadow = self.shadow.saturating_add(self.window.cwnd - before);
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.asks = false;
        let cwnd = self.window.cwnd;
        if self.backing_off {
            return (f64::from(cwnd) * self.params.backoff_beta) as u32;
        }
        if self.params.use_tolerance && self.buffer == Buffer::NotFull {
            return cwnd;
        }
        self.shadow = (self.shadow / 2).min(cwnd);
        if self.params.use_shadow { self.shadow.max(cwnd / 2) } else { cwnd / 2 }
    }

    fn recovered(&mut self, _path: &Path) {
        self.reduction_over = true;
    }

    fn restarted(&mut self, cwnd: u32) {
        self.before_restart = Some(self.window.cwnd);
        self.window.restart(cwnd);
    }

    fn sending(&mut self, sent: &Sent, path: &Path) {
        if let (true, Some(shadow)) = (sent.from_idle, self.before_restart.take()) {
            self.gradients.clear();
            (self.rtt, self.prior_rtt) = (Extremes::default(), Extremes::default());
            (self.delayed, self.ineffective, self.base_us, self.samples) = (0, 0, 0, 0);
            (self.backing_off, self.buffer, self.last_ack) = (false, Buffer::Unknown, None);
            (self.round_end, self.shadow) = (path.next, shadow);
        }
    }

    fn wants_reduction(&self) -> bool {
        self.asks
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.see("gradient_min", self.gradients.sum.min as f64 / 1e6, "s");
        probe.see("gradient_max", self.gradients.sum.max as f64 / 1e6, "s");
        probe.see("shadow", f64::from(self.shadow), "packets");
        probe.see("ineffective", f64::from(self.ineffective), "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    /// A flow with 100 packets in congestion avoidance.
    fn steady(seed: u64) -> (Cdg, Drive) {
        let (mut cdg, mut drive) = (Cdg::new(CdgParams::default(), seed), Drive::new());
        cdg.established(&drive.path(0));
        cdg.set_cwnd(100);
        cdg.window.ssthresh = 20;
        drive.rounds(&mut cdg, 10, 40_000);
        (cdg, drive)
    }

    /// Count the rounds until the first back-off, at most `limit`, while the RTT grows by `step_us` per round.
    fn rounds_to_back_off(seed: u64, step_us: u64, limit: u64) -> u64 {
        let (mut cdg, mut drive) = steady(seed);
        let backed_off = |n: &u64| {
            let window = cdg.control().cwnd;
            (0..window).any(|_| {
                drive.ack(&mut cdg, window, 1, 40_000 + n * step_us);
                cdg.control().reduce
            })
        };
        (1..limit).find(backed_off).unwrap_or(limit)
    }

    #[test]
    fn three_milliseconds_per_round_back_off_with_probability_0_63() {
        let p = probability(8 * 3_000, 42);
        assert!((p - 0.635).abs() < 0.001, "{p}");
    }

    #[test]
    fn a_standing_queue_is_no_reason_to_back_off() {
        assert_eq!(rounds_to_back_off(1, 0, 500), 500);
    }

    #[test]
    fn a_growing_queue_is() {
        assert!((0..20).all(|seed| rounds_to_back_off(seed, 3_000, 40) < 40));
    }

    #[test]
    fn a_steeper_slope_backs_off_sooner() {
        let mean = |step| (0..50).map(|seed| rounds_to_back_off(seed, step, 500)).sum::<u64>() as f64 / 50.0;
        assert!(mean(1_000) < 0.8 * mean(100));
    }

    #[test]
    fn a_back_off_keeps_0_7071_and_the_shadow_window_the_whole() {
        let (mut cdg, mut drive) = steady(1);
        let cwnd = cdg.window.cwnd;
        cdg.back_off();
        assert_eq!(drive.lose(&mut cdg), cwnd * 724 / 1024);
        assert_eq!(cdg.shadow, cwnd);
    }

    #[test]
    fn a_loss_after_a_back_off_costs_half_of_the_shadow_only() {
        let (mut cdg, mut drive) = steady(1);
        let cwnd = cdg.window.cwnd;
        cdg.back_off();
        drive.lose(&mut cdg);
        drive.ack(&mut cdg, 70, 1, 40_000); // the reduction is over
        assert_eq!(drive.lose(&mut cdg), cwnd / 2);
    }

    #[test]
    fn five_back_offs_without_effect_are_enough() {
        let (mut cdg, _) = steady(1);
        for n in 1..=7 {
            cdg.asks = false;
            cdg.back_off();
            assert_eq!(cdg.asks, n <= 5, "back-off {n}");
        }
    }

    #[test]
    fn a_falling_rtt_shows_that_back_offs_work() {
        let (mut cdg, mut drive) = steady(1);
        cdg.ineffective = 5;
        drive.rounds(&mut cdg, 2, 39_000);
        assert_eq!(cdg.ineffective, 0);
    }
}
