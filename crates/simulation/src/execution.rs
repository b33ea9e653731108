//! Execution modes of a run, which never change results.

use crate::links::CutThrough;

/// Execution mode of a run. It never changes results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// Windows if they are possible and faster, otherwise the order of events.
    Auto {
        /// Most threads, at least one.
        threads: usize,
    },
    /// Windows if they are possible, otherwise the order of events.
    Windows {
        /// Most threads, at least one.
        threads: usize,
    },
    /// The order of events.
    Events,
    /// The order of events, without cut-through and with links that replay their queues. This mode is slower.
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
