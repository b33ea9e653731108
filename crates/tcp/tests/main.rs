//! Tests that use the crate from outside, in one program.

mod adversity;
mod algorithm_side;
mod both_ways;
mod ecn;
mod host_pacing;
mod lean_records;
mod loss_detection;
mod losses;
mod offload;
mod pipe;
mod properties;
mod quirks;
mod traces;
mod transients;
mod writes;
mod zero_window;
