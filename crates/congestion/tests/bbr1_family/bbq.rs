//! Properties of `bbq` that need no network.

use super::{GAP_US, Loop, RTPROP_US};
use congestion::build;
use serde_json::json;

/// Return the duration of a probe in seconds with a constant RTT of `rtt_us`, while the in-flight condition of BBRv1 is
/// met.
fn probe_s(algorithm: &str, rtt_us: u64) -> f64 {
    let mut sender = Loop::in_state(algorithm, json!({}), "ProbeBW:Cruise");
    sender.rtt_us = rtt_us;
    sender.run_until("ProbeBW:Up");
    sender.run_until("ProbeBW:Down")
}

#[test]
fn a_probe_into_a_standing_queue_lasts_three_milliseconds_and_one_ack() {
    let probe = probe_s("bbq", 2 * RTPROP_US);
    assert!(probe > 3e-3 && probe <= 3e-3 + 2e-6 * GAP_US as f64, "{probe}");
}

#[test]
fn the_same_probe_of_bbr1_lasts_the_rtt() {
    let probe = probe_s("bbr1", 2 * RTPROP_US);
    assert!(probe > 1e-6 * RTPROP_US as f64, "{probe}");
}

#[test]
fn a_queue_below_a_tenth_of_the_rtt_does_not_shorten_the_probe() {
    let mut sender = Loop::in_state("bbq", json!({}), "ProbeBW:Up");
    sender.rtt_us = RTPROP_US * 109 / 100;
    sender.run(0.2);
    assert_eq!(sender.state_name(), "ProbeBW:Up"); // the flight remains below 1.25 BDP
    assert_eq!(sender.see("queue_detected"), 0.0);
}

#[test]
fn where_the_rtt_is_below_three_milliseconds_the_probe_lasts_the_rtt() {
    let mut sender = Loop::with(build("bbq", &json!({}), 1).unwrap(), 2_000);
    sender.run_until("ProbeBW:Cruise");
    sender.rtt_us = 6_000;
    sender.run_until("ProbeBW:Up");
    let probe = sender.run_until("ProbeBW:Down");
    assert!(probe > 2e-3 && probe <= 2e-3 + 2e-6 * GAP_US as f64, "{probe}");
}
