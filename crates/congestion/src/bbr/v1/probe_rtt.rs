//! The RTT minimum, and PROBE_RTT, which renews it.

use super::{Base, Core, Mode, V1, Variant};
use crate::{Ack, Path};

impl Core {
    pub(crate) fn in_probe_rtt(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt { .. })
    }

    /// Whether the RTT minimum is older than its window.
    pub(crate) fn min_rtt_expired(&self, path: &Path) -> bool {
        path.now.as_millis() > self.min_rtt_stamp_ms + self.settings.min_rtt_window_ms
    }

    /// Update BBRv1's windowed RTT minimum. True if the minimum had expired.
    /// Linux `bbr_update_min_rtt`.
    pub(crate) fn update_min_rtt(&mut self, ack: &Ack, path: &Path) -> bool {
        let expired = self.min_rtt_expired(path);
        let old = self.settings.base == Base::Linux4_14;
        if let Some(rtt) = ack.rtt
            && (self.min_rtt.is_none_or(|min| rtt < min || (old && rtt == min))
                || (expired && (old || !ack.delayed)))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_stamp_ms = path.now.as_millis();
        }
        expired
    }
}

impl<V: Variant> V1<V> {
    /// Linux `bbr_update_min_rtt`.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack, path: &Path) {
        let due = self.variant.update_min_rtt(&mut self.core, ack, path);
        let core = &mut self.core;
        if due && !core.idle_restart && !core.in_probe_rtt() && core.settings.probe_rtt_ms > 0 {
            self.enter_probe_rtt();
        }
        self.core.hide_samples = self.core.in_probe_rtt();
        if self.core.hide_samples {
            self.run_probe_rtt(path);
        }
        if ack.rate.is_some_and(|s| s.delivered > 0) {
            self.core.idle_restart = false;
        }
    }

    /// Linux `bbr_update_min_rtt`.
    fn enter_probe_rtt(&mut self) {
        self.core.probe_rtt_cwnd = self.variant.enter_probe_rtt(&self.core);
        self.set_mode(Mode::ProbeRtt { until_ms: None, round_done: false });
        self.core.save_cwnd();
    }

    /// Linux `bbr_update_min_rtt`.
    fn run_probe_rtt(&mut self, path: &Path) {
        let Mode::ProbeRtt { until_ms, round_done } = &mut self.core.mode else { return };
        match until_ms {
            None if path.in_flight <= self.core.probe_rtt_cwnd => {
                *until_ms = Some(path.now.as_millis() + self.core.settings.probe_rtt_ms);
                *round_done = false;
                self.core.round_end = path.delivered;
            }
            None => {}
            Some(_) => {
                *round_done |= self.core.round_start;
                if *round_done {
                    self.leave_probe_rtt_if_done(path);
                }
            }
        }
    }

    /// Linux `bbr_check_probe_rtt_done`.
    pub(super) fn leave_probe_rtt_if_done(&mut self, path: &Path) {
        let Mode::ProbeRtt { until_ms: Some(until_ms), .. } = self.core.mode else { return };
        if path.now.as_millis() <= until_ms {
            return;
        }
        self.core.min_rtt_stamp_ms = path.now.as_millis();
        self.core.cwnd = self.core.cwnd.max(self.core.prior_cwnd);
        self.variant.leave_probe_rtt(&mut self.core);
        if self.core.pipe_full {
            self.enter_probe_bw(path);
        } else {
            self.set_mode(Mode::Startup);
        }
    }
}
