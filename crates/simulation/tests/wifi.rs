//! Wi-Fi cells in plans, with TCP and UDP.

use crate::common::{first, flow, link, plan, run};
use serde_json::{Value, json};
use simulation::{Plan, Simulation};

/// A cell with the given parameters. Ports 2 and 3 belong to the first station, down and up.
fn cell(params: &Value, ports: usize) -> Value {
    let port = |n: usize| {
        let name = format!("home/{n}");
        json!({ "name": name, "stream": name, "queue": { "kind": "drop_tail", "packets": 1_000, "bytes": null } })
    };
    let ports: Vec<Value> = (0..ports).map(port).collect();
    json!({ "name": "home", "stream": "home", "kind": "wifi", "params": params, "ports": ports })
}

/// One CUBIC flow to or from a station. The access point has a wire of 5 ms in each direction.
fn transfer(params: &Value, route: [&[u32]; 2]) -> Value {
    let wires = ["down", "up"].map(|name| link(name, Some(1_000_000_000), 5_000_000, None));
    let mut plan = plan(12_000, wires.to_vec(), vec![flow("one", "cubic", route[0], route[1])]);
    plan["media"] = json!([cell(params, 2)]);
    plan["warmup_ns"] = json!(2_000_000_000u64);
    plan
}

const DOWN: [&[u32]; 2] = [&[0, 2], &[3, 1]];
const UP: [&[u32]; 2] = [&[3, 1], &[0, 2]];

#[test]
fn tcp_gets_what_the_cell_carries_less_its_acknowledgements() {
    // HE20 MCS 11 carries 129 Mbit/s of UDP payload. TCP has 107 to 113 Mbit/s in ns-3.
    let params = json!({ "width_mhz": 20, "streams": 1, "station_mcs": [11], "max_ampdu_bytes": 65_535 });
    for route in [DOWN, UP] {
        let goodput = first(&run(&transfer(&params, route), 1).flows, "goodput_bps") / 1e6;
        assert!((103.0..118.0).contains(&goodput), "{goodput} Mbit/s");
    }
}

#[test]
fn errors_are_not_seen_by_tcp() {
    let params = json!({ "width_mhz": 20, "streams": 1, "station_mcs": [5], "station_errors": [0.1] });
    let mut plan = transfer(&params, DOWN);
    plan["warmup_ns"] = json!(0);
    plan["flows"][0]["bytes"] = json!(1_000_000); // the whole transfer fits into the queue
    let results = run(&plan, 1);
    assert_eq!(first(&results.flows, "retransmitted_packets"), 0.0);
    assert!(first(&results.flows, "fct_s") < 0.5);
}

#[test]
fn stepping_changes_nothing() {
    let params = json!({ "station_mcs": [4], "station_errors": [0.05] });
    let mut plan = transfer(&params, DOWN);
    plan["record"]["interval_ns"] = json!(10_000_000);
    let parsed = || Plan::from_json(&plan.to_string()).unwrap();
    let whole = Simulation::new(parsed(), 7).unwrap().finish();
    let mut stepped = Simulation::new(parsed(), 7).unwrap();
    (1..500).for_each(|n| {
        stepped.advance(units::Time::from_nanos(n * 9_999_999));
    });
    let stepped = stepped.finish();
    for (one, other) in [(&whole.flows, &stepped.flows), (&whole.links, &stepped.links)] {
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    let refusal = |params: Value| {
        let plan = transfer(&params, DOWN);
        Plan::from_json(&plan.to_string()).expect_err("a mistake").to_string()
    };
    let said = refusal(json!({ "station_mcs": [12] }));
    assert!(said.starts_with("media[0].params.station_mcs[0]: MCS 12 does not exist in 802.11ax"), "{said}");
    let said = refusal(json!({ "station_mcs": [1, 1] }));
    assert!(said.starts_with("media[0].params: these parameters need 4 ports, but 2 are given"), "{said}");
}
