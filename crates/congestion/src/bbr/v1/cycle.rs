//! The modes of BBRv1 (STARTUP, DRAIN, PROBE_BW) and the gain cycle.

use super::{V1, Variant};
use crate::bbr::Gain;
use crate::{Ack, Path};
use units::{Duration, Time};

/// Pacing gains of the phases of PROBE_BW.
/// Linux `bbr_pacing_gain`.
const CYCLE: [Gain; 8] =
    [Gain(320), Gain(192), Gain::UNIT, Gain::UNIT, Gain::UNIT, Gain::UNIT, Gain::UNIT, Gain::UNIT];

/// The mode of BBRv1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Double the rate in each round.
    Startup,
    /// Drain the queue that STARTUP built.
    Drain,
    /// Send at the bandwidth estimate, with one probe for more bandwidth in every cycle of eight phases.
    ProbeBw { phase: usize, since: Time },
    /// Reduce the packets in flight to measure the propagation delay.
    ProbeRtt { until_ms: Option<u64>, round_done: bool },
}

impl Mode {
    /// Name of the mode and, in PROBE_BW, of the phase with this gain.
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::Startup => "Startup",
            Mode::Drain => "Drain",
            Mode::ProbeBw { phase: 0, .. } => "ProbeBW:Up",
            Mode::ProbeBw { phase: 1, .. } => "ProbeBW:Down",
            Mode::ProbeBw { .. } => "ProbeBW:Cruise",
            Mode::ProbeRtt { .. } => "ProbeRTT",
        }
    }
}

impl<V: Variant> V1<V> {
    /// Linux `bbr_reset_probe_bw_mode`.
    pub(super) fn enter_probe_bw(&mut self, path: &Path) {
        // Start in a random phase except the draining phase, so that flows do not synchronise.
        let phase = (CYCLE.len() - self.core.rng.below(CYCLE.len() as u32 - 1) as usize) % CYCLE.len();
        self.set_mode(Mode::ProbeBw { phase, since: path.delivered_time });
    }

    /// Linux `bbr_update_cycle_phase`.
    pub(super) fn advance_cycle(&mut self, ack: &Ack, path: &Path) {
        if let Mode::ProbeBw { phase, since } = self.core.mode
            && self.phase_is_over(since, ack, path)
        {
            self.set_mode(Mode::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: path.delivered_time });
        }
    }

    /// Linux `bbr_is_next_cycle_phase`.
    fn phase_is_over(&mut self, since: Time, ack: &Ack, path: &Path) -> bool {
        let elapsed = micros_between(since, path.delivered_time);
        let a_round_passed = self.core.min_rtt.is_some_and(|rtt| elapsed > rtt.as_micros());
        let gain = self.core.pacing_gain;
        if gain == Gain::UNIT {
            return a_round_passed;
        }
        let in_net = self.core.in_net_at_departure(ack.prior_in_flight, path);
        if gain > Gain::UNIT {
            let rule =
                a_round_passed && (ack.lost > 0 || in_net >= self.inflight(self.core.max_bw(), gain, path));
            return self.variant.probe_is_over(&self.core, Duration::from_micros(elapsed), rule);
        }
        a_round_passed || in_net <= self.inflight(self.core.max_bw(), Gain::UNIT, path)
    }

    /// Linux `bbr_check_drain`.
    pub(super) fn check_drain(&mut self, path: &Path) {
        if self.core.mode == Mode::Startup && self.core.pipe_full {
            self.set_mode(Mode::Drain);
            self.core.ssthresh = self.inflight(self.core.max_bw(), Gain::UNIT, path); // only observed
        }
        if self.core.mode == Mode::Drain
            && self.core.in_net_at_departure(path.in_flight, path)
                <= self.inflight(self.core.max_bw(), Gain::UNIT, path)
        {
            self.enter_probe_bw(path);
        }
    }

    /// Linux `bbr_update_gains`.
    pub(super) fn update_gains(&mut self) {
        let settings = &self.core.settings;
        let (pacing, cwnd) = match self.core.mode {
            Mode::Startup => (settings.startup_gain, settings.startup_gain),
            Mode::Drain => (settings.drain_gain, settings.startup_gain),
            Mode::ProbeBw { .. } if self.core.policer.rate().is_some() => (Gain::UNIT, settings.cwnd_gain),
            Mode::ProbeBw { phase, .. } => (CYCLE[phase], settings.cwnd_gain),
            Mode::ProbeRtt { .. } => (Gain::UNIT, Gain::UNIT),
        };
        self.core.pacing_gain = self.variant.pacing_gain(pacing);
        self.core.cwnd_gain = cwnd;
    }
}

fn micros_between(earlier: Time, later: Time) -> u64 {
    later.as_micros().saturating_sub(earlier.as_micros())
}
