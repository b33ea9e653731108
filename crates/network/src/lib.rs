//! Packets, queues, links, and other elements of a network.
//!
//! A [`Link`] is a queue in front of a wire. It is served lazily: nothing happens when a packet has been
//! transmitted, the departures up to now are replayed, at their exact times, when they are next needed.
//! A link knows nothing of what its packets carry. It is an [`Element`]: what elements promise is said there.
//!
//! ```
//! use network::{Ecn, Impairments, Link, LinkConfig, Packet, SamplingTimes, StreamId, queue};
//! use units::{Duration, Rate, Time};
//!
//! let config = LinkConfig {
//!     rate: Rate::from_bits_per_sec(8_000_000), // one byte per microsecond
//!     delay: Duration::from_millis(10),
//!     loss: None,
//!     sampling: SamplingTimes::new(None, Time::ZERO, Time::from_nanos(1_000_000_000)),
//!     impairments: Impairments::default(),
//! };
//! let queue = queue::build("drop_tail", &serde_json::json!({ "packets": 1 }), 1).unwrap();
//! let mut link = Link::new(config, queue);
//! link.send(Packet { stream: StreamId(0), size: 1000, ecn: Ecn::NotEct, dscp: 0, payload: () }, Time::ZERO);
//! assert_eq!(link.next_arrival(), Time::from_nanos(11_000_000)); // 1 ms to transmit, 10 ms on the wire
//! ```

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
mod wire;

pub use counters::{Counters, SamplingTimes, Totals};
pub use dice::Dice;
pub use element::{Element, PortId};
pub use histogram::Histogram;
pub use impairments::Impairment;
pub use link::{Link, LinkConfig};
pub use losses::Loss;
pub use opportunities::Opportunities;
pub use packet::{Ecn, Packet};
pub use queue::{Backlog, QueueDiscipline, QueueEvents};
pub use ring::Ring;
pub use server::Server;
pub use streams::{Direction, RouteId, StreamId, Streams};
pub use wire::Impairments;
