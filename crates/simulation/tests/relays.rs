//! Relays: hosts that receive data on one TCP connection, buffer them in a finite buffer, and send them on over a
//! second connection.

use crate::common::{flow, link, plan, run};
use serde_json::{Value, json};
use simulation::Results;

const BUFFER: u64 = 100_000;

/// A fast first connection over 1 Gbit/s and 0.3 ms, and a second connection at `rate_bps` over 40 ms, with `bytes`
/// bytes to send.
fn split(rate_bps: u64, bytes: Option<u64>) -> Value {
    let links = vec![
        link("in", Some(1_000_000_000), 150_000, Some(1_000)),
        link("in-back", Some(1_000_000_000), 150_000, Some(1_000)),
        link("out", Some(rate_bps), 20_000_000, Some(100)),
        link("out-back", None, 20_000_000, None),
    ];
    let mut first = flow("first", "reno", &[0], &[1]);
    first["bytes"] = json!(bytes);
    let mut second = flow("second", "cubic", &[2], &[3]);
    second["relayed"] = json!({ "from": 0, "buffer_bytes": BUFFER });
    let mut plan = plan(20_000, links, vec![first, second]);
    plan["record"]["interval_ns"] = json!(10_000_000);
    plan
}

fn delivered(results: &Results) -> [f64; 2] {
    let found = results.flows.numbers("delivered_bytes");
    [found[0], found[1]]
}

#[test]
fn what_goes_in_comes_out_or_is_held() {
    let results = run(&split(10_000_000, None), 1);
    let rates = results.series.numbers("goodput_bps");
    let (mut came, mut left, mut most) = (0.0, 0.0, 0.0_f64);
    for pair in rates.chunks_exact(2) {
        came += pair[0] * 0.01 / 8.0;
        left += pair[1] * 0.01 / 8.0;
        assert!(came + 0.5 >= left, "no payload leaves before it has arrived");
        most = most.max(came - left);
    }
    // Payload that has arrived at the receiver but is not yet acknowledged also counts as held.
    assert!(most <= BUFFER as f64 + 0.5, "{most} bytes were held");
    assert!(most >= 0.8 * BUFFER as f64, "the slow side fills the buffer: {most} bytes");
    let [first, second] = delivered(&results);
    assert!(first - second <= BUFFER as f64 && second > 0.9 * 10e6 / 8.0 * 20.0 * 0.9);
}

#[test]
fn all_of_it_arrives() {
    let results = run(&split(10_000_000, Some(2_000_001)), 1);
    assert_eq!(delivered(&results), [2_000_001.0; 2]);
}

#[test]
fn the_first_connection_knows_nothing_of_the_far_side() {
    let results = run(&split(10_000_000, None), 1);
    let rtt = results.flows.numbers("rtt_mean_s");
    assert!(rtt[0] < 0.002 && rtt[1] > 0.04, "{rtt:?}");
    let limited = results.flows.numbers("limited_receiver");
    assert!(limited[0] > 0.8, "the receive window limits the first flow: {limited:?}");
}

#[test]
fn a_fast_second_connection_is_not_in_the_way() {
    let mut plan = split(1_000_000_000, None);
    plan["links"][0]["rate_bps"] = json!(5_000_000);
    plan["links"][0]["queue"]["packets"] = json!(10);
    let [first, second] = delivered(&run(&plan, 1));
    // Unacknowledged payload is 5 Mbit/s times the round trip of 40 ms. The buffer is nearly empty.
    let held = first - second - 5e6 / 8.0 * 0.04;
    assert!(first > 0.9 * 5e6 / 8.0 * 20.0 && held.abs() < 0.05 * BUFFER as f64, "{held} bytes are held");
}

#[test]
fn a_lost_window_update_is_asked_for_again() {
    let mut plan = split(2_000_000, None);
    plan["links"][1]["loss"] = json!({ "kind": "bernoulli", "probability": 0.3 });
    // With seed 2, the answers to five probes in a row are lost, and the flow stands still for 6.7 s.
    let shares: Vec<f64> =
        (1..=10).map(|seed| delivered(&run(&plan, seed))[1] / (2e6 / 8.0 * 20.0)).collect();
    assert!(shares.iter().sum::<f64>() / 10.0 > 0.8, "{shares:?}");
    assert!(shares.iter().filter(|&&share| share > 0.75).count() >= 9, "{shares:?}");
}

#[test]
fn equal_seeds_give_equal_runs() {
    let rates = |seed| run(&split(10_000_000, None), seed).series.numbers("goodput_bps");
    assert_eq!(rates(3), rates(3));
}

#[test]
fn a_chain_of_two_hosts_passes_everything_on() {
    let mut plan = split(10_000_000, Some(1_000_000));
    let mut third = flow("third", "cubic", &[4], &[5]);
    third["relayed"] = json!({ "from": 1, "buffer_bytes": BUFFER });
    let links = plan["links"].as_array_mut().unwrap();
    links.push(link("on", Some(5_000_000), 5_000_000, Some(50)));
    links.push(link("on-back", None, 5_000_000, None));
    plan["flows"].as_array_mut().unwrap().push(third);
    assert_eq!(run(&plan, 1).flows.numbers("delivered_bytes"), [1_000_000.0; 3]);
}

fn refused(change: impl FnOnce(&mut Value)) -> String {
    let mut plan = split(10_000_000, None);
    change(&mut plan);
    simulation::Plan::from_json(&plan.to_string()).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_passed_on_is_refused() {
    let told = refused(|plan| plan["flows"][1]["relayed"]["from"] = json!(1));
    assert!(told.contains("flows[1].relayed.from: flow 1 is not before this flow"), "{told}");
    let told = refused(|plan| plan["flows"][1]["relayed"]["buffer_bytes"] = json!(1));
    assert!(told.contains("flows[1].relayed.buffer_bytes"), "{told}");
    let told = refused(|plan| plan["flows"][1]["bytes"] = json!(1_000));
    assert!(told.contains("the flow sends the data of flow 0"), "{told}");
    let told = refused(|plan| {
        let mut twice = plan["flows"][1].clone();
        (twice["name"], twice["stream"]) = (json!("again"), json!("again"));
        plan["flows"].as_array_mut().unwrap().push(twice);
    });
    assert!(told.contains("flow 0 is already relayed"), "{told}");
    let told = refused(|plan| {
        let sizes = json!({ "kind": "constant", "value": 1000.0 });
        plan["flows"][0]["workload"] =
            json!({ "kind": "poisson", "interval_ns": 1_000_000_000, "sizes": sizes });
    });
    assert!(told.contains("no stream of bytes"), "{told}");
}
