//! The vocabulary every crate shares: points in time, spans, rates, sizes and reproducible randomness.
//!
//! Everything is an integer (nanoseconds, bits per second, bytes), so that a simulation gives the same
//! bytes on every machine. Nothing here depends on any other crate.

mod quantity;
mod rng;
mod time;

pub use quantity::{Bytes, Rate};
pub use rng::Rng;
pub use time::{Duration, Time};
