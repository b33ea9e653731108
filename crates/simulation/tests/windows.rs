//! Execution in windows gives the same results as execution in the order of events, bit for bit.

use crate::common::{datagrams, flow, link, plan};
use proptest::prelude::*;
use serde_json::{Value, json};
use simulation::{Execution, External, Plan, Simulation};
use units::Time;

fn simulation(plan: &Value, execution: Execution) -> Simulation {
    let plan = Plan::from_json(&plan.to_string()).unwrap_or_else(|error| panic!("{error}"));
    let built = Simulation::executed(plan, 7, External::default(), execution);
    built.unwrap_or_else(|error| panic!("{error}"))
}

/// Results as text. Two texts are equal if all bits of the results are equal, including NaN.
fn digest(plan: &Value, execution: Execution) -> String {
    format!("{:?}", simulation(plan, execution).finish())
}

/// A queue of a link that flows share.
fn queue() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1u64..60).prop_map(|packets| json!({ "kind": "drop_tail", "packets": packets, "bytes": null })),
        (4u64..60)
            .prop_map(|packets| json!({ "kind": "step", "limit": packets, "mark_packets": packets / 4 })),
        Just(json!({ "kind": "codel" })),
        Just(json!({ "kind": "fq_codel" })),
        Just(json!({ "kind": "pie" })),
        Just(json!({ "kind": "dualpi2" })),
        Just(json!({ "kind": "fq" })),
        Just(json!({ "kind": "fq_pie" })),
        Just(json!({ "kind": "cake" })),
    ]
}

/// A rate or no rate, and a delay. Rate and delay have few possible values, so that many events happen at equal times.
fn speed() -> impl Strategy<Value = (Option<u64>, u64)> {
    let rate = prop_oneof![Just(None), Just(Some(8_000_000)), Just(Some(80_000_000)), Just(Some(11_000_000))];
    (rate, prop_oneof![Just(0u64), Just(1_000_000), Just(5_000_000)])
}

/// No change, or a change of the rate or the limit at some time.
fn changes() -> impl Strategy<Value = Value> {
    let at = 1_000_000u64..400_000_000;
    prop_oneof![
        Just(json!([])),
        (at.clone(), 500_000u64..30_000_000)
            .prop_map(|(at, rate)| json!([{ "at_ns": at, "rate_bps": rate }])),
        (at, 1u64..30).prop_map(|(at, packets)| {
            json!([{ "at_ns": at, "limit": { "packets": packets, "bytes": null } }])
        }),
    ]
}

/// One link of the core: rate, delay, queue, probability of loss, and changes.
type Core = (u64, u64, Value, f64, Value);

fn core() -> impl Strategy<Value = Core> {
    let rate = prop_oneof![Just(8_000_000u64), Just(24_000_000), 1_000_000u64..50_000_000];
    let delay = prop_oneof![Just(1_000_000u64), Just(5_000_000), 100_000u64..20_000_000];
    (rate, delay, queue(), prop_oneof![Just(0.0), Just(0.02)], changes())
}

/// A flow: algorithm, access links, start, bytes, and the range of core links that it crosses.
type One = (&'static str, Vec<(Option<u64>, u64)>, u64, Option<u64>, (usize, usize));

fn one() -> impl Strategy<Value = One> {
    let cca = prop_oneof![Just("reno"), Just("cubic"), Just("bbr1"), Just("prague")];
    let start = prop_oneof![Just(0u64), Just(10_000_000), 0u64..100_000_000];
    (
        cca,
        proptest::collection::vec(speed(), 4),
        start,
        proptest::option::of(1u64..400_000),
        (0usize..2, 1usize..4),
    )
}

/// Two to six flows over one to three core links and one reverse link, with or without access links.
fn plans() -> impl Strategy<Value = Value> {
    let flows = proptest::collection::vec((one(), 0usize..16), 2..7);
    let record = (proptest::option::of(3_000_000u64..90_000_000), 0u64..300_000_000);
    (proptest::collection::vec(core(), 1..4), core(), flows, record, 0u64..8).prop_map(
        |(core, back, flows, (interval, warmup), probes)| {
            let mut links: Vec<Value> = Vec::new();
            for (n, (rate, delay, queue, loss, changes)) in core.iter().chain([&back]).enumerate() {
                let mut link = link(&format!("core {n}"), Some(*rate), *delay, None);
                link["queue"] = queue.clone();
                link["loss"] =
                    json!((*loss > 0.0).then(|| json!({ "kind": "bernoulli", "probability": loss })));
                let has_limit = ["drop_tail", "codel", "fq", "fq_codel", "fq_pie", "pie"];
                let limited = changes[0]["limit"].is_object();
                if !limited || has_limit.iter().any(|kind| queue["kind"] == *kind) {
                    link["changes"] = changes.clone();
                }
                links.push(link);
            }
            let back = core.len() as u32;
            let mut all = Vec::new();
            for (n, ((cca, access, start, bytes, (from, count)), which)) in flows.into_iter().enumerate() {
                let first = from.min(core.len() - 1);
                let middle: Vec<u32> = (first as u32..core.len() as u32).take(count).collect();
                let mut own = |wanted: bool, n_access: usize| {
                    wanted.then(|| {
                        let (rate, delay) = access[n_access];
                        links.push(link(&format!("access {n} {n_access}"), rate, delay, Some(40)));
                        links.len() as u32 - 1
                    })
                };
                let ends = [0, 1, 2, 3].map(|end| own(which >> end & 1 == 1, end));
                let forward: Vec<u32> = ends[0].into_iter().chain(middle).chain(ends[1]).collect();
                let reverse: Vec<u32> = ends[2].into_iter().chain([back]).chain(ends[3]).collect();
                let mut flow = flow(&format!("flow {n}"), cca, &forward, &reverse);
                flow["start_ns"] = json!(start);
                flow["bytes"] = json!(bytes);
                flow["tcp"]["ecn"] = json!(["on", "off"][which % 2]);
                all.push(flow);
            }
            if probes > 4 {
                all.push(datagrams("datagrams", probes, probes % 2 == 0, &[0], &[back]));
            }
            let mut plan = plan(400, links, all);
            plan["record"] = json!({ "interval_ns": interval, "variables": false });
            plan["warmup_ns"] = json!(warmup);
            plan
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn windows_change_nothing(plan in plans()) {
        prop_assume!(is_in_windows(&plan, Execution::Windows { threads: 1 }));
        prop_assert_eq!(digest(&plan, Execution::Windows { threads: 1 }), digest(&plan, Execution::Events));
    }

    #[test]
    fn stepping_through_windows_changes_nothing(plan in plans(), steps in proptest::collection::vec(0u64..500_000_000, 0..20)) {
        let mut stepped = simulation(&plan, Execution::Windows { threads: 1 });
        for step in steps {
            stepped.advance(Time::from_nanos(step));
        }
        prop_assert_eq!(format!("{:?}", stepped.finish()), digest(&plan, Execution::Events));
    }
}

proptest! {
    // Threads wait for each other three times per window. Waiting takes long if other programs use the processors.
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn threads_change_nothing(mut plan in plans(), steps in proptest::collection::vec(0u64..100_000_000, 0..3)) {
        plan["duration_ns"] = json!(100_000_000);
        plan["warmup_ns"] = json!(20_000_000);
        prop_assume!(is_in_windows(&plan, Execution::Windows { threads: 1 }));
        let events = digest(&plan, Execution::Events);
        for threads in [2, 3, 8] {
            let mut stepped = simulation(&plan, Execution::Windows { threads });
            steps.iter().for_each(|&step| { stepped.advance(Time::from_nanos(step)); });
            prop_assert_eq!(&format!("{:?}", stepped.finish()), &events, "{} threads", threads);
        }
    }
}

/// A dumbbell with access links of `access_ms` at the senders and a bottleneck of `core_ms`.
fn dumbbell(access_ms: u64, core_ms: u64) -> Value {
    let mut links = vec![
        link("there", Some(10_000_000), core_ms * 1_000_000, Some(50)),
        link("back", Some(10_000_000), core_ms * 1_000_000, Some(50)),
    ];
    let flows = (0..3).map(|n| {
        links.push(link(&format!("access {n}"), Some(100_000_000), access_ms * 1_000_000, Some(50)));
        flow(&format!("flow {n}"), "cubic", &[2 + n, 0], &[1])
    });
    let flows = flows.collect();
    plan(400, links, flows)
}

fn is_in_windows(plan: &Value, execution: Execution) -> bool {
    simulation(plan, execution).is_in_windows()
}

#[test]
fn a_dumbbell_is_run_in_windows_unless_its_bottleneck_has_no_delay() {
    let windows = Execution::Windows { threads: 1 };
    assert!(is_in_windows(&dumbbell(5, 20), windows) && is_in_windows(&dumbbell(0, 20), windows));
    assert!(!is_in_windows(&dumbbell(5, 0), windows));
    assert!(!is_in_windows(&dumbbell(5, 20), Execution::Events));
}

#[test]
fn windows_that_hold_less_than_a_packet_of_every_flow_are_not_chosen() {
    // A full packet takes 1.2 ms. A window of 25 ms holds 20 packets for three flows; a window of 2 ms holds one
    // packet.
    let auto = Execution::default();
    assert!(is_in_windows(&dumbbell(5, 20), auto) && !is_in_windows(&dumbbell(0, 2), auto));
}

/// A dumbbell of 5 and 20 ms with one changed setting of its bottleneck.
fn with_bottleneck(key: &str, value: Value) -> Value {
    let mut plan = dumbbell(5, 20);
    plan["links"][0][key] = value;
    plan
}

#[test]
fn links_from_which_packets_of_two_flows_may_arrive_at_one_time_are_run_event_by_event() {
    let windows = Execution::Windows { threads: 1 };
    let jitter = json!([{ "kind": "jitter", "spread_ns": 1_000_000, "shape": "uniform", "reorder": false }]);
    assert!(!is_in_windows(&with_bottleneck("impairments", jitter), windows));
    assert!(!is_in_windows(&with_bottleneck("rate_bps", json!(null)), windows));
    assert!(!is_in_windows(&with_bottleneck("rate_bps", json!(200_000_000_000u64)), windows));
}

#[test]
fn a_limit_that_changes_is_run_event_by_event_unless_only_arrivals_ask_for_it() {
    let windows = Execution::Windows { threads: 1 };
    let changes = json!([{ "at_ns": 100_000_000, "limit": { "packets": 12, "bytes": null } }]);
    let mut plan = with_bottleneck("changes", changes);
    assert!(is_in_windows(&plan, windows));
    plan["links"][0]["queue"] = json!({ "kind": "fq_pie" });
    assert!(!is_in_windows(&plan, windows));
}

#[test]
fn windows_are_not_chosen_where_packets_wait_for_many_of_them() {
    let auto = Execution::default();
    let mut plan = dumbbell(5, 20);
    assert!(is_in_windows(&plan, auto));
    plan["links"][2]["delay_ns"] = json!(17 * 25_000_000u64);
    assert!(!is_in_windows(&plan, auto));
}

#[test]
fn a_fast_way_back_does_not_hide_a_slow_bottleneck() {
    let mut plan = dumbbell(0, 2);
    plan["links"][1]["rate_bps"] = json!(100_000_000_000u64);
    assert!(!is_in_windows(&plan, Execution::default()));
}

#[test]
fn what_is_written_down_in_the_order_of_events_is_run_event_by_event() {
    let mut plan = dumbbell(5, 20);
    plan["record"]["packets"] = json!(["sender"]);
    assert!(!is_in_windows(&plan, Execution::Windows { threads: 1 }));
}
