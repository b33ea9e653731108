#![doc = include_str!("../README.md")]

mod calls;
mod clock;
mod compare;
mod host;
mod kernel;
mod model;
mod numbering;
mod play;
mod readings;
mod script;
mod setup;
mod subject;
mod verdict;
mod wire;

pub use kernel::{judge, plan};
pub use play::play;
pub use verdict::{Difference, Outcome, Verdict};
