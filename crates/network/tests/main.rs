//! Tests that use the crate from outside, in one program.

mod cake;
mod cellular;
mod changes;
mod common;
mod elements;
mod impairments;
mod link;
mod queues;
mod wifi;
