//! Hooks by which descendants of BBRv1 change its rules. The default of every hook is the rule of BBRv1.

use super::Core;
use crate::bbr::{Bandwidth, Gain};
use crate::{Ack, Path, Probe};
use units::{Duration, Rate};

/// Hooks of BBRv1 that its descendants implement.
pub(crate) trait Variant: Send {
    /// Whether the window from before recovery is restored when recovery ends.
    /// Linux `bbr_set_cwnd_to_recover_or_restore`.
    const RESTORES_CWND: bool = true;

    /// Start the flow when the handshake is complete.
    fn on_established(&mut self, _core: &Core, _path: &Path) {}

    /// Process an ACK after the update of bandwidth and rounds, before any decision.
    fn on_ack(&mut self, _core: &Core, _ack: &Ack) {}

    /// Begin a mode, or a phase of PROBE_BW.
    fn on_phase(&mut self, _core: &Core) {}

    /// Whether a phase with gain above 1 that began `elapsed` ago is over. `rule` is BBRv1's decision.
    fn probe_is_over(&mut self, _core: &Core, _elapsed: Duration, rule: bool) -> bool {
        rule
    }

    /// Update the RTT minimum with a sample. True if PROBE_RTT is due.
    fn update_min_rtt(&mut self, core: &mut Core, ack: &Ack, path: &Path) -> bool {
        core.update_min_rtt(ack, path)
    }

    /// Begin PROBE_RTT. Return the window of PROBE_RTT in packets.
    fn enter_probe_rtt(&mut self, core: &Core) -> u32 {
        core.settings.min_cwnd
    }

    /// End PROBE_RTT.
    fn leave_probe_rtt(&mut self, _core: &mut Core) {}

    /// The pacing gain in place of BBRv1's `gain`.
    fn pacing_gain(&self, gain: Gain) -> Gain {
        gain
    }

    /// The pacing rate in place of BBRv1's `rate`.
    fn pace(&self, _core: &Core, rate: Rate, _mss: u32) -> Rate {
        rate
    }

    /// The bandwidth-delay product times `gain`, packets.
    fn bdp(&self, core: &Core, bw: Bandwidth, gain: Gain) -> u32 {
        core.bdp(bw, gain)
    }

    /// The window in the first round of recovery. `entering`: whether this is the first ACK of the round. `flow`:
    /// packets in flight plus packets just acknowledged.
    fn conserve(&mut self, cwnd: u32, flow: u32, _in_flight: u32, entering: bool) -> u32 {
        if entering { flow } else { cwnd.max(flow) }
    }

    /// Report the variant's own variables for traces.
    fn observe(&self, _core: &Core, _probe: &mut Probe<'_>) {}
}

/// BBRv1 itself.
pub(crate) struct Plain;

impl Variant for Plain {}
