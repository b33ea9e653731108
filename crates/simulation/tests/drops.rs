//! Drops per flow, compared with the drops of the links on the paths of the flows.

use crate::common::{datagrams, first, flow, link, plan, run};
use proptest::prelude::*;
use serde_json::{Value, json};
use simulation::{Column, Execution, External, Plan, Results, Simulation};

const MS: u64 = 1_000_000;
/// Time before which no packet is dropped. Handshakes are over by then, so only data packets are dropped later.
const CALM_MS: u64 = 300;
const END_MS: u64 = 3_000;

/// The sum of a column over the first rows of a table.
fn sum(table: &simulation::Table, column: &str, rows: usize) -> f64 {
    table.numbers(column)[..rows].iter().sum()
}

fn bernoulli(probability: f64) -> Value {
    json!({ "kind": "bernoulli", "probability": probability })
}

fn queue() -> impl Strategy<Value = Value> {
    let plain =
        (20u64..80).prop_map(|packets| json!({ "kind": "drop_tail", "packets": packets, "bytes": null }));
    let police = (1_000_000u64..8_000_000)
        .prop_map(|rate| json!({ "kind": "police", "rate_bps": rate, "burst_bytes": 30_000 }));
    let shaper = (1_000_000u64..8_000_000)
        .prop_map(|rate| json!({ "kind": "tbf", "rate_bps": rate, "burst_bytes": 5_000, "packets": 30 }));
    let others = prop_oneof![
        Just("codel"),
        Just("fq_codel"),
        Just("pie"),
        Just("fq_pie"),
        Just("fq"),
        Just("dualpi2"),
        Just("mac80211"),
    ];
    prop_oneof![
        3 => plain,
        1 => police,
        1 => shaper,
        3 => others.prop_map(|kind| json!({ "kind": kind })),
        1 => Just(json!({ "kind": "red", "limit": 60_000 })),
        1 => Just(json!({ "kind": "cake", "bandwidth_bps": 3_000_000 })),
    ]
}

/// Losses that begin after `CALM_MS` and may last until the end of the run, and an outage.
fn losses() -> impl Strategy<Value = Vec<Value>> {
    let loss = prop_oneof![
        Just(bernoulli(0.0)),
        Just(bernoulli(0.03)),
        Just(json!({ "kind": "gilbert_elliott", "worsens": 0.02, "improves": 0.3 })),
    ];
    let outage = prop_oneof![
        Just(None),
        (CALM_MS..1_500, 50u64..900).prop_map(|(from, lasts)| Some((from, from + lasts))),
        (1_500u64..2_900).prop_map(|from| Some((from, END_MS + 1))),
    ];
    (loss, outage).prop_map(|(loss, outage)| {
        let mut changes = vec![json!({ "at_ns": CALM_MS * MS, "loss": loss })];
        if let Some((from, until)) = outage {
            changes.push(json!({ "at_ns": from * MS, "loss": bernoulli(1.0) }));
            changes.push(json!({ "at_ns": until * MS, "loss": bernoulli(0.0) }));
        }
        changes
    })
}

fn impairments() -> impl Strategy<Value = Value> {
    let jitter =
        |reorder| json!({ "kind": "jitter", "spread_ns": 8 * MS, "shape": "uniform", "reorder": reorder });
    let copies = json!({ "kind": "duplicate", "probability": 0.1 });
    prop_oneof![
        3 => Just(json!([])),
        1 => Just(json!([copies])),
        1 => Just(json!([jitter(true)])),
        1 => Just(json!([jitter(false)])),
        1 => Just(json!([jitter(true), copies])),
        1 => Just(json!([{ "kind": "reordering", "every": 20, "extra_ns": 30 * MS }, copies])),
    ]
}

/// A link whose limit may fall, or whose delay may change.
fn hop(name: &'static str) -> impl Strategy<Value = Value> {
    let speed = (2_000_000u64..12_000_000, 0u64..20 * MS);
    let change = (0u8..4, 400u64..2_500);
    (speed, queue(), losses(), impairments(), change).prop_map(
        move |((rate, delay), queue, mut changes, impairments, (which, at))| {
            let mut made = link(name, Some(rate), delay, None);
            let has_limit = ["drop_tail", "codel", "fq_codel", "pie", "fq_pie", "fq", "mac80211"];
            if which == 0 && has_limit.iter().any(|kind| queue["kind"] == *kind) {
                changes.push(json!({ "at_ns": at * MS, "limit": { "packets": 3, "bytes": null } }));
            } else if which == 1 {
                changes.push(json!({ "at_ns": at * MS, "delay_ns": delay / 2 }));
            }
            changes.sort_by_key(|change| change["at_ns"].as_u64());
            made["queue"] = queue;
            made["changes"] = json!(changes);
            made["impairments"] = impairments;
            made
        },
    )
}

/// Flows in one direction: TCP from the start of the run, and datagrams after `CALM_MS`.
fn flows() -> impl Strategy<Value = Vec<Value>> {
    let tcp = prop_oneof![Just("reno"), Just("cubic"), Just("bbr1"), Just("bbr3")];
    let size = prop_oneof![Just(None), (100_000u64..2_000_000).prop_map(Some)];
    let bulk = (tcp, size, proptest::option::of(500u64..2_500)).prop_map(|(cca, bytes, stop)| {
        let mut flow = flow("bulk", cca, &[], &[]);
        flow["bytes"] = json!(bytes);
        flow["stop_ns"] = json!(stop.map(|stop| stop * MS));
        flow
    });
    let udp = (1u64..12).prop_map(|interval| {
        let mut flow = datagrams("udp", 1, false, &[], &[]);
        flow["workload"]["interval_ns"] = json!(interval * MS / 4);
        flow["workload"]["payload_bytes"] = json!(1_200);
        flow["workload"]["each"] = json!(false);
        flow["start_ns"] = json!(CALM_MS * MS);
        flow
    });
    proptest::collection::vec(prop_oneof![2 => bulk, 1 => udp], 1..4)
}

/// Flows over one to three links. The first link may be the network interface of their host. The reverse route also
/// drops packets.
fn paths() -> impl Strategy<Value = (Value, usize)> {
    let hops = (hop("one"), hop("two"), hop("three"), 1usize..4, proptest::option::of(5u64..40));
    (hops, flows(), 0u64..2_500, 0.0f64..0.05).prop_map(
        |((one, two, three, count, nic), flows, warmup, back)| {
            let mut links: Vec<Value> = [one, two, three].into_iter().take(count).collect();
            if let Some(packets) = nic {
                let mut nic = link("nic", Some(20_000_000), 0, Some(packets));
                nic["nic"] = json!(true);
                links.insert(0, nic);
            }
            let there: Vec<u32> = (0..links.len() as u32).collect();
            let count = there.len();
            links.push(link("back", None, 5 * MS, None));
            links[count]["changes"] = json!([{ "at_ns": CALM_MS * MS, "loss": bernoulli(back) }]);
            let flows = flows.into_iter().enumerate().map(|(n, mut flow)| {
                flow["name"] = json!(n.to_string());
                flow["stream"] = json!(n.to_string());
                flow["forward"] = json!(there);
                flow["reverse"] = json!([count]);
                flow
            });
            let mut made = plan(END_MS, links, flows.collect());
            made["warmup_ns"] = json!(warmup.max(CALM_MS) * MS);
            (made, count)
        },
    )
}

fn executed(plan: &Value, seed: u64, execution: Execution) -> Results {
    let plan = Plan::from_json(&plan.to_string()).unwrap_or_else(|error| panic!("{error}"));
    let built = Simulation::executed(plan, seed, External::default(), execution);
    built.unwrap_or_else(|error| panic!("{error}")).finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn they_are_those_that_the_links_of_the_path_dropped((plan, count) in paths(), seed in 0u64..1_000) {
        let results = run(&plan, seed);
        let dropped = results.flows.numbers("dropped_packets");
        let by_links = sum(&results.links_summary, "dropped_packets", count);
        prop_assert_eq!(dropped.iter().sum::<f64>(), by_links);
        for execution in [Execution::Events, Execution::Windows { threads: 2 }, Execution::OneLinkAtATime] {
            prop_assert_eq!(&executed(&plan, seed, execution).flows.numbers("dropped_packets"), &dropped);
        }
    }

    #[test]
    fn of_pings_replies_are_among_them(there in hop("there"), back in hop("back"), warmup in 0u64..2_500, seed in 0u64..1_000) {
        let mut ping = datagrams("ping", 2, true, &[0], &[1]);
        ping["start_ns"] = json!(CALM_MS * MS);
        let mut plan = plan(END_MS, vec![there, back], vec![ping]);
        plan["warmup_ns"] = json!(warmup * MS);
        let results = run(&plan, seed);
        prop_assert_eq!(first(&results.flows, "dropped_packets"), sum(&results.links_summary, "dropped_packets", 2));
    }
}

/// A cell whose first two ports, down and up, are hops 2 and 3.
fn cell(kind: &str, params: &Value, queue: &Value) -> Value {
    let port = |name: &str| json!({ "name": name, "stream": name, "queue": queue });
    json!({ "name": "cell", "stream": "cell", "kind": kind, "params": params, "ports": [port("down"), port("up")] })
}

fn cells() -> impl Strategy<Value = (&'static str, Value)> {
    let wifi = (0u64..3, 0.0f64..0.6, any::<bool>()).prop_map(|(retries, errors, bar)| {
        json!({ "width_mhz": 20, "streams": 1, "station_mcs": [3], "station_errors": [errors], "retries": retries, "bar": bar })
    });
    let cellular = |blocks: u64| {
        (1u64..4, 0.0f64..0.6, any::<bool>(), 0u64..60).prop_map(move |(tries, errors, um, reordering)| {
            json!({
                "resource_blocks": blocks, "user_mcs": [10], "user_errors": [errors], "harq_tries": tries,
                "rlc": if um { "um" } else { "am" }, "rlc_reordering_ns": reordering * MS,
            })
        })
    };
    let shared = Just(json!({ "rate_bps": 4_000_000 }));
    prop_oneof![
        wifi.prop_map(|params| ("wifi", params)),
        cellular(25).prop_map(|params| ("lte", params)),
        cellular(20).prop_map(|params| ("nr", params)),
        shared.prop_map(|params| ("shared", params)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Flows are datagrams down and up, so every drop is a datagram.
    #[test]
    fn they_are_those_that_a_cell_dropped(
        (kind, params) in cells(), queue in queue(), spans in (100u64..900, 1_000u64..2_000), seed in 0u64..1_000,
        interval in proptest::option::of(7u64..90),
    ) {
        prop_assume!(queue["kind"] != "mac80211" || kind == "wifi");
        let wires = ["there", "back"].map(|name| link(name, Some(100_000_000), 5 * MS, Some(20)));
        let routes: [[&[u32]; 2]; 2] = [[&[0, 2], &[3, 1]], [&[3, 1], &[0, 2]]];
        let flows = routes.iter().zip(["down", "up"]).map(|([forward, reverse], name)| {
            let mut flow = datagrams(name, 1, false, forward, reverse);
            flow["workload"]["interval_ns"] = json!(MS);
            flow["workload"]["payload_bytes"] = json!(1_200);
            flow
        });
        let mut plan = plan(spans.1, wires.to_vec(), flows.collect());
        plan["media"] = json!([cell(kind, &params, &queue)]);
        plan["warmup_ns"] = json!(spans.0 * MS);
        plan["record"]["interval_ns"] = json!(interval.map(|interval| interval * MS));
        let results = run(&plan, seed);
        let (flows, links) = (results.flows.numbers("dropped_packets"), results.links_summary.numbers("dropped_packets"));
        prop_assert_eq!(flows, [links[0] + links[2], links[1] + links[3]]);
    }
}

/// Number of data packets of a flow's sender that were captured at a point.
fn captured(results: &Results, point: &str, flow: &str) -> f64 {
    let text = |name: &str| match results.packets.column(name) {
        Some(Column::Label { codes, names }) => {
            codes.iter().map(|&code| names[code as usize].clone()).collect::<Vec<_>>()
        }
        other => panic!("{name}: {other:?}"),
    };
    let (flows, points, kinds, sources) = (text("flow"), text("point"), text("kind"), text("source"));
    let lengths = results.packets.numbers("len");
    let is_data = |n: &usize| kinds[*n] == "data" && sources[*n] == "sender" && lengths[*n] > 0.0;
    (0..points.len()).filter(|n| flows[*n] == flow && points[*n] == point && is_data(n)).count() as f64
}

fn workloads() -> impl Strategy<Value = Value> {
    let of = |value: u64| json!({ "kind": "constant", "value": value });
    let asking = (100u64..5_000, 1u64..100_000, 1u64..100).prop_map(move |(request, response, think)| {
        json!({ "kind": "request_response", "request": of(request), "response": of(response), "think": of(think * MS) })
    });
    let web = (1u64..8, 1u32..4, 1_000u64..80_000).prop_map(move |(objects, connections, size)| {
        json!({
            "kind": "web", "think": of(50 * MS), "objects": of(objects), "sizes": of(size), "connections": connections,
            "request_bytes": 3_000,
        })
    });
    let poisson = (20u64..200, 1u64..100_000).prop_map(
        move |(interval, size)| json!({ "kind": "poisson", "interval_ns": interval * MS, "sizes": of(size) }),
    );
    prop_oneof![asking, web, poisson]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Dropped handshakes, ACKs, FINs and requests do not count as drops of the flow.
    #[test]
    fn of_connections_that_open_and_close_payload_of_their_sender_is_counted(
        workloads in [workloads(), workloads()], queue in queue(), loss in 0.0f64..0.1, seed in 0u64..1_000,
    ) {
        let mut links =
            vec![link("there", Some(4_000_000), 10 * MS, None), link("back", Some(4_000_000), 10 * MS, Some(10))];
        links[0]["queue"] = queue;
        links.iter_mut().for_each(|link| link["loss"] = bernoulli(loss));
        let names = ["one", "two"];
        let flows = names.iter().zip(workloads).map(|(name, workload)| {
            let mut flow = flow(name, "cubic", &[0], &[1]);
            flow["workload"] = workload;
            flow["stop_ns"] = json!(2_000 * MS);
            flow
        });
        let mut plan = plan(60_000, links, flows.collect()); // no packet is in flight at the end
        plan["record"]["packets"] = json!(["sender", "there"]);
        let results = run(&plan, seed);
        // A packet that is dropped in the queue or on the wire is not captured after the link.
        let missing = names.map(|name| captured(&results, "sender", name) - captured(&results, "there", name));
        prop_assert_eq!(results.flows.numbers("dropped_packets"), missing);
        prop_assert!(missing.iter().sum::<f64>() <= first(&results.links_summary, "dropped_packets"));
    }
}

#[test]
fn what_a_link_drops_that_dies_is_counted_behind_the_last_arrival() {
    for cca in [Some("bbr3"), None] {
        let mut links =
            vec![link("there", Some(10_000_000), 20 * MS, Some(66)), link("back", None, 20 * MS, None)];
        links[0]["changes"] = json!([{ "at_ns": 2_000 * MS, "loss": bernoulli(1.0) }]);
        let mut only = match cca {
            Some(cca) => flow("only", cca, &[0], &[1]),
            None => datagrams("only", 10, false, &[0], &[1]),
        };
        only["stop_ns"] = json!(9_000 * MS);
        let results = run(&plan(10_000, links, vec![only]), 1);
        let dropped = first(&results.flows, "dropped_packets");
        assert!(dropped > 20.0, "{cca:?}: {dropped}");
        assert_eq!(dropped, first(&results.links_summary, "dropped_packets"), "{cca:?}");
    }
}

#[test]
fn what_is_late_or_still_on_its_way_is_not_dropped() {
    let mut links = vec![link("there", Some(10_000_000), 20 * MS, None), link("back", None, 20 * MS, None)];
    links[0]["impairments"] = json!([{ "kind": "reordering", "every": 10, "extra_ns": 80 * MS }]);
    let mut made = plan(3_000, links, vec![flow("only", "reno", &[0], &[1])]);
    made["warmup_ns"] = json!(1_000 * MS);
    let results = run(&made, 1);
    assert!(first(&results.flows, "lost_packets") > 0.0);
    assert_eq!(first(&results.flows, "dropped_packets"), 0.0);
}
