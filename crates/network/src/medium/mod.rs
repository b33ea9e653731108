//! Media: elements with several ports, of which one transmits at a time.
//!
//! To add one, add a file or a folder and a line in the list below. A [`Medium`] implements ports, queues, counters
//! and transmissions. Its [`Mac`] decides which port has the next turn, when the turn begins and how much it carries.
//! A medium with turns therefore needs only a [`Mac`] in a file here. Any other medium implements [`Element`].

pub(crate) mod inputs;
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

/// Inputs of a [`Mac`]: the ports, all idle, and a seed.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    /// Number of ports.
    pub count: usize,
    /// Seed of its random numbers.
    pub seed: u64,
}

/// Transmission of the ports of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Rate of transmission.
    pub rate: Rate,
    /// Propagation delay to the far end.
    pub delay: Duration,
}

/// Medium access control: decides which port has the next turn.
///
/// Calls come in the order of time. They are needed only when a turn begins or ends, and when a port becomes
/// backlogged.
pub trait Mac: Send {
    /// Rate and delay of all ports, which never change.
    fn channel(&self) -> Channel;

    /// Request a turn for a port. Return the time from which the port may have it.
    fn request(&mut self, port: usize, now: Time, request: Request) -> Time;

    /// The next turn, if no packet arrives before it begins. `ready` is the time from which each port may have a
    /// turn; [`Time::NEVER`] if it has nothing to send. The medium is free from `free_at` on. The port of the turn
    /// must be ready at its start. If any port is ready, there must be a turn.
    fn next_turn(&self, ready: &[Time], free_at: Time) -> Option<Turn>;

    /// Record that a turn begins.
    fn begin(&mut self, turn: &Turn);
}

/// Kind of a request for a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A packet has reached a port that had none and has no turn.
    New,
    /// The turn of a port ends and it still has packets. The request was sent within the turn.
    Piggybacked,
}

/// A turn of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The port.
    pub port: usize,
    /// Start of the turn.
    pub start: Time,
    /// Time between its start and its first packet.
    pub overhead: Duration,
    /// The turn carries packets until the next one would exceed this number of bytes, but at least one packet.
    pub bytes: u64,
}
