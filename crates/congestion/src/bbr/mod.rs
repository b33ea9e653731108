//! Law shared by the BBR family: fixed-point bandwidth and gains, ACK aggregation, the policer estimator.

mod aggregation;
mod history;
mod policer;
pub(crate) mod v1;

pub(crate) use aggregation::ExtraAcked;
pub(crate) use history::RttHistory;
pub(crate) use policer::{Evidence, Policer, Verdict};

use crate::Path;
use units::{Duration, Rate};

/// Bandwidth in packets per microsecond with 24 fractional bits (Linux `BW_UNIT`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bandwidth(pub(crate) u64);

/// A gain in 1/256 (Linux `BBR_UNIT`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gain(pub(crate) u32);

const BANDWIDTH_BITS: u32 = 24;
const GAIN_BITS: u32 = 8;
/// Largest burst BBR counts on, packets (Linux: seven bits).
const MAX_BURST_PACKETS: u32 = 127;

impl Gain {
    pub(crate) const UNIT: Gain = Gain(1 << GAIN_BITS);

    pub(crate) fn from_f64(gain: f64) -> Gain {
        Gain((gain * f64::from(1 << GAIN_BITS)).round() as u32)
    }

    pub(crate) fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(1 << GAIN_BITS)
    }
}

impl Bandwidth {
    /// `packets` per `interval`, counting whole microseconds.
    pub(crate) fn over(packets: u64, interval: Duration) -> Bandwidth {
        Bandwidth((packets << BANDWIDTH_BITS) / interval.as_micros().max(1))
    }

    /// Packets delivered at this bandwidth in `micros` microseconds, rounded down.
    pub(crate) fn packets_in(self, micros: u64) -> u64 {
        ((u128::from(self.0) * u128::from(micros)) >> BANDWIDTH_BITS) as u64
    }

    /// Payload bytes per second at `gain`, less `margin_percent`.
    pub(crate) fn pacing_rate(self, mss: u32, gain: Gain, margin_percent: u64) -> Rate {
        let per_micro = (self.0 * u64::from(mss) * u64::from(gain.0)) >> GAIN_BITS; // as in the kernel, up to 2.9 Tbit/s
        let bytes = (u128::from(per_micro) * u128::from(10_000 * (100 - margin_percent))) >> BANDWIDTH_BITS;
        Rate::from_bytes_per_sec(bytes as u64)
    }

    /// The bandwidth-delay product times `gain`, rounded up to whole packets.
    pub(crate) fn bdp(self, rtt: Duration, gain: Gain) -> u32 {
        let product = (u128::from(self.0) * u128::from(rtt.as_micros()) * u128::from(gain.0)) >> GAIN_BITS;
        ((product + (1 << BANDWIDTH_BITS) - 1) >> BANDWIDTH_BITS) as u32
    }
}

/// Packets per burst at `rate`: about a millisecond's worth, at least two (one below 1.2 Mbit/s).
pub(crate) fn burst_goal(rate: Rate, path: &Path) -> u32 {
    let bytes = (rate.bytes_per_sec() >> 10).min(u64::from(path.max_burst_bytes)) as u32;
    (bytes / path.mss).max(min_burst(rate)).min(MAX_BURST_PACKETS)
}

/// Smallest burst worth sending at `rate`, packets.
pub(crate) fn min_burst(rate: Rate) -> u32 {
    if rate.bits_per_sec() < 1_200_000 { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_packets_per_millisecond_are_116_megabits() {
        let bw = Bandwidth::over(10, Duration::from_millis(1));
        let paced = bw.pacing_rate(1448, Gain::UNIT, 1).bits_per_sec() as f64;
        assert!((paced / 115.84e6 - 0.99).abs() < 1e-4);
    }

    #[test]
    fn the_bdp_rounds_up() {
        let bw = Bandwidth::over(10, Duration::from_millis(1));
        assert_eq!(bw.bdp(Duration::from_micros(4_010), Gain::UNIT), 41);
    }
}
