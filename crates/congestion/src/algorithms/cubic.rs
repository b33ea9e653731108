//! # CUBIC
//!
//! ## Idea
//! After a reduction the window is a cubic function of time, flat around the window of the last loss. Growth
//! therefore does not depend on the RTT. The window is never smaller than the window that Reno would have.
//!
//! ## Source and revision
//! Linux 6.18 `net/ipv4/tcp_cubic.c` in behaviour and fixed-point arithmetic; RFC 9438; HyStart by Ha and Rhee
//! (2011) as in Linux; HyStart++ of RFC 9406.
//!
//! ## Signals
//! Loss, classic ECN marks, time, and the RTT, which ends the first slow start.
//!
//! ## State diagram
//! slow start → (HyStart exit or congestion) → congestion avoidance: concave up to `last_max` at time K, then convex
//! → (congestion) → ssthresh = 0.7 cwnd. A new epoch starts at the first ACK that may grow the window.
//!
//! ## Deviations from the source
//! The cube root is exact; Linux uses a table and one Newton step (within 0.2 %).
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`), the average window of RFC 9438 section 5.1 (`tests/theory`).

use crate::hystart::{Exit, HyStart, HyStartPlusPlus, Rule};
use crate::registry::Algorithm;
use crate::{Ack, Congestion, Path, Probe, Sent, Window, WindowAlgorithm};
use params::params;
use units::{Duration, Time};

/// Rule that ends the first slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SlowStartExit {
    /// Linux HyStart: ACK trains and delay.
    Linux,
    /// HyStart of ns-3: its thresholds for ACK trains and delay growth are a whole RTT, and it uses the smoothed RTT.
    Ns3,
    /// HyStart++ (RFC 9406).
    Rfc9406,
    /// No rule: only congestion ends the first slow start.
    Off,
}

params! {
    /// Parameters of CUBIC.
    pub struct CubicParams {
        /// Factor of the window on congestion; 717/1024 in Linux.
        beta: f64 = 717.0 / 1024.0, "", 0.1..=0.95;
        /// Scale of the cubic function; 41/1024 times ten in Linux.
        c: f64 = 410.0 / 1024.0, "packets/s^3", 0.01..=10.0;
        /// Whether a loss before the window has reached the last maximum lowers the plateau below the window of that
        /// loss, so that new flows get bandwidth sooner.
        fast_convergence: bool = true, "";
        /// Whether the window grows at least as fast as Reno's.
        reno_friendly: bool = true, "";
        /// Rule that ends the first slow start: linux, ns3, rfc9406 or off.
        hystart: SlowStartExit = SlowStartExit::Linux, "";
    }
}

/// Time in CUBIC's fixed point: 1/1024 s.
/// Linux `BICTCP_HZ`.
const TICKS_PER_SECOND: u64 = 1024;
/// Shortest time between two computations of the growth per ACK while the window is constant: 1/32 s.
/// Linux `bictcp_update` (HZ / 32).
const SLOPE_HOLD_MS: u64 = 31;
/// Time after the start of an epoch in which RTT samples are ignored, as the queue from before the reduction still
/// drains.
/// Linux `cubictcp_acked` (HZ).
const RTT_BLACKOUT_MS: u64 = 1_000;

/// The cubic function of one epoch.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start_ms: u64,
    /// Ticks from the start of the epoch to the plateau.
    k: u64,
    /// Window at the plateau, packets.
    origin: u32,
    /// The window that Reno would have, packets.
    reno: u32,
    /// Acknowledged packets not yet turned into Reno growth.
    acked: u32,
}

/// A sender whose window is a cubic function of time.
pub struct Cubic {
    window: Window,
    scale_1024: u64,
    beta_1024: u64,
    reno_scale_8: u64,
    fast_convergence: bool,
    reno_friendly: bool,
    last_max: u32,
    delay_min: Option<Duration>,
    epoch: Option<Epoch>,
    /// Acknowledged packets per packet of growth.
    per_increment: u32,
    /// Window and time of the last computation of the growth, which may be of the last epoch.
    last_cwnd: u32,
    last_update_ms: u64,
    exit: SlowStartExit,
    hystart: HyStart,
    hystart_pp: HyStartPlusPlus,
}

impl Algorithm for Cubic {
    type Params = CubicParams;
    const TITLE: &'static str = "CUBIC (with HyStart or HyStart++)";
    const SOURCE: &'static str = "RFC 9438; Linux net/ipv4/tcp_cubic.c";

    fn new(params: CubicParams, _seed: u64) -> Cubic {
        let beta_1024 = (params.beta * 1024.0).round() as u64;
        Cubic {
            window: Window::default(),
            scale_1024: (params.c * 1024.0).round() as u64,
            beta_1024,
            reno_scale_8: 8 * (1024 + beta_1024) / 3 / (1024 - beta_1024),
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
            last_max: 0,
            delay_min: None,
            epoch: None,
            per_increment: 0,
            last_cwnd: 0,
            last_update_ms: 0,
            exit: params.hystart,
            hystart: HyStart::new(if params.hystart == SlowStartExit::Ns3 { Rule::Ns3 } else { Rule::Linux }),
            hystart_pp: HyStartPlusPlus::default(),
        }
    }
}

impl Cubic {
    /// Value of the cubic function `ticks` after the start of the epoch, packets.
    /// RFC 9438 section 4.2; Linux `bictcp_update`.
    fn target(&self, epoch: &Epoch, ticks: u64) -> u32 {
        let offset = u128::from(ticks.abs_diff(epoch.k));
        let delta = ((u128::from(self.scale_1024) * offset * offset * offset) >> 40) as u64;
        let origin = u64::from(epoch.origin);
        let target = if ticks < epoch.k { origin.saturating_sub(delta) } else { origin + delta };
        target.min(u64::from(u32::MAX)) as u32
    }

    /// Ticks in which the cubic function rises by `packets` to its plateau.
    /// RFC 9438 section 4.2 (K); Linux `bictcp_update`.
    fn ticks_to_climb(&self, packets: u32) -> u64 {
        cube_root((u128::from(packets) << 40) / u128::from(self.scale_1024))
    }

    /// RFC 9438 section 4.2; Linux `bictcp_update`.
    fn start_epoch(&self, now_ms: u64, acked: u32) -> Epoch {
        let cwnd = self.window.cwnd;
        let (k, origin) = if self.last_max <= cwnd {
            (0, cwnd)
        } else {
            (self.ticks_to_climb(self.last_max - cwnd), self.last_max)
        };
        Epoch { start_ms: now_ms, k, origin, reno: cwnd, acked }
    }

    /// Update and return the acknowledged packets per packet of growth. While the window is that of the last computation, the
    /// growth of the last epoch may continue, and the next epoch begins later.
    /// RFC 9438 sections 4.2 to 4.5; Linux `bictcp_update`.
    fn update_slope(&mut self, now: Time, acked: u32) -> u32 {
        let now_ms = now.as_millis();
        let cwnd = self.window.cwnd;
        if let Some(epoch) = &mut self.epoch {
            epoch.acked += acked;
        }
        if self.last_cwnd == cwnd && now_ms - self.last_update_ms <= SLOPE_HOLD_MS {
            return self.per_increment;
        }
        let fresh = self.epoch.is_none();
        let mut epoch = self.epoch.unwrap_or_else(|| self.start_epoch(now_ms, acked));
        if fresh || now_ms != self.last_update_ms {
            (self.last_cwnd, self.last_update_ms) = (cwnd, now_ms);
            self.per_increment = self.cubic_slope(&epoch, now_ms);
        }
        if self.reno_friendly {
            self.follow_reno(&mut epoch);
        }
        self.per_increment = self.per_increment.max(2); // growth by at most half a window per RTT
        self.epoch = Some(epoch);
        self.per_increment
    }

    /// RFC 9438 sections 4.4 and 4.5; Linux `bictcp_update`.
    fn cubic_slope(&self, epoch: &Epoch, now_ms: u64) -> u32 {
        let cwnd = self.window.cwnd;
        let ahead_ms = self.delay_min.map_or(0, |d| d.as_nanos().div_ceil(1_000_000)); // the target one RTT from now
        let ticks = (now_ms - epoch.start_ms + ahead_ms) * TICKS_PER_SECOND / 1_000;
        let target = self.target(epoch, ticks);
        let slope = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        if self.last_max == 0 { slope.min(20) } else { slope } // without a known maximum, growth is at least 5 % per RTT
    }

    /// RFC 9438 section 4.3; Linux `bictcp_update` (TCP friendliness).
    fn follow_reno(&mut self, epoch: &mut Epoch) {
        let cwnd = self.window.cwnd;
        let per_packet = ((u64::from(cwnd) * self.reno_scale_8) >> 3).max(1) as u32;
        let grown = if epoch.acked > 0 { (epoch.acked - 1) / per_packet } else { 0 };
        epoch.acked -= grown * per_packet;
        epoch.reno += grown;
        if epoch.reno > cwnd {
            self.per_increment = self.per_increment.min(cwnd / (epoch.reno - cwnd));
        }
    }

    /// Update the base RTT and pass the RTT sample to HyStart.
    /// Linux `cubictcp_acked`, `hystart_update`.
    fn on_rtt(&mut self, rtt: Duration, ack: &Ack, path: &Path) {
        let blackout = |e: &Epoch| path.now.as_millis() - e.start_ms < RTT_BLACKOUT_MS;
        if self.epoch.as_ref().is_some_and(blackout) {
            return;
        }
        let rtt = rtt.max(Duration::from_micros(1));
        let base = self.delay_min.map_or(rtt, |d| d.min(rtt));
        self.delay_min = Some(base);
        if matches!(self.exit, SlowStartExit::Linux | SlowStartExit::Ns3)
            && self.window.in_slow_start()
            && self.hystart.on_rtt(rtt, base, self.window.cwnd, ack, path) == Exit::Now
        {
            self.window.ssthresh = self.window.cwnd;
        }
    }

    /// Grow by slow start, which HyStart++ may slow down. Return the packets left over.
    /// RFC 9438 section 4.10; RFC 9406 section 4.2.
    fn slow_start(&mut self, ack: &Ack, path: &Path) -> u32 {
        if self.exit != SlowStartExit::Rfc9406 {
            return self.window.slow_start(ack.acked);
        }
        let (credit, exit) = self.hystart_pp.on_ack(ack, path);
        let left = self.window.slow_start(credit);
        if exit == Exit::Now {
            self.window.ssthresh = self.window.cwnd;
        }
        left
    }
}

/// Compute the integer cube root, rounded down.
/// Own: exact, whereas Linux `cubic_root` is a table and a Newton step.
fn cube_root(x: u128) -> u64 {
    let mut root = (x as f64).cbrt() as u64; // within 1 of the root; the loops below correct it
    while u128::from(root + 1).pow(3) <= x {
        root += 1;
    }
    while u128::from(root).pow(3) > x {
        root -= 1;
    }
    root
}

impl WindowAlgorithm for Cubic {
    has_window!();

    /// Linux `cubictcp_acked`.
    fn measure(&mut self, ack: &Ack, path: &Path) {
        // ns-3 `TcpSocketBase::ProcessAck` passes the smoothed RTT to congestion control.
        let rtt = if self.exit == SlowStartExit::Ns3 { ack.rtt.and(path.srtt) } else { ack.rtt };
        if let Some(rtt) = rtt {
            self.on_rtt(rtt, ack, path);
        }
    }

    /// Linux `cubictcp_cong_avoid`.
    fn grow(&mut self, ack: &Ack, path: &Path) {
        let acked = if self.window.in_slow_start() { self.slow_start(ack, path) } else { ack.acked };
        if acked > 0 {
            let per_increment = self.update_slope(path.now, acked);
            self.window.additive_increase(per_increment, acked);
        }
    }

    /// RFC 9438 sections 4.6 and 4.7; Linux `cubictcp_recalc_ssthresh`.
    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.hystart_pp.stop();
        self.epoch = None;
        let cwnd = u64::from(self.window.cwnd);
        let early = self.fast_convergence && self.window.cwnd < self.last_max;
        self.last_max = if early { (cwnd * (1024 + self.beta_1024) / 2048) as u32 } else { cwnd as u32 };
        (cwnd * self.beta_1024 / 1024) as u32
    }

    /// RFC 9438 section 4.8; Linux `cubictcp_state`, `bictcp_reset`.
    fn timed_out(&mut self, path: &Path) {
        self.last_max = 0;
        self.delay_min = None;
        self.epoch = None;
        (self.per_increment, self.last_cwnd, self.last_update_ms) = (0, 0, 0);
        self.hystart.restart(path);
    }

    /// Linux `cubictcp_cwnd_event`.
    fn sending(&mut self, sent: &Sent, path: &Path) {
        // Idle time must not count for growth, so the epoch is shifted by the idle time.
        if let (true, Some(epoch)) = (sent.from_idle, self.epoch.as_mut()) {
            let now_ms = path.now.as_millis();
            epoch.start_ms = (epoch.start_ms + sent.gap.as_nanos() / 1_000_000).min(now_ms);
        }
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.see("w_max", f64::from(self.last_max), "packets");
        if let Some(epoch) = &self.epoch {
            probe.see("k", epoch.k as f64 / TICKS_PER_SECOND as f64, "s");
            probe.see("origin", f64::from(epoch.origin), "packets");
            probe.see("w_est", f64::from(epoch.reno), "packets");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_support::path_at;

    fn cubic() -> Cubic {
        Cubic::new(CubicParams::default(), 0)
    }

    #[test]
    fn the_cube_root_is_exact() {
        for x in [0u128, 1, 7, 8, 26, 27, 1_000_000, (1 << 60) - 1, 1 << 60] {
            let r = u128::from(cube_root(x));
            assert!(r.pow(3) <= x && (r + 1).pow(3) > x, "{x}");
        }
    }

    #[test]
    fn after_a_loss_at_100_the_plateau_is_4_22_s_away() {
        let mut c = cubic();
        c.set_cwnd(100);
        c.on_congestion(Congestion::Loss, &path_at(0));
        assert_eq!(c.control().ssthresh, 70);
        c.set_cwnd(70);
        let epoch = c.start_epoch(0, 1);
        let k = epoch.k as f64 / 1024.0;
        assert!((k - (30.0f64 / (410.0 / 1024.0)).cbrt()).abs() < 0.01, "{k}");
        assert_eq!(c.target(&epoch, epoch.k), 100);
    }

    #[test]
    fn a_second_early_loss_aims_below_the_last_maximum() {
        let mut c = cubic();
        c.set_cwnd(100);
        c.on_congestion(Congestion::Loss, &path_at(0));
        c.set_cwnd(80);
        c.on_congestion(Congestion::Loss, &path_at(1_000));
        assert_eq!(c.last_max, 68); // 0.85 * 80
    }

    #[test]
    fn an_epoch_begins_later_if_the_window_is_that_of_the_last_computation() {
        let mut c = cubic();
        c.set_cwnd(3);
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        c.update_slope(at(100), 1);
        c.on_congestion(Congestion::Ecn, &path_at(110));
        let before = c.per_increment;
        assert_eq!((c.update_slope(at(131), 1), c.epoch.is_some()), (before, false));
        c.update_slope(at(132), 1);
        assert_eq!(c.epoch.map(|epoch| epoch.start_ms), Some(132));
        c.on_congestion(Congestion::Ecn, &path_at(140));
        c.set_cwnd(4);
        c.update_slope(at(141), 1);
        assert_eq!(c.epoch.map(|epoch| epoch.start_ms), Some(141));
    }

    #[test]
    fn growth_never_exceeds_half_a_packet_per_ack() {
        let mut c = cubic();
        c.window.ssthresh = 5;
        c.last_max = 10_000;
        assert!(c.update_slope(Time::from_nanos(0), 1) >= 2);
    }
}
