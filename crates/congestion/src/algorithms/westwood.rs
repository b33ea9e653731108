//! # Westwood+
//!
//! ## Idea
//! Reno that, instead of halving, reduces the window to the measured capacity of the path: the rate at which ACKs
//! acknowledge data times the smallest RTT. A random loss then does not reduce the window.
//!
//! ## Source and revision
//! Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion
//! control", CCR 34(2), 2004; behaviour of Linux 7.2 `net/ipv4/tcp_westwood.c`.
//!
//! ## Signals
//! Loss, classic ECN marks, bytes per ACK, RTT in whole milliseconds.
//!
//! ## State diagram
//! slow start → (cwnd ≥ ssthresh) → Reno's growth → (congestion) → ssthresh = cwnd / 2 during recovery → (recovery
//! ends) → cwnd = ssthresh = bandwidth × smallest RTT. A timeout immediately sets ssthresh to the product of bandwidth
//! and smallest RTT.
//!
//! ## Deviations from the source
//! None known. Details of Linux that apply here, too:
//!
//! - The window is first halved. When recovery ends, the window is set to the product of bandwidth and smallest
//!   RTT, even if the episode was undone.
//! - Bandwidth is in whole bytes per millisecond, and the RTT is rounded up to milliseconds.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`).

use crate::registry::Algorithm;
use crate::window::MIN_CWND;
use crate::{Ack, CaState, Congestion, Path, Probe, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of Westwood+.
    pub struct WestwoodParams {
        /// Shortest time over which bandwidth is measured.
        min_window_ms: u64 = 50, "ms", 1..=10_000;
    }
}

/// RTT assumed before the first sample.
const INITIAL_RTT_MS: u64 = 20_000;

/// The rate at which ACKs acknowledge data, filtered twice.
#[derive(Clone, Copy, Debug, Default)]
struct Bandwidth {
    /// Bytes acknowledged since `since_ms`.
    bytes: u64,
    since_ms: u64,
    /// Bandwidth after the first filter, bytes per millisecond.
    once: u64,
    /// Bandwidth after the second filter, bytes per millisecond.
    estimate: u64,
    /// Bytes already counted for duplicate ACKs, which later cumulative ACKs acknowledge again.
    counted: u64,
    started: bool,
}

impl Bandwidth {
    /// End the present measurement if it has lasted longer than `window_ms`.
    fn measure(&mut self, now_ms: u64, window_ms: u64) {
        let elapsed = now_ms.saturating_sub(self.since_ms);
        if elapsed <= window_ms {
            return;
        }
        let sample = self.bytes / elapsed;
        if self.once == 0 && self.estimate == 0 {
            (self.once, self.estimate) = (sample, sample);
        } else {
            self.once = (7 * self.once + sample) / 8;
            self.estimate = (7 * self.estimate + self.once) / 8;
        }
        self.bytes = 0;
        self.since_ms = now_ms;
    }

    /// Bytes delivered according to an ACK of `bytes` while packets are missing. A duplicate ACK counts as one packet,
    /// which is subtracted from the next cumulative ACK.
    fn count(&mut self, bytes: u64, mss: u64) -> u64 {
        if bytes == 0 {
            self.counted += mss;
            return mss;
        }
        if bytes <= mss {
            return bytes;
        }
        if self.counted >= bytes {
            self.counted -= bytes;
            return mss;
        }
        bytes - std::mem::take(&mut self.counted)
    }
}

/// A Reno sender whose slow-start threshold is computed from a bandwidth estimate.
pub struct Westwood {
    params: WestwoodParams,
    window: Window,
    bandwidth: Bandwidth,
    rtt_ms: u64,
    rtt_min_ms: u64,
    forget_rtt_min: bool,
    /// Whether the end of the present episode sets the window.
    reducing: bool,
}

impl Algorithm for Westwood {
    type Params = WestwoodParams;
    const TITLE: &'static str = "Westwood+ (Reno that reduces its window to the measured capacity)";
    const SOURCE: &'static str = "Grieco and Mascolo 2004; Linux net/ipv4/tcp_westwood.c";

    fn new(params: WestwoodParams, _seed: u64) -> Westwood {
        Westwood {
            params,
            window: Window::default(),
            bandwidth: Bandwidth::default(),
            rtt_ms: INITIAL_RTT_MS,
            rtt_min_ms: INITIAL_RTT_MS,
            forget_rtt_min: true,
            reducing: false,
        }
    }
}

impl Westwood {
    /// The window that the path carries: bandwidth times smallest RTT, packets.
    fn carried(&self, mss: u32) -> u32 {
        let bytes = self.bandwidth.estimate.saturating_mul(self.rtt_min_ms);
        (bytes / u64::from(mss)).clamp(u64::from(MIN_CWND), u64::from(u32::MAX / 2)) as u32
    }

    fn count_delivered(&mut self, ack: &Ack, path: &Path) {
        let window_ms = self.rtt_ms.max(self.params.min_window_ms);
        let mss = u64::from(path.mss);
        let bytes = u64::from(ack.cumulative) * mss;
        let started = std::mem::replace(&mut self.bandwidth.started, true);
        self.bandwidth.measure(path.now.as_millis(), window_ms);
        let orderly = ack.advanced && ack.prior_state == CaState::Open && path.state == CaState::Open;
        self.bandwidth.bytes += match (started, orderly) {
            (true, true) => bytes,
            (true, false) => self.bandwidth.count(bytes, mss),
            (false, _) => 0, // the start of the first ACK's bytes is unknown
        };
    }
}

impl WindowAlgorithm for Westwood {
    has_window!();

    fn established(&mut self, path: &Path) {
        self.bandwidth.since_ms = path.now.as_millis();
    }

    fn measure(&mut self, ack: &Ack, path: &Path) {
        if let Some(rtt) = ack.rtt {
            self.rtt_ms = rtt.as_micros().div_ceil(1_000).max(1);
        }
        self.count_delivered(ack, path);
        let forget = std::mem::take(&mut self.forget_rtt_min);
        self.rtt_min_ms = if forget { self.rtt_ms } else { self.rtt_min_ms.min(self.rtt_ms) };
    }

    fn reduced(&mut self, congestion: Congestion, path: &Path) -> u32 {
        self.reducing = true;
        if matches!(congestion, Congestion::Timeout { .. }) {
            self.forget_rtt_min = true;
            return self.carried(path.mss);
        }
        self.window.cwnd / 2
    }

    fn timed_out(&mut self, _path: &Path) {
        self.reducing = false;
    }

    fn recovered(&mut self, path: &Path) {
        if std::mem::take(&mut self.reducing) {
            self.window.ssthresh = self.carried(path.mss);
            self.window.cwnd = self.window.ssthresh;
        }
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.see("bandwidth", self.bandwidth.estimate as f64 * 8_000.0, "bit/s");
        probe.see("rtt_min", self.rtt_min_ms as f64 / 1e3, "s");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    /// A flow after `rounds` rounds of 100 packets in 100 ms.
    fn after(rounds: u32) -> (Westwood, Drive) {
        let (mut westwood, mut drive) = (Westwood::new(WestwoodParams::default(), 0), Drive::new());
        westwood.window.ssthresh = 2;
        for _ in 0..rounds {
            westwood.set_cwnd(100);
            drive.round(&mut westwood, 100_000);
        }
        westwood.set_cwnd(100);
        (westwood, drive)
    }

    #[test]
    fn recovery_ends_at_the_bandwidth_delay_product_when_the_queue_is_empty() {
        let (mut westwood, mut drive) = after(50);
        drive.lose(&mut westwood);
        let cwnd = westwood.window.cwnd;
        assert!((98..=101).contains(&cwnd), "{cwnd}");
        assert_eq!(westwood.window.ssthresh, cwnd);
    }

    #[test]
    fn the_window_halves_while_recovery_lasts() {
        let (mut westwood, mut drive) = after(50);
        assert_eq!(drive.lose(&mut westwood), 50);
    }

    #[test]
    fn a_timeout_sets_the_threshold_to_the_bandwidth_delay_product() {
        let (mut westwood, mut drive) = after(50);
        drive.time_out(&mut westwood);
        assert!((98..=101).contains(&westwood.window.ssthresh), "{}", westwood.window.ssthresh);
        westwood.on_recovery_exit(&drive.path(1));
        assert_eq!(westwood.window.cwnd, 1); // the window grows by slow start afterwards
    }

    #[test]
    fn duplicate_acks_are_not_counted_twice() {
        let mut bandwidth = Bandwidth::default();
        let duplicates: u64 = (0..5).map(|_| bandwidth.count(0, 1_000)).sum();
        assert_eq!(duplicates + bandwidth.count(7_000, 1_000), 7_000);
    }

    #[test]
    fn bandwidth_is_measured_over_50_ms_at_least() {
        let (mut westwood, mut drive) = (Westwood::new(WestwoodParams::default(), 0), Drive::new());
        for _ in 0..40 {
            drive.round(&mut westwood, 1_000);
            westwood.set_cwnd(10);
        }
        assert_eq!(westwood.bandwidth.estimate, 0); // 40 ms of ACKs are shorter than `min_window_ms`
        (0..20).for_each(|_| drive.round(&mut westwood, 1_000));
        assert!(westwood.bandwidth.estimate > 0);
    }
}
