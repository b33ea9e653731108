//! # BBR, version 3
//!
//! ## Idea
//! BBRv3 models the path like BBRv1, by its bandwidth (maximum over the last two probing cycles) and its
//! propagation delay. The model also bounds the packets in flight. Probes find a long-term bound: a probe ends
//! when more than 2 % of its packets are lost. Losses between probes set short-term bounds. Probes are rare, and
//! their times are chosen so that Reno and CUBIC flows get their share. CRUISE leaves headroom for other flows.
//!
//! ## Source and revision
//! google/bbr, branch v3, `net/ipv4/tcp_bbr.c` (preset `google`), and draft-ietf-ccwg-bbr of August 2026 (preset
//! `draft`), in behaviour, with the fixed-point arithmetic of google/bbr.
//!
//! ## Signals
//! Delivery-rate samples with the losses and the packets in flight of the sampled packet, every lost packet with the
//! packets in flight when it was sent, RTT samples, packets in flight, round boundaries. ECN marks are a signal
//! only with `ecn`, on paths with an RTT of at most 5 ms.
//!
//! ## State diagram
//! STARTUP → (three rounds without 25 % growth, or a round of recovery with six loss events and more than 2 % lost) →
//! DRAIN → (in flight ≤ BDP) → PROBE_BW: DOWN (0.91) → (in flight ≤ BDP and below the bound less 15 %) → CRUISE →
//! (2 to 3 s, or as many rounds as packets in flight, 63 at most) → REFILL (one round) → UP (1.25) → (three rounds
//! without growth, too much loss, or a bound at which the last probe had too much loss) → DOWN; any → (no lower RTT
//! for 5 s) → PROBE_RTT at half a BDP for 200 ms and a round → CRUISE or STARTUP.
//!
//! ## Deviations from the source
//! Not implemented: the fast path for ACKs of app-limited flows, which only saves CPU time, and the rerouting of
//! flows within a data centre (PLB). The window is in packets in both presets, although the draft counts bytes. [This
//! table](../../explanation/bbr3-google-and-draft.md) lists the differences between the presets.
//!
//! Google's kernel subtracts the SACKed packets of a burst from the in-flight count of the rest of that burst,
//! although the SACKed packets were in flight (`tcp_shifted_skb` lowers `tx.in_flight`). The resulting long-term
//! bound is 1 to 3 packets lower. The next probe begins below the limit of the path, lasts a round longer and
//! loses 9 to 11 packets instead of 5.
//!
//! A flow at 50 Mbit/s and 20 ms with a buffer of half a BDP retransmits 76 packets in Google's kernel, and 61 in
//! this implementation. With an emulation of the kernel's rule, this implementation retransmits 79 packets (25 s
//! without the first 5 s, means of three runs). The kernel's rule looks like a mistake, so this implementation
//! does not follow it.
//!
//! If a burst is acknowledged in part, the sample of Google's kernel has the packets in flight at the end of the
//! burst. In this implementation, the sample has the packets in flight when the acknowledged packet was sent.
//!
//! ## Validated against
//! The checkable properties of Google's code and of the draft, one by one (`crates/congestion/tests/bbr3.rs`,
//! `tests/theory/test_bbr3.py`), and Google's BBRv3 ported to Linux 7.2, as BBRv3 is not in the mainline kernel.

use crate::bbr::Gain;
use crate::bbr::v3::{Aggregation, EarlyGrowth, EcnRules, LossEvents, Plateau, Rules, V3};
use crate::registry::Algorithm;
use params::params;
use units::Duration;

/// When growth of the bandwidth is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlateauTest {
    /// Growth is tested on every ACK.
    Ack,
    /// Growth is tested once per round.
    Round,
}

params! {
    /// Parameters of BBRv3. Gains are rounded to 1/256.
    pub struct Bbr3Params {
        /// Pacing gain in STARTUP: 4 ln 2.
        startup_gain: f64 = 710.0 / 256.0, "", 1.0..=10.0;
        /// Window gain in STARTUP and DRAIN.
        startup_cwnd_gain: f64 = 2.0, "", 1.0..=10.0;
        /// Pacing gain in DRAIN.
        drain_gain: f64 = 88.0 / 256.0, "", 0.05..=1.0;
        /// Longest duration of DRAIN, even if a queue is left; 0: no limit.
        drain_max_rounds: u32 = 0, "rounds", 0..=1000;
        /// Pacing gain in UP.
        up_gain: f64 = 1.25, "", 1.0..=4.0;
        /// Pacing gain in DOWN.
        down_gain: f64 = 232.0 / 256.0, "", 0.05..=1.0;
        /// Window gain in PROBE_BW.
        cwnd_gain: f64 = 2.0, "", 1.0..=10.0;
        /// Window gain in UP.
        up_cwnd_gain: f64 = 2.25, "", 1.0..=10.0;
        /// Cap of the window in PROBE_RTT.
        probe_rtt_cwnd: f64 = 0.5, "BDP", 0.0..=2.0;
        /// Window gain in PROBE_RTT, before the cap probe_rtt_cwnd applies.
        probe_rtt_cwnd_gain: f64 = 1.0, "", 0.0..=2.0;
        /// Duration of PROBE_RTT; 0 disables it.
        probe_rtt_ms: u32 = 200, "ms", 0..=10_000;
        /// Time without a lower RTT after which PROBE_RTT begins.
        probe_rtt_interval_s: f64 = 5.0, "s", 0.1..=3600.0;
        /// Window of the RTT minimum from which the BDP is computed.
        min_rtt_window_s: f64 = 10.0, "s", 0.1..=3600.0;
        /// Smallest window.
        min_cwnd: u32 = 4, "packets", 1..=1000;
        /// Margin by which the pacing rate is below the bandwidth estimate, so that queues drain.
        pacing_margin_percent: u32 = 1, "%", 0..=50;
        /// Share of lost packets among the packets in flight above which loss is too high.
        loss_threshold: f64 = 5.0 / 256.0, "", 0.0..=0.5;
        /// Factor by which a loss reduces a bound.
        beta: f64 = 180.0 / 256.0, "", 0.1..=1.0;
        /// Share of the long-term bound left free for other flows in CRUISE.
        headroom: f64 = 38.0 / 256.0, "", 0.0..=0.9;
        /// Loss events in a round of recovery that end STARTUP, if loss is too high.
        full_loss_events: u32 = 6, "", 1..=15;
        /// Unit of loss events: acks that reveal losses, or ranges of lost packets.
        loss_events: LossEvents = LossEvents::Acks, "";
        /// When growth of the bandwidth is tested: on every ack, or once per round.
        plateau_test: PlateauTest = PlateauTest::Ack, "";
        /// Shortest time between probes.
        probe_wait_s: f64 = 2.0, "s", 0.0..=100.0;
        /// Range of the random time added to the shortest time between probes.
        probe_wait_random_s: f64 = 1.0, "s", 0.0..=100.0;
        /// Maximum number of rounds between probes.
        probe_max_rounds: u32 = 63, "rounds", 1..=255;
        /// Window of the largest ACK aggregation: slots (two of five rounds) or sliding (ten rounds).
        aggregation: Aggregation = Aggregation::Slots, "";
        /// Whether the model assumes larger bursts on very short paths, so that the window has room for these
        /// bursts.
        short_path_bursts: bool = true, "";
        /// Whether entering CRUISE reduces the short-term bound to the long-term bound.
        cruise_lowers_inflight_lo: bool = true, "";
        /// Whether RTT samples of delayed ACKs never renew an expired minimum.
        delayed_ack_guard: bool = true, "";
        /// Limit up to which the window grows regardless of the model while the pipe is not full: window (up to twice
        /// the initial window) or delivered (until one initial window is delivered).
        early_growth: EarlyGrowth = EarlyGrowth::Window, "";
        /// Whether the undo of a loss keeps a window that grew since, and returns to the STARTUP or probe that the
        /// loss had ended.
        undo_returns_to_probe: bool = false, "";
        /// Whether the window is restored after fast recovery, too, not only after timeouts.
        restore_after_recovery: bool = false, "";
        /// Whether to respond to ECN marks if the RTT is at most 5 ms. Meant for routers that mark at a short queue, as
        /// in data centres. The receiver echoes every mark.
        ecn: bool = false, "";
    }
    presets {
        "google" => {},
        "draft" => {
            drain_gain: 0.5,
            drain_max_rounds: 3,
            down_gain: 0.9,
            probe_rtt_cwnd_gain: 0.5,
            loss_threshold: 0.02,
            beta: 0.7,
            headroom: 0.15,
            loss_events: LossEvents::Ranges,
            plateau_test: PlateauTest::Round,
            aggregation: Aggregation::Sliding,
            short_path_bursts: false,
            cruise_lowers_inflight_lo: false,
            delayed_ack_guard: false,
            early_growth: EarlyGrowth::Delivered,
            undo_returns_to_probe: true,
            restore_after_recovery: true,
        },
    }
}

impl From<&Bbr3Params> for Rules {
    fn from(p: &Bbr3Params) -> Rules {
        let gain = Gain::from_f64;
        let seconds = |s: f64| Duration::from_micros((s * 1e6).round() as u64);
        Rules {
            startup_gain: gain(p.startup_gain),
            startup_cwnd_gain: gain(p.startup_cwnd_gain),
            drain_gain: gain(p.drain_gain),
            drain_max_rounds: p.drain_max_rounds,
            up_gain: gain(p.up_gain),
            down_gain: gain(p.down_gain),
            cwnd_gain: gain(p.cwnd_gain),
            up_cwnd_gain: gain(p.up_cwnd_gain),
            probe_rtt_cwnd: gain(p.probe_rtt_cwnd),
            probe_rtt_cwnd_gain: gain(p.probe_rtt_cwnd_gain),
            probe_rtt_ms: u64::from(p.probe_rtt_ms),
            probe_rtt_interval_ms: seconds(p.probe_rtt_interval_s).as_micros() / 1_000,
            min_rtt_window_ms: seconds(p.min_rtt_window_s).as_micros() / 1_000,
            min_cwnd: p.min_cwnd,
            margin_percent: u64::from(p.pacing_margin_percent),
            loss_threshold: gain(p.loss_threshold),
            beta: gain(p.beta),
            headroom: gain(p.headroom),
            full_loss_events: p.full_loss_events,
            loss_events: p.loss_events,
            plateau: match p.plateau_test {
                PlateauTest::Ack => Plateau::EveryAck,
                PlateauTest::Round => Plateau::RoundStart,
            },
            probe_wait: seconds(p.probe_wait_s),
            probe_wait_random: seconds(p.probe_wait_random_s),
            probe_max_rounds: p.probe_max_rounds,
            aggregation: p.aggregation,
            short_path_bursts: p.short_path_bursts,
            cruise_lowers_inflight_lo: p.cruise_lowers_inflight_lo,
            delayed_ack_guard: p.delayed_ack_guard,
            early_growth: p.early_growth,
            undo_returns_to_probe: p.undo_returns_to_probe,
            restore_after_recovery: p.restore_after_recovery,
            ecn: p.ecn.then(EcnRules::google),
            ..Rules::google()
        }
    }
}

/// BBR, version 3.
pub(crate) enum Bbr3 {}

impl Algorithm for Bbr3 {
    type Params = Bbr3Params;
    const TITLE: &'static str = "BBR version 3";
    const SOURCE: &'static str =
        "google/bbr, branch v3, net/ipv4/tcp_bbr.c; draft-ietf-ccwg-bbr of August 2026";

    fn new(params: Bbr3Params, seed: u64) -> V3 {
        V3::new(Rules::from(&params), seed)
    }
}
