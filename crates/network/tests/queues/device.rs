//! The queue of a device behind a queue discipline.

use super::*;
use network::queue::Device;
use units::Rate;

/// A device of `packets` packets behind a discipline.
fn below(kind: &str, params: Value, packets: u64) -> Device<u64> {
    Device::new(queue(kind, params), packets)
}

fn offer(queue: &mut Device<u64>, numbers: std::ops::Range<u64>, now: Time) -> u64 {
    let mut events = QueueEvents::default();
    numbers.for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), now, &mut events));
    events.dropped_packets
}

#[test]
fn it_holds_its_packets_beside_those_of_the_queue_above() {
    let mut queue = below("drop_tail", json!({ "packets": 3 }), 2);
    assert_eq!((offer(&mut queue, 0..7, Time::ZERO), queue.backlog().packets), (2, 5));
}

#[test]
fn a_packet_that_leaves_makes_room_for_one_from_above() {
    let mut queue = below("drop_tail", json!({ "packets": 3 }), 2);
    offer(&mut queue, 0..5, Time::ZERO);
    queue.dequeue(at(1.0), &mut QueueEvents::default());
    assert_eq!((offer(&mut queue, 5..7, at(2.0)), queue.backlog().packets), (1, 5));
}

#[test]
fn a_shaper_fills_it_at_the_times_of_its_tokens() {
    let shaper = json!({ "rate_bps": 12_000_000, "burst_bytes": 1500 }); // 1500 bytes per ms
    let mut queue = below("tbf", shaper, 2);
    let mut events = QueueEvents::default();
    offer(&mut queue, 0..5, Time::ZERO);
    let mut times = Vec::new();
    for _ in 0..5 {
        times.push(queue.ready().max(at(2.5))); // the wire is free from 2.5 ms on
        queue.dequeue(times[times.len() - 1], &mut events).unwrap();
    }
    // By 2.5 ms, tokens suffice for two packets, and the device is full. The third packet gets its tokens as soon as
    // the device has room, at 2.5 ms, too.
    assert_eq!(times, [2.5, 2.5, 2.5, 3.5, 4.5].map(at));
}

#[test]
fn a_full_device_stops_the_clock_of_codel_from_ending_a_wait() {
    let waits = |packets| {
        let mut queue = below("codel", json!({ "target_ms": 5.0, "interval_ms": 10.0 }), packets);
        let mut events = QueueEvents::default();
        for t in 0..200_u64 {
            (0..2).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), at(t as f64), &mut events));
            queue.dequeue(at(t as f64), &mut events);
        }
        events.dropped_packets
    };
    assert!(waits(1) > 0 && waits(1_000) == 0, "{} and {}", waits(1), waits(1_000));
}

#[test]
fn rates_are_those_of_a_shaper_above() {
    let rates = vec![(at(1.0), Rate::from_bits_per_sec(1))];
    assert!(below("tbf", json!({}), 2).shape(rates.clone()).is_empty());
    assert_eq!(below("codel", json!({}), 2).shape(rates.clone()), rates);
}
