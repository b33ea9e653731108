//! Random cells under random traffic, in the conformance kit of elements.

use crate::common::cells::{self, Conditions, bytes};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Parameters of a cell with one to five stations.
fn any_cells() -> impl Strategy<Value = Value> {
    let standards =
        prop_oneof![Just(("802.11n", 40, 7)), Just(("802.11ac", 160, 8)), Just(("802.11ax", 20, 11))];
    let rates = prop_oneof![Just("fixed"), Just("ideal"), Just("minstrel")];
    let noise =
        (0.0..40.0, 0.0..10.0, 0.001..1.0).prop_map(|(mean, spread, memory)| vec![mean, spread, memory]);
    let station =
        (any::<u64>(), prop_oneof![Just(0.0), 0.0..0.9], rates, prop_oneof![Just(Vec::new()), noise]);
    let stations = proptest::collection::vec(station, 1..6);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let numbers = (prop_oneof![Just(0u64), 1u64..4], 1u64..65, 1_000u64..65_000, 0u64..3_000);
    (standards, stations, switches, numbers).prop_map(|((standard, width, last), stations, switches, numbers)| {
        let mcs: Vec<u64> = stations.iter().map(|station| station.0 % (last + 1)).collect();
        let errors: Vec<f64> = stations.iter().map(|station| station.1).collect();
        let rates: Vec<&str> = stations.iter().map(|station| station.2).collect();
        let snr: Vec<_> = stations.into_iter().map(|station| station.3).collect();
        let ((rts, beacons, bar, each), (retries, mpdus, bytes, delay)) = (switches, numbers);
        json!({
            "standard": standard, "width_mhz": width, "streams": 1, "station_mcs": mcs, "station_errors": errors,
            "station_rates": rates, "station_snr": snr, "rts": rts, "beacons": beacons, "bar": bar, "release_each": each, "retries": retries, "max_ampdu_mpdus": mpdus,
            "max_ampdu_bytes": bytes, "delay_ns": delay,
        })
    })
}

/// Check every invariant of elements with one kind of queue at all ports.
fn conforms(cell: &Value, kind: usize, bytes: &[u8], seed: u64) -> Result<(), TestCaseError> {
    let queues = [
        ("drop_tail", json!({ "packets": 20 })),
        ("codel", json!({ "limit": 20, "target_ms": 1.0 })),
        ("fq_codel", json!({ "limit": 20, "target_ms": 1.0, "ecn": true })),
        ("tbf", json!({ "packets": 20, "rate_bps": 5_000_000, "burst_bytes": 3000 })),
        (
            "mac80211",
            json!({ "limit": 20, "target_ms": 1.0, "aql": true, "aql_low_ms": 0.5, "aql_high_ms": 2.0 }),
        ),
        (
            "mac80211",
            json!({ "limit": 20, "target_ms": 1.0, "aql": false, "airtime_fairness": seed % 2 == 0 }),
        ),
    ];
    let ports = 2 * cell["station_mcs"].as_array().unwrap().len();
    let queue = &queues[kind % queues.len()];
    cells::conforms(&Conditions { medium: "wifi", cell, ports, queue }, bytes, seed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_cell_conforms(cell in any_cells(), kind in 0usize..6, bytes in bytes(), seed: u64) {
        conforms(&cell, kind, &bytes, seed)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    #[ignore = "long: make test-long"]
    fn ten_thousand_cells_conform(cell in any_cells(), kind in 0usize..6, bytes in bytes(), seed: u64) {
        conforms(&cell, kind, &bytes, seed)?;
    }
}
