//! Types that every crate uses: points in time, durations, rates, sizes, reproducible randomness and
//! internal variables.
//!
//! Everything is an integer (nanoseconds, bits per second, bytes), so that a simulation gives the same
//! bytes on every machine. Nothing here depends on any other crate.

mod probe;
mod quantity;
mod rng;
mod time;

pub use probe::{Probe, Reading};
pub use quantity::{Bytes, Rate};
pub use rng::Rng;
pub use time::{Duration, Time};
