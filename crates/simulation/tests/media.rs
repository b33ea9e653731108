//! Media with TCP: turns, counters, captures, changes of routes, and checks of plans.

use crate::common::{first, flow, link, plan, run};
use serde_json::{Value, json};
use simulation::{Plan, Simulation};

const RATE: f64 = 10e6;
const TURN: f64 = 10.0 * 1514.0;
const OVERHEAD: f64 = 500e-6;

/// A shared channel of 10 Mbit/s and 5 ms with `ports` ports. A turn carries ten full packets and has an overhead of
/// half a millisecond.
fn medium(name: &str, ports: usize, packets: u64) -> Value {
    let port = |n: usize| {
        let name = format!("{name}/{n}");
        json!({ "name": name, "stream": name, "queue": { "kind": "drop_tail", "packets": packets, "bytes": null } })
    };
    json!({
        "name": name, "stream": name, "kind": "shared",
        "params": {
            "rate_bps": RATE as u64, "delay_ns": 5_000_000, "grant_delay_ns": 4_000_000, "turn_bytes": 15_200,
            "overhead_ns": 500_000,
        },
        "ports": (0..ports).map(port).collect::<Vec<_>>(),
    })
}

/// Flows that share an uplink. The data of each flow crosses a port of its own and a common link. All ACKs cross
/// another link.
fn uplink(flows: usize, packets: u64, duration_ms: u64) -> Value {
    let links =
        vec![link("core", Some(1_000_000_000), 5_000_000, None), link("down", None, 10_000_000, None)];
    let flow = |n: usize| flow(&format!("flow {n}"), "cubic", &[2 + n as u32, 0], &[1]);
    let mut plan = plan(duration_ms, links, (0..flows).map(flow).collect());
    plan["media"] = json!([medium("up", flows, packets)]);
    plan
}

fn refusal(plan: &Value) -> String {
    Plan::from_json(&plan.to_string()).expect_err("a mistake").to_string()
}

#[test]
fn stations_with_something_to_send_share_the_channel_as_the_closed_form_says() {
    for flows in [1, 2, 8] {
        let mut plan = uplink(flows, 300, 25_000);
        plan["warmup_ns"] = json!(5_000_000_000u64);
        let results = run(&plan, 1);
        let expected = 8.0 * TURN / (flows as f64 * (8.0 * TURN / RATE + OVERHEAD));
        for bytes in &results.links_summary.numbers("forwarded_bytes")[2..] {
            let found = 8.0 * bytes / 20.0;
            assert!((found / expected - 1.0).abs() < 0.005, "{flows} flows: {found} of {expected} bit/s");
        }
        let used: f64 = results.links_summary.numbers("utilisation")[2..].iter().sum();
        let share = 8.0 * TURN / RATE / (8.0 * TURN / RATE + OVERHEAD); // the remaining time is overhead of turns
        assert!((used / share - 1.0).abs() < 0.005, "{flows} flows: {used} of {share}");
    }
}

#[test]
fn all_that_a_sender_sends_leaves_its_port_or_is_dropped_there() {
    let mut plan = uplink(4, 30, 60_000);
    for flow in plan["flows"].as_array_mut().unwrap() {
        flow["bytes"] = json!(2_000_000);
    }
    let results = run(&plan, 1);
    assert!(results.flows.numbers("fct_s").iter().all(|fct| fct.is_finite()));
    let column = |name: &str| results.links_summary.numbers(name);
    let (forwarded, dropped) = (column("forwarded_packets"), column("dropped_packets"));
    let sent = results.flows.numbers("sent_packets");
    for (port, sent) in (2..).zip(sent) {
        assert_eq!(forwarded[port] + dropped[port], sent + 2.0); // SYN, and the ACK that ends the handshake
        assert!(dropped[port] > 0.0);
    }
    assert_eq!(forwarded[0], forwarded[2..].iter().sum::<f64>());
}

#[test]
fn stepping_and_cut_through_change_nothing() {
    let mut plan = uplink(3, 40, 5_000);
    plan["flows"][1]["start_jitter_ns"] = json!(100_000_000);
    plan["record"]["interval_ns"] = json!(10_000_000);
    let parsed = || Plan::from_json(&plan.to_string()).unwrap();
    let whole = Simulation::new(parsed(), 7).unwrap().finish();
    let single = crate::common::one_link_at_a_time(parsed(), 7).finish();
    let mut stepped = Simulation::new(parsed(), 7).unwrap();
    (1..500).for_each(|n| {
        stepped.advance(units::Time::from_nanos(n * 9_999_999));
    });
    for other in [single, stepped.finish()] {
        for (one, other) in
            [(&whole.flows, &other.flows), (&whole.links, &other.links), (&whole.series, &other.series)]
        {
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
        }
    }
}

#[test]
fn ports_have_rows_and_can_be_captured() {
    let mut plan = uplink(2, 100, 2_000);
    plan["record"] =
        json!({ "interval_ns": 100_000_000, "variables": false, "packets": ["up/1", "receiver"] });
    let results = run(&plan, 1);
    assert_eq!(results.links.numbers("utilisation").len(), 20 * 4);
    assert_eq!(results.links_summary.numbers("utilisation").len(), 4);
    let captured = results.packets.numbers("size").len();
    assert!(captured > 1_000, "{captured}");
}

#[test]
fn a_station_that_changes_its_medium_takes_its_flow_along() {
    let mut plan = uplink(1, 100, 20_000);
    plan["media"] = json!([medium("one", 1, 100), medium("other", 2, 100)]);
    plan["flows"][0]["reroutes"] =
        json!([{ "at_ns": 10_000_000_000u64, "forward": [4, 0], "reverse": null }]);
    let results = run(&plan, 1);
    let forwarded = results.links_summary.numbers("forwarded_packets");
    assert_eq!(forwarded[3], 0.0); // the first port of the second medium
    assert!(forwarded[2] > 5_000.0 && forwarded[4] > 5_000.0, "{forwarded:?}");
    // Packets in flight on the first medium have arrived.
    let goodput = first(&results.flows, "goodput_bps");
    assert!(goodput > 0.85 * 8.0 * TURN / (8.0 * TURN / RATE + OVERHEAD), "{goodput}");
}

#[test]
fn the_least_time_of_a_transfer_counts_the_delay_and_the_rate_of_the_medium() {
    let mut plan = uplink(1, 1_000, 10_000);
    plan["flows"][0]["bytes"] = json!(144_800);
    let results = run(&plan, 1);
    let (ideal, taken) = (first(&results.transfers, "ideal_s"), first(&results.transfers, "fct_s"));
    let least = 100.0 * 1514.0 * 8.0 / RATE;
    // One round trip opens the connection. A second round trip carries the data and the last ACK.
    assert!((ideal - least - 2.0 * 20e-3).abs() < 1e-9, "{ideal}");
    assert!(ideal < taken, "{ideal} of {taken}");
}

#[test]
fn mistakes_are_named_with_their_place() {
    let with = |pointer: &str, value: Value| {
        let mut plan = uplink(2, 100, 1_000);
        *plan.pointer_mut(pointer).unwrap() = value;
        refusal(&plan)
    };
    let said = with("/media/0/params/rate_bps", json!(0));
    assert!(said.starts_with("media[0].params.rate_bps: 0 is out of range"), "{said}");
    let said = with("/media/0/kind", json!("token_ring"));
    assert!(
        said.starts_with("media[0].kind: unknown medium \"token_ring\"; there is shared, wifi, lte, nr"),
        "{said}"
    );
    let said = with("/media/0/ports/1/queue/kind", json!("green"));
    assert!(said.starts_with("media[0].ports[1].queue: unknown queue \"green\""), "{said}");
    let said = with("/media/0/ports/1/name", json!("core"));
    assert!(said.starts_with("media[0].ports[1].name: \"core\" is used twice"), "{said}");
    let said = with("/media/0/ports/1/stream", json!("up/0"));
    assert!(said.starts_with("media[0].ports[1].stream: \"up/0\" is used twice"), "{said}");
    let said = with("/media/0/ports", json!([]));
    assert!(said.starts_with("media[0].ports: 0 is out of range"), "{said}");
    let said = with("/flows/0/forward", json!([4, 0]));
    assert!(said.starts_with("flows[0].forward[0]: there is no link or port 4; the last one is 3"), "{said}");
}

#[test]
fn a_round_trip_over_media_has_to_take_time() {
    let mut plan = uplink(1, 100, 1_000);
    plan["links"][0]["delay_ns"] = json!(0);
    plan["links"][1]["delay_ns"] = json!(0);
    assert_eq!(Plan::from_json(&plan.to_string()).err(), None);
    plan["media"][0]["params"]["delay_ns"] = json!(0);
    assert!(refusal(&plan).starts_with("flows[0].forward: a round trip takes no time"));
}
