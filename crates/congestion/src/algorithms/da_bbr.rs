//! # Delay-Aware BBR
//!
//! ## Idea
//! BBRv1 with a window that depends on the ratio of queueing delay to RTT: one bandwidth-delay product on an empty
//! path, and up to two with a long queue. A shared queue is short relative to a long RTT. A flow with a long RTT
//! therefore has a small window, and a flow with a short RTT gets its fair share.
//!
//! ## Source and revision
//! Kim and Cho, IEEE Access 7, 2019; their module for Linux 4.14 (ku-asteam/da-bbr), in behaviour.
//!
//! ## Signals
//! The signals of BBRv1; each RTT sample changes the window.
//!
//! ## State diagram
//! The diagram of BBRv1, with three changes. In PROBE_BW the bandwidth-delay product is multiplied by rtt / (rtt +
//! RTprop), unless RTprop has grown by more than a fifth since the preceding window of the RTprop filter. The window
//! of PROBE_RTT is a third of the window before PROBE_RTT. Recovery begins with a window equal to the packets in flight
//! and with a pacing gain of 0.75, and the end of recovery does not restore the window.
//!
//! ## Deviations from the source
//! On an ACK without an RTT sample, the last RTT sample is used (the module divides by an undefined value). The
//! window of PROBE_RTT and of recovery is at least one packet. The base is BBRv1 of Linux 6.18, with these properties
//! of BBRv1 of Linux 4.14; other differences between the two versions are not modelled:
//!
//! - There is no pacing margin and no compensation of ACK aggregation, and packets in the network are not
//!   extrapolated to the next departure.
//! - RTT samples of delayed ACKs count.
//! - The window has room for a probe whenever the gain exceeds 1.
//! - An RTT equal to the minimum renews the minimum, so PROBE_RTT is rare on a path without noise.
//!
//! ## Validated against
//! Properties derived from the paper (`tests/bbr1_family`, `tests/theory`); no other implementation was run.

use crate::bbr::v1::{Core, Mode, Settings, V1, Variant, params_of_v1};
use crate::bbr::{Bandwidth, Gain};
use crate::registry::Algorithm;
use crate::{Ack, Path, Probe};
use units::Duration;

params_of_v1! {
    /// Parameters of Delay-Aware BBR.
    pub struct DaBbrParams on Linux4_14, margin 0 {
        /// Divisor of the window in PROBE_RTT.
        probe_rtt_divisor: u32 = 3, "", 1..=1000;
        /// Relative growth of RTprop above which RTprop counts as contaminated by a queue. The window is then the
        /// same as in BBRv1.
        rtprop_growth: f64 = 0.2, "", 0.0..=100.0;
        /// Pacing gain from the start of a recovery to the next phase.
        recovery_gain: f64 = 0.75, "", 0.05..=2.0;
    }
}

/// Delay-Aware BBR.
pub(crate) type DaBbr = V1<DelayAware>;

impl Algorithm for DaBbr {
    type Params = DaBbrParams;
    const TITLE: &'static str = "Delay-Aware BBR (BBRv1 with a window that follows the queue)";
    const SOURCE: &'static str = "Kim and Cho, IEEE Access 7, 2019; module for Linux 4.14";

    fn new(params: DaBbrParams, seed: u64) -> DaBbr {
        let settings = Settings::from(&params);
        V1::with(DelayAware { params, rtt: None, rtprop_before: None, recovering: false }, settings, seed)
    }
}

/// Changes of Delay-Aware BBR to BBRv1.
pub(crate) struct DelayAware {
    params: DaBbrParams,
    rtt: Option<Duration>,
    /// RTprop in the preceding window of the RTprop filter.
    rtprop_before: Option<Duration>,
    /// Whether recovery has begun in this phase of PROBE_BW.
    recovering: bool,
}

impl DelayAware {
    /// RTprop times rtt / (rtt + RTprop): half of RTprop on an empty path, and almost RTprop with a long queue.
    fn discounted(&self, rtprop: Duration) -> Duration {
        let contaminated = self.rtprop_before.is_some_and(|before| {
            before.as_micros() as f64 * (1.0 + self.params.rtprop_growth) < rtprop.as_micros() as f64
        });
        match self.rtt {
            Some(rtt) if !contaminated => {
                let (rtt, rtprop) = (u128::from(rtt.as_micros()), u128::from(rtprop.as_micros()));
                Duration::from_micros((rtprop * rtt / (rtprop + rtt).max(1)) as u64)
            }
            _ => rtprop,
        }
    }
}

impl Variant for DelayAware {
    const RESTORES_CWND: bool = false;

    fn on_established(&mut self, core: &Core, _path: &Path) {
        self.rtprop_before = core.min_rtt;
    }

    fn on_ack(&mut self, _core: &Core, ack: &Ack) {
        self.rtt = ack.rtt.or(self.rtt);
    }

    fn on_phase(&mut self, _core: &Core) {
        self.recovering = false;
    }

    fn update_min_rtt(&mut self, core: &mut Core, ack: &Ack, path: &Path) -> bool {
        let probing = matches!(core.mode, Mode::ProbeBw { .. });
        if probing && ack.rtt.is_some() && core.min_rtt_expired(path) {
            self.rtprop_before = core.min_rtt;
        }
        core.update_min_rtt(ack, path)
    }

    fn enter_probe_rtt(&mut self, core: &Core) -> u32 {
        (core.cwnd / self.params.probe_rtt_divisor).max(1)
    }

    fn pacing_gain(&self, gain: Gain) -> Gain {
        if self.recovering { Gain::from_f64(self.params.recovery_gain) } else { gain }
    }

    fn bdp(&self, core: &Core, bw: Bandwidth, gain: Gain) -> u32 {
        match (core.mode, core.min_rtt) {
            (Mode::ProbeBw { .. }, Some(rtprop)) => bw.bdp(self.discounted(rtprop), gain),
            _ => core.bdp(bw, gain),
        }
    }

    fn conserve(&mut self, cwnd: u32, _flow: u32, in_flight: u32, entering: bool) -> u32 {
        self.recovering |= entering;
        if entering { in_flight.max(1) } else { cwnd }
    }

    fn observe(&self, core: &Core, probe: &mut Probe<'_>) {
        if let Some(rtprop) = core.min_rtt {
            let share = self.discounted(rtprop).as_secs_f64() / rtprop.as_secs_f64().max(1e-9);
            probe.see("window_share", share, "");
        }
    }
}
