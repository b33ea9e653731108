//! Properties of `ad_bbr` that need no network.

use super::{Loop, RTPROP_US};
use congestion::build;
use serde_json::{Value, json};
use units::Duration;

/// Presets that multiply the rate by gamma.
const TIMES: [&str; 5] = ["literal", "faithful", "sane", "dynamic", "si"];
const ALL: [&str; 7] = ["literal", "faithful", "sane", "dynamic", "si", "reduce", "reduce_dynamic"];
/// Presets in which nRTT is always RTprop.
const NO_REFERENCE: [&str; 5] = ["literal", "faithful", "sane", "si", "reduce"];

fn preset(name: &str) -> Value {
    json!({ "preset": name })
}

/// A sender in UP on an empty path.
fn probing(name: &str) -> Loop {
    Loop::in_state("ad_bbr", preset(name), "ProbeBW:Up")
}

/// Return the factor of the pacing rate after one RTT sample of `rtprop_us` + `queue_us`, with nRTT =
/// `rtprop_us`.
fn factor(name: &str, rtprop_us: u64, queue_us: u64) -> f64 {
    let mut sender = Loop::with(build("ad_bbr", &preset(name), 1).unwrap(), rtprop_us);
    sender.ack();
    sender.rtt_us = rtprop_us + queue_us;
    sender.ack();
    sender.see("pacing_factor")
}

/// Queueing delays in microseconds at which the RTT is at least 1.5 times RTprop.
fn far_queues(rtprop_us: u64) -> impl Iterator<Item = u64> {
    (0..60).map(move |n| rtprop_us / 2 + n * rtprop_us / 4)
}

#[test]
fn at_a_ratio_of_1_3_a_probe_paces_at_0_9615_of_the_bandwidth() {
    for name in ALL {
        let mut sender = probing(name);
        sender.rtt_us = RTPROP_US * 13 / 10;
        sender.ack();
        assert!((sender.pace() - 1.25 / 1.3 * 0.99).abs() < 1e-4, "{name}: {}", sender.pace());
    }
}

#[test]
fn beta_cancels_the_probe_exactly_at_a_ratio_of_1_25() {
    let mut sender = probing("faithful");
    sender.rtt_us = RTPROP_US * 5 / 4;
    sender.ack();
    assert!((sender.pace() - 0.99).abs() < 1e-4, "{}", sender.pace());
}

#[test]
fn below_a_ratio_of_1_25_the_rate_is_that_of_bbr1() {
    let mut sender = probing("faithful");
    sender.rtt_us = RTPROP_US * 124 / 100;
    sender.ack();
    assert!((sender.pace() - 1.25 * 0.99).abs() < 1e-4, "{}", sender.pace());
}

#[test]
fn four_more_milliseconds_never_bring_probe_rtt() {
    let mut sender = probing("faithful");
    sender.rtt_us = RTPROP_US + 4_000;
    for _ in 0..60 {
        sender.run(1.0);
        assert_ne!(sender.state_name(), "ProbeRTT");
    }
}

#[test]
fn six_more_milliseconds_bring_probe_rtt_after_ten_seconds() {
    let mut sender = probing("faithful");
    sender.rtt_us = RTPROP_US + 6_000;
    let after = sender.run_until("ProbeRTT");
    assert!((after - 10.0).abs() < 0.026, "{after}");
}

#[test]
fn one_low_sample_restarts_the_ten_seconds() {
    let mut sender = probing("faithful");
    sender.rtt_us = RTPROP_US + 6_000;
    sender.run(9.0);
    sender.rtt_us = RTPROP_US + 4_000;
    sender.ack();
    sender.rtt_us = RTPROP_US + 6_000;
    let after = sender.run_until("ProbeRTT");
    assert!((after - 10.0).abs() < 0.026, "{after}");
}

#[test]
fn gamma_falls_with_the_queue() {
    for name in TIMES {
        for rtprop_us in [1_000, 2_000, 10_000, 50_000, 100_000] {
            let factors: Vec<f64> = far_queues(rtprop_us).map(|q| factor(name, rtprop_us, q)).collect();
            assert!(factors.is_sorted_by(|a, b| a >= b), "{name}, {rtprop_us} us: {factors:?}");
        }
    }
}

#[test]
fn gamma_is_at_most_one_over_beta_where_it_is_clamped() {
    for name in ["faithful", "sane", "dynamic"] {
        for rtprop_us in [1_000, 2_000, 10_000, 50_000, 100_000] {
            for queue_us in far_queues(rtprop_us) {
                let beta = (rtprop_us + queue_us) as f64 / rtprop_us as f64;
                let found = factor(name, rtprop_us, queue_us);
                assert!(found <= 1.0 / beta + 1e-12, "{name}: {found} at {beta}");
            }
        }
    }
}

#[test]
fn gamma_in_seconds_exceeds_one_for_every_queue_below_a_second() {
    for rtprop_us in [2_000, 10_000, 100_000] {
        for queue_us in far_queues(rtprop_us).filter(|&q| q < 999_000) {
            assert!(factor("si", rtprop_us, queue_us) > 1.0);
        }
    }
}

#[test]
fn gamma_has_the_printed_numbers_in_milliseconds() {
    for (rtprop_ms, queue_ms, expected) in [(10, 5, 0.2), (10, 10, 0.1), (50, 25, 0.04), (100, 50, 0.02)] {
        let found = factor("literal", 1_000 * rtprop_ms, 1_000 * queue_ms);
        assert!((found - expected).abs() < 1e-6, "{rtprop_ms} ms + {queue_ms} ms: {found}");
    }
}

#[test]
fn a_rate_reduced_by_gamma_is_1_minus_gamma_of_it_in_milliseconds() {
    for name in ["reduce", "reduce_dynamic"] {
        for (rtprop_ms, queue_ms, expected) in [(10, 5, 0.8), (10, 10, 0.9), (50, 25, 0.96), (1, 1, 0.01)] {
            let found = factor(name, 1_000 * rtprop_ms, 1_000 * queue_ms);
            assert!((found - expected).abs() < 1e-5, "{name}, {rtprop_ms} ms + {queue_ms} ms: {found}");
        }
    }
}

#[test]
fn alpha_and_hold_s_do_nothing_where_the_reference_is_rtprop() {
    for name in NO_REFERENCE {
        let trace = |alpha: f64, hold_s: f64| -> Vec<f64> {
            let params = json!({ "preset": name, "alpha": alpha, "hold_s": hold_s });
            let mut sender = Loop::in_state("ad_bbr", params, "ProbeBW:Up");
            let rtts = [11, 13, 16, 30, 12].map(|tenths| RTPROP_US * tenths / 10);
            let of_rtt = |rtt_us| {
                sender.rtt_us = rtt_us;
                sender.run(1.0);
                [sender.see("nrtt"), sender.pace()]
            };
            rtts.into_iter().flat_map(of_rtt).collect()
        };
        assert_eq!(trace(1.25, 0.3), trace(9.0, 0.0), "{name}");
    }
}

#[test]
fn drain_empties_the_queue_of_startup_whatever_the_reference_has_become() {
    for name in ["dynamic", "reduce_dynamic"] {
        let mut sender = Loop::new("ad_bbr", preset(name));
        sender.rtt_us = 3 * RTPROP_US;
        sender.run_until("Drain");
        sender.run(0.5);
        assert_eq!((sender.see("nrtt"), sender.state_name()), (0.06, "Drain"), "{name}");
    }
}

/// A sender on a path whose RTT without a queue rose to 60 ms `seconds` ago.
fn after_a_longer_path(name: &str, seconds: f64) -> Loop {
    let mut sender = probing(name);
    sender.rtt_us = 60_000;
    sender.run(seconds);
    sender
}

#[test]
fn a_longer_path_throttles_faithful_to_a_fortieth() {
    for name in ["literal", "faithful"] {
        let found = after_a_longer_path(name, 0.001).see("pacing_factor");
        assert!((found - 0.025).abs() < 1e-6, "{name}: {found}");
    }
}

#[test]
fn a_longer_path_makes_faithful_forget_the_bandwidth() {
    let before = probing("faithful").see("bw");
    let after = after_a_longer_path("faithful", 5.0).see("bw");
    assert!(after < 0.1 * before, "{before} to {after}");
}

#[test]
fn only_probe_rtt_ten_seconds_later_tells_faithful_of_a_longer_path() {
    let mut sender = after_a_longer_path("faithful", 0.001);
    let after = sender.run_until("ProbeRTT");
    assert!((9.9..10.2).contains(&after), "{after}");
    sender.run(1.0);
    assert_eq!(sender.see("min_rtt"), 0.06);
    assert_eq!(sender.see("pacing_factor"), 1.0);
}

#[test]
fn a_longer_path_throttles_sane_to_a_quarter() {
    assert_eq!(after_a_longer_path("sane", 0.001).see("pacing_factor"), 0.25);
}

#[test]
fn dynamic_follows_a_longer_path_within_0_3_seconds() {
    assert!(after_a_longer_path("dynamic", 0.25).see("pacing_factor") < 1.0);
    let later = after_a_longer_path("dynamic", 0.35);
    assert_eq!(later.see("pacing_factor"), 1.0);
    assert_eq!(later.see("nrtt"), 0.06);
}

#[test]
fn a_sample_below_rtprop_lowers_rtprop_and_nrtt_at_once() {
    for name in ALL {
        for delayed in [false, true] {
            let mut sender = probing(name);
            sender.rtt_us = RTPROP_US / 2;
            sender.delayed = delayed;
            sender.ack();
            assert_eq!((sender.see("min_rtt"), sender.see("nrtt")), (0.01, 0.01), "{name}");
        }
    }
}

#[test]
fn rtprop_does_not_expire() {
    let mut sender = probing("faithful");
    sender.rtt_us = RTPROP_US + 4_000;
    sender.run(30.0);
    assert_eq!(sender.see("min_rtt"), 1e-6 * RTPROP_US as f64);
}

#[test]
fn other_readings_of_the_expiry_take_a_standing_queue_for_the_path() {
    for expiry in ["sliding", "overwrite"] {
        let mut sender = Loop::in_state("ad_bbr", json!({ "rtprop_expiry": expiry }), "ProbeBW:Up");
        sender.rtt_us = RTPROP_US + 4_000;
        sender.run(30.0);
        assert_eq!(sender.see("min_rtt"), 0.024, "{expiry}");
    }
}

#[test]
fn counters_use_gamma_after_three_rounds_far_above() {
    let mut sender = Loop::in_state("ad_bbr", json!({ "trigger": "counters" }), "ProbeBW:Up");
    sender.rtt_us = 2 * RTPROP_US;
    sender.ack();
    let beta = sender.see("pacing_factor");
    assert_eq!(beta, 0.5);
    sender.run(0.2);
    assert!(sender.see("pacing_factor") < 0.5);
}

#[test]
fn counters_use_beta_wherever_the_rtt_exceeds_the_reference() {
    let mut sender = Loop::in_state("ad_bbr", json!({ "trigger": "counters" }), "ProbeBW:Up");
    sender.rtt_us = RTPROP_US * 11 / 10;
    sender.ack();
    assert!((sender.see("pacing_factor") - 1.0 / 1.1).abs() < 1e-9);
}

#[test]
fn a_delayed_ack_does_not_slow_the_flow() {
    let mut sender = probing("faithful");
    sender.rtt_us = 3 * RTPROP_US;
    sender.delayed = true;
    sender.now += Duration::from_millis(1);
    sender.ack();
    assert_eq!(sender.see("pacing_factor"), 1.0);
}
