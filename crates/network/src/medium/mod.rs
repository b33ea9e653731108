//! Media: elements with several ports of which one transmits at a time.
//!
//! A [`Medium`] has the ports, their queues and counters, and transmits. Whose turn it is, when it begins and how much it
//! carries is the law of its [`Mac`]. Adding a law is one file beside this one and one line in the list below.

mod turns;

pub use params::BuildError;
pub use turns::Medium;

params::family! {
    /// A law of the registry.
    pub enum Law("medium", Ports) as Mac {
        "shared" => shared::Shared,
    }
}

use crate::{Element, QueueDiscipline, SamplingTimes};
use params::Descriptor;
use serde_json::Value;
use units::{Duration, Rate, Time};

/// Every medium there is.
pub fn descriptors() -> &'static [Descriptor] {
    Law::descriptors()
}

/// Makes the medium called `kind`, with `params` as a JSON object (null for the defaults) and one port for each queue.
/// Different seeds give different dice.
///
/// # Errors
/// If there is no such medium, or a parameter is unknown, of the wrong type or out of range, or they do not go together.
pub fn build<P: Copy + Send + 'static>(
    kind: &str,
    params: &Value,
    queues: Vec<Box<dyn QueueDiscipline<P>>>,
    sampling: SamplingTimes,
    seed: u64,
) -> Result<Box<dyn Element<P>>, BuildError> {
    let law = Law::build(kind, params, Ports { count: queues.len(), seed })?;
    Ok(Box::new(Medium::new(law, queues, sampling)))
}

/// What a law is made for: so many idle ports, and the seed of its randomness.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    /// How many.
    pub count: usize,
    /// The seed.
    pub seed: u64,
}

/// What the ports of a medium transmit over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Rate of transmission.
    pub rate: Rate,
    /// Propagation delay to the far end.
    pub delay: Duration,
}

/// Medium access control: the law of whose turn it is.
///
/// Calls come in the order of time. Between them nothing happens to it, so it is called no more often than turns begin
/// and end and ports become backlogged.
pub trait Mac: Send {
    /// What its ports transmit over, the same at all times.
    fn channel(&self) -> Channel;

    /// A port asks for a turn: from when on may it have one?
    fn request(&mut self, port: usize, now: Time, request: Request) -> Time;

    /// The next turn, if nothing arrives before it begins. `ready` says for each port from when on it may have one, never
    /// if it has nothing to send. The medium is free from `free_at` on. It must be the turn of a port that is ready at
    /// its start, and if there is such a port, one of them has to have it.
    fn next_turn(&self, ready: &[Time], free_at: Time) -> Option<Turn>;

    /// A turn begins.
    fn begin(&mut self, turn: &Turn);
}

/// How a port asks for a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A packet has reached it, it had none, and it has no turn.
    New,
    /// Its turn ends and it still has packets. The request has ridden on the turn.
    Piggybacked,
}

/// A turn of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The port.
    pub port: usize,
    /// When it begins.
    pub start: Time,
    /// Time between its start and its first packet.
    pub overhead: Duration,
    /// It carries packets until the next would exceed so many bytes, but at least one.
    pub bytes: u64,
}

impl Mac for Law {
    fn channel(&self) -> Channel {
        (**self).channel()
    }

    fn request(&mut self, port: usize, now: Time, request: Request) -> Time {
        (**self).request(port, now, request)
    }

    fn next_turn(&self, ready: &[Time], free_at: Time) -> Option<Turn> {
        (**self).next_turn(ready, free_at)
    }

    fn begin(&mut self, turn: &Turn) {
        (**self).begin(turn);
    }
}
