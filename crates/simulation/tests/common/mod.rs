//! Plans to test with.
#![allow(dead_code)]

use serde_json::{Value, json};
use simulation::{Plan, Results, Simulation};

/// A link without random loss.
pub fn link(name: &str, rate_bps: Option<u64>, delay_ns: u64, packets: Option<u64>) -> Value {
    json!({
        "name": name, "stream": name, "rate_bps": rate_bps, "delay_ns": delay_ns, "loss": null,
        "queue": { "kind": "drop_tail", "packets": packets, "bytes": null },
    })
}

/// An endless flow over the given links.
pub fn flow(name: &str, cca: &str, forward: &[u32], reverse: &[u32]) -> Value {
    json!({
        "name": name, "stream": name, "cca": { "kind": cca, "params": {} },
        "start_ns": 0, "start_jitter_ns": 0, "stop_ns": null, "bytes": null,
        "forward": forward, "reverse": reverse,
        "tcp": {
            "mss_bytes": 1448, "overhead_bytes": 66, "timestamps": true, "ack": { "kind": "linux" },
            "sack_compression": true,
            "initial_window": 10, "send_buffer_bytes": null, "receive_buffer_bytes": null,
            "pacing": "auto", "max_burst_bytes": 65_536, "ecn": false,
        },
    })
}

/// Datagrams of 100 bytes and 42 of headers, one every so many milliseconds.
pub fn datagrams(name: &str, interval_ms: u64, echo: bool, forward: &[u32], reverse: &[u32]) -> Value {
    let mut flow = flow(name, "reno", forward, reverse);
    flow["cca"] = json!(null);
    flow["workload"] = json!({
        "kind": "datagrams", "protocol": if echo { "icmp" } else { "udp" }, "payload_bytes": 100,
        "overhead_bytes": 42, "interval_ns": interval_ms * 1_000_000, "poisson": false, "periods": null,
        "echo": echo, "each": true,
    });
    flow
}

/// A plan that records nothing.
pub fn plan(duration_ms: u64, links: Vec<Value>, flows: Vec<Value>) -> Value {
    json!({
        "duration_ns": duration_ms * 1_000_000, "warmup_ns": 0, "links": links, "flows": flows,
        "record": { "interval_ns": null, "variables": false },
    })
}

/// One flow over 10 Mbit/s and 40 ms, with a buffer of twice the bandwidth-delay product.
pub fn single(cca: &str, duration_ms: u64) -> Value {
    let links =
        vec![link("there", Some(10_000_000), 20_000_000, Some(66)), link("back", None, 20_000_000, None)];
    plan(duration_ms, links, vec![flow("only", cca, &[0], &[1])])
}

/// Runs a plan that must be valid.
pub fn run(plan: &Value, seed: u64) -> Results {
    simulation(plan, seed).finish()
}

/// Builds a plan that must be valid.
pub fn simulation(plan: &Value, seed: u64) -> Simulation {
    let plan = Plan::from_json(&plan.to_string()).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(plan, seed).unwrap_or_else(|error| panic!("{error}"))
}

/// The number in the first row of a column.
pub fn first(table: &simulation::Table, column: &str) -> f64 {
    table.numbers(column)[0]
}
