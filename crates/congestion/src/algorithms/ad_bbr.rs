//! # Ad-BBR
//!
//! ## Idea
//! BBRv1 that paces slower the more the RTT exceeds a reference (nRTT), and that empties the pipe for PROBE_RTT only
//! after ten seconds of standing queue, not every ten seconds.
//!
//! ## Source and revision
//! Ad-BBR, Future Internet 17(5):189, 2025, Algorithms 1 to 3 and Equations 8 to 13. No code was published, and the
//! printed pseudo-code leaves open what the presets decide; what they do is in `docs/explanation/ad-bbr-readings.md`.
//!
//! ## Signals
//! BBRv1's; the last RTT sample that no delayed-ACK timer had held back.
//!
//! ## State diagram
//! BBRv1's. In PROBE_BW the rate is divided by β = RTT/nRTT from 1.25 nRTT on, and multiplied by γ from 1.5 nRTT on, or
//! by 1 - γ (`gamma_use`).
//! PROBE_RTT comes when the RTT has exceeded RTprop by Y = max(std/2, 5 ms) for 10 s on end, and replaces RTprop.
//!
//! ## Deviations from the source
//! Readings that no preset changes: the comparisons lost in print are "not above" and "at least"; the factor applies to
//! each ACK's rate anew; the cycle has eight phases; ProbeRTT holds four packets; RTT variables are in milliseconds
//! where Algorithm 3 compares them; the spread is that of the last 10 s. Where γ is clamped it is at most 1/β and
//! `gamma_max`, and the rate at least four packets per nRTT. Delayed-ACK samples can lower RTprop and do nothing else.
//! Rates are paced 1 % below the estimate, as in Linux 6.18. Nothing but nRTT ever changes the window, which the abstract
//! blames.
//!
//! A PROBE_RTT that passes without an RTT sample leaves RTprop as it was. A sample below the threshold restarts both
//! counts of `trigger = "counters"`, though section 4.1.2 calls one of them cumulative: without that, no claim of the
//! paper changes by a hundredth.
//!
//! Presets `reduce` and `reduce_dynamic` read "reduces the sending rate by a factor of γ" as a rate of 1 - γ. They are a
//! fit: some thirty readings were tried and the best picked by the paper's claims, which is no evidence of what its
//! authors ran. The "*" of Algorithm 2 contradicts them, and so does the sentence of 4.1.2 that flows with long RTTs are
//! more affected. Where nRTT is always RTprop, as in all presets but `dynamic` and `reduce_dynamic`, Algorithm 1, `alpha`
//! and `hold_s` do nothing.
//!
//! ## Validated against
//! The properties of its specification (`tests/bbr1_family`, `tests/theory`); nothing else runs it. Of these one does not
//! hold: after a path has grown longer, `literal` is too slow for PROBE_RTT to see it, and does not come back.

use crate::bbr::v1::{Core, Mode, Settings, V1, Variant, params_of_v1};
use crate::bbr::{Bandwidth, Gain, RttHistory};
use crate::registry::Algorithm;
use crate::{Ack, Path, Probe, WindowedMax};
use serde::{Deserialize, Serialize};
use units::{Duration, Rate, Time};

/// What nRTT becomes after `hold_s` above `alpha` RTprop; below, it is RTprop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference {
    /// RTprop, as printed.
    Rtprop,
    /// The smallest RTT of that time: the reference follows a longer path, and a standing queue.
    WindowMin,
    /// The last RTT.
    Last,
}

/// The unit in which γ = 1/(RTT - nRTT) is a pure number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GammaUnit {
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// Thirds of nRTT: continuous with 1/β where γ takes over.
    Normalised,
}

/// What becomes of the rate by γ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GammaUse {
    /// It is multiplied by γ, as Algorithm 2 prints it.
    Times,
    /// It is reduced by γ, to 1 - γ of it: a reading of "reduces the sending rate by a factor of γ" (section 4.1.2).
    ReduceBy,
}

/// What decides between β and γ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Algorithm 2: the last RTT.
    Ratio,
    /// Section 4.1.2: rounds with a queue are counted.
    Counters,
}

/// For how long an RTT minimum is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expiry {
    /// Until PROBE_RTT replaces it.
    ProbeRtt,
    /// For `min_rtt_window_s`, then the next best of that time takes over.
    Sliding,
    /// For `min_rtt_window_s`, then the next sample takes over, as in BBRv1.
    Overwrite,
}

params_of_v1! {
    /// Parameters of Ad-BBR.
    pub struct AdBbrParams on Linux6_18, margin 1 {
        /// What nRTT becomes after a while above RTprop: rtprop, window_min or last.
        nrtt: Reference = Reference::Rtprop, "";
        /// nRTT is RTprop while the RTT is at most this many RTprop. Does nothing where nrtt is rtprop.
        alpha: f64 = 1.25, "", 1.0..=10.0;
        /// How long the RTT must stay above that. Does nothing where nrtt is rtprop.
        hold_s: f64 = 0.3, "s", 0.0..=100.0;
        /// Which of the two the bandwidth-delay product is reckoned with in PROBE_BW: rtprop or nrtt.
        bdp_ref: BdpReference = BdpReference::Rtprop, "";
        /// What decides between beta and gamma: ratio or counters.
        trigger: Trigger = Trigger::Ratio, "";
        /// The rate is divided by beta = RTT/nRTT from this ratio on ...
        beta_from: f64 = 1.25, "", 1.0..=10.0;
        /// ... and gamma takes over from this one on.
        gamma_from: f64 = 1.5, "", 1.0..=10.0;
        /// What becomes of the rate then: times gamma, or reduce_by gamma, to 1 - gamma of it.
        gamma_use: GammaUse = GammaUse::Times, "";
        /// Unit of gamma: ms, s or normalised.
        gamma_unit: GammaUnit = GammaUnit::Ms, "";
        /// Keep gamma between gamma_min and the smaller of gamma_max and 1/beta, or 1 - gamma between gamma_min and 1; and
        /// the rate at four packets per nRTT.
        gamma_clamp: bool = true, "";
        /// Smallest factor.
        gamma_min: f64 = 0.01, "", 0.0..=1.0;
        /// Largest gamma.
        gamma_max: f64 = 2.0 / 3.0, "", 0.0..=1.0;
        /// For how long an RTT minimum is believed: probe_rtt, sliding or overwrite.
        rtprop_expiry: Expiry = Expiry::ProbeRtt, "";
        /// PROBE_RTT comes after the RTT has been above RTprop + Y for this long.
        probe_rtt_after_s: f64 = 10.0, "s", 0.1..=3600.0;
        /// Y is this many standard deviations of the RTT ...
        y_std: f64 = 0.5, "", 0.0..=10.0;
        /// ... and at least this.
        y_min_ms: f64 = 5.0, "ms", 0.0..=10_000.0;
        /// The standard deviation is that of the last samples of this time.
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

/// The RTT of the bandwidth-delay product.
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

/// What Ad-BBR does otherwise than BBRv1. RTTs in microseconds, as numbers: they are divided by one another.
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

    /// RTprop, by the reading of its expiry.
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

    /// Algorithm 1: the reference.
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

    /// Algorithm 2: by what the rate is multiplied.
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

    /// Algorithm 3: true if the queue has been standing for long enough.
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

    /// Equation 8, in PROBE_BW only, as Algorithm 2: DRAIN has to empty the queue that STARTUP built, which nRTT may
    /// have taken for the path by then.
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
