//! Rates and durations of PPDUs: HT in mixed format (802.11n), VHT (802.11ac) and HE for a single user (802.11ax).
//!
//! Section numbers refer to IEEE 802.11-2020 (HT 19, VHT 21) and IEEE 802.11ax-2021 (HE 27). The section numbers are
//! cited from memory. Durations agree with `HtPhy`, `VhtPhy` and `HePhy` of ns-3 except where a comment describes a
//! difference.

use units::{Duration, Rate};

/// A generation of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub enum Standard {
    /// High throughput: Wi-Fi 4.
    #[serde(rename = "802.11n")]
    N,
    /// Very high throughput: Wi-Fi 5.
    #[serde(rename = "802.11ac")]
    Ac,
    /// High efficiency: Wi-Fi 6.
    #[serde(rename = "802.11ax")]
    Ax,
}

/// Limits of a standard.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Limits {
    /// Name of the standard.
    pub name: &'static str,
    /// Bands in MHz.
    pub bands: &'static [u64],
    /// Widths of a channel in MHz, and the number of data subcarriers for each width: Tables 19-6, 21-5 and 27-13.
    pub widths: &'static [(u64, u64)],
    /// Guard intervals in nanoseconds.
    pub guard_intervals: &'static [u64],
    /// Maximum number of spatial streams.
    pub streams: u64,
    /// Highest MCS index. MCS indices begin at 0 for each number of streams.
    pub mcs: u64,
    /// Maximum bytes of an A-MPDU: IEEE 802.11-2020, 9.7.3 (HT, VHT); IEEE 802.11ax-2021, 27.4.3, aPSDUMaxLength (HE).
    pub ampdu_bytes: u64,
    /// Maximum MPDUs in a block ACK window: IEEE 802.11-2020, 9.3.1.8; IEEE 802.11ax-2021, 26.4.
    pub window: u64,
}

impl Standard {
    /// All standards, the oldest first.
    pub const ALL: [Standard; 3] = [Standard::N, Standard::Ac, Standard::Ax];

    /// The limits of this standard.
    pub fn limits(self) -> Limits {
        const HT: Limits = Limits {
            name: "802.11n",
            bands: &[2_400, 5_000],
            widths: &[(20, 52), (40, 108)],
            guard_intervals: &[400, 800],
            streams: 4,
            mcs: 7,
            ampdu_bytes: 65_535,
            window: 64,
        };
        const VHT: Limits = Limits {
            name: "802.11ac",
            bands: &[5_000],
            widths: &[(20, 52), (40, 108), (80, 234), (160, 468)],
            streams: 8,
            mcs: 9,
            ampdu_bytes: 1_048_575,
            ..HT
        };
        const HE: Limits = Limits {
            name: "802.11ax",
            bands: &[2_400, 5_000],
            widths: &[(20, 234), (40, 468), (80, 980), (160, 1_960)],
            guard_intervals: &[800, 1_600, 3_200],
            mcs: 11,
            ampdu_bytes: 6_500_631,
            window: 256,
            ..VHT
        };
        match self {
            Standard::N => HT,
            Standard::Ac => VHT,
            Standard::Ax => HE,
        }
    }

    /// Whether VHT excludes this mode, because its bits do not divide evenly among the encoders: Tables 21-30 to
    /// 21-61.
    pub fn lacks(self, width_mhz: u64, streams: u64, mcs: u64) -> bool {
        self == Standard::Ac
            && match (width_mhz, mcs) {
                (20, 9) => streams != 3 && streams != 6,
                (80, 6) => streams == 3 || streams == 7,
                (80, 9) => streams == 6,
                (160, 9) => streams == 3,
                _ => false,
            }
    }
}

/// A modulation and a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    /// Coded bits per symbol and subcarrier.
    pub bits: u64,
    /// Numerator of the code rate.
    pub part: u64,
    /// Denominator of the code rate.
    pub whole: u64,
}

/// Coding of each MCS: Tables 19-27, 21-30 and 27-54.
const CODINGS: [Coding; 12] = [
    coding(1, 1, 2),
    coding(2, 1, 2),
    coding(2, 3, 4),
    coding(4, 1, 2),
    coding(4, 3, 4),
    coding(6, 2, 3),
    coding(6, 3, 4),
    coding(6, 5, 6),
    coding(8, 3, 4),
    coding(8, 5, 6),
    coding(10, 3, 4),
    coding(10, 5, 6),
];

const fn coding(bits: u64, part: u64, whole: u64) -> Coding {
    Coding { bits, part, whole }
}

impl Coding {
    /// The coding of an MCS.
    ///
    /// # Panics
    /// If there is no such MCS.
    pub fn of_mcs(mcs: u64) -> Coding {
        CODINGS[mcs as usize]
    }
}

/// Bits of the service field before the data: 19.3.11.2, 21.3.10.2, 27.3.12.3.
const SERVICE_BITS: u64 = 16;
/// Tail bits of each convolutional encoder: 19.3.11.3, 21.3.10.3. HE uses LDPC, which has no tail bits.
const TAIL_BITS: u64 = 6;
/// Duration of the legacy preamble and signal field, L-STF, L-LTF and L-SIG: 17.3.3.
const LEGACY_PREAMBLE_NS: u64 = 20_000;
/// Duration of a symbol of a legacy OFDM frame: 17.3.2.4.
const LEGACY_SYMBOL_NS: u64 = 4_000;
/// Duration of the silence after every OFDM frame at 2.4 GHz: aSignalExtension, 18.4.5 and 19.4.4.
const SIGNAL_EXTENSION_NS: u64 = 6_000;

/// Duration of the silence after every frame in a band, in nanoseconds.
fn signal_extension(band_mhz: u64) -> u64 {
    if band_mhz < 5_000 { SIGNAL_EXTENSION_NS } else { 0 }
}

/// Duration of a legacy OFDM frame, such as a control frame or a beacon: TXTIME of 17.4.3.
pub fn legacy(bytes: u64, rate_bps: u64, band_mhz: u64) -> Duration {
    let symbol_bits = rate_bps * LEGACY_SYMBOL_NS / 1_000_000_000;
    let symbols = (SERVICE_BITS + 8 * bytes + TAIL_BITS).div_ceil(symbol_bits);
    Duration::from_nanos(LEGACY_PREAMBLE_NS + symbols * LEGACY_SYMBOL_NS + signal_extension(band_mhz))
}

/// Rate and timing of data to or from a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    preamble_ns: u64,
    symbol_ns: u64,
    symbol_bits: u64,
    /// Number of service and tail bits.
    around_bits: u64,
    /// Granularity of the payload's duration, nanoseconds.
    grid_ns: u64,
    extension_ns: u64,
}

/// A channel: standard, band, width and guard interval.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// The standard.
    pub standard: Standard,
    /// 2,400 or 5,000 MHz.
    pub band_mhz: u64,
    /// Width in MHz.
    pub width_mhz: u64,
    /// Guard interval in nanoseconds.
    pub guard_interval_ns: u64,
}

impl Channel {
    /// The mode of `streams` streams with an MCS; `None` if the standard has no such channel, number of streams or
    /// MCS.
    pub fn mode(self, streams: u64, mcs: u64) -> Option<Mode> {
        let Channel { standard, band_mhz, width_mhz, guard_interval_ns } = self;
        let limits = standard.limits();
        let exists = limits.bands.contains(&band_mhz)
            && limits.widths.iter().any(|found| found.0 == width_mhz)
            && limits.guard_intervals.contains(&guard_interval_ns)
            && (1..=limits.streams).contains(&streams)
            && mcs <= limits.mcs
            && !standard.lacks(width_mhz, streams, mcs);
        exists.then(|| Mode::new(self, streams, mcs))
    }
}

impl Mode {
    /// Longest PPDU, aPPDUMaxTime: 19.4.4, 21.4.4, 27.4.3.
    pub const LONGEST: Duration = Duration::from_micros(5_484);

    /// Create a mode on a channel. The caller ensures that the mode exists ([`Standard::limits`],
    /// [`Standard::lacks`]).
    ///
    /// # Panics
    /// If the standard has no such width or MCS.
    pub fn new(channel: Channel, streams: u64, mcs: u64) -> Mode {
        let Channel { standard, band_mhz, width_mhz, guard_interval_ns } = channel;
        let widths = standard.limits().widths;
        let tones = widths.iter().find(|(width, _)| *width == width_mhz).map_or(0, |found| found.1);
        let Coding { bits, part, whole } = Coding::of_mcs(mcs);
        let symbol_bits = tones * bits * streams * part / whole;
        assert!(symbol_bits > 0, "no channel of {width_mhz} MHz");
        let useful_ns = if standard == Standard::Ax { 12_800 } else { 3_200 };
        let symbol_ns = useful_ns + guard_interval_ns;
        let tail = TAIL_BITS * encoders(standard, symbol_bits);
        Mode {
            preamble_ns: preamble_ns(standard, streams),
            symbol_ns,
            symbol_bits,
            around_bits: SERVICE_BITS + tail,
            // With the short guard interval TXTIME is rounded up to whole symbols of 4 us: 19.4.3, 21.4.3.
            grid_ns: if guard_interval_ns == 400 { 4_000 } else { symbol_ns },
            extension_ns: signal_extension(band_mhz),
        }
    }

    /// Duration of a PPDU with `bytes` bytes: TXTIME of 19.4.3, 21.4.3 and 27.4.3, without packet extension.
    pub fn ppdu(&self, bytes: u64) -> Duration {
        let symbols = (self.around_bits + 8 * bytes).div_ceil(self.symbol_bits);
        let payload = (symbols * self.symbol_ns).next_multiple_of(self.grid_ns);
        Duration::from_nanos(self.preamble_ns + payload + self.extension_ns)
    }

    /// Duration of the symbols of `bytes` bytes alone, without preamble, service and tail bits.
    pub fn payload(&self, bytes: u64) -> Duration {
        Duration::from_nanos((8 * bytes).div_ceil(self.symbol_bits) * self.symbol_ns)
    }

    /// Time from the start of a PPDU to the beginning of the byte that follows the first `bytes` bytes.
    pub fn offset(&self, bytes: u64) -> Duration {
        let bits = SERVICE_BITS + 8 * bytes;
        Duration::from_nanos(self.preamble_ns + bits * self.symbol_ns / self.symbol_bits)
    }

    /// Maximum bytes of a PPDU whose duration is at most [`LONGEST`](Self::LONGEST).
    pub fn most_bytes(&self) -> u64 {
        let payload = Self::LONGEST.as_nanos() - self.preamble_ns - self.extension_ns;
        let symbols = payload / self.grid_ns * self.grid_ns / self.symbol_ns;
        (symbols * self.symbol_bits).saturating_sub(self.around_bits) / 8
    }

    /// Maximum bytes that can be sent in the time `payload`, without the preamble.
    pub fn bytes_in(&self, payload: Duration) -> u64 {
        (payload.as_nanos() / self.symbol_ns * self.symbol_bits).saturating_sub(self.around_bits) / 8
    }

    /// Duration of everything before the payload.
    pub fn preamble(&self) -> Duration {
        Duration::from_nanos(self.preamble_ns)
    }

    /// Data rate of the payload.
    pub fn rate(&self) -> Rate {
        Rate::from_bits_per_sec((self.symbol_bits * 1_000_000_000).div_ceil(self.symbol_ns))
    }
}

/// Number of convolutional encoders: one more for every 320 Mbit/s of HT (Tables 19-27 to 19-41) and every 540 Mbit/s
/// of VHT (Tables 21-30 to 21-61) at the long guard interval. The exceptions in these tables of the standard are not
/// modelled. HE uses LDPC and has no convolutional encoder.
fn encoders(standard: Standard, symbol_bits: u64) -> u64 {
    match standard {
        Standard::N => symbol_bits.div_ceil(320 * 4),
        Standard::Ac => symbol_bits.div_ceil(540 * 4),
        Standard::Ax => 0,
    }
}

/// Duration of the preamble of a PPDU: Figures 19-1 (HT mixed), 21-4 (VHT) and 27-8 (HE SU).
fn preamble_ns(standard: Standard, streams: u64) -> u64 {
    // Number of long training fields by number of streams: Tables 19-13, 21-13 and 27-33.
    let trainings = [1, 2, 4, 4, 6, 6, 8, 8][(streams - 1) as usize];
    let us = match standard {
        Standard::N => 8 + 4 + 4 * trainings,      // HT-SIG, HT-STF, HT-LTF
        Standard::Ac => 8 + 4 + 4 * trainings + 4, // VHT-SIG-A, VHT-STF, VHT-LTF, VHT-SIG-B (missing in ns-3)
        // RL-SIG, HE-SIG-A, HE-STF, HE-LTF. An HE-LTF takes 8 us as in ns-3: 6.4 us and a guard interval of 1.6 us.
        Standard::Ax => 4 + 8 + 4 + 8 * trainings,
    };
    LEGACY_PREAMBLE_NS + 1_000 * us
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(standard: Standard, width_mhz: u64, guard_interval_ns: u64, streams: u64, mcs: u64) -> Mode {
        Mode::new(Channel { standard, band_mhz: 5_000, width_mhz, guard_interval_ns }, streams, mcs)
    }

    /// Data rate in Mbit/s to one decimal place, as printed in the tables of the standard.
    fn mbps(mode: &Mode) -> f64 {
        (mode.rate().bits_per_sec() as f64 / 1e5).round() / 10.0
    }

    #[test]
    fn rates_are_those_of_the_tables() {
        let rates = |standard, width, guard, last| -> Vec<f64> {
            (0..=last).map(|mcs| mbps(&mode(standard, width, guard, 1, mcs))).collect()
        };
        assert_eq!(rates(Standard::N, 20, 800, 7), [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0]);
        assert_eq!(rates(Standard::N, 20, 400, 7), [7.2, 14.4, 21.7, 28.9, 43.3, 57.8, 65.0, 72.2]);
        let vht80 = [29.3, 58.5, 87.8, 117.0, 175.5, 234.0, 263.3, 292.5, 351.0, 390.0];
        assert_eq!(rates(Standard::Ac, 80, 800, 9), vht80);
        let he20 = [8.6, 17.2, 25.8, 34.4, 51.6, 68.8, 77.4, 86.0, 103.2, 114.7, 129.0, 143.4];
        assert_eq!(rates(Standard::Ax, 20, 800, 11), he20);
        assert_eq!(mbps(&mode(Standard::Ac, 80, 400, 2, 9)), 866.7);
        assert_eq!(mbps(&mode(Standard::N, 40, 400, 4, 7)), 600.0);
        assert_eq!(mbps(&mode(Standard::Ax, 160, 800, 8, 11)), 9_607.8);
    }

    #[test]
    fn what_a_standard_lacks_has_no_mode() {
        let channel =
            Channel { standard: Standard::Ac, band_mhz: 5_000, width_mhz: 20, guard_interval_ns: 800 };
        let exists = |streams, mcs| channel.mode(streams, mcs).is_some();
        assert_eq!([exists(1, 8), exists(3, 9)], [true; 2]);
        assert_eq!([exists(1, 9), exists(1, 10), exists(9, 0), exists(0, 0)], [false; 4]);
        assert!(Channel { width_mhz: 30, ..channel }.mode(1, 0).is_none());
        assert!(Channel { band_mhz: 2_400, ..channel }.mode(1, 0).is_none());
        assert!(Channel { guard_interval_ns: 1_600, ..channel }.mode(1, 0).is_none());
    }

    #[test]
    fn durations_are_those_computed_by_hand() {
        let us = |mode: &Mode, bytes| mode.ppdu(bytes).as_nanos() as f64 / 1e3;
        // 28 subframes of 1,544 bytes, the last without its 2 bytes of padding: 36 us and 1,330 symbols of 260 bits.
        assert_eq!(us(&mode(Standard::N, 20, 800, 1, 7), 28 * 1_544 - 2), 36.0 + 4.0 * 1_331.0);
        // 42 subframes at 143.4 Mbit/s: 44 us + 267 symbols of 1,950 bits.
        assert_eq!(us(&mode(Standard::Ax, 20, 800, 1, 11), 42 * 1_544 - 2), 44.0 + 13.6 * 267.0);
        assert_eq!(us(&mode(Standard::Ac, 80, 800, 1, 9), 100), 40.0 + 4.0);
        // Three symbols of 3.6 us are sent in 12 us.
        assert_eq!(us(&mode(Standard::N, 20, 400, 1, 7), 90), 36.0 + 12.0);
    }

    #[test]
    fn control_frames_take_what_a_legacy_frame_takes() {
        let us = |bytes, rate, band| legacy(bytes, rate, band).as_nanos() / 1_000;
        let at_24: [u64; 4] = [14, 20, 32, 56].map(|bytes| us(bytes, 24_000_000, 5_000));
        assert_eq!(at_24, [28, 28, 32, 40]);
        assert_eq!((us(14, 6_000_000, 5_000), us(14, 24_000_000, 2_400)), (44, 34));
    }

    #[test]
    fn the_longest_ppdu_takes_no_longer_than_the_limit() {
        for standard in [Standard::N, Standard::Ac, Standard::Ax] {
            let limits = standard.limits();
            for &guard in limits.guard_intervals {
                for (mcs, &(width, _)) in (0..=limits.mcs).zip(limits.widths.iter().cycle()) {
                    let mode = mode(standard, width, guard, 1, mcs);
                    let most = mode.most_bytes();
                    assert!(mode.ppdu(most) <= Mode::LONGEST && mode.ppdu(most + 1) > Mode::LONGEST);
                }
            }
        }
    }
}
