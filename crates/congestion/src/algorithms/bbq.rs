//! # BBQ
//!
//! ## Idea
//! BBRv1 favours flows with a long RTT. A flow probes at 1.25 times the bandwidth for one RTT of its own, so a flow
//! with a long RTT puts more packets into the shared queue. BBQ limits the probe to 3 ms for all flows while there is
//! a queue.
//!
//! ## Source and revision
//! A reconstruction of Ma, Jiang, Wang, Li, "Fairness of congestion-based congestion control" (arXiv 1706.09115),
//! from notes on the paper and from what other papers report about BBQ. The authors' code was never published.
//!
//! ## Signals
//! The signals of BBRv1, and the smallest RTT of the last complete round.
//!
//! ## State diagram
//! The diagram of BBRv1. While there is a queue, the phase of gain 1.25 ends after min(RTprop, 3 ms).
//!
//! ## Deviations from the source
//! The exact rules of the source are unknown. These are our choices:
//!
//! - There is a queue if the smallest RTT of the last complete round exceeds RTprop by a tenth, and by at least 1 ms
//!   (`queue_delta`, `queue_epsilon_ms`).
//! - This condition is tested on entering the phase of gain 1.25 and on every ACK in that phase.
//! - BBRv1 continues a probe until the packets in flight have risen. BBQ does not apply this rule while there is
//!   a queue.
//! - The other phases of the cycle are unchanged.
//!
//! The threshold of a tenth is our choice, and this choice decides the result. The table shows the share of a
//! flow with an RTT of 10 ms that competes with a flow of 50 ms for 100 Mbit/s (means of three seeds):
//!
//! | setting | share, buffer of 0.5 BDP | share, buffer of 5 BDP |
//! |---|---|---|
//! | `queue_delta` 0 or 0.05 | 0.52 | 0.51 |
//! | `queue_delta` 0.1 | 0.51 | 0.49 |
//! | `queue_delta` 0.15 | 0.51 | 0.49 |
//! | `queue_delta` 0.2 | 0.41 | 0.35 |
//! | `queue_delta` 0.25 | 0.31 | 0.27 |
//! | `queue_delta` 0.5 | 0.22 | 0.15 |
//! | `probe_cap_ms` 1 | 0.41 | 0.30 |
//! | `probe_cap_ms` 6 | 0.32 | 0.30 |
//! | BBRv1 | 0.25 | 0.10 |
//!
//! Values of `queue_epsilon_ms` from 0 to 5 give the same shares.
//!
//! ## Validated against
//! Properties derived from the paper (`tests/bbr1_family`, `tests/theory`); no other implementation exists.

use crate::bbr::v1::{Core, Mode, Settings, V1, Variant, params_of_v1};
use crate::registry::Algorithm;
use crate::{Ack, Probe};
use units::Duration;

params_of_v1! {
    /// Parameters of BBQ.
    pub struct BbqParams on Linux6_18, margin 1 {
        /// Longest probe while there is a queue. A flow with a short RTT gets its largest share with the default;
        /// longer and shorter limits give less.
        probe_cap_ms: f64 = 3.0, "ms", 0.1..=1000.0;
        /// Relative excess of the RTT over the minimum that shows a queue. The value is our choice, and this
        /// choice decides the result: up to 0.15, flows of 10 and 50 ms share evenly; from 0.5 on, they share
        /// nearly as with BBRv1.
        queue_delta: f64 = 0.1, "", 0.0..=10.0;
        /// Smallest excess of the RTT over the minimum that shows a queue.
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

/// BBQ's modifications of BBRv1.
pub(crate) struct ShortProbes {
    params: BbqParams,
    /// Smallest RTT of the present round.
    round: Option<Duration>,
    /// Smallest RTT of the preceding round.
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
