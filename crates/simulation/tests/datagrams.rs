//! Flows of datagrams, compared with values computed by hand.

use crate::common::{datagrams, first, flow, link, plan, run};
use proptest::prelude::*;
use serde_json::{Value, json};
use simulation::{Column, Plan};

/// A forward link of 1 Mbit/s and 10 ms, and a reverse link of 10 Mbit/s and 5 ms.
fn links() -> Vec<Value> {
    vec![
        link("there", Some(1_000_000), 10_000_000, Some(20)),
        link("back", Some(10_000_000), 5_000_000, Some(20)),
    ]
}

/// Transmission time of a datagram of 142 bytes on the forward route, and on the reverse route.
const THERE_S: f64 = 142.0 * 8.0 / 1e6;
const BACK_S: f64 = 142.0 * 8.0 / 10e6;

#[test]
fn a_ping_takes_both_delays_and_both_serialisations() {
    let results = run(&plan(1_000, links(), vec![datagrams("ping", 100, true, &[0], &[1])]), 1);
    let rtt = 0.015 + THERE_S + BACK_S;
    assert_eq!(results.probes.numbers("rtt_s")[..10], [rtt; 10]);
    assert!((first(&results.flows, "rtt_mean_s") - rtt).abs() < 1e-12);
    assert_eq!(results.probes.numbers("owd_s")[..10], [0.01 + THERE_S; 10]);
    assert_eq!(results.probes.numbers("time_s")[9], 0.9);
    // The eleventh datagram leaves at the very end of the run and is in flight.
    assert_eq!(first(&results.flows, "sent_packets"), 11.0);
    assert_eq!(first(&results.flows, "lost_packets"), 0.0);
    assert_eq!(first(&results.flows, "jitter_s"), 0.0);
}

#[test]
fn one_way_datagrams_have_no_rtt() {
    let results = run(&plan(1_000, links(), vec![datagrams("udp", 10, false, &[0], &[1])]), 1);
    assert!(first(&results.flows, "rtt_mean_s").is_nan());
    assert!(results.probes.numbers("rtt_s").iter().all(|rtt| rtt.is_nan()));
    assert_eq!(results.links_summary.numbers("forwarded_packets")[1], 0.0);
}

#[test]
fn the_goodput_is_the_payload_that_arrives() {
    let mut plan = plan(10_000, links(), vec![datagrams("udp", 2, false, &[0], &[1])]);
    plan["warmup_ns"] = json!(1_000_000_000);
    let results = run(&plan, 1);
    assert_eq!(first(&results.flows, "goodput_bps"), 100.0 * 8.0 / 0.002);
    assert!((first(&results.flows, "wire_bps") - 142.0 * 8.0 / 0.002).abs() < 1_000.0);
}

#[test]
fn a_full_queue_loses_what_does_not_fit() {
    // The load is 1.136 Mbit/s on a link of 1 Mbit/s.
    let results = run(&plan(20_000, links(), vec![datagrams("udp", 1, false, &[0], &[1])]), 1);
    let lost = first(&results.flows, "lost_packets");
    let share = lost / first(&results.flows, "sent_packets");
    assert!((share - (1.0 - 1.0 / 1.136)).abs() < 0.005, "{share}");
    // A loss counts only when a later datagram arrives, so drops after the last arrival do not count yet.
    let dropped = first(&results.links_summary, "dropped_packets");
    assert!((0.0..=10.0).contains(&(dropped - lost)), "{dropped} {lost}");
    let unanswered = results.probes.numbers("owd_s").iter().filter(|owd| owd.is_nan()).count() as f64;
    assert!(unanswered >= dropped && unanswered <= dropped + 32.0, "{unanswered} {dropped}");
}

#[test]
fn a_flow_that_stops_sends_no_more() {
    let mut plan = plan(1_000, links(), vec![datagrams("udp", 10, false, &[0], &[1])]);
    plan["flows"][0]["start_ns"] = json!(200_000_000);
    plan["flows"][0]["stop_ns"] = json!(500_000_000);
    plan["record"]["interval_ns"] = json!(100_000_000);
    let results = run(&plan, 1);
    assert_eq!(first(&results.flows, "sent_packets"), 30.0);
    assert_eq!((first(&results.flows, "start_s"), first(&results.flows, "end_s")), (0.2, 0.5));
    let goodput = results.series.numbers("goodput_bps");
    assert!(goodput[1] == 0.0 && goodput[3] == 8e4 && goodput[7] == 0.0, "{goodput:?}");
}

#[test]
fn a_flow_whose_drawn_start_comes_after_its_stop_sends_nothing() {
    let mut plan = plan(2_000, links(), vec![datagrams("udp", 10, false, &[0], &[1])]);
    plan["flows"][0]["start_jitter_ns"] = json!(1_900_000_000u64);
    plan["flows"][0]["stop_ns"] = json!(1);
    assert_eq!(run(&plan, 1).flows.numbers("sent_packets"), [0.0]);
}

#[test]
fn silence_lies_between_times_of_activity() {
    let mut plan = plan(1_000, links(), vec![datagrams("udp", 10, false, &[0], &[1])]);
    plan["flows"][0]["workload"]["periods"] =
        json!({ "on_ns": 100_000_000, "off_ns": 150_000_000, "exponential": false });
    let results = run(&plan, 1);
    let times: Vec<u64> = results.probes.numbers("time_s").iter().map(|s| (s * 1e3).round() as u64).collect();
    assert_eq!(times[..11], [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 250]);
}

#[test]
fn a_ping_waits_in_the_queue_that_others_fill() {
    let flows = vec![flow("bulk", "cubic", &[0], &[1]), datagrams("ping", 100, true, &[0], &[1])];
    let mut plan = plan(20_000, links(), flows);
    plan["warmup_ns"] = json!(5_000_000_000u64);
    let rtt = run(&plan, 1).flows.numbers("rtt_p50_s")[1];
    // Twenty packets of 1514 bytes take 242 ms.
    assert!((0.1..=0.27).contains(&rtt), "{rtt}");
}

#[test]
fn a_fair_queue_sees_datagrams_as_a_flow_of_their_own() {
    let flows = vec![flow("bulk", "cubic", &[0], &[1]), datagrams("ping", 100, true, &[0], &[1])];
    let mut plan = plan(20_000, links(), flows);
    plan["links"][0]["queue"] = json!({ "kind": "fq_codel" });
    plan["warmup_ns"] = json!(5_000_000_000u64);
    let rtt = run(&plan, 1).flows.numbers("rtt_p95_s")[1];
    // At most one packet of 1514 bytes precedes the datagram: 12 ms.
    assert!(rtt <= 0.015 + THERE_S + BACK_S + 0.0122, "{rtt}");
}

#[test]
fn copies_and_late_ones_are_counted_once() {
    let mut plan = plan(5_000, links(), vec![datagrams("udp", 5, false, &[0], &[1])]);
    plan["flows"][0]["stop_ns"] = json!(4_900_000_000u64);
    plan["links"][0]["impairments"] = json!([{ "kind": "reordering", "every": 7, "extra_ns": 40_000_000 }]);
    let results = run(&plan, 1);
    assert_eq!(first(&results.flows, "lost_packets"), 0.0);
    assert!(first(&results.flows, "jitter_s") > 1e-3);
}

#[test]
fn a_capture_shows_datagrams_and_their_replies() {
    let mut plan = plan(450, links(), vec![datagrams("ping", 100, true, &[0], &[1])]);
    plan["record"]["packets"] = json!(["sender", "back"]);
    let packets = run(&plan, 1).packets;
    assert_eq!(packets.numbers("seq"), [0., 0., 0., 1., 1., 1., 2., 2., 2., 3., 3., 3., 4., 4., 4.]);
    assert!(packets.numbers("size").iter().all(|&size| size == 142.0));
    assert!(packets.numbers("len").iter().all(|&len| len == 100.0));
}

#[test]
fn datagrams_have_no_congestion_control_and_connections_need_one() {
    let refusal = |edit: fn(&mut Value)| {
        let mut plan = plan(100, links(), vec![datagrams("udp", 5, false, &[0], &[1])]);
        edit(&mut plan["flows"][0]);
        Plan::from_json(&plan.to_string()).expect_err("a mistake").to_string()
    };
    let with = refusal(|flow| flow["cca"] = json!({ "kind": "reno", "params": {} }));
    assert!(with.contains("datagrams have no algorithm"), "{with}");
    let without = refusal(|flow| flow["workload"] = json!(null));
    assert!(without.contains("only datagrams have no algorithm"), "{without}");
    let never = refusal(|flow| flow["workload"]["interval_ns"] = json!(0));
    assert!(never.contains("flows[0].workload.interval_ns: 0 is out of range"), "{never}");
}

/// Datagrams of any kind with a TCP flow.
fn mixes() -> impl Strategy<Value = Value> {
    let periods = proptest::option::of((1_000u64..100_000_000, 0u64..100_000_000, any::<bool>()));
    let kind = (1u64..50, 0u32..1_400, any::<bool>(), any::<bool>(), periods, any::<bool>());
    let path = (500_000u64..20_000_000, 1_000_000u64..30_000_000, 1u64..40, 0.0f64..0.1);
    (path, proptest::collection::vec(kind, 1..4)).prop_map(|((rate, delay, packets, loss), kinds)| {
        let mut links = vec![
            link("there", Some(rate), delay, Some(packets)),
            link("back", Some(rate), delay, Some(packets)),
        ];
        links[1]["loss"] = json!({ "kind": "bernoulli", "probability": loss });
        if packets % 3 == 0 {
            links[0]["queue"] = json!({ "kind": "fq_codel" });
        }
        let mut flows = vec![flow("tcp", "cubic", &[0], &[1])];
        for (n, (interval, payload, poisson, echo, periods, uphill)) in kinds.into_iter().enumerate() {
            let (there, back) = if uphill { ([1], [0]) } else { ([0], [1]) };
            let mut flow = datagrams(&format!("datagrams {n}"), interval, echo, &there, &back);
            flow["workload"]["payload_bytes"] = json!(payload);
            flow["workload"]["poisson"] = json!(poisson);
            flow["workload"]["periods"] = json!(periods.map(
                |(on, off, exponential)| json!({ "on_ns": on, "off_ns": off, "exponential": exponential })
            ));
            flows.push(flow);
        }
        plan(1_500, links, flows)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn mixes_repeat(plan in mixes(), seed in any::<u64>()) {
        prop_assert_eq!(format!("{:?}", run(&plan, seed)), format!("{:?}", run(&plan, seed)));
    }

    #[test]
    fn one_link_at_a_time_gives_the_same_mixes(plan in mixes()) {
        let read = Plan::from_json(&plan.to_string()).expect("a valid plan");
        let behind = crate::common::one_link_at_a_time(read, 1).finish();
        prop_assert_eq!(format!("{behind:?}"), format!("{:?}", run(&plan, 1)));
    }

    #[test]
    fn every_datagram_arrived_was_dropped_or_is_on_its_way(plan in mixes()) {
        // The plan is changed: the TCP flow is removed, and the last datagram has enough time to arrive.
        let mut plan = plan;
        plan["flows"].as_array_mut().expect("a list").remove(0);
        for flow in plan["flows"].as_array_mut().expect("a list") {
            flow["stop_ns"] = json!(1_000_000_000);
        }
        plan["duration_ns"] = json!(4_000_000_000u64);
        let results = run(&plan, 1);
        let echoes: Vec<bool> =
            plan["flows"].as_array().expect("a list").iter().map(|flow| flow["workload"]["echo"] == json!(true)).collect();
        let (owd, rtt) = (results.probes.numbers("owd_s"), results.probes.numbers("rtt_s"));
        let Some(Column::Label { codes, .. }) = results.probes.column("flow") else { panic!("names") };
        let arrived = owd.iter().filter(|owd| owd.is_finite()).count();
        let returned = rtt.iter().filter(|rtt| rtt.is_finite()).count();
        let echoed = owd.iter().zip(codes).filter(|(owd, flow)| owd.is_finite() && echoes[**flow as usize]).count();
        let dropped: f64 = results.links_summary.numbers("dropped_packets").iter().sum();
        prop_assert_eq!(owd.len() + echoed, arrived + returned + dropped as usize);
        prop_assert!(results.flows.numbers("lost_packets").iter().all(|&lost| lost >= 0.0));
    }
}
