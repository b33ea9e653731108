//! Checks of plans: a plan that cannot be simulated is refused with a reason, and nothing panics.

use crate::common::{flow, single};
use proptest::prelude::*;
use serde_json::{Value, json};
use simulation::{Plan, Simulation};

/// The error of a plan that is valid except for one change.
fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut plan = single("cubic", 100);
    change(&mut plan);
    Plan::from_json(&plan.to_string()).expect_err("a mistake").to_string()
}

#[test]
fn mistakes_are_named_with_their_place_and_a_remedy() {
    let expected = |change: fn(&mut Value), text: &str| assert_eq!(refusal(change), text);
    expected(
        |p| p["links"][0]["rate_bps"] = json!(0),
        "links[0].rate_bps: 0 is out of range; it must lie between 1 and 1000000000000000000; null means unlimited",
    );
    expected(
        |p| p["flows"][0]["forward"] = json!([]),
        "flows[0].forward: the route is empty; name at least one link",
    );
    expected(
        |p| p["flows"][0]["reverse"] = json!([1, 2]),
        "flows[0].reverse[1]: there is no link 2; the last one is 1",
    );
    expected(
        |p| p["flows"][0]["tcp"]["mss"] = json!(9001),
        "flows[0].tcp.mss: 9001 is out of range; it must lie between 1 and 9000",
    );
    expected(
        |p| p["links"][0]["loss"] = json!({ "kind": "bernoulli", "probability": 1.5 }),
        "links[0].loss.probability: 1.5 is out of range; it must lie between 0 and 1",
    );
    expected(
        |p| p["warmup_ns"] = json!(100_000_000),
        "warmup_ns: the warm-up of 100000000 ns is not shorter than the run of 100000000 ns; shorten it",
    );
}

#[test]
fn every_buffer_of_a_transport_that_is_too_small_is_named() {
    let change = |p: &mut Value| {
        p["flows"][0]["tcp"] = json!({
            "mss": 9000,
            "send_buffer": 1000,
            "receive_buffer": 2000,
            "send_memory_most": 4096,
            "receive_memory": 65536,
            "receive_memory_most": 10000,
        });
    };
    let told = refusal(change);
    let expected = [
        "flows[0].tcp.send_buffer: 1000 is out of range; it must be at least 9000",
        "flows[0].tcp.receive_buffer: 2000 is out of range; it must be at least 9000",
        "flows[0].tcp.send_memory_most: 4096 is out of range; it must be at least 9000",
        "flows[0].tcp.receive_memory_most: 10000 is out of range; it must be at least 65536",
    ];
    assert_eq!(told.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn more_mistakes() {
    let contains = |change: fn(&mut Value), text: &str| {
        let refusal = refusal(change);
        assert!(refusal.contains(text), "{refusal}");
    };
    contains(
        |p| p["flows"][0]["cca"]["kind"] = json!("cubik"),
        "flows[0].cca: unknown algorithm \"cubik\"; there is ",
    );
    contains(
        |p| p["links"][1]["queue"]["kind"] = json!("droptail"),
        "links[1].queue: unknown queue \"droptail\"; there is drop_tail, tbf, ",
    );
    contains(|p| p["flows"][0]["dscp"] = json!(64), "flows[0].dscp: 64 is out of range");
    contains(|p| p["flows"][0]["hosts"] = json!([0, 2_000_000]), "flows[0].hosts: 2000000 is out of range");
    contains(
        |p| {
            p["links"][0]["rate_bps"] = json!(null);
            p["links"][0]["queue"] = json!({ "kind": "cake" });
        },
        "nothing limits this flow",
    );
    contains(|p| p["surprise"] = json!(1), "surprise: unknown field `surprise`");
    contains(|p| p["flows"][0]["tcp"]["mss_bytes"] = json!(1), "flows[0].tcp.mss_bytes: unknown field");
    contains(
        |p| p["flows"][0]["cca"]["params"]["betta"] = json!(1),
        "flows[0].cca.params.betta: unknown; there is ",
    );
    contains(
        |p| p["links"][0]["queue"]["limit"] = json!(1),
        "links[0].queue.limit: unknown; there is packets, bytes",
    );
    contains(|p| p["duration_ns"] = json!(-1), "duration_ns: invalid value");
    contains(|p| p["duration_ns"] = json!(u64::MAX), "duration_ns: ");
    contains(|p| p["links"][1]["name"] = json!("there"), "links[1].name: \"there\" is used twice");
    contains(|p| p["links"][1]["stream"] = json!("there"), "links[1].stream: \"there\" is used twice");
    contains(|p| p["flows"][0]["stream"] = json!(""), "flows[0].stream: the stream is empty");
    contains(
        |p| p["flows"][0]["forward"] = json!([0, 1, 0]),
        "flows[0].forward[2]: the route already crosses link 0",
    );
    contains(|p| p["record"]["interval_ns"] = json!(0), "record.interval_ns: ");
    contains(|p| p["record"]["interval_ns"] = json!(1), "record.interval_ns: 200000000 samples");
    contains(|p| p["record"]["variables"] = json!(true), "record.variables: ");
    contains(
        |p| p["flows"][0]["start_ns"] = json!(100_000_000),
        "flows[0].start_ns: the run ends at 100000000",
    );
    contains(|p| p["flows"][0]["stop_ns"] = json!(0), "flows[0].stop_ns: 0 is not after the start");
    contains(|p| p["links"][0]["rate_bps"] = json!(null), "flows[0].forward: nothing limits this flow");
    contains(
        |p| {
            p["links"][0]["rate_bps"] = json!(null);
            p["links"][0]["loss"] = json!({ "kind": "bernoulli", "probability": 0.01 });
        },
        "flows[0].forward: nothing limits this flow",
    );
    contains(
        |p| {
            p["links"][0]["rate_bps"] = json!(null);
            p["links"][1]["rate_bps"] = json!(1_000_000);
        },
        "flows[0].forward: nothing limits this flow",
    );
    contains(
        |p| p["flows"][0]["reroutes"] = json!([{ "at_ns": 1, "forward": [1], "reverse": null }]),
        "flows[0].forward: nothing limits this flow",
    );
    contains(
        |p| {
            p["links"][0]["delay_ns"] = json!(0);
            p["links"][1]["delay_ns"] = json!(0);
        },
        "flows[0].forward: a round trip takes no time",
    );
}

#[test]
fn every_mistake_is_named() {
    let mut plan = single("cubic", 100);
    plan["links"][0]["delay_ns"] = json!(u64::MAX);
    plan["links"][0]["loss"] = json!({ "kind": "gilbert_elliott", "worsens": 2, "improves": -1 });
    plan["links"][1]["queue"]["kind"] = json!("droptail");
    plan["record"]["variables"] = json!(true);
    let error = Plan::from_json(&plan.to_string()).expect_err("mistakes");
    let paths: Vec<String> = error.each().into_iter().map(|one| one.path).collect();
    let expected = [
        "links[0].delay_ns",
        "links[0].loss.worsens",
        "links[0].loss.improves",
        "links[1].queue",
        "record.variables",
    ];
    assert_eq!(paths, expected);
}

/// A value that may or may not be valid at its position in the plan.
fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        any::<u64>().prop_map(|n| json!(n)),
        any::<i64>().prop_map(|n| json!(n)),
        (0u64..2_000).prop_map(|n| json!(n)),
        (0u32..60).prop_map(|n| json!(1u64 << n)),
        any::<f64>().prop_map(|x| json!(x)),
        "[a-z_0-9]{0,8}".prop_map(|s| json!(s)),
        proptest::collection::vec(0u32..4, 0..4).prop_map(|v| json!(v)),
        Just(json!({})),
        Just(json!({ "kind": "every", "packets": 3, "timeout_ns": 1 })),
        Just(flow("odd", "reno", &[0], &[1])),
    ]
}

/// Pointers to every value in a document.
fn places(value: &Value, here: &str, out: &mut Vec<String>) {
    out.push(here.to_owned());
    match value {
        Value::Object(fields) => fields.iter().for_each(|(k, v)| places(v, &format!("{here}/{k}"), out)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, v)| places(v, &format!("{here}/{n}"), out))
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_refused_or_read(text in ".{0,200}") {
        let _ = Plan::from_json(&text);
    }

    /// Up to four values of a valid plan are replaced. Plans that are not refused must run.
    #[test]
    fn mutated_plans_are_refused_or_run(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), odd()), 1..5),
        seed in any::<u64>(),
    ) {
        let mut plan = single("cubic", 30);
        for (index, value) in changes {
            let mut all = Vec::new();
            places(&plan, "", &mut all);
            let place: &String = index.get(&all);
            if let Some(place) = plan.pointer_mut(place) {
                *place = value;
            }
        }
        if let Ok(plan) = Plan::from_json(&plan.to_string())
            && plan.duration_ns <= 100_000_000
        {
            let results = Simulation::new(plan, seed).expect("a checked plan").finish();
            prop_assert!(results.flows.columns.iter().all(|column| !column.1.is_empty()));
        }
    }
}

/// A plan that has every possible part.
fn full() -> Value {
    let periods = json!({ "on_ns": 2_000, "off_ns": 0, "exponential": true });
    let bytes = json!({ "kind": "pareto", "shape": 1.25, "low": 100.0, "high": 1e6 });
    let think = json!({ "kind": "lognormal", "mean": 1e7, "sigma": 0.5 });
    let mut plan = single("cubic", 100);
    plan["links"][0]["nic"] = json!(true);
    plan["links"][0]["loss"] = json!({ "kind": "periodic", "every": 9 });
    plan["links"][0]["changes"] =
        json!([{ "at_ns": 5, "rate_bps": 7, "limit": { "packets": 3, "bytes": null } }]);
    plan["links"][0]["impairments"] = json!([{ "kind": "duplicate", "probability": 0.25 }]);
    plan["media"] = json!([{
        "name": "m", "stream": "m", "kind": "shared", "params": { "rate_bps": 8000 },
        "ports": [{ "name": "m0", "stream": "m0", "queue": { "kind": "codel", "target_ms": 2.5 } }],
    }]);
    plan["flows"][0]["reroutes"] = json!([{ "at_ns": 9, "forward": [0], "reverse": null }]);
    plan["flows"][0]["tcp"]["ack_every"] = json!(2);
    plan["flows"][0]["tcp"]["delayed_ack_timeout"] = json!(40);
    plan["flows"][0]["tcp"]["ecn"] = json!("accecn");
    plan["record"]["packets"] = json!(["sender"]);
    let workloads = json!([
        { "kind": "writes", "rate_bps": 9, "write_bytes": 10, "periods": periods, "drops": true },
        { "kind": "poisson", "interval_ns": 1.5e8, "sizes": bytes },
        { "kind": "request_response", "request": bytes, "response": bytes, "think": think },
        { "kind": "web", "think": think, "objects": { "kind": "constant", "value": 3.0 }, "sizes": bytes,
          "connections": 6, "request_bytes": 300 },
        { "kind": "video", "bitrates_bps": [1, 2], "chunk_ns": 2_000_000, "buffer_ns": 9_000_000,
          "startup_ns": 0, "rule": { "kind": "rate", "safety": 0.75 }, "request_bytes": 1 },
        { "kind": "datagrams", "protocol": "udp", "payload_bytes": 1, "overhead_bytes": 2, "interval_ns": 3,
          "poisson": false, "periods": null, "echo": true, "each": false },
    ]);
    let mut flows = plan["flows"].as_array().unwrap().clone();
    for workload in workloads.as_array().unwrap() {
        let mut flow = flow(&format!("flow {}", flows.len()), "reno", &[0], &[1]);
        flow["workload"] = workload.clone();
        flows.push(flow);
    }
    plan["flows"] = json!(flows);
    plan
}

#[test]
fn a_plan_that_is_written_and_read_again_is_the_same() {
    let read: Plan = serde_json::from_value(full()).unwrap();
    let again: Plan = serde_json::from_str(&read.to_json()).unwrap();
    assert_eq!(again, read);
}

#[test]
fn the_schema_says_what_every_field_means() {
    let schema = Plan::schema();
    for part in schema["$defs"].as_object().unwrap().values().chain([&schema]) {
        assert!(part["description"].is_string(), "{part}");
        for (name, field) in part["properties"].as_object().into_iter().flatten() {
            assert!(field["description"].is_string(), "{name}");
        }
    }
}
