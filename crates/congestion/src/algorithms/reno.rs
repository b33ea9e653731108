//! # Reno
//!
//! ## Idea
//! Grow by one packet per round trip, halve on congestion: the reference every other algorithm is compared to.
//! With selective acknowledgements and the transport's loss recovery this is what RFC 6582 calls NewReno.
//!
//! ## Source and revision
//! RFC 5681; behaviour of Linux 6.18 `net/ipv4/tcp_cong.c` (`tcp_reno_*`).
//!
//! ## Signals
//! Loss, classic ECN marks. RTT is not used.
//!
//! ## State diagram
//! slow start → (cwnd ≥ ssthresh) → congestion avoidance → (congestion) → ssthresh = cwnd / 2; a timeout
//! returns to slow start from one packet.
//!
//! ## Deviations from the source
//! None known. Like Linux, and unlike RFC 5681, the window (not the flight) is halved, and growth counts
//! acknowledged packets, so delayed ACKs do not slow it down.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`), the square-root law (`tests/theory`).

use params::params;
use crate::registry::Algorithm;
use crate::window::{MIN_CWND, Window};
use crate::{Ack, Congestion, CongestionControl, Control, Path, Probe, Traits, Undo};

params! {
    /// Parameters of Reno.
    pub struct RenoParams {
        /// Fraction of the window kept after congestion.
        beta: f64 = 0.5, "", 0.1..=0.95;
    }
}

/// Additive increase, multiplicative decrease.
pub struct Reno {
    params: RenoParams,
    window: Window,
}

impl Algorithm for Reno {
    type Params = RenoParams;
    const TITLE: &'static str = "Reno (AIMD, NewReno with SACK)";
    const SOURCE: &'static str = "RFC 5681; Linux net/ipv4/tcp_cong.c";

    fn new(params: RenoParams, _seed: u64) -> Reno {
        Reno { params, window: Window::default() }
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        if !ack.may_grow || !path.cwnd_limited {
            return;
        }
        let mut acked = ack.acked;
        if self.window.in_slow_start() {
            acked = self.window.slow_start(acked);
        }
        if acked > 0 {
            self.window.additive_increase(self.window.cwnd, acked);
        }
    }

    fn on_congestion(&mut self, congestion: Congestion, _path: &Path) {
        self.window.forget_credit();
        if congestion != (Congestion::Timeout { first: false }) {
            self.window.ssthresh = ((f64::from(self.window.cwnd) * self.params.beta) as u32).max(MIN_CWND);
        }
    }

    fn on_undo(&mut self, undo: &Undo, _path: &Path) {
        self.window.undo(undo);
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.window.set_cwnd(cwnd);
    }

    fn restart(&mut self, cwnd: u32) {
        self.window.restart(cwnd);
    }

    fn control(&self) -> Control {
        Control::window(&self.window)
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        probe.window(&self.window);
    }

    fn traits(&self) -> Traits {
        Traits::default()
    }
}
