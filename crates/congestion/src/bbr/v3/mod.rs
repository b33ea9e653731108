//! BBR version 3, parametrised by [`Rules`]. BBR version 2 and BBR-n+ use this code with other rules.
//!
//! The code of [`CongestionControl::on_ack`] shows the order of the steps for each ACK.

mod bounds;
mod cycle;
mod ecn;
mod flight;
mod full_pipe;
mod mode;
mod probe_rtt;
mod rules;
mod signals;
mod window;

pub(crate) use rules::{Aggregation, EarlyGrowth, EcnRules, LossEvents, Plateau, Rules, SmartExit};

use super::{Bandwidth, ExtraAcked, Gain};
use crate::window::INITIAL_CWND;
use crate::{
    Ack, CaState, Congestion, CongestionControl, Control, EcnMode, LostPacket, Path, Probe, Recovery, Sent,
    Traits, Undo,
};
use bounds::Bounds;
use ecn::Ecn;
use flight::UNBOUNDED;
use full_pipe::FullPipe;
use mode::Mode;
use probe_rtt::ProbeRtt;
use signals::{Latest, LossCount, MaxBandwidth, Round};
use units::{Duration, Rate, Rng};
use window::Derived;

/// An algorithm of the BBRv3 family, defined by its rules.
pub(crate) struct V3 {
    rules: Rules,
    rng: Rng,
    mode: Mode,
    drain_start: u32,
    cwnd: u32,
    initial_cwnd: u32,
    prior_cwnd: u32,
    prior_state: CaState,
    idle_restart: bool,
    /// Whether the last ACK was processed in PROBE_RTT. The ACK that ends PROBE_RTT counts as processed in
    /// PROBE_RTT.
    hide_samples: bool,
    seen_rtt: bool,
    pacing_rate: Rate,
    /// Values derived from the model, cached until the model changes.
    derived: Derived,
    pacing_gain: Gain,
    cwnd_gain: Gain,
    min_rtt: Option<Duration>,
    /// Bandwidth sample of the present ACK; 0 if the ACK has no sample.
    sample_bw: Bandwidth,
    round: Round,
    max_bw: MaxBandwidth,
    latest: Latest,
    losses: LossCount,
    bounds: Bounds,
    probe: cycle::Probe,
    full_pipe: FullPipe,
    probe_rtt: ProbeRtt,
    extra_acked: ExtraAcked,
    ecn: Ecn,
}

impl V3 {
    /// Create the state of a new flow. `seed` randomises the times of the flow's probes.
    pub(crate) fn new(rules: Rules, seed: u64) -> V3 {
        V3 {
            rules,
            rng: Rng::stream(seed, "bbr3/probe"),
            mode: Mode::Startup,
            drain_start: 0,
            cwnd: INITIAL_CWND,
            initial_cwnd: INITIAL_CWND,
            prior_cwnd: 0,
            prior_state: CaState::Open,
            idle_restart: false,
            hide_samples: false,
            seen_rtt: false,
            pacing_rate: Rate::UNLIMITED,
            derived: Derived::default(),
            pacing_gain: rules.startup_gain,
            cwnd_gain: rules.startup_cwnd_gain,
            min_rtt: None,
            sample_bw: Bandwidth::default(),
            round: Round::default(),
            max_bw: MaxBandwidth::default(),
            latest: Latest::default(),
            losses: LossCount::default(),
            bounds: Bounds::default(),
            probe: cycle::Probe::default(),
            full_pipe: FullPipe::default(),
            probe_rtt: ProbeRtt::default(),
            extra_acked: ExtraAcked::default(),
            ecn: Ecn::default(),
        }
    }

    /// google/bbr v3 `bbr_set_state`; draft-ietf-ccwg-bbr `BBROnEnterRTO`.
    fn on_timeout(&mut self) {
        self.prior_state = CaState::Loss;
        self.full_pipe.restart(Bandwidth::default());
        if !self.is_probing() && self.bounds.inflight_lo == UNBOUNDED {
            self.bounds.inflight_lo = self.cwnd.max(self.prior_cwnd); // the window before the timeout
        }
    }

    /// Return to the probe that a spurious loss had ended.
    /// draft-ietf-ccwg-bbr `BBRHandleSpuriousLossDetection`.
    fn return_to_probe(&mut self, path: &Path) {
        match self.bounds.cut_short.take() {
            Some(Mode::Startup) if self.full_pipe.reached => {
                self.full_pipe.reached = false;
                if !self.in_probe_rtt() {
                    self.mode = Mode::Startup;
                }
            }
            Some(Mode::ProbeBw(_)) if !self.is_probing() && !self.in_probe_rtt() => {
                self.start_refill(0, path);
            }
            _ => {}
        }
    }
}

impl CongestionControl for V3 {
    /// google/bbr v3 `bbr_init`; draft-ietf-ccwg-bbr `BBROnInit`.
    fn on_established(&mut self, path: &Path) {
        let now_ms = path.now.as_millis();
        self.initial_cwnd = self.cwnd;
        self.min_rtt = path.min_rtt;
        self.probe_rtt = ProbeRtt::start(path.min_rtt, now_ms);
        self.round.end = path.delivered;
        self.latest.round_end = path.delivered + 1;
        self.ecn.start(path);
        self.extra_acked.restart(path.now);
        self.init_pacing_rate(path);
    }

    /// google/bbr v3 `bbr_main`; draft-ietf-ccwg-bbr `BBRUpdateOnACK`; `bbr_update_model`.
    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        self.restore_cwnd(path);
        self.update_round(ack, path);
        self.update_latest(ack, path);
        // Update the model.
        self.update_congestion_signals(ack);
        self.update_aggregation(ack, path);
        self.check_startup_losses(ack, path);
        self.check_full_pipe(ack, path);
        self.check_drain(path);
        self.update_cycle(ack, path);
        self.update_min_rtt(ack, path);
        // Set the outputs.
        self.update_gains();
        self.set_pacing_rate(self.pacing_gain, path);
        self.update_cwnd(ack, path);
        self.end_ack(ack, path);
    }

    /// google/bbr v3 `bbr_skb_marked_lost`; draft-ietf-ccwg-bbr `BBRUpdateOnLoss`.
    fn on_lost(&mut self, lost: &LostPacket, path: &Path) {
        self.on_lost_packet(lost, path);
    }

    /// google/bbr v3 `bbr_ssthresh`, `bbr_set_state`.
    fn on_congestion(&mut self, congestion: Congestion, path: &Path) {
        if congestion != (Congestion::Timeout { first: false }) {
            self.save_cwnd();
            if !self.rules.undo_returns_to_probe {
                self.bounds.save();
            }
        }
        match congestion {
            Congestion::Timeout { .. } => self.on_timeout(),
            Congestion::TailLoss { app_limited } if self.rules.tail_loss => {
                self.on_tail_loss(app_limited, path);
            }
            _ => {}
        }
    }

    /// google/bbr v3 `bbr_undo_cwnd`; draft-ietf-ccwg-bbr `BBRHandleSpuriousLossDetection`.
    fn on_undo(&mut self, _undo: &Undo, path: &Path) {
        self.full_pipe.restart(Bandwidth::default());
        self.latest.loss_in_round = false;
        self.bounds.restore();
        let grown = if self.rules.undo_returns_to_probe { self.cwnd } else { self.rules.min_cwnd };
        self.cwnd = self.prior_cwnd.max(grown);
        if self.rules.undo_returns_to_probe {
            self.return_to_probe(path);
        }
    }

    /// google/bbr v3 `bbr_cwnd_event_tx_start`; draft-ietf-ccwg-bbr `BBRHandleRestartFromIdle`.
    fn on_send(&mut self, sent: &Sent, path: &Path) {
        if !sent.from_idle || !path.app_limited {
            return;
        }
        self.idle_restart = true;
        self.extra_acked.restart(path.now);
        match self.mode {
            Mode::ProbeBw(_) => self.set_pacing_rate(Gain::UNIT, path),
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
            min_burst: self.min_burst(),
            max_burst: u32::MAX,
            hide_samples: self.hide_samples,
            reduce: false,
        }
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        probe.state("state", self.mode.name());
        probe.see("cwnd", f64::from(self.cwnd), "packets");
        probe.see("bw", self.bw().packets_per_second(), "packets/s");
        probe.see("max_bw", self.max_bw.get().packets_per_second(), "packets/s");
        if self.bounds.bw_lo != Bandwidth::MAX {
            probe.see("bw_lo", self.bounds.bw_lo.packets_per_second(), "packets/s");
        }
        if self.bounds.bw_hi != Bandwidth::MAX {
            probe.see("bw_hi", self.bounds.bw_hi.packets_per_second(), "packets/s");
        }
        let bounds = [("inflight_hi", self.bounds.inflight_hi), ("inflight_lo", self.bounds.inflight_lo)];
        for (name, bound) in bounds.into_iter().filter(|b| b.1 != UNBOUNDED) {
            probe.see(name, f64::from(bound), "packets");
        }
        if let Some(rtt) = self.min_rtt {
            probe.see("min_rtt", rtt.as_secs_f64(), "s");
            probe.see("bdp", f64::from(self.bdp(self.bw(), Gain::UNIT)), "packets");
        }
        if self.pacing_rate != Rate::UNLIMITED {
            probe.see("pacing_rate", self.pacing_rate.bits_per_sec() as f64, "bit/s");
        }
        probe.see("pacing_gain", self.pacing_gain.as_f64(), "");
        probe.see("cwnd_gain", self.cwnd_gain.as_f64(), "");
        probe.see("extra_acked", f64::from(self.extra_acked.allowance(self.bw())), "packets");
        probe.see("full_bw", self.full_pipe.bw.packets_per_second(), "packets/s");
        probe.see("full_bw_cnt", f64::from(self.full_pipe.rounds), "rounds");
        probe.flag("full_bw_reached", self.full_pipe.reached);
        probe.see("round_count", f64::from(self.round.count), "rounds");
        probe.see("rounds_since_probe", f64::from(self.round.since_probe), "rounds");
        probe.see("probe_wait", self.probe.wait.as_secs_f64(), "s");
        probe.flag("prev_probe_too_high", self.probe.was_too_high);
        probe.flag("idle_restart", self.idle_restart);
        if self.rules.ecn.is_some() {
            probe.see("ecn_alpha", self.ecn.alpha.as_f64(), "");
        }
    }

    fn traits(&self) -> Traits {
        Traits {
            recovery: Recovery::Algorithm,
            ecn: self.rules.ecn.map_or(EcnMode::Classic, |rules| rules.mode),
            needs_pacing: true,
            watches_losses: true,
            watches_pauses: true,
            buffers_three_windows: true,
            ..Traits::default()
        }
    }
}
