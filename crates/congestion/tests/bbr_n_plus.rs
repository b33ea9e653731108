//! Differences of BBR-n+ from BBRv3, step by step.

use crate::flow::{BDP, Flow};
use congestion::EcnMode;
use serde_json::{Value, json};
use units::Duration;

#[test]
fn bursts_of_bbr_n_plus_are_at_least_four_packets() {
    let burst = |name: &str, params: Value| Flow::new(name, params).algorithm.control().min_burst;
    assert_eq!(burst("bbr_n_plus", Value::Null), 4);
    assert_eq!(burst("bbr_n_plus", json!({ "preset": "smart_exit" })), 2);
    assert_eq!(burst("bbr3", Value::Null), 2);
}

/// Count the rounds of BBR-n+ in STARTUP, at most 20. Round n delivers `packets(n)`, and from the second round on the
/// RTT is `queue_ms` above the minimum.
fn startup_rounds(params: Value, queue_ms: u64, packets: impl Fn(u32) -> u32) -> u32 {
    let mut flow = Flow::new("bbr_n_plus", params);
    for n in 0..20 {
        let rtt = flow.rtt + Duration::from_millis(if n > 0 { queue_ms } else { 0 });
        flow.round_with(packets(n), |ack, _| ack.rtt = Some(rtt));
        if flow.state() != "Startup" {
            return n + 1;
        }
    }
    20
}

#[test]
fn smart_exit_wants_a_queue_besides_a_plateau() {
    let sane = || json!({ "preset": "smart_exit" });
    assert_eq!(startup_rounds(sane(), 4, |_| BDP), 20);
    assert_eq!(startup_rounds(sane(), 6, |_| BDP), 5); // the queue of a round is known when it ends
}

#[test]
fn smart_exit_as_printed_never_ends_startup_on_a_full_pipe() {
    let literal = || json!({ "preset": "smart_exit", "exit": "literal" });
    assert_eq!(startup_rounds(literal(), 100, |_| BDP), 20);
    // Only a bandwidth that stays below the best bandwidth for several rounds ends STARTUP.
    assert_eq!(startup_rounds(literal(), 100, |n| if n < 2 { BDP } else { BDP / 2 }), 5);
}

#[test]
fn smart_exit_ends_after_its_last_round_at_the_latest() {
    assert_eq!(startup_rounds(json!({ "preset": "smart_exit", "exit_max_rounds": 7 }), 0, |_| BDP), 7);
}

#[test]
fn smart_exit_sees_growth_within_a_round() {
    let mut flow = Flow::new("bbr_n_plus", json!({ "preset": "smart_exit" }));
    let queue = flow.rtt + Duration::from_millis(6);
    for n in 0..10 {
        flow.round_with(BDP, |ack, _| ack.rtt = Some(if n > 0 { queue } else { Duration::from_millis(40) }));
        flow.within_round(BDP << (n + 1), |ack, _| ack.rtt = Some(queue));
        assert_eq!((flow.state(), flow.variable("full_bw_cnt")), ("Startup", Some(0.0)), "round {n}");
    }
}

#[test]
fn l4s_counts_marks_on_paths_of_any_length() {
    for (name, mode) in [("l4s", EcnMode::L4s), ("ecn", EcnMode::EveryMark)] {
        let mut flow = Flow::new("bbr_n_plus", json!({ name: true })).cruise();
        assert_eq!(flow.algorithm.traits().ecn, mode);
        flow.round_with(50, |ack, sample| (ack.marked, sample.marked) = (25, 25));
        assert_eq!(flow.variable("inflight_lo").is_some(), name == "l4s");
    }
}
