//! Routes, network interfaces and other settings of a flow in a network.

use fullpipe::plan::{Distribution, PoissonSettings, WorkloadPlan};
use fullpipe::units::{Duration, Rate, Time};
use fullpipe::{Application, Experiment, Flow, Link, Network, Plan, Sockets, json};

fn link(delay_ms: u64) -> Link {
    Link::new(Rate::from_bits_per_sec(10_000_000), Duration::from_millis(delay_ms))
}

/// Two hosts with two routes between them through different nodes.
fn diamond() -> Network {
    Network::new()
        .duplex("a", "north", link(5))
        .duplex("north", "b", link(5))
        .duplex("a", "south", link(10))
        .duplex("south", "b", link(10))
}

fn plan(network: Network, flow: Flow) -> Plan {
    Experiment::new(network, Duration::from_secs(2)).flow(flow).plan().unwrap()
}

fn names(plan: &Plan, route: &[u32]) -> Vec<String> {
    route.iter().map(|&hop| plan.hop_names()[hop as usize].clone()).collect()
}

/// Tests of scenarios in Python use the same file `routes.json`.
#[test]
fn routes_are_those_of_scenarios() {
    let file: serde_json::Value = serde_json::from_str(include_str!("routes.json")).unwrap();
    let mut network = Network::new();
    for found in file["links"].as_array().unwrap() {
        let [from, to] = [&found[0], &found[1]].map(|node| node.as_str().unwrap());
        network = network.link(from, to, link(found[2].as_u64().unwrap()));
    }
    for route in file["routes"].as_array().unwrap() {
        let stops: Vec<&str> = route["stops"].as_array().unwrap().iter().filter_map(|s| s.as_str()).collect();
        let [from, via @ .., to] = &stops[..] else { panic!("two ends") };
        let found = plan(network.clone(), Flow::new("a", from, to).via(via));
        assert_eq!(json!(found.flows[0].forward), route["hops"], "{}", route["why"]);
    }
}

#[test]
fn acknowledgements_pass_the_same_nodes_the_other_way_round() {
    let found = plan(diamond(), Flow::new("a", "a", "b").via(&["south"]));
    assert_eq!(names(&found, &found.flows[0].forward), ["a-south", "south-b"]);
    assert_eq!(names(&found, &found.flows[0].reverse), ["b-south", "south-a"]);
}

#[test]
fn a_flow_takes_another_route_from_a_time_on() {
    let flow = Flow::new("a", "a", "b").reroute(Time::from_nanos(1_000_000_000), &["south"]);
    let run = Experiment::new(diamond(), Duration::from_secs(2)).flow(flow).run(1).unwrap();
    let sent = run.table("links_summary").numbers("forwarded_packets");
    let [north, south] = [sent[0], sent[4]];
    assert!(north > 500.0 && south > 500.0, "{north} and {south}");
}

#[test]
fn a_stop_that_nothing_leads_to_is_refused_with_its_path() {
    let refused =
        |flow: Flow| Experiment::new(diamond(), Duration::from_secs(2)).flow(flow).plan().unwrap_err();
    let error = refused(Flow::new("a", "a", "b").reroute(Time::from_nanos(1), &["east"]));
    assert_eq!(error.path, "flows[0].reroutes[0].forward");
}

#[test]
fn all_routes_of_a_host_begin_at_its_interface() {
    let nic = || Link::new(Rate::from_bits_per_sec(5_000_000), Duration::ZERO).queue("fq", json!({}));
    let found = plan(diamond().nic("a", nic()).nic("b", nic()), Flow::new("a", "a", "b"));
    assert_eq!(names(&found, &found.flows[0].forward), ["a-nic", "a-north", "north-b"]);
    assert_eq!(names(&found, &found.flows[0].reverse), ["b-nic", "b-north", "north-a"]);
    assert_eq!(found.links.iter().filter(|link| link.nic).count(), 2);
}

#[test]
fn flows_of_a_host_compete_in_its_interface() {
    let nic = Link::new(Rate::from_bits_per_sec(5_000_000), Duration::ZERO).queue("fq", json!({}));
    let run = Experiment::new(diamond().nic("a", nic), Duration::from_secs(4))
        .warmup(Duration::from_secs(1))
        .flow(Flow::new("one", "a", "b"))
        .flow(Flow::new("other", "a", "b").via(&["south"]))
        .run(1)
        .unwrap();
    let half = 2.5e6 * 1448.0 / 1514.0;
    for flow in run.flows() {
        let share = flow.number("goodput_bps") / half;
        assert!((share - 1.0).abs() < 0.03, "{}: {share}", flow.name());
    }
}

#[test]
fn an_interface_has_no_delay() {
    let error = Experiment::new(diamond().nic("a", link(1)), Duration::from_secs(2))
        .flow(Flow::new("a", "a", "b"))
        .plan()
        .unwrap_err();
    assert_eq!(error.path, "links[8]");
}

#[test]
fn flows_between_the_same_nodes_are_between_the_same_hosts() {
    let found = Experiment::new(diamond(), Duration::from_secs(2))
        .flow(Flow::new("one", "a", "b"))
        .flow(Flow::new("back", "b", "a"))
        .flow(Flow::new("far", "a", "south"))
        .plan()
        .unwrap();
    let hosts: Vec<_> = found.flows.iter().map(|flow| flow.hosts).collect();
    assert_eq!(hosts, [Some([0, 1]), Some([1, 0]), Some([0, 2])]);
}

#[test]
fn a_code_point_and_the_jitter_of_a_start_reach_the_plan() {
    let flow = Flow::new("a", "a", "b").dscp(46).start_jitter(Duration::from_millis(3));
    let [found] = &plan(diamond(), flow).flows[..] else { panic!("one flow") };
    assert_eq!((found.dscp, found.start_jitter_ns), (46, 3_000_000));
}

#[test]
fn parameters_that_are_no_table_are_refused() {
    let path = |network: Network, flow: Flow| {
        Experiment::new(network, Duration::from_secs(1)).flow(flow).plan().unwrap_err().path
    };
    let flow = || Flow::new("a", "a", "b");
    assert_eq!(path(diamond(), flow().algorithm("cubic", json!(["beta", 0.7]))), "flows[0].cca.params");
    let shared = diamond().medium("air", "shared", json!(7), &[("a", "b", link(0))]);
    assert_eq!(path(shared, flow()), "media[0].params");
}

struct Idle;

impl Application for Idle {
    fn next(&self) -> Time {
        Time::NEVER
    }

    fn run(&mut self, _: Time, _: &mut Sockets) {}
}

#[test]
fn the_last_application_that_is_given_counts() {
    let sizes = Distribution::Constant { value: 1e4 };
    let workload = WorkloadPlan::Poisson(PoissonSettings { interval_ns: 1e8, sizes });
    let flow = Flow::new("a", "a", "b").own_application(|_, _| Box::new(Idle)).workload(workload.clone());
    assert_eq!(plan(diamond(), flow).flows[0].workload, Some(workload));
}
