//! Tests that use the crate from outside, in one program.

mod allocation;
mod bbr1_family;
mod bbr2;
mod bbr3;
mod bbr_n_plus;
mod conformance;
mod examples;
mod flow;
mod kit;
mod rounds;
