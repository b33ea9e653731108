//! Plans for tests, as JSON that a test can change.

use serde_json::{Map, Value, json};
use simulation::plan::{
    CcaPlan, DatagramPlan, EntryPlan, FlowPlan, LinkPlan, Options, Protocol, WorkloadPlan,
};
use simulation::{Execution, External, Plan, Results, Simulation};

/// A link without random loss.
pub fn link(name: &str, rate_bps: Option<u64>, delay_ns: u64, packets: Option<u64>) -> Value {
    json!(LinkPlan {
        name: name.to_owned(),
        stream: name.to_owned(),
        nic: false,
        rate_bps,
        delay_ns,
        queue: EntryPlan {
            kind: "drop_tail".to_owned(),
            params: json!({ "packets": packets, "bytes": null }),
        },
        device_packets: None,
        loss: None,
        changes: Vec::new(),
        impairments: Vec::new(),
        opportunities: None,
        markov_channel: None,
    })
}

/// An endless flow over the given links.
pub fn flow(name: &str, cca: &str, forward: &[u32], reverse: &[u32]) -> Value {
    json!(FlowPlan {
        name: name.to_owned(),
        stream: name.to_owned(),
        cca: Some(CcaPlan { kind: cca.to_owned(), params: Map::new() }),
        start_ns: 0,
        start_jitter_ns: 0,
        stop_ns: None,
        bytes: None,
        application: Vec::new(),
        workload: None,
        forward: forward.to_vec(),
        reverse: reverse.to_vec(),
        reroutes: Vec::new(),
        upload: false,
        dscp: 0,
        hosts: None,
        relayed: None,
        tcp: Options::default(),
    })
}

/// Datagrams with 100 bytes of payload and 42 bytes of headers, one every `interval_ms` milliseconds.
pub fn datagrams(name: &str, interval_ms: u64, echo: bool, forward: &[u32], reverse: &[u32]) -> Value {
    let mut flow = flow(name, "reno", forward, reverse);
    flow["cca"] = json!(null);
    flow["workload"] = json!(WorkloadPlan::Datagrams(DatagramPlan {
        protocol: if echo { Protocol::Icmp } else { Protocol::Udp },
        payload_bytes: 100,
        overhead_bytes: 42,
        interval_ns: interval_ms * 1_000_000,
        poisson: false,
        periods: None,
        echo,
        each: true,
    }));
    flow
}

/// A plan that records nothing.
pub fn plan(duration_ms: u64, links: Vec<Value>, flows: Vec<Value>) -> Value {
    json!({
        "duration_ns": duration_ms * 1_000_000, "warmup_ns": 0, "links": links, "flows": flows,
        "record": { "interval_ns": null, "variables": false },
    })
}

/// One flow over 10 Mbit/s and 40 ms, with a buffer of 2 BDP.
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

/// The first value of a column.
pub fn first(table: &simulation::Table, column: &str) -> f64 {
    table.numbers(column)[0]
}

/// Create a simulation without cut-through, in which every link replays its queue.
pub fn one_link_at_a_time(plan: Plan, seed: u64) -> Simulation {
    Simulation::executed(plan, seed, External::default(), Execution::OneLinkAtATime).expect("a valid plan")
}
