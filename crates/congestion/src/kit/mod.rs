//! The conformance kit of algorithms, without a network: for the tests of this crate, for its fuzzer, and for yours.
//!
//! - [`rounds`]: one line per round trip on an ideal path, to be looked at and kept as a snapshot.
//! - [`Script`]: any bytes as a sequence of events, so that a fuzzer's corpus and a property test speak one language.
//! - [`INVARIANTS`]: what must hold whatever happens, in one list; [`judge`] checks all of it after every event.
//!
//! ```
//! use congestion::kit::{Script, judge};
//!
//! let make = || congestion::build("reno", &serde_json::Value::Null, 1).unwrap();
//! judge(&make, &Script::from_bytes(b"any bytes will do")).unwrap();
//! ```

mod events;
pub mod ideal;
mod invariants;
mod registry;
pub mod rounds;

pub use events::{Event, Script, Transport};
pub use invariants::{Broken, INVARIANTS, Invariant, Step, judge};
pub use registry::judge_registry;
