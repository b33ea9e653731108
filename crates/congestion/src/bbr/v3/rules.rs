//! Constants and rules in which BBR versions 2 and 3 and their descendants differ.

use crate::EcnMode;
use crate::bbr::Gain;
use units::Duration;

/// Rules of one algorithm of the BBRv3 family. [`Rules::google`] has the rules of version 3. Other algorithms are
/// defined by their differences from version 3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Pacing gain in STARTUP.
    pub(crate) startup_gain: Gain,
    /// Window gain in STARTUP and DRAIN.
    pub(crate) startup_cwnd_gain: Gain,
    pub(crate) drain_gain: Gain,
    /// Longest DRAIN, rounds, even if the queue remains; 0: no limit.
    pub(crate) drain_max_rounds: u32,
    /// Pacing gain of the phase UP. CRUISE and REFILL pace at the bandwidth.
    pub(crate) up_gain: Gain,
    /// Pacing gain of the phase DOWN.
    pub(crate) down_gain: Gain,
    /// Window gain in PROBE_BW, except in the phase UP.
    pub(crate) cwnd_gain: Gain,
    /// Window gain of the phase UP.
    pub(crate) up_cwnd_gain: Gain,
    /// Cap of the window in PROBE_RTT, in BDP.
    pub(crate) probe_rtt_cwnd: Gain,
    /// Window gain in PROBE_RTT, before the cap `probe_rtt_cwnd` applies.
    pub(crate) probe_rtt_cwnd_gain: Gain,
    pub(crate) probe_rtt_ms: u64,
    pub(crate) probe_rtt_interval_ms: u64,
    pub(crate) min_rtt_window_ms: u64,
    pub(crate) min_cwnd: u32,
    pub(crate) margin_percent: u64,
    /// Share of lost packets among the packets in flight above which loss is too high.
    pub(crate) loss_threshold: Gain,
    /// Factor by which a loss reduces a bound.
    pub(crate) beta: Gain,
    /// Share of the long-term bound left free for other flows.
    pub(crate) headroom: Gain,
    /// Loss events in a round of recovery that end STARTUP, if loss is too high.
    pub(crate) full_loss_events: u32,
    pub(crate) loss_events: LossEvents,
    /// Test of whether the bandwidth has stopped growing.
    pub(crate) plateau: Plateau,
    pub(crate) full_bw_growth: Gain,
    pub(crate) full_bw_rounds: u32,
    /// Condition that ends UP without loss or marks: a plateau of the bandwidth, or a queue of a quarter BDP.
    pub(crate) up_exit: UpExit,
    /// Shortest time between probes.
    pub(crate) probe_wait: Duration,
    /// Range of the random time added to `probe_wait`.
    pub(crate) probe_wait_random: Duration,
    /// Maximum number of rounds between probes.
    pub(crate) probe_max_rounds: u32,
    pub(crate) aggregation: Aggregation,
    /// Whether bursts are larger on very short paths.
    pub(crate) short_path_bursts: bool,
    /// Smallest burst, packets.
    pub(crate) min_burst: u32,
    /// Whether bursts are single packets below 1.2 Mbit/s, as in version 2.
    pub(crate) single_packets_when_slow: bool,
    /// Whether entering CRUISE reduces the short-term bound to the long-term bound.
    pub(crate) cruise_lowers_inflight_lo: bool,
    /// Whether RTT samples of delayed ACKs never renew an expired minimum.
    pub(crate) delayed_ack_guard: bool,
    /// Whether an RTT equal to the minimum renews the minimum.
    pub(crate) equal_rtt_renews: bool,
    pub(crate) early_growth: EarlyGrowth,
    /// Whether the undo of a loss also undoes the end of STARTUP or UP that the loss caused, and keeps a window that
    /// has grown since.
    pub(crate) undo_returns_to_probe: bool,
    /// Whether the window saved on entering recovery is restored after fast recovery, too, not only after timeouts.
    pub(crate) restore_after_recovery: bool,
    /// Whether the long-term bound set when loss ends STARTUP is at least the largest delivery of the round, not
    /// only the BDP.
    pub(crate) startup_keeps_delivered: bool,
    /// Whether ACKs in UP count towards growth of the long-term bound even while the bound does not limit the
    /// flow.
    pub(crate) keeps_unused_growth: bool,
    /// Whether a tail loss repaired by a tail loss probe counts as a loss. The latest delivery is kept until the
    /// loss is confirmed or excluded.
    pub(crate) tail_loss: bool,
    /// Response to ECN marks; `None` if marks are ignored.
    pub(crate) ecn: Option<EcnRules>,
}

/// Test of whether the bandwidth has stopped growing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plateau {
    /// Growth is tested with the sample of every ACK, a lack of growth once per round.
    EveryAck,
    /// Growth and a lack of growth are tested once per round.
    RoundStart,
    /// The bandwidth maximum is tested once per round, in STARTUP only, as in version 1.
    MaxBandwidth,
    /// The Smart Exit: a lack of growth ends STARTUP only if there is also a queue.
    SmartExit(SmartExit),
}

/// The Smart Exit of the second BBR-n+ paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SmartExit {
    /// Whether to count rounds in which the bandwidth falls, exactly as printed in the paper, instead of rounds
    /// without growth.
    pub(crate) literal: bool,
    /// Share of the largest bandwidth below which the bandwidth counts as fallen.
    pub(crate) tolerance: Gain,
    /// Excess of the RTT over its minimum that indicates a queue.
    pub(crate) queue: Duration,
    /// Longest STARTUP, rounds; 0: no limit.
    pub(crate) max_rounds: u32,
}

/// Condition that ends UP without loss or marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpExit {
    /// The bandwidth has stopped growing.
    Plateau,
    /// UP has lasted for one minimum RTT, and the packets in flight have reached `up_gain` times the BDP.
    Queue,
}

/// Unit of loss events in STARTUP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LossEvents {
    /// An ACK that reveals losses.
    Acks,
    /// A contiguous range of lost packets.
    Ranges,
}

/// Window of the largest ACK aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Aggregation {
    /// Two slots of five rounds.
    Slots,
    /// A sliding window of ten rounds.
    Sliding,
}

/// Limit up to which the window grows regardless of the model, before the pipe is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EarlyGrowth {
    /// Until the window is twice the initial window.
    Window,
    /// Until one initial window of packets has been delivered.
    Delivered,
}

/// Response to ECN marks on a path whose routers mark at a short queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnRules {
    /// Use of ECN.
    pub(crate) mode: EcnMode,
    /// Largest minimum RTT of a path on which marks count.
    pub(crate) max_rtt: Duration,
    /// Weight of a round's share of marked packets in the average.
    pub(crate) alpha_gain: Gain,
    /// Reduction of a bound by marks, as a share of `alpha`.
    pub(crate) factor: Gain,
    /// Share of marked packets among delivered packets above which marks are too many.
    pub(crate) threshold: Gain,
    /// Number of rounds with too many marks after which STARTUP ends.
    pub(crate) full_rounds: u32,
    /// Growth at the start of a probe that begins as soon as marks cease, as a share of the long-term bound; 0: no such
    /// probe.
    pub(crate) reprobe_gain: Gain,
    /// Whether the rules are those of version 2: marks also bound the bandwidth, and a value equal to a threshold is
    /// too high.
    pub(crate) v2: bool,
}

impl Rules {
    /// Rules of version 3 as in google/bbr.
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

    /// Rules of version 2.
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
    /// Response of version 3 to marks.
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

    /// Response of version 3 to L4S marks, which come early and are counted, on paths of any RTT.
    /// Own: RFC 9330 and RFC 9331 for a sender that responds as version 3 does.
    pub(crate) const fn l4s() -> EcnRules {
        EcnRules { mode: EcnMode::L4s, max_rtt: Duration::MAX, ..EcnRules::google() }
    }

    /// Response of version 2 to marks.
    /// google/bbr v2alpha `tcp_bbr2.c`, the `bbr_*` parameters.
    pub(crate) const fn v2() -> EcnRules {
        EcnRules { reprobe_gain: Gain(0), v2: true, ..EcnRules::google() }
    }
}
