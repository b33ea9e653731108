//! Lean packet records, which runs of many flows use, do not change results.

use crate::common::{flow, link, plan, run};
use proptest::prelude::*;
use serde_json::{Value, json};
use simulation::{Column, Results, Table};

/// Number of flows: one more than `MANY_FLOWS` of hosts/factory.rs, so that records are lean.
const MANY: usize = 2_001;
const DURATION_MS: u64 = 1_500;

/// Two flows that lose many packets: in the queue, at random in both directions, and in an outage.
fn plans() -> impl Strategy<Value = Value> {
    let cca = || prop_oneof![Just("reno"), Just("cubic"), Just("bbr1"), Just("bbr3"), Just("prague")];
    let loss = || prop_oneof![Just(0.0), 0.0f64..0.1, Just(0.3)];
    let path = (20_000_000u64..200_000_000, 5_000_000u64..40_000_000, 20u64..800, loss(), loss());
    let own = (any::<bool>(), any::<bool>(), any::<bool>(), 10_000u64..3_000_000);
    (cca(), cca(), path, 100u64..1_200, own).prop_map(|(one, other, path, at_ms, own)| {
        let (rate, delay, packets, lost, lost_back) = path;
        let (by_duplicates, spread, undo, bytes) = own;
        let mut links =
            vec![link("there", Some(rate), delay, Some(packets)), link("back", None, delay, None)];
        links[0]["loss"] = json!({ "kind": "bernoulli", "probability": lost });
        links[1]["loss"] = json!({ "kind": "bernoulli", "probability": lost_back });
        // The delay is longer than a timeout, so that some timeouts are spurious and undone.
        links[0]["changes"] = json!([
            { "at_ns": at_ms * 1_000_000, "delay_ns": delay + 400_000_000 },
            { "at_ns": (at_ms + 150) * 1_000_000, "delay_ns": delay },
        ]);
        let shape =
            json!([{ "kind": "jitter", "spread_ns": delay / 4, "shape": "uniform", "reorder": true }]);
        links[0]["impairments"] = if spread { shape } else { json!([]) };
        let mut flows = vec![flow("one", one, &[0], &[1]), flow("other", other, &[0], &[1])];
        flows[1]["bytes"] = json!(bytes); // the last packets of this flow may be lost
        for flow in &mut flows {
            flow["tcp"]["undo"] = json!(undo);
            flow["tcp"]["loss_detection"] = json!(if by_duplicates { "dupack" } else { "rack" });
        }
        let mut plan = plan(DURATION_MS, links, flows);
        plan["record"] =
            json!({ "interval_ns": 50_000_000, "variables": true, "packets": ["sender", "receiver"] });
        plan
    })
}

/// The two flows of a plan, together with many more flows. The additional flows start at the end of the run, on a link
/// of their own.
fn among_many(plan: &Value) -> Value {
    let mut plan = plan.clone();
    let links = plan["links"].as_array_mut().expect("links");
    let aside = links.len() as u32;
    links.push(link("aside", None, 1_000_000, None));
    let mut idle = flow("", "reno", &[aside], &[aside]);
    (idle["bytes"], idle["start_ns"]) = (json!(1), json!(DURATION_MS * 1_000_000 - 1));
    let flows = plan["flows"].as_array_mut().expect("flows");
    for number in flows.len()..MANY {
        (idle["name"], idle["stream"]) = (json!(format!("idle {number}")), json!(format!("idle {number}")));
        flows.push(idle.clone());
    }
    plan
}

/// Rows of every table about the two flows and the two links, as text. Two texts are equal if all bits are equal.
fn digest(results: Results) -> Vec<String> {
    results
        .tables()
        .into_iter()
        .flat_map(|(name, table)| {
            table
                .columns
                .iter()
                .map(|(column, values)| format!("{name} {column} {:?}", of_both(&table, values)))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The values of a column in the rows of the first two flows or links.
fn of_both(table: &Table, values: &Column) -> Vec<String> {
    let ours = ["flow", "link"].iter().find_map(|name| table.column(name));
    let is_ours = |row: usize| match ours {
        Some(Column::Label { codes, .. }) => codes[row] < 2,
        _ => true,
    };
    (0..values.len())
        .filter(|&row| is_ours(row))
        .map(|row| match values {
            Column::Float(numbers) => format!("{:?}", numbers[row]),
            Column::Int(numbers) => numbers[row].to_string(),
            Column::Label { codes, names } => names.get(codes[row] as usize).cloned().unwrap_or_default(),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn many_flows_that_wait_change_nothing(plan in plans(), seed in any::<u64>()) {
        let (few, many) = (run(&plan, seed), run(&among_many(&plan), seed));
        prop_assert!(few.data_packets > 20);
        for (one, other) in digest(few).into_iter().zip(digest(many)) {
            prop_assert!(one == other, "{:.60} differs", one);
        }
    }
}
