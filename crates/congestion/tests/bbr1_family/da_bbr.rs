//! Properties of `da_bbr` that need no network.

use super::{BDP, Loop, RTPROP_US};
use congestion::{CaState, Congestion};
use serde_json::json;

/// Return the window in BDP at a constant RTT of `rtt_us`, without the room for bursts.
fn window(rtt_us: u64) -> f64 {
    let mut sender = Loop::in_state("da_bbr", json!({}), "ProbeBW:Cruise");
    sender.rtt_us = rtt_us;
    (0..300).for_each(|_| sender.ack()); // the window rises by one packet per ACK, or falls immediately
    (sender.cwnd() - 3.0 * sender.burst()) / BDP
}

fn assert_window(rtt_us: u64, expected: f64) {
    let found = window(rtt_us);
    assert!((found - expected).abs() <= 4.0 / BDP, "{found}, expected {expected}"); // rounded to even, and two packets for a probe
}

#[test]
fn without_a_queue_the_window_is_one_bdp() {
    assert_window(RTPROP_US, 1.0);
}

#[test]
fn with_a_queue_of_one_rtt_the_window_is_four_thirds_of_a_bdp() {
    assert_window(2 * RTPROP_US, 4.0 / 3.0);
}

#[test]
fn with_a_queue_of_nine_rtts_the_window_is_twenty_elevenths_of_a_bdp() {
    assert_window(10 * RTPROP_US, 20.0 / 11.0);
}

#[test]
fn probe_rtt_holds_a_third_of_the_window() {
    let mut sender = Loop::in_state("da_bbr", json!({}), "ProbeBW:Cruise");
    sender.rtt_us = RTPROP_US + 1_000; // an RTT equal to the minimum would renew the minimum
    sender.run(5.0);
    let before = loop {
        let before = sender.cwnd();
        sender.ack();
        if sender.state_name() == "ProbeRTT" {
            break before;
        }
    };
    assert_eq!(sender.cwnd(), (before / 3.0).floor());
}

/// Return a sender at the start of recovery, and its window before recovery.
fn recovering() -> (Loop, f64) {
    let mut sender = Loop::in_state("da_bbr", json!({}), "ProbeBW:Cruise");
    sender.run(0.05);
    let before = sender.cwnd();
    let path = sender.path();
    sender.algorithm.on_congestion(Congestion::Loss, &path);
    sender.state = CaState::Recovery;
    sender.in_flight = 50;
    sender.ack_of(units::Duration::from_micros(100), 50, 1);
    (sender, before)
}

#[test]
fn recovery_begins_with_what_is_in_flight_at_a_gain_of_three_quarters() {
    let (mut sender, _) = recovering();
    assert_eq!(sender.cwnd(), 50.0);
    sender.ack_of(units::Duration::from_micros(100), 50, 0);
    assert_eq!(sender.cwnd(), 50.0); // stays at the packets in flight for one round
    assert_eq!(sender.see("pacing_gain"), 0.75);
}

#[test]
fn after_recovery_the_window_grows_back_by_what_is_acknowledged() {
    let (mut sender, before) = recovering();
    sender.state = CaState::Open;
    for n in 1..=20 {
        sender.ack_of(units::Duration::from_micros(100), 50, 0);
        assert_eq!(sender.cwnd(), 50.0 + f64::from(n));
    }
    assert!(sender.cwnd() < before);
}

#[test]
fn a_grown_minimum_gives_the_window_of_bbr1_back() {
    let mut sender = Loop::in_state("da_bbr", json!({}), "ProbeBW:Cruise");
    sender.rtt_us = RTPROP_US * 3 / 2;
    sender.run(12.0); // the path has become longer, and the old minimum expires
    assert!(sender.state_name().starts_with("ProbeBW"));
    assert_eq!(sender.see("window_share"), 1.0);
}
