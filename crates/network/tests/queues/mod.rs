//! Requirements for every queue discipline, and the laws of each discipline.

mod codel;
mod counters;
mod device;
mod dualpi2;
mod fair;
mod fq;
mod pie;
mod red;
mod tbf;

use network::queue::build;
use network::{
    Ecn, Impairments, Link, LinkConfig, Packet, QueueDiscipline, QueueEvents, SamplingTimes, StreamId,
};
use serde_json::{Value, json};
use units::{Duration, Rate, Time};

type Queue = Box<dyn QueueDiscipline<u64>>;

fn queue(kind: &str, params: Value) -> Queue {
    build(kind, &params, 7).unwrap()
}

fn ms(ms: f64) -> Duration {
    Duration::from_nanos((ms * 1e6) as u64)
}

fn at(millis: f64) -> Time {
    Time::ZERO + ms(millis)
}

fn packet(flow: u32, size: u16, ecn: Ecn, number: u64) -> Packet<u64> {
    let dscp = [0, 46, 8, 34, 1][flow as usize % 5];
    Packet { stream: StreamId(flow), size, ecn, dscp, payload: number }
}

/// Offer `load` packets of 1500 bytes per millisecond and serve one packet per millisecond, for `duration_ms`. Return
/// the times of drops and marks, and the queueing delays, in milliseconds.
fn drive(queue: &mut Queue, load: impl Fn(f64) -> u64, ecn: Ecn, duration_ms: u64) -> (Vec<f64>, Vec<f64>) {
    let (mut struck, mut waits, mut number) = (Vec::new(), Vec::new(), 0);
    for t in 0..duration_ms {
        let now = at(t as f64);
        let mut events = QueueEvents::default();
        for _ in 0..load(t as f64) {
            number += 1;
            queue.enqueue(packet(0, 1500, ecn, number), now, &mut events);
        }
        if let Some(next) = queue.dequeue(now, &mut events) {
            waits.push(now.since(next.since).as_secs_f64() * 1e3);
        }
        struck.extend((0..events.dropped_packets + events.marked_packets).map(|_| t as f64));
    }
    (struck, waits)
}

/// A load that keeps a standing queue of 50 packets.
fn standing(t: f64) -> u64 {
    if t == 0.0 { 50 } else { 1 }
}

/// Create a link with this queue and no propagation delay. Without a rate, the link is unlimited.
fn link(rate_bps: Option<u64>, queue: Queue) -> Link<u64> {
    let config = LinkConfig {
        rate: rate_bps.map_or(Rate::UNLIMITED, Rate::from_bits_per_sec),
        delay: Duration::ZERO,
        loss: None,
        sampling: SamplingTimes::new(None, Time::ZERO, END),
        impairments: Impairments::default(),
    };
    Link::new(config, queue)
}

/// A time after all events.
const END: Time = Time::from_nanos(u64::MAX / 4);

/// Send packets of a flow, given their gaps in nanoseconds and their sizes. Return the packets with their arrival
/// times. The payload of a packet is its index.
fn journey(link: &mut Link<u64>, packets: &[(u64, u16)]) -> Vec<(Time, Packet<u64>)> {
    let (mut now, mut gone) = (Time::ZERO, Vec::new());
    let mut drain = |link: &mut Link<u64>, until: Time| {
        while link.next_arrival() <= until {
            let at = link.next_arrival();
            gone.extend(link.take(at).map(|packet| (at, *packet)));
        }
    };
    for (number, &(gap, size)) in packets.iter().enumerate() {
        now += Duration::from_nanos(gap);
        drain(link, now);
        link.send(packet(0, size, Ecn::NotEct, number as u64), now);
    }
    drain(link, END);
    gone
}
