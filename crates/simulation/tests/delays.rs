//! Delays of payload, compared with captures at both ends.

use crate::common::{first, flow, link, plan, run, single};
use proptest::prelude::*;
use serde_json::{Value, json};
use simulation::{Column, Results, Table};
use std::collections::BTreeMap;

/// A captured data packet.
#[derive(Clone, Copy, Debug)]
struct Packet {
    time_ns: u64,
    seq: u64,
    len: u64,
    clock_ms: u64,
}

/// Data packets of the only flow at a point, in order.
fn captured(packets: &Table, point: &str) -> Vec<Packet> {
    let text = |name: &str| match packets.column(name) {
        Some(Column::Label { codes, names }) => codes
            .iter()
            .map(|&code| names.get(code as usize).cloned().unwrap_or_default())
            .collect::<Vec<_>>(),
        other => panic!("{name}: {other:?}"),
    };
    let number = |name: &str| packets.numbers(name);
    let (points, kinds) = (text("point"), text("kind"));
    let [time, seq, len, clock] = ["time_ns", "seq", "len", "ts_val"].map(number);
    let rows = (0..points.len()).filter(|&n| points[n] == point && kinds[n] == "data" && len[n] > 0.0);
    rows.map(|n| Packet {
        time_ns: time[n] as u64,
        seq: seq[n] as u64,
        len: len[n] as u64,
        clock_ms: clock[n] as u64,
    })
    .collect()
}

/// Delays computed from captures at both ends of a path without reordering.
#[derive(Debug, Default)]
struct Said {
    one_way_s: Vec<f64>,
    in_order_s: Vec<f64>,
}

impl Said {
    fn new(results: &Results) -> Said {
        let mut said = Said::default();
        let sent = captured(&results.packets, "sender");
        let mut first_ns: BTreeMap<u64, u64> = BTreeMap::new();
        sent.iter().for_each(|packet| {
            first_ns.entry(packet.seq).or_insert(packet.time_ns);
        });
        let (mut next_sent, mut expected) = (0, 0);
        let mut waiting: BTreeMap<u64, u64> = BTreeMap::new();
        for packet in captured(&results.packets, "receiver") {
            let same = |other: &Packet| (other.seq, other.clock_ms) == (packet.seq, packet.clock_ms);
            let skipped = sent[next_sent..].iter().position(same).expect("it was sent");
            next_sent += skipped + 1;
            said.one_way_s.push((packet.time_ns - sent[next_sent - 1].time_ns) as f64 / 1e9);
            waiting.insert(packet.seq, packet.len);
            while let Some(len) = waiting.remove(&expected) {
                said.in_order_s.push((packet.time_ns - first_ns[&expected]) as f64 / 1e9);
                expected += len;
            }
            waiting = waiting.split_off(&expected);
        }
        said
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn p95(mut values: Vec<f64>) -> f64 {
        values.sort_by(f64::total_cmp);
        values[((0.95 * values.len() as f64).ceil() as usize).max(1) - 1]
    }
}

/// One flow over a link that drops packets in its queue, drops packets at random, and drops all packets for some time.
fn plans() -> impl Strategy<Value = Value> {
    let cca = prop_oneof![Just("reno"), Just("cubic"), Just("bbr3")];
    let loss = prop_oneof![Just(0.0), Just(0.002), Just(0.05), Just(0.3)];
    let path = (2_000_000u64..30_000_000, 2_000_000u64..40_000_000, 8u64..200, loss, any::<bool>());
    let more = (any::<bool>(), any::<bool>());
    (cca, path, more).prop_map(|(cca, (rate, delay, packets, loss, dies), (codel, sized))| {
        let mut links =
            vec![link("there", Some(rate), delay, Some(packets)), link("back", None, delay, None)];
        links[0]["loss"] = json!({ "kind": "bernoulli", "probability": loss });
        if dies {
            let loss = |probability: f64| json!({ "kind": "bernoulli", "probability": probability });
            links[0]["changes"] = json!([
                { "at_ns": 1_000_000_000, "loss": loss(1.0) }, { "at_ns": 1_300_000_000, "loss": loss(0.0) },
            ]);
        }
        if codel {
            links[0]["queue"] = json!({ "kind": "codel", "limit": packets });
        }
        let mut only = flow("only", cca, &[0], &[1]);
        only["bytes"] = if sized { json!(400_000) } else { json!(null) };
        let mut plan = plan(4_000, links, vec![only]);
        plan["record"]["packets"] = json!(["sender", "receiver"]);
        plan["record"]["in_order"] = json!(true);
        plan
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Comparisons have tolerances: captured times are in microseconds, and percentiles are rounded to buckets.
    #[test]
    fn they_are_those_of_a_capture_at_both_ends(plan in plans(), seed in 0u64..100) {
        let results = run(&plan, seed);
        let said = Said::new(&results);
        prop_assume!(!said.in_order_s.is_empty());
        let column = |name: &str| first(&results.flows, name);
        prop_assert!((column("owd_mean_s") - Said::mean(&said.one_way_s)).abs() <= 1e-6);
        let least = said.one_way_s.iter().copied().fold(f64::INFINITY, f64::min);
        prop_assert!((column("owd_min_s") - least).abs() <= 1e-6);
        let late = column("in_order_mean_s") - Said::mean(&said.in_order_s);
        prop_assert!(late.abs() <= 1e-6, "{late}");
        let (told, p95) = (column("in_order_p95_s"), Said::p95(said.in_order_s));
        prop_assert!((told - p95).abs() <= 0.01 * p95, "{told} {p95}");
    }
}

#[test]
fn payload_that_is_never_late_is_in_order_when_it_arrives() {
    let mut plan = single("cubic", 2_000);
    plan["flows"][0]["bytes"] = json!(20_000);
    plan["record"]["in_order"] = json!(true);
    let results = run(&plan, 1);
    let column = |name: &str| first(&results.flows, name);
    // Ten packets of 1,514 bytes are sent back to back over 10 Mbit/s and 20 ms. Four more packets follow a round trip
    // later.
    let (delay_s, packet_s) = (0.02, 1514.0 * 8.0 / 10e6);
    assert!((column("owd_min_s") - delay_s - packet_s).abs() < 1e-6);
    assert_eq!(column("in_order_mean_s"), column("owd_mean_s"));
    assert_eq!(column("in_order_p95_s"), column("owd_p95_s"));
    assert_eq!((column("dropped_packets"), column("lost_packets")), (0.0, 0.0));
    assert!(column("jitter_s").is_nan());
}

#[test]
fn with_gro_payload_is_in_order_when_its_batch_is_handed_up() {
    let mut plan = single("cubic", 4_000);
    plan["record"]["in_order"] = json!(true);
    plan["flows"][0]["tcp"]["gro"] = json!(500_000);
    plan["flows"][0]["tcp"]["receive_buffer"] = json!(60_000); // nothing is dropped
    let results = run(&plan, 1);
    let column = |name: &str| first(&results.flows, name);
    let held = column("in_order_mean_s") - column("owd_mean_s");
    assert!(held > 100e-6 && held <= 500e-6, "{held}");
}

#[test]
fn a_needless_retransmission_is_marked_lost_and_not_dropped() {
    // The delay of the path rises above the retransmission timeout.
    let mut plan = single("reno", 6_000);
    plan["links"][0]["changes"] = json!([
        { "at_ns": 2_000_000_000u64, "delay_ns": 900_000_000 }, { "at_ns": 4_000_000_000u64, "delay_ns": 20_000_000 },
    ]);
    plan["flows"][0]["bytes"] = json!(5_000_000);
    plan["flows"][0]["tcp"]["receive_buffer"] = json!(60_000);
    let results = run(&plan, 1);
    let column = |name: &str| first(&results.flows, name);
    assert!(column("lost_packets") > 0.0 && column("retransmitted_packets") > 0.0);
    assert_eq!(column("dropped_packets"), 0.0);
}

#[test]
fn what_is_not_asked_for_is_not_measured() {
    let results = run(&single("cubic", 1_000), 1);
    assert!(first(&results.flows, "in_order_mean_s").is_nan() && first(&results.flows, "owd_mean_s") > 0.0);
}
