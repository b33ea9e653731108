//! What every queue discipline must do, and the laws of each.

use network::queue::{build, descriptors};
use network::{Ecn, Losses, Packet, QueueDiscipline};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use units::{Duration, Time};

/// Number, ECN bits and arrival of the packets of one flow and class, in order.
type Line = VecDeque<(u64, Ecn, Time)>;
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
    Packet { flow, size, ecn, dscp, payload: number }
}

/// Small limits, so that they are met.
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
        _ => json!({ "limit": 20, "target_ms": 1.0, "ecn": true }),
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
    fn nothing_is_lost_from_the_books_and_nobody_overtakes_in_his_flow(
        which in 0..descriptors().len(),
        steps in proptest::collection::vec(step(), 1..400),
    ) {
        let kind = descriptors()[which].name;
        let mut queue = queue(kind, tight(kind));
        let mut inside: BTreeMap<(u32, bool), Line> = BTreeMap::new();
        let (mut now, mut number, mut losses) = (Time::ZERO, 0u64, Losses::default());
        let (mut came, mut went) = ((0u64, 0u64), (0u64, 0u64));
        for step in steps {
            match step {
                Step::Wait(nanos) => now += Duration::from_nanos(nanos),
                Step::Arrive(flow, size, ecn) => {
                    number += 1;
                    came = (came.0 + 1, came.1 + u64::from(size));
                    // DualPI2 keeps two queues: order holds within each.
                    inside.entry((flow, ecn == Ecn::Ect1)).or_default().push_back((number, ecn, now));
                    queue.enqueue(packet(flow, size, ecn, number), now, &mut losses);
                }
                Step::Depart => {
                    let before = queue.backlog();
                    let Some(next) = queue.dequeue(now, &mut losses) else {
                        let held = queue.ready() > now;
                        prop_assert!(held || queue.backlog().packets == 0, "{} idles with packets waiting", kind);
                        continue;
                    };
                    prop_assert!(before.packets > 0);
                    went = (went.0 + 1, went.1 + u64::from(next.packet.size));
                    let classes = [false, true].map(|l4s| (next.packet.flow, l4s));
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
            prop_assert_eq!(came.0, went.0 + losses.dropped_packets + left.packets, "{}", kind);
            prop_assert_eq!(came.1, went.1 + losses.dropped_bytes + left.bytes, "{}", kind);
            prop_assert!(left.packets <= 20 || left.bytes <= 30_280, "{}", kind);
        }
    }
}

/// Offers `load` packets of 1500 bytes per millisecond, serves one per millisecond, for `duration_ms`. Returns the
/// times of drops and marks, and the waits.
fn drive(queue: &mut Queue, load: impl Fn(f64) -> u64, ecn: Ecn, duration_ms: u64) -> (Vec<f64>, Vec<f64>) {
    let (mut struck, mut waits, mut number) = (Vec::new(), Vec::new(), 0);
    for t in 0..duration_ms {
        let now = at(t as f64);
        let mut losses = Losses::default();
        for _ in 0..load(t as f64) {
            number += 1;
            queue.enqueue(packet(0, 1500, ecn, number), now, &mut losses);
        }
        if let Some(next) = queue.dequeue(now, &mut losses) {
            waits.push(now.since(next.since).as_secs_f64() * 1e3);
        }
        struck.extend((0..losses.dropped_packets + losses.marked_packets).map(|_| t as f64));
    }
    (struck, waits)
}

/// A standing queue of 50 packets, topped up for ever.
fn standing(t: f64) -> u64 {
    if t == 0.0 { 50 } else { 1 }
}

mod codel {
    use super::*;

    #[test]
    fn the_first_drop_comes_an_interval_after_the_wait_crossed_the_target() {
        let (drops, _) = drive(&mut queue("codel", json!({})), standing, Ecn::NotEct, 400);
        // The wait reaches 5 ms with the packet that leaves at 5 ms.
        assert!((105.0..=107.0).contains(&drops[0]), "{}", drops[0]);
    }

    #[test]
    fn gaps_shrink_with_the_square_root_of_the_count() {
        let mut queue = queue("codel", json!({ "limit": 100_000 }));
        let (drops, _) = drive(&mut queue, |_| 3, Ecn::NotEct, 3000); // an overload that nothing cures
        let gap = |k: usize| drops[k] - drops[k - 1];
        for k in 6..drops.len().min(60) {
            let law = 100.0 / (k as f64).sqrt();
            assert!((gap(k) - law).abs() <= 1.0 + 0.03 * law, "gap {k}: {} against {law}", gap(k));
        }
    }

    #[test]
    fn the_last_packet_is_never_dropped() {
        let mut queue = queue("codel", json!({ "interval_ms": 1.0, "target_ms": 0.01 }));
        let mut losses = Losses::default();
        for t in 0..1000 {
            queue.enqueue(packet(0, 1500, Ecn::NotEct, t), at(t as f64), &mut losses);
            assert!(queue.dequeue(at(t as f64 + 0.9), &mut losses).is_some());
        }
        assert_eq!(losses.dropped_packets, 0);
    }

    #[test]
    fn marks_take_the_place_of_drops() {
        let mut queue = queue("codel", json!({ "ecn": true }));
        let (_, waits) = drive(&mut queue, standing, Ecn::Ect0, 2000);
        assert_eq!(waits.len(), 2000); // every slot of the link was used
    }
}

mod pie {
    use super::*;

    #[test]
    fn a_burst_of_150_ms_passes() {
        let (drops, _) = drive(&mut queue("pie", json!({})), |_| 2, Ecn::NotEct, 1000);
        assert!(drops[0] >= 150.0, "{}", drops[0]);
    }

    #[test]
    fn an_unresponsive_overload_is_held_at_the_target() {
        // 25 % too much: the probability must settle near one fifth and the wait near 15 ms.
        let mut queue = queue("pie", json!({}));
        let (drops, waits) = drive(&mut queue, |t| 1 + u64::from(t as u64 % 4 == 0), Ecn::NotEct, 100_000);
        let late = &waits[waits.len() / 2..];
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        assert!((mean - 15.0).abs() < 1.5, "{mean}");
        let share = drops.iter().filter(|&&t| t > 50_000.0).count() as f64 / 62_500.0;
        assert!((share - 0.2).abs() < 0.01, "{share}");
    }

    #[test]
    fn drops_come_more_evenly_than_dice_would_have_it() {
        // The probabilities since the last drop must add up to 0.85; gaps between independent drops would vary by
        // their mean.
        let mut queue = queue("pie", json!({}));
        let (drops, _) = drive(&mut queue, |t| 1 + u64::from(t as u64 % 10 == 0), Ecn::NotEct, 50_000);
        let late: Vec<f64> = drops.into_iter().filter(|&t| t > 20_000.0).collect();
        let gaps: Vec<f64> = late.windows(2).map(|w| w[1] - w[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!(variance.sqrt() / mean < 0.6, "{}", variance.sqrt() / mean);
    }
}

mod red {
    use super::*;

    /// A fixed backlog between the thresholds, served at once.
    fn gaps(params: Value, backlog: u64) -> Vec<u64> {
        let mut queue = queue("red", params);
        let mut losses = Losses::default();
        let (mut gaps, mut gap) = (Vec::new(), 0);
        for n in 0..400_000u64 {
            let now = at(n as f64);
            let before = losses.dropped_packets;
            queue.enqueue(packet(0, 1000, Ecn::NotEct, n), now, &mut losses);
            gap += 1;
            if losses.dropped_packets > before {
                gaps.push(std::mem::take(&mut gap));
            }
            while queue.backlog().packets > backlog {
                queue.dequeue(now, &mut losses);
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
    }

    #[test]
    fn nothing_is_dropped_below_the_lower_threshold_and_everything_above_the_upper_one() {
        let params = || json!({ "limit": 400_000, "min": 20_000, "max": 60_000 });
        assert!(gaps(params(), 15).is_empty());
        assert!(gaps(params(), 70).iter().all(|&gap| gap <= 40));
    }
}

mod dualpi2 {
    use super::*;

    /// Low-latency packets for half of the link, classic ones for the rest of it and a standing queue: the shares of
    /// both that are marked.
    fn shares(params: Value) -> (f64, f64) {
        let mut queue = queue("dualpi2", params);
        let mut counts = [[0u64; 2]; 2];
        for t in 0..200_000u64 {
            let now = at(t as f64 * 0.1);
            let mut losses = Losses::default();
            if t % 2 == 0 {
                queue.enqueue(packet(1, 1500, Ecn::Ect1, t), now, &mut losses);
            }
            if queue.backlog().packets < 400 {
                queue.enqueue(packet(0, 1500, Ecn::Ect0, t), now, &mut losses);
            }
            let mut losses = Losses::default();
            if let Some(next) = queue.dequeue(now, &mut losses) {
                let low = next.packet.flow as usize;
                counts[low][usize::from(next.packet.ecn == Ecn::Ce)] += u64::from(t > 100_000);
            }
        }
        let share = |c: [u64; 2]| c[1] as f64 / (c[0] + c[1]).max(1) as f64;
        (share(counts[1]), share(counts[0]))
    }

    #[test]
    fn the_classic_probability_is_the_square_of_half_the_low_latency_one() {
        // A target that this standing queue exceeds a little, no step: only the coupled law acts.
        let (low, classic) = shares(json!({
            "target_ms": 60.0, "alpha": 0.0, "beta": 8.0, "step_thresh_ms": 10000.0, "drop_on_overload": false,
        }));
        assert!((classic - (low / 2.0).powi(2)).abs() < 0.01, "C {classic}, L {low}");
        assert!(low > 0.1, "{low}");
    }

    #[test]
    fn the_step_marks_whatever_waited_longer() {
        let mut queue = queue("dualpi2", json!({}));
        let mut losses = Losses::default();
        (0..3).for_each(|n| queue.enqueue(packet(0, 100, Ecn::Ect1, n), Time::ZERO, &mut losses));
        let mut ecn_at = |t| queue.dequeue(at(t), &mut losses).map(|w| w.packet.ecn);
        assert_eq!(ecn_at(0.9), Some(Ecn::Ect1));
        assert_eq!(ecn_at(1.1), Some(Ecn::Ce));
    }

    #[test]
    fn the_classic_queue_keeps_a_tenth_of_the_link() {
        let mut queue = queue("dualpi2", json!({ "step_thresh_ms": 10000.0, "alpha": 0.0, "beta": 0.0 }));
        let mut losses = Losses::default();
        for n in 0..1000 {
            queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut losses);
            queue.enqueue(packet(1, 1500, Ecn::Ect1, n), Time::ZERO, &mut losses);
        }
        let classic = (0..1000)
            .filter_map(|_| queue.dequeue(Time::ZERO, &mut losses))
            .filter(|w| w.packet.flow == 0)
            .count();
        assert!((95..=105).contains(&classic), "{classic}");
    }
}

mod fairness {
    use super::*;

    #[test]
    fn backlogged_flows_share_equally_whatever_they_offer() {
        for kind in ["fq_codel", "fq_pie"] {
            let mut queue = queue(kind, json!({ "flows": 4096 }));
            let mut bytes = [0f64; 4];
            let mut losses = Losses::default();
            for t in 0..40_000u64 {
                let now = at(t as f64);
                for flow in 0..4u32 {
                    let size = [1500, 300, 1500, 700][flow as usize];
                    let offered = [4, 8, 2, 4][flow as usize];
                    (0..offered).for_each(|n| {
                        queue.enqueue(packet(flow, size, Ecn::NotEct, n), now, &mut losses);
                    });
                }
                for _ in 0..2 {
                    if let Some(next) = queue.dequeue(now, &mut losses) {
                        bytes[next.packet.flow as usize] += f64::from(next.packet.size);
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
        let mut losses = Losses::default();
        (0..500).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut losses));
        queue.dequeue(Time::ZERO, &mut losses);
        queue.enqueue(packet(1, 100, Ecn::NotEct, 1000), Time::ZERO, &mut losses);
        let next: Vec<u32> =
            (0..2).filter_map(|_| queue.dequeue(Time::ZERO, &mut losses)).map(|w| w.packet.flow).collect();
        assert!(next.contains(&1), "{next:?}");
    }

    #[test]
    fn overflow_is_paid_by_the_fattest_flow() {
        let mut queue = queue("fq_codel", json!({ "limit": 100 }));
        let mut losses = Losses::default();
        queue.enqueue(packet(1, 1500, Ecn::NotEct, 0), Time::ZERO, &mut losses);
        (0..100).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut losses));
        assert_eq!(losses.dropped_packets, 50); // half of what the fat flow held
        let left: Vec<u32> =
            std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut losses)).map(|w| w.packet.flow).collect();
        assert!(left.contains(&1) && left.len() == 51, "{}", left.len());
    }
}

mod token_bucket {
    use super::*;
    use network::{Link, LinkConfig, Looks};
    use units::Rate;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn no_interval_sees_more_than_rate_times_time_plus_burst(
            rate in 10_000..100_000_000u64,
            burst in 1514..100_000u64,
            arrivals in proptest::collection::vec((0..3_000_000u64, 60..1514u16), 1..200),
        ) {
            let params = json!({ "rate_bps": rate, "burst_bytes": burst });
            let end = Time::from_nanos(u64::MAX / 4);
            let config = LinkConfig {
                rate: Rate::UNLIMITED,
                delay: Duration::ZERO,
                loss: None,
                looks: Looks::new(None, Time::ZERO, end), weather: network::Weather::default() };
            let mut link: Link<u64> = Link::new(config, queue("tbf", params));
            let (mut now, mut gone) = (Time::ZERO, Vec::new());
            let mut drain = |link: &mut Link<u64>, until: Time| {
                while link.next_arrival() <= until {
                    let at = link.next_arrival();
                    if let Some(packet) = link.take(at) {
                        gone.push((at, u128::from(packet.size)));
                    }
                }
            };
            for &(gap, size) in &arrivals {
                now += Duration::from_nanos(gap);
                drain(&mut link, now);
                link.send(packet(0, size, Ecn::NotEct, 0), now);
            }
            drain(&mut link, end);
            prop_assert_eq!(gone.len(), arrivals.len());
            for first in 0..gone.len() {
                let mut bytes = 0;
                for &(at, size) in &gone[first..] {
                    bytes += size;
                    let span = u128::from(at.since(gone[first].0).as_nanos());
                    prop_assert!(bytes * 8_000_000_000 <= u128::from(burst) * 8_000_000_000 + span * u128::from(rate));
                }
            }
        }
    }

    #[test]
    fn a_saturated_shaper_sends_exactly_its_rate() {
        let mut queue = queue("tbf", json!({ "rate_bps": 12_000_000, "burst_bytes": 1500 })); // 1500 bytes per ms
        let mut losses = Losses::default();
        (0..1001).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut losses));
        let mut now = Time::ZERO;
        while queue.backlog().packets > 0 {
            now = now.max(queue.ready());
            assert!(queue.dequeue(now, &mut losses).is_some());
        }
        assert_eq!(now, at(1000.0));
    }

    #[test]
    fn a_new_rate_takes_over_at_its_time_and_leaves_the_tokens() {
        let mut queue = queue("tbf", json!({ "rate_bps": 12_000_000, "burst_bytes": 1500 })); // 1500 bytes per ms
        let rates = [(at(2.5), 1_200_000), (at(27.5), 12_000_000)];
        let kept = queue.shape(rates.map(|(time, rate)| (time, Rate::from_bits_per_sec(rate))).to_vec());
        assert!(kept.is_empty());
        let mut losses = Losses::default();
        (0..8).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut losses));
        let times: Vec<Time> = (0..8)
            .map(|_| {
                let ready = queue.ready();
                queue.dequeue(ready, &mut losses).unwrap();
                ready
            })
            .collect();
        // Half the tokens of the fourth packet come within half a millisecond, the other half in ten times as long.
        assert_eq!(times, [0.0, 1.0, 2.0, 7.5, 17.5, 27.5, 28.5, 29.5].map(at));
    }

    #[test]
    fn only_a_shaper_keeps_rates_to_itself() {
        let rates = vec![(at(1.0), Rate::from_bits_per_sec(1))];
        for kind in ["drop_tail", "fq_codel", "police"] {
            assert_eq!(queue(kind, json!({})).shape(rates.clone()), rates);
        }
    }

    #[test]
    fn the_peak_rate_spreads_a_burst() {
        let params = json!({ "rate_bps": 1_200_000, "burst_bytes": 15_000, "peak_bps": 12_000_000, "mtu_bytes": 1500 });
        let mut queue = queue("tbf", params);
        let mut losses = Losses::default();
        (0..3).for_each(|n| queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut losses));
        let times: Vec<Time> = (0..3)
            .map(|_| {
                let ready = queue.ready();
                queue.dequeue(ready, &mut losses).unwrap();
                ready
            })
            .collect();
        assert_eq!(times, [0.0, 1.0, 2.0].map(at));
    }

    #[test]
    fn a_policer_drops_the_excess_and_delays_nothing() {
        let mut queue = queue("police", json!({ "rate_bps": 12_000_000, "burst_bytes": 3000 }));
        let mut losses = Losses::default();
        for n in 0..5 {
            queue.enqueue(packet(0, 1500, Ecn::NotEct, n), Time::ZERO, &mut losses);
        }
        assert_eq!(losses.dropped_packets, 3);
        assert!(queue.dequeue(Time::ZERO, &mut losses).is_some());
    }
}
