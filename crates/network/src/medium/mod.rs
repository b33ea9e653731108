//! Media: elements with several ports of which one transmits at a time.
//!
//! A [`Medium`] has the ports, their queues and counters, and transmits. Whose turn it is, when it begins and how much it
//! carries is the law of its [`Mac`]. Adding a law is one file beside this one and one line in the list below.

mod registry;
mod turns;

pub use params::BuildError;
pub use registry::descriptors;
pub use turns::{Channel, Medium};

registry::media! {
    "shared" => shared::Shared,
}

use units::{Duration, Time};

/// Medium access control: the law of whose turn it is.
///
/// Calls come in the order of time. Between them nothing happens to it, so it is called no more often than turns begin
/// and end and ports become backlogged.
pub trait Mac: Send {
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
