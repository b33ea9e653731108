//! Tests of FQ-CoDel and FQ-PIE.

use super::*;

#[test]
fn backlogged_flows_share_equally_whatever_they_offer() {
    for kind in ["fq_codel", "fq_pie"] {
        let mut queue = queue(kind, json!({ "flows": 4096 }));
        let mut bytes = [0f64; 4];
        let mut events = QueueEvents::default();
        for t in 0..40_000u64 {
            let now = at(t as f64);
            for flow in 0..4u32 {
                let size = [1500, 300, 1500, 700][flow as usize];
                let offered = [4, 8, 2, 4][flow as usize];
                (0..offered).for_each(|n| {
                    queue.enqueue(packet(flow, size, Ecn::NotEct, n), now, &mut events);
                });
            }
            for _ in 0..2 {
                if let Some(next) = queue.dequeue(now, &mut events) {
                    bytes[next.packet.stream.index()] += f64::from(next.packet.size);
                }
            }
        }
        let sum: f64 = bytes.iter().sum();
        let squares: f64 = bytes.iter().map(|b| b * b).sum();
        let jain = sum * sum / (4.0 * squares);
        assert!(jain > 0.999, "{kind}: {bytes:?}");
    }
}

#[test]
fn a_sparse_flow_does_not_wait_behind_a_bulk_one() {
    let mut queue = queue("fq_codel", json!({}));
    let mut events = QueueEvents::default();
    (0..500).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut events));
    queue.dequeue(Time::ZERO, &mut events);
    queue.enqueue(packet(1, 100, Ecn::NotEct, 1000), Time::ZERO, &mut events);
    let next: Vec<u32> =
        (0..2).filter_map(|_| queue.dequeue(Time::ZERO, &mut events)).map(|w| w.packet.stream.0).collect();
    assert!(next.contains(&1), "{next:?}");
}

#[test]
fn overflow_is_paid_by_the_fattest_flow() {
    let mut queue = queue("fq_codel", json!({ "limit": 100 }));
    let mut events = QueueEvents::default();
    queue.enqueue(packet(1, 1500, Ecn::NotEct, 0), Time::ZERO, &mut events);
    (0..100).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut events));
    assert_eq!(events.dropped_packets, 50); // half of the backlog of the longest flow
    let left: Vec<u32> =
        std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut events)).map(|w| w.packet.stream.0).collect();
    assert!(left.contains(&1) && left.len() == 51, "{}", left.len());
}
