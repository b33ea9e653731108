//! DRAIN and the probing cycle: DOWN, CRUISE, REFILL, UP.

use super::V3;
use super::flight::{UNBOUNDED, scale};
use super::mode::{AckPhase, Mode, Phase};
use super::rules::UpExit;
use crate::bbr::Gain;
use crate::{Ack, CaState, Path};
use units::{Duration, Time};

/// State of the probe for bandwidth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) acks: AckPhase,
    /// Whether samples show the effect of the probe.
    pub(super) sampling: bool,
    /// Whether loss or marks ended the last probe.
    pub(super) was_too_high: bool,
    /// Whether the last probe ended at the bound at which an earlier probe had too much loss.
    pub(super) stopped_risky: bool,
    /// Number of times that the growth of the long-term bound has doubled in UP.
    pub(super) up_rounds: u32,
    /// Number of acknowledged packets for which the long-term bound grows by one packet.
    pub(super) up_count: u64,
    pub(super) up_acks: u64,
    /// Start of the present cycle, or of UP once UP has begun.
    pub(super) since: Time,
    /// Time from `since` to the next probe.
    pub(super) wait: Duration,
}

/// Largest number of times that the growth of the long-term bound doubles.
/// google/bbr v3 `bbr_raise_inflight_hi_slope`; draft-ietf-ccwg-bbr `BBRRaiseInflightLongtermSlope`.
const MAX_UP_ROUNDS: u32 = 30;

impl Default for Probe {
    fn default() -> Probe {
        Probe {
            acks: AckPhase::Init,
            sampling: false,
            was_too_high: false,
            stopped_risky: false,
            up_rounds: 0,
            up_count: u64::MAX,
            up_acks: 0,
            since: Time::ZERO,
            wait: Duration::ZERO,
        }
    }
}

impl V3 {
    /// google/bbr v3 `bbr_check_drain`; draft-ietf-ccwg-bbr `BBRCheckDrainDone`.
    pub(super) fn check_drain(&mut self, path: &Path) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
            self.drain_start = self.round.count;
            self.latest.reset();
        }
        if self.mode != Mode::Drain {
            return;
        }
        let long = self.rules.drain_max_rounds;
        let took_too_long = long > 0 && self.round.count.wrapping_sub(self.drain_start) > long;
        let in_net = self.in_net_at_departure(path.in_flight, path);
        if took_too_long || in_net <= self.inflight(self.max_bw.get(), Gain::UNIT) {
            self.start_down(path);
        }
    }

    /// google/bbr v3 `bbr_update_cycle_phase`; draft-ietf-ccwg-bbr `BBRUpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, ack: &Ack, path: &Path) {
        if !self.full_pipe.reached || self.adapt_upper_bounds(ack, path) {
            return;
        }
        let Mode::ProbeBw(phase) = self.mode else { return };
        match phase {
            Phase::Cruise | Phase::Down if self.refill_if_time(path) => {}
            Phase::Down if self.is_time_to_cruise(ack, path) => self.start_cruise(),
            Phase::Refill if self.round.start => self.start_probe_up(path),
            Phase::Up if self.is_probe_done(ack, path) => {
                self.probe.was_too_high = false;
                self.start_down(path);
            }
            _ => {}
        }
    }

    /// google/bbr v3 `bbr_update_gains`.
    pub(super) fn update_gains(&mut self) {
        let rules = &self.rules;
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (rules.startup_gain, rules.startup_cwnd_gain),
            Mode::Drain => (rules.drain_gain, rules.startup_cwnd_gain),
            Mode::ProbeBw(Phase::Up) => (rules.up_gain, rules.up_cwnd_gain),
            Mode::ProbeBw(Phase::Down) => (rules.down_gain, rules.cwnd_gain),
            Mode::ProbeBw(_) => (Gain::UNIT, rules.cwnd_gain),
            Mode::ProbeRtt { .. } => (Gain::UNIT, rules.probe_rtt_cwnd_gain),
        };
    }

    /// Whether UP is complete.
    /// google/bbr v3 `bbr_update_cycle_phase`; draft-ietf-ccwg-bbr `BBRIsTimeToGoDown`.
    fn is_probe_done(&mut self, ack: &Ack, path: &Path) -> bool {
        let in_net = self.in_net_at_departure(ack.prior_in_flight, path);
        if self.probe.was_too_high && in_net >= self.bounds.inflight_hi {
            self.probe.stopped_risky = true;
            return true;
        }
        match self.rules.up_exit {
            UpExit::Plateau if path.cwnd_limited && self.cwnd >= self.bounds.inflight_hi => {
                self.full_pipe.restart(self.sample_bw); // the bound limits the flow, so the bandwidth cannot grow
                false
            }
            UpExit::Plateau => self.full_pipe.now,
            UpExit::Queue => {
                let long = self.min_rtt.is_some_and(|rtt| path.now.since(self.probe.since) > rtt);
                long && in_net >= self.inflight(self.max_bw.get(), self.rules.up_gain)
            }
        }
    }

    /// google/bbr v3 `bbr_check_time_to_cruise`; draft-ietf-ccwg-bbr `BBRIsTimeToCruise`.
    fn is_time_to_cruise(&self, ack: &Ack, path: &Path) -> bool {
        let in_net = self.in_net_at_departure(ack.prior_in_flight, path);
        in_net <= self.inflight_with_headroom() && in_net <= self.inflight(self.max_bw.get(), Gain::UNIT)
    }

    /// Begin a probe if a probe is due. True if a probe begins.
    /// google/bbr v3 `bbr_check_time_to_probe_bw`; draft-ietf-ccwg-bbr `BBRIsTimeToProbeBW`; `bbr_is_reno_coexistence_probe_time`.
    fn refill_if_time(&mut self, path: &Path) -> bool {
        if let Some(growth) = self.growth_after_marks(path.state == CaState::Open) {
            self.start_refill(growth, path);
            return true;
        }
        let waited = path.now.since(self.probe.since) > self.probe.wait;
        // Probe as often as a Reno flow would lose a packet, so that competing Reno flows get their share.
        // `probe_max_rounds` prevents rare probes on paths with a large BDP.
        let reno = self.rules.probe_max_rounds.min(self.target_inflight());
        let due = waited || self.round.since_probe >= reno;
        if due {
            self.start_refill(0, path);
        }
        due
    }

    /// Target for packets in flight: the BDP or the window, whichever is smaller.
    /// google/bbr v3 `bbr_target_inflight`; draft-ietf-ccwg-bbr `BBRTargetInflight`.
    pub(super) fn target_inflight(&self) -> u32 {
        self.inflight(self.bw(), Gain::UNIT).min(self.cwnd)
    }

    /// The long-term bound, reduced by headroom for new flows.
    /// google/bbr v3 `bbr_inflight_with_headroom`; draft-ietf-ccwg-bbr `BBRInflightWithHeadroom`.
    pub(super) fn inflight_with_headroom(&self) -> u32 {
        let hi = self.bounds.inflight_hi;
        if hi == UNBOUNDED {
            return UNBOUNDED;
        }
        let room = scale(hi, self.rules.headroom).max(1);
        hi.saturating_sub(room).max(self.rules.min_cwnd)
    }
}

/// Transitions.
impl V3 {
    /// google/bbr v3 `bbr_start_bw_probe_down`; draft-ietf-ccwg-bbr `BBRStartProbeBW_DOWN`; `bbr_pick_probe_wait`.
    pub(super) fn start_down(&mut self, path: &Path) {
        self.mode = Mode::ProbeBw(Phase::Down);
        self.latest.reset();
        self.probe.up_count = u64::MAX;
        self.round.since_probe = self.rng.below(2);
        let random_us = self.rules.probe_wait_random.as_micros() as u32;
        self.probe.wait =
            self.rules.probe_wait + Duration::from_micros(u64::from(self.rng.below(random_us.max(1))));
        self.probe.since = path.now;
        self.probe.acks = AckPhase::Stopping;
        self.round.end = path.delivered;
    }

    /// google/bbr v3 `bbr_start_bw_probe_cruise`; draft-ietf-ccwg-bbr `BBRStartProbeBW_CRUISE`.
    pub(super) fn start_cruise(&mut self) {
        self.mode = Mode::ProbeBw(Phase::Cruise);
        if self.rules.cruise_lowers_inflight_lo && self.bounds.inflight_lo != UNBOUNDED {
            self.bounds.inflight_lo = self.bounds.inflight_lo.min(self.bounds.inflight_hi);
        }
    }

    /// google/bbr v3 `bbr_start_bw_probe_refill`; draft-ietf-ccwg-bbr `BBRStartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self, up_rounds: u32, path: &Path) {
        self.mode = Mode::ProbeBw(Phase::Refill);
        self.bounds.reset_lower();
        self.ecn.good_probe = false;
        self.probe.up_rounds = up_rounds;
        self.probe.up_acks = 0;
        self.probe.stopped_risky = false;
        self.probe.acks = AckPhase::Refilling;
        self.round.end = path.delivered;
    }

    /// google/bbr v3 `bbr_start_bw_probe_up`; draft-ietf-ccwg-bbr `BBRStartProbeBW_UP`.
    fn start_probe_up(&mut self, path: &Path) {
        self.mode = Mode::ProbeBw(Phase::Up);
        self.probe.sampling = true;
        self.probe.acks = AckPhase::Starting;
        self.round.end = path.delivered;
        self.probe.since = path.now;
        self.full_pipe.restart(self.sample_bw);
        self.raise_slope();
    }

    /// Double the growth of the long-term bound.
    /// google/bbr v3 `bbr_raise_inflight_hi_slope`; draft-ietf-ccwg-bbr `BBRRaiseInflightLongtermSlope`.
    pub(super) fn raise_slope(&mut self) {
        self.probe.up_count = u64::from(self.cwnd >> self.probe.up_rounds).max(1);
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(MAX_UP_ROUNDS);
    }
}
