//! The hooks by which a descendant of BBRv1 differs from it. Every default is BBRv1's own rule.

use super::Core;
use crate::bbr::{Bandwidth, Gain};
use crate::{Ack, Path, Probe};
use units::{Duration, Rate};

/// The points at which descendants of BBRv1 differ from it.
pub(crate) trait Variant: Send {
    /// The window of before a recovery comes back when it ends.
    /// Linux `bbr_set_cwnd_to_recover_or_restore`.
    const RESTORES_CWND: bool = true;

    /// The handshake is over.
    fn on_established(&mut self, _core: &Core, _path: &Path) {}

    /// Bandwidth and rounds are up to date; nothing has been decided from this ACK yet.
    fn on_ack(&mut self, _core: &Core, _ack: &Ack) {}

    /// A mode, or a phase of PROBE_BW, begins.
    fn on_phase(&mut self, _core: &Core) {}

    /// Whether a phase with gain above 1, begun `elapsed` ago, is over; `rule` is what BBRv1 decides.
    fn probe_is_over(&mut self, _core: &Core, _elapsed: Duration, rule: bool) -> bool {
        rule
    }

    /// Takes the RTT sample in; true if PROBE_RTT is due.
    fn update_min_rtt(&mut self, core: &mut Core, ack: &Ack, path: &Path) -> bool {
        core.update_min_rtt(ack, path)
    }

    /// PROBE_RTT begins: the window to hold, in packets.
    fn enter_probe_rtt(&mut self, core: &Core) -> u32 {
        core.settings.min_cwnd
    }

    /// PROBE_RTT ends.
    fn leave_probe_rtt(&mut self, _core: &mut Core) {}

    /// The pacing gain, where BBRv1 has `gain`.
    fn pacing_gain(&self, gain: Gain) -> Gain {
        gain
    }

    /// The rate to pace at, where bandwidth and gain say `rate`.
    fn pace(&self, _core: &Core, rate: Rate, _mss: u32) -> Rate {
        rate
    }

    /// The bandwidth-delay product times `gain`, packets.
    fn bdp(&self, core: &Core, bw: Bandwidth, gain: Gain) -> u32 {
        core.bdp(bw, gain)
    }

    /// The window in the first round of recovery, `entering` on its first ACK; `flow` is what is in flight and what
    /// was just acknowledged, `in_flight` without the latter.
    fn conserve(&mut self, cwnd: u32, flow: u32, _in_flight: u32, entering: bool) -> u32 {
        if entering { flow } else { cwnd.max(flow) }
    }

    /// Names its own variables for traces.
    fn observe(&self, _core: &Core, _probe: &mut Probe<'_>) {}
}

/// BBRv1 itself.
pub(crate) struct Plain;

impl Variant for Plain {}
