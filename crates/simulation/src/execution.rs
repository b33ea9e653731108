//! Execution modes of a run, which never change results.

use crate::links::CutThrough;

/// Execution mode of a run, which never changes results. Execution in the order of events runs all parts of the network
/// together. Execution in windows simulates each flow separately for a span of time, then the links that flows share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// Execution in windows if windows are possible and faster, otherwise in the order of events.
    Auto {
        /// Maximum number of threads, at least 1.
        threads: usize,
    },
    /// Execution in windows if windows are possible, otherwise in the order of events.
    Windows {
        /// Maximum number of threads, at least 1.
        threads: usize,
    },
    /// Execution in the order of events.
    Events,
    /// Execution in the order of events, without cut-through and with links that replay their queues. The mode is for
    /// tests and slower than the other modes.
    OneLinkAtATime,
}

impl Execution {
    pub(crate) fn cut_through(self) -> CutThrough {
        if self == Execution::OneLinkAtATime { CutThrough::No } else { CutThrough::Yes }
    }
}

impl Default for Execution {
    fn default() -> Execution {
        Execution::Auto { threads: 1 }
    }
}
