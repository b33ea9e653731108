//! What applications do: one file per kind.

mod paced;

pub use paced::Paced;
