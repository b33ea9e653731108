//! Invalid cells: each has one clear error.

use network::kit::Tag;
use network::{SamplingTimes, medium};
use serde_json::{Value, json};
use units::Time;

fn error(kind: &str, params: &Value) -> String {
    let never = SamplingTimes::new(None, Time::ZERO, Time::ZERO);
    let made = medium::build::<Tag>(kind, params, Vec::new(), never, 1);
    made.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn mistakes_are_named() {
    let lte = |more: Value| {
        let mut all = json!({ "resource_blocks": 100, "user_mcs": [28] });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let cases = [
        (lte(json!({ "resource_blocks": 0 })), "resource_blocks: 0 is out of range"),
        (lte(json!({ "resource_blocks": 101 })), "resource_blocks: 101 is out of range; the maximum is 100"),
        (lte(json!({ "numerology": 1 })), "numerology: 1 is out of range; the maximum is 0"),
        (lte(json!({ "layers": 5 })), "layers: 5 is out of range; the maximum is 4"),
        (lte(json!({ "down_symbols": [] })), "down_symbols: no slot has enough symbols for a block"),
        (lte(json!({ "up_symbols": [0, 2] })), "up_symbols: no slot has enough symbols for a block"),
        (lte(json!({ "up_symbols": [15] })), "up_symbols: a slot has 14 symbols"),
        (lte(json!({ "up_symbols": [14, 14] })), "up_symbols: 2 slots, but down_symbols has 1"),
        (lte(json!({ "user_mcs": [] })), "user_mcs: a cell has at least one user"),
        (lte(json!({ "user_mcs": [3, 29] })), "user_mcs[1]: MCS 29 does not exist; write 0 to 28"),
        (
            lte(json!({ "user_mcs": vec![1; 1_000_000] })),
            "user_mcs: 1000000 users are too many; the maximum is 10000",
        ),
        (lte(json!({ "user_errors": [0.1, 0.1] })), "user_errors: 2 values for 1 users"),
        (lte(json!({ "user_errors": [1.0] })), "user_errors[0]: 1 is out of range"),
        (
            lte(json!({ "user_snr": [[20.0, 3.0]] })),
            "user_snr[0]: must be a mean from -100 to 100 dB, a standard deviation",
        ),
        (
            lte(json!({ "user_gaps_ns": [[5, 10, 10]] })),
            "user_gaps_ns[0]: must be a start, a length, and a period",
        ),
        (
            lte(json!({ "user_gaps_ns": [[5, 10]] })),
            "user_gaps_ns[0]: must be a start, a length, and a period",
        ),
        (
            lte(json!({ "user_blockage": [[25.0, 0.0, 1.0]] })),
            "user_blockage[0]: must be an attenuation from 0 to 100 dB",
        ),
        (lte(json!({ "background_load": 0.0 })), "background_load: 0 is out of range"),
        (lte(json!({ "scheduler": "max" })), "scheduler: \"max\" is wrong; it must be one of round_robin, "),
        (lte(json!({ "rlc": "tm" })), "rlc: \"tm\" is wrong; it must be one of am, um"),
        (json!({ "user_mcs": [1] }), "resource_blocks: missing; it must be a whole number"),
    ];
    for (params, said) in cases {
        let found = error("lte", &params);
        assert!(found.contains(said) && found.lines().count() == 1, "{found} does not say {said}");
    }
    assert_eq!(error("lte", &lte(json!({}))), "");
    assert_eq!(error("nr", &json!({ "resource_blocks": 273, "numerology": 1, "user_mcs": [27] })), "");
}
