//! A Wi-Fi cell with one saturated station, compared with a closed form. The mean cycle is the sum of AIFS, half the
//! smallest contention window, a PPDU, SIFS and the answer.

use super::saturated::{carried, cell, mbps, within};
use serde_json::{Value, json};
use units::Duration;

/// A PHY with its formulas written out: microseconds, bits and bytes.
struct Phy {
    params: Value,
    mpdus: f64,
    preamble: f64,
    symbol: f64,
    symbol_bits: f64,
    tail: f64,
    /// SIFS, signal extension and duration of the answer, in microseconds.
    around: [f64; 3],
    /// Result of an independent computation, to four digits, Mbit/s.
    printed: f64,
}

const AT_5_GHZ: [f64; 3] = [16.0, 0.0, 32.0];
const SUBFRAME: f64 = 1_544.0;

fn phy(params: Value, mpdus: f64, times: [f64; 2], bits: [f64; 2], around: [f64; 3], printed: f64) -> Phy {
    let ([preamble, symbol], [symbol_bits, tail]) = (times, bits);
    Phy { params, mpdus, preamble, symbol, symbol_bits, tail, around, printed }
}

impl Phy {
    /// Payload in Mbit/s.
    fn goodput(&self) -> f64 {
        let [sifs, extension, answer] = self.around;
        let bytes = SUBFRAME * self.mpdus - 2.0;
        let symbols = ((16.0 + 8.0 * bytes + self.tail) / self.symbol_bits).ceil();
        let ppdu = self.preamble + (symbols * self.symbol) + extension;
        self.mpdus * 11_776.0 / (sifs + 3.0 * 9.0 + 7.5 * 9.0 + ppdu + sifs + answer)
    }
}

fn phys() -> Vec<Phy> {
    let n = |gi: u64, band: u64| {
        json!({ "standard": "802.11n", "band_mhz": band, "width_mhz": 20, "streams": 1,
        "guard_interval_ns": gi, "station_mcs": [7] })
    };
    let ac = json!({ "standard": "802.11ac", "width_mhz": 80, "streams": 1, "station_mcs": [9],
        "max_ampdu_bytes": 65_535 });
    let ax = |width: u64, mcs: u64, gi: u64, bytes: u64, window: u64| {
        json!({ "width_mhz": width, "streams": 1,
        "station_mcs": [mcs], "guard_interval_ns": gi, "max_ampdu_bytes": bytes, "max_ampdu_mpdus": window })
    };
    let most = 6_500_631;
    vec![
        phy(n(800, 5_000), 28.0, [36.0, 4.0], [260.0, 6.0], AT_5_GHZ, 59.75),
        phy(n(400, 2_400), 31.0, [36.0, 3.6], [260.0, 6.0], [10.0, 6.0, 38.0], 66.41),
        phy(ac, 42.0, [40.0, 4.0], [1_560.0, 6.0], AT_5_GHZ, 323.2),
        phy(ax(20, 5, 800, most, 64), 30.0, [44.0, 13.6], [936.0, 0.0], AT_5_GHZ, 63.22),
        phy(ax(20, 11, 800, 65_535, 64), 42.0, [44.0, 13.6], [1_950.0, 0.0], AT_5_GHZ, 129.0),
        phy(ax(80, 11, 800, most, 256), 256.0, [44.0, 13.6], [8_166.0, 0.0], [16.0, 0.0, 40.0], 549.4),
        phy(ax(80, 11, 3_200, 65_535, 64), 42.0, [44.0, 16.0], [8_166.0, 0.0], AT_5_GHZ, 403.3),
    ]
}

#[test]
fn goodput_is_that_of_the_closed_form() {
    let time = Duration::from_secs(20);
    for phy in phys() {
        for (port, seed) in [(0, 1), (1, 2)] {
            let found = mbps(carried(&mut *cell(&phy.params, seed), &[port], time)[usize::from(port)], time);
            within(found, phy.goodput(), 0.001, &format!("{} port {port}", phy.params));
            within(found, phy.printed, 0.001, &format!("{} port {port}", phy.params));
        }
    }
}

#[test]
fn without_aggregation_a_packet_is_acknowledged_by_itself() {
    // HE20 MCS 5: 44 us and 14 symbols for the PPDU of 1,542 bytes, and 28 us for its ACK.
    let params = json!({ "width_mhz": 20, "streams": 1, "station_mcs": [5], "max_ampdu_mpdus": 1 });
    let cycle = 16.0 + 27.0 + 67.5 + (44.0 + 14.0 * 13.6) + 16.0 + 28.0;
    let time = Duration::from_secs(10);
    within(mbps(carried(&mut *cell(&params, 1), &[1], time)[1], time), 11_776.0 / cycle, 0.001, "lone MPDUs");
}

#[test]
fn rts_adds_its_exchange() {
    let params =
        json!({ "width_mhz": 20, "streams": 1, "station_mcs": [5], "rts": true, "max_ampdu_mpdus": 64 });
    let time = Duration::from_secs(20);
    let found = mbps(carried(&mut *cell(&params, 1), &[1], time)[1], time);
    let cycle = 30.0 * 11_776.0 / 63.2225;
    within(found, 30.0 * 11_776.0 / (cycle + 28.0 + 16.0 + 28.0 + 16.0), 0.001, "RTS");
}

#[test]
fn errors_cost_what_is_sent_again() {
    // With the loss probability e, each MPDU takes 1 / (1 - e) transmissions on average. The block ACK window is far
    // larger than an aggregate, so it does not stall.
    let params = json!({ "width_mhz": 20, "streams": 1, "station_mcs": [5], "station_errors": [0.1] });
    let clean = json!({ "width_mhz": 20, "streams": 1, "station_mcs": [5] });
    let time = Duration::from_secs(60);
    let [found, all] =
        [&params, &clean].map(|params| mbps(carried(&mut *cell(params, 1), &[1], time)[1], time));
    within(found, 0.9 * all, 0.005, "errors of 10 %");
}
