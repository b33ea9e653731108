//! Inputs of a medium besides its parameters.

use crate::{QueueDiscipline, SamplingTimes};

/// Queues, sampling times and seed. Without queues, a medium can only report its minimum delay and its capacity.
pub struct Inputs<P> {
    /// Queues of the ports.
    pub queues: Vec<Box<dyn QueueDiscipline<P>>>,
    /// Times at which its counters are read.
    pub sampling: SamplingTimes,
    /// Seed of its random numbers.
    pub seed: u64,
}
