//! The laws of CAKE.

use network::queue::build;
use network::{Ecn, Losses, Packet, QueueDiscipline};
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
    Packet { flow, size, ecn: Ecn::NotEct, dscp: 0, payload: 0 }
}

fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|x| x * x).sum::<f64>())
}

/// What somebody keeps waiting in the queue: so many packets of a size.
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

/// Keeps the offers waiting, without drops, and serves 20,000 packets as soon as each may go. Returns the bytes of each
/// offer.
fn serve(queue: &mut Queue, offers: &[Offer]) -> Vec<f64> {
    let (mut bytes, mut waiting) = (vec![0.0; offers.len()], vec![0; offers.len()]);
    let (mut now, mut losses) = (Time::ZERO, Losses::default());
    for _ in 0..20_000 {
        for (n, offer) in offers.iter().enumerate() {
            while waiting[n] < offer.packets {
                waiting[n] += 1;
                let packet = Packet { dscp: offer.dscp, payload: n as u64, ..packet(offer.flow, offer.size) };
                queue.enqueue(packet, now, &mut losses);
            }
        }
        now = now.max(queue.ready());
        let next = queue.dequeue(now, &mut losses).unwrap();
        waiting[next.packet.payload as usize] -= 1;
        bytes[next.packet.payload as usize] += f64::from(next.packet.size);
    }
    assert_eq!(losses.dropped_packets, 0);
    bytes
}

mod shaper {
    use super::*;

    /// Serves whatever waits as soon as it may go; returns when each packet went.
    fn drain(queue: &mut Queue) -> Vec<Time> {
        let (mut times, mut now, mut losses) = (Vec::new(), Time::ZERO, Losses::default());
        while queue.backlog().packets > 0 {
            now = now.max(queue.ready());
            assert!(queue.dequeue(now, &mut losses).is_some());
            times.push(now);
        }
        times
    }

    fn gap(params: Value, size: u16) -> Duration {
        let mut queue = cake(params);
        (0..2).for_each(|_| queue.enqueue(packet(0, size), Time::ZERO, &mut Losses::default()));
        let times = drain(&mut queue);
        times[1].since(times[0])
    }

    #[test]
    fn a_saturated_shaper_sends_exactly_its_rate() {
        let mut queue = cake(json!({ "bandwidth_bps": 7_000_000, "rtt_ms": 1e6 }));
        (0..701).for_each(|_| queue.enqueue(packet(0, 1250), Time::ZERO, &mut Losses::default()));
        assert_eq!(drain(&mut queue).last(), Some(&at(1000.0)));
    }

    #[test]
    fn idle_time_is_no_credit() {
        let mut queue = cake(json!({ "bandwidth_bps": 12_000_000 }));
        let mut losses = Losses::default();
        queue.enqueue(packet(0, 1500), Time::ZERO, &mut losses);
        queue.dequeue(Time::ZERO, &mut losses);
        (0..2).for_each(|_| queue.enqueue(packet(0, 1500), at(500.0), &mut losses));
        assert!(queue.dequeue(at(500.0), &mut losses).is_some());
        assert_eq!((queue.ready(), queue.dequeue(at(500.9), &mut losses)), (at(501.0), None));
    }

    #[test]
    fn overhead_takes_the_place_of_the_ethernet_header() {
        let rate = 8_000_000; // one byte per microsecond
        assert_eq!(gap(json!({ "bandwidth_bps": rate }), 1514), Duration::from_micros(1514));
        assert_eq!(gap(json!({ "bandwidth_bps": rate, "overhead": 40 }), 1514), Duration::from_micros(1540));
        assert_eq!(gap(json!({ "bandwidth_bps": rate, "mpu": 84 }), 66), Duration::from_micros(84));
    }

    #[test]
    fn cells_and_symbols_are_counted_whole() {
        let link = |framing| json!({ "bandwidth_bps": 8_000_000, "overhead": 0, "framing": framing });
        assert_eq!(gap(link("atm"), 14 + 97), Duration::from_micros(3 * 53));
        assert_eq!(gap(link("ptm"), 14 + 65), Duration::from_micros(65 + 2));
    }
}

mod isolation {
    use super::*;

    /// The bytes that two hosts at one end get, of which the first has four flows and the second one.
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
        let mut losses = Losses::default();
        (0..50).for_each(|flow| queue.enqueue(packet(flow, 1500), Time::ZERO, &mut losses));
        let order: Vec<u32> =
            std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut losses)).map(|w| w.packet.flow).collect();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn a_hundred_flows_have_queues_of_their_own() {
        // A plain hash would make about five of them share.
        let mut queue = cake(json!({}));
        let mut losses = Losses::default();
        for flow in (0..100).chain(0..100) {
            queue.enqueue(packet(flow, 1514), Time::ZERO, &mut losses);
        }
        let first: BTreeSet<u32> =
            (0..100).filter_map(|_| queue.dequeue(Time::ZERO, &mut losses)).map(|w| w.packet.flow).collect();
        assert_eq!(first.len(), 100);
    }

    #[test]
    fn a_sparse_flow_goes_before_bulk_ones() {
        let mut queue = cake(json!({}));
        let mut losses = Losses::default();
        (0..200).for_each(|n| queue.enqueue(packet(n % 4, 1500), Time::ZERO, &mut losses));
        (0..20).for_each(|_| assert!(queue.dequeue(Time::ZERO, &mut losses).is_some()));
        queue.enqueue(packet(9, 100), Time::ZERO, &mut losses);
        let next = queue.dequeue(Time::ZERO, &mut losses).map(|w| w.packet.flow);
        assert_eq!(next, Some(9));
    }
}

mod tins {
    use super::*;

    const BEST_EFFORT: u8 = 0;
    const BULK: u8 = 8;
    const VOICE: u8 = 46;

    fn shares(params: Value, classes: &[u8]) -> Vec<f64> {
        let offers: Vec<Offer> = (0u32..).zip(classes).map(|(n, &dscp)| Offer { dscp, ..offer(n) }).collect();
        let bytes = serve(&mut cake(params), &offers);
        let sum: f64 = bytes.iter().sum();
        bytes.iter().map(|b| b / sum).collect()
    }

    #[test]
    fn saturated_tins_keep_to_their_thresholds_and_best_effort_gets_the_rest() {
        let shares =
            shares(json!({ "bandwidth_bps": 10_000_000, "rtt_ms": 1e6 }), &[BEST_EFFORT, BULK, VOICE]);
        for (share, law) in shares.iter().zip([11.0 / 16.0, 1.0 / 16.0, 4.0 / 16.0]) {
            assert!((share - law).abs() < 0.01, "{shares:?}");
        }
    }

    #[test]
    fn a_tin_may_have_everything_that_others_leave() {
        let shares = shares(json!({ "bandwidth_bps": 10_000_000, "rtt_ms": 1e6 }), &[BULK]);
        assert_eq!(shares, [1.0]);
    }

    #[test]
    fn without_a_rate_tins_share_by_weight() {
        let shares = shares(json!({ "rtt_ms": 1e6 }), &[BEST_EFFORT, BULK, VOICE]);
        for (share, law) in shares.iter().zip([16.0 / 21.0, 1.0 / 21.0, 4.0 / 21.0]) {
            assert!((share - law).abs() < 0.01, "{shares:?}");
        }
    }

    #[test]
    fn besteffort_has_one_tin_for_all() {
        let params = json!({ "bandwidth_bps": 10_000_000, "rtt_ms": 1e6, "diffserv": "besteffort" });
        let shares = shares(params, &[BEST_EFFORT, BULK, VOICE]);
        assert!(jain(&shares) > 0.999, "{shares:?}");
    }

    #[test]
    fn washed_packets_leave_without_dscp() {
        let mut queue = cake(json!({ "wash": true }));
        let mut losses = Losses::default();
        queue.enqueue(Packet { dscp: VOICE, ..packet(0, 100) }, Time::ZERO, &mut losses);
        assert_eq!(queue.dequeue(Time::ZERO, &mut losses).map(|w| w.packet.dscp), Some(0));
    }
}

mod cobalt {
    use super::*;

    /// Offers `load` packets of 1500 bytes per millisecond to a shaper of one per millisecond. Returns the times of
    /// drops and marks, and times and waits of what was sent, all in milliseconds.
    fn drive(params: Value, ecn: Ecn, load: impl Fn(u64) -> u64, until: u64) -> (Vec<f64>, Vec<(f64, f64)>) {
        let mut params = params;
        params["bandwidth_bps"] = json!(12_000_000);
        let mut queue = cake(params);
        let (mut struck, mut waits) = (Vec::new(), Vec::new());
        for t in 0..until {
            let now = at(t as f64);
            let mut losses = Losses::default();
            for _ in 0..load(t) {
                queue.enqueue(Packet { ecn, ..packet(0, 1500) }, now, &mut losses);
            }
            if let Some(next) = queue.dequeue(now, &mut losses) {
                waits.push((t as f64, now.since(next.since).as_secs_f64() * 1e3));
            }
            struck.extend((0..losses.dropped_packets + losses.marked_packets).map(|_| t as f64));
        }
        (struck, waits)
    }

    fn standing(t: u64) -> u64 {
        if t == 0 { 50 } else { 1 }
    }

    #[test]
    fn the_first_drop_comes_an_interval_after_the_wait_crossed_the_target() {
        let (drops, _) = drive(json!({}), Ecn::NotEct, standing, 400);
        // The wait exceeds 5 ms with the packet that leaves at 6 ms.
        assert!((106.0..=108.0).contains(&drops[0]), "{}", drops[0]);
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
        // A full packet takes 1.01 ms, so 1.5 ms instead of a twentieth of 2 ms; four of them are always allowed.
        let (drops, _) = drive(json!({ "rtt_ms": 2.0 }), Ecn::NotEct, |t| if t == 0 { 4 } else { 1 }, 1000);
        assert!(drops.is_empty(), "{drops:?}");
        let (drops, _) = drive(json!({ "rtt_ms": 2.0 }), Ecn::NotEct, |t| if t == 0 { 9 } else { 1 }, 1000);
        assert!(!drops.is_empty());
    }

    #[test]
    fn the_last_packet_is_never_dropped() {
        let mut queue = cake(json!({ "rtt_ms": 1.0 }));
        let mut losses = Losses::default();
        for t in 0..2000 {
            queue.enqueue(packet(0, 1500), at(t as f64), &mut losses);
            assert!(queue.dequeue(at(t as f64 + 0.9), &mut losses).is_some());
        }
        assert_eq!(losses.dropped_packets, 0);
    }

    #[test]
    fn marks_take_the_place_of_drops() {
        let (marks, waits) = drive(json!({}), Ecn::Ect0, standing, 2000);
        assert_eq!(waits.len(), 2000); // every slot of the link was used
        assert!(marks.len() > 5, "{}", marks.len());
    }

    #[test]
    fn blue_holds_traffic_that_does_not_respond() {
        // Twice the rate, and marks do not shorten it: only BLUE can. It adds 1/256 every 5 ms that the queue
        // overflows, so half of all packets after 0.65 s.
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
        let mut losses = Losses::default();
        let (mut sent, mut longest) = (0, 0.0f64);
        for t in 0..10_000u64 {
            let now = at(t as f64);
            (0..3).for_each(|_| queue.enqueue(packet(0, 1500), now, &mut losses));
            if t % 4 == 0 {
                queue.enqueue(packet(1, 1500), now, &mut losses); // a quarter of the rate, less than its share
            }
            let Some(next) = queue.dequeue(now, &mut losses) else { continue };
            if next.packet.flow == 1 {
                sent += 1;
                longest = longest.max(now.since(next.since).as_secs_f64() * 1e3);
            }
        }
        assert!(sent >= 2_499 && longest <= 5.0, "{sent} of 2500, {longest} ms");
    }
}

mod ack_filter {
    use super::*;

    /// What is left of acknowledgements with these numbers, when each makes those with lower ones redundant.
    fn left(choice: &str, numbers: &[u64]) -> Vec<u64> {
        let mut queue = cake(json!({ "ack_filter": choice }));
        queue.know_redundancy(|older, younger| older < younger);
        let mut losses = Losses::default();
        for &number in numbers {
            queue.enqueue(Packet { payload: number, ..packet(0, 66) }, Time::ZERO, &mut losses);
        }
        let left: Vec<u64> =
            std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut losses)).map(|w| w.packet.payload).collect();
        assert_eq!(left.len() as u64 + losses.dropped_packets, numbers.len() as u64);
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
    fn the_books_balance_and_nothing_is_held_back_without_reason(
        params in params(),
        steps in proptest::collection::vec((0..5_000_000u64, 0..40u32, 60..1514u16, 0..64u8, any::<bool>()), 1..300),
    ) {
        let mut queue = cake(params);
        let hosts: Vec<_> = (0..30u32).map(|flow| (flow % 3 > 0).then_some([flow % 4, flow % 7])).collect();
        queue.know_hosts(&hosts);
        queue.know_redundancy(|older, younger| older < younger);
        let (mut now, mut losses) = (Time::ZERO, Losses::default());
        let (mut came, mut went) = ((0, 0), (0, 0));
        for (gap, flow, size, dscp, departs) in steps {
            now += Duration::from_nanos(gap);
            came = (came.0 + 1, came.1 + u64::from(size));
            let ecn = if flow % 2 == 0 { Ecn::NotEct } else { Ecn::Ect0 };
            queue.enqueue(Packet { flow, size, ecn, dscp, payload: came.0 }, now, &mut losses);
            if departs {
                let held = queue.ready() > now || queue.backlog().packets == 0;
                match queue.dequeue(now, &mut losses) {
                    Some(next) => {
                        prop_assert!(!held && next.since <= now);
                        went = (went.0 + 1, went.1 + u64::from(next.packet.size));
                    }
                    None => prop_assert!(held),
                }
            }
            let left = queue.backlog();
            prop_assert_eq!(came.0, went.0 + losses.dropped_packets + left.packets);
            prop_assert_eq!(came.1, went.1 + losses.dropped_bytes + left.bytes);
        }
    }
}
