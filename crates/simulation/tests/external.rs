//! Algorithms that the caller provides.

use crate::common::{first, single};
use serde_json::json;
use simulation::{Controllers, Plan, Simulation};
use std::sync::Arc;

fn plan(cca: &str) -> Plan {
    Plan::from_json(&single(cca, 2_000).to_string()).expect("a plan")
}

#[test]
fn an_external_algorithm_runs_like_one_of_the_registry() {
    let external = Simulation::with_controllers(plan("mine:reno"), 1, &reno()).expect("it is made").finish();
    let native = Simulation::new(plan("reno"), 1).expect("a plan").finish();
    assert_eq!(first(&external.flows, "delivered_bytes"), first(&native.flows, "delivered_bytes"));
}

#[test]
fn an_external_algorithm_drives_every_connection_of_a_workload() {
    let sizes = json!({ "kind": "constant", "value": 30_000 });
    let run = |cca: &str| {
        let mut plan = single(cca, 5_000);
        plan["flows"][0]["workload"] = json!({ "kind": "poisson", "interval_ns": 200e6, "sizes": sizes });
        let plan = Plan::from_json(&plan.to_string()).expect("a plan");
        Simulation::with_controllers(plan, 1, &reno()).expect("it is made").finish()
    };
    let (external, native) = (run("mine:reno").transfers, run("reno").transfers);
    assert!(external.numbers("fct_s").len() > 10);
    assert_eq!(external.numbers("end_s"), native.numbers("end_s"));
}

/// Builds Reno for any name.
fn reno() -> Controllers {
    Arc::new(|flow, seed| {
        assert_eq!(flow.algorithm(), "mine:reno");
        congestion::build("reno", &serde_json::Value::Null, seed).map_err(|e| e.to_string())
    })
}

#[test]
fn one_that_the_caller_does_not_provide_is_refused_where_it_is_named() {
    let error = Simulation::new(plan("mine:reno"), 1).map(|_| ()).unwrap_err();
    assert_eq!(error.path, "flows[0].cca");
    assert!(error.message.contains("mine:reno"), "{error}");
}

#[test]
fn what_the_caller_says_is_passed_on() {
    let refuse: Controllers = Arc::new(|_, _| Err("out of reno".to_owned()));
    let error = Simulation::with_controllers(plan("mine:reno"), 1, &refuse);
    assert_eq!(error.map(|_| ()).unwrap_err().message, "out of reno");
}
