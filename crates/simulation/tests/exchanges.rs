//! Packets of connections that open, send requests and responses, and close.
//!
//! The expected exchanges were captured between two sockets of Linux 6.18: a client that sends requests and closes, and
//! a server that responds and closes immediately.

use crate::common::{first, flow, link, plan, run};
use serde_json::{Value, json};
use simulation::{Column, Results};

/// A path of 20 ms in each direction, with a workload until `stop_ms`. Packets are captured as they leave the links.
fn working(workload: Value, stop_ms: u64) -> Value {
    let links = vec![link("there", None, 20_000_000, None), link("back", None, 20_000_000, None)];
    let mut only = flow("only", "cubic", &[0], &[1]);
    only["workload"] = workload;
    only["stop_ns"] = json!(stop_ms * 1_000_000);
    let mut plan = plan(2_000, links, vec![only]);
    plan["record"]["packets"] = json!(["there", "back"]);
    plan
}

fn asking(think_ms: u64, stop_ms: u64) -> Results {
    let [request, response, think] =
        [100, 1_000, think_ms * 1_000_000].map(|value| json!({ "kind": "constant", "value": value }));
    run(
        &working(
            json!({ "kind": "request_response", "request": request, "response": response, "think": think }),
            stop_ms,
        ),
        1,
    )
}

/// Kind, payload and flags of every packet, in the order of arrival. `S` is a packet from the server, which sends the
/// data.
fn wire(results: &Results) -> Vec<String> {
    let text = |name: &str| match results.packets.column(name) {
        Some(Column::Label { codes, names }) => codes
            .iter()
            .map(|&code| names.get(code as usize).cloned().unwrap_or_default())
            .collect::<Vec<_>>(),
        other => panic!("{name}: {other:?}"),
    };
    let (points, kinds, flags, sizes) =
        (text("point"), text("kind"), text("flags"), results.packets.numbers("len"));
    let from = |point: &str| if point == "there" { "S" } else { "C" };
    let one =
        |n: usize| format!("{} {} {} {}", from(&points[n]), kinds[n], sizes[n], flags[n]).trim().to_owned();
    (0..points.len()).map(one).collect()
}

/// Packets that open a connection. Every write sets PSH (Linux `tcp_push`).
const OPENING: [&str; 7] = [
    "C syn 0",
    "S syn_ack 0",
    "C handshake_ack 0",
    "C data 100 psh",
    "S ack 0",
    "S data 1000 psh",
    "C ack 0",
];
const CLOSING: [&str; 3] = ["C data 0 fin", "S data 0 fin", "C ack 0"];

#[test]
fn a_client_that_thinks_acknowledges_answers_at_once_and_servers_acknowledge_requests_with_answers() {
    let exchange = ["C data 100 psh", "S data 1000 psh", "C ack 0"];
    let expected = [&OPENING[..], &exchange, &exchange, &CLOSING].concat();
    assert_eq!(wire(&asking(100, 400)), expected);
}

#[test]
fn a_client_that_asks_again_soon_acknowledges_an_answer_with_its_next_request() {
    let exchange = ["C data 100 psh", "S data 1000 psh"];
    // Two more requests follow, at 90 and 140 ms. The FIN acknowledges the last response.
    let expected = [&OPENING[..], &exchange, &exchange, &CLOSING].concat();
    assert_eq!(wire(&asking(10, 185)), expected);
}

#[test]
fn a_transfer_closes_its_connection_and_statistics_count_its_data_only() {
    let sizes = json!({ "kind": "constant", "value": 20_000 });
    let periodic =
        json!({ "kind": "periodic", "interval_ns": 10_000_000_000u64, "sizes": sizes, "keep": false });
    let results = run(&working(periodic, 1_000), 1);
    let wire = wire(&results);
    // The client sends the data: first 10 packets, and then 4 packets, of which the last has the FIN.
    assert_eq!(
        wire[..3],
        ["C syn 0", "S syn_ack 0", "C handshake_ack 0"].map(|sent| match &sent[..1] {
            "C" => sent.replace('C', "S"),
            _ => sent.replace('S', "C"),
        })
    );
    assert_eq!(wire[wire.len() - 2..], ["C data 0 fin", "S ack 0"]);
    assert_eq!(wire.iter().filter(|sent| sent.starts_with("S data")).count(), 14);
    assert_eq!(first(&results.flows, "sent_packets"), 14.0);
    assert_eq!(first(&results.flows, "delivered_bytes"), 20_000.0);
}

#[test]
fn a_flow_of_one_connection_that_lasts_as_long_as_it_sends_no_fin() {
    let mut plan = working(Value::Null, 1_000);
    plan["flows"][0]["bytes"] = json!(20_000);
    assert!(wire(&run(&plan, 1)).iter().all(|sent| !sent.contains("fin")));
}

#[test]
fn an_ack_that_is_due_leaves_before_a_packet_that_arrives_at_that_nanosecond() {
    // The sender sends one packet every 40 ms on a path of unlimited rate. The receiver waits for a second packet for
    // 40 ms or slightly longer.
    let acks_per_packet = |timeout_ns: u64| {
        let links = vec![link("there", None, 20_000_000, None), link("back", None, 20_000_000, None)];
        let mut only = flow("only", "cubic", &[0], &[1]);
        only["application"] = json!([{ "at_ns": 0, "rate_bps": 1_448 * 8 * 25 }]);
        only["tcp"]["receive_buffer"] = json!(64_000);
        only["tcp"]["ack_every"] = json!(2);
        only["tcp"]["delayed_ack_timeout"] = json!(timeout_ns);
        let mut plan = plan(4_000, links, vec![only]);
        plan["record"]["packets"] = json!(["there", "back"]);
        let wire = wire(&run(&plan, 1));
        let count = |kind: &str| wire.iter().filter(|packet| packet.contains(kind)).count() as f64;
        count(" ack ") / count(" data ")
    };
    let [due, later] = [40_000_000, 40_000_001].map(acks_per_packet);
    assert!((due - 1.0).abs() < 0.03 && (later - 0.5).abs() < 0.03, "{due} {later}");
}
