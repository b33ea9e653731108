//! Tests of RED.

use super::*;

/// Gaps between drops at a fixed backlog between the thresholds.
fn gaps(params: Value, backlog: u64) -> Vec<u64> {
    let mut queue = queue("red", params);
    let mut events = QueueEvents::default();
    let (mut gaps, mut gap) = (Vec::new(), 0);
    for n in 0..400_000u64 {
        let now = at(n as f64);
        let before = events.dropped_packets;
        queue.enqueue(packet(0, 1000, Ecn::NotEct, n), now, &mut events);
        gap += 1;
        if events.dropped_packets > before {
            gaps.push(std::mem::take(&mut gap));
        }
        while queue.backlog().packets > backlog {
            queue.dequeue(now, &mut events);
        }
    }
    gaps.split_off(gaps.len().min(20))
}

#[test]
fn gaps_between_drops_are_uniform_up_to_one_over_p() {
    let params = json!({ "limit": 400_000, "min": 20_000, "max": 60_000, "probability": 0.1 });
    let gaps = gaps(params, 40); // half-way: p = 0.05
    let most = *gaps.iter().max().unwrap_or(&0) as f64;
    let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
    assert!((20.0..=22.0).contains(&most), "{most}");
    assert!((mean - 11.0).abs() < 0.7, "{mean}");
    for gap in 2..=20 {
        let share = gaps.iter().filter(|&&g| g == gap).count() as f64 / gaps.len() as f64;
        assert!((share - 0.05).abs() < 0.005, "{gap}: {share}");
    }
}

#[test]
fn nothing_is_dropped_below_the_lower_threshold_and_everything_above_the_upper_one() {
    let params = || json!({ "limit": 400_000, "min": 20_000, "max": 60_000 });
    assert!(gaps(params(), 15).is_empty());
    assert!(gaps(params(), 70).iter().all(|&gap| gap <= 40));
}
