//! The bounds of the model: long-term bounds found by probes, and short-term bounds from later losses and marks.

use super::V3;
use super::flight::{Flight, UNBOUNDED, scale};
use super::mode::{AckPhase, Mode, Phase};
use crate::bbr::Bandwidth;
use crate::{Ack, LostPacket, Path};

/// Bounds on bandwidth and packets in flight. A bound is infinite until losses or marks set a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) bw_lo: Bandwidth,
    pub(super) inflight_lo: u32,
    pub(super) inflight_hi: u32,
    /// Long-term bound on the bandwidth, in version 2 with ECN only.
    pub(super) bw_hi: Bandwidth,
    saved: (Bandwidth, u32, u32),
    /// The probing mode that congestion has ended since recovery began.
    pub(super) cut_short: Option<Mode>,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            bw_lo: Bandwidth::MAX,
            inflight_lo: UNBOUNDED,
            inflight_hi: UNBOUNDED,
            bw_hi: Bandwidth::MAX,
            saved: (Bandwidth::MAX, UNBOUNDED, UNBOUNDED),
            cut_short: None,
        }
    }
}

impl Bounds {
    /// google/bbr v3 `bbr_reset_lower_bounds`; draft-ietf-ccwg-bbr `BBRResetShortTermModel`.
    pub(super) fn reset_lower(&mut self) {
        self.bw_lo = Bandwidth::MAX;
        self.inflight_lo = UNBOUNDED;
    }

    /// Save the bounds, because the episode that begins may be spurious.
    /// google/bbr v3 `bbr_ssthresh`; draft-ietf-ccwg-bbr `BBRSaveStateUponLoss`.
    pub(super) fn save(&mut self) {
        self.saved = (self.bw_lo, self.inflight_lo, self.inflight_hi);
        self.cut_short = None;
    }

    /// Restore the saved bounds, because the episode was spurious.
    /// google/bbr v3 `bbr_undo_cwnd`; draft-ietf-ccwg-bbr `BBRHandleSpuriousLossDetection`.
    pub(super) fn restore(&mut self) {
        self.bw_lo = self.bw_lo.max(self.saved.0);
        self.inflight_lo = self.inflight_lo.max(self.saved.1);
        self.inflight_hi = self.inflight_hi.max(self.saved.2);
    }
}

/// Updates of the short-term bounds.
impl V3 {
    /// Reduce the short-term bounds after losses and marks, once per round. The bounds do not change while the
    /// flow probes, because a probe exceeds the bounds on purpose.
    /// google/bbr v3 `bbr_adapt_lower_bounds`; draft-ietf-ccwg-bbr `BBRAdaptLowerBoundsFromCongestion`; `bbr_loss_lower_bounds`.
    pub(super) fn adapt_lower_bounds(&mut self) {
        if self.is_probing() {
            return;
        }
        let (marked_bw, marked_lo) = self.lower_bounds_by_marks();
        if self.latest.loss_in_round {
            self.init_lower_bounds(true);
            let (bounds, beta) = (&mut self.bounds, self.rules.beta);
            bounds.bw_lo = self.latest.bw.max(Bandwidth((bounds.bw_lo.0 * u64::from(beta.0)) >> 8));
            bounds.inflight_lo = self.latest.inflight.max(scale(bounds.inflight_lo, beta));
        }
        self.bounds.inflight_lo = self.bounds.inflight_lo.min(marked_lo);
        self.bounds.bw_lo = self.bounds.bw_lo.min(marked_bw).max(Bandwidth(1));
    }

    /// google/bbr v3 `bbr_init_lower_bounds`; draft-ietf-ccwg-bbr `BBRInitLowerBounds`.
    pub(super) fn init_lower_bounds(&mut self, bandwidth: bool) {
        if bandwidth && self.bounds.bw_lo == Bandwidth::MAX {
            self.bounds.bw_lo = self.max_bw.get();
        }
        if self.bounds.inflight_lo == UNBOUNDED {
            self.bounds.inflight_lo = self.cwnd;
        }
    }

    /// Whether the flow probes for more bandwidth.
    /// google/bbr v3 `bbr_is_probing_bandwidth`; draft-ietf-ccwg-bbr `BBRIsProbingBW`.
    pub(super) fn is_probing(&self) -> bool {
        matches!(self.mode, Mode::Startup | Mode::ProbeBw(Phase::Refill | Phase::Up))
    }
}

/// Updates of the long-term bounds.
impl V3 {
    /// Adapt the long-term bounds to a sample. True if the phase of PROBE_BW changed.
    /// google/bbr v3 `bbr_adapt_upper_bounds`; draft-ietf-ccwg-bbr `BBRAdaptLongTermModel`.
    pub(super) fn adapt_upper_bounds(&mut self, ack: &Ack, path: &Path) -> bool {
        if self.round.start && self.end_probe_round(ack, path) {
            return true;
        }
        let Some(flight) = ack.rate.as_ref().map(Flight::from) else { return false };
        if self.is_too_high(&flight) {
            if self.probe.sampling {
                self.handle_too_high(&flight, path);
            }
            return false;
        }
        self.raise_upper_bounds(&flight, ack, path);
        false
    }

    /// Update the origin of ACKs ([`AckPhase`]) at the start of a round. True if the phase of PROBE_BW changed.
    /// google/bbr v3 `bbr_adapt_upper_bounds`; draft-ietf-ccwg-bbr `BBRAdaptLongTermModel`.
    fn end_probe_round(&mut self, ack: &Ack, path: &Path) -> bool {
        match self.probe.acks {
            AckPhase::Starting => self.probe.acks = AckPhase::Feedback,
            AckPhase::Stopping => {
                self.probe.sampling = false;
                self.probe.acks = AckPhase::Init;
                if !matches!(self.mode, Mode::ProbeBw(_)) {
                    return false;
                }
                // All samples of this cycle have arrived, so the bandwidth maximum of the preceding cycle
                // expires.
                if !ack.rate.is_some_and(|s| s.app_limited) {
                    self.max_bw.advance();
                }
                // The last probe reached the long-term bound without too many losses or marks, so another probe
                // may raise the bound.
                if self.probe.stopped_risky && !self.probe.was_too_high {
                    self.start_refill(0, path);
                    return true;
                }
            }
            _ => {}
        }
        false
    }

    /// Raise the long-term bounds to the packets in flight of a sample without too many losses or marks.
    /// google/bbr v3 `bbr_adapt_upper_bounds`; draft-ietf-ccwg-bbr `BBRAdaptLongTermModel`.
    fn raise_upper_bounds(&mut self, flight: &Flight, ack: &Ack, path: &Path) {
        self.ecn.good_probe |= self.probe.sampling;
        if self.bounds.bw_hi != Bandwidth::MAX {
            self.bounds.bw_hi = self.bounds.bw_hi.max(self.sample_bw);
        }
        if self.bounds.inflight_hi == UNBOUNDED {
            return;
        }
        self.bounds.inflight_hi = self.bounds.inflight_hi.max(flight.tx_in_flight);
        if self.mode == Mode::ProbeBw(Phase::Up) {
            self.probe_inflight_hi_upward(ack, path);
        }
    }

    /// Raise the long-term bound in UP: by one packet in the first round, two packets in the second, four in the
    /// third, and so on. google/bbr v3 `bbr_probe_inflight_hi_upward`; draft-ietf-ccwg-bbr
    /// `BBRProbeInflightLongtermUpward`.
    fn probe_inflight_hi_upward(&mut self, ack: &Ack, path: &Path) {
        if !path.cwnd_limited || self.cwnd < self.bounds.inflight_hi {
            if !self.rules.keeps_unused_growth {
                self.probe.up_acks = 0; // google/bbr v2alpha `bbr2_probe_inflight_hi_upward`
            }
            return; // the packets in flight do not reach the bound
        }
        self.probe.up_acks += u64::from(ack.acked);
        if self.probe.up_acks >= self.probe.up_count {
            let grown = self.probe.up_acks / self.probe.up_count;
            self.probe.up_acks -= grown * self.probe.up_count;
            let hi = u64::from(self.bounds.inflight_hi) + grown;
            self.bounds.inflight_hi = hi.min(u64::from(UNBOUNDED - 1)) as u32;
        }
        if self.round.start {
            self.raise_slope();
        }
    }

    /// End a probe with too much loss or too many marks. Reduce the long-term bound to the packets in flight of
    /// the sample, once per probe.
    /// google/bbr v3 `bbr_handle_inflight_too_high`; draft-ietf-ccwg-bbr `BBRHandleInflightTooHigh`.
    pub(super) fn handle_too_high(&mut self, flight: &Flight, path: &Path) {
        self.probe.was_too_high = true;
        self.probe.sampling = false;
        if !flight.app_limited {
            let floor = scale(self.target_inflight(), self.rules.beta);
            self.bounds.inflight_hi = flight.tx_in_flight.max(floor);
            self.bound_bw_by_marks();
        }
        if self.mode == Mode::ProbeBw(Phase::Up) {
            self.start_down(path);
            self.bounds.cut_short = Some(Mode::ProbeBw(Phase::Up));
        }
    }

    /// Process a lost packet. For a packet of a probe, find the number of packets in flight at which loss exceeded
    /// the threshold.
    /// google/bbr v3 `bbr_skb_marked_lost`; draft-ietf-ccwg-bbr `BBRHandleLostPacket`.
    pub(super) fn on_lost_packet(&mut self, lost: &LostPacket, path: &Path) {
        if self.rules.undo_returns_to_probe && !self.latest.loss_in_round {
            self.bounds.save(); // save before this loss can end the probe
        }
        self.latest.note_loss(path.delivered);
        self.losses.count_packet(self.rules.loss_events, lost.number);
        if !self.probe.sampling {
            return;
        }
        let mut flight = Flight {
            tx_in_flight: lost.tx_in_flight,
            lost: lost.lost,
            delivered: 0,
            marked: 0,
            app_limited: lost.app_limited,
        };
        if self.is_too_high(&flight) {
            flight.tx_in_flight = self.crossing(&flight);
            self.handle_too_high(&flight, path);
        }
    }

    /// Estimated capacity of the path: the packets in flight at which the loss rate crossed the threshold,
    /// interpolated between the preceding packet and the lost packet.
    /// google/bbr v3 `bbr_inflight_hi_from_lost_skb`; draft-ietf-ccwg-bbr `BBRInflightAtLoss`.
    fn crossing(&self, flight: &Flight) -> u32 {
        let threshold = u64::from(self.rules.loss_threshold.0);
        let before = u64::from(flight.tx_in_flight.saturating_sub(1));
        let lost_before = u64::from(flight.lost.saturating_sub(1));
        let budget = (before * threshold).div_ceil(256);
        let prefix = (budget.saturating_sub(lost_before) << 8) / 256u64.saturating_sub(threshold).max(1);
        (before + prefix) as u32
    }

    /// Process a tail loss that a tail loss probe has repaired.
    /// google/bbr v3 `bbr_run_loss_probe_recovery`.
    pub(super) fn on_tail_loss(&mut self, app_limited: bool, path: &Path) {
        self.latest.note_loss(path.delivered);
        let tx_in_flight = self.latest.inflight.saturating_add(1);
        let flight = Flight { tx_in_flight, lost: 1, delivered: 0, marked: 0, app_limited };
        if self.probe.sampling && self.is_too_high(&flight) {
            self.handle_too_high(&flight, path);
        }
    }
}
