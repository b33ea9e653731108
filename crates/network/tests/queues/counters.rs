//! Requirements for every discipline: it conserves packets, keeps their order, and obeys the rate.

use super::*;
use crate::common::limits::limits;
use network::queue::descriptors;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

/// Index, ECN bits and arrival time of the packets of one flow and class, in order.
type Line = VecDeque<(u64, Ecn, Time)>;

/// Limits small enough to be reached.
fn tight(kind: &str) -> Value {
    match kind {
        "drop_tail" => json!({ "packets": 20 }),
        "tbf" => json!({ "packets": 20, "rate_bps": 1_000_000, "burst_bytes": 3000 }),
        "police" => json!({ "packets": 20, "rate_bps": 1_000_000, "burst_bytes": 30_000 }),
        "step" => json!({ "limit": 20, "mark_packets": 3, "mark_ms": 2.0 }),
        "red" => json!({ "limit": 30_000, "ecn": true, "adaptive": true }),
        "cake" => {
            json!({ "memlimit_bytes": 20 * 1514, "bandwidth_bps": 1_000_000, "rtt_ms": 20.0, "ingress": true })
        }
        "dualpi2" => json!({ "limit": 20, "target_ms": 2.0 }),
        "fq" => json!({ "limit": 10, "flow_limit": 6, "maxrate_bps": 2_000_000, "ce_threshold_ms": 3.0 }),
        "codel" | "fq_codel" | "pie" | "fq_pie" => json!({ "limit": 20, "target_ms": 1.0, "ecn": true }),
        _ => limits(kind),
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive(u32, u16, Ecn),
    Depart,
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1)];
    prop_oneof![
        6 => (0..5u32, 60..1514u16, ecn).prop_map(|(flow, size, ecn)| Step::Arrive(flow, size, ecn)),
        4 => Just(Step::Depart),
        2 => (0..20_000_000u64).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn packets_are_conserved_and_keep_their_order_within_a_flow(
        which in 0..descriptors().len(),
        steps in proptest::collection::vec(step(), 1..400),
    ) {
        let kind = descriptors()[which].name;
        let mut queue = queue(kind, tight(kind));
        let mut inside: BTreeMap<(u32, bool), Line> = BTreeMap::new();
        let (mut now, mut number, mut events) = (Time::ZERO, 0u64, QueueEvents::default());
        let (mut came, mut went) = ((0u64, 0u64), (0u64, 0u64));
        for step in steps {
            match step {
                Step::Wait(nanos) => now += Duration::from_nanos(nanos),
                Step::Arrive(flow, size, ecn) => {
                    number += 1;
                    came = (came.0 + 1, came.1 + u64::from(size));
                    // DualPI2 has two queues, and keeps the order within each.
                    inside.entry((flow, ecn == Ecn::Ect1)).or_default().push_back((number, ecn, now));
                    queue.enqueue(packet(flow, size, ecn, number), now, &mut events);
                }
                Step::Depart => {
                    let before = queue.backlog();
                    let Some(next) = queue.dequeue(now, &mut events) else {
                        let held = queue.ready() > now;
                        prop_assert!(held || queue.backlog().packets == 0, "{} idles with packets waiting", kind);
                        continue;
                    };
                    prop_assert!(before.packets > 0);
                    went = (went.0 + 1, went.1 + u64::from(next.packet.size));
                    let classes = [false, true].map(|l4s| (next.packet.stream.0, l4s));
                    let found = classes.into_iter().find_map(|class| {
                        let line = inside.get_mut(&class)?;
                        let place = line.iter().position(|p| p.0 == next.packet.payload)?;
                        line.drain(..place); // dropped from the head
                        line.pop_front()
                    });
                    let (_, ecn, since) = found.expect("a packet leaves once, and behind those before it");
                    prop_assert_eq!(since, next.since);
                    prop_assert!(next.since <= now);
                    prop_assert!(next.packet.ecn == ecn || (ecn != Ecn::NotEct && next.packet.ecn == Ecn::Ce));
                }
            }
            let left = queue.backlog();
            prop_assert_eq!(came.0, went.0 + events.dropped_packets + left.packets, "{}", kind);
            prop_assert_eq!(came.1, went.1 + events.dropped_bytes + left.bytes, "{}", kind);
            prop_assert!(left.packets <= 20 || left.bytes <= 30_280, "{}", kind);
        }
    }
}

/// Create a link with a queue. Either the link or the queue limits the rate. Also return the bytes that may pass in one
/// burst.
fn limited(kind: &str, rate: u64, burst: u64) -> (Link<u64>, u64) {
    let full = 1514;
    let (wire, params, at_once) = match kind {
        "tbf" | "police" => (None, json!({ "rate_bps": rate, "burst_bytes": burst }), burst),
        "cake" => (None, json!({ "bandwidth_bps": rate }), full),
        _ => (Some(rate), json!({}), full),
    };
    (link(wire, queue(kind, params)), at_once)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_interval_sees_more_than_rate_times_time_plus_burst(
        which in 0..descriptors().len(),
        rate in 10_000..100_000_000u64,
        burst in 1514..30_000u64,
        arrivals in proptest::collection::vec((0..3_000_000u64, 60..1514u16), 1..80),
    ) {
        let kind = descriptors()[which].name;
        let (mut link, at_once) = limited(kind, rate, burst);
        let gone = journey(&mut link, &arrivals);
        for first in 0..gone.len() {
            let mut bytes = 0;
            for &(at, ref packet) in &gone[first..] {
                bytes += u128::from(packet.size);
                // Departures are rounded to nanoseconds.
                let span = u128::from(at.since(gone[first].0).as_nanos() + 1);
                let most = u128::from(at_once) * 8_000_000_000 + span * u128::from(rate);
                prop_assert!(bytes * 8_000_000_000 <= most, "{}", kind);
            }
        }
    }

    #[test]
    fn a_buffer_of_b_bytes_delays_by_b_over_c_at_most(
        rate in 10_000..100_000_000u64,
        buffer in 1514..30_000u64,
        arrivals in proptest::collection::vec((0..3_000_000u64, 60..1514u16), 1..80),
    ) {
        let mut link = link(Some(rate), queue("drop_tail", json!({ "bytes": buffer })));
        let came: Vec<Time> = arrivals.iter().scan(Time::ZERO, |now, &(gap, _)| {
            *now += Duration::from_nanos(gap);
            Some(*now)
        }).collect();
        for (at, packet) in journey(&mut link, &arrivals) {
            let delay = u128::from(at.since(came[packet.payload as usize]).as_nanos());
            // In addition to the waiting packets, one packet may be in transmission.
            prop_assert!(delay * u128::from(rate) <= u128::from(buffer + 1514) * 8_000_000_000);
        }
    }
}
