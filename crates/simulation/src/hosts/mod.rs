//! Ends of routes: connections and datagram sockets, and their statistics.
//!
//! A [`Flow`] has TCP connections and the application above them; [`Datagrams`] is a flow without TCP.

mod connection;
mod connections;
mod datagrams;
mod endpoints;
mod factory;
mod flow;
mod jitter;
mod observer;
mod outbox;
mod relays;
mod stats;
mod totals;
mod transport;

pub use connection::End;
pub use datagrams::Datagrams;
pub use endpoints::Endpoints;
pub use factory::AlgorithmFailure;
pub use flow::{Flow, Quiet};
pub use observer::Observer;
pub use outbox::Outbox;
pub use relays::pass_on;
pub use stats::{CounterSnapshot, FlowStats, ProbeRecord, Transfer};
pub use transport::Headers;
