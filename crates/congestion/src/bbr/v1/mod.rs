//! BBR version 1, the base of several algorithms: [`V1`] is the algorithm, and a [`Variant`] holds the changes of a
//! descendant.
//!
//! The algorithm follows Linux 6.18 `net/ipv4/tcp_bbr.c` in behaviour and fixed-point arithmetic.

mod cycle;
mod model;
mod params;
mod probe_rtt;
mod variant;
mod window;

pub(crate) use cycle::Mode;
pub(crate) use params::{Base, Settings, params_of_v1};
pub(crate) use variant::{Plain, Variant};

use super::{Bandwidth, ExtraAcked, Gain, Policer, min_burst};
use crate::window::INITIAL_CWND;
use crate::{
    Ack, CaState, Congestion, CongestionControl, Control, Path, Probe, Recovery, Sent, Traits, Undo,
    WindowedMax,
};
use std::cell::Cell;
use units::{Duration, Rate, Rng};

/// State of BBRv1 and of all its descendants.
pub(crate) struct Core {
    pub(crate) settings: Settings,
    pub(crate) mode: Mode,
    pub(crate) cwnd: u32,
    ssthresh: u32,
    pub(crate) pacing_rate: Rate,
    pub(crate) pacing_gain: Gain,
    pub(crate) min_rtt: Option<Duration>,
    pub(crate) min_rtt_stamp_ms: u64,
    pub(crate) round_start: bool,
    rng: Rng,
    cwnd_gain: Gain,
    seen_rtt: bool,
    bw: WindowedMax,
    rounds: u32,
    round_end: u64,
    full_bw: Bandwidth,
    full_bw_rounds: u32,
    pipe_full: bool,
    prior_cwnd: u32,
    prior_state: CaState,
    conserve_packets: bool,
    idle_restart: bool,
    /// Whether the last ACK was processed in PROBE_RTT. The ACK that ends PROBE_RTT counts as processed in
    /// PROBE_RTT.
    hide_samples: bool,
    probe_rtt_cwnd: u32,
    extra_acked: ExtraAcked,
    policer: Policer,
    /// Cached pacing rate with its inputs: bandwidth, gain and MSS, which change once per round.
    paced: ((Bandwidth, Gain, u32), Rate),
    /// Cached BDP in packets with its inputs: bandwidth, RTT and gain.
    product: Cell<((Bandwidth, Duration, Gain), u32)>,
    /// Cached burst in packets with its inputs: rate, MSS and largest burst.
    burst: Cell<((Rate, u32, u32), u32)>,
}

impl Core {
    fn new(settings: Settings, seed: u64) -> Core {
        Core {
            settings,
            mode: Mode::Startup,
            cwnd: INITIAL_CWND,
            ssthresh: u32::MAX,
            pacing_rate: Rate::UNLIMITED,
            pacing_gain: settings.startup_gain,
            min_rtt: None,
            min_rtt_stamp_ms: 0,
            round_start: false,
            // One stream of random numbers for the whole family, so that descendants draw the same random phases
            // as BBRv1.
            rng: Rng::stream(seed, "bbr1/phase"),
            cwnd_gain: settings.startup_gain,
            seen_rtt: false,
            bw: WindowedMax::default(),
            rounds: 0,
            round_end: 0,
            full_bw: Bandwidth::default(),
            full_bw_rounds: 0,
            pipe_full: false,
            prior_cwnd: 0,
            prior_state: CaState::Open,
            conserve_packets: false,
            idle_restart: false,
            hide_samples: false,
            probe_rtt_cwnd: settings.min_cwnd,
            extra_acked: ExtraAcked::default(),
            policer: Policer::default(),
            paced: ((Bandwidth::default(), Gain::UNIT, 0), Rate::default()),
            product: Cell::new(((Bandwidth::default(), Duration::ZERO, Gain::UNIT), 0)),
            burst: Cell::new(((Rate::default(), 0, 0), 0)),
        }
    }
}

/// BBR version 1 with the changes of the descendant `V`.
pub(crate) struct V1<V> {
    core: Core,
    variant: V,
}

impl<V: Variant> V1<V> {
    pub(crate) fn with(variant: V, settings: Settings, seed: u64) -> V1<V> {
        V1 { core: Core::new(settings, seed), variant }
    }

    /// Enter a mode.
    /// Own: calls the hook of the descendant.
    fn set_mode(&mut self, mode: Mode) {
        self.core.mode = mode;
        self.variant.on_phase(&self.core);
    }
}

impl<V: Variant> CongestionControl for V1<V> {
    /// Linux `bbr_init`.
    fn on_established(&mut self, path: &Path) {
        let core = &mut self.core;
        core.min_rtt = path.min_rtt;
        core.min_rtt_stamp_ms = path.now.as_millis();
        core.round_end = path.delivered;
        core.extra_acked.restart(path.now);
        core.policer.reset(path);
        core.init_pacing_rate(path);
        self.variant.on_established(core, path);
    }

    /// Linux `bbr_main`, `bbr_update_model`.
    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        self.update_bandwidth(ack, path);
        self.core.update_aggregation(ack, path);
        self.variant.on_ack(&self.core, ack);
        self.advance_cycle(ack, path);
        self.core.check_pipe_full(ack.rate.as_ref());
        self.check_drain(path);
        self.update_min_rtt(ack, path);
        self.update_gains();
        self.set_pacing_rate(self.core.pacing_gain, path);
        self.update_cwnd(ack, path);
    }

    /// Linux `bbr_ssthresh`, `bbr_set_state`.
    fn on_congestion(&mut self, congestion: Congestion, path: &Path) {
        if congestion != (Congestion::Timeout { first: false }) {
            self.core.save_cwnd();
        }
        if matches!(congestion, Congestion::Timeout { .. }) {
            self.core.prior_state = CaState::Loss;
            self.core.full_bw = Bandwidth::default();
            self.core.round_start = true; // a timeout ends the round, so that this ACK starts a round
            self.judge_policer(true, false, path);
        }
    }

    /// Linux `bbr_undo_cwnd`.
    fn on_undo(&mut self, undo: &Undo, path: &Path) {
        self.core.ssthresh = self.core.ssthresh.max(undo.prior_ssthresh);
        self.core.full_bw = Bandwidth::default();
        self.core.full_bw_rounds = 0;
        self.core.policer.reset(path);
    }

    /// Linux `bbr_cwnd_event`.
    fn on_send(&mut self, sent: &Sent, path: &Path) {
        if !sent.from_idle || !path.app_limited {
            return;
        }
        self.core.idle_restart = true;
        self.core.extra_acked.restart(path.now);
        match self.core.mode {
            Mode::ProbeBw { .. } => self.set_pacing_rate(Gain::UNIT, path),
            Mode::ProbeRtt { .. } => self.leave_probe_rtt_if_done(path),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.core.cwnd = cwnd.max(1);
    }

    fn control(&self) -> Control {
        Control {
            cwnd: self.core.cwnd,
            ssthresh: self.core.ssthresh,
            pacing_rate: Some(self.core.pacing_rate),
            min_burst: min_burst(self.core.pacing_rate),
            max_burst: u32::MAX,
            hide_samples: self.core.hide_samples,
            reduce: false,
        }
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        let core = &self.core;
        probe.state("state", core.mode.name());
        probe.see("cwnd", f64::from(core.cwnd), "packets");
        probe.see("bw", core.max_bw().packets_per_second(), "packets/s");
        if let Some(rtt) = core.min_rtt {
            probe.see("min_rtt", rtt.as_secs_f64(), "s");
        }
        if core.pacing_rate != Rate::UNLIMITED {
            probe.see("pacing_rate", core.pacing_rate.bits_per_sec() as f64, "bit/s");
        }
        probe.see("pacing_gain", core.pacing_gain.as_f64(), "");
        probe.see("cwnd_gain", core.cwnd_gain.as_f64(), "");
        probe.flag("filled_pipe", core.pipe_full);
        probe.see("round_count", core.rounds as f64, "rounds");
        probe.see("extra_acked", f64::from(core.extra_acked.allowance(core.bandwidth())), "packets");
        probe.flag("idle_restart", core.idle_restart);
        probe.flag("policed", core.policer.rate().is_some());
        self.variant.observe(core, probe);
    }

    fn traits(&self) -> Traits {
        Traits {
            recovery: Recovery::Algorithm,
            needs_pacing: true,
            buffers_three_windows: true,
            ..Traits::default()
        }
    }
}
