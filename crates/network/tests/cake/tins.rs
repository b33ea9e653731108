//! Tins of CAKE: effects of a packet's code point (DSCP).

use super::*;

const BEST_EFFORT: u8 = 0;
const BULK: u8 = 8;
const VOICE: u8 = 46;

fn shares(params: Value, classes: &[u8]) -> Vec<f64> {
    let offers: Vec<Offer> = (0u32..).zip(classes).map(|(n, &dscp)| Offer { dscp, ..offer(n) }).collect();
    let bytes = serve(&mut cake(params), &offers);
    let sum: f64 = bytes.iter().sum();
    bytes.iter().map(|b| b / sum).collect()
}

#[test]
fn saturated_tins_keep_to_their_thresholds_and_best_effort_gets_the_rest() {
    let shares = shares(json!({ "bandwidth_bps": 10_000_000, "rtt_ms": 1e6 }), &[BEST_EFFORT, BULK, VOICE]);
    for (share, law) in shares.iter().zip([11.0 / 16.0, 1.0 / 16.0, 4.0 / 16.0]) {
        assert!((share - law).abs() < 0.01, "{shares:?}");
    }
}

#[test]
fn a_tin_may_have_everything_that_others_leave() {
    let shares = shares(json!({ "bandwidth_bps": 10_000_000, "rtt_ms": 1e6 }), &[BULK]);
    assert_eq!(shares, [1.0]);
}

#[test]
fn without_a_rate_tins_share_by_weight() {
    let shares = shares(json!({ "rtt_ms": 1e6 }), &[BEST_EFFORT, BULK, VOICE]);
    for (share, law) in shares.iter().zip([16.0 / 21.0, 1.0 / 21.0, 4.0 / 21.0]) {
        assert!((share - law).abs() < 0.01, "{shares:?}");
    }
}

#[test]
fn besteffort_has_one_tin_for_all() {
    let params = json!({ "bandwidth_bps": 10_000_000, "rtt_ms": 1e6, "diffserv": "besteffort" });
    let shares = shares(params, &[BEST_EFFORT, BULK, VOICE]);
    assert!(jain(&shares) > 0.999, "{shares:?}");
}

#[test]
fn washed_packets_leave_without_dscp() {
    let mut queue = cake(json!({ "wash": true }));
    let mut events = QueueEvents::default();
    queue.enqueue(Packet { dscp: VOICE, ..packet(0, 100) }, Time::ZERO, &mut events);
    assert_eq!(queue.dequeue(Time::ZERO, &mut events).map(|w| w.packet.dscp), Some(0));
}
