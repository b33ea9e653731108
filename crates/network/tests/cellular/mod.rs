//! Cellular cells compared with closed forms, and under random traffic.

mod delays;
mod driver;
mod grants;
mod mistakes;
mod random;
mod shares;
mod throughput;
