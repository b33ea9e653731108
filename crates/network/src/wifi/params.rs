//! Parameters of a Wi-Fi cell, and their validation.

use super::phy::{Channel, Limits, Standard};
use super::port::Radio;
use super::rate::Law;
use super::scheme::Scheme;
use super::timing::{Control, Timing, control_rate};
use crate::Snr;
use params::{Problem, params};
use units::{Duration, Rng};

params! {
    /// Parameters of a Wi-Fi cell. Stations are numbered from 0; each has two ports, down and up.
    pub struct WifiParams {
        /// Generation of the standard.
        standard: Standard = Standard::Ax, "";
        /// Band: 2400 or 5000.
        band_mhz: u64 = 5_000, "MHz", 2400..=5000;
        /// Width of the channel.
        width_mhz: u64 = 80, "MHz", 20..=160;
        /// Spatial streams of every station without a value in `station_streams`.
        streams: u64 = 2, "", 1..=8;
        /// Guard interval between symbols.
        guard_interval_ns: u64 = 800, "ns", 400..=3200;
        /// Release each packet when its part of a PPDU ends, as in ns-3, instead of all packets at the end of the
        /// PPDU.
        release_each: bool = false, "";
        /// Send RTS and CTS before data.
        rts: bool = false, "";
        /// Send a beacon every 102.4 ms at 6 Mbit/s.
        beacons: bool = true, "";
        /// Request a missing block ACK in a separate access before data is retransmitted.
        bar: bool = false, "";
        /// Maximum bytes of an aggregate; null: the maximum of the standard.
        max_ampdu_bytes: Option<u64> = None, "bytes", 1..=6500631;
        /// Maximum packets in a block ACK window, and so in an aggregate; null: the maximum of the standard.
        max_ampdu_mpdus: Option<u64> = None, "packets", 1..=256;
        /// Highest rate of control frames: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s. Control frames that belong to slow
        /// data PPDUs have lower rates.
        control_rate_bps: u64 = 24_000_000, "bit/s", 6000000..=54000000;
        /// Retransmissions of a packet before it is given up; 0: no limit. The default is that of ath9k
        /// (`ATH_MAX_SW_RETRIES`).
        retries: u64 = 30, "", 0..=255;
        /// Propagation delay between the access point and any station.
        delay_ns: u64 = 0, "ns", 0..=1000000;
        /// MCS of each station, in both directions: 0 to 7 (802.11n), 9 (802.11ac) or 11 (802.11ax). With rate
        /// control, the highest MCS.
        station_mcs: Vec<u64>, "";
        /// Rate control of each station; empty: fixed rates.
        station_rates: Vec<Law> = Vec::new(), "";
        /// Signal-to-noise ratio of each station: mean and standard deviation in dB, and memory in seconds, after which
        /// the correlation is 1/e. An empty inner list means no noise for that station; an empty outer list means no
        /// noise for any station.
        station_snr: Vec<Vec<f64>> = Vec::new(), "";
        /// Spatial streams of each station; empty: `streams`.
        station_streams: Vec<u64> = Vec::new(), "";
        /// Probability that a packet to or from each station is lost in one transmission, independently; empty: 0.
        station_errors: Vec<f64> = Vec::new(), "";
    }
}

/// Maximum number of stations of an access point: association identifiers range from 1 to 2007, 9.4.1.8.
const MOST_STATIONS: usize = 2_007;
/// OFDM rates, at which control frames are sent: 17.2.3.3.
pub const CONTROL_RATES_BPS: [u64; 8] =
    [6_000_000, 9_000_000, 12_000_000, 18_000_000, 24_000_000, 36_000_000, 48_000_000, 54_000_000];

type Check = Result<(), Problem>;

fn ensure(holds: bool, name: impl Into<String>, message: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(Problem::new(name, message())) }
}

fn listed(numbers: impl IntoIterator<Item = u64>) -> String {
    numbers.into_iter().map(|n| n.to_string()).collect::<Vec<_>>().join(", ")
}

impl WifiParams {
    /// The first problem of the parameters, if any.
    pub(super) fn problem(&self) -> Option<Problem> {
        self.channel_exists().and_then(|()| self.stations_exist()).err()
    }

    fn channel_exists(&self) -> Check {
        let limits = self.standard.limits();
        let one_of = |name: &str, unit: &str, value: u64, known: Vec<u64>| {
            ensure(known.contains(&value), name, || {
                format!("{value}{unit} does not exist in {}, which has {}{unit}", limits.name, listed(known))
            })
        };
        one_of("band_mhz", " MHz", self.band_mhz, limits.bands.to_vec())?;
        one_of("width_mhz", " MHz", self.width_mhz, limits.widths.iter().map(|width| width.0).collect())?;
        one_of("guard_interval_ns", " ns", self.guard_interval_ns, limits.guard_intervals.to_vec())?;
        one_of("streams", "", self.streams, (1..=limits.streams).collect())?;
        ensure(CONTROL_RATES_BPS.contains(&self.control_rate_bps), "control_rate_bps", || {
            let rates = listed(CONTROL_RATES_BPS);
            format!("{} is no rate of control frames; write one of {rates}", self.control_rate_bps)
        })?;
        self.at_most("max_ampdu_bytes", self.max_ampdu_bytes, limits.ampdu_bytes)?;
        self.at_most("max_ampdu_mpdus", self.max_ampdu_mpdus, limits.window)
    }

    fn at_most(&self, name: &str, given: Option<u64>, most: u64) -> Check {
        ensure(given.is_none_or(|given| given <= most), name, || {
            format!("the maximum of {} is {most}", self.standard.limits().name)
        })
    }

    fn stations_exist(&self) -> Check {
        let count = self.station_mcs.len();
        ensure(count > 0, "station_mcs", || {
            "a cell has at least one station; write the MCS of each station".into()
        })?;
        ensure(count <= MOST_STATIONS, "station_mcs", || {
            format!("{count} stations are too many; the maximum is {MOST_STATIONS}")
        })?;
        let lists = [
            ("station_streams", self.station_streams.len()),
            ("station_errors", self.station_errors.len()),
            ("station_rates", self.station_rates.len()),
            ("station_snr", self.station_snr.len()),
        ];
        for (name, length) in lists {
            ensure(length == 0 || length == count, name, || {
                format!("{length} values for {count} stations; write one value for each station, or none")
            })?;
        }
        (0..count).try_for_each(|station| self.station_exists(station))
    }

    fn station_exists(&self, station: usize) -> Check {
        let Limits { name, mcs: last, streams: most, .. } = self.standard.limits();
        let (mcs, streams, errors) =
            (self.station_mcs[station], self.streams_of(station), self.errors_of(station));
        let place = |list: &str| format!("{list}[{station}]");
        ensure(mcs <= last, place("station_mcs"), || {
            format!("MCS {mcs} does not exist in {name}, which has 0 to {last}")
        })?;
        ensure((1..=most).contains(&streams), place("station_streams"), || {
            format!("{streams} streams; {name} has 1 to {most}")
        })?;
        ensure(!self.standard.lacks(self.width_mhz, streams, mcs), place("station_mcs"), || {
            let plural = if streams == 1 { "" } else { "s" };
            format!(
                "{name} has no MCS {mcs} at {} MHz with {streams} stream{plural}; take another MCS, width or number of streams",
                self.width_mhz
            )
        })?;
        ensure((0.0..1.0).contains(&errors), place("station_errors"), || {
            format!("{errors} is out of range; it must be at least 0 and less than 1")
        })?;
        let snr = self.station_snr.get(station).map_or(&[][..], |snr| snr);
        ensure(Snr::can_be(snr), place("station_snr"), || Snr::WANTED.into())
    }

    fn streams_of(&self, station: usize) -> u64 {
        self.station_streams.get(station).copied().unwrap_or(self.streams)
    }

    fn errors_of(&self, station: usize) -> f64 {
        self.station_errors.get(station).copied().unwrap_or(0.0)
    }

    fn window(&self) -> usize {
        self.max_ampdu_mpdus.unwrap_or(self.standard.limits().window) as usize
    }

    /// Interframe spaces and control frames.
    pub(super) fn timing(&self) -> Timing {
        Timing::new(self.band_mhz, Duration::from_nanos(self.delay_ns))
    }

    /// Settings of the two ports of a station.
    pub(super) fn radio(&self, station: usize, seed: u64) -> Radio {
        let law = self.station_rates.get(station).copied().unwrap_or(Law::Fixed);
        Radio {
            delay: Duration::from_nanos(self.delay_ns),
            release_each: self.release_each,
            bare: self.standard == Standard::N,
            window: self.window(),
            errors: self.errors_of(station),
            retries: self.retries,
            schemes: self.schemes(station, law),
            law,
            snr: self.snr_of(station, seed),
        }
    }

    /// Schemes that a station may use: one scheme if its rate is fixed, otherwise all schemes up to the highest.
    fn schemes(&self, station: usize, law: Law) -> Vec<Scheme> {
        let &WifiParams { standard, band_mhz, width_mhz, guard_interval_ns, .. } = self;
        let channel = Channel { standard, band_mhz, width_mhz, guard_interval_ns };
        let (highest, most) = (self.station_mcs[station], self.streams_of(station));
        let allowed = self.max_ampdu_bytes.unwrap_or(standard.limits().ampdu_bytes);
        let scheme = |streams, mcs| {
            let control = Control::new(band_mhz, control_rate(mcs, self.control_rate_bps), self.window());
            Scheme::new(channel, streams, mcs, control, allowed)
        };
        if law == Law::Fixed {
            return vec![scheme(most, highest)];
        }
        let all = (1..=most).flat_map(|streams| (0..=highest).map(move |mcs| (streams, mcs)));
        let there = all.filter(|&(streams, mcs)| !standard.lacks(width_mhz, streams, mcs));
        there.map(|(streams, mcs)| scheme(streams, mcs)).collect()
    }

    /// The signal-to-noise ratio of a station.
    fn snr_of(&self, station: usize, seed: u64) -> Option<Snr> {
        Snr::made(self.station_snr.get(station)?, Rng::stream(seed, &format!("wifi/snr/{station}")))
    }
}
