//! # Ad-BBR
//!
//! ## Idea
//! BBRv1 with two changes. The pacing rate falls when the RTT exceeds a reference RTT (nRTT). PROBE_RTT begins only
//! after ten seconds of standing queue, not every ten seconds.
//!
//! ## Source and revision
//! Ad-BBR, Future Internet 17(5):189, 2025, Algorithms 1 to 3 and Equations 8 to 13. No code was published, and the
//! printed pseudo-code is ambiguous. Each preset is one reading of the paper, see
//! `docs/explanation/ad-bbr-readings.md`.
//!
//! ## Signals
//! The signals of BBRv1, and the last RTT sample that was not from a delayed ACK.
//!
//! ## State diagram
//! The diagram of BBRv1, with two changes. In PROBE_BW the pacing rate is divided by β = RTT/nRTT if RTT/nRTT is at
//! least 1.25. From RTT/nRTT = 1.5 on, the rate is instead multiplied by γ, or by 1 - γ (`gamma_use`). PROBE_RTT
//! begins when the RTT has exceeded RTprop by Y = max(std/2, 5 ms) for 10 s without a break. PROBE_RTT measures a
//! new RTprop, which replaces the old value.
//!
//! ## Deviations from the source
//! Readings that all presets share:
//!
//! - The comparison operators that are missing in the printed paper are read as "not above" and "at least".
//! - The factor 1/β or γ is applied to BBRv1's rate at each ACK and does not accumulate.
//! - The cycle has eight phases.
//! - The window in PROBE_RTT is four packets.
//! - RTT variables are in milliseconds where Algorithm 3 compares them.
//! - The standard deviation is computed over the RTT samples of the last 10 s.
//! - With `gamma_clamp`, γ is at most 1/β and at most `gamma_max`, and the pacing rate is at least four packets per
//!   nRTT.
//! - RTT samples from delayed ACKs can lower RTprop and have no other effect.
//! - The pacing rate is 1 % below the bandwidth estimate, as in Linux 6.18.
//! - The window differs from BBRv1's only through nRTT, although the abstract of the paper describes BBRv1's
//!   window as the problem.
//!
//! If PROBE_RTT has no RTT sample, RTprop does not change. An RTT sample below the threshold restarts both round
//! counters of `trigger = "counters"`, although section 4.1.2 calls one of the counters cumulative. With a cumulative
//! counter no result for the paper's claims changes by 0.01 or more.
//!
//! Presets `reduce` and `reduce_dynamic` read "reduces the sending rate by a factor of γ" as a rate multiplied by 1 -
//! γ. These two presets are a fit: about thirty readings were tried, and the reading that agrees best with the
//! paper's claims was selected. The fit does not show which code the authors ran. The "*" of Algorithm 2 contradicts
//! these presets, and so does the sentence of section 4.1.2 that flows with long RTTs are more affected. Algorithm 1,
//! `alpha` and `hold_s` have no effect if nRTT is always RTprop, as in all presets but `dynamic` and
//! `reduce_dynamic`.
//!
//! ## Validated against
//! Properties derived from the paper (`tests/bbr1_family`, `tests/theory`); no other implementation exists. One
//! property does not hold for preset `literal`. After a reroute to a longer path, the preset sends too slowly for
//! PROBE_RTT to detect the longer path, and never recovers.

use crate::bbr::v1::{Core, Mode, Settings, V1, Variant, params_of_v1};
use crate::bbr::{Bandwidth, Gain, RttHistory};
use crate::registry::Algorithm;
use crate::{Ack, Path, Probe, WindowedMax};
use serde::{Deserialize, Serialize};
use units::{Duration, Rate, Time};

/// Value of nRTT after the RTT has exceeded `alpha` × RTprop for `hold_s`. Before that time nRTT is RTprop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference {
    /// RTprop, as printed in the paper.
    Rtprop,
    /// The smallest RTT since the RTT exceeded `alpha` × RTprop. This value rises with a longer path, but also with a
    /// standing queue.
    WindowMin,
    /// The last RTT sample.
    Last,
}

/// Unit of RTT - nRTT in γ = 1/(RTT - nRTT).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GammaUnit {
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// Thirds of nRTT: γ then equals 1/β at RTT/nRTT = 1.5, the ratio from which γ applies.
    Normalised,
}

/// Use of γ in the pacing rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GammaUse {
    /// The rate is multiplied by γ, as printed in Algorithm 2.
    Times,
    /// The rate is multiplied by 1 - γ: a reading of "reduces the sending rate by a factor of γ" (section 4.1.2).
    ReduceBy,
}

/// Rule that selects β or γ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The last RTT sample selects β or γ (Algorithm 2).
    Ratio,
    /// The number of rounds with a queue selects β or γ (section 4.1.2).
    Counters,
}

/// Time for which the RTT minimum (RTprop) is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expiry {
    /// The minimum is valid until PROBE_RTT replaces it.
    ProbeRtt,
    /// The minimum is valid for `min_rtt_window_s`. The smallest sample within that window then replaces the
    /// minimum.
    Sliding,
    /// The minimum is valid for `min_rtt_window_s`. The next sample then replaces the minimum, as in BBRv1.
    Overwrite,
}

params_of_v1! {
    /// Parameters of Ad-BBR.
    pub struct AdBbrParams on Linux6_18, margin 1 {
        /// Value of nRTT once RTT/RTprop has been above alpha for hold_s: rtprop, window_min or last.
        nrtt: Reference = Reference::Rtprop, "";
        /// Ratio RTT/RTprop up to which nRTT is RTprop. The value has no effect if nrtt is rtprop.
        alpha: f64 = 1.25, "", 1.0..=10.0;
        /// Time with RTT/RTprop above alpha after which nRTT changes. The value has no effect if nrtt is rtprop.
        hold_s: f64 = 0.3, "s", 0.0..=100.0;
        /// RTT of the bandwidth-delay product in PROBE_BW: rtprop or nrtt.
        bdp_ref: BdpReference = BdpReference::Rtprop, "";
        /// Rule that selects beta or gamma: ratio or counters.
        trigger: Trigger = Trigger::Ratio, "";
        /// Ratio RTT/nRTT from which the rate is divided by beta = RTT/nRTT.
        beta_from: f64 = 1.25, "", 1.0..=10.0;
        /// Ratio RTT/nRTT from which gamma applies instead of beta.
        gamma_from: f64 = 1.5, "", 1.0..=10.0;
        /// Factor of the rate with gamma: times (gamma) or reduce_by (1 - gamma).
        gamma_use: GammaUse = GammaUse::Times, "";
        /// Unit of RTT - nRTT in gamma = 1/(RTT - nRTT): ms, s or normalised (a third of nRTT).
        gamma_unit: GammaUnit = GammaUnit::Ms, "";
        /// Whether to limit gamma to the range from gamma_min to the smaller of gamma_max and 1/beta. With
        /// reduce_by, 1 - gamma is limited to at least gamma_min instead. With this option the pacing rate is
        /// also at least four packets per nRTT.
        gamma_clamp: bool = true, "";
        /// Smallest factor of the pacing rate with gamma_clamp.
        gamma_min: f64 = 0.01, "", 0.0..=1.0;
        /// Largest gamma with gamma_clamp.
        gamma_max: f64 = 2.0 / 3.0, "", 0.0..=1.0;
        /// Validity of the RTT minimum: probe_rtt, sliding or overwrite.
        rtprop_expiry: Expiry = Expiry::ProbeRtt, "";
        /// Time with an RTT above RTprop + Y after which PROBE_RTT begins.
        probe_rtt_after_s: f64 = 10.0, "s", 0.1..=3600.0;
        /// Threshold Y of the standing queue, in standard deviations of the RTT.
        y_std: f64 = 0.5, "", 0.0..=10.0;
        /// Smallest threshold Y of the standing queue.
        y_min_ms: f64 = 5.0, "ms", 0.0..=10_000.0;
        /// Window of the standard deviation of the RTT.
        history_s: f64 = 10.0, "s", 0.1..=100_000.0;
    }
    presets {
        "faithful" => {},
        "literal" => { gamma_clamp: false },
        "sane" => { gamma_unit: GammaUnit::Normalised, gamma_min: 0.25 },
        "dynamic" => {
            nrtt: Reference::WindowMin, bdp_ref: BdpReference::Nrtt, gamma_unit: GammaUnit::Normalised, gamma_min: 0.25,
        },
        "si" => { gamma_unit: GammaUnit::S, gamma_clamp: false },
        "reduce" => { gamma_use: GammaUse::ReduceBy },
        "reduce_dynamic" => {
            nrtt: Reference::WindowMin, bdp_ref: BdpReference::Nrtt, gamma_use: GammaUse::ReduceBy,
        },
    }
}

/// RTT used in the bandwidth-delay product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BdpReference {
    /// RTprop, as in BBRv1.
    Rtprop,
    /// nRTT.
    Nrtt,
}

/// Ad-BBR.
pub(crate) type AdBbr = V1<Adaptive>;

impl Algorithm for AdBbr {
    type Params = AdBbrParams;
    const TITLE: &'static str = "Ad-BBR (BBRv1 paced by the RTT ratio, PROBE_RTT on standing queue)";
    const SOURCE: &'static str = "Future Internet 17(5):189, 2025";

    fn new(params: AdBbrParams, seed: u64) -> AdBbr {
        let settings = Settings::from(&params);
        V1::with(Adaptive::new(params), settings, seed)
    }
}

/// Changes of Ad-BBR to BBRv1. RTTs are floating-point microseconds, because the law uses ratios of RTTs.
pub(crate) struct Adaptive {
    params: AdBbrParams,
    hold: Duration,
    patience: Duration,
    /// The last RTT sample.
    rtt: f64,
    nrtt: f64,
    last_sample: Option<Time>,
    history: RttHistory,
    over_alpha: Duration,
    window_min: f64,
    standing: Duration,
    probe_min: Option<Duration>,
    sliding: WindowedMax,
    rounds_above: u32,
    rounds_far_above: u32,
    factor: f64,
}

impl Adaptive {
    fn new(params: AdBbrParams) -> Adaptive {
        Adaptive {
            history: RttHistory::over(seconds(params.history_s)),
            hold: seconds(params.hold_s),
            patience: seconds(params.probe_rtt_after_s),
            params,
            rtt: 0.0,
            nrtt: 0.0,
            last_sample: None,
            over_alpha: Duration::ZERO,
            window_min: f64::INFINITY,
            standing: Duration::ZERO,
            probe_min: None,
            sliding: WindowedMax::default(),
            rounds_above: 0,
            rounds_far_above: 0,
            factor: 1.0,
        }
    }

    /// Update RTprop, as `rtprop_expiry` selects.
    fn update_rtprop(&mut self, core: &mut Core, ack: &Ack, path: &Path) {
        let Some(rtt) = ack.rtt else { return };
        if core.in_probe_rtt() {
            self.probe_min = Some(self.probe_min.map_or(rtt, |min| min.min(rtt)));
        }
        match self.params.rtprop_expiry {
            Expiry::ProbeRtt => core.min_rtt = Some(core.min_rtt.map_or(rtt, |min| min.min(rtt))),
            Expiry::Sliding => {
                let (window, now) = (core.settings.min_rtt_window_ms as u32, path.now.as_millis() as u32);
                let largest = self.sliding.update(window, now, u64::MAX - rtt.as_nanos());
                core.min_rtt = Some(Duration::from_nanos(u64::MAX - largest));
            }
            Expiry::Overwrite => {
                core.update_min_rtt(ack, path);
            }
        }
    }

    /// Update the reference RTT nRTT (Algorithm 1).
    fn update_nrtt(&mut self, rtprop: f64, passed: Duration) {
        if self.rtt <= self.params.alpha * rtprop {
            self.refer_to(rtprop);
            return;
        }
        self.over_alpha = self.over_alpha + passed;
        self.window_min = self.window_min.min(self.rtt);
        if self.over_alpha >= self.hold {
            self.refer_to(match self.params.nrtt {
                Reference::Rtprop => rtprop,
                Reference::WindowMin => self.window_min,
                Reference::Last => self.rtt,
            });
        }
    }

    fn refer_to(&mut self, rtt: f64) {
        self.nrtt = rtt;
        self.over_alpha = Duration::ZERO;
        self.window_min = f64::INFINITY;
    }

    fn count_rounds(&mut self) {
        self.rounds_above = if self.rtt > self.nrtt { self.rounds_above.saturating_add(1) } else { 0 };
        let far = self.rtt >= self.params.gamma_from * self.nrtt;
        self.rounds_far_above = if far { self.rounds_far_above.saturating_add(1) } else { 0 };
    }

    /// The factor by which the pacing rate is multiplied (Algorithm 2).
    fn factor(&self) -> f64 {
        let above = |ratio: f64| self.rtt >= ratio * self.nrtt;
        let (queue, slow) = match self.params.trigger {
            Trigger::Ratio => (above(self.params.gamma_from), above(self.params.beta_from)),
            Trigger::Counters => {
                let long = self.rounds_above > 10 && self.rtt > self.params.beta_from * self.nrtt;
                (self.rounds_far_above >= 3 || long, true)
            }
        };
        if !slow || self.rtt <= self.nrtt {
            return 1.0;
        }
        let ratio = self.rtt / self.nrtt;
        if queue { self.gamma(ratio) } else { 1.0 / ratio }
    }

    fn gamma(&self, ratio: f64) -> f64 {
        let queue = self.rtt - self.nrtt;
        let gamma = match self.params.gamma_unit {
            GammaUnit::Ms => 1.0 / (queue / 1e3 + 1e-6),
            GammaUnit::S => 1.0 / (queue / 1e6 + 1e-6),
            GammaUnit::Normalised => self.nrtt / (3.0 * queue),
        };
        let (least, clamped) = (self.params.gamma_min, self.params.gamma_clamp);
        match self.params.gamma_use {
            GammaUse::Times if clamped => gamma.max(least).min(self.params.gamma_max).min(1.0 / ratio),
            GammaUse::Times => gamma,
            GammaUse::ReduceBy => (1.0 - gamma).max(if clamped { least } else { 0.0 }),
        }
    }

    /// Update the time of standing queue. True if PROBE_RTT is due (Algorithm 3).
    fn watch_queue(&mut self, rtprop: f64, passed: Duration) -> bool {
        let excess = self.rtt - rtprop;
        let above =
            excess > self.params.y_min_ms * 1e3 && excess > self.params.y_std * self.history.std_micros();
        self.standing = if above { self.standing + passed } else { Duration::ZERO };
        self.standing >= self.patience
    }
}

impl Variant for Adaptive {
    fn update_min_rtt(&mut self, core: &mut Core, ack: &Ack, path: &Path) -> bool {
        self.update_rtprop(core, ack, path);
        let (Some(rtt), Some(rtprop)) = (ack.rtt, core.min_rtt) else { return false };
        let rtprop = rtprop.as_micros() as f64;
        if self.nrtt == 0.0 || rtt.as_micros() as f64 <= rtprop {
            self.nrtt = rtprop;
        }
        if ack.delayed {
            return false;
        }
        let passed = path.now.since(self.last_sample.unwrap_or(path.now));
        self.last_sample = Some(path.now);
        self.rtt = rtt.as_micros() as f64;
        self.history.add(rtt, path.now);
        self.update_nrtt(rtprop, passed);
        if core.round_start {
            self.count_rounds();
        }
        self.factor = self.factor();
        !core.in_probe_rtt() && self.watch_queue(rtprop, passed)
    }

    fn enter_probe_rtt(&mut self, core: &Core) -> u32 {
        self.standing = Duration::ZERO;
        self.probe_min = None;
        core.settings.min_cwnd
    }

    fn leave_probe_rtt(&mut self, core: &mut Core) {
        if let (Expiry::ProbeRtt, Some(seen)) = (self.params.rtprop_expiry, self.probe_min) {
            core.min_rtt = Some(seen);
        }
        self.refer_to(core.min_rtt.map_or(0.0, |rtprop| rtprop.as_micros() as f64));
    }

    fn pace(&self, core: &Core, rate: Rate, mss: u32) -> Rate {
        if !matches!(core.mode, Mode::ProbeBw { .. }) || self.factor == 1.0 {
            return rate;
        }
        let full = rate.bytes_per_sec() as f64;
        let floor = if self.params.gamma_clamp { 4e6 * f64::from(mss) / self.nrtt } else { 1.0 };
        Rate::from_bytes_per_sec((full * self.factor).max(floor.min(full)).max(1.0) as u64)
    }

    /// The BDP with nRTT (Equation 8), in PROBE_BW only, as in Algorithm 2. In DRAIN, nRTT may include the queue that
    /// STARTUP built, and DRAIN would not empty that queue.
    fn bdp(&self, core: &Core, bw: Bandwidth, gain: Gain) -> u32 {
        let probing = matches!(core.mode, Mode::ProbeBw { .. });
        match self.params.bdp_ref {
            BdpReference::Nrtt if probing && self.nrtt > 0.0 => {
                bw.bdp(Duration::from_micros(self.nrtt as u64), gain)
            }
            _ => core.bdp(bw, gain),
        }
    }

    fn observe(&self, _core: &Core, probe: &mut Probe<'_>) {
        probe.see("nrtt", self.nrtt / 1e6, "s");
        probe.see("pacing_factor", self.factor, "");
        probe.see("rtt_std", self.history.std_micros() / 1e6, "s");
        probe.see("standing_queue_time", self.standing.as_secs_f64(), "s");
    }
}

fn seconds(s: f64) -> Duration {
    Duration::from_nanos((s * 1e9) as u64)
}
