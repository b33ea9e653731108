//! Properties of `bbr1` that need no network.

use super::{Loop, RTPROP_US};
use congestion::build;
use serde_json::json;
use units::Duration;

/// Run rounds of one ACK each, with the given gaps between packets in microseconds. Return the state after each round.
fn states_after(rounds: &[(u64, bool)]) -> Vec<&'static str> {
    let mut sender = Loop::new("bbr1", json!({}));
    sender.in_flight = 0;
    let after = rounds.iter().map(|&(gap_us, app_limited)| {
        sender.now += Duration::from_millis(20);
        sender.app_limited = app_limited;
        sender.in_flight = 1; // each ACK ends a round
        sender.ack_of(Duration::from_micros(gap_us), 10_000, 0);
        sender.in_flight = 10_000; // far more than a BDP in flight, so that DRAIN does not end
        sender.state_name()
    });
    after.collect()
}

#[test]
fn startup_exits_after_exactly_three_rounds_without_growth() {
    let doubling = [(800, false), (400, false), (200, false), (100, false)];
    let flat = [(100, false); 3];
    let states = states_after(&[doubling.as_slice(), &flat].concat());
    assert_eq!(states.iter().position(|&s| s != "Startup"), Some(6), "{states:?}");
}

#[test]
fn growth_by_a_quarter_keeps_startup_going() {
    let states =
        states_after(&[(1000, false), (800, false), (640, false), (512, false), (409, false), (327, false)]);
    assert!(states.iter().all(|&s| s == "Startup"), "{states:?}");
}

#[test]
fn app_limited_rounds_do_not_count_towards_a_full_pipe() {
    let states =
        states_after(&[(100, false), (100, false), (100, true), (100, true), (100, false), (100, true)]);
    assert!(states.iter().all(|&s| s == "Startup"), "{states:?}");
}

#[test]
fn the_ack_that_ends_probe_rtt_hides_samples_once_more() {
    let mut sender = Loop::in_state("bbr1", json!({}), "ProbeBW:Up");
    sender.run_until("ProbeRTT");
    while sender.state_name() == "ProbeRTT" {
        sender.ack();
        assert!(sender.algorithm.control().hide_samples);
    }
    sender.ack();
    assert!(!sender.algorithm.control().hide_samples);
}

#[test]
fn probe_bw_never_starts_in_the_draining_phase() {
    for seed in 0..200 {
        let mut sender = Loop::with(build("bbr1", &json!({}), seed).unwrap(), RTPROP_US);
        while !sender.state_name().starts_with("ProbeBW") {
            sender.ack();
        }
        assert!(["ProbeBW:Up", "ProbeBW:Cruise"].contains(&sender.state_name()), "seed {seed}");
    }
}
