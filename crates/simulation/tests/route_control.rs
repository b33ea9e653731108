//! Controllers of routes: decisions, installation delays, and checks of plans.

use crate::common::{flow, link, plan, run};
use serde_json::{Value, json};
use simulation::{Plan, Simulation};

const RATE: u64 = 10_000_000;
const EVERY_NS: u64 = 1_000_000_000;
const DELAY_NS: u64 = 7_000_000;

/// Two flows with an access link each (0, 1), two links of 10 Mbit/s with different delays (2, 3), a link after these
/// two (4), and a link for ACKs (5). Both flows begin on link 2.
fn parallel(duration_ms: u64) -> Value {
    let links = vec![
        link("access 1", Some(100_000_000), 1_000_000, None),
        link("access 2", Some(100_000_000), 1_000_000, None),
        link("fast", Some(RATE), 10_000_000, Some(40)),
        link("slow", Some(RATE), 20_000_000, Some(40)),
        link("behind", None, 1_000_000, None),
        link("back", None, 10_000_000, None),
    ];
    let flow = |n: u32| flow(&format!("flow {n}"), "cubic", &[n, 2, 4], &[5]);
    let mut plan = plan(duration_ms, links, vec![flow(0), flow(1)]);
    plan["record"]["interval_ns"] = json!(100_000_000);
    plan
}

fn controlled(mut plan: Value, policy: &str, flows: &[u32]) -> Value {
    let way = |flow: u32, link: u32| json!({ "forward": [flow, link, 4], "reverse": null });
    let flows: Vec<Value> =
        flows.iter().map(|&n| json!({ "flow": n, "ways": [way(n, 2), way(n, 3)] })).collect();
    plan["route_controllers"] =
        json!([{ "every_ns": EVERY_NS, "policy": policy, "delay_ns": DELAY_NS, "flows": flows }]);
    plan
}

fn tables(plan: &Value) -> String {
    let results = run(plan, 1);
    format!("{:?} {:?} {:?}", results.flows, results.links, results.series)
}

/// Megabits that each of the two parallel links has carried.
fn carried(plan: &Value) -> [f64; 2] {
    let bytes = run(plan, 1).links_summary.numbers("forwarded_bytes");
    [2, 3].map(|link: usize| 8e-6 * bytes[link])
}

#[test]
fn periodic_is_to_take_turns_a_delay_after_every_period() {
    let found = controlled(parallel(5_000), "periodic", &[0]);
    let mut planned = parallel(5_000);
    let reroutes = (1..5).map(|n| {
        let link = if n % 2 == 1 { 3 } else { 2 };
        json!({ "at_ns": n * EVERY_NS + DELAY_NS, "forward": [0, link, 4], "reverse": null })
    });
    planned["flows"][0]["reroutes"] = json!(reroutes.collect::<Vec<_>>());
    assert_eq!(tables(&found), tables(&planned));
}

#[test]
fn the_last_router_is_told_first_and_every_other_one_a_delay_later() {
    // Route: link 0, then 1 or 4, then link 2, then 3 or 5.
    let links = (0..6).map(|n| link(&n.to_string(), Some(RATE), 1_000_000 * (n + 1), Some(40)));
    let links = links.chain([link("back", None, 10_000_000, None)]).collect();
    let mut found = plan(1_500, links, vec![flow("only", "cubic", &[0, 1, 2, 3], &[6])]);
    found["record"]["interval_ns"] = json!(100_000_000);
    let mut planned = found.clone();
    let ways = json!([{ "forward": [0, 4, 2, 5], "reverse": null }]);
    found["route_controllers"] = json!([{
        "every_ns": EVERY_NS, "policy": "periodic", "delay_ns": DELAY_NS, "flows": [{ "flow": 0, "ways": ways }],
    }]);
    let reroute =
        |n: u64, path: Value| json!({ "at_ns": EVERY_NS + n * DELAY_NS, "forward": path, "reverse": null });
    planned["flows"][0]["reroutes"] =
        json!([reroute(1, json!([0, 1, 2, 5])), reroute(2, json!([0, 4, 2, 5]))]);
    assert_eq!(tables(&found), tables(&planned));
}

#[test]
fn of_two_flows_on_one_link_one_moves_to_the_idle_one_and_stays() {
    let apart = controlled(parallel(20_000), "least_loaded", &[0, 1]);
    let together = parallel(20_000);
    assert_eq!(carried(&together)[1], 0.0);
    let [fast, slow] = carried(&apart);
    // From 1 s on, each flow has a link of its own: 19 s of 10 Mbit/s, minus losses from start-up and the move.
    assert!(fast > 0.93 * 200.0 && slow > 0.93 * 190.0, "{fast} {slow}");
}

#[test]
fn a_lone_flow_stays_where_it_is() {
    let mut alone = controlled(parallel(5_000), "least_loaded", &[0]);
    alone["flows"].as_array_mut().unwrap().pop();
    assert_eq!(carried(&alone)[1], 0.0);
}

#[test]
fn stepping_and_cut_through_change_nothing() {
    let plan = controlled(parallel(5_000), "least_loaded", &[0, 1]).to_string();
    let parsed = || Plan::from_json(&plan).unwrap();
    let shown = |simulation: Simulation| {
        let results = simulation.finish();
        format!("{:?} {:?} {:?}", results.flows, results.links, results.series)
    };
    let whole = shown(Simulation::new(parsed(), 7).unwrap());
    assert_eq!(whole, shown(crate::common::one_link_at_a_time(parsed(), 7)));
    let mut stepped = Simulation::new(parsed(), 7).unwrap();
    (1..500).for_each(|n| {
        stepped.advance(units::Time::from_nanos(n * 9_999_999));
    });
    assert_eq!(whole, shown(stepped));
}

#[test]
fn what_a_controller_cannot_do_is_refused() {
    let refusal = |path: &str, value: Value| {
        let mut plan = controlled(parallel(5_000), "periodic", &[0, 1]);
        *plan.pointer_mut(path).unwrap() = value;
        Plan::from_json(&plan.to_string()).expect_err("a mistake").to_string()
    };
    let controller = "/route_controllers/0";
    let of_flow = format!("{controller}/flows/0");
    for (path, value, told) in [
        (format!("{controller}/every_ns"), json!(150_000_000), "multiple of record.interval_ns"),
        (format!("{controller}/delay_ns"), json!(300_000_000), "4 routers are not updated within a period"),
        (format!("{of_flow}/flow"), json!(2), "route_controllers[0].flows[0].flow: 2 is out of range"),
        (format!("{of_flow}/flow"), json!(1), "route_controllers[0].flows[1].flow: flow 1 has a controller"),
        (format!("{of_flow}/ways"), json!([]), "route_controllers[0].flows[0].ways: no route is given"),
        (format!("{of_flow}/ways/0/forward"), json!([0, 9]), "there is no link 9"),
        (
            "/flows/0/reroutes".to_owned(),
            json!([{ "at_ns": 1, "forward": [0, 3, 4], "reverse": null }]),
            "the flow also has reroutes",
        ),
    ] {
        let found = refusal(&path, value);
        assert!(found.contains(told), "{found}");
    }
}
