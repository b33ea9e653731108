#![doc = include_str!("../README.md")]

mod histogram;
mod probe;
mod quantity;
mod rng;
mod time;

pub use histogram::Histogram;
pub use probe::{Probe, Reading};
pub use quantity::{Bytes, Rate};
pub use rng::Rng;
pub use time::{Duration, Time};
