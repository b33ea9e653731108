//! Tests of token buckets for shaping and for policing.

use super::*;
use units::Rate;

#[test]
fn a_saturated_shaper_sends_exactly_its_rate() {
    let mut queue = queue("tbf", json!({ "rate_bps": 12_000_000, "burst_bytes": 1500 })); // 1500 bytes per ms
    let mut events = QueueEvents::default();
    (0..1001).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut events));
    let mut now = Time::ZERO;
    while queue.backlog().packets > 0 {
        now = now.max(queue.ready());
        assert!(queue.dequeue(now, &mut events).is_some());
    }
    assert_eq!(now, at(1000.0));
}

#[test]
fn a_new_rate_takes_over_at_its_time_and_leaves_the_tokens() {
    let mut queue = queue("tbf", json!({ "rate_bps": 12_000_000, "burst_bytes": 1500 })); // 1500 bytes per ms
    let rates = [(at(2.5), 1_200_000), (at(27.5), 12_000_000)];
    let kept = queue.shape(rates.map(|(time, rate)| (time, Rate::from_bits_per_sec(rate))).to_vec());
    assert!(kept.is_empty());
    let mut events = QueueEvents::default();
    (0..8).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut events));
    let times: Vec<Time> = (0..8)
        .map(|_| {
            let ready = queue.ready();
            queue.dequeue(ready, &mut events).unwrap();
            ready
        })
        .collect();
    // Half of the tokens for the fourth packet arrive within half a millisecond. The other half of the tokens takes ten
    // times as long, as the rate is then a tenth.
    assert_eq!(times, [0.0, 1.0, 2.0, 7.5, 17.5, 27.5, 28.5, 29.5].map(at));
}

#[test]
fn only_a_shaper_keeps_rates_to_itself() {
    let rates = vec![(at(1.0), Rate::from_bits_per_sec(1))];
    for kind in ["drop_tail", "fq_codel", "police"] {
        assert_eq!(queue(kind, json!({})).shape(rates.clone()), rates);
    }
}

#[test]
fn the_peak_rate_spreads_a_burst() {
    let params =
        json!({ "rate_bps": 1_200_000, "burst_bytes": 15_000, "peak_bps": 12_000_000, "mtu_bytes": 1500 });
    let mut queue = queue("tbf", params);
    let mut events = QueueEvents::default();
    (0..3).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut events));
    let times: Vec<Time> = (0..3)
        .map(|_| {
            let ready = queue.ready();
            queue.dequeue(ready, &mut events).unwrap();
            ready
        })
        .collect();
    assert_eq!(times, [0.0, 1.0, 2.0].map(at));
}

#[test]
fn a_policer_drops_the_excess_and_delays_nothing() {
    let mut queue = queue("police", json!({ "rate_bps": 12_000_000, "burst_bytes": 3000 }));
    let mut events = QueueEvents::default();
    for n in 0..5 {
        queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut events);
    }
    assert_eq!(events.dropped_packets, 3);
    assert!(queue.dequeue(Time::ZERO, &mut events).is_some());
}
