//! # BBR-n+
//!
//! ## Idea
//! Two papers use the name. The first (preset `paper2025`) is BBRv3 with stronger gains (2.88 in STARTUP, 1.5 in UP) and
//! bursts of at least four packets, meant for Wi-Fi. The second (preset `smart_exit`) is BBRv3 that does not leave
//! STARTUP for want of growth unless it sees a queue, too: a full receive window looks like a full pipe. Preset `both`
//! combines them.
//!
//! ## Source and revision
//! Ahsan et al., JCBI 9(02), 2025, whose gains are read off the sockets' samples in its public data, since neither the
//! paper nor the repository prints them; PLOS ONE 0330972, 2026, Algorithm 1 as reported by others.
//!
//! ## Signals
//! Those of BBRv3; the smallest RTT of each round in STARTUP. Marks only with `ecn` or `l4s`.
//!
//! ## State diagram
//! As BBRv3. With `smart_exit` STARTUP → DRAIN needs three rounds without 25 % growth in which the RTT is 5 ms above
//! the minimum; flat rounds without a queue count for nothing.
//!
//! ## Deviations from the source
//! DRAIN's gain was never sampled; BBRv3's is taken. "GSO quantum 4 MSS" is read as the smallest burst; the quantum of
//! a fair queue is a second reading and a matter of the scenario, as is CAKE. As printed, Smart Exit wants the bandwidth
//! to fall by 15 %, which it does not do on a full pipe, so that STARTUP would end by loss only: that is
//! `exit = "literal"`. The reading taken by default, `exit = "sane"`, keeps BBRv3's condition and adds the queue: growth
//! on any ACK starts the count anew, its absence is counted once per round. `literal` is judged once per round.
//!
//! The first paper says that its model has "an advanced ECN (L4S)", and prints no law for it; its data is of sockets
//! that did not ask for ECN (`tcp_ecn` = 2), so marks are ignored by default. `ecn` is BBRv3's own answer, on paths of at
//! most 5 ms. With `l4s`, too, it is that answer with what L4S means: ECT(1), counted marks, paths of any length. On
//! 50 Mbit/s and 40 ms with a dual queue it then queues for 2.1 ms in place of 4.5, at 44.9 Mbit/s in place of 46.3 and
//! with a third of its packets marked; beside Prague it still takes nearly all. What the authors had is not known.
//!
//! ## Validated against
//! The gains and windows in the first paper's public data, and the checkable properties of both
//! (`crates/congestion/tests/bbr_n_plus.rs`, `tests/theory/test_bbr3.py`).

use crate::bbr::Gain;
use crate::bbr::v3::{EcnRules, Plateau, Rules, SmartExit, V3};
use crate::registry::Algorithm;
use params::params;
use units::Duration;

/// How STARTUP ends for want of growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// As in BBRv3.
    V3,
    /// Smart Exit: no growth, and a queue.
    Sane,
    /// Smart Exit as printed: a falling bandwidth, and a queue.
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
        /// How STARTUP ends for want of growth: v3, sane or literal.
        exit: Exit = Exit::V3, "";
        /// Share of the best bandwidth below which it counts as fallen.
        exit_tolerance: f64 = 0.85, "", 0.1..=1.0;
        /// RTT above the minimum that counts as a queue.
        exit_queue_ms: f64 = 5.0, "ms", 0.0..=1000.0;
        /// Rounds after which STARTUP ends at the latest; 0: never.
        exit_max_rounds: u32 = 0, "rounds", 0..=10_000;
        /// Answer marks as BBRv3 can: for paths of at most 5 ms that mark early, and echo every mark.
        ecn: bool = false, "";
        /// Answer marks as L4S, on paths of any length: packets carry ECT(1), and AccECN counts the marks.
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
