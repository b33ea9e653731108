//! Algorithms that the caller brings along.

mod common;

use common::{first, single};
use simulation::{Plan, Simulation};

fn plan(cca: &str) -> Plan {
    Plan::from_json(&single(cca, 2_000).to_string()).expect("a plan")
}

#[test]
fn an_algorithm_brought_along_runs_like_one_of_the_registry() {
    let make = |flow: &simulation::FlowPlan, seed: u64| {
        assert_eq!(flow.algorithm(), "mine:reno");
        congestion::build("reno", &serde_json::Value::Null, seed).map_err(|e| e.to_string())
    };
    let brought = Simulation::with_controllers(plan("mine:reno"), 1, &make).expect("it is made").finish();
    let native = Simulation::new(plan("reno"), 1).expect("a plan").finish();
    assert_eq!(first(&brought.flows, "delivered_bytes"), first(&native.flows, "delivered_bytes"));
}

#[test]
fn one_that_nobody_brought_is_refused_where_it_is_named() {
    let error = Simulation::new(plan("mine:reno"), 1).map(|_| ()).unwrap_err();
    assert_eq!(error.path, "flows[0].cca");
    assert!(error.message.contains("mine:reno"), "{error}");
}

#[test]
fn what_the_maker_says_is_passed_on() {
    let error = Simulation::with_controllers(plan("mine:reno"), 1, &|_, _| Err("out of reno".to_owned()));
    assert_eq!(error.map(|_| ()).unwrap_err().message, "out of reno");
}
