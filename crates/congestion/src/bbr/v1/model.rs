//! BBRv1's model of the path: bandwidth, rounds and the full-pipe test.

use super::{Base, Core, Mode, V1, Variant};
use crate::bbr::{Bandwidth, Evidence, Gain, Verdict};
use crate::{Ack, Path, RateSample};

/// Rounds without bandwidth growth after which the pipe is full.
/// Linux `bbr_full_bw_cnt`.
const FULL_BW_ROUNDS: u32 = 3;
/// Factor by which the bandwidth must grow in a round to count as growth.
/// Linux `bbr_full_bw_thresh`.
const FULL_BW_GROWTH: Gain = Gain(320);

impl Core {
    pub(crate) fn max_bw(&self) -> Bandwidth {
        Bandwidth(self.bw.get())
    }

    /// The bandwidth in use: the rate of a detected policer, or else the maximum of the samples.
    pub(crate) fn bandwidth(&self) -> Bandwidth {
        self.policer.rate().unwrap_or_else(|| self.max_bw())
    }

    /// Linux `bbr_update_ack_aggregation`.
    pub(super) fn update_aggregation(&mut self, ack: &Ack, path: &Path) {
        if self.settings.base == Base::Linux6_18 && ack.bandwidth_sample().is_some() && ack.acked > 0 {
            let (bw, cwnd) = (self.bandwidth(), self.cwnd);
            self.extra_acked.update(ack.acked, path.delivered_time, self.round_start, bw, cwnd);
        }
    }

    /// Linux `bbr_check_full_bw_reached`.
    pub(super) fn check_pipe_full(&mut self, sample: Option<&RateSample>) {
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
}

impl<V: Variant> V1<V> {
    /// Linux `bbr_update_bw`.
    pub(super) fn update_bandwidth(&mut self, ack: &Ack, path: &Path) {
        self.core.round_start = false;
        let Some((sample, interval)) = ack.bandwidth_sample() else { return };
        if sample.prior_delivered >= self.core.round_end {
            self.core.round_end = path.delivered;
            self.core.rounds = self.core.rounds.wrapping_add(1);
            self.core.round_start = true;
            self.core.conserve_packets = false;
        }
        self.judge_policer(ack.lost > 0, sample.app_limited, path);
        let bw = Bandwidth::over(u64::from(sample.delivered), interval);
        let core = &mut self.core;
        if !sample.app_limited || bw >= core.max_bw() {
            core.bw.update(core.settings.bw_window_rounds, core.rounds, bw.0);
        }
    }

    /// Linux `bbr_lt_bw_sampling`.
    pub(super) fn judge_policer(&mut self, lost: bool, app_limited: bool, path: &Path) {
        let core = &mut self.core;
        if !core.settings.policer {
            return;
        }
        let probing = matches!(core.mode, Mode::ProbeBw { .. });
        let evidence = Evidence { lost, app_limited, round_start: core.round_start, probing };
        match core.policer.update(&evidence, path) {
            Verdict::Unchanged => {}
            Verdict::Recognised => core.pacing_gain = Gain::UNIT,
            Verdict::Expired => self.enter_probe_bw(path),
        }
    }
}
