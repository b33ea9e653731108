//! Algorithms without a network: reviewed snapshots with one line per round trip.

use congestion::{build, descriptors, kit::rounds};

const ROUNDS: usize = 40;

#[test]
fn every_algorithm_goes_its_way() {
    for descriptor in descriptors() {
        let mut algorithm = build(descriptor.name, &serde_json::Value::Null, 1).expect("defaults are valid");
        let name = format!("rounds__{}", descriptor.name);
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name, rounds::table(&mut *algorithm, ROUNDS));
        });
    }
}
