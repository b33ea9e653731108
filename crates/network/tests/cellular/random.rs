//! Random cells under random traffic, in the conformance kit of elements.

use crate::common::cells::{self, Conditions, bytes};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A kind of cell, and parameters for one to five users.
fn any_cells() -> impl Strategy<Value = (&'static str, Value)> {
    let patterns = prop_oneof![
        Just((vec![14], vec![14])),
        Just((vec![14, 14, 14, 10, 0], vec![0, 0, 0, 2, 14])),
        Just((vec![14, 6, 0], vec![0, 4, 14])),
    ];
    let noise =
        (0.0..30.0, 0.0..8.0, 0.001..1.0).prop_map(|(mean, spread, memory)| vec![mean, spread, memory]);
    let user = (
        0u64..28,
        prop_oneof![Just(0.0), 0.0..0.8],
        prop_oneof![Just("fixed"), Just("cqi")],
        prop_oneof![Just(Vec::new()), noise],
    );
    let users = proptest::collection::vec(user, 1..6);
    let choices = (
        prop_oneof![Just("am"), Just("um")],
        prop_oneof![Just("round_robin"), Just("proportional_fair")],
        prop_oneof![Just("lte"), Just("nr")],
    );
    let numbers = (1u64..100, 0u64..4, 1u64..5, 0u64..3_000_000, 40u64..2_000, 0u64..12_000_000);
    (patterns, users, choices, numbers).prop_map(|((down, up), users, (rlc, scheduler, kind), numbers)| {
        let (blocks, numerology, small, delay, first, grants) = numbers;
        let cell = json!({
            "resource_blocks": blocks, "numerology": if kind == "nr" { numerology } else { 0 }, "down_symbols": down,
            "up_symbols": up, "layers": small % 4 + 1, "scheduler": scheduler, "rlc": rlc, "harq_tries": small,
            "harq_round_trip_ns": 1_000 + 3 * delay, "delay_ns": delay, "processing_ns": delay / 2,
            "satellites_ns": if first % 2 == 0 { vec![] } else { vec![grants, 1_000_000 + 10 * delay, delay, 3 * delay] },
            "grant_delay_ns": grants, "first_grant_bytes": first,
            "user_mcs": users.iter().map(|user| user.0).collect::<Vec<_>>(),
            "user_errors": users.iter().map(|user| user.1).collect::<Vec<_>>(),
            "user_rates": users.iter().map(|user| user.2).collect::<Vec<_>>(),
            "user_gaps_ns": users.iter().map(|user| vec![1_000_000 * user.0, delay, 4_000_000]).collect::<Vec<_>>(),
            "user_blockage": users.iter().map(|_| vec![20.0, 0.001, 0.005]).collect::<Vec<_>>(),
            "rlc_reordering_ns": 20 * delay, "drx_cycle_ns": 4 * (grants / 3), "drx_on_ns": 1 + grants / 2, "drx_inactivity_ns": 5 * delay,
            "background_users": small % 3, "background_burst_ns": 1_000_000 + delay,
            "user_snr": users.into_iter().map(|user| user.3).collect::<Vec<_>>(),
        });
        (kind, cell)
    })
}

/// Check every invariant of elements with one kind of queue at all ports.
fn conforms(
    (medium, cell): &(&str, Value),
    kind: usize,
    bytes: &[u8],
    seed: u64,
) -> Result<(), TestCaseError> {
    let queues = [
        ("drop_tail", json!({ "bytes": 20_000 })),
        ("codel", json!({ "limit": 20, "target_ms": 1.0 })),
        ("fq_codel", json!({ "limit": 20, "target_ms": 1.0, "ecn": true })),
        ("tbf", json!({ "packets": 20, "rate_bps": 5_000_000, "burst_bytes": 3000 })),
    ];
    let ports = 2 * cell["user_mcs"].as_array().unwrap().len();
    let queue = &queues[kind % queues.len()];
    cells::conforms(&Conditions { medium, cell, ports, queue }, bytes, seed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_cell_conforms(cell in any_cells(), kind in 0usize..4, bytes in bytes(), seed: u64) {
        conforms(&cell, kind, &bytes, seed)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    #[ignore = "long: make test-long"]
    fn ten_thousand_cells_conform(cell in any_cells(), kind in 0usize..4, bytes in bytes(), seed: u64) {
        conforms(&cell, kind, &bytes, seed)?;
    }
}
