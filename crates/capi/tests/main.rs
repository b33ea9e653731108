//! Tests that use the crate from outside, in one program.

mod host;
mod table;
