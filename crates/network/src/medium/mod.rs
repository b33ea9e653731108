//! Media: elements with several ports that share a channel.
//!
//! To add a medium, add a file or a folder and a line to the list below. A [`Medium`] implements ports, queues,
//! counters and transmissions. The [`Mac`] of a medium decides which port has the next turn, when the turn begins and
//! how many bytes it carries. A medium with turns therefore only needs a [`Mac`] in a file of this folder. Any other
//! medium implements [`Element`].

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
    /// Seed of the random numbers of the medium.
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
/// Calls come in the order of time. The methods are called only when a turn begins or ends, and when a port becomes
/// backlogged.
pub trait Mac: Send {
    /// Rate and delay of all ports. The rate and the delay never change.
    fn channel(&self) -> Channel;

    /// Request a turn for a port. Return the time from which the port may have the turn.
    fn request(&mut self, port: usize, now: Time, request: Request) -> Time;

    /// The next turn, if no packet arrives before the turn begins. `ready` has for each port the time from which the
    /// port may have a turn; [`Time::NEVER`] if it has nothing to send. The medium is free from `free_at` on. The port
    /// of the returned turn must be ready at the start of the turn. If any port has something to send, the method must
    /// return a turn.
    fn next_turn(&self, ready: &[Time], free_at: Time) -> Option<Turn>;

    /// Record that a turn begins.
    fn begin(&mut self, turn: &Turn);
}

/// Kind of a request for a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A packet has reached a port without packets and without a turn.
    New,
    /// The turn of a port ends and the port still has packets. The port has sent the request within the turn.
    Piggybacked,
}

/// A turn of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The port.
    pub port: usize,
    /// Start of the turn.
    pub start: Time,
    /// Time from the start of the turn to its first packet.
    pub overhead: Duration,
    /// Limit of the turn. The turn carries packets until the next packet would exceed this number of bytes, but at
    /// least one packet.
    pub bytes: u64,
}
