//! Invalid cells: each has one clear error.

use network::kit::Tag;
use network::{SamplingTimes, medium};
use serde_json::{Value, json};
use units::Time;

fn error(params: &Value) -> String {
    let never = SamplingTimes::new(None, Time::ZERO, Time::ZERO);
    let made = medium::build::<Tag>("wifi", params, Vec::new(), never, 1);
    made.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn mistakes_are_named() {
    let vht = |width: u64, streams: u64, mcs: u64| json!({ "standard": "802.11ac", "width_mhz": width, "streams": streams, "station_mcs": [mcs] });
    let cases = [
        (
            json!({ "standard": "802.11z", "station_mcs": [1] }),
            "standard: \"802.11z\" is wrong; it must be one of 802.11n, ",
        ),
        (vht(20, 1, 9), "station_mcs[0]: 802.11ac has no MCS 9 at 20 MHz with 1 stream; take another"),
        (json!({ "station_mcs": [] }), "station_mcs: a cell has at least one station"),
        (json!({}), "station_mcs: missing; it must be a list"),
        (
            json!({ "station_mcs": [11, 12] }),
            "station_mcs[1]: MCS 12 does not exist in 802.11ax, which has 0 to 11",
        ),
        (
            json!({ "standard": "802.11n", "width_mhz": 20, "station_mcs": [8] }),
            "MCS 8 does not exist in 802.11n, which has 0 to 7",
        ),
        (
            json!({ "station_mcs": vec![1; 1_000_000] }),
            "station_mcs: 1000000 stations are too many; the maximum is 2007",
        ),
        (
            json!({ "standard": "802.11n", "station_mcs": [1] }),
            "width_mhz: 80 MHz does not exist in 802.11n, which has 20, 40 MHz",
        ),
        (
            json!({ "standard": "802.11ac", "band_mhz": 2400, "station_mcs": [1] }),
            "band_mhz: 2400 MHz does not exist in 802.11ac, ",
        ),
        (
            json!({ "guard_interval_ns": 400, "station_mcs": [1] }),
            "guard_interval_ns: 400 ns does not exist in 802.11ax, ",
        ),
        (
            json!({ "station_mcs": [1], "station_errors": [0.1, 0.2] }),
            "station_errors: 2 values for 1 stations",
        ),
        (json!({ "station_mcs": [1], "station_errors": [1.0] }), "station_errors[0]: 1 is out of range"),
        (
            json!({ "station_mcs": [1], "station_rates": ["best"] }),
            "station_rates: [\"best\"] is wrong; it must be a list, each item one of fixed, ideal, minstrel",
        ),
        (
            json!({ "station_mcs": [1], "station_snr": [[20.0, 3.0]] }),
            "station_snr[0]: must be a mean from -100 to 100 dB, a standard deviation",
        ),
        (
            json!({ "station_mcs": [1], "station_snr": [[20.0, 3.0, 0.0]] }),
            "station_snr[0]: must be a mean from -100 to 100 dB, a standard deviation",
        ),
        (
            json!({ "station_mcs": [1], "station_streams": [9] }),
            "station_streams[0]: 9 streams; 802.11ax has 1 to 8",
        ),
        (
            json!({ "station_mcs": [1], "control_rate_bps": 25_000_000 }),
            "control_rate_bps: 25000000 is no rate of control",
        ),
        (
            json!({ "standard": "802.11n", "width_mhz": 20, "max_ampdu_mpdus": 65, "station_mcs": [1] }),
            "the maximum of 802.11n is 64",
        ),
        (json!({ "station_mcs": [1], "mcs": 1 }), "mcs: unknown; there is standard, "),
    ];
    for (params, said) in cases {
        let found = error(&params);
        assert!(found.contains(said) && found.lines().count() == 1, "{found} does not say {said}");
    }
    for params in [json!({ "station_mcs": [11] }), vht(20, 3, 9), vht(80, 2, 9)] {
        assert_eq!(error(&params), "");
    }
}

#[test]
fn a_station_has_two_ports() {
    let never = SamplingTimes::new(None, Time::ZERO, Time::ZERO);
    let queues = (0..3).map(|_| super::saturated::endless()).collect();
    let said =
        medium::build::<Tag>("wifi", &json!({ "station_mcs": [1, 2] }), queues, never, 1).err().unwrap();
    assert_eq!(said.to_string(), "wifi: these parameters need 4 ports, but 3 are given");
}
