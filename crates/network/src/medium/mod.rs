//! Media: elements with several ports of which one transmits at a time.
//!
//! Adding one is a file or a folder, and a line in the list below. A [`Medium`] has the ports, their queues and counters,
//! and transmits; whose turn it is, when it begins and how much it carries is the law of its [`Mac`], so that a medium of
//! turns is a law beside this file. Any other is an [`Element`] of its own.

mod inputs;
mod registry;
mod shared;
mod turns;

pub use inputs::Inputs;
pub use params::BuildError;
pub use shared::{Shared, SharedParams};
pub use turns::Medium;

registry::media! {
    "shared" => Medium<P, Shared>,
    "wifi" => crate::wifi::Cell<P>,
    "lte" => crate::cellular::Cell<P, crate::cellular::Lte>,
    "nr" => crate::cellular::Cell<P, crate::cellular::Nr>,
}

use crate::{Element, QueueDiscipline, SamplingTimes};
use params::Descriptor;
use serde_json::Value;
use units::{Duration, Rate, Time};

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
