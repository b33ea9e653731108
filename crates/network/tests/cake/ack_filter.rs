//! The ACK filter: which ACKs are dropped.

use super::*;

/// Numbers of the ACKs that remain in the queue. Each ACK makes all ACKs with lower numbers redundant.
fn left(choice: &str, numbers: &[u64]) -> Vec<u64> {
    let mut queue = cake(json!({ "ack_filter": choice }));
    queue.know_redundancy(|older, younger| older < younger);
    let mut events = QueueEvents::default();
    for &number in numbers {
        queue.enqueue(Packet { payload: number, ..packet(0, 66) }, Time::ZERO, &mut events);
    }
    let left: Vec<u64> =
        std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut events)).map(|w| w.packet.payload).collect();
    assert_eq!(left.len() as u64 + events.dropped_packets, numbers.len() as u64);
    left
}

#[test]
fn the_filter_keeps_the_last_redundant_one() {
    assert_eq!(left("ack-filter", &[1, 2, 3, 4, 5]), [4, 5]);
    assert_eq!(left("ack-filter", &[1, 2]), [1, 2]);
}

#[test]
fn the_aggressive_filter_keeps_none() {
    assert_eq!(left("ack-filter-aggressive", &[1, 2, 3, 4, 5]), [5]);
}

#[test]
fn what_is_not_redundant_stays() {
    assert_eq!(left("ack-filter-aggressive", &[3, 3, 3]), [3, 3, 3]);
    assert_eq!(left("ack-filter", &[5, 4, 3]), [5, 4, 3]);
}

#[test]
fn nothing_is_filtered_unless_asked_for() {
    assert_eq!(left("no-ack-filter", &[1, 2, 3]), [1, 2, 3]);
}
