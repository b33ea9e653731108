//! Cellular: a base station and its users, LTE or NR, as one medium.
//!
//! User `k` has two ports: `2k` from the base station to the user (down), `2k + 1` back (up).
//!
//! - [`slots`]: the slots of each direction, and the number of symbols of each slot.
//! - [`blocks`]: sizes of transport blocks.
//! - [`adaptation`]: the choice of a modulation and coding scheme, and whether a block is decoded.
//! - [`rlc`]: packets as pieces in blocks, HARQ, and release in order.
//! - [`grants`]: when and how much a user may send.
//! - [`gaps`]: times in which a user neither sends nor receives; [`drx`]: times in which a user does not listen.
//! - [`satellites`]: a propagation delay that changes when another satellite takes over.
//! - [`background`]: users that compete for resource blocks but have no packets.
//! - [`share`]: the scheduler, which divides the resource blocks of a slot.
//! - [`way`]: one direction of the cell.
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
