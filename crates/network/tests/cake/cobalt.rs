//! COBALT: when packets are marked and dropped.

use super::*;

/// Offer `load` packets of 1500 bytes per millisecond to a shaper that sends one packet per millisecond. Return the
/// times of drops and marks, and the times and queueing delays of sent packets, in milliseconds.
fn drive(params: Value, ecn: Ecn, load: impl Fn(u64) -> u64, until: u64) -> (Vec<f64>, Vec<(f64, f64)>) {
    let mut params = params;
    params["bandwidth_bps"] = json!(12_000_000);
    let mut queue = cake(params);
    let (mut struck, mut waits) = (Vec::new(), Vec::new());
    for t in 0..until {
        let now = at(t as f64);
        let mut events = QueueEvents::default();
        for _ in 0..load(t) {
            queue.enqueue(Packet { ecn, ..packet(0, 1500) }, now, &mut events);
        }
        if let Some(next) = queue.dequeue(now, &mut events) {
            waits.push((t as f64, now.since(next.since).as_secs_f64() * 1e3));
        }
        struck.extend((0..events.dropped_packets + events.marked_packets).map(|_| t as f64));
    }
    (struck, waits)
}

fn standing(t: u64) -> u64 {
    if t == 0 { 50 } else { 1 }
}

/// Linux `cobalt_vars_init`, `cobalt_should_drop`: `rec_inv_sqrt` is 0 until `count` has changed by one.
#[test]
fn a_new_queue_drops_the_second_packet_that_has_waited_too_long() {
    let (drops, _) = drive(json!({}), Ecn::NotEct, standing, 400);
    // The queueing delay exceeds 5 ms with the packet that leaves at 6 ms. The next packet is dropped, and the second
    // drop comes 100 ms / √2 later.
    assert_eq!(drops[..2], [7.0, 77.0]);
}

/// Linux `cobalt_should_drop`, `cobalt_invsqrt`: `rec_inv_sqrt` of a count that went back to 0 is one.
#[test]
fn a_queue_that_was_late_once_drops_an_interval_after_the_wait_crossed_the_target() {
    let load = |t| match t {
        0 => 7, // the last of these packets leaves at 6 ms
        1..50 => 0,
        _ => standing(t - 50),
    };
    let (drops, _) = drive(json!({}), Ecn::NotEct, load, 400);
    assert!((156.0..=158.0).contains(&drops[0]), "{}", drops[0]);
}

#[test]
fn gaps_shrink_with_the_square_root_of_the_count() {
    let (drops, _) = drive(json!({}), Ecn::NotEct, |_| 2, 1500);
    for k in 1..drops.len().min(40) {
        let (gap, law) = (drops[k] - drops[k - 1], 100.0 / (k as f64 + 1.0).sqrt());
        assert!((gap - law).abs() <= 1.0, "gap {k}: {gap} against {law}");
    }
}

#[test]
fn the_target_is_at_least_one_and_a_half_full_packets() {
    // A full packet takes 1.01 ms, so the target is 1.5 ms instead of a twentieth of 2 ms. A queueing delay of four
    // full packets is always allowed.
    let (drops, _) = drive(json!({ "rtt_ms": 2.0 }), Ecn::NotEct, |t| if t == 0 { 4 } else { 1 }, 1000);
    assert!(drops.is_empty(), "{drops:?}");
    let (drops, _) = drive(json!({ "rtt_ms": 2.0 }), Ecn::NotEct, |t| if t == 0 { 9 } else { 1 }, 1000);
    assert!(!drops.is_empty());
}

#[test]
fn the_last_packet_is_never_dropped() {
    let mut queue = cake(json!({ "rtt_ms": 1.0 }));
    let mut events = QueueEvents::default();
    for t in 0..2000 {
        queue.enqueue(packet(0, 1500), at(t as f64), &mut events);
        assert!(queue.dequeue(at(t as f64 + 0.9), &mut events).is_some());
    }
    assert_eq!(events.dropped_packets, 0);
}

#[test]
fn marks_take_the_place_of_drops() {
    let (marks, waits) = drive(json!({}), Ecn::Ect0, standing, 2000);
    assert_eq!(waits.len(), 2000); // the link sent in every slot
    assert!(marks.len() > 5, "{}", marks.len());
}

#[test]
fn blue_holds_traffic_that_does_not_respond() {
    // The load is twice the rate. Marks do not reduce the load, so only drops by BLUE shorten the queue. BLUE adds
    // 1/256 every 5 ms while the queue overflows, and therefore drops half of all packets after 0.65 s.
    let params = json!({ "memlimit_bytes": 300_000 });
    let (_, waits) = drive(params, Ecn::Ect0, |_| 2, 20_000);
    let mean = |from: f64, until: f64| {
        let some: Vec<f64> = waits.iter().filter(|w| (from..until).contains(&w.0)).map(|w| w.1).collect();
        some.iter().sum::<f64>() / some.len() as f64
    };
    assert!(mean(200.0, 600.0) > 80.0, "{}", mean(200.0, 600.0)); // 200 packets wait
    assert!(mean(2_000.0, 20_000.0) < 20.0, "{}", mean(2_000.0, 20_000.0));
}

#[test]
fn others_do_not_pay_for_an_unresponsive_flow() {
    let mut queue = cake(json!({ "bandwidth_bps": 12_000_000, "memlimit_bytes": 150_000 }));
    let mut events = QueueEvents::default();
    let (mut sent, mut longest) = (0, 0.0f64);
    for t in 0..10_000u64 {
        let now = at(t as f64);
        (0..3).for_each(|_| queue.enqueue(packet(0, 1500), now, &mut events));
        if t % 4 == 0 {
            queue.enqueue(packet(1, 1500), now, &mut events); // flow 1 sends a quarter of the rate, which is less than its fair share
        }
        let Some(next) = queue.dequeue(now, &mut events) else { continue };
        if next.packet.stream.0 == 1 {
            sent += 1;
            longest = longest.max(now.since(next.since).as_secs_f64() * 1e3);
        }
    }
    assert!(sent >= 2_499 && longest <= 5.0, "{sent} of 2500, {longest} ms");
}
