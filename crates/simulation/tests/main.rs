//! Tests that use the crate from outside, in one program.

mod cake;
mod common;
mod datagrams;
mod delays;
mod drops;
mod exchanges;
mod external;
mod invariance;
mod lean_records;
mod links;
mod media;
mod nics;
mod plans;
mod relays;
mod results;
mod route_control;
mod wifi;
mod windows;
mod workloads;
