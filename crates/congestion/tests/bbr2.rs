//! Differences of BBRv2 from BBRv3, step by step.

use crate::flow::{BDP, Flow};
use congestion::Congestion;
use serde_json::{Value, json};
use units::Duration;

#[test]
fn bbr2_needs_eight_loss_events_to_leave_startup() {
    assert_eq!(Flow::lossy_startup("bbr2", 7).state(), "Startup");
    assert_eq!(Flow::lossy_startup("bbr2", 8).state(), "Drain");
}

#[test]
fn bbr2_bounds_the_flight_by_the_bdp_when_loss_ends_startup() {
    let flow = Flow::lossy_startup("bbr2", 8);
    assert_eq!(flow.variable("inflight_hi"), flow.variable("bdp"));
}

#[test]
fn bbr2_forgets_what_the_probe_delivered_when_it_is_over() {
    let floor = |name: &str| {
        let mut flow = Flow::new(name, Value::Null).up();
        flow.in_flight = 2 * BDP;
        flow.until("ProbeBW:Down", BDP); // the last sample of UP has delivered a whole BDP
        flow.lose(2 * BDP, 1);
        flow.round(10);
        flow.per_rtt("bw_lo").unwrap()
    };
    let share = |bw: f64| (bw / f64::from(BDP) * 256.0).round();
    assert_eq!((share(floor("bbr2")), share(floor("bbr3"))), (180.0, 256.0));
}

#[test]
fn bbr2_does_not_count_tail_losses() {
    let mut flow = Flow::new("bbr2", Value::Null).up();
    flow.congest(Congestion::TailLoss { app_limited: false });
    assert_eq!(flow.variable("inflight_hi"), None);
}

/// Return the growth of a bound of 120 packets in UP, after three ACKs of 60 packets. The window is full at the first
/// and the third ACK. The bound grows by one packet for every acknowledged window.
fn growth_with_a_pause(name: &str) -> f64 {
    let mut flow = Flow::new(name, Value::Null).up();
    flow.lose(120, 10);
    flow.in_flight = BDP / 2;
    flow.until("ProbeBW:Up", BDP);
    flow.in_flight = 0; // far below the bound, so that the bound does not end the probe
    let before = flow.variable("inflight_hi").unwrap();
    for full in [true, false, true] {
        flow.algorithm.set_cwnd(120);
        flow.cwnd_limited = full;
        flow.within_round(60, |ack, sample| (ack.acked, sample.tx_in_flight) = (60, 1));
    }
    flow.variable("inflight_hi").unwrap() - before
}

#[test]
fn bbr2_forgets_growth_of_the_bound_that_was_not_used() {
    assert_eq!((growth_with_a_pause("bbr2"), growth_with_a_pause("bbr3")), (0.0, 1.0));
}

/// A flow on a path with an RTT so short that BBRv2 reacts to marks.
fn marked() -> Flow {
    Flow::with_rtt("bbr2", json!({ "ecn": true }), Duration::from_millis(4))
}

#[test]
fn bbr2_bounds_the_bandwidth_by_marks_unless_the_application_was_the_limit() {
    for app_limited in [false, true] {
        let mut flow = marked().cruise();
        flow.until("ProbeBW:Up", BDP);
        flow.app_limited = app_limited;
        flow.round_with(BDP, |ack, sample| (ack.marked, sample.marked) = (BDP, BDP));
        assert_eq!(flow.state(), "ProbeBW:Down");
        assert_eq!(flow.variable("bw_hi").is_none(), app_limited);
    }
}

#[test]
fn bbr2_cuts_the_bandwidth_for_marks_or_for_loss_whatever_is_lower_but_not_for_both() {
    let bw_lo = |marked_packets: u32, lost: bool| {
        let mut flow = marked().cruise();
        flow.round(10); // a small delivery, because the bound never falls below the latest delivery
        if lost {
            flow.lose(BDP, 1);
        }
        flow.round_with(10, |ack, sample| (ack.marked, sample.marked) = (marked_packets, marked_packets));
        flow.per_rtt("bw_lo").unwrap()
    };
    assert!(bw_lo(10, false) > bw_lo(0, true));
    assert_eq!(bw_lo(10, true), bw_lo(0, true));
}
