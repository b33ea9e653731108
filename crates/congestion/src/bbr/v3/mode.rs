//! Modes of a flow, and phases of its probes for bandwidth.

/// The mode of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Double the rate in each round.
    Startup,
    /// Drain the queue that STARTUP built.
    Drain,
    /// Cycle through the phases of probing.
    ProbeBw(Phase),
    /// Reduce the packets in flight to half a BDP to measure the propagation delay.
    ProbeRtt { until_ms: Option<u64>, round_done: bool },
}

impl Mode {
    /// Name of the mode in traces.
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::Startup => "Startup",
            Mode::Drain => "Drain",
            Mode::ProbeBw(Phase::Down) => "ProbeBW:Down",
            Mode::ProbeBw(Phase::Cruise) => "ProbeBW:Cruise",
            Mode::ProbeBw(Phase::Refill) => "ProbeBW:Refill",
            Mode::ProbeBw(Phase::Up) => "ProbeBW:Up",
            Mode::ProbeRtt { .. } => "ProbeRTT",
        }
    }
}

/// Phases of PROBE_BW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Send slower than the bandwidth estimate, until the queue of the probe is drained and headroom is left.
    Down,
    /// Send at the bandwidth estimate.
    Cruise,
    /// Fill the pipe without building a queue, for one round.
    Refill,
    /// Send faster than the bandwidth estimate, to probe for more bandwidth.
    Up,
}

/// Origin of the ACKs that arrive now, relative to the last probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// ACKs of packets that belong to no probe.
    #[default]
    Init,
    /// ACKs of packets sent in REFILL.
    Refilling,
    /// ACKs of packets sent before the probe, while the probe runs.
    Starting,
    /// ACKs of packets sent by the probe, while the probe runs.
    Feedback,
    /// ACKs of packets sent by the probe, after its end.
    Stopping,
}
