//! The plateau test of STARTUP and UP: whether the bandwidth has stopped growing.

use super::V3;
use super::rules::{Plateau, SmartExit};
use crate::bbr::Bandwidth;
use crate::{Ack, Path};
use units::Duration;

/// The best bandwidth so far, and the rounds without growth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    pub(super) bw: Bandwidth,
    pub(super) rounds: u32,
    /// Whether the bandwidth has stopped growing since the test was restarted.
    pub(super) now: bool,
    /// Whether the bandwidth has ever stopped growing, so that STARTUP is over.
    pub(super) reached: bool,
    /// Smallest RTT of the present round.
    round_rtt: Option<Duration>,
    startup_rounds: u32,
}

impl FullPipe {
    /// Restart the test: growth counts from `bw` on.
    /// google/bbr v3 `bbr_reset_full_bw`; draft-ietf-ccwg-bbr `BBRResetFullBW`.
    pub(super) fn restart(&mut self, bw: Bandwidth) {
        self.bw = bw;
        self.rounds = 0;
        self.now = false;
    }

    /// google/bbr v3 `bbr_check_full_bw_reached`; draft-ietf-ccwg-bbr `BBRCheckFullBWReached`.
    fn count_round(&mut self, limit: u32) {
        self.rounds += 1;
        self.now = self.rounds >= limit;
        self.reached |= self.now;
    }
}

impl V3 {
    /// google/bbr v3 `bbr_check_full_bw_reached`; draft-ietf-ccwg-bbr `BBRCheckFullBWReached`.
    pub(super) fn check_full_pipe(&mut self, ack: &Ack, path: &Path) {
        match self.rules.plateau {
            Plateau::EveryAck => self.check_plateau(ack, true),
            Plateau::RoundStart => self.check_plateau(ack, false),
            Plateau::MaxBandwidth => self.check_max_bw(ack),
            Plateau::SmartExit(rule) if !self.full_pipe.reached => self.check_smart_exit(&rule, ack, path),
            Plateau::SmartExit(_) => self.check_plateau(ack, true),
        }
    }

    /// google/bbr v3 `bbr_full_bw_thresh`.
    fn has_grown_to(&self, bw: Bandwidth) -> bool {
        bw.0 >= (self.full_pipe.bw.0 * u64::from(self.rules.full_bw_growth.0)) >> 8
    }

    /// google/bbr v3 `bbr_check_full_bw_reached`; draft-ietf-ccwg-bbr `BBRCheckFullBWReached`.
    fn check_plateau(&mut self, ack: &Ack, every_ack: bool) {
        if self.full_pipe.now || ack.rate.is_none_or(|s| s.app_limited) || !(every_ack || self.round.start) {
            return;
        }
        if self.has_grown_to(self.sample_bw) {
            self.full_pipe.restart(self.sample_bw);
        } else if self.round.start {
            self.full_pipe.count_round(self.rules.full_bw_rounds);
        }
    }

    /// google/bbr v2alpha `bbr_check_full_bw_reached`.
    fn check_max_bw(&mut self, ack: &Ack) {
        if self.full_pipe.reached || !self.round.start || ack.rate.is_some_and(|s| s.app_limited) {
            return;
        }
        if self.has_grown_to(self.max_bw.get()) {
            self.full_pipe.restart(self.max_bw.get());
        } else {
            self.full_pipe.count_round(self.rules.full_bw_rounds);
        }
    }

    /// Own: the Smart Exit of the second BBR-n+ paper, in the two readings that `SmartExit` selects.
    fn check_smart_exit(&mut self, rule: &SmartExit, ack: &Ack, path: &Path) {
        let finished = self.full_pipe.round_rtt;
        self.full_pipe.round_rtt = match (finished.filter(|_| !self.round.start), ack.rtt) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if ack.rate.is_none_or(|s| s.app_limited) {
            return;
        }
        if !self.round.start {
            if !rule.literal && self.has_grown_to(self.sample_bw) {
                self.full_pipe.restart(self.sample_bw); // as in BBRv3, growth on any ACK restarts the count
            }
            return;
        }
        let base = self.min_rtt.or(path.min_rtt).unwrap_or_default();
        let queue = finished.is_some_and(|rtt| rtt.saturating_sub(base) > rule.queue);
        self.judge_smart_exit(rule, queue);
        self.full_pipe.startup_rounds += 1;
        self.full_pipe.reached |= rule.max_rounds > 0 && self.full_pipe.startup_rounds >= rule.max_rounds;
    }

    /// Own: the Smart Exit of the second BBR-n+ paper, in the two readings that `SmartExit` selects.
    fn judge_smart_exit(&mut self, rule: &SmartExit, queue: bool) {
        let bw = self.sample_bw;
        let fallen = bw.0 < (self.full_pipe.bw.0 * u64::from(rule.tolerance.0)) >> 8;
        let stuck = if rule.literal { fallen } else { !self.has_grown_to(bw) };
        if stuck && queue {
            self.full_pipe.count_round(self.rules.full_bw_rounds);
        } else if rule.literal || fallen || self.has_grown_to(bw) {
            self.full_pipe.restart(bw);
        } else {
            self.full_pipe.rounds = 0; // without a queue the path is not the bottleneck
        }
    }
}
