#![doc = include_str!("../README.md")]

mod channel;
mod closed_form;
mod counters;
mod dice;
mod element;
mod histogram;
pub mod impairments;
pub mod kit;
mod link;
pub mod losses;
pub mod medium;
mod opportunities;
mod packet;
pub mod queue;
mod ring;
mod server;
mod streams;
mod timetable;
pub mod wifi;
mod wire;

pub use channel::Snr;
pub use counters::{Counters, SamplingTimes, Totals};
pub use dice::Dice;
pub use element::{Element, PortId};
pub use histogram::Histogram;
pub use impairments::Impairment;
pub use link::{Link, LinkConfig};
pub use losses::Loss;
pub use opportunities::Opportunities;
pub use packet::{Ecn, Packet};
pub use queue::{Backlog, QueueDiscipline, QueueEvents, Released};
pub use ring::Ring;
pub use server::Server;
pub use streams::{Direction, RouteId, StreamId, Streams};
pub use wire::Impairments;
