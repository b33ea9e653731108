//! Wi-Fi: a cell of an access point and its stations, 802.11n, 802.11ac or 802.11ax, as one medium.
//!
//! Station `k` has two ports: `2k` is the way from the access point to it (down), `2k + 1` the way back (up).
//!
//! - [`phy`]: rates and durations of PPDUs and control frames.
//! - [`edca`]: who transmits when. Backoff is exact to the slot, without an event per slot.
//! - [`aggregate`]: which packets share a PPDU.
//! - [`rate`]: which modulation and coding scheme a PPDU uses; [`scheme`]: what that is.
//! - [`noise`]: what noise takes of it.
//! - [`block_ack`]: what was received, what goes again, and release in order.
//! - [`mac80211`]: which of Linux's queues sends next, and how much waits below them.
//! - [`airtime`]: what the time of the medium was spent on.
//! - [`Cell`]: the element.

mod activity;
mod aggregate;
mod airtime;
mod block_ack;
mod cell;
mod edca;
mod mac80211;
mod noise;
mod params;
mod phy;
mod port;
mod rate;
mod scheme;
mod timing;

pub use airtime::Airtime;
pub use cell::Cell;
pub use params::{CONTROL_RATES_BPS, WifiParams};
pub use phy::{Channel, Limits, Mode, Standard};
