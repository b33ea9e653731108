//! The two RTT minima, and PROBE_RTT, which renews them.

use super::V3;
use super::mode::{AckPhase, Mode};
use crate::{Ack, Path};
use units::Duration;

/// The RTT minimum that PROBE_RTT renews. The RTT minimum of the model has a longer window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    min: Option<Duration>,
    stamp_ms: u64,
    /// When the RTT minimum of the model was measured.
    model_stamp_ms: u64,
}

impl ProbeRtt {
    /// google/bbr v3 `bbr_init`.
    pub(super) fn start(min: Option<Duration>, now_ms: u64) -> ProbeRtt {
        ProbeRtt { min, stamp_ms: now_ms, model_stamp_ms: now_ms }
    }
}

impl V3 {
    pub(super) fn in_probe_rtt(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt { .. })
    }

    /// google/bbr v3 `bbr_update_min_rtt`; draft-ietf-ccwg-bbr `BBRCheckProbeRTT`.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack, path: &Path) {
        let expired = self.take_rtt(ack, path.now.as_millis());
        if expired && !self.idle_restart && !self.in_probe_rtt() && self.rules.probe_rtt_ms > 0 {
            self.mode = Mode::ProbeRtt { until_ms: None, round_done: false };
            self.save_cwnd();
            self.probe.acks = AckPhase::Stopping;
            self.round.end = path.delivered;
        }
        self.hide_samples = self.in_probe_rtt();
        if self.hide_samples {
            self.run_probe_rtt(path);
        }
        if ack.rate.is_some_and(|s| s.delivered > 0) {
            self.idle_restart = false;
        }
    }

    /// Update both RTT minima with a sample. True if the minimum of PROBE_RTT had expired.
    /// google/bbr v3 `bbr_update_min_rtt`; draft-ietf-ccwg-bbr `BBRUpdateMinRTT`.
    fn take_rtt(&mut self, ack: &Ack, now_ms: u64) -> bool {
        let rtt = &mut self.probe_rtt;
        let expired = now_ms > rtt.stamp_ms + self.rules.probe_rtt_interval_ms;
        let lower = |sample: Duration| {
            rtt.min.is_none_or(|min| sample < min || (self.rules.equal_rtt_renews && sample == min))
        };
        let renews = expired && !(ack.delayed && self.rules.delayed_ack_guard);
        if let Some(sample) = ack.rtt.filter(|&sample| renews || lower(sample)) {
            rtt.min = Some(sample);
            rtt.stamp_ms = now_ms;
        }
        let model_expired = now_ms > rtt.model_stamp_ms + self.rules.min_rtt_window_ms;
        if model_expired || self.min_rtt.is_none_or(|min| rtt.min.is_some_and(|m| m <= min)) {
            self.min_rtt = rtt.min;
            rtt.model_stamp_ms = rtt.stamp_ms;
        }
        expired
    }

    /// The window of PROBE_RTT, packets.
    /// google/bbr v3 `bbr_probe_rtt_cwnd`; draft-ietf-ccwg-bbr `BBRProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp(self.bw(), self.rules.probe_rtt_cwnd).max(self.rules.min_cwnd)
    }

    /// google/bbr v3 `bbr_update_min_rtt`; draft-ietf-ccwg-bbr `BBRHandleProbeRTT`.
    fn run_probe_rtt(&mut self, path: &Path) {
        let small = path.in_flight <= self.probe_rtt_cwnd();
        let Mode::ProbeRtt { until_ms, round_done } = &mut self.mode else { return };
        match until_ms {
            None if small => {
                *until_ms = Some(path.now.as_millis() + self.rules.probe_rtt_ms);
                *round_done = false;
                self.round.end = path.delivered;
            }
            None => {}
            Some(_) => {
                *round_done |= self.round.start;
                if *round_done {
                    self.leave_probe_rtt_if_done(path);
                }
            }
        }
    }

    /// google/bbr v3 `bbr_check_probe_rtt_done`; draft-ietf-ccwg-bbr `BBRCheckProbeRTTDone`; `bbr_exit_probe_rtt`.
    pub(super) fn leave_probe_rtt_if_done(&mut self, path: &Path) {
        let Mode::ProbeRtt { until_ms: Some(until_ms), .. } = self.mode else { return };
        if path.now.as_millis() <= until_ms {
            return;
        }
        self.probe_rtt.stamp_ms = path.now.as_millis();
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.bounds.reset_lower();
        if self.full_pipe.reached {
            self.start_down(path); // draws a random time of the next probe
            self.start_cruise(); // there is no queue to drain
        } else {
            self.mode = Mode::Startup;
        }
    }
}
