//! # LP
//!
//! ## Idea
//! Low priority: use only what others leave. When the one-way delay rises above a small part of its range the flow
//! infers that others want the path: it halves, waits, and if the delay is still up falls to one packet.
//!
//! ## Source and revision
//! Behaviour of Linux 7.2 `net/ipv4/tcp_lp.c`; Kuzmanovic and Knightly, "TCP-LP: A Distributed Algorithm for Low
//! Priority Data Transfer", INFOCOM 2003.
//!
//! ## Signals
//! One-way delay (`clock = "exact"`), loss, classic ECN marks.
//!
//! ## State diagram
//! Reno → (smoothed one-way delay above min + 15 % of max − min) → cwnd / 2 and no growth for three RTTs (inference) →
//! (again above while inferring) → cwnd = 1, inference anew → (three RTTs) → Reno. Congestion as Reno.
//!
//! ## Deviations from the source
//! Linux reckons one-way delay from TCP timestamps, whose clocks start at random offsets: it scales the remote clock
//! by a whole number from an estimate of its rate, and subtracts. What comes out is an offset of weeks in a 32-bit
//! number that the smoothing multiplies by eight, which almost always overflows: the smoothed delay lies below the
//! smallest one and the flow never yields. In every run of Linux 7.2 that we made it is Reno to the packet. That is
//! the default here, `clock = "kernel"`, which simply takes no notice of delay. `clock = "exact"` is the algorithm on
//! true one-way delays, in microseconds where Linux counts milliseconds. As in Linux, and unlike the paper, an early
//! sign of congestion makes the present delay the new minimum and twice that the maximum, and the largest delay is
//! believed only once a larger one has been seen.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`, kernel clock); yielding to Reno (`tests/theory/test_delay_based.py`,
//! exact clock).

use crate::registry::Algorithm;
use crate::{Ack, Congestion, Path, Probe, Window, WindowAlgorithm};
use params::params;
use units::{Duration, Time};

/// Where one-way delays come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Linux's estimate, which is of no use.
    Kernel,
    /// The true delay.
    Exact,
}

params! {
    /// Parameters of LP.
    pub struct LpParams {
        /// Where one-way delays come from: kernel (Linux's estimate, which never yields) or exact.
        clock: Clock = Clock::Kernel, "";
        /// How far into its range the one-way delay may rise.
        threshold_percent: u32 = 15, "%", 1..=99;
    }
}

/// Round trips of inference after an early sign of congestion.
const INFERENCE_RTTS: u64 = 3;

/// One-way delay and its range, microseconds.
#[derive(Clone, Copy, Debug)]
struct Delay {
    min: u64,
    max: u64,
    /// The largest ever seen, believed once it is exceeded.
    max_reserve: u64,
    smoothed_8: u64,
}

impl Default for Delay {
    fn default() -> Self {
        Delay { min: u64::MAX, max: 0, max_reserve: 0, smoothed_8: 0 }
    }
}

impl Delay {
    fn sample(&mut self, us: u64) {
        self.min = self.min.min(us);
        if us > self.max_reserve {
            self.max = if self.max_reserve == 0 { us } else { self.max_reserve };
            self.max_reserve = us;
        } else if us > self.max {
            self.max = us;
        }
        self.smoothed_8 =
            if self.smoothed_8 == 0 { 8 * us } else { self.smoothed_8 - self.smoothed_8 / 8 + us };
    }

    fn smoothed(&self) -> u64 {
        self.smoothed_8 / 8
    }

    fn is_high(&self, percent: u32) -> bool {
        self.smoothed() > self.min + u64::from(percent) * self.max.saturating_sub(self.min) / 100
    }

    /// Takes the present delay for the path's.
    fn rebase(&mut self) {
        self.min = self.smoothed();
        self.max = 2 * self.min;
        self.max_reserve = self.max;
    }
}

/// Gives way on rising one-way delay.
pub struct Lp {
    params: LpParams,
    window: Window,
    delay: Delay,
    last_yield: Option<Time>,
    inference: Duration,
    inferring: bool,
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
            last_yield: None,
            inference: Duration::ZERO,
            inferring: false,
        }
    }
}

impl Lp {
    fn give_way(&mut self, now: Time) {
        self.delay.rebase();
        self.window.cwnd = if self.inferring { 1 } else { (self.window.cwnd / 2).max(1) };
        self.last_yield = Some(now);
    }
}

impl WindowAlgorithm for Lp {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn measure(&mut self, ack: &Ack, path: &Path) {
        if self.params.clock == Clock::Kernel {
            return;
        }
        if let (Some(rtt), Some(delay)) = (ack.rtt, ack.one_way_delay) {
            self.delay.sample(delay.as_micros().max(1));
            self.inference = rtt * INFERENCE_RTTS;
        }
        self.inferring = self.last_yield.is_some_and(|at| path.now.since(at) < self.inference);
        if self.delay.smoothed_8 > 0 && self.delay.is_high(self.params.threshold_percent) {
            self.give_way(path.now);
        }
    }

    fn grow(&mut self, ack: &Ack, _path: &Path) {
        if !self.inferring {
            self.window.reno(ack.acked);
        }
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.window.cwnd / 2
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.state("mode", if self.inferring { "Inferring" } else { "Reno" });
        if self.delay.smoothed_8 > 0 {
            probe.see("delay", self.delay.smoothed() as f64 / 1e6, "s");
            probe.see("delay_min", self.delay.min as f64 / 1e6, "s");
            probe.see("delay_max", self.delay.max as f64 / 1e6, "s");
        }
    }
}
