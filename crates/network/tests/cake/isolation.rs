//! Isolation: shares of flows and hosts.

use super::*;

/// Bytes sent by each of two hosts at one end. The first host has four flows, and the second host has one flow.
fn shares(isolation: &str, shared_end: usize) -> [f64; 2] {
    let mut queue = cake(json!({ "isolation": isolation }));
    let hosts: Vec<_> = (0..5u32)
        .map(|flow| {
            let mut pair = [10 + flow; 2];
            pair[shared_end] = u32::from(flow == 4);
            Some(pair)
        })
        .collect();
    queue.know_hosts(&hosts);
    let bytes = serve(&mut queue, &[0, 1, 2, 3, 4].map(offer));
    [bytes[..4].iter().sum(), bytes[4]]
}

#[test]
fn backlogged_flows_share_equally_whatever_their_packets() {
    let offers = [1500, 300, 1500, 700].map(|size| Offer { size, ..offer(u32::from(size)) });
    let different = [0, 1, 2, 3].map(|n: u32| Offer { flow: n, ..offers[n as usize] });
    let bytes = serve(&mut cake(json!({})), &different);
    assert!(jain(&bytes) > 0.999, "{bytes:?}");
}

#[test]
fn triple_isolation_gives_hosts_equal_shares_at_either_end() {
    for end in [0, 1] {
        let bytes = shares("triple-isolate", end);
        assert!(jain(&bytes) > 0.999, "end {end}: {bytes:?}");
    }
}

#[test]
fn dual_isolation_looks_at_one_end_only() {
    assert!(jain(&shares("dual-srchost", 0)) > 0.999);
    assert!(jain(&shares("dual-dsthost", 1)) > 0.999);
    let [four, one] = shares("dual-srchost", 1);
    assert!((four / one - 4.0).abs() < 0.05, "{four} {one}");
}

#[test]
fn isolation_of_flows_ignores_hosts() {
    let [four, one] = shares("flows", 0);
    assert!((four / one - 4.0).abs() < 0.05, "{four} {one}");
}

#[test]
fn isolation_of_hosts_puts_all_their_flows_into_one_queue() {
    assert!(jain(&shares("srchost", 0)) > 0.999);
    assert!(jain(&shares("dsthost", 1)) > 0.999);
}

#[test]
fn flowblind_is_first_in_first_out() {
    let mut queue = cake(json!({ "isolation": "flowblind" }));
    let mut events = QueueEvents::default();
    (0..50).for_each(|flow| queue.enqueue(packet(flow, 1500), Time::ZERO, &mut events));
    let order: Vec<u32> =
        std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut events)).map(|w| w.packet.stream.0).collect();
    assert_eq!(order, (0..50).collect::<Vec<_>>());
}

#[test]
fn a_hundred_flows_have_queues_of_their_own() {
    // With a plain hash, about five pairs of flows would share a queue.
    let mut queue = cake(json!({}));
    let mut events = QueueEvents::default();
    for flow in (0..100).chain(0..100) {
        queue.enqueue(packet(flow, 1514), Time::ZERO, &mut events);
    }
    let first: BTreeSet<u32> =
        (0..100).filter_map(|_| queue.dequeue(Time::ZERO, &mut events)).map(|w| w.packet.stream.0).collect();
    assert_eq!(first.len(), 100);
}

#[test]
fn a_sparse_flow_goes_before_bulk_ones() {
    let mut queue = cake(json!({}));
    let mut events = QueueEvents::default();
    (0..200).for_each(|n| queue.enqueue(packet(n % 4, 1500), Time::ZERO, &mut events));
    (0..20).for_each(|_| assert!(queue.dequeue(Time::ZERO, &mut events).is_some()));
    queue.enqueue(packet(9, 100), Time::ZERO, &mut events);
    let next = queue.dequeue(Time::ZERO, &mut events).map(|w| w.packet.stream.0);
    assert_eq!(next, Some(9));
}
