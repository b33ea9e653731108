//! Wi-Fi: an access point and its stations, with 802.11n, 802.11ac or 802.11ax, as one medium.
//!
//! Station `k` has two ports: `2k` from the access point to the station (down), `2k + 1` back (up).
//!
//! - [`phy`]: rates and durations of PPDUs and control frames.
//! - [`edca`]: the times at which each device transmits. Backoff is exact to the slot, without an event per slot.
//! - [`aggregate`]: the packets that share a PPDU.
//! - [`rate`]: rate control; [`scheme`]: the modulation and coding schemes from which rate control chooses.
//! - [`noise`]: errors caused by noise.
//! - [`block_ack`]: received and missing MPDUs, retransmission, and release in order.
//! - [`mac80211`]: Linux's queues, their order of service, and the limits on packets queued in the radio.
//! - [`airtime`]: the use of the medium's time.
//! - [`Cell`]: the element.

mod activity;
mod aggregate;
mod airtime;
mod block_ack;
mod cell;
mod edca;
mod estimate;
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
