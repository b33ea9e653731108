//! # BBQ
//!
//! ## Idea
//! BBRv1 favours flows with a long RTT: they probe at 1.25 times the bandwidth for one of their own RTTs, and so put
//! more packets into the shared queue. BBQ cuts the probe short, to the same 3 ms for all flows, once there is a queue.
//!
//! ## Source and revision
//! A reconstruction of Ma, Jiang, Wang, Li, "Fairness of congestion-based congestion control" (arXiv 1706.09115),
//! whose code was never published: from notes on the paper and what others say of it.
//!
//! ## Signals
//! BBRv1's, and the smallest RTT of the last whole round.
//!
//! ## State diagram
//! BBRv1's. With a queue the phase of gain 1.25 ends after min(RTprop, 3 ms).
//!
//! ## Deviations from the source
//! Not known to the source's letter. Chosen: a queue is there if the smallest RTT of the last whole round exceeds RTprop
//! by a tenth, at least by 1 ms (`queue_delta`, `queue_epsilon_ms`); this is looked at on entering the phase and on
//! every ACK of it; BBRv1's condition that a probe must raise the flight is void while there is a queue; the rest of
//! the cycle is BBRv1's.
//!
//! The tenth is invented, and it decides the result. Of 100 Mbit/s that a flow of 10 ms shares with one of 50 ms, the
//! former gets, behind 0.5 and 5 BDP (means of three seeds): 0.52 and 0.51 with `queue_delta` 0 or 0.05, 0.51 and 0.49
//! with 0.1, 0.51 and 0.49 with 0.15, 0.41 and 0.35 with 0.2, 0.31 and 0.27 with 0.25, 0.22 and 0.15 with 0.5. BBRv1
//! gives it 0.25 and 0.10. `queue_epsilon_ms` from 0 to 5 changes nothing; `probe_cap_ms` of 1 gives 0.41 and 0.30,
//! of 6 0.32 and 0.30.
//!
//! ## Validated against
//! The properties of its specification (`tests/bbr1_family`, `tests/theory`); nothing else runs it.

use crate::bbr::v1::{Core, Mode, Settings, V1, Variant, params_of_v1};
use crate::registry::Algorithm;
use crate::{Ack, Probe};
use units::Duration;

params_of_v1! {
    /// Parameters of BBQ.
    pub struct BbqParams on Linux6_18, margin 1 {
        /// Longest probe while there is a queue; the flow of short RTT gains less from a longer and from a shorter one.
        probe_cap_ms: f64 = 3.0, "ms", 0.1..=1000.0;
        /// A queue is there if the RTT exceeds the minimum by this fraction of it. Invented, and it decides the result:
        /// up to 0.15 flows of 10 and 50 ms share evenly, from 0.5 on nearly as under BBRv1 ...
        queue_delta: f64 = 0.1, "", 0.0..=10.0;
        /// ... and by at least this much.
        queue_epsilon_ms: f64 = 1.0, "ms", 0.0..=1000.0;
    }
}

/// BBQ.
pub(crate) type Bbq = V1<ShortProbes>;

impl Algorithm for Bbq {
    type Params = BbqParams;
    const TITLE: &'static str = "BBQ (BBRv1 with short probes when there is a queue)";
    const SOURCE: &'static str = "reconstructed from Ma et al., arXiv 1706.09115, 2017";

    fn new(params: BbqParams, seed: u64) -> Bbq {
        let settings = Settings::from(&params);
        V1::with(ShortProbes { params, round: None, last_round: None, capped: false }, settings, seed)
    }
}

/// What BBQ does otherwise than BBRv1.
pub(crate) struct ShortProbes {
    params: BbqParams,
    /// Smallest RTT of the round that runs.
    round: Option<Duration>,
    /// Smallest RTT of the round before.
    last_round: Option<Duration>,
    capped: bool,
}

impl ShortProbes {
    fn queue_detected(&self, core: &Core) -> bool {
        let (Some(rtprop), Some(rtt)) = (core.min_rtt, self.last_round) else { return false };
        let rtprop = rtprop.as_micros() as f64;
        let excess = (self.params.queue_delta * rtprop).max(self.params.queue_epsilon_ms * 1e3);
        rtt.as_micros() as f64 >= rtprop + excess
    }
}

impl Variant for ShortProbes {
    fn on_ack(&mut self, core: &Core, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.round = Some(self.round.map_or(rtt, |min| min.min(rtt)));
        }
        if core.round_start {
            self.last_round = self.round.take();
        }
    }

    fn on_phase(&mut self, core: &Core) {
        if matches!(core.mode, Mode::ProbeBw { phase: 0, .. }) {
            self.capped = self.queue_detected(core);
        }
    }

    fn probe_is_over(&mut self, core: &Core, elapsed: Duration, rule: bool) -> bool {
        self.capped |= self.queue_detected(core);
        if !self.capped {
            return rule;
        }
        let cap = Duration::from_micros((self.params.probe_cap_ms * 1e3) as u64);
        elapsed > core.min_rtt.map_or(cap, |rtprop| rtprop.min(cap))
    }

    fn observe(&self, core: &Core, probe: &mut Probe<'_>) {
        if let Some(rtt) = self.last_round {
            probe.see("round_min_rtt", rtt.as_secs_f64(), "s");
        }
        probe.flag("queue_detected", self.queue_detected(core));
    }
}
