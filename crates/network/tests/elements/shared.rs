//! The shared channel compared with its closed form.

use super::*;
use network::{Ecn, Packet, PortId, StreamId};

const SIZE: u16 = 1_500;
const END: Time = Time::from_nanos(10_000_000_000);

struct Case {
    turn_bytes: u64,
    overhead_ns: u64,
    grant_delay_ns: u64,
}

impl Case {
    /// Create a medium of `ports` ports with large queues.
    fn medium(&self, ports: usize) -> Box<dyn Element<Tag>> {
        let params = json!({
            "rate_bps": BITS, "delay_ns": 1_000_000, "turn_bytes": self.turn_bytes, "overhead_ns": self.overhead_ns,
            "grant_delay_ns": self.grant_delay_ns,
        });
        let queues = (0..ports).map(|_| queue::build("drop_tail", &Value::Null, 1).unwrap()).collect();
        let sampling = SamplingTimes::new(None, Time::ZERO, END);
        medium::build("shared", &params, queues, sampling, 1).unwrap()
    }

    /// Duration of a turn of `bytes` bytes in nanoseconds.
    fn turn_ns(&self, bytes: u64) -> f64 {
        bytes as f64 * 8e9 / BITS as f64 + self.overhead_ns as f64
    }
}

fn packet(number: Tag) -> Packet<Tag> {
    Packet { stream: StreamId(0), size: SIZE, ecn: Ecn::NotEct, dscp: 0, payload: number }
}

/// Bytes that leave each port in ten seconds if all ports are saturated.
fn carried(element: &mut dyn Element<Tag>) -> Vec<u64> {
    let packets = (BITS * 10 / 8 / u64::from(SIZE)) as Tag + 100;
    for port in 0..element.ports() {
        (0..packets).for_each(|number| element.put(PortId(port as u16), &packet(number), Time::ZERO));
    }
    let mut bytes = vec![0; element.ports()];
    while element.next() <= END {
        let due = element.next();
        if let Some((port, packet)) = element.take(due) {
            bytes[usize::from(port.0)] += u64::from(packet.size);
        }
    }
    bytes
}

#[test]
fn backlogged_stations_share_the_rate_less_the_overhead_of_turns() {
    for (turn_bytes, packets) in [(1, 1), (1_500, 1), (4_000, 2), (16_384, 10)] {
        for overhead_ns in [0, 50_000, 1_000_000] {
            let case = Case { turn_bytes, overhead_ns, grant_delay_ns: 4_000_000 };
            for ports in [1, 2, 8] {
                let bytes = packets * u64::from(SIZE);
                let expected = bytes as f64 * 10e9 / (ports as f64 * case.turn_ns(bytes));
                for found in carried(&mut *case.medium(ports)) {
                    let ratio = found as f64 / expected;
                    assert!(
                        (ratio - 1.0).abs() < 0.005,
                        "{ports} of {turn_bytes} bytes, {overhead_ns}: {ratio}"
                    );
                }
            }
        }
    }
}

/// Time in nanoseconds from `at`, when a packet reaches port 0, until the packet is delivered. The other ports are
/// always backlogged.
fn waits(case: &Case, ports: usize, at: u64) -> u64 {
    let mut element = case.medium(ports);
    for port in 1..ports {
        (0..200).for_each(|number| element.put(PortId(port as u16), &packet(number), Time::ZERO));
    }
    let at = Time::from_nanos(at);
    while element.next() <= at {
        let due = element.next();
        element.take(due);
    }
    element.put(PortId(0), &packet(0), at);
    loop {
        let due = element.next();
        if element.take(due).is_some_and(|(port, _)| port == PortId(0)) {
            return due.since(at).as_nanos();
        }
    }
}

#[test]
fn a_packet_that_finds_everything_idle_waits_for_the_grant_and_the_overhead() {
    let case = Case { turn_bytes: 3_000, overhead_ns: 50_000, grant_delay_ns: 4_000_000 };
    let own = 600_000 + 1_000_000; // transmission and propagation
    assert_eq!(waits(&case, 1, 7_000_000), 4_000_000 + 50_000 + own);
}

#[test]
fn where_others_are_busy_it_waits_for_at_most_a_turn_of_each() {
    let case = Case { turn_bytes: 3_000, overhead_ns: 50_000, grant_delay_ns: 4_000_000 };
    let own = 50_000 + 600_000 + 1_000_000;
    for ports in [2, 8] {
        let others = (ports - 1) as u64 * case.turn_ns(3_000) as u64;
        let found: Vec<u64> =
            (0..400).map(|n| waits(&case, ports, 5_000_000 + n * 40_009) - 4_000_000 - own).collect();
        let (least, most) = (*found.iter().min().unwrap(), *found.iter().max().unwrap());
        assert!(most <= others, "{most} of {others}");
        assert!(most as f64 > 0.98 * others as f64, "{most} of {others}"); // some packet nearly reaches the bound
        assert!(least < case.turn_ns(3_000) as u64 * (ports - 1) as u64);
    }
}

#[test]
fn a_packet_that_does_not_fit_begins_the_next_turn() {
    // Turns of 4,000 bytes carry two packets. Port 1 has its turn in between.
    let case = Case { turn_bytes: 4_000, overhead_ns: 0, grant_delay_ns: 0 };
    let mut element = case.medium(2);
    for port in [0, 1] {
        (0..3).for_each(|number| element.put(PortId(port), &packet(number), Time::ZERO));
    }
    let mut order = Vec::new();
    while element.next() < Time::NEVER {
        let due = element.next();
        order.extend(element.take(due).map(|(port, packet)| (port.0, packet.payload)));
    }
    assert_eq!(order, [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (1, 2)]);
}

#[test]
fn busy_time_is_that_of_transmissions() {
    let case = Case { turn_bytes: 1_500, overhead_ns: 400_000, grant_delay_ns: 0 };
    let mut element = case.medium(1);
    (0..10).for_each(|number| element.put(PortId(0), &packet(number), Time::ZERO));
    while element.next() < Time::NEVER {
        let due = element.next();
        element.take(due);
    }
    let counters = element.close_interval(PortId(0), END);
    assert_eq!((counters.busy_ns, counters.forwarded_packets), (10 * 600_000, 10));
    assert_eq!(counters.waited_ns, (0..10).map(|n| n * 1_000_000 + 400_000).sum::<u64>());
}

#[test]
fn mistakes_are_named() {
    let sampling = SamplingTimes::new(None, Time::ZERO, END);
    let error = |kind: &str, params: Value| {
        medium::build::<Tag>(kind, &params, Vec::new(), sampling, 1)
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default()
    };
    assert_eq!(
        error("token_ring", json!({})),
        "unknown medium \"token_ring\"; there is shared, wifi, lte, nr"
    );
    assert!(error("shared", json!({ "rate_bps": 0 })).contains("shared: rate_bps: 0 is out of range"));
    assert!(error("shared", json!({ "turns": 1 })).contains("turns: unknown; there is rate_bps, "));
    assert_eq!(error("shared", Value::Null), "");
}

/// The values at `now` of the variables that a port reports.
fn shown(element: &mut dyn Element<Tag>, port: u16, now: Time) -> Vec<(&'static str, f64)> {
    let mut found = Vec::new();
    element.close_interval(PortId(port), now);
    let mut sink = |name, reading| {
        if let Reading::Number(value, _) = reading {
            found.push((name, value));
        }
    };
    element.observe(PortId(port), now, &mut Probe::new(&mut sink));
    found
}

#[test]
fn the_port_that_transmits_shows_its_turn() {
    let case = Case { turn_bytes: 4_500, overhead_ns: 0, grant_delay_ns: 1_000_000 };
    let mut medium = case.medium(2);
    for port in 0..2 {
        (0..9).for_each(|number| medium.put(PortId(port), &packet(number), Time::ZERO));
    }
    // The turn of the first port begins at 1 ms, and its first packet is being sent.
    let now = Time::from_nanos(1_000_001);
    assert_eq!(shown(&mut *medium, 0, now), [("turn", 1.0), ("turn_left", 3_000.0)]);
    assert_eq!(shown(&mut *medium, 1, now), [("turn", 0.0), ("turn_left", 0.0)]);
}

#[test]
fn a_packet_that_does_not_have_to_pause_is_not_begun_before_it_came() {
    // A packet of 1500 bytes takes 0.6 ms on the medium. At 500 kbit/s its flow then pauses for 24 ms.
    let paced = queue::build("fq", &json!({ "maxrate_bps": 500_000 }), 1).unwrap();
    let params = json!({ "rate_bps": BITS, "grant_delay_ns": 0, "overhead_ns": 0 });
    let sampling = SamplingTimes::new(None, Time::ZERO, END);
    let mut element = medium::build("shared", &params, vec![paced], sampling, 1).unwrap();
    (0..3).for_each(|number| element.put(PortId(0), &packet(number), Time::ZERO));
    let came = Time::from_nanos(15_000_000);
    while element.next() <= came {
        let due = element.next();
        element.take(due);
    }
    element.put(PortId(0), &Packet { stream: StreamId(1), ..packet(9) }, came);
    let due = element.next();
    assert_eq!(due, came); // the turn begins
    assert!(element.take(due).is_none());
    assert_eq!(element.next(), came + Duration::from_micros(600));
}
