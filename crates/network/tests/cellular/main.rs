//! Cellular cells against closed forms, and under random traffic.

#[path = "../common/cells.rs"]
mod cells;

mod delays;
mod driver;
mod grants;
mod mistakes;
mod random;
mod shares;
mod throughput;
