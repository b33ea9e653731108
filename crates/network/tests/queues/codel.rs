//! Tests of CoDel.

use super::*;

#[test]
fn the_first_drop_comes_an_interval_after_the_wait_crossed_the_target() {
    let (drops, _) = drive(&mut queue("codel", json!({})), standing, Ecn::NotEct, 400);
    // The queueing delay reaches 5 ms with the packet that leaves at 5 ms.
    assert!((105.0..=107.0).contains(&drops[0]), "{}", drops[0]);
}

#[test]
fn gaps_shrink_with_the_square_root_of_the_count() {
    let mut queue = queue("codel", json!({ "limit": 100_000 }));
    let (drops, _) = drive(&mut queue, |_| 3, Ecn::NotEct, 3000); // a permanent overload
    let gap = |k: usize| drops[k] - drops[k - 1];
    for k in 6..drops.len().min(60) {
        let law = 100.0 / (k as f64).sqrt();
        assert!((gap(k) - law).abs() <= 1.0 + 0.03 * law, "gap {k}: {} against {law}", gap(k));
    }
}

#[test]
fn the_last_packet_is_never_dropped() {
    let mut queue = queue("codel", json!({ "interval_ms": 1.0, "target_ms": 0.01 }));
    let mut events = QueueEvents::default();
    for t in 0..1000 {
        queue.enqueue(packet(0, 1500, Ecn::NotEct, t), at(t as f64), &mut events);
        assert!(queue.dequeue(at(t as f64 + 0.9), &mut events).is_some());
    }
    assert_eq!(events.dropped_packets, 0);
}

#[test]
fn marks_take_the_place_of_drops() {
    let mut queue = queue("codel", json!({ "ecn": true }));
    let (_, waits) = drive(&mut queue, standing, Ecn::Ect0, 2000);
    assert_eq!(waits.len(), 2000); // the link sent in every slot
}
