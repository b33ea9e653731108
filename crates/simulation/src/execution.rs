//! How a run is executed, which is of no consequence for its results.

use crate::links::CutThrough;

/// How a run is executed. Same results each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// In windows where that is possible and pays, on so many threads at most.
    Auto {
        /// At least one.
        threads: usize,
    },
    /// In windows where that is possible, on so many threads at most.
    Windows {
        /// At least one.
        threads: usize,
    },
    /// One event after the other.
    Events,
    /// One event after the other; every link replays its queue, and packets take one link at a time. Slower.
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
