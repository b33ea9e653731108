//! CAKE with flows that respond to congestion.

use crate::common::{flow, link, plan, run};
use serde_json::{Value, json};

const RATE: u64 = 20_000_000;

/// Flows over a bottleneck with CAKE and an RTT of 40 ms. The first 5 of 30 s are the warm-up.
fn cake(params: Value, flows: Vec<Value>) -> Value {
    let mut bottleneck = link("there", None, 20_000_000, None);
    bottleneck["queue"] = params;
    bottleneck["queue"]["kind"] = json!("cake");
    bottleneck["queue"]["bandwidth_bps"] = json!(RATE);
    let mut plan = plan(30_000, vec![bottleneck, link("back", None, 20_000_000, None)], flows);
    plan["warmup_ns"] = json!(5_000_000_000u64);
    plan
}

fn flows(algorithms: &[&str]) -> Vec<Value> {
    let name = |n: usize, algorithm: &str| flow(&format!("{algorithm}-{n}"), algorithm, &[0], &[1]);
    algorithms.iter().enumerate().map(|(n, algorithm)| name(n, algorithm)).collect()
}

fn goodputs(plan: &Value) -> Vec<f64> {
    run(plan, 1).flows.numbers("goodput_bps").to_vec()
}

fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|x| x * x).sum::<f64>())
}

#[test]
fn flows_of_different_algorithms_share_equally() {
    let mixed = flows(&["reno", "cubic", "bbr1", "bbr3", "vegas"]);
    let shares = goodputs(&cake(json!({}), mixed));
    assert!(jain(&shares) >= 0.99, "{shares:?}");
}

#[test]
fn five_flows_wait_for_less_than_ten_milliseconds_and_use_the_link() {
    let plan = cake(json!({}), flows(&["cubic"; 5]));
    let results = run(&plan, 1);
    let wait = crate::common::first(&results.links_summary, "sojourn_mean_s");
    assert!(wait < 0.010, "{wait}");
    let sum: f64 = results.flows.numbers("goodput_bps").iter().sum();
    assert!(sum > 0.93 * RATE as f64 * 1448.0 / 1514.0, "{sum}");
}

#[test]
fn hosts_share_equally_however_many_flows_they_have() {
    let mut all = flows(&["cubic"; 5]);
    for (n, flow) in all.iter_mut().enumerate() {
        flow["hosts"] = json!([u32::from(n == 4), 10 + n]);
    }
    let shares = goodputs(&cake(json!({}), all));
    let hosts = [shares[..4].iter().sum(), shares[4]];
    assert!(jain(&hosts) >= 0.99, "{shares:?}");
}

#[test]
fn bulk_leaves_the_link_to_best_effort() {
    let mut all = flows(&["cubic"; 5]); // the last four flows fill their tin
    all[0]["dscp"] = json!(8);
    let shares = goodputs(&cake(json!({}), all));
    let share = shares[0] / shares.iter().sum::<f64>();
    assert!((share - 1.0 / 16.0).abs() < 0.02, "{shares:?}");
}

#[test]
fn the_ack_filter_thins_out_acknowledgements_on_a_narrow_way_back() {
    let forwarded = |choice: &str| {
        let mut plan = cake(json!({}), flows(&["cubic"]));
        plan["links"][1]["queue"] = json!({ "kind": "cake", "bandwidth_bps": 300_000, "ack_filter": choice });
        let results = run(&plan, 1);
        let goodput = crate::common::first(&results.flows, "goodput_bps");
        (goodput, results.links_summary.numbers("dropped_packets")[1])
    };
    let (without, with) = (forwarded("no-ack-filter"), forwarded("ack-filter"));
    assert!(with.1 > 1000.0, "{with:?}");
    assert!(with.0 > without.0, "{with:?} {without:?}");
}
