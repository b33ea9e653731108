//! Estimated airtime of a packet that has not been sent: Linux `ieee80211_calc_expected_tx_airtime`.

use units::{Duration, Rate};

/// Airtime estimate from the rate of a station. The number of packets that share a preamble is guessed from the rate.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    rate_bps: u64,
    overhead_us: u64,
}

/// Bytes added to every packet (the kernel calls them "Ethernet header length").
const HEADER_BYTES: u64 = 38;
/// Minimum estimate, microseconds.
const LEAST_US: u64 = 4;
/// Bits of the average packet. The duration of this packet determines the class of a rate (`MCS_NBITS`).
const AVERAGE_BITS: u64 = 1_024 * 8;

impl Estimate {
    /// Create the estimate for a rate with `streams` streams. `he` is true for 802.11ax.
    pub fn new(rate: Rate, streams: u64, he: bool) -> Estimate {
        let rate_bps = rate.bits_per_sec();
        let shift = match AVERAGE_BITS * 1_000_000 / rate_bps {
            400.. => 1,
            250.. => 2,
            150.. => 3,
            70.. => 4,
            us if !he || us >= 20 => 5,
            _ => 6,
        };
        Estimate { rate_bps, overhead_us: (36 + 4 * streams) >> shift }
    }

    /// Estimated airtime of a packet of `size` bytes, in whole microseconds.
    pub fn airtime(&self, size: u16) -> Duration {
        let bits = 8 * (u64::from(size) + HEADER_BYTES);
        Duration::from_micros((bits * 1_000_000 / self.rate_bps + self.overhead_us).max(LEAST_US))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(mbps: f64, streams: u64, he: bool, size: u16) -> u64 {
        let rate = Rate::from_bits_per_sec((mbps * 1e6) as u64);
        Estimate::new(rate, streams, he).airtime(size).as_nanos() / 1_000
    }

    #[test]
    fn a_full_packet_takes_its_bits_and_a_part_of_a_preamble() {
        assert_eq!(us(6.5, 1, false, 1_514), 1_552 * 8 * 10 / 65 + 20); // half of the preamble of 40 us
        assert_eq!(us(65.0, 1, false, 1_514), 191 + 2); // 126 us for 1 KiB: a sixteenth of the preamble
        assert_eq!(us(1_201.0, 2, true, 1_514), 10); // a sixty-fourth of the preamble of 44 us
    }

    #[test]
    fn none_takes_less_than_four_microseconds() {
        assert_eq!(us(1_201.0, 2, true, 66), 4);
    }
}
