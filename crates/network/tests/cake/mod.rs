//! Tests of CAKE.

mod ack_filter;
mod cobalt;
mod isolation;
mod shaper;
mod tins;

use network::queue::build;
use network::{Ecn, Packet, QueueDiscipline, QueueEvents, StreamId};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use units::{Duration, Time};

type Queue = Box<dyn QueueDiscipline<u64>>;

fn cake(params: Value) -> Queue {
    build("cake", &params, 7).unwrap()
}

fn at(millis: f64) -> Time {
    Time::ZERO + Duration::from_nanos((millis * 1e6) as u64)
}

fn packet(flow: u32, size: u16) -> Packet<u64> {
    Packet { stream: StreamId(flow), size, ecn: Ecn::NotEct, dscp: 0, payload: 0 }
}

fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|x| x * x).sum::<f64>())
}

/// Packets that a flow keeps in the queue: their number, size and code point.
#[derive(Clone, Copy)]
struct Offer {
    flow: u32,
    packets: u64,
    size: u16,
    dscp: u8,
}

fn offer(flow: u32) -> Offer {
    Offer { flow, packets: 20, size: 1500, dscp: 0 }
}

/// Keep the packets of all offers in the queue, without drops, and serve 20,000 packets, each as soon as it may leave.
/// Return the bytes that were sent of each offer.
fn serve(queue: &mut Queue, offers: &[Offer]) -> Vec<f64> {
    let (mut bytes, mut waiting) = (vec![0.0; offers.len()], vec![0; offers.len()]);
    let (mut now, mut events) = (Time::ZERO, QueueEvents::default());
    for _ in 0..20_000 {
        for (n, offer) in offers.iter().enumerate() {
            while waiting[n] < offer.packets {
                waiting[n] += 1;
                let packet = Packet { dscp: offer.dscp, payload: n as u64, ..packet(offer.flow, offer.size) };
                queue.enqueue(packet, now, &mut events);
            }
        }
        now = now.max(queue.ready());
        let next = queue.dequeue(now, &mut events).unwrap();
        waiting[next.packet.payload as usize] -= 1;
        bytes[next.packet.payload as usize] += f64::from(next.packet.size);
    }
    assert_eq!(events.dropped_packets, 0);
    bytes
}

fn any_of(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words)
}

fn params() -> impl Strategy<Value = Value> {
    let rate = prop::option::of(10_000..100_000_000u64);
    let tins = any_of(&["besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8"]);
    let sharing = any_of(&["flowblind", "srchost", "hosts", "flows", "dual-dsthost", "triple-isolate"]);
    let filter = any_of(&["no-ack-filter", "ack-filter", "ack-filter-aggressive"]);
    (rate, tins, sharing, filter, any::<bool>(), 1514..60_000u64).prop_map(
        |(rate, tins, sharing, filter, ingress, limit)| {
            json!({
                "bandwidth_bps": rate, "diffserv": tins, "isolation": sharing, "ack_filter": filter,
                "ingress": ingress, "memlimit_bytes": limit, "rtt_ms": 5.0,
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn packets_are_conserved_and_nothing_is_held_back_without_reason(
        params in params(),
        steps in proptest::collection::vec((0..5_000_000u64, 0..40u32, 60..1514u16, 0..64u8, any::<bool>()), 1..300),
    ) {
        let mut queue = cake(params);
        let hosts: Vec<_> = (0..30u32).map(|flow| (flow % 3 > 0).then_some([flow % 4, flow % 7])).collect();
        queue.know_hosts(&hosts);
        queue.know_redundancy(|older, younger| older < younger);
        let (mut now, mut events) = (Time::ZERO, QueueEvents::default());
        let (mut came, mut went) = ((0, 0), (0, 0));
        for (gap, flow, size, dscp, departs) in steps {
            now += Duration::from_nanos(gap);
            came = (came.0 + 1, came.1 + u64::from(size));
            let ecn = if flow % 2 == 0 { Ecn::NotEct } else { Ecn::Ect0 };
            queue.enqueue(Packet { stream: StreamId(flow), size, ecn, dscp, payload: came.0 }, now, &mut events);
            if departs {
                let held = queue.ready() > now || queue.backlog().packets == 0;
                match queue.dequeue(now, &mut events) {
                    Some(next) => {
                        prop_assert!(!held && next.since <= now);
                        went = (went.0 + 1, went.1 + u64::from(next.packet.size));
                    }
                    None => prop_assert!(held),
                }
            }
            let left = queue.backlog();
            prop_assert_eq!(came.0, went.0 + events.dropped_packets + left.packets);
            prop_assert_eq!(came.1, went.1 + events.dropped_bytes + left.bytes);
        }
    }
}
