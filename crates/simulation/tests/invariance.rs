//! Runs with the same plan and seed have the same results for any steps and any sampling.

use crate::common::{datagrams, flow, link, plan, run, simulation};
use proptest::prelude::*;
use serde_json::{Value, json};
use simulation::{Column, Plan, Results, Simulation};
use units::Time;

/// Results as text. Two texts are equal if all bits of the results are equal, including NaN.
fn digest(results: &Results) -> String {
    format!("{results:?}")
}

/// Calls `advance` until the simulation has reached a time.
fn advance(simulation: &mut Simulation, until: Time) -> Time {
    let until_end = until.min(Time::from_nanos(500_000_000));
    loop {
        let reached = simulation.advance(until);
        if reached >= until_end {
            return reached;
        }
    }
}

/// A change of rate and loss at a time, and aggregation at the far end.
fn impairments() -> impl Strategy<Value = Option<(u64, u64, u64)>> {
    proptest::option::of((0u64..500_000_000, 1_000_000u64..50_000_000, 500_000u64..20_000_000))
}

/// Two to four flows of any kind over a shared core, with access links or without.
pub fn plans() -> impl Strategy<Value = Value> {
    let cca = prop_oneof![Just("reno"), Just("cubic"), Just("bbr1"), Just("dctcp"), Just("prague")];
    let rate = || prop_oneof![Just(None), (1_000_000u64..100_000_000).prop_map(Some)];
    let access = (rate(), 0u64..5_000_000, proptest::option::of(0u64..50));
    let core = ((1_000_000u64..100_000_000).prop_map(Some), 1_000_000u64..20_000_000, 0u64..50, 0.0f64..0.05);
    let one = (cca, access, 0u64..50_000_000, proptest::option::of(1u64..500_000), any::<bool>());
    let rest =
        (proptest::option::of(5_000_000u64..60_000_000), 0u64..400_000_000, any::<bool>(), impairments());
    (core, proptest::collection::vec(one, 2..5), rest).prop_map(|(core, flows, rest)| {
        let (rate, delay, packets, probability) = core;
        let mut links = vec![link("core", rate, delay, Some(packets)), link("back", None, delay, None)];
        if packets % 2 == 1 {
            links[0]["queue"] = json!({ "kind": "step", "limit": packets, "mark_packets": packets / 4 });
        }
        links[0]["loss"] = json!({ "kind": "bernoulli", "probability": probability });
        let mut all = Vec::new();
        for (n, (cca, (rate, delay, packets), jitter, bytes, receiver_access)) in
            flows.into_iter().enumerate()
        {
            let access = links.len() as u32;
            links.push(link(&format!("access {n}"), rate, delay, packets));
            let forward = if receiver_access { vec![0, access] } else { vec![access, 0] };
            let mut flow = flow(&format!("flow {n}"), cca, &forward, &[1]);
            flow["start_jitter_ns"] = json!(jitter);
            flow["bytes"] = json!(bytes);
            flow["tcp"]["ecn"] = json!(["on", "off"][jitter as usize % 2]);
            flow["tcp"]["pacing"] = json!(["auto", "always", "fq"][jitter as usize % 3]);
            flow["tcp"]["gro"] = json!((jitter % 5 == 0).then_some(jitter % 200_000));
            all.push(flow);
        }
        if packets % 4 == 0 {
            let mut probes = datagrams("datagrams", 1 + packets % 7, packets % 8 == 0, &[0], &[1]);
            probes["workload"]["poisson"] = json!(packets % 12 == 0);
            all.push(probes);
        }
        if let Some((at, _, _)) = rest.3 {
            // A second core link in parallel, which the first flow uses for some time.
            let second = links.len() as u32;
            links.push(link("alternative", rate, delay / 2, Some(packets)));
            let old = all[0]["forward"].clone();
            let new: Vec<Value> = old.as_array().into_iter().flatten()
                .map(|link| if *link == json!(0) { json!(second) } else { link.clone() }).collect();
            all[0]["reroutes"] = json!([
                { "at_ns": at, "forward": new, "reverse": null },
                { "at_ns": at + 50_000_000, "forward": old, "reverse": null },
            ]);
        }
        let mut plan = plan(500, links, all);
        let (interval, warmup, variables, impairments) = rest;
        if let Some((at, rate, slot)) = impairments {
            plan["links"][0]["changes"] =
                json!([{ "at_ns": at, "rate_bps": rate, "delay_ns": rate % 7_000_000, "loss": { "kind": "periodic", "every": 20 } }]);
            plan["links"][0]["impairments"] = json!([{ "kind": "aggregation", "slot_ns": slot }]);
            let shape = if at % 2 == 0 { "normal" } else { "uniform" };
            plan["links"][1]["impairments"] =
                json!([{ "kind": "jitter", "spread_ns": at % 3_000_000, "shape": shape, "reorder": at % 3 == 0 }]);
            plan["links"][1]["loss"] =
                json!({ "kind": "gilbert_elliott", "worsens": 0.01, "improves": 0.5, "good": 0.0, "bad": 0.5 });
        }
        plan["record"] = json!({ "interval_ns": interval, "variables": variables && interval.is_some() });
        plan["warmup_ns"] = json!(warmup);
        plan
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn results_repeat(plan in plans(), seed in any::<u64>()) {
        prop_assert_eq!(digest(&run(&plan, seed)), digest(&run(&plan, seed)));
    }

    #[test]
    fn stepping_changes_nothing(plan in plans(), steps in proptest::collection::vec(0u64..700_000_000, 0..30)) {
        let mut stepped = simulation(&plan, 1);
        let mut reached = Time::ZERO;
        for step in steps {
            let until = Time::from_nanos(step);
            reached = reached.max(until.min(Time::from_nanos(500_000_000)));
            prop_assert_eq!(advance(&mut stepped, until), reached);
        }
        prop_assert_eq!(digest(&stepped.finish()), digest(&run(&plan, 1)));
    }

    #[test]
    fn handing_packets_over_ahead_of_the_clock_changes_nothing(plan in plans()) {
        let mut plan = plan;
        plan["record"]["packets"] = json!(["receiver", "core", "access 0", "access 1"]);
        let read = || Plan::from_json(&plan.to_string()).expect("a valid plan");
        let behind = crate::common::one_link_at_a_time(read(), 1).finish();
        prop_assert_eq!(digest(&behind), digest(&run(&plan, 1)));
    }

    #[test]
    fn sampling_changes_nothing(plan in plans()) {
        let mut silent = plan.clone();
        silent["record"] = json!({ "interval_ns": null, "variables": false });
        let mut plan = plan;
        plan["record"]["packets"] = json!(["sender", "receiver", "core", "access 0"]);
        let (a, b) = (run(&plan, 1), run(&silent, 1));
        prop_assert_eq!(format!("{:?}{:?}", a.flows, a.links_summary), format!("{:?}{:?}", b.flows, b.links_summary));
        prop_assert_eq!((a.data_packets, a.packet_hops), (b.data_packets, b.packet_hops));
    }

    #[test]
    fn every_column_of_a_table_is_as_long(plan in plans()) {
        let results = run(&plan, 1);
        for (_, table) in results.clone().tables() {
            let rows: Vec<usize> = table.columns.iter().map(|column| column.1.len()).collect();
            prop_assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", rows);
        }
        let Some(Column::Label { codes, names }) = results.series.column("flow") else { panic!("names") };
        prop_assert!(codes.iter().all(|&code| (code as usize) < names.len()));
    }
}

/// Ten flows over a fast link: about ten thousand events per millisecond.
fn busy() -> Value {
    let links =
        vec![link("there", Some(100_000_000_000), 100_000, Some(1_000)), link("back", None, 100_000, None)];
    plan(100, links, (0..10).map(|n| flow(&format!("flow {n}"), "reno", &[0], &[1])).collect())
}

#[test]
fn advancing_far_returns_after_a_bounded_number_of_events_and_changes_nothing() {
    let plan = busy();
    let (mut stepped, end) = (simulation(&plan, 1), Time::from_nanos(100_000_000));
    let mut reached = vec![Time::ZERO];
    while reached[reached.len() - 1] < end {
        reached.push(stepped.advance(end));
    }
    assert!(reached.is_sorted());
    let results = run(&plan, 1);
    // A packet takes one turn for its data and at most one for its acknowledgement. A step has 65,536 turns.
    assert!(reached.len() as u64 > results.data_packets / 65_536 + 1, "{} steps", reached.len());
    assert!(results.data_packets > 4 * 65_536, "{} packets", results.data_packets);
    assert_eq!(digest(&stepped.finish()), digest(&results));
}
