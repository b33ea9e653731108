//! The conformance kit, which tests an element without a network. The tests of this crate use the kit, and tests of
//! your own elements can use it.
//!
//! - [`Script`]: any bytes as a sequence of arrivals.
//! - [`INVARIANTS`]: all properties that hold for any arrivals; [`judge`] checks them.
//!
//! ```
//! use network::kit::{Script, judge};
//! use network::{Element, Impairments, Link, LinkConfig, queue};
//! use units::{Duration, Rate};
//!
//! let config = |sampling| LinkConfig {
//!     rate: Rate::from_bits_per_sec(8_000_000),
//!     delay: Duration::from_millis(1),
//!     loss: None,
//!     sampling,
//!     impairments: Impairments::default(),
//! };
//! let queue = || queue::build("codel", &serde_json::Value::Null, 1).unwrap();
//! judge(&|sampling| Box::new(Link::new(config(sampling), queue())), &Script::from_bytes(b"any bytes will do")).unwrap();
//! ```

mod invariants;
mod run;
mod script;

pub use invariants::{Broken, Evidence, INVARIANTS, Invariant, judge};
pub use run::{Delivery, Log, Tag};
pub use script::{Arrival, Script};
