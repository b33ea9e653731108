//! Network interfaces of hosts. The flows of a host share its interface, and TCP small queues limit each sender in
//! the queue of the interface.

use crate::common::{first, flow, link, plan, run};
use serde_json::{Value, json};
use simulation::{Plan, Results};

/// Bytes of a full packet on the wire: 1448 bytes of payload and 66 bytes of headers.
const WIRE: f64 = 1514.0;

/// Bulk flows of one host with an interface of 10 Mbit/s and a base RTT of 40 ms.
fn laptop(queue: Value, ccas: &[&str]) -> Value {
    let mut nic = link("nic", Some(10_000_000), 0, None);
    nic["nic"] = json!(true);
    nic["queue"] = queue;
    let links = vec![nic, link("there", None, 20_000_000, None), link("back", None, 20_000_000, None)];
    let flows = ccas.iter().enumerate().map(|(n, cca)| flow(&n.to_string(), cca, &[0, 1], &[2]));
    let mut made = plan(20_000, links, flows.collect());
    made["warmup_ns"] = json!(5_000_000_000u64);
    made
}

/// The flows of [`laptop`] without a network interface. The first link belongs to the network instead of the host.
fn path(queue: Value, ccas: &[&str]) -> Value {
    let mut made = laptop(queue, ccas);
    made["links"][0]["nic"] = json!(false);
    made
}

fn queues() -> [Value; 3] {
    ["drop_tail", "fq", "fq_codel"].map(|kind| json!({ "kind": kind }))
}

/// Largest queue of the first link in packets, and number of drops.
fn waited_and_dropped(results: &Results) -> (f64, f64) {
    let summary = &results.links_summary;
    (first(summary, "backlog_max_packets"), first(summary, "dropped_packets"))
}

#[test]
fn two_flows_of_a_host_share_its_interface_equally_and_fill_it() {
    for queue in queues() {
        let results = run(&laptop(queue.clone(), &["cubic", "cubic"]), 1);
        let goodputs = results.flows.numbers("goodput_bps");
        let half = 5e6 * 1448.0 / WIRE;
        assert!(goodputs.iter().all(|found| (found / half - 1.0).abs() < 0.02), "{queue}: {goodputs:?}");
    }
}

#[test]
fn a_sender_has_two_bursts_and_what_it_may_add_to_less_than_that_in_its_host() {
    // In slow start the window is at most twice the packets in flight, and pacing doubles the rate again. The bound
    // therefore assumes four times the link rate. A burst is a millisecond at that rate, and at least two packets. The
    // limit of a sender is two bursts, and a sender one packet below the limit may add a burst. One packet is in
    // transmission.
    let pace = 4.0 * 10e6 / 8.0 * 1448.0 / WIRE;
    let burst = (pace / 1024.0 / 1448.0).floor().max(2.0);
    for queue in queues() {
        for ccas in [&["reno"][..], &["cubic", "cubic"]] {
            let (waited, dropped) = waited_and_dropped(&run(&laptop(queue.clone(), ccas), 1));
            let most = (3.0 * burst - 1.0) * ccas.len() as f64 - 1.0;
            assert!(waited <= most, "{queue}: {waited} of {most}");
            // Eight packets take 10 ms, which exceeds the target of CoDel.
            assert!(dropped == 0.0 || queue["kind"] == "fq_codel", "{queue}: {dropped} dropped");
        }
    }
}

#[test]
fn the_same_link_in_the_network_is_filled_by_the_window() {
    let (waited, _) = waited_and_dropped(&run(&path(json!({ "kind": "drop_tail" }), &["reno"]), 1));
    assert!(waited > 100.0, "{waited}");
}

#[test]
fn a_sender_goes_on_after_its_host_has_dropped_what_it_sent() {
    let queue = json!({ "kind": "drop_tail", "packets": 3 });
    let results = run(&laptop(queue, &["cubic", "reno"]), 1);
    assert!(waited_and_dropped(&results).1 > 10.0);
    let total: f64 = results.flows.numbers("goodput_bps").iter().sum();
    assert!(total > 0.5 * 10e6 * 1448.0 / WIRE, "{total}");
}

#[test]
fn an_interface_that_is_never_busy_changes_nothing() {
    let bottleneck = |nic: bool| {
        let mut made = laptop(json!({ "kind": "drop_tail" }), &["cubic"]);
        made["links"][0]["nic"] = json!(nic);
        made["links"][0]["rate_bps"] = json!(null);
        made["links"][1] = link("there", Some(10_000_000), 20_000_000, Some(50));
        run(&made, 1)
    };
    let (with, without) = (bottleneck(true), bottleneck(false));
    assert_eq!(
        first(&with.links_summary, "forwarded_packets"),
        first(&without.links_summary, "forwarded_packets")
    );
    assert_eq!(with.flows.numbers("rtt_mean_s"), without.flows.numbers("rtt_mean_s"));
}

#[test]
fn acknowledgements_pass_the_interface_of_the_receiving_host() {
    let mut made = laptop(json!({ "kind": "fq_codel" }), &["cubic"]);
    made["links"][2] = made["links"][0].clone();
    made["links"][2]["name"] = json!("other");
    made["links"][2]["stream"] = json!("other");
    made["flows"][0]["reverse"] = json!([2]);
    let done = run(&made, 1);
    let most = 1448.0 / WIRE * 10e6;
    assert!((first(&done.flows, "goodput_bps") / most - 1.0).abs() < 0.02);
    let acknowledged = done.links_summary.numbers("forwarded_packets")[2];
    assert!(acknowledged * 2.0 > first(&done.links_summary, "forwarded_packets") * 0.9);
}

fn refusal(change: impl Fn(&mut Value)) -> String {
    let mut made = laptop(json!({ "kind": "fq" }), &["cubic"]);
    change(&mut made);
    Plan::from_json(&made.to_string()).expect_err("a mistake").to_string()
}

#[test]
fn an_interface_is_a_queue_and_a_rate_at_the_head_of_its_routes() {
    let found = refusal(|made| made["links"][0]["delay_ns"] = json!(1));
    assert_eq!(
        found,
        "links[0]: a network interface has only a rate and a queue; move all other settings to the link behind it"
    );
    let found = refusal(|made| made["flows"][0]["forward"] = json!([1, 0]));
    assert_eq!(found, "flows[0].forward: a network interface must be the first link of a route");
    let change = json!([{ "at_ns": 5, "forward": [1], "reverse": null }]);
    let found = refusal(|made| {
        made["links"][1]["rate_bps"] = json!(10_000_000);
        made["flows"][0]["reroutes"] = change.clone();
    });
    assert_eq!(
        found,
        "flows[0].reroutes[0].forward: all routes must begin at the same network interface, or at none"
    );
}
