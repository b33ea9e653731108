//! RTT minima of Vegas and its descendants: the minimum since the flow was last idle, and the minimum of the present
//! round.

use crate::{Ack, CaState, Path};
use units::Duration;

/// Value for "no sample yet", microseconds, as in Linux.
const NONE_US: u32 = i32::MAX as u32;

/// The RTT state of Linux `tcp_vegas.h`. The use of RTTs is disabled in every recovery state except `Open`. A new
/// round begins when the use is enabled again.
///
/// RTTs are in whole microseconds plus one, as in Linux, so that no RTT is zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttWatch {
    /// Smallest RTT since the flow was last idle.
    pub base_us: u32,
    /// Smallest RTT since [`forget_round`](Self::forget_round).
    pub min_us: u32,
    /// Samples since [`forget_round`](Self::forget_round).
    pub samples: u32,
    round_end: u64,
    open: bool,
    enabled: bool,
}

impl Default for RttWatch {
    fn default() -> Self {
        RttWatch { base_us: NONE_US, min_us: NONE_US, samples: 0, round_end: 0, open: true, enabled: true }
    }
}

impl RttWatch {
    /// Smallest number of RTT samples with which a round is used: fewer samples may all be from delayed ACKs.
    const ENOUGH_SAMPLES: u32 = 3;

    /// Forget all samples after an idle time, including the base RTT.
    pub fn restart(&mut self, path: &Path) {
        self.base_us = NONE_US;
        self.enable(path);
    }

    /// Disable the use of delay when a congestion episode begins.
    pub fn suspend(&mut self) {
        (self.open, self.enabled) = (false, false);
    }

    /// Add the RTT of an ACK, then enable or disable the use of delay if the recovery state has changed.
    pub fn digest(&mut self, ack: &Ack, path: &Path) {
        if let Some(rtt) = ack.rtt {
            let rtt_us = plus_one(rtt);
            self.base_us = self.base_us.min(rtt_us);
            self.min_us = self.min_us.min(rtt_us);
            self.samples = self.samples.saturating_add(1);
        }
        let open = path.state == CaState::Open;
        if open && !self.open {
            self.enable(path);
        } else if !open && self.open {
            self.suspend();
        }
        self.open = open;
    }

    fn enable(&mut self, path: &Path) {
        self.enabled = true;
        self.round_end = path.next;
        self.forget_round();
    }

    /// Whether the algorithm may use delay.
    pub fn enabled(&self) -> bool {
        self.enabled
    }

    /// Whether this round has enough RTT samples.
    pub fn knows(&self) -> bool {
        self.samples >= Self::ENOUGH_SAMPLES
    }

    /// Whether the round is over, because all packets outstanding at its start have been acknowledged. The next
    /// round then begins.
    pub fn round_is_over(&mut self, ack: &Ack, path: &Path) -> bool {
        let over = ack.una > self.round_end;
        if over {
            self.round_end = path.next;
        }
        over
    }

    /// Forget the samples of the round, but not the base RTT.
    pub fn forget_round(&mut self) {
        self.min_us = NONE_US;
        self.samples = 0;
    }

    /// Report the base RTT for traces.
    pub fn observe(&self, probe: &mut crate::Probe<'_>) {
        if self.base_us != NONE_US {
            probe.see("base_rtt", f64::from(self.base_us) / 1e6, "s");
        }
    }
}

fn plus_one(rtt: Duration) -> u32 {
    (rtt.as_micros() + 1).min(u64::from(NONE_US)) as u32
}
