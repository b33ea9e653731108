//! A link compared with values computed by hand, and checked for properties that always hold.

use network::queue::{DropTail, Limit};
use network::{Dice, Ecn, Impairment, Impairments, Link, LinkConfig, Loss, Packet, SamplingTimes, StreamId};
use proptest::prelude::*;
use serde_json::json;
use units::{Duration, Rate, Time};

const END: Time = Time::from_nanos(1_000_000_000);

fn us(n: u64) -> Time {
    Time::from_nanos(n * 1_000)
}

fn config(bits: u64, delay_us: u64) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bits_per_sec(bits),
        delay: Duration::from_micros(delay_us),
        loss: None,
        sampling: SamplingTimes::new(None, Time::ZERO, END),
        impairments: network::Impairments::default(),
    }
}

fn packet(size: u16, id: usize) -> Packet<usize> {
    Packet { stream: StreamId(0), size, ecn: Ecn::NotEct, dscp: 0, payload: id }
}

/// Create one link with the closed form and one that replays its queue.
fn both(config: &LinkConfig, limit: Limit) -> [Link<usize>; 2] {
    let queue = || Box::new(DropTail::new(limit));
    [Link::new(config.clone(), queue()), Link::replaying(config.clone(), queue())]
}

fn drain(link: &mut Link<usize>) -> Vec<(Time, usize)> {
    let mut out = Vec::new();
    while link.next_arrival() != Time::NEVER {
        let now = link.next_arrival();
        out.extend(link.take(now).map(|p| (now, p.payload)));
    }
    out
}

#[test]
fn three_packets_at_a_byte_per_microsecond() {
    for mut link in both(&config(8_000_000, 500), Limit::default()) {
        (0..3).for_each(|id| link.send(packet(100, id), Time::ZERO));
        link.send(packet(50, 3), us(1_000));
        assert_eq!(drain(&mut link), [(us(600), 0), (us(700), 1), (us(800), 2), (us(1_550), 3)]);
        link.close_interval(END);
        let done = link.totals().measured;
        assert_eq!((done.forwarded_packets, done.forwarded_bytes), (4, 350));
        assert_eq!(done.busy_ns, 350_000);
        assert_eq!(done.mean_wait_s(), 75e-6); // 0, 100, 200 and 0 microseconds
        assert_eq!(link.totals().backlog_max_packets, 2);
        assert_eq!(link.totals().wait_quantile_s(0.5), 0.0);
        assert!((link.totals().wait_quantile_s(0.95) / 200e-6 - 1.0).abs() < 0.01);
    }
}

#[test]
fn the_packet_being_sent_takes_no_place_in_the_queue() {
    for mut link in both(&config(8_000_000, 0), Limit { packets: Some(1), bytes: None }) {
        (0..3).for_each(|id| link.send(packet(100, id), Time::ZERO)); // packet 0 is in transmission, 1 waits, 2 is dropped
        link.send(packet(100, 3), us(99)); // packet 3 is dropped, as one packet still waits
        link.send(packet(100, 4), us(100)); // packet 4 is accepted, as a departure at the same time makes room
        assert_eq!(drain(&mut link), [(us(100), 0), (us(200), 1), (us(300), 4)]);
        link.close_interval(END);
        assert_eq!(link.totals().run.dropped_packets, 2);
    }
}

#[test]
fn without_a_queue_only_an_idle_link_takes_packets() {
    for mut link in both(&config(8_000_000, 0), Limit { packets: Some(0), bytes: None }) {
        [0, 50, 100].into_iter().zip(0..).for_each(|(t, id)| link.send(packet(100, id), us(t)));
        assert_eq!(drain(&mut link), [(us(100), 0), (us(200), 2)]);
    }
}

#[test]
fn an_unlimited_link_only_delays() {
    let unlimited = LinkConfig { rate: Rate::UNLIMITED, ..config(1, 20) };
    for mut link in both(&unlimited, Limit { packets: Some(0), bytes: Some(0) }) {
        (0..5).for_each(|id| link.send(packet(1_500, id), us(7)));
        assert_eq!(drain(&mut link), (0..5).map(|id| (us(27), id)).collect::<Vec<_>>());
    }
}

#[derive(Clone, Debug)]
struct Case {
    config: LinkConfig,
    limit: Limit,
    /// For each packet, the gap to the previous arrival in nanoseconds and the size in bytes.
    arrivals: Vec<(u64, u16)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let limit = (proptest::option::of(0u64..20), proptest::option::of(0u64..20_000))
        .prop_map(|(packets, bytes)| Limit { packets, bytes });
    let arrivals = proptest::collection::vec((0u64..20_000, 1u16..9_000), 0..200);
    let rate = prop_oneof![Just(u64::MAX), 1_000_000_000u64..7_000_000_000, 6_400_000_000u64..=6_400_000_000];
    let interval = proptest::option::of(1_000u64..300_000);
    (rate, 0u64..100, 0.0f64..0.3, limit, arrivals, interval, 0u64..500_000, changes()).prop_map(
        |(rate, delay, probability, limit, arrivals, interval, warmup, (rates, limits))| {
            let sampling =
                SamplingTimes::new(interval.map(Duration::from_nanos), Time::from_nanos(warmup), END);
            let loss =
                Loss::build("bernoulli", &json!({ "probability": probability }), &Dice::new(1, "test")).ok();
            let impairments = Impairments { rates, limits, ..Impairments::default() };
            Case {
                config: LinkConfig { loss, sampling, impairments, ..config(rate, delay) },
                limit,
                arrivals,
            }
        },
    )
}

type Limits = Vec<(Time, Limit)>;

/// Changes of the rate, which do not end with an outage, and changes of the queue's limit.
fn changes() -> impl Strategy<Value = (Vec<(Time, Rate)>, Limits)> {
    let rate = prop_oneof![Just(0), Just(u64::MAX), 1_000_000_000u64..7_000_000_000];
    let rates = proptest::collection::vec((0u64..500, rate), 0..4).prop_map(|mut rates| {
        rates.sort_by_key(|change| change.0);
        let end = (!rates.is_empty()).then_some((600, 2_000_000_000));
        rates.into_iter().chain(end).map(|(at, bits)| (us(at), Rate::from_bits_per_sec(bits))).collect()
    });
    let limits = proptest::collection::vec((0u64..500, proptest::option::of(0u64..20)), 0..3);
    let limits = limits.prop_map(|mut limits| {
        limits.sort_by_key(|change| change.0);
        limits.into_iter().map(|(at, packets)| (us(at), Limit { packets, bytes: None })).collect()
    });
    (rates, limits)
}

/// Everything that can be observed of a link: deliveries, counters at every sampling time, and the summary.
fn observe(link: &mut Link<usize>, case: &Case) -> (Vec<(Time, usize)>, Vec<network::Counters>, [f64; 3]) {
    let (mut seen, mut intervals) = (Vec::new(), Vec::new());
    let mut sample = case.config.sampling.after(Time::ZERO);
    let mut now = Time::ZERO;
    let mut arrivals = case.arrivals.iter().enumerate();
    let mut next = arrivals.next();
    while sample != Time::NEVER {
        let send = next.map_or(Time::NEVER, |(_, &(gap, _))| now + Duration::from_nanos(gap));
        let due = link.next_arrival();
        if due <= send && due <= sample {
            seen.extend(link.take(due).map(|p| (due, p.payload)));
        } else if send <= sample {
            let (id, &(_, size)) = next.expect("an arrival is due");
            link.send(packet(size, id), send);
            (now, next) = (send, arrivals.next());
        } else {
            intervals.push(link.close_interval(sample));
            sample = case.config.sampling.after(sample);
        }
    }
    let totals = link.totals();
    let bits = [totals.wait_quantile_s(0.5), totals.wait_quantile_s(0.95), totals.backlog_max_packets as f64];
    (seen, intervals, bits)
}

proptest! {
    #[test]
    fn replay_and_closed_form_agree(case in cases()) {
        let [mut closed, mut replayed] = both(&case.config, case.limit);
        let (a, b) = (observe(&mut closed, &case), observe(&mut replayed, &case));
        prop_assert_eq!(&a.0, &b.0);
        prop_assert_eq!(&a.1, &b.1);
        prop_assert_eq!(a.2.map(f64::to_bits), b.2.map(f64::to_bits));
    }

    #[test]
    fn every_packet_is_accounted_for_at_every_sampling_time(case in cases()) {
        for mut link in both(&case.config, case.limit) {
            let (seen, intervals, _) = observe(&mut link, &case);
            let mut sum = network::Counters::default();
            for interval in intervals {
                sum += interval;
                // These subtractions would overflow if a packet were counted twice or too early.
                let inside = sum.waiting_packets() + sum.travelling_packets();
                let outside = sum.dropped_packets + sum.lost_packets + sum.forwarded_packets;
                prop_assert_eq!(sum.arrived_packets, inside + outside);
            }
            prop_assert_eq!(sum.arrived_packets as usize, case.arrivals.len());
            prop_assert_eq!(sum.forwarded_packets as usize, seen.len());
            prop_assert_eq!(sum.waiting_packets() + sum.travelling_packets(), 0);
            prop_assert!(seen.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 < w[1].1), "out of order");
        }
    }

    #[test]
    fn no_interval_sees_more_than_the_rate_and_one_packet(mut case in cases()) {
        case.config.impairments.rates.clear();
        let bits = case.config.rate.bits_per_sec();
        for mut link in both(&case.config, case.limit) {
            let (seen, _, _) = observe(&mut link, &case);
            for (n, &(from, first)) in seen.iter().enumerate() {
                let mut bytes = 0u128;
                for &(until, id) in &seen[n + 1..] {
                    bytes += u128::from(case.arrivals[id].1);
                    let room = u128::from(bits) * u128::from(until.since(from).as_nanos() + 1);
                    prop_assert!(bytes * 8_000_000_000 <= room, "{first}..{id}");
                }
            }
        }
    }
}

#[test]
fn behind_a_shorter_delay_packets_overtake_and_behind_a_longer_one_they_do_not() {
    // A packet of 100 bytes takes 100 us. The delay is 1 ms at first, 0.2 ms from 250 us on, and 5 ms from 450 us on.
    let mut config = config(8_000_000, 1_000);
    config.impairments.delays =
        vec![(us(250), Duration::from_micros(200)), (us(450), Duration::from_micros(5_000))];
    let mut link = Link::new(config, Box::new(DropTail::new(Limit::default())));
    (0..5).for_each(|id| link.send(packet(100, id), Time::ZERO));
    assert_eq!(
        drain(&mut link),
        [(us(500), 2), (us(600), 3), (us(1_100), 0), (us(1_200), 1), (us(5_500), 4)]
    );
}

#[test]
fn jitter_reorders_only_if_it_may() {
    let arrivals = |reorders| {
        let mut config = config(8_000_000, 1_000);
        let jitter = json!({ "spread_ns": 2_000_000, "reorder": reorders });
        config.impairments.each.push(Impairment::build("jitter", &jitter, &Dice::new(1, "test")).unwrap());
        let mut link = Link::new(config, Box::new(DropTail::new(Limit::default())));
        (0..200).for_each(|id| link.send(packet(100, id), Time::ZERO));
        drain(&mut link)
    };
    let late = |arrivals: &[(Time, usize)]| {
        arrivals
            .iter()
            .all(|&(at, id)| (0..=2_000).contains(&at.since(us(100 * id as u64 + 1_100)).as_micros()))
    };
    let ordered = |arrivals: &[(Time, usize)]| arrivals.windows(2).all(|pair| pair[0].1 < pair[1].1);
    let (free, held) = (arrivals(true), arrivals(false));
    assert_eq!((free.len(), held.len()), (200, 200));
    assert!(late(&free) && late(&held));
    assert!(!ordered(&free) && ordered(&held));
}
