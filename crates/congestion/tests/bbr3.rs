//! BBRv3 step by step. For its behaviour on paths see `tests/theory/test_bbr3.py`.

use crate::flow::{BDP, Flow};
use congestion::{CaState, Congestion, Sent};
use serde_json::{Value, json};
use units::Duration;

fn google() -> Flow {
    Flow::new("bbr3", Value::Null)
}

fn draft() -> Flow {
    Flow::new("bbr3", json!({ "preset": "draft" }))
}

#[test]
fn startup_ends_after_three_rounds_with_less_than_25_percent_growth() {
    let mut flow = google();
    flow.in_flight = 10 * BDP; // a long queue, so that DRAIN lasts
    for packets in [100, 124, 124] {
        flow.round(packets);
        assert_eq!(flow.state(), "Startup");
    }
    flow.round(124);
    assert_eq!(flow.state(), "Drain");
}

#[test]
fn growth_of_25_percent_starts_the_count_anew() {
    let mut flow = google();
    for packets in [100, 110, 120, 126, 126, 126] {
        flow.round(packets);
    }
    assert_eq!((flow.state(), flow.variable("full_bw_cnt")), ("Startup", Some(2.0)));
}

#[test]
fn rounds_limited_by_the_application_do_not_end_startup() {
    let mut flow = google();
    flow.app_limited = true;
    flow.rounds(20);
    assert_eq!(flow.state(), "Startup");
}

#[test]
fn six_loss_events_in_a_round_of_recovery_end_startup_if_more_than_2_percent_was_lost() {
    assert_eq!(Flow::lossy_startup("bbr3", 5).state(), "Startup");
    assert_eq!(Flow::lossy_startup("bbr3", 6).state(), "Drain");
}

#[test]
fn startup_ended_by_loss_bounds_the_flight_by_what_a_round_delivered() {
    let bound = Flow::lossy_startup("bbr3", 6).variable("inflight_hi").unwrap();
    assert!((400.0..=401.0).contains(&bound), "{bound}"); // bandwidth and BDP are rounded up
}

#[test]
fn growth_within_a_round_counts_for_google_and_not_for_the_draft() {
    let counted = |mut flow: Flow| {
        flow.round(BDP);
        flow.round(BDP);
        flow.within_round(2 * BDP, |_, _| {});
        flow.round(BDP);
        flow.variable("full_bw_cnt")
    };
    assert_eq!(counted(google()), Some(1.0));
    assert_eq!(counted(draft()), Some(2.0));
}

#[test]
fn google_drains_until_the_queue_is_gone_and_the_draft_for_three_rounds_at_most() {
    let drained = |mut flow: Flow| {
        flow.in_flight = 3 * BDP;
        flow.rounds(4 + 4);
        flow.state()
    };
    assert_eq!(drained(google()), "Drain");
    assert_eq!(drained(draft()), "ProbeBW:Down");
}

#[test]
fn refill_lasts_one_round() {
    let mut flow = google().cruise();
    flow.until("ProbeBW:Refill", BDP);
    flow.round(BDP);
    assert_eq!(flow.state(), "ProbeBW:Up");
}

#[test]
fn a_probe_ends_after_three_rounds_without_growth() {
    let mut flow = google().up();
    flow.rounds(1);
    assert_eq!(flow.state(), "ProbeBW:Up");
    flow.rounds(1);
    assert_eq!(flow.state(), "ProbeBW:Down");
}

#[test]
fn a_probe_goes_on_while_the_bandwidth_grows() {
    let mut flow = google().up();
    for packets in [126, 158, 198] {
        flow.round(packets);
        assert_eq!(flow.state(), "ProbeBW:Up");
    }
}

#[test]
fn loss_above_2_percent_in_up_bounds_the_flight_where_it_crossed_the_threshold() {
    let mut flow = google().up();
    flow.lose(150, 2);
    assert_eq!(flow.variable("inflight_hi"), None); // 2 of 150 packets are less than 2 %
    flow.lose(150, 3);
    // Up to 2.9 of 149 packets may be lost. As 2 packets were lost, the loss of the 150th packet exceeds the threshold.
    let crossing = 149.0 + (0.01953 * 149.0 - 2.0) / (1.0 - 0.01953);
    let bound = flow.variable("inflight_hi").unwrap();
    assert!((bound - crossing).abs() <= 1.0, "{bound} and {crossing}");
    assert_eq!(flow.state(), "ProbeBW:Down");
}

#[test]
fn the_bound_keeps_seven_tenths_of_the_bdp() {
    let mut flow = google().up();
    let target = flow.variable("bdp").unwrap() + 2.0; // two packets of room for a probe
    flow.lose(30, 3);
    assert_eq!(flow.variable("inflight_hi"), Some((target * 180.0 / 256.0).floor()));
}

#[test]
fn a_probe_is_cut_once_only() {
    let mut flow = google().up();
    flow.lose(150, 10);
    let bound = flow.variable("inflight_hi");
    (11..40).for_each(|n| flow.lose(80, n));
    assert_eq!(flow.variable("inflight_hi"), bound);
}

#[test]
fn loss_limited_by_the_application_ends_the_probe_but_sets_no_bound() {
    let mut flow = google().up();
    flow.app_limited = true;
    flow.lose(150, 10);
    assert_eq!((flow.state(), flow.variable("inflight_hi")), ("ProbeBW:Down", None));
}

#[test]
fn a_safe_flight_above_the_bound_raises_it() {
    let mut flow = google().up();
    flow.lose(120, 10);
    flow.round_with(BDP, |_, sample| sample.tx_in_flight = 130);
    assert_eq!(flow.variable("inflight_hi"), Some(130.0));
}

#[test]
fn the_window_of_cruise_leaves_15_percent_of_the_bound_free() {
    let mut flow = google().up();
    flow.lose(120, 10);
    let bound = flow.variable("inflight_hi").unwrap() as u32;
    flow.in_flight = BDP / 2;
    flow.rounds(3);
    assert_eq!((flow.state(), flow.cwnd()), ("ProbeBW:Cruise", bound - bound * 38 / 256));
}

#[test]
fn in_up_the_bound_grows_by_one_then_two_then_four_packets_per_round() {
    let mut flow = google().up();
    flow.lose(120, 10);
    flow.in_flight = BDP / 2;
    flow.until("ProbeBW:Up", BDP);
    flow.in_flight = 0; // far below the bound, so that the bound does not end the probe
    flow.algorithm.set_cwnd(120);
    let mut growth = Vec::new();
    for _ in 0..4 {
        let before = flow.variable("inflight_hi").unwrap();
        flow.round_with(flow.cwnd(), |_, sample| sample.tx_in_flight = 1);
        growth.push(flow.variable("inflight_hi").unwrap() - before);
    }
    assert_eq!(growth, [1.0, 2.0, 4.0, 8.0]);
}

#[test]
fn loss_in_cruise_cuts_the_short_term_bounds_once_per_round() {
    let mut flow = google().cruise();
    flow.round(10); // a small delivery, because the bounds never fall below the latest delivery
    let window = f64::from(flow.cwnd());
    for n in 1..=5 {
        flow.lose(BDP, n);
        flow.within_round(10, |ack, _| ack.lost = 1);
    }
    assert_eq!(flow.variable("inflight_lo"), None); // the round is not over
    flow.round(10);
    let (bw, inflight) = (flow.per_rtt("bw_lo").unwrap(), flow.variable("inflight_lo").unwrap());
    assert!((bw - f64::from(BDP) * 180.0 / 256.0).abs() < 0.1, "{bw}");
    assert_eq!(inflight, (window * 180.0 / 256.0).floor());
}

#[test]
fn the_short_term_bounds_do_not_fall_below_what_the_round_delivered() {
    let mut flow = google().cruise();
    flow.round(10);
    flow.lose(BDP, 1);
    flow.round(95);
    assert!((flow.per_rtt("bw_lo").unwrap() - 95.0).abs() < 0.1);
}

#[test]
fn a_new_probe_forgets_the_short_term_bounds() {
    let mut flow = google().cruise();
    flow.lose(BDP, 1);
    flow.round(10);
    flow.until("ProbeBW:Refill", BDP);
    assert_eq!((flow.variable("bw_lo"), flow.variable("inflight_lo")), (None, None));
}

#[test]
fn loss_below_2_percent_in_up_sets_no_bound_at_all() {
    let mut flow = google().up();
    flow.lose(150, 1);
    flow.round_with(BDP, |ack, sample| (ack.lost, sample.lost) = (1, 1));
    assert_eq!(flow.variable("inflight_hi"), None);
    assert_eq!(flow.variable("bw_lo"), None);
}

#[test]
fn a_tail_loss_in_a_small_probe_bounds_it() {
    let mut flow = google().cruise();
    (0..63).for_each(|_| flow.round(20));
    flow.until("ProbeBW:Up", 20);
    flow.round(20);
    flow.congest(Congestion::TailLoss { app_limited: false });
    assert_eq!(flow.state(), "ProbeBW:Down");
    assert!(flow.variable("inflight_hi").is_some());
}

#[test]
fn after_a_timeout_the_window_returns() {
    let mut flow = google().cruise();
    let window = flow.cwnd();
    flow.congest(Congestion::Timeout { first: true });
    flow.algorithm.set_cwnd(1);
    flow.state = CaState::Loss;
    flow.within_round(1, |_, _| {});
    assert!(flow.cwnd() <= 5, "{}", flow.cwnd());
    flow.state = CaState::Open;
    flow.within_round(1, |_, _| {});
    assert!(flow.cwnd() >= window, "{} after {window}", flow.cwnd());
}

#[test]
fn after_fast_recovery_the_window_returns_in_the_draft_only() {
    let returned = |mut flow: Flow| {
        let window = flow.cwnd();
        flow.congest(Congestion::Loss);
        flow.state = CaState::Recovery;
        flow.within_round(BDP, |_, _| {});
        flow.algorithm.set_cwnd(50);
        flow.state = CaState::Open;
        flow.within_round(BDP, |_, _| {});
        flow.cwnd() >= window
    };
    assert!(!returned(google().cruise()));
    assert!(returned(draft().cruise()));
}

#[test]
fn undoing_a_spurious_loss_returns_the_bounds() {
    let mut flow = google().cruise();
    let window = flow.cwnd();
    flow.lose(BDP, 1);
    flow.congest(Congestion::Loss);
    flow.round(10);
    assert!(flow.variable("inflight_lo").is_some());
    flow.undo();
    assert_eq!((flow.variable("inflight_lo"), flow.variable("bw_lo"), flow.cwnd()), (None, None, window));
}

#[test]
fn a_window_that_grew_since_the_spurious_loss_is_kept_in_the_draft_only() {
    let after_undo = |mut flow: Flow| {
        let window = flow.cwnd();
        flow.congest(Congestion::Loss);
        flow.algorithm.set_cwnd(window + 20);
        flow.undo();
        flow.cwnd() - window
    };
    assert_eq!(after_undo(google().cruise()), 0);
    assert_eq!(after_undo(draft().cruise()), 20);
}

#[test]
fn undoing_the_loss_that_ended_a_probe_probes_again_in_the_draft_only() {
    let state = |mut flow: Flow| {
        flow.lose(150, 10);
        flow.congest(Congestion::Loss);
        flow.undo();
        flow.state()
    };
    assert_eq!(state(google().up()), "ProbeBW:Down");
    assert_eq!(state(draft().up()), "ProbeBW:Refill");
}

#[test]
fn after_idle_the_flow_paces_at_its_bandwidth() {
    let mut flow = google().up();
    flow.round(BDP);
    let probing = flow.algorithm.control().pacing_rate.unwrap();
    flow.app_limited = true;
    let path = flow.path();
    flow.algorithm.on_send(&Sent { packets: 1, from_idle: true, gap: Duration::from_millis(500) }, &path);
    let rate = flow.algorithm.control().pacing_rate.unwrap();
    assert!((probing.bits_per_sec() as f64 / rate.bits_per_sec() as f64 - 1.25).abs() < 1e-6);
}

#[test]
fn a_delayed_ack_does_not_renew_the_rtt_for_google_and_does_for_the_draft() {
    let probes = |mut flow: Flow| {
        flow.now += Duration::from_millis(10_001); // the RTT minimum of PROBE_RTT and the RTT minimum of the model have expired
        flow.within_round(BDP, |ack, _| {
            ack.delayed = true;
            ack.rtt = Some(Duration::from_millis(80));
        });
        flow.variable("min_rtt")
    };
    assert_eq!(probes(google().cruise()), Some(0.04));
    assert_eq!(probes(draft().cruise()), Some(0.08));
}

#[test]
fn the_ack_that_ends_probe_rtt_hides_samples_once_more() {
    let mut flow = google().cruise();
    flow.in_flight = BDP / 2;
    flow.until("ProbeRTT", BDP);
    while flow.state() == "ProbeRTT" {
        flow.round(BDP);
        assert!(flow.algorithm.control().hide_samples);
    }
    flow.round(BDP);
    assert!(!flow.algorithm.control().hide_samples);
}

#[test]
fn marks_on_a_short_path_cut_the_flight_by_a_third_of_their_average() {
    let mut flow = Flow::with_rtt("bbr3", json!({ "ecn": true }), Duration::from_millis(4)).cruise();
    let (window, alpha) = (f64::from(flow.cwnd()), flow.variable("ecn_alpha").unwrap());
    flow.round_with(50, |ack, sample| (ack.marked, sample.marked) = (25, 25));
    let expected = alpha * 15.0 / 16.0 + 0.5 / 16.0;
    assert!((flow.variable("ecn_alpha").unwrap() - expected).abs() < 2.0 / 256.0);
    let cut = window * (1.0 - flow.variable("ecn_alpha").unwrap() / 3.0);
    assert!((flow.variable("inflight_lo").unwrap() - cut).abs() < 2.0);
}

#[test]
fn marks_on_a_long_path_are_ignored() {
    let mut flow = Flow::new("bbr3", json!({ "ecn": true })).cruise();
    flow.round_with(BDP, |ack, sample| (ack.marked, sample.marked) = (BDP, BDP));
    assert_eq!(flow.variable("inflight_lo"), None);
}
