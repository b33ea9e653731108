//! Links that change, follow a trace, duplicate, replay losses and filter ACKs, with TCP.

use crate::common::{first, run, single};
use serde_json::{Value, json};
use simulation::{Plan, Simulation};

/// A single flow with changed settings of its forward (0) or reverse (1) link.
fn with(link: usize, changes: &[(&str, Value)], duration_ms: u64) -> Value {
    let mut plan = single("cubic", duration_ms);
    for (key, value) in changes {
        plan["links"][link][*key] = value.clone();
    }
    plan
}

fn refusal(link: usize, changes: &[(&str, Value)]) -> String {
    Plan::from_json(&with(link, changes, 1_000).to_string()).expect_err("a mistake").to_string()
}

fn moments(times: &[u64], repeat: bool) -> Value {
    json!({ "times": times, "unit_ns": 1_000_000, "bytes": 1514, "repeat": repeat, "offset_ns": 0 })
}

fn traced(times: &[u64], repeat: bool) -> Vec<(&'static str, Value)> {
    vec![("rate_bps", Value::Null), ("opportunities", moments(times, repeat))]
}

fn goodput_mbps(plan: &Value) -> f64 {
    first(&run(plan, 1).flows, "goodput_bps") / 1e6
}

#[test]
fn a_trace_is_the_rate_of_its_link() {
    let plan = with(0, &traced(&[1, 1, 2], true), 20_000); // 3 x 1514 bytes in 2 ms: 18.17 Mbit/s
    let found = goodput_mbps(&plan);
    assert!((16.4..17.4).contains(&found), "{found}"); // payload takes 17.376 of the 18.17 Mbit/s
    let results = run(&plan, 1);
    assert!(first(&results.links_summary, "utilisation") > 0.94);
}

#[test]
fn what_cannot_be_sent_for_ever_is_refused() {
    assert!(refusal(0, &traced(&[], true)).contains("no length"));
    assert!(refusal(0, &traced(&[0, 0], true)).contains("no length"));
    assert!(refusal(0, &traced(&[5, 3], true)).contains("links[0].opportunities.times[1]: earlier"));
    assert!(refusal(0, &traced(&[900], false)).contains("the last opportunity is before the end of the run"));
    assert!(
        refusal(0, &[("opportunities", moments(&[1], true))]).contains("leave out opportunities or rate_bps")
    );
    let outage = json!([{ "at_ns": 5, "rate_bps": 0 }]);
    assert!(
        refusal(0, &[("changes", outage)])
            .starts_with("links[0].changes[0].rate_bps: the link never sends again")
    );
}

#[test]
fn a_limit_of_another_kind_and_a_walk_to_nowhere_are_refused() {
    let red = json!({ "kind": "red" });
    let change = json!([{ "at_ns": 5, "limit": { "packets": 5, "bytes": null } }]);
    assert!(refusal(0, &[("queue", red), ("changes", change)]).contains("red has no limit of that kind"));
    let walk =
        |states: Value| json!({ "from_ns": 0, "mean_ns": 1e9 as u64, "neighbours": true, "states": states });
    assert!(refusal(0, &[("markov_channel", walk(json!([{ "at_ns": 0 }])))]).contains("at least two states"));
    let still = json!([{ "at_ns": 0, "rate_bps": 0 }, { "at_ns": 0, "rate_bps": 0 }]);
    assert!(refusal(0, &[("markov_channel", walk(still))]).contains("the link never sends"));
    let lost = json!({ "kind": "replay", "packets": [3, 3], "period": null });
    assert!(refusal(0, &[("loss", lost)]).contains("loss.packets[1]: not above the index before"));
}

#[test]
fn mistakes_of_impairments_have_their_place_and_name() {
    let refused = |impairments: Value| refusal(0, &[("impairments", impairments)]);
    let jitter = json!({ "kind": "jitter", "spread_ns": 1 });
    assert!(refused(json!([jitter, jitter])).contains("links[0].impairments[1]: jitter is given twice"));
    let wrong = refused(json!([jitter, { "kind": "aggregation", "slot_ns": 0 }]));
    assert!(wrong.contains("links[0].impairments[1].slot_ns: 0 is out of range"), "{wrong}");
    let missing = refused(json!([{ "kind": "reordering", "every": 5 }]));
    assert!(missing.contains("links[0].impairments[0].extra_ns: missing"), "{missing}");
    assert!(refused(json!([{ "kind": "hail" }])).contains("links[0].impairments[0]: unknown impairment"));
}

#[test]
fn a_flow_outlives_an_outage() {
    let changes = json!([{ "at_ns": 2_000_000_000u64, "rate_bps": 0 }, { "at_ns": 4_000_000_000u64, "rate_bps": 10_000_000 }]);
    let found = goodput_mbps(&with(0, &[("changes", changes)], 12_000));
    assert!((6.5..8.1).contains(&found), "{found}"); // the link sends at most 9.56 Mbit/s for 10 of 12 seconds
}

#[test]
fn copies_of_data_and_of_acks_do_no_harm() {
    for link in [0, 1] {
        let plan =
            with(link, &[("impairments", json!([{ "kind": "duplicate", "probability": 0.05 }]))], 10_000);
        let (found, without) = (run(&plan, 1), goodput_mbps(&single("cubic", 10_000)));
        assert!(first(&found.flows, "goodput_bps") / 1e6 > 0.97 * without);
    }
}

#[test]
fn exactly_the_packets_of_a_recording_are_lost() {
    let lost = json!({ "kind": "replay", "packets": [100, 101, 300], "period": null });
    let mut plan = with(0, &[("loss", lost)], 3_000);
    plan["links"][0]["queue"]["packets"] = Value::Null;
    let found = run(&plan, 1);
    assert_eq!(first(&found.links_summary, "dropped_packets"), 3.0);
    assert_eq!(first(&found.flows, "retransmitted_packets"), 3.0);
}

#[test]
fn a_thinned_link_passes_one_plain_ack_in_four() {
    let acks = |impairments: Value| {
        run(&with(1, &[("impairments", impairments)], 10_000), 1).links_summary.numbers("forwarded_packets")
            [1]
    };
    let (all, some) = (acks(json!([])), acks(json!([{ "kind": "ack_filter", "every": 4 }])));
    assert!((0.2..0.4).contains(&(some / all)), "{some} of {all}");
}

fn walk(seed: u64) -> Vec<f64> {
    let states = json!([{ "at_ns": 0, "rate_bps": 2_000_000 }, { "at_ns": 0, "rate_bps": 8_000_000 }]);
    let channel = json!({ "from_ns": 0, "mean_ns": 1_000_000_000, "neighbours": false, "states": states });
    let mut plan = with(0, &[("markov_channel", channel)], 20_000);
    plan["record"]["interval_ns"] = json!(500_000_000);
    run(&plan, seed).series.numbers("goodput_bps").to_vec()
}

#[test]
fn a_walk_is_drawn_from_the_seed() {
    assert_eq!(walk(1), walk(1));
    assert_ne!(walk(1), walk(2));
    let fast = walk(1).iter().filter(|&&bps| bps > 5e6).count();
    assert!((5..35).contains(&fast), "{fast} of 40");
}

#[test]
fn changes_are_the_same_ahead_of_the_clock() {
    let changes = json!([
        { "at_ns": 500_000_000, "rate_bps": 3_000_001 },
        { "at_ns": 1_000_000_000, "limit": { "packets": 10, "bytes": null } },
        { "at_ns": 1_500_000_000, "rate_bps": 0 },
        { "at_ns": 1_700_000_000, "rate_bps": 20_000_000, "limit": { "packets": 100, "bytes": null } },
    ]);
    let plan = with(0, &[("changes", changes)], 4_000);
    let plan = || Plan::from_json(&plan.to_string()).unwrap();
    let (cut_through, one_by_one) =
        (Simulation::new(plan(), 1).unwrap().finish(), crate::common::one_link_at_a_time(plan(), 1).finish());
    for column in ["sent_packets", "delivered_bytes", "lost_packets"] {
        assert_eq!(cut_through.flows.numbers(column), one_by_one.flows.numbers(column), "{column}");
    }
    assert_eq!(
        cut_through.links_summary.numbers("dropped_packets"),
        one_by_one.links_summary.numbers("dropped_packets")
    );
}
