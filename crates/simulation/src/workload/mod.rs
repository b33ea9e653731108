//! What applications do: one file per kind.

mod paced;
mod supply;
mod writer;

pub use paced::Paced;
pub use supply::{Socket, Supply};
pub use writer::Writer;
