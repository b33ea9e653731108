//! What a medium is made of, besides its parameters.

use crate::{QueueDiscipline, SamplingTimes};

/// The queues of its ports, and what else it needs. Without queues it is made to say its least delay and its capacity only.
pub struct Inputs<P> {
    /// One for each port.
    pub queues: Vec<Box<dyn QueueDiscipline<P>>>,
    /// When its counters are read.
    pub sampling: SamplingTimes,
    /// The seed of its randomness.
    pub seed: u64,
}
