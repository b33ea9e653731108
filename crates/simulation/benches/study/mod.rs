//! The dumbbell of the first study: senders on access links of 5 ms, one bottleneck of 1 Gbit/s and 50 ms.

use serde_json::{Value, json};

/// Links per flow: the access links of sender and receiver, in both directions.
const ACCESS: u32 = 4;
/// Number of core links: the bottleneck and its reverse link.
const CORE: u32 = 2;

/// Forward and reverse route of one flow.
pub fn routes(flow: u32) -> [Vec<u32>; 2] {
    let access = CORE + ACCESS * flow;
    [vec![access, 0, access + 1], vec![access + 2, 1, access + 3]]
}

/// Rate and delay of every link, in the order of their numbers.
pub fn links(flows: u32) -> Vec<(u64, u64)> {
    let core = [(1_000_000_000, 50_000_000); CORE as usize];
    let access = (0..ACCESS * flows).map(|_| (10_000_000_000, 5_000_000));
    core.into_iter().chain(access).collect()
}

/// The plan of the dumbbell, as JSON.
#[allow(dead_code)]
pub fn plan(cca: &str, flows: u32, seconds: u64, queue_packets: u64, interval_ns: Option<u64>) -> String {
    let links: Vec<Value> = links(flows)
        .into_iter()
        .enumerate()
        .map(|(n, (rate, delay))| {
            json!({
                "name": format!("link {n}"), "stream": format!("link {n}"), "rate_bps": rate, "delay_ns": delay, "loss": null,
                "queue": { "kind": "drop_tail", "packets": queue_packets, "bytes": null },
            })
        })
        .collect();
    let flows: Vec<Value> = (0..flows)
        .map(|n| {
            let [forward, reverse] = routes(n);
            json!({
                "name": format!("flow {n}"), "stream": format!("flow {n}"), "cca": { "kind": cca, "params": {} },
                "start_ns": 0, "start_jitter_ns": 100_000_000, "stop_ns": null, "bytes": null,
                "forward": forward, "reverse": reverse,
                "tcp": { "mss": 1420, "ack_every": 1, "sack_compression": false },
            })
        })
        .collect();
    json!({
        "duration_ns": seconds * 1_000_000_000, "warmup_ns": 0, "links": links, "flows": flows,
        "record": { "interval_ns": interval_ns, "variables": false },
    })
    .to_string()
}
