//! # BBR, version 1
//!
//! ## Idea
//! Estimate the bottleneck's bandwidth (maximum of delivery-rate samples over ten rounds) and the path's
//! propagation delay (minimum RTT over ten seconds), pace at the bandwidth, keep about two
//! bandwidth-delay products in flight. Loss is not a primary signal.
//!
//! ## Source and revision
//! Linux 6.18 `net/ipv4/tcp_bbr.c` in behaviour and fixed-point arithmetic; Cardwell et al., ACM Queue 14(5), 2016.
//!
//! ## Signals
//! Delivery-rate samples, RTT samples, packets in flight, round boundaries; loss only for the policer estimator
//! and packet conservation in the first round of recovery.
//!
//! ## State diagram
//! STARTUP → (three rounds without 25 % growth) → DRAIN → (in flight ≤ BDP) → PROBE_BW, eight phases
//! {1.25, 0.75, 1 × 6}; any → (no lower RTT for 10 s) → PROBE_RTT for 200 ms and a round → PROBE_BW or STARTUP.
//!
//! ## Deviations from the source
//! None known, apart from `policer`, which can switch the policer estimator off.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`).

use crate::bbr::{Bandwidth, Evidence, ExtraAcked, Gain, Policer, Verdict, burst_goal, min_burst};
use params::params;
use crate::registry::Algorithm;
use crate::window::INITIAL_CWND;
use crate::{
    Ack, CaState, Congestion, CongestionControl, Control, Path, Probe, RateSample, Recovery, Sent, Traits,
    Undo, WindowedMax,
};
use units::{Duration, Rate, Rng, Time};

params! {
    /// Parameters of BBRv1.
    pub struct Bbr1Params {
        /// Pacing and window gain in STARTUP: 2/ln 2 and a little more.
        startup_gain: f64 = 739.0 / 256.0, "", 1.0..=10.0;
        /// Pacing gain in DRAIN.
        drain_gain: f64 = 88.0 / 256.0, "", 0.05..=1.0;
        /// Window gain in PROBE_BW.
        cwnd_gain: f64 = 2.0, "", 1.0..=10.0;
        /// Rounds over which the bandwidth maximum is taken.
        bw_window_rounds: u32 = 10, "rounds", 1..=100;
        /// Seconds for which an RTT minimum is believed.
        min_rtt_window_s: f64 = 10.0, "s", 0.1..=3600.0;
        /// Time spent in PROBE_RTT; 0 switches it off.
        probe_rtt_ms: u32 = 200, "ms", 0..=10_000;
        /// Smallest window, and the window of PROBE_RTT.
        min_cwnd: u32 = 4, "packets", 1..=1000;
        /// Pace this much below the estimate, so that queues drain.
        pacing_margin_percent: u32 = 1, "%", 0..=50;
        /// Recognise token-bucket policers and pace at their rate.
        policer: bool = true, "";
    }
}

/// Phases of PROBE_BW.
const CYCLE: [Gain; 8] =
    [Gain(320), Gain(192), Gain::UNIT, Gain::UNIT, Gain::UNIT, Gain::UNIT, Gain::UNIT, Gain::UNIT];
/// The pipe is full after this many rounds without growth ...
const FULL_BW_ROUNDS: u32 = 3;
/// ... by this factor.
const FULL_BW_GROWTH: Gain = Gain(320);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw { phase: usize, since: Time },
    ProbeRtt { until_ms: Option<u64>, round_done: bool },
}

/// The gains of the parameters in fixed point.
#[derive(Clone, Copy, Debug)]
struct Gains {
    startup: Gain,
    drain: Gain,
    cwnd: Gain,
}

/// BBR, version 1.
pub struct Bbr1 {
    params: Bbr1Params,
    rng: Rng,
    mode: Mode,
    cwnd: u32,
    pacing_rate: Rate,
    gains: Gains,
    pacing_gain: Gain,
    cwnd_gain: Gain,
    seen_rtt: bool,
    bw: WindowedMax,
    min_rtt: Option<Duration>,
    min_rtt_stamp_ms: u64,
    rounds: u32,
    round_end: u64,
    round_start: bool,
    full_bw: Bandwidth,
    full_bw_rounds: u32,
    pipe_full: bool,
    prior_cwnd: u32,
    prior_state: CaState,
    conserve_packets: bool,
    idle_restart: bool,
    extra_acked: ExtraAcked,
    policer: Policer,
}

impl Algorithm for Bbr1 {
    type Params = Bbr1Params;
    const TITLE: &'static str = "BBR version 1";
    const SOURCE: &'static str = "Cardwell et al., ACM Queue 14(5), 2016; Linux net/ipv4/tcp_bbr.c";

    fn new(params: Bbr1Params, seed: u64) -> Bbr1 {
        let gains = Gains {
            startup: Gain::from_f64(params.startup_gain),
            drain: Gain::from_f64(params.drain_gain),
            cwnd: Gain::from_f64(params.cwnd_gain),
        };
        Bbr1 {
            params,
            gains,
            rng: Rng::stream(seed, "bbr1/phase"),
            mode: Mode::Startup,
            cwnd: INITIAL_CWND,
            pacing_rate: Rate::UNLIMITED,
            pacing_gain: gains.startup,
            cwnd_gain: gains.startup,
            seen_rtt: false,
            bw: WindowedMax::default(),
            min_rtt: None,
            min_rtt_stamp_ms: 0,
            rounds: 0,
            round_end: 0,
            round_start: false,
            full_bw: Bandwidth::default(),
            full_bw_rounds: 0,
            pipe_full: false,
            prior_cwnd: 0,
            prior_state: CaState::Open,
            conserve_packets: false,
            idle_restart: false,
            extra_acked: ExtraAcked::default(),
            policer: Policer::default(),
        }
    }
}

/// Model: what the path is like.
impl Bbr1 {
    fn max_bw(&self) -> Bandwidth {
        Bandwidth(self.bw.get())
    }

    /// The bandwidth to act on: a recognised policer's, or the maximum.
    fn bandwidth(&self) -> Bandwidth {
        self.policer.rate().unwrap_or_else(|| self.max_bw())
    }

    fn update_bandwidth(&mut self, ack: &Ack, path: &Path) {
        self.round_start = false;
        let Some(sample) = &ack.rate else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = path.delivered;
            self.rounds = self.rounds.wrapping_add(1);
            self.round_start = true;
            self.conserve_packets = false;
        }
        self.judge_policer(ack.lost > 0, sample.app_limited, path);
        let bw = Bandwidth::over(u64::from(sample.delivered), sample.interval);
        if !sample.app_limited || bw >= self.max_bw() {
            self.bw.update(self.params.bw_window_rounds, self.rounds, bw.0);
        }
    }

    fn judge_policer(&mut self, lost: bool, app_limited: bool, path: &Path) {
        if !self.params.policer {
            return;
        }
        let probing = matches!(self.mode, Mode::ProbeBw { .. });
        let evidence = Evidence { lost, app_limited, round_start: self.round_start, probing };
        match self.policer.update(&evidence, path) {
            Verdict::Unchanged => {}
            Verdict::Recognised => self.pacing_gain = Gain::UNIT,
            Verdict::Expired => self.enter_probe_bw(path),
        }
    }

    fn update_aggregation(&mut self, ack: &Ack, path: &Path) {
        if ack.rate.is_some() && ack.acked > 0 {
            let (bw, cwnd) = (self.bandwidth(), self.cwnd);
            self.extra_acked.update(ack.acked, path.delivered_time, self.round_start, bw, cwnd);
        }
    }

    fn check_pipe_full(&mut self, sample: Option<&RateSample>) {
        if self.pipe_full || !self.round_start || sample.is_some_and(|s| s.app_limited) {
            return;
        }
        let threshold = (self.full_bw.0 * u64::from(FULL_BW_GROWTH.0)) >> 8;
        if self.max_bw().0 >= threshold {
            self.full_bw = self.max_bw();
            self.full_bw_rounds = 0;
            return;
        }
        self.full_bw_rounds += 1;
        self.pipe_full = self.full_bw_rounds >= FULL_BW_ROUNDS;
    }

    fn update_min_rtt(&mut self, ack: &Ack, path: &Path) {
        let now_ms = path.now.as_millis();
        let window_ms = (self.params.min_rtt_window_s * 1e3) as u64;
        let expired = now_ms > self.min_rtt_stamp_ms + window_ms;
        if let Some(rtt) = ack.rtt
            && (self.min_rtt.is_none_or(|min| rtt < min) || (expired && !ack.delayed))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_stamp_ms = now_ms;
        }
        if expired && !self.idle_restart && !self.in_probe_rtt() && self.params.probe_rtt_ms > 0 {
            self.mode = Mode::ProbeRtt { until_ms: None, round_done: false };
            self.save_cwnd();
        }
        if self.in_probe_rtt() {
            self.run_probe_rtt(path);
        }
        if ack.rate.is_some_and(|s| s.delivered > 0) {
            self.idle_restart = false;
        }
    }
}

/// Modes: what to do about it.
impl Bbr1 {
    fn in_probe_rtt(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt { .. })
    }

    /// The mode and, in ProbeBW, the phase that its gain stands for.
    fn state(&self) -> &'static str {
        match self.mode {
            Mode::Startup => "Startup",
            Mode::Drain => "Drain",
            Mode::ProbeBw { phase: 0, .. } => "ProbeBW:Up",
            Mode::ProbeBw { phase: 1, .. } => "ProbeBW:Down",
            Mode::ProbeBw { .. } => "ProbeBW:Cruise",
            Mode::ProbeRtt { .. } => "ProbeRTT",
        }
    }

    fn enter_probe_bw(&mut self, path: &Path) {
        // Any phase but the draining one, so that flows do not synchronise.
        let phase = (CYCLE.len() - self.rng.below(CYCLE.len() as u32 - 1) as usize) % CYCLE.len();
        self.mode = Mode::ProbeBw { phase, since: path.delivered_time };
    }

    fn advance_cycle(&mut self, ack: &Ack, path: &Path) {
        if let Mode::ProbeBw { phase, since } = self.mode
            && self.phase_is_over(since, ack, path)
        {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: path.delivered_time };
        }
    }

    fn phase_is_over(&self, since: Time, ack: &Ack, path: &Path) -> bool {
        let a_round_passed =
            self.min_rtt.is_some_and(|rtt| micros_between(since, path.delivered_time) > rtt.as_micros());
        if self.pacing_gain == Gain::UNIT {
            return a_round_passed;
        }
        let in_net = self.in_net_at_departure(ack.prior_in_flight, path);
        if self.pacing_gain > Gain::UNIT {
            return a_round_passed
                && (ack.lost > 0 || in_net >= self.inflight(self.max_bw(), self.pacing_gain, path));
        }
        a_round_passed || in_net <= self.inflight(self.max_bw(), Gain::UNIT, path)
    }

    fn check_drain(&mut self, path: &Path) {
        if self.mode == Mode::Startup && self.pipe_full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain
            && self.in_net_at_departure(path.in_flight, path)
                <= self.inflight(self.max_bw(), Gain::UNIT, path)
        {
            self.enter_probe_bw(path);
        }
    }

    fn run_probe_rtt(&mut self, path: &Path) {
        let Mode::ProbeRtt { until_ms, round_done } = &mut self.mode else { return };
        match until_ms {
            None if path.in_flight <= self.params.min_cwnd => {
                *until_ms = Some(path.now.as_millis() + u64::from(self.params.probe_rtt_ms));
                *round_done = false;
                self.round_end = path.delivered;
            }
            None => {}
            Some(_) => {
                *round_done |= self.round_start;
                if *round_done {
                    self.leave_probe_rtt_if_done(path);
                }
            }
        }
    }

    fn leave_probe_rtt_if_done(&mut self, path: &Path) {
        let Mode::ProbeRtt { until_ms: Some(until_ms), .. } = self.mode else { return };
        if path.now.as_millis() <= until_ms {
            return;
        }
        self.min_rtt_stamp_ms = path.now.as_millis();
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.pipe_full {
            self.enter_probe_bw(path);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_gains(&mut self) {
        let Gains { startup, drain, cwnd } = self.gains;
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (startup, startup),
            Mode::Drain => (drain, startup),
            Mode::ProbeBw { phase, .. } => {
                let gain = if self.policer.rate().is_some() { Gain::UNIT } else { CYCLE[phase] };
                (gain, cwnd)
            }
            Mode::ProbeRtt { .. } => (Gain::UNIT, Gain::UNIT),
        };
    }
}

/// Outputs: window and pacing rate.
impl Bbr1 {
    /// Bandwidth-delay product times `gain`, with room for bursts, packets.
    fn inflight(&self, bw: Bandwidth, gain: Gain, path: &Path) -> u32 {
        self.with_room_for_bursts(self.bdp(bw, gain), path)
    }

    fn bdp(&self, bw: Bandwidth, gain: Gain) -> u32 {
        self.min_rtt.map_or(INITIAL_CWND, |rtt| bw.bdp(rtt, gain))
    }

    fn with_room_for_bursts(&self, packets: u32, path: &Path) -> u32 {
        // Three bursts: one in the sender, one in the network, one waiting for its ACK; then an even number.
        let packets = (packets + 3 * burst_goal(self.pacing_rate, path)).next_multiple_of(2);
        if matches!(self.mode, Mode::ProbeBw { phase: 0, .. }) { packets + 2 } else { packets }
    }

    /// Of `in_flight` packets, those still in the network when pacing lets the next burst go.
    fn in_net_at_departure(&self, in_flight: u32, path: &Path) -> u32 {
        let wait = path.next_departure.since(path.now).as_micros();
        let delivered = self.bandwidth().packets_in(wait);
        let burst = if self.pacing_gain > Gain::UNIT { burst_goal(self.pacing_rate, path) } else { 0 };
        u64::from(in_flight + burst).saturating_sub(delivered) as u32
    }

    fn set_pacing_rate(&mut self, gain: Gain, path: &Path) {
        if !self.seen_rtt && path.srtt.is_some() {
            self.init_pacing_rate(path);
        }
        let margin = u64::from(self.params.pacing_margin_percent);
        let rate = self.bandwidth().pacing_rate(path.mss, gain, margin);
        if self.pipe_full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn init_pacing_rate(&mut self, path: &Path) {
        self.seen_rtt = path.srtt.is_some();
        let rtt = path.srtt.unwrap_or(Duration::from_millis(1));
        let margin = u64::from(self.params.pacing_margin_percent);
        let gain = self.gains.startup;
        self.pacing_rate = Bandwidth::over(u64::from(self.cwnd), rtt).pacing_rate(path.mss, gain, margin);
    }

    fn save_cwnd(&mut self) {
        let undisturbed = self.prior_state < CaState::Recovery && !self.in_probe_rtt();
        self.prior_cwnd = if undisturbed { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// Window on entering and leaving recovery; true if packet conservation rules this ACK.
    fn recover_or_restore(&mut self, ack: &Ack, path: &Path) -> bool {
        self.cwnd = self.cwnd.saturating_sub(ack.lost).max(1);
        let recovering = path.state == CaState::Recovery;
        if recovering && self.prior_state != CaState::Recovery {
            self.conserve_packets = true; // for one round
            self.round_end = path.delivered;
            self.cwnd = path.in_flight + ack.acked;
        } else if self.prior_state >= CaState::Recovery && path.state < CaState::Recovery {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.conserve_packets = false;
        }
        self.prior_state = path.state;
        if self.conserve_packets {
            self.cwnd = self.cwnd.max(path.in_flight + ack.acked);
        }
        self.conserve_packets
    }

    fn update_cwnd(&mut self, ack: &Ack, path: &Path) {
        if ack.acked > 0 && !self.recover_or_restore(ack, path) {
            let bw = self.bandwidth();
            let allowance = if self.pipe_full { self.extra_acked.allowance(bw) } else { 0 };
            let target = self.with_room_for_bursts(self.bdp(bw, self.cwnd_gain) + allowance, path);
            if self.pipe_full {
                self.cwnd = (self.cwnd + ack.acked).min(target);
            } else if self.cwnd < target || path.delivered < u64::from(INITIAL_CWND) {
                self.cwnd += ack.acked;
            }
            self.cwnd = self.cwnd.max(self.params.min_cwnd);
        }
        if self.in_probe_rtt() {
            self.cwnd = self.cwnd.min(self.params.min_cwnd);
        }
    }
}

fn micros_between(earlier: Time, later: Time) -> u64 {
    later.as_micros().saturating_sub(earlier.as_micros())
}

impl CongestionControl for Bbr1 {
    fn on_established(&mut self, path: &Path) {
        self.min_rtt = path.min_rtt;
        self.min_rtt_stamp_ms = path.now.as_millis();
        self.round_end = path.delivered;
        self.extra_acked.restart(path.now);
        self.policer.reset(path);
        self.init_pacing_rate(path);
    }

    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        self.update_bandwidth(ack, path);
        self.update_aggregation(ack, path);
        self.advance_cycle(ack, path);
        self.check_pipe_full(ack.rate.as_ref());
        self.check_drain(path);
        self.update_min_rtt(ack, path);
        self.update_gains();
        self.set_pacing_rate(self.pacing_gain, path);
        self.update_cwnd(ack, path);
    }

    fn on_congestion(&mut self, congestion: Congestion, path: &Path) {
        if congestion != (Congestion::Timeout { first: false }) {
            self.save_cwnd();
        }
        if matches!(congestion, Congestion::Timeout { .. }) {
            self.prior_state = CaState::Loss;
            self.full_bw = Bandwidth::default();
            self.round_start = true; // a timeout ends the round
            self.judge_policer(true, false, path);
        }
    }

    fn on_undo(&mut self, _undo: &Undo, path: &Path) {
        self.full_bw = Bandwidth::default();
        self.full_bw_rounds = 0;
        self.policer.reset(path);
    }

    fn on_send(&mut self, sent: &Sent, path: &Path) {
        if !sent.from_idle || !path.app_limited {
            return;
        }
        self.idle_restart = true;
        self.extra_acked.restart(path.now);
        match self.mode {
            Mode::ProbeBw { .. } => self.set_pacing_rate(Gain::UNIT, path),
            Mode::ProbeRtt { .. } => self.leave_probe_rtt_if_done(path),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.cwnd = cwnd.max(1);
    }

    fn control(&self) -> Control {
        Control {
            cwnd: self.cwnd,
            ssthresh: u32::MAX,
            pacing_rate: Some(self.pacing_rate),
            min_burst: min_burst(self.pacing_rate),
            hide_samples: self.in_probe_rtt(),
            reduce: false,
        }
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        probe.state("state", self.state());
        probe.see("cwnd", f64::from(self.cwnd), "packets");
        probe.see("bw", self.max_bw().0 as f64 * 1e6 / f64::from(1 << 24), "packets/s");
        if let Some(rtt) = self.min_rtt {
            probe.see("min_rtt", rtt.as_secs_f64(), "s");
        }
        if self.pacing_rate != Rate::UNLIMITED {
            probe.see("pacing_rate", self.pacing_rate.bits_per_sec() as f64, "bit/s");
        }
        probe.see("pacing_gain", self.pacing_gain.as_f64(), "");
        probe.see("cwnd_gain", self.cwnd_gain.as_f64(), "");
        probe.flag("filled_pipe", self.pipe_full);
        probe.see("round_count", self.rounds as f64, "rounds");
        probe.see("extra_acked", f64::from(self.extra_acked.allowance(self.bandwidth())), "packets");
        probe.flag("idle_restart", self.idle_restart);
        probe.flag("policed", self.policer.rate().is_some());
    }

    fn traits(&self) -> Traits {
        Traits { recovery: Recovery::Algorithm, needs_pacing: true, ..Traits::default() }
    }
}
