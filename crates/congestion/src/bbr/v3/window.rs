//! The outputs of BBRv3: window and pacing rate.

use super::V3;
use super::flight::UNBOUNDED;
use super::mode::{Mode, Phase};
use super::rules::{Aggregation, EarlyGrowth};
use crate::bbr::{
    Bandwidth, ExtraAcked, Gain, Slots, burst_goal, in_net_at_departure, short_path_burst_goal,
};
use crate::{Ack, CaState, Path};
use units::Duration;

/// Rounds per slot of ACK aggregation, once the pipe is full. Before the pipe is full, a slot is 1 round.
/// google/bbr v3 `bbr_extra_acked_win_rtts`.
const SLOT_ROUNDS: u32 = 5;
/// Rounds of the sliding window of ACK aggregation, once the pipe is full. Before the pipe is full, the window is
/// 1 round. draft-ietf-ccwg-bbr `BBRExtraAckedFilterLen`.
const SLIDING_ROUNDS: u32 = 10;

/// Inputs from which [`Derived`] is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Model {
    bw: Bandwidth,
    min_rtt: Option<Duration>,
    pacing_gain: Gain,
    cwnd_gain: Gain,
    full: bool,
}

/// Values derived from the model. The values are cached, because they rarely change between ACKs and need 128-bit
/// products.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Derived {
    of: Option<Model>,
    /// Packets per burst.
    burst_goal: u32,
    bdp: u32,
    /// The BDP times the window gain.
    target: u32,
    /// Largest number of packets that ACK aggregation may add to `target`.
    most_extra: u64,
}

impl V3 {
    /// Bandwidth-delay product times `gain`, with room for bursts, packets.
    /// google/bbr v3 `bbr_inflight`; draft-ietf-ccwg-bbr `BBRInflight`.
    pub(super) fn inflight(&self, bw: Bandwidth, gain: Gain) -> u32 {
        self.with_room_for_bursts(self.bdp(bw, gain))
    }

    /// google/bbr v3 `bbr_bdp`; draft-ietf-ccwg-bbr `BBRBDPMultiple`.
    pub(super) fn bdp(&self, bw: Bandwidth, gain: Gain) -> u32 {
        match &self.derived.of {
            Some(of) if gain == Gain::UNIT && of.bw == bw && of.min_rtt == self.min_rtt => self.derived.bdp,
            _ => self.compute_bdp(bw, gain),
        }
    }

    /// google/bbr v3 `bbr_bdp`; draft-ietf-ccwg-bbr `BBRBDPMultiple`.
    fn compute_bdp(&self, bw: Bandwidth, gain: Gain) -> u32 {
        self.min_rtt.map_or(self.initial_cwnd, |rtt| bw.bdp(rtt, gain))
    }

    /// google/bbr v3 `bbr_quantization_budget`; draft-ietf-ccwg-bbr `BBRQuantizationBudget`.
    fn with_room_for_bursts(&self, packets: u32) -> u32 {
        // Room for three bursts: one in the sender, one in the network, one waiting for its ACK.
        let packets = packets.max(3 * self.derived.burst_goal).max(self.rules.min_cwnd);
        if self.mode == Mode::ProbeBw(Phase::Up) { packets.saturating_add(2) } else { packets }
    }

    /// Recompute the size of bursts after a change of the rate or the path.
    /// google/bbr v3 `bbr_tso_segs_goal`; draft-ietf-ccwg-bbr `BBRSetSendQuantum`.
    fn update_burst_goal(&mut self, path: &Path) {
        let goal = match self.min_rtt.filter(|_| self.rules.short_path_bursts) {
            Some(rtt) => short_path_burst_goal(self.pacing_rate, rtt, path),
            None => burst_goal(self.pacing_rate, path),
        };
        self.derived.burst_goal = goal.max(self.min_burst());
    }

    /// Smallest burst, packets.
    /// google/bbr v3 `bbr_tso_segs`.
    pub(super) fn min_burst(&self) -> u32 {
        if self.rules.single_packets_when_slow {
            return crate::bbr::min_burst(self.pacing_rate);
        }
        self.rules.min_burst
    }

    /// Packets of `in_flight` that are still in the network at the next departure that pacing allows.
    /// google/bbr v3 `bbr_packets_in_net_at_edt`.
    pub(super) fn in_net_at_departure(&self, in_flight: u32, path: &Path) -> u32 {
        let burst = if self.pacing_gain > Gain::UNIT { self.derived.burst_goal } else { 0 };
        in_net_at_departure(in_flight, burst, self.bw(), path)
    }

    /// google/bbr v3 `bbr_update_ack_aggregation`; draft-ietf-ccwg-bbr `BBRUpdateACKAggregation`.
    pub(super) fn update_aggregation(&mut self, ack: &Ack, path: &Path) {
        if ack.bandwidth_sample().is_none() || ack.acked == 0 {
            return;
        }
        let full = self.full_pipe.reached;
        let slots = match self.rules.aggregation {
            Aggregation::Slots => Slots::Two { rounds: if full { SLOT_ROUNDS } else { 1 } },
            Aggregation::Sliding => Slots::Sliding { rounds: if full { SLIDING_ROUNDS } else { 1 } },
        };
        let (bw, cwnd) = (self.bw(), self.cwnd);
        self.extra_acked.remember(slots);
        self.extra_acked.update(ack.acked, path.delivered_time, self.round.start, bw, cwnd);
    }

    /// google/bbr v3 `bbr_init_pacing_rate_from_rtt`; draft-ietf-ccwg-bbr `BBRInitPacingRate`.
    pub(super) fn init_pacing_rate(&mut self, path: &Path) {
        self.seen_rtt = path.srtt.is_some();
        let rtt = path.srtt.unwrap_or(Duration::from_millis(1));
        let bw = Bandwidth::over(u64::from(self.cwnd), rtt);
        self.pacing_rate = bw.pacing_rate(path.mss, self.rules.startup_gain, self.rules.margin_percent);
        self.update_burst_goal(path);
    }

    /// google/bbr v3 `bbr_set_pacing_rate`; draft-ietf-ccwg-bbr `BBRSetPacingRate`.
    pub(super) fn set_pacing_rate(&mut self, gain: Gain, path: &Path) {
        if !self.seen_rtt && path.srtt.is_some() {
            self.init_pacing_rate(path);
        }
        let model = Model {
            bw: self.bw(),
            min_rtt: self.min_rtt,
            pacing_gain: gain,
            cwnd_gain: self.cwnd_gain,
            full: self.full_pipe.reached,
        };
        if self.derived.of != Some(model) {
            self.derive(model, path);
        }
    }

    /// google/bbr v3 `bbr_set_pacing_rate`; draft-ietf-ccwg-bbr `BBRSetPacingRateWithGain`.
    fn derive(&mut self, model: Model, path: &Path) {
        let Model { bw, pacing_gain, cwnd_gain, full, .. } = model;
        let rate = bw.pacing_rate(path.mss, pacing_gain, self.rules.margin_percent);
        if full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
        self.derived = Derived {
            of: Some(model),
            burst_goal: 0,
            bdp: self.compute_bdp(bw, Gain::UNIT),
            target: self.compute_bdp(bw, cwnd_gain),
            most_extra: ExtraAcked::believable(bw),
        };
        self.update_burst_goal(path);
    }

    /// google/bbr v3 `bbr_save_cwnd`; draft-ietf-ccwg-bbr `BBRSaveCwnd`.
    pub(super) fn save_cwnd(&mut self) {
        let undisturbed = self.prior_state < CaState::Recovery && !self.in_probe_rtt();
        self.prior_cwnd = if undisturbed { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// Restore the window from before recovery when recovery ends.
    /// google/bbr v3 `bbr_exit_loss_recovery`; draft-ietf-ccwg-bbr `BBRRestoreCwnd`.
    pub(super) fn restore_cwnd(&mut self, path: &Path) {
        let timeout_over = self.prior_state == CaState::Loss && path.state != CaState::Loss;
        let recovery_over = self.prior_state >= CaState::Recovery && path.state < CaState::Recovery;
        if timeout_over || (recovery_over && self.rules.restore_after_recovery) {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
    }

    /// google/bbr v3 `bbr_set_cwnd`; draft-ietf-ccwg-bbr `BBRSetCwnd`.
    pub(super) fn update_cwnd(&mut self, ack: &Ack, path: &Path) {
        if ack.acked > 0 {
            let extra = self.extra_acked.largest().min(self.derived.most_extra) as u32;
            let target = self.with_room_for_bursts(self.derived.target.saturating_add(extra));
            let grown = self.cwnd.saturating_add(ack.acked);
            if self.full_pipe.reached {
                self.cwnd = grown.min(target);
            } else if self.cwnd < target || self.is_early(path) {
                self.cwnd = grown;
            }
            self.cwnd = self.cwnd.max(self.rules.min_cwnd);
        }
        if self.in_probe_rtt() {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    /// Whether the model has too few samples to limit the window.
    /// google/bbr v3 `bbr_set_cwnd`; draft-ietf-ccwg-bbr `BBRSetCwnd`.
    fn is_early(&self, path: &Path) -> bool {
        match self.rules.early_growth {
            EarlyGrowth::Window => self.cwnd < 2 * self.initial_cwnd,
            EarlyGrowth::Delivered => path.delivered < u64::from(self.initial_cwnd),
        }
    }

    /// Limit the window by the bounds of the model: the long-term bound, with headroom in CRUISE, and the short-term
    /// bound.
    /// google/bbr v3 `bbr_bound_cwnd_for_inflight_model`; draft-ietf-ccwg-bbr `BBRBoundCwndForModel`.
    fn bound_cwnd(&mut self) {
        let long_term = match self.mode {
            Mode::Startup | Mode::Drain => UNBOUNDED,
            Mode::ProbeRtt { .. } | Mode::ProbeBw(Phase::Cruise) => self.inflight_with_headroom(),
            Mode::ProbeBw(_) => self.bounds.inflight_hi,
        };
        let cap = long_term.min(self.bounds.inflight_lo).max(self.rules.min_cwnd);
        self.cwnd = self.cwnd.min(cap);
    }
}
