//! # BBR-n+
//!
//! ## Idea
//! Two papers use the name BBR-n+. The first paper's algorithm (preset `paper2025`) is BBRv3 with stronger gains
//! (2.88 in STARTUP, 1.5 in UP) and bursts of at least four packets, for Wi-Fi. The second paper's algorithm
//! (preset `smart_exit`) is BBRv3 with another exit from STARTUP: a lack of growth ends STARTUP only if there is
//! also a queue, since a full receive window looks like a full pipe. Preset `both` combines the two algorithms.
//!
//! ## Source and revision
//! Ahsan et al., JCBI 9(02), 2025. Neither the paper nor its repository states the gains, so the gains here are from
//! the socket samples in the paper's public data. PLOS ONE 0330972, 2026, Algorithm 1, as other publications report
//! it.
//!
//! ## Signals
//! The signals of BBRv3, and the smallest RTT of each round in STARTUP. ECN marks are a signal only with `ecn` or
//! `l4s`.
//!
//! ## State diagram
//! The diagram of BBRv3. With `smart_exit`, STARTUP → DRAIN needs three rounds without 25 % growth in which the RTT
//! is 5 ms above the minimum. Rounds without growth and without a queue are not counted.
//!
//! ## Deviations from the source
//! The public data has no sample of the gain of DRAIN, so BBRv3's gain is used. "GSO quantum 4 MSS" is read as the
//! smallest burst. Another reading is the quantum of a fair queue, which a scenario can set. A scenario can also use
//! CAKE as the queue.
//!
//! Smart Exit as printed requires that the bandwidth falls by 15 %. The bandwidth does not fall on a full pipe, so
//! only loss would end STARTUP. `exit = "literal"` is the printed rule, tested once per round. Preset
//! `smart_exit` has `exit = "sane"`, which is BBRv3's condition together with a queue. Growth on any ACK restarts
//! the count of rounds, and a lack of growth is counted once per round.
//!
//! The first paper claims "an advanced ECN (L4S)" for its model, but prints no law. The data of this paper is
//! from sockets that did not request ECN (`tcp_ecn` = 2), so marks are ignored by default. With `ecn`, the flow
//! responds to marks as BBRv3 does, on paths with an RTT of at most 5 ms. With `l4s`, the flow responds in the
//! same way as an L4S sender: with ECT(1), with counted marks, and on paths of any RTT. On 50 Mbit/s and 40 ms
//! with a dual queue, the queueing delay is 2.1 ms with `l4s` and 4.5 ms without. The rate is 44.9 Mbit/s with
//! `l4s` and 46.3 Mbit/s without. With `l4s`, a third of the packets is marked. In competition with Prague the
//! flow still takes nearly all of the bandwidth. The authors' law is unknown.
//!
//! ## Validated against
//! The gains and windows in the first paper's public data, and the checkable properties of both papers
//! (`crates/congestion/tests/bbr_n_plus.rs`, `tests/theory/test_bbr3.py`).

use crate::bbr::Gain;
use crate::bbr::v3::{EcnRules, Plateau, Rules, SmartExit, V3};
use crate::registry::Algorithm;
use params::params;
use units::Duration;

/// Condition that ends STARTUP without loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// BBRv3's rule: the bandwidth no longer grows.
    V3,
    /// Smart Exit: the bandwidth no longer grows, and there is a queue.
    Sane,
    /// Smart Exit as printed in the paper: the bandwidth falls, and there is a queue.
    Literal,
}

params! {
    /// Parameters of BBR-n+. Gains are rounded to 1/256.
    pub struct BbrNPlusParams {
        /// Pacing gain in STARTUP.
        startup_gain: f64 = 710.0 / 256.0, "", 1.0..=10.0;
        /// Pacing gain in DRAIN.
        drain_gain: f64 = 88.0 / 256.0, "", 0.05..=1.0;
        /// Pacing gain in UP.
        up_gain: f64 = 1.25, "", 1.0..=4.0;
        /// Pacing gain in DOWN.
        down_gain: f64 = 232.0 / 256.0, "", 0.05..=1.0;
        /// Window gain in UP.
        up_cwnd_gain: f64 = 2.25, "", 1.0..=10.0;
        /// Smallest burst.
        min_burst: u32 = 2, "packets", 1..=44;
        /// Condition that ends STARTUP without loss: v3, sane or literal.
        exit: Exit = Exit::V3, "";
        /// Share of the largest bandwidth below which the bandwidth counts as fallen (exit literal).
        exit_tolerance: f64 = 0.85, "", 0.1..=1.0;
        /// Excess of the RTT over its minimum that indicates a queue.
        exit_queue_ms: f64 = 5.0, "ms", 0.0..=1000.0;
        /// Longest duration of STARTUP; 0: no limit.
        exit_max_rounds: u32 = 0, "rounds", 0..=10_000;
        /// Whether to respond to ECN marks like BBRv3, if the RTT is at most 5 ms. Meant for routers that mark at a
        /// short queue, as in data centres. The receiver echoes every mark.
        ecn: bool = false, "";
        /// Whether to respond to ECN marks as an L4S sender, on paths of any RTT: packets have ECT(1), and AccECN
        /// counts the marks.
        l4s: bool = false, "";
    }
    presets {
        "paper2025" => {
            startup_gain: 738.0 / 256.0, up_gain: 1.5, down_gain: 230.0 / 256.0, up_cwnd_gain: 2.5, min_burst: 4,
        },
        "smart_exit" => { exit: Exit::Sane },
        "both" => {
            startup_gain: 738.0 / 256.0, up_gain: 1.5, down_gain: 230.0 / 256.0, up_cwnd_gain: 2.5, min_burst: 4,
            exit: Exit::Sane,
        },
    }
}

impl BbrNPlusParams {
    fn plateau(&self) -> Plateau {
        if self.exit == Exit::V3 {
            return Plateau::EveryAck;
        }
        Plateau::SmartExit(SmartExit {
            literal: self.exit == Exit::Literal,
            tolerance: Gain::from_f64(self.exit_tolerance),
            queue: Duration::from_micros((self.exit_queue_ms * 1e3).round() as u64),
            max_rounds: self.exit_max_rounds,
        })
    }

    fn ecn_rules(&self) -> Option<EcnRules> {
        if self.l4s { Some(EcnRules::l4s()) } else { self.ecn.then(EcnRules::google) }
    }
}

impl From<&BbrNPlusParams> for Rules {
    fn from(p: &BbrNPlusParams) -> Rules {
        let gain = Gain::from_f64;
        Rules {
            startup_gain: gain(p.startup_gain),
            drain_gain: gain(p.drain_gain),
            up_gain: gain(p.up_gain),
            down_gain: gain(p.down_gain),
            up_cwnd_gain: gain(p.up_cwnd_gain),
            min_burst: p.min_burst,
            plateau: p.plateau(),
            ecn: p.ecn_rules(),
            ..Rules::google()
        }
    }
}

/// BBR-n+.
pub(crate) enum BbrNPlus {}

impl Algorithm for BbrNPlus {
    type Params = BbrNPlusParams;
    const TITLE: &'static str = "BBR-n+ (BBRv3 with stronger gains, or with Smart Exit)";
    const SOURCE: &'static str = "Ahsan et al., JCBI 9(02), 2025; PLOS ONE 0330972, 2026";

    fn new(params: BbrNPlusParams, seed: u64) -> V3 {
        V3::new(Rules::from(&params), seed)
    }
}
