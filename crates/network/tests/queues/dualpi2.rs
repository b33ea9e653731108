//! Tests of DualPI2.

use super::*;

/// Shares of low-latency packets and of classic packets that are marked. Low-latency packets take half of the link.
/// Classic packets take the other half of the link and keep a standing queue.
fn shares(params: Value) -> (f64, f64) {
    let mut queue = queue("dualpi2", params);
    let mut counts = [[0u64; 2]; 2];
    for t in 0..200_000u64 {
        let now = at(t as f64 * 0.1);
        let mut events = QueueEvents::default();
        if t % 2 == 0 {
            queue.enqueue(packet(1, 1500, Ecn::Ect1, t), now, &mut events);
        }
        if queue.backlog().packets < 400 {
            queue.enqueue(packet(0, 1500, Ecn::Ect0, t), now, &mut events);
        }
        let mut events = QueueEvents::default();
        if let Some(next) = queue.dequeue(now, &mut events) {
            let low = next.packet.stream.index();
            counts[low][usize::from(next.packet.ecn == Ecn::Ce)] += u64::from(t > 100_000);
        }
    }
    let share = |c: [u64; 2]| c[1] as f64 / (c[0] + c[1]).max(1) as f64;
    (share(counts[1]), share(counts[0]))
}

#[test]
fn the_classic_probability_is_the_square_of_half_the_low_latency_one() {
    // The standing queue slightly exceeds the target. The step threshold is never reached, so only the coupled
    // probabilities have an effect.
    let (low, classic) = shares(json!({
        "target_ms": 60.0, "alpha": 0.0, "beta": 8.0, "step_thresh_ms": 10000.0, "drop_on_overload": false,
    }));
    assert!((classic - (low / 2.0).powi(2)).abs() < 0.01, "C {classic}, L {low}");
    assert!(low > 0.1, "{low}");
}

#[test]
fn the_step_marks_whatever_waited_longer() {
    let mut queue = queue("dualpi2", json!({}));
    let mut events = QueueEvents::default();
    (0..3).for_each(|n| queue.enqueue(packet(0, 100, Ecn::Ect1, n), Time::ZERO, &mut events));
    let mut ecn_at = |t| queue.dequeue(at(t), &mut events).map(|w| w.packet.ecn);
    assert_eq!(ecn_at(0.9), Some(Ecn::Ect1));
    assert_eq!(ecn_at(1.1), Some(Ecn::Ce));
}

#[test]
fn a_packet_with_less_than_two_full_ones_behind_it_is_left_alone() {
    for (behind, strikes) in [(1, false), (2, true)] {
        // The queueing delay has risen by 20 ms, and beta is large, so the drop is certain.
        let mut queue = queue("dualpi2", json!({ "alpha": 0.0, "beta": 100.0, "tupdate_ms": 20.0 }));
        let mut events = QueueEvents::default();
        (0..=behind).for_each(|n| queue.enqueue(packet(0, 1514, Ecn::NotEct, n), Time::ZERO, &mut events));
        queue.dequeue(at(21.0), &mut events);
        assert_eq!(events.dropped_packets > 0, strikes, "{behind} behind it");
    }
}

#[test]
fn the_classic_queue_keeps_a_tenth_of_the_link() {
    let mut queue = queue("dualpi2", json!({ "step_thresh_ms": 10000.0, "alpha": 0.0, "beta": 0.0 }));
    let mut events = QueueEvents::default();
    for n in 0..1000 {
        queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut events);
        queue.enqueue(packet(1, 1500, Ecn::Ect1, n), Time::ZERO, &mut events);
    }
    let classic = (0..1000)
        .filter_map(|_| queue.dequeue(Time::ZERO, &mut events))
        .filter(|w| w.packet.stream.0 == 0)
        .count();
    assert!((95..=105).contains(&classic), "{classic}");
}

/// Share of marked packets in each queue. The classic queue holds 20 packets and serves one packet per millisecond.
/// Between any two classic packets, a low-latency packet is served. As alpha is 0, the base probability is beta times
/// the change of the queueing delay, 19.5 ms.
fn coupled(factor: f64, base: f64) -> (f64, f64) {
    let mut queue = queue(
        "dualpi2",
        json!({
            "alpha": 0.0, "beta": base / 0.0195, "coupling_factor": factor, "step_thresh_ms": 10_000.0, "tupdate_ms": 1000.0,
        }),
    );
    let (mut marked, mut events) = ([0u64; 2], QueueEvents::default());
    let rounds = 100_000;
    (0..20).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::Ect0, n), at(0.5), &mut events));
    for n in 0..rounds {
        let now = at(1.0 + n as f64);
        queue.enqueue(packet(1, 1500, Ecn::Ect1, n), now, &mut events);
        for _ in 0..2 {
            let next = queue.dequeue(now, &mut events).unwrap().packet;
            marked[next.stream.index()] += u64::from(next.ecn == Ecn::Ce && n > 2000);
        }
        queue.enqueue(packet(0, 1500, Ecn::Ect0, n), at(1.5 + n as f64), &mut events);
    }
    let share = |flow: usize| marked[flow] as f64 / (rounds - 2000) as f64;
    (share(0), share(1))
}

#[test]
fn the_classic_probability_is_the_square_of_the_base() {
    for base in [0.1, 0.3, 0.45] {
        let (classic, _) = coupled(2.0, base);
        assert!((classic - base * base).abs() < 0.005, "{base}: {classic}");
    }
}

#[test]
fn the_low_latency_probability_is_the_base_times_the_coupling_factor() {
    for (factor, base) in [(2.0, 0.1), (2.0, 0.3), (1.5, 0.3), (4.0, 0.2)] {
        let (_, low) = coupled(factor, base);
        assert!((low - factor * base).abs() < 0.01, "{factor} {base}: {low}");
    }
}

#[test]
fn without_drops_on_overload_the_classic_probability_stays_below_one_over_the_square_of_the_factor() {
    let params = json!({ "drop_on_overload": false, "limit": 100, "alpha": 10.0 });
    let mut queue = queue("dualpi2", params);
    let (mut marked, mut events) = (0u64, QueueEvents::default());
    let overload = |n| if n < 100 { 2 } else { 1 };
    for n in 0..50_000 {
        let now = at(n as f64);
        (0..overload(n)).for_each(|_| queue.enqueue(packet(0, 1500, Ecn::Ect0, n), now, &mut events));
        let next = queue.dequeue(now, &mut events).unwrap().packet;
        marked += u64::from(next.ecn == Ecn::Ce && n >= 10_000);
    }
    let share = marked as f64 / 40_000.0;
    assert!((share - 0.25).abs() < 0.01, "{share}");
}
