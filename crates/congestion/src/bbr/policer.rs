//! Long-term bandwidth: detection of a token-bucket policer by two intervals of heavy loss with equal rates
//! (Linux `bbr_lt_bw_sampling`).

use super::{Bandwidth, Gain};
use crate::Path;
use units::Duration;

/// Shortest sampling interval, rounds.
/// Linux `bbr_lt_intvl_min_rtts`.
const MIN_ROUNDS: u32 = 4;
/// Longest sampling interval, rounds.
/// Linux `bbr_lt_bw_sampling`.
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Smallest ratio of lost to delivered packets in an interval, in 1/256: 19.5 %.
/// Linux `bbr_lt_loss_thresh`.
const LOSS_256: u64 = 50;
/// Largest relative difference between two rates that agree, as a right shift: an eighth.
/// Linux `bbr_lt_bw_ratio`.
const AGREE_SHIFT: u32 = 3;
/// Largest absolute difference between two rates that agree, bytes per second.
/// Linux `bbr_lt_bw_diff`.
const AGREE_BYTES: u64 = 4_000 / 8;
/// Rounds for which the rate of a detected policer is used.
/// Linux `bbr_lt_bw_max_rtts`.
const HOLD_ROUNDS: u32 = 48;

/// Input of the detection from one ACK.
pub(crate) struct Evidence {
    pub(crate) lost: bool,
    pub(crate) app_limited: bool,
    pub(crate) round_start: bool,
    pub(crate) probing: bool,
}

/// Result of the detection for one ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No change.
    Unchanged,
    /// A policer was detected. The rate of the policer is used from now on.
    Recognised,
    /// The policer's rate has expired, so BBR probes again.
    Expired,
}

/// The detector of policers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policer {
    estimate: Option<Bandwidth>,
    in_force: bool,
    sampling: bool,
    rounds: u32,
    start_ms: u64,
    start_delivered: u64,
    start_lost: u64,
}

impl Policer {
    /// The policer's rate, while it is in use.
    /// Linux `bbr_bw`.
    pub(crate) fn rate(&self) -> Option<Bandwidth> {
        self.estimate.filter(|_| self.in_force)
    }

    /// Forget the policer and restart the present interval.
    /// Linux `bbr_reset_lt_bw_sampling`.
    pub(crate) fn reset(&mut self, path: &Path) {
        self.estimate = None;
        self.in_force = false;
        self.sampling = false;
        self.restart_interval(path);
    }

    /// Linux `bbr_reset_lt_bw_sampling_interval`.
    fn restart_interval(&mut self, path: &Path) {
        self.start_ms = path.delivered_time.as_millis();
        self.start_delivered = path.delivered;
        self.start_lost = path.lost;
        self.rounds = 0;
    }

    /// Update the detection with the evidence of one ACK.
    /// Linux `bbr_lt_bw_sampling`.
    #[inline]
    pub(crate) fn update(&mut self, evidence: &Evidence, path: &Path) -> Verdict {
        let idle = !self.in_force && !self.sampling && !evidence.lost;
        if idle { Verdict::Unchanged } else { self.weigh(evidence, path) }
    }

    /// Linux `bbr_lt_bw_sampling`.
    fn weigh(&mut self, evidence: &Evidence, path: &Path) -> Verdict {
        if self.in_force {
            return self.hold(evidence, path);
        }
        if !self.sampling {
            self.restart_interval(path); // an interval starts with a loss, when the token bucket is empty
            self.sampling = true;
        }
        if evidence.app_limited {
            self.reset(path);
            return Verdict::Unchanged;
        }
        self.rounds += u32::from(evidence.round_start);
        if self.rounds > MAX_ROUNDS {
            self.reset(path);
        } else if self.rounds >= MIN_ROUNDS && evidence.lost {
            return self.end_interval(path);
        }
        Verdict::Unchanged
    }

    /// Linux `bbr_lt_bw_sampling`.
    fn hold(&mut self, evidence: &Evidence, path: &Path) -> Verdict {
        if !(evidence.probing && evidence.round_start) {
            return Verdict::Unchanged;
        }
        self.rounds += 1;
        if self.rounds < HOLD_ROUNDS {
            return Verdict::Unchanged;
        }
        self.reset(path);
        Verdict::Expired
    }

    /// End an interval at a loss. The interval counts only if its loss was heavy.
    /// Linux `bbr_lt_bw_interval_done`.
    fn end_interval(&mut self, path: &Path) -> Verdict {
        let lost = path.lost - self.start_lost;
        let delivered = path.delivered - self.start_delivered;
        let elapsed_ms = path.delivered_time.as_millis().saturating_sub(self.start_ms);
        if delivered == 0 || lost * 256 < LOSS_256 * delivered || elapsed_ms < 1 {
            return Verdict::Unchanged;
        }
        let bw = Bandwidth::over(delivered, Duration::from_millis(elapsed_ms));
        let agreed = self.estimate.filter(|&before| agree(before, bw, path.mss));
        if let Some(before) = agreed {
            self.estimate = Some(Bandwidth((before.0 + bw.0) / 2));
            self.in_force = true;
            self.rounds = 0;
            return Verdict::Recognised;
        }
        self.estimate = Some(bw);
        self.restart_interval(path);
        Verdict::Unchanged
    }
}

/// Linux `bbr_lt_bw_interval_done`.
fn agree(a: Bandwidth, b: Bandwidth, mss: u32) -> bool {
    let difference = Bandwidth(a.0.abs_diff(b.0));
    difference.0 <= a.0 >> AGREE_SHIFT
        || difference.pacing_rate(mss, Gain::UNIT, 1).bytes_per_sec() <= AGREE_BYTES
}
