//! # LP
//!
//! ## Idea
//! Low priority: use only the capacity that other flows leave. When the one-way delay rises above a small part of its
//! range, the flow infers that other flows use the path. The flow then halves its window and stops growing for three
//! RTTs. If the delay is still high, the window falls to one packet.
//!
//! ## Source and revision
//! Behaviour of Linux 7.2 `net/ipv4/tcp_lp.c`; Kuzmanovic and Knightly, "TCP-LP: A Distributed Algorithm for Low
//! Priority Data Transfer", INFOCOM 2003.
//!
//! ## Signals
//! One-way delay (only with `clock = "exact"`), loss, classic ECN marks.
//!
//! ## State diagram
//! Reno → (smoothed one-way delay above min + 15 % of max − min) → cwnd / 2 and no growth for three RTTs (inference)
//! → (delay again above this limit during inference) → cwnd = 1, inference restarts → (three RTTs with the delay
//! below the limit) → growth by one packet per round trip. The response to congestion is Reno's.
//!
//! ## Deviations from the source
//! Linux computes the one-way delay from TCP timestamps, whose clocks start at random offsets. The kernel scales the
//! remote clock by an integer estimate of its rate and subtracts the local clock. The difference has an offset of
//! weeks in a 32-bit number. The smoothing multiplies this difference by eight, and the product almost always
//! overflows. The smoothed delay is then below the smallest delay, so the flow never yields. In all our runs of
//! Linux 7.2, LP behaves exactly like Reno, packet by packet. The default here, `clock = "kernel"`, therefore
//! ignores delay.
//!
//! `clock = "exact"` is the algorithm of the paper with true one-way delays. The Linux module differs from the paper
//! in two rules, for which this implementation follows the paper:
//!
//! - The range of delays covers the lifetime of the connection. In Linux, each delay at which the flow yielded
//!   becomes the new minimum.
//! - Growth after yielding is additive. Linux stays in slow start. With true delays a flow then gets only 7 % of an
//!   empty 20 Mbit/s, 40 ms path.
//!
//! Two rules are our reading of the paper. Delay is tested only after the first loss, when the largest delay is
//! known. Packets sent before the flow yielded do not count as evidence of the effect of yielding.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`, kernel clock); yielding to Reno and use of an empty path
//! (`tests/theory/test_delay_based.py`, exact clock).

use crate::registry::Algorithm;
use crate::window::MIN_CWND;
use crate::{Ack, Congestion, Path, Probe, Window, WindowAlgorithm};
use params::params;
use units::{Duration, Time};

/// Source of one-way delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Linux's estimate of the one-way delay. This estimate almost always overflows, so the delay is ignored.
    Kernel,
    /// The true one-way delay.
    Exact,
}

params! {
    /// Parameters of LP.
    pub struct LpParams {
        /// Source of one-way delays: kernel (Linux's estimate, with which the flow never yields) or exact.
        clock: Clock = Clock::Kernel, "";
        /// Threshold of the one-way delay, as a share of its range.
        threshold_percent: u32 = 15, "%", 1..=99;
    }
}

/// Round trips of inference after an early sign of congestion.
const INFERENCE_RTTS: u64 = 3;

/// One-way delay and its range, microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Delay {
    range: Option<(u64, u64)>,
    smoothed_8: u64,
}

impl Delay {
    fn sample(&mut self, us: u64) {
        let (min, max) = self.range.unwrap_or((us, us));
        self.range = Some((min.min(us), max.max(us)));
        self.smoothed_8 =
            if self.smoothed_8 == 0 { 8 * us } else { self.smoothed_8 - self.smoothed_8 / 8 + us };
    }

    fn smoothed(&self) -> u64 {
        self.smoothed_8 / 8
    }

    fn is_high(&self, percent: u32) -> bool {
        self.range.is_some_and(|(min, max)| self.smoothed() > min + u64::from(percent) * (max - min) / 100)
    }
}

/// A Reno sender that yields when the one-way delay rises.
pub struct Lp {
    params: LpParams,
    window: Window,
    delay: Delay,
    /// Whether a loss has shown the largest delay.
    knows_range: bool,
    /// End of inference. Before this time the window does not grow, and a second sign of congestion reduces the
    /// window to one packet.
    inference_ends: Time,
    /// Number of the next new packet when the flow last yielded: packets with a lower number were sent before the
    /// flow yielded.
    yielded_at: u64,
}

impl Algorithm for Lp {
    type Params = LpParams;
    const TITLE: &'static str = "LP (low priority by one-way delay)";
    const SOURCE: &'static str = "Kuzmanovic and Knightly 2003; Linux net/ipv4/tcp_lp.c";

    fn new(params: LpParams, _seed: u64) -> Lp {
        Lp {
            params,
            window: Window::default(),
            delay: Delay::default(),
            knows_range: false,
            inference_ends: Time::ZERO,
            yielded_at: 0,
        }
    }
}

impl Lp {
    fn is_inferring(&self, now: Time) -> bool {
        now < self.inference_ends
    }

    fn give_way(&mut self, rtt: Duration, path: &Path) {
        self.window.cwnd = if self.is_inferring(path.now) { 1 } else { (self.window.cwnd / 2).max(1) };
        self.window.ssthresh = self.window.cwnd.max(MIN_CWND);
        self.inference_ends = path.now + rtt * INFERENCE_RTTS;
        self.yielded_at = path.next;
    }
}

impl WindowAlgorithm for Lp {
    has_window!();

    fn measure(&mut self, ack: &Ack, path: &Path) {
        if self.params.clock == Clock::Kernel {
            return;
        }
        if let (Some(rtt), Some(delay)) = (ack.rtt, ack.one_way_delay) {
            self.delay.sample(delay.as_micros());
            let news = self.knows_range && ack.may_grow && ack.una > self.yielded_at;
            if news && self.delay.is_high(self.params.threshold_percent) {
                self.give_way(rtt, path);
            }
        }
    }

    fn grow(&mut self, ack: &Ack, path: &Path) {
        if !self.is_inferring(path.now) {
            self.window.reno(ack.acked);
        }
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.knows_range = true;
        self.window.cwnd / 2
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        if let Some((min, max)) = self.delay.range {
            probe.see("delay", self.delay.smoothed() as f64 / 1e6, "s");
            probe.see("delay_min", min as f64 / 1e6, "s");
            probe.see("delay_max", max as f64 / 1e6, "s");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    const EMPTY_US: u64 = 40_000;
    const FULL_US: u64 = 80_000;
    /// A one-way delay at 25 % of its range.
    const HIGH_US: u64 = 50_000;

    /// A flow with 100 packets in congestion avoidance, after a loss that has shown the largest delay.
    fn steady(clock: Clock) -> (Lp, Drive) {
        let params = LpParams { clock, ..LpParams::default() };
        let (mut lp, mut drive) = (Lp::new(params, 0), Drive::new());
        drive.round(&mut lp, EMPTY_US);
        drive.round(&mut lp, FULL_US);
        drive.lose(&mut lp);
        lp.set_cwnd(100);
        lp.window.ssthresh = 20;
        lp.delay.smoothed_8 = 8 * 30_000;
        (lp, drive)
    }

    /// Count the ACKs with RTT `rtt_us` until the window shrinks, at most 1000.
    fn acks_to_yield(lp: &mut Lp, drive: &mut Drive, rtt_us: u64) -> u32 {
        let before = lp.window.cwnd;
        (1..1000)
            .find(|_| {
                drive.ack(lp, before, 1, rtt_us);
                lp.window.cwnd < before
            })
            .unwrap_or(1000)
    }

    #[test]
    fn a_delay_above_15_percent_of_its_range_halves() {
        let (mut lp, mut drive) = steady(Clock::Exact);
        assert!(acks_to_yield(&mut lp, &mut drive, HIGH_US) < 100);
        assert_eq!(lp.window.cwnd, 50);
    }

    #[test]
    fn a_delay_below_it_does_not() {
        let (mut lp, mut drive) = steady(Clock::Exact);
        assert_eq!(acks_to_yield(&mut lp, &mut drive, 45_000), 1000); // 12.5 % of the range of delays
    }

    #[test]
    fn a_second_sign_while_inferring_leaves_one_packet() {
        let (mut lp, mut drive) = steady(Clock::Exact);
        acks_to_yield(&mut lp, &mut drive, HIGH_US);
        acks_to_yield(&mut lp, &mut drive, HIGH_US);
        assert_eq!(lp.window.cwnd, 1);
    }

    #[test]
    fn it_does_not_grow_while_inferring_and_additively_afterwards() {
        let (mut lp, mut drive) = steady(Clock::Exact);
        acks_to_yield(&mut lp, &mut drive, HIGH_US);
        drive.rounds(&mut lp, 2, EMPTY_US);
        assert_eq!(lp.window.cwnd, 50);
        drive.rounds(&mut lp, 12, EMPTY_US);
        assert!((58..=61).contains(&lp.window.cwnd), "{}", lp.window.cwnd);
    }

    #[test]
    fn with_the_kernels_clock_delay_is_no_reason() {
        let (mut lp, mut drive) = steady(Clock::Kernel);
        assert_eq!(acks_to_yield(&mut lp, &mut drive, FULL_US), 1000);
    }
}
