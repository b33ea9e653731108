//! Code shared by the BBR family: fixed-point bandwidth and gains, ACK aggregation, detection of policers.

mod aggregation;
mod history;
mod policer;
pub(crate) mod v1;
pub(crate) mod v3;

pub(crate) use aggregation::{ExtraAcked, Slots};
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

/// Fractional bits of a bandwidth.
/// Linux `BW_SCALE`.
const BANDWIDTH_BITS: u32 = 24;
/// Fractional bits of a gain.
/// Linux `BBR_SCALE`.
const GAIN_BITS: u32 = 8;
/// Extra bytes of a burst on a path with an RTT of 0. The value halves for every 2^9 microseconds of RTT.
/// Linux `tcp_tso_autosize`, with `tcp_min_rtt` shifted by `tcp_tso_rtt_log`.
const SHORT_PATH_BYTES: u32 = 65_536;
/// Binary logarithm of the RTT step, in microseconds, at which [`SHORT_PATH_BYTES`] halves. Linux
/// `sysctl_tcp_tso_rtt_log`.
const SHORT_PATH_SHIFT: u32 = 9;
/// Largest burst in BBR's formulas, packets (seven bits in Linux).
/// Linux `bbr_tso_segs_goal`.
const MAX_BURST_PACKETS: u32 = 127;
/// Largest number of packets in flight.
/// Own: keeps sums of packets below 2^32.
const MOST_PACKETS: u32 = 1 << 30;

impl Gain {
    /// Linux `BBR_UNIT`.
    pub(crate) const UNIT: Gain = Gain(1 << GAIN_BITS);

    /// Round to a multiple of 1/256.
    /// Own: rounds to the unit of `BBR_UNIT`.
    pub(crate) fn from_f64(gain: f64) -> Gain {
        Gain((gain * f64::from(1 << GAIN_BITS)).round() as u32)
    }

    pub(crate) fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(1 << GAIN_BITS)
    }
}

impl Bandwidth {
    pub(crate) const MAX: Bandwidth = Bandwidth(u64::MAX);

    /// Bandwidth of `packets` per `interval`, rounded down. The interval is taken in whole microseconds.
    /// Linux `bbr_update_bw`.
    pub(crate) fn over(packets: u64, interval: Duration) -> Bandwidth {
        Bandwidth(divide(packets << BANDWIDTH_BITS, interval.as_micros().max(1)))
    }

    /// Bandwidth of `packets` per `interval` as in `over`, but rounded up, so that it is above 0 if any packet was
    /// delivered.
    /// google/bbr v3 `bbr_calculate_bw_sample`.
    pub(crate) fn covering(packets: u64, interval: Duration) -> Bandwidth {
        let micros = interval.as_micros().max(1);
        Bandwidth(divide((packets << BANDWIDTH_BITS) + micros - 1, micros))
    }

    /// Bandwidth in packets per second, for traces.
    /// Own: for the table of variables.
    pub(crate) fn packets_per_second(self) -> f64 {
        self.0 as f64 * 1e6 / f64::from(1 << BANDWIDTH_BITS)
    }

    /// Packets delivered at this bandwidth in `micros` microseconds, rounded down.
    /// Linux `bbr_update_ack_aggregation`.
    pub(crate) fn packets_in(self, micros: u64) -> u64 {
        ((u128::from(self.0) * u128::from(micros)) >> BANDWIDTH_BITS) as u64
    }

    /// Payload bytes per second at `gain`, less `margin_percent`. The result is at least 1 byte per second,
    /// because a rate of 0 would disable pacing. Linux `bbr_rate_bytes_per_sec`.
    pub(crate) fn pacing_rate(self, mss: u32, gain: Gain, margin_percent: u64) -> Rate {
        // The product has 64 bits, as in the kernel, and does not overflow up to 2.9 Tbit/s.
        let per_micro = self.0.saturating_mul(u64::from(mss) * u64::from(gain.0)) >> GAIN_BITS;
        let bytes = (u128::from(per_micro) * u128::from(10_000 * (100 - margin_percent))) >> BANDWIDTH_BITS;
        Rate::from_bytes_per_sec((bytes as u64).max(1))
    }

    /// The bandwidth-delay product times `gain`, rounded up to whole packets; [`MOST_PACKETS`] at most.
    /// google/bbr v3 `bbr_bdp`; draft-ietf-ccwg-bbr `BBRBDPMultiple`.
    pub(crate) fn bdp(self, rtt: Duration, gain: Gain) -> u32 {
        let product = (u128::from(self.0) * u128::from(rtt.as_micros()) * u128::from(gain.0)) >> GAIN_BITS;
        ((product + (1 << BANDWIDTH_BITS) - 1) >> BANDWIDTH_BITS).min(u128::from(MOST_PACKETS)) as u32
    }
}

/// Divide `a` by `b`, rounded down. Floating point is used if it is exact.
/// Own: exact, and several times as fast as an integer division.
fn divide(a: u64, b: u64) -> u64 {
    // Below 2^53, `a` and `b` are exact in floating point, and a quotient is farther from the next integer than
    // the rounding error.
    if (a | b) >> 53 == 0 { (a as i64 as f64 / b as i64 as f64) as i64 as u64 } else { a / b }
}

/// Packets per burst at `rate`: about a millisecond of packets, at least two (one below 1.2 Mbit/s).
/// Linux `bbr_tso_segs_goal`.
pub(crate) fn burst_goal(rate: Rate, path: &Path) -> u32 {
    let bytes = (rate.bytes_per_sec() >> path.pacing_shift).min(u64::from(path.max_burst_bytes)) as u32;
    (bytes / path.mss).max(min_burst(rate)).min(MAX_BURST_PACKETS)
}

/// Packets per burst at `rate` on a path of `min_rtt`. Below about 8 ms, the burst has extra bytes, which double with
/// every half millisecond that the RTT is shorter (Linux `tcp_tso_rtt_log`).
/// google/bbr v3 `bbr_tso_segs_generic`.
pub(crate) fn short_path_burst_goal(rate: Rate, min_rtt: Duration, path: &Path) -> u32 {
    let short = SHORT_PATH_BYTES.checked_shr((min_rtt.as_micros() >> SHORT_PATH_SHIFT).min(64) as u32);
    let bytes = (rate.bytes_per_sec() >> path.pacing_shift) + u64::from(short.unwrap_or(0));
    let bytes = bytes.min(u64::from(path.max_burst_bytes)) as u32;
    (bytes / path.mss).max(min_burst(rate)).min(MAX_BURST_PACKETS)
}

/// Packets still in the network at the next departure that pacing allows: `in_flight` plus a burst of `burst`
/// packets, less the packets delivered until then.
/// google/bbr v3 `bbr_packets_in_net_at_edt`.
pub(crate) fn in_net_at_departure(in_flight: u32, burst: u32, bw: Bandwidth, path: &Path) -> u32 {
    let wait = path.next_departure.since(path.now).as_micros();
    u64::from(in_flight.saturating_add(burst)).saturating_sub(bw.packets_in(wait)) as u32
}

/// Smallest burst at `rate`, packets.
/// Linux `bbr_min_tso_segs`.
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
    fn the_slowest_pace_is_a_byte_per_second() {
        for bw in [Bandwidth::default(), Bandwidth::over(10, Duration::from_secs(1000))] {
            assert_eq!(bw.pacing_rate(1, Gain::UNIT, 1).bytes_per_sec(), 1);
        }
    }

    #[test]
    fn division_is_exact() {
        for b in [1u64, 3, 7, 1_000, 40_000, (1 << 32) - 1, (1 << 52) + 1] {
            for q in [1u64, 2, 5, 1 << 20, (1 << 53) / b] {
                let a = q.saturating_mul(b);
                for a in [a - 1, a, a.saturating_add(b - 1)] {
                    assert_eq!(divide(a, b), a / b, "{a} / {b}");
                }
            }
        }
    }

    #[test]
    fn what_no_path_has_is_cut_off_but_does_not_wrap_around() {
        let bw = Bandwidth::over(1 << 25, Duration::from_micros(1));
        assert_eq!(bw.bdp(Duration::from_secs(128), Gain::UNIT), MOST_PACKETS);
        let paced = bw.pacing_rate(1448, Gain(739), 1).bytes_per_sec();
        assert!(paced >= 2_900_000_000_000 / 8, "{paced}");
    }

    #[test]
    fn the_bdp_rounds_up() {
        let bw = Bandwidth::over(10, Duration::from_millis(1));
        assert_eq!(bw.bdp(Duration::from_micros(4_010), Gain::UNIT), 41);
    }
}
