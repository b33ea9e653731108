//! Inputs of a medium besides its parameters.

use crate::{QueueDiscipline, SamplingTimes};

/// Queues, sampling times and seed. A medium without queues can only report its minimum delay and its capacity.
pub struct Inputs<P> {
    /// Queues of the ports.
    pub queues: Vec<Box<dyn QueueDiscipline<P>>>,
    /// Times at which the counters of the medium are read.
    pub sampling: SamplingTimes,
    /// Seed of the random numbers of the medium.
    pub seed: u64,
}
