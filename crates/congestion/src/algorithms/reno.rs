//! # Reno
//!
//! ## Idea
//! The window grows by one packet per round trip and is halved on congestion. Reno is the reference to which
//! other algorithms are compared. RFC 6582 calls this algorithm NewReno. In fullpipe the transport recovers
//! losses, with selective acknowledgements.
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
//! None known. As in Linux, but unlike in RFC 5681, a loss halves the window, not the packets in flight. Growth
//! counts acknowledged packets, so delayed ACKs do not slow the growth down.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`), the square-root law (`tests/theory`).

use crate::registry::Algorithm;
use crate::{Congestion, Path, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of Reno.
    pub struct RenoParams {
        /// Factor of the window on congestion.
        beta: f64 = 0.5, "", 0.1..=0.95;
    }
}

/// A sender with additive increase and multiplicative decrease.
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

impl WindowAlgorithm for Reno {
    has_window!();

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        (f64::from(self.window.cwnd) * self.params.beta) as u32
    }
}
