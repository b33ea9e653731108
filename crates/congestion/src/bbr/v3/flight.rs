//! A flight of packets with its losses and marks, and the arithmetic of bounds on packets in flight.

use crate::RateSample;
use crate::bbr::Gain;

/// Value of a bound that is not set.
/// google/bbr v3 `bbr_reset_lower_bounds` (`~0U`).
pub(super) const UNBOUNDED: u32 = u32::MAX;

/// Packets in flight, with their losses and marks, from a rate sample, a lost packet or a tail loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) tx_in_flight: u32,
    pub(super) lost: u32,
    pub(super) delivered: u32,
    pub(super) marked: u32,
    pub(super) app_limited: bool,
}

impl From<&RateSample> for Flight {
    fn from(sample: &RateSample) -> Flight {
        Flight {
            tx_in_flight: sample.tx_in_flight,
            lost: sample.lost,
            delivered: sample.delivered,
            marked: sample.marked,
            app_limited: sample.app_limited,
        }
    }
}

/// Multiply `x` by `gain`, rounded down.
/// Own: a product in the fixed point of `BBR_UNIT`.
#[inline]
pub(super) fn scale(x: u32, gain: Gain) -> u32 {
    ((u64::from(x) * u64::from(gain.0)) >> 8).min(u64::from(u32::MAX)) as u32
}
