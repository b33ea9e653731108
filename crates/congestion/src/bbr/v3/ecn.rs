//! Response to ECN marks on paths whose routers mark at a short queue, as in data centres. BBR does not respond to
//! classic ECN marks.

use super::V3;
use super::flight::{Flight, UNBOUNDED, scale};
use crate::Path;
use crate::bbr::{Bandwidth, Gain};

/// State of the response to marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ecn {
    /// Whether the flow responds to marks, because the RTT of the path has been short enough.
    pub(super) eligible: bool,
    /// Average share of marked packets, in 1/256.
    pub(super) alpha: Gain,
    last_delivered: u64,
    last_marked: u64,
    startup_rounds: u32,
    /// Whether any sample of the probe since REFILL was below the thresholds of loss and marks.
    pub(super) good_probe: bool,
}

impl Default for Ecn {
    fn default() -> Ecn {
        Ecn {
            eligible: false,
            alpha: Gain::UNIT,
            last_delivered: 0,
            last_marked: 0,
            startup_rounds: 0,
            good_probe: false,
        }
    }
}

impl Ecn {
    /// Start counting delivered and marked packets when the handshake is complete.
    /// google/bbr v3 `bbr_init`.
    pub(super) fn start(&mut self, path: &Path) {
        self.last_delivered = path.delivered;
        self.last_marked = path.marked;
    }

    /// Update the average with the share of marked packets in a round.
    /// google/bbr v3 `bbr_update_ecn_alpha`.
    fn average(&mut self, gain: Gain, ratio: u32) {
        let kept = ((256 - gain.0) * self.alpha.0) >> 8;
        self.alpha = Gain(kept + ((gain.0 * ratio) >> 8)).min(Gain::UNIT);
    }

    /// Factor by which marks reduce a bound.
    /// google/bbr v3 `bbr_ecn_cut`.
    fn cut(&self, factor: Gain) -> Gain {
        Gain(256 - ((self.alpha.0 * factor.0) >> 8).min(256))
    }
}

impl V3 {
    /// End a round: average its share of marked packets, and end STARTUP after too many rounds with many marks.
    /// google/bbr v3 `bbr_update_ecn_alpha`, `bbr_check_ecn_too_high_in_startup`.
    pub(super) fn end_mark_round(&mut self, path: &Path) {
        let Some(rules) = self.rules.ecn else { return };
        self.ecn.eligible |= path.ecn && self.min_rtt.is_some_and(|rtt| rtt <= rules.max_rtt);
        let delivered = path.delivered.saturating_sub(self.ecn.last_delivered);
        if !self.ecn.eligible || delivered == 0 {
            return;
        }
        let marked = path.marked.saturating_sub(self.ecn.last_marked);
        let ratio = ((marked << 8) / delivered).min(256) as u32;
        self.ecn.average(rules.alpha_gain, ratio);
        self.ecn.last_delivered = path.delivered;
        self.ecn.last_marked = path.marked;
        if self.full_pipe.reached {
            return;
        }
        let high = ratio >= rules.threshold.0;
        self.ecn.startup_rounds = if high { self.ecn.startup_rounds + 1 } else { 0 };
        if self.ecn.startup_rounds >= rules.full_rounds {
            self.end_startup_by_queue();
        }
    }

    /// google/bbr v3 `bbr_is_inflight_too_high`.
    pub(super) fn marks_are_too_many(&self, flight: &Flight) -> bool {
        let Some(rules) = self.rules.ecn.filter(|_| self.ecn.eligible) else { return false };
        let threshold = scale(flight.delivered, rules.threshold);
        let beyond = if rules.v2 { flight.marked >= threshold } else { flight.marked > threshold };
        flight.marked > 0 && flight.delivered > 0 && beyond
    }

    /// The short-term bounds to which the marks of this round lead: on bandwidth (version 2 only) and on packets in
    /// flight. Losses of the same round reduce the bounds separately, and the lower result applies.
    /// google/bbr v3 `bbr_ecn_lower_bounds`; v2alpha `bbr2_adapt_lower_bounds`.
    pub(super) fn lower_bounds_by_marks(&mut self) -> (Bandwidth, u32) {
        let Some(rules) = self.rules.ecn.filter(|_| self.latest.marks_in_round) else {
            return (Bandwidth::MAX, UNBOUNDED);
        };
        self.init_lower_bounds(rules.v2);
        let (bounds, cut) = (&self.bounds, self.ecn.cut(rules.factor));
        let of_bw =
            if rules.v2 { Bandwidth((bounds.bw_lo.0 * u64::from(cut.0)) >> 8) } else { Bandwidth::MAX };
        (of_bw, scale(bounds.inflight_lo, cut))
    }

    /// Set a long-term bound on the bandwidth (version 2 only), unless a sample of the probe was below the
    /// thresholds of loss and marks. google/bbr v2alpha `bbr2_handle_inflight_too_high`.
    pub(super) fn bound_bw_by_marks(&mut self) {
        let Some(rules) = self.rules.ecn.filter(|r| r.v2 && self.ecn.eligible && !self.ecn.good_probe) else {
            return;
        };
        let bw = self.bounds.bw_hi.min(self.max_bw.get());
        self.bounds.bw_hi =
            Bandwidth((bw.0 * u64::from(self.ecn.cut(rules.factor).0)) >> 8).max(Bandwidth(1));
    }

    /// Growth at the start of a probe that begins as soon as marks cease, as a number of doublings. `None` unless marks
    /// alone limited the flow and the marks have ceased.
    /// google/bbr v3 `bbr_check_time_to_probe_bw`.
    pub(super) fn growth_after_marks(&self, open: bool) -> Option<u32> {
        let rules = self.rules.ecn.filter(|r| r.reprobe_gain > Gain(0) && self.ecn.eligible)?;
        let only_marks = self.latest.marks_in_cycle && !self.latest.loss_in_cycle;
        (only_marks && open)
            .then(|| scale(self.bounds.inflight_hi, rules.reprobe_gain).max(1).ilog2().min(30))
    }
}
