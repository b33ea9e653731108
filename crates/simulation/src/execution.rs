//! Execution modes of a run, which never change results.

use crate::links::CutThrough;

/// Execution mode of a run. It never changes results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// In windows if that is possible and faster, otherwise in the order of events.
    Auto {
        /// Most threads, at least one.
        threads: usize,
    },
    /// In windows if that is possible, otherwise in the order of events.
    Windows {
        /// Most threads, at least one.
        threads: usize,
    },
    /// In the order of events.
    Events,
    /// In the order of events, without cut-through and with links that replay their queues. This mode is slower.
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
