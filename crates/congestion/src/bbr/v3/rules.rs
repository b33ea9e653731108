//! Every number and every choice in which versions 2 and 3 and their descendants differ.

use crate::EcnMode;
use crate::bbr::Gain;
use units::Duration;

/// What one member of the family does. [`Rules::google`] is version 3; the others are described by how they differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Pacing and window gain in STARTUP; the latter in DRAIN, too.
    pub(crate) startup_gain: Gain,
    pub(crate) startup_cwnd_gain: Gain,
    pub(crate) drain_gain: Gain,
    /// DRAIN ends after so many rounds, even if the queue is still there; 0: never.
    pub(crate) drain_max_rounds: u32,
    /// Pacing gains of PROBE_BW's phases; CRUISE and REFILL pace at the bandwidth.
    pub(crate) up_gain: Gain,
    pub(crate) down_gain: Gain,
    /// Window gain of PROBE_BW, and of its phase UP.
    pub(crate) cwnd_gain: Gain,
    pub(crate) up_cwnd_gain: Gain,
    /// Window in PROBE_RTT, in BDP, and the window gain under that cap.
    pub(crate) probe_rtt_cwnd: Gain,
    pub(crate) probe_rtt_cwnd_gain: Gain,
    pub(crate) probe_rtt_ms: u64,
    pub(crate) probe_rtt_interval_ms: u64,
    pub(crate) min_rtt_window_ms: u64,
    pub(crate) min_cwnd: u32,
    pub(crate) margin_percent: u64,
    /// Loss is too high above this share of the flight.
    pub(crate) loss_threshold: Gain,
    /// What is kept of a bound after loss.
    pub(crate) beta: Gain,
    /// Share of the upper bound left free for others.
    pub(crate) headroom: Gain,
    /// Loss events in a round of recovery that end STARTUP, if loss is too high.
    pub(crate) full_loss_events: u32,
    pub(crate) loss_events: LossEvents,
    /// When the bandwidth counts as having stopped growing.
    pub(crate) plateau: Plateau,
    pub(crate) full_bw_growth: Gain,
    pub(crate) full_bw_rounds: u32,
    /// UP ends on a plateau of the bandwidth, or once a queue of a quarter BDP is there.
    pub(crate) up_exit: UpExit,
    /// Wall time between probes: at least, and drawn at random on top.
    pub(crate) probe_wait: Duration,
    pub(crate) probe_wait_random: Duration,
    /// Rounds between probes at most.
    pub(crate) probe_max_rounds: u32,
    pub(crate) aggregation: Aggregation,
    /// Bursts are reckoned larger on very short paths.
    pub(crate) short_path_bursts: bool,
    /// Smallest burst, packets; version 2 allows single packets below 1.2 Mbit/s.
    pub(crate) min_burst: u32,
    pub(crate) single_packets_when_slow: bool,
    /// On entering CRUISE the short-term bound is brought down to the long-term one.
    pub(crate) cruise_lowers_inflight_lo: bool,
    /// RTT samples that look delayed by the receiver do not renew an expired minimum.
    pub(crate) delayed_ack_guard: bool,
    /// An RTT equal to the minimum renews it.
    pub(crate) equal_rtt_renews: bool,
    pub(crate) early_growth: EarlyGrowth,
    /// A spurious loss also takes back the end of STARTUP or UP that it caused; a window that grew since stays.
    pub(crate) undo_returns_to_probe: bool,
    /// The window saved on entering recovery comes back after fast recovery, too, not only after timeouts.
    pub(crate) restore_after_recovery: bool,
    /// STARTUP ended by loss bounds the flight by what was delivered in the round, if that is more than the BDP.
    pub(crate) startup_keeps_delivered: bool,
    /// In UP, ACKs that came while the bound did not limit still count towards its growth.
    pub(crate) keeps_unused_growth: bool,
    /// A tail loss repaired by a probe counts as a loss. What the path delivered before is kept until then.
    pub(crate) tail_loss: bool,
    /// How to answer marks; none: they are ignored.
    pub(crate) ecn: Option<EcnRules>,
}

/// When the bandwidth counts as having stopped growing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plateau {
    /// Growth is looked for in the sample of every ACK, its absence once per round.
    EveryAck,
    /// Both once per round.
    RoundStart,
    /// As version 1: the maximum once per round, in STARTUP only.
    MaxBandwidth,
    /// STARTUP goes on unless a queue is seen, too.
    SmartExit(SmartExit),
}

/// The Smart Exit of the second BBR-n+ paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SmartExit {
    /// Exactly as printed: counts rounds in which the bandwidth falls.
    pub(crate) literal: bool,
    /// Share of the best bandwidth below which it counts as fallen.
    pub(crate) tolerance: Gain,
    /// RTT above the minimum that proves a queue.
    pub(crate) queue: Duration,
    /// STARTUP ends after this many rounds at the latest; 0: never.
    pub(crate) max_rounds: u32,
}

/// What ends UP besides danger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpExit {
    /// The bandwidth has stopped growing.
    Plateau,
    /// A minimal RTT has passed and the flight has reached `up_gain` times the BDP.
    Queue,
}

/// What counts as a loss event in STARTUP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LossEvents {
    /// An ACK that reveals losses.
    Acks,
    /// A contiguous range of lost packets.
    Ranges,
}

/// The window in which the largest excess of ACKs is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Aggregation {
    /// Two slots of five rounds.
    Slots,
    /// A sliding window of ten rounds.
    Sliding,
}

/// Until what the window grows whatever the model says, before the pipe is known to be full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EarlyGrowth {
    /// Until the window is twice the initial one.
    Window,
    /// Until as much as the initial window has been delivered.
    Delivered,
}

/// The answer to marks on a path that marks early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnRules {
    /// How marks are asked for and fed back.
    pub(crate) mode: EcnMode,
    /// Only if the smallest RTT is at most this.
    pub(crate) max_rtt: Duration,
    /// Weight of a round's mark ratio in its average.
    pub(crate) alpha_gain: Gain,
    /// How much of the average is taken off the bound.
    pub(crate) factor: Gain,
    /// Marks are too many above this share of what was delivered.
    pub(crate) threshold: Gain,
    /// Rounds above the threshold that end STARTUP.
    pub(crate) full_rounds: u32,
    /// Share of the upper bound by which a probe begins once marks cease; 0: none.
    pub(crate) reprobe_gain: Gain,
    /// Version 2: marks bound the bandwidth, too, and reaching a threshold is enough.
    pub(crate) v2: bool,
}

impl Rules {
    /// Version 3 as in google/bbr.
    /// google/bbr v3 `tcp_bbr.c`, the `static const` parameters and `bbr_init`.
    pub(crate) const fn google() -> Rules {
        Rules {
            startup_gain: Gain(710),
            startup_cwnd_gain: Gain(512),
            drain_gain: Gain(88),
            drain_max_rounds: 0,
            up_gain: Gain(320),
            down_gain: Gain(232),
            cwnd_gain: Gain(512),
            up_cwnd_gain: Gain(576),
            probe_rtt_cwnd: Gain(128),
            probe_rtt_cwnd_gain: Gain::UNIT,
            probe_rtt_ms: 200,
            probe_rtt_interval_ms: 5_000,
            min_rtt_window_ms: 10_000,
            min_cwnd: 4,
            margin_percent: 1,
            loss_threshold: Gain(5),
            beta: Gain(180),
            headroom: Gain(38),
            full_loss_events: 6,
            loss_events: LossEvents::Acks,
            plateau: Plateau::EveryAck,
            full_bw_growth: Gain(320),
            full_bw_rounds: 3,
            up_exit: UpExit::Plateau,
            probe_wait: Duration::from_millis(2_000),
            probe_wait_random: Duration::from_millis(1_000),
            probe_max_rounds: 63,
            aggregation: Aggregation::Slots,
            short_path_bursts: true,
            min_burst: 2,
            single_packets_when_slow: false,
            cruise_lowers_inflight_lo: true,
            delayed_ack_guard: true,
            equal_rtt_renews: false,
            early_growth: EarlyGrowth::Window,
            undo_returns_to_probe: false,
            restore_after_recovery: false,
            startup_keeps_delivered: true,
            keeps_unused_growth: true,
            tail_loss: true,
            ecn: None,
        }
    }

    /// google/bbr v2alpha `tcp_bbr2.c`, the `bbr_*` parameters.
    pub(crate) const fn v2() -> Rules {
        Rules {
            startup_gain: Gain(739),
            startup_cwnd_gain: Gain(739),
            down_gain: Gain(192),
            up_cwnd_gain: Gain(512),
            full_loss_events: 8,
            plateau: Plateau::MaxBandwidth,
            up_exit: UpExit::Queue,
            single_packets_when_slow: true,
            equal_rtt_renews: true,
            startup_keeps_delivered: false,
            keeps_unused_growth: false,
            tail_loss: false,
            ..Rules::google()
        }
    }
}

impl EcnRules {
    /// Version 3's answer to marks.
    /// google/bbr v3 `tcp_bbr.c`, the `static const` parameters and `bbr_init`.
    pub(crate) const fn google() -> EcnRules {
        EcnRules {
            mode: EcnMode::EveryMark,
            max_rtt: Duration::from_millis(5),
            alpha_gain: Gain(16),
            factor: Gain(85),
            threshold: Gain(128),
            full_rounds: 2,
            reprobe_gain: Gain(128),
            v2: false,
        }
    }

    /// Version 3's, to marks that come early on paths of any length and are counted.
    /// Own: RFC 9330 and RFC 9331 for a sender that answers as version 3 does.
    pub(crate) const fn l4s() -> EcnRules {
        EcnRules { mode: EcnMode::L4s, max_rtt: Duration::MAX, ..EcnRules::google() }
    }

    /// Version 2's.
    /// google/bbr v2alpha `tcp_bbr2.c`, the `bbr_*` parameters.
    pub(crate) const fn v2() -> EcnRules {
        EcnRules { reprobe_gain: Gain(0), v2: true, ..EcnRules::google() }
    }
}
