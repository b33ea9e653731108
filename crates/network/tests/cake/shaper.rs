//! The shaper: departure times of packets.

use super::*;

/// Serve all packets, each as soon as it may leave. Return their departure times.
fn drain(queue: &mut Queue) -> Vec<Time> {
    let (mut times, mut now, mut events) = (Vec::new(), Time::ZERO, QueueEvents::default());
    while queue.backlog().packets > 0 {
        now = now.max(queue.ready());
        assert!(queue.dequeue(now, &mut events).is_some());
        times.push(now);
    }
    times
}

fn gap(params: Value, size: u16) -> Duration {
    let mut queue = cake(params);
    (0..2).for_each(|_| queue.enqueue(packet(0, size), Time::ZERO, &mut QueueEvents::default()));
    let times = drain(&mut queue);
    times[1].since(times[0])
}

#[test]
fn a_saturated_shaper_sends_exactly_its_rate() {
    let mut queue = cake(json!({ "bandwidth_bps": 7_000_000, "rtt_ms": 1e6 }));
    (0..701).for_each(|_| queue.enqueue(packet(0, 1250), Time::ZERO, &mut QueueEvents::default()));
    assert_eq!(drain(&mut queue).last(), Some(&at(1000.0)));
}

#[test]
fn idle_time_is_no_credit() {
    let mut queue = cake(json!({ "bandwidth_bps": 12_000_000 }));
    let mut events = QueueEvents::default();
    queue.enqueue(packet(0, 1500), Time::ZERO, &mut events);
    queue.dequeue(Time::ZERO, &mut events);
    (0..2).for_each(|_| queue.enqueue(packet(0, 1500), at(500.0), &mut events));
    assert!(queue.dequeue(at(500.0), &mut events).is_some());
    assert_eq!((queue.ready(), queue.dequeue(at(500.9), &mut events)), (at(501.0), None));
}

#[test]
fn overhead_takes_the_place_of_the_ethernet_header() {
    let rate = 8_000_000; // one byte per microsecond
    assert_eq!(gap(json!({ "bandwidth_bps": rate }), 1514), Duration::from_micros(1514));
    assert_eq!(gap(json!({ "bandwidth_bps": rate, "overhead": 40 }), 1514), Duration::from_micros(1540));
    assert_eq!(gap(json!({ "bandwidth_bps": rate, "mpu": 84 }), 66), Duration::from_micros(84));
}

#[test]
fn cells_and_symbols_are_counted_whole() {
    let link = |framing| json!({ "bandwidth_bps": 8_000_000, "overhead": 0, "framing": framing });
    assert_eq!(gap(link("atm"), 14 + 97), Duration::from_micros(3 * 53));
    assert_eq!(gap(link("ptm"), 14 + 65), Duration::from_micros(65 + 2));
}
