#![doc = include_str!("../README.md")]

mod calls;
mod clock;
mod compare;
mod host;
mod numbering;
mod play;
mod readings;
mod script;
mod setup;
mod verdict;

pub use play::play;
pub use verdict::{Difference, Outcome, Verdict};
