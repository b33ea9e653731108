//! Cellular: a base station and its users, LTE or NR, as one medium.
//!
//! User `k` has two ports: `2k` is the way from the base station to it (down), `2k + 1` the way back (up).
//!
//! - [`slots`]: when each way has a slot, and of how many symbols.
//! - [`blocks`]: how much a transport block carries.
//! - [`adaptation`]: which modulation and coding scheme a block uses, and whether it is decoded.
//! - [`rlc`]: packets as pieces in blocks, repeated blocks, and release in order.
//! - [`grants`]: when a user may send.
//! - [`gaps`]: when a user is away; [`drx`]: when it does not listen.
//! - [`satellites`]: propagation that changes when another satellite takes over.
//! - [`background`]: users that are not simulated one by one.
//! - [`share`]: who gets the resource blocks of a slot.
//! - [`way`]: all that in one direction.
//! - [`Cell`]: the element.

mod adaptation;
mod background;
mod blocks;
mod cell;
mod drx;
mod gaps;
mod grants;
mod params;
mod port;
mod rlc;
mod satellites;
mod share;
mod slots;
mod way;

pub use blocks::{Generation, Lte, Nr};
pub use cell::Cell;
pub use params::CellularParams;
