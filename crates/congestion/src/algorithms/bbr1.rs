//! # BBR, version 1
//!
//! ## Idea
//! Estimate the bottleneck's bandwidth (maximum of delivery-rate samples over ten rounds) and the path's
//! propagation delay (minimum RTT over ten seconds). Pace at the bandwidth and keep at most about two
//! bandwidth-delay products in flight. Loss is not a primary signal.
//!
//! ## Source and revision
//! Linux 6.18 `net/ipv4/tcp_bbr.c` in behaviour and fixed-point arithmetic; Cardwell et al., ACM Queue 14(5), 2016.
//!
//! ## Signals
//! Delivery-rate samples, RTT samples, packets in flight, round boundaries; loss only for the detection of policers
//! and for packet conservation in the first round of recovery.
//!
//! ## State diagram
//! STARTUP → (three rounds without 25 % growth) → DRAIN → (in flight ≤ BDP) → PROBE_BW, eight phases
//! {1.25, 0.75, 1 × 6}; any → (no lower RTT for 10 s) → PROBE_RTT for 200 ms and a round → PROBE_BW or STARTUP.
//!
//! ## Deviations from the source
//! None known, apart from the parameter `policer`, which can disable the detection of policers.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`), and properties derived from the source (`tests/bbr1_family`,
//! `tests/theory`).

use crate::bbr::v1::{Plain, Settings, V1, params_of_v1};
use crate::registry::Algorithm;

params_of_v1! {
    /// Parameters of BBRv1.
    pub struct Bbr1Params on Linux6_18, margin 1 {}
}

/// BBR, version 1.
pub(crate) type Bbr1 = V1<Plain>;

impl Algorithm for Bbr1 {
    type Params = Bbr1Params;
    const TITLE: &'static str = "BBR version 1";
    const SOURCE: &'static str = "Cardwell et al., ACM Queue 14(5), 2016; Linux net/ipv4/tcp_bbr.c";

    fn new(params: Bbr1Params, seed: u64) -> Bbr1 {
        V1::with(Plain, Settings::from(&params), seed)
    }
}
