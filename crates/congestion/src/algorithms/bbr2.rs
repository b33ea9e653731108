//! # BBR, version 2
//!
//! ## Idea
//! The predecessor of BBRv3. Like BBRv3, BBRv2 bounds the packets in flight after losses. BBRv2 drains faster
//! than BBRv3 (pacing gain 0.75). BBRv2 ends a probe as soon as a quarter BDP is queued, not when the bandwidth
//! stops growing. BBRv2 is therefore slower than BBRv3 to find bandwidth that other flows have freed.
//!
//! ## Source and revision
//! google/bbr, branch v2alpha, `net/ipv4/tcp_bbr2.c`, in behaviour and fixed-point arithmetic.
//!
//! ## Signals
//! The signals of BBRv3, except that a tail loss repaired by a tail loss probe does not count.
//!
//! ## State diagram
//! The diagram of BBRv3, with two differences. STARTUP ends after three rounds without 25 % growth of the bandwidth
//! maximum, or after a round of recovery with eight loss events and more than 2 % lost. UP ends when it has
//! lasted for the smallest RTT and 1.25 BDP are in flight.
//!
//! ## Deviations from the source
//! Not implemented: the fast path for app-limited flows, which only saves CPU time. `up_gain` is both the pacing gain
//! of UP and the number of BDP in flight at which UP ends. The source has a separate parameter for each of the
//! two values; both parameters are 1.25.
//!
//! ## Validated against
//! The checkable properties of the source (`crates/congestion/tests/bbr2.rs`, `tests/theory/test_bbr3.py`).

use crate::bbr::Gain;
use crate::bbr::v3::{EcnRules, Rules, V3};
use crate::registry::Algorithm;
use params::params;

params! {
    /// Parameters of BBRv2. Gains are rounded to 1/256.
    pub struct Bbr2Params {
        /// Pacing and window gain in STARTUP.
        startup_gain: f64 = 739.0 / 256.0, "", 1.0..=10.0;
        /// Pacing gain in DRAIN.
        drain_gain: f64 = 88.0 / 256.0, "", 0.05..=1.0;
        /// Pacing gain in UP, and the number of BDP in flight at which UP ends.
        up_gain: f64 = 1.25, "", 1.0..=4.0;
        /// Pacing gain in DOWN; 0.91 in BBRv3.
        down_gain: f64 = 0.75, "", 0.05..=1.0;
        /// Window gain in PROBE_BW.
        cwnd_gain: f64 = 2.0, "", 1.0..=10.0;
        /// Window gain in UP; 2.25 in BBRv3.
        up_cwnd_gain: f64 = 2.0, "", 1.0..=10.0;
        /// Share of lost packets among the packets in flight above which loss is too high.
        loss_threshold: f64 = 5.0 / 256.0, "", 0.0..=0.5;
        /// Factor by which a loss reduces a bound.
        beta: f64 = 180.0 / 256.0, "", 0.1..=1.0;
        /// Share of the long-term bound left free for other flows in CRUISE.
        headroom: f64 = 38.0 / 256.0, "", 0.0..=0.9;
        /// Loss events in a round of recovery that end STARTUP, if loss is too high.
        full_loss_events: u32 = 8, "", 1..=15;
        /// Duration of PROBE_RTT; 0 disables it.
        probe_rtt_ms: u32 = 200, "ms", 0..=10_000;
        /// Whether to respond to ECN marks if the RTT is at most 5 ms. Meant for routers that mark at a short queue, as
        /// in data centres. The receiver echoes every mark.
        ecn: bool = false, "";
    }
}

impl From<&Bbr2Params> for Rules {
    fn from(p: &Bbr2Params) -> Rules {
        let gain = Gain::from_f64;
        Rules {
            startup_gain: gain(p.startup_gain),
            startup_cwnd_gain: gain(p.startup_gain),
            drain_gain: gain(p.drain_gain),
            up_gain: gain(p.up_gain),
            down_gain: gain(p.down_gain),
            cwnd_gain: gain(p.cwnd_gain),
            up_cwnd_gain: gain(p.up_cwnd_gain),
            loss_threshold: gain(p.loss_threshold),
            beta: gain(p.beta),
            headroom: gain(p.headroom),
            full_loss_events: p.full_loss_events,
            probe_rtt_ms: u64::from(p.probe_rtt_ms),
            ecn: p.ecn.then(EcnRules::v2),
            ..Rules::v2()
        }
    }
}

/// BBR, version 2.
pub(crate) enum Bbr2 {}

impl Algorithm for Bbr2 {
    type Params = Bbr2Params;
    const TITLE: &'static str = "BBR version 2";
    const SOURCE: &'static str = "google/bbr v2alpha net/ipv4/tcp_bbr2.c";

    fn new(params: Bbr2Params, seed: u64) -> V3 {
        V3::new(Rules::from(&params), seed)
    }
}
