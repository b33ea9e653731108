//! The conformance kit for algorithms, without a network. The tests and the fuzzer of this crate use the kit.
//! Tests of your own algorithm can use the kit, too.
//!
//! - [`rounds`]: a table of round trips on an ideal path, one line per round trip, for review and for snapshot
//!   tests.
//! - [`Script`]: a sequence of events, read from any bytes, so that fuzzers and property tests share one format.
//! - [`INVARIANTS`]: the conditions that hold for every algorithm; [`judge`] checks all conditions after every
//!   event.
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
