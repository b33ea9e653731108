//! Tests that use the crate from outside, in one program.

mod networks;
mod own_parts;
