//! Every kind of link in every kind of weather: what must always hold, over random cases, and each change by hand.

use network::queue::{DropTail, Limit, build, descriptors};
use network::{
    Counters, Detour, Duplication, Ecn, Jitter, Link, LinkConfig, Looks, Loss, Opportunities, Packet, Weather,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use units::{Duration, Rate, Rng, Time};

/// A packet knows its number and whether a middlebox may drop it.
type Payload = (usize, bool);

fn ms(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000)
}

fn config(rate: Rate, delay_ms: u64) -> LinkConfig {
    LinkConfig {
        rate,
        delay: Duration::from_millis(delay_ms),
        loss: None,
        looks: Looks::new(Some(Duration::from_secs(3)), Time::ZERO, ms(300_000)),
        weather: Weather::default(),
    }
}

fn packet(flow: u32, size: u16, id: usize, thin: bool) -> Packet<Payload> {
    let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0][flow as usize % 3];
    Packet { flow, size, ecn, dscp: 0, payload: (id, thin) }
}

/// Every packet with its time, drained by the end of the looks, and all counters.
fn run(
    link: &mut Link<Payload>,
    looks: Looks,
    sent: &[(Time, Packet<Payload>)],
) -> (Vec<(Time, usize)>, Counters) {
    let (mut seen, mut sum, mut waiting) = (Vec::new(), Counters::default(), sent.iter().peekable());
    let mut look = looks.after(Time::ZERO);
    while look != Time::NEVER {
        let (send, due) = (waiting.peek().map_or(Time::NEVER, |next| next.0), link.next_arrival());
        if due <= send.min(look) {
            seen.extend(link.take(due).map(|packet| (due, packet.payload.0)));
        } else if send <= look {
            waiting.next().iter().for_each(|(at, packet)| link.send(*packet, *at));
        } else {
            sum += link.look(look);
            // These subtractions would overflow if anything were counted twice or too early.
            assert_eq!(
                sum.arrived_packets + sum.duplicated_packets,
                sum.dropped_packets
                    + sum.waiting_packets()
                    + sum.travelling_packets()
                    + sum.lost_packets
                    + sum.forwarded_packets
            );
            look = looks.after(look);
        }
    }
    (seen, sum)
}

#[derive(Clone, Debug)]
struct Case {
    queue: (usize, bool),
    config: LinkConfig,
    thin: Option<u32>,
    /// Gap to the previous arrival in nanoseconds, flow, size, whether it is thin.
    arrivals: Vec<(u64, u32, u16, bool)>,
}

impl Case {
    fn queue(&self) -> (&'static str, Value) {
        let kind = descriptors()[self.queue.0].name;
        let tight = match kind {
            "drop_tail" | "police" => json!({ "packets": 20 }),
            "tbf" => json!({ "packets": 20, "rate_bps": 1_000_000, "burst_bytes": 3000 }),
            "red" => json!({ "limit": 30_000 }),
            "cake" => json!({ "memlimit_bytes": 30_280, "bandwidth_bps": 1_000_000 }),
            _ => json!({ "limit": 20 }),
        };
        (kind, if self.queue.1 { tight } else { json!({}) })
    }

    /// A limit that the queue has, if it has one of a kind that can be changed.
    fn limit(&self, n: u64) -> Limit {
        match self.queue().0 {
            "red" | "cake" => Limit { packets: None, bytes: Some(1514 * n) },
            _ => Limit { packets: Some(n), bytes: None },
        }
    }

    fn link(&self) -> Link<Payload> {
        let (kind, params) = self.queue();
        let mut config = self.config.clone();
        config.weather.limits = config
            .weather
            .limits
            .into_iter()
            .map(|(at, l)| (at, self.limit(l.packets.unwrap_or(0))))
            .collect();
        let queue = build(kind, &params, 7).unwrap();
        match self.thin {
            Some(every) => Link::replaying(config, queue).thinned(every, |payload| payload.1),
            None => Link::new(config, queue),
        }
    }

    fn sent(&self) -> Vec<(Time, Packet<Payload>)> {
        let mut now = Time::ZERO;
        let packets = self.arrivals.iter().enumerate().map(|(id, &(gap, flow, size, thin))| {
            now += Duration::from_nanos(gap);
            (now, packet(flow, size, id, thin))
        });
        packets.collect()
    }

    /// Bytes that the wire may carry between two times, at the most.
    fn possible(&self, from: Time, to: Time) -> f64 {
        let Weather { rates, opportunities, .. } = &self.config.weather;
        if let Some(opportunities) = opportunities {
            return opportunities.offered_bytes(from, to) as f64;
        }
        let bits =
            |rate: Rate| if rate == Rate::UNLIMITED { f64::INFINITY } else { rate.bits_per_sec() as f64 };
        let mut now = Time::ZERO;
        let (mut rate, mut sum) = (bits(self.config.rate), 0.0);
        for &(until, next) in rates.iter().chain([&(Time::NEVER, Rate::UNLIMITED)]) {
            let (begin, end) = (now.max(from), until.min(to));
            if begin <= end {
                sum += rate * (end.since(begin).as_nanos() as f64 + 1.0) / 8e9;
            }
            (now, rate) = (until, bits(next));
        }
        sum
    }

    /// The same link where no packet overtakes another.
    fn ordered(mut self) -> Case {
        let weather = &mut self.config.weather;
        weather.delays.clear();
        weather.detour = None;
        weather.jitter.iter_mut().for_each(|jitter| jitter.reorders = false);
        self
    }

    /// The same link where a packet arrives once, a fixed time after its transmission.
    fn exact(self) -> Case {
        let mut case = self.ordered();
        let weather = &mut case.config.weather;
        (weather.jitter, weather.slot, weather.duplication) = (None, None, None);
        case
    }
}

fn wire() -> impl Strategy<Value = (Rate, Vec<(Time, Rate)>, Option<Opportunities>)> {
    let rate = || prop_oneof![Just(u64::MAX), 100_000u64..50_000_000].prop_map(Rate::from_bits_per_sec);
    let change = (0u64..400, prop_oneof![rate(), Just(Rate::from_bits_per_sec(0))]);
    let changes = (vec(change, 0..4), rate()).prop_map(|(mut changes, last)| {
        changes.sort_by_key(|change| change.0);
        let last = (changes.last().map_or(0, |change| change.0 + 50), last); // no outage lasts for ever
        changes.into_iter().chain([last]).map(|(at, rate)| (ms(at), rate)).collect::<Vec<_>>()
    });
    let moments =
        (vec(0u64..20_000_000, 1..20), 64u32..4_000, 0u64..100).prop_map(|(gaps, bytes, offset)| {
            let mut time = 1;
            let times = gaps.into_iter().map(|gap| {
                time += gap;
                Duration::from_nanos(time)
            });
            Opportunities::new(times.collect(), bytes, true, Duration::from_millis(offset))
        });
    prop_oneof![
        2 => rate().prop_map(|rate| (rate, Vec::new(), None)),
        2 => (rate(), changes).prop_map(|(rate, changes)| (rate, changes, None)),
        2 => moments.prop_map(|moments| (Rate::UNLIMITED, Vec::new(), Some(moments))),
    ]
}

fn weather() -> impl Strategy<Value = Weather> {
    let time = || (0u64..400).prop_map(ms);
    let sorted = |mut list: Vec<(Time, u64)>| {
        list.sort();
        list
    };
    let delays = prop_oneof![3 => Just(Vec::new()), 1 => vec((time(), 0u64..30), 0..4).prop_map(sorted)];
    let limits = prop_oneof![1 => Just(Vec::new()), 1 => vec((time(), 1u64..30), 0..4).prop_map(sorted)];
    let rng = || Rng::stream(1, "weather/test");
    let jitter =
        (0u64..5_000_000, any::<bool>(), any::<bool>()).prop_map(move |(spread, normal, reorders)| Jitter {
            spread: Duration::from_nanos(spread),
            normal,
            reorders,
            rng: rng(),
        });
    let detour = (1u64..10, 1u64..30_000_000).prop_map(|(every, extra)| Detour {
        every,
        extra: Duration::from_nanos(extra),
        from: Time::ZERO,
        until: Time::NEVER,
    });
    let rare = |p| proptest::option::weighted(p, 0.0f64..=1.0);
    (delays, limits, of(jitter), of(detour), rare(0.3), of(1u64..10_000_000), rare(0.2)).prop_map(
        move |(delays, limits, jitter, detour, copies, slot, lossy)| Weather {
            delays: delays.into_iter().map(|(at, n)| (at, Duration::from_millis(n))).collect(),
            limits: limits.into_iter().map(|(at, n)| (at, Limit { packets: Some(n), bytes: None })).collect(),
            losses: lossy
                .map(|probability| (ms(100), Loss::Bernoulli { probability, rng: rng() }))
                .into_iter()
                .collect(),
            duplication: copies.map(|probability| Duplication { probability, rng: rng() }),
            slot: slot.map(Duration::from_nanos),
            detour,
            jitter,
            ..Weather::default()
        },
    )
}

fn cases() -> impl Strategy<Value = Case> {
    let queue = (0..descriptors().len(), any::<bool>());
    let arrivals = vec((0u64..6_000_000, 0u32..5, 60u16..1514, any::<bool>()), 1..120);
    let fair = prop_oneof![2 => Just(Weather::default()), 3 => weather()];
    (queue, wire(), fair, of(1u32..6), arrivals).prop_map(|(queue, wire, weather, thin, arrivals)| {
        let (rate, rates, opportunities) = wire;
        let config = LinkConfig { weather: Weather { rates, opportunities, ..weather }, ..config(rate, 5) };
        Case { queue, config, thin, arrivals }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn in_and_duplicated_is_out_and_dropped_and_inside(case in cases()) {
        let sent = case.sent();
        let (seen, sum) = run(&mut case.link(), case.config.looks, &sent);
        prop_assert_eq!(sum.arrived_packets as usize, sent.len());
        prop_assert_eq!(sum.forwarded_packets as usize, seen.len());
        prop_assert_eq!(sum.waiting_packets() + sum.travelling_packets(), 0, "everything leaves in the end");
        let mut times = vec![0u64; sent.len()];
        let least = case.config.weather.delays.iter().map(|delay| delay.1).chain([case.config.delay]).min();
        for &(at, id) in &seen {
            times[id] += 1;
            prop_assert!(at >= sent[id].0 + least.unwrap_or_default(), "{} arrives before it was sent", id);
        }
        let (copies, never) =
            (times.iter().filter(|&&n| n == 2).count(), times.iter().filter(|&&n| n == 0).count());
        prop_assert!(times.iter().all(|&n| n <= 2));
        prop_assert!(copies as u64 <= sum.duplicated_packets);
        let gone = sum.dropped_packets + sum.lost_packets - (sum.duplicated_packets - copies as u64);
        prop_assert_eq!(never as u64, gone);
    }

    #[test]
    fn who_shares_a_flow_and_a_class_stays_in_order_unless_the_link_reorders(case in cases()) {
        let case = case.ordered();
        let (seen, _) = run(&mut case.link(), case.config.looks, &case.sent());
        let mut last = BTreeMap::new();
        for (_, id) in seen {
            let before = last.insert(case.arrivals[id].1, id);
            prop_assert!(before.is_none_or(|before| before <= id));
        }
    }

    #[test]
    fn no_interval_sees_more_than_the_wire_carries_in_it_and_one_packet(case in cases()) {
        let case = case.exact();
        let burst = if case.queue().0 == "tbf" { 125_000.0 } else { 0.0 };
        let (seen, _) = run(&mut case.link(), case.config.looks, &case.sent());
        for (n, &(from, _)) in seen.iter().enumerate() {
            let mut bytes = 0.0;
            for &(until, id) in &seen[n + 1..] {
                if until > from {
                    bytes += f64::from(case.arrivals[id].2);
                }
                let (from, until) = (from - case.config.delay, until - case.config.delay);
                prop_assert!(bytes <= case.possible(from, until) + burst + 1514.0, "{} bytes to {:?}", bytes, until);
            }
        }
    }
}

/// Drop-tail links, with foresight where it is possible and without.
fn both(config: &LinkConfig, packets: u64) -> [Link<Payload>; 2] {
    let queue = || Box::new(DropTail::new(Limit { packets: Some(packets), bytes: None }));
    [Link::new(config.clone(), queue()), Link::replaying(config.clone(), queue())]
}

/// When the packets arrive that are sent at given times, in milliseconds.
fn arrivals(link: &mut Link<Payload>, sent_ms: &[u64], size: u16) -> Vec<(u64, usize)> {
    let sent: Vec<_> =
        sent_ms.iter().enumerate().map(|(id, &at)| (ms(at), packet(0, size, id, true))).collect();
    let looks = Looks::new(None, Time::ZERO, ms(1_000_000));
    run(link, looks, &sent).0.into_iter().map(|(at, id)| (at.as_millis(), id)).collect()
}

/// A trace of opportunities at given milliseconds.
fn traced(times_ms: &[u64]) -> LinkConfig {
    let times = times_ms.iter().map(|&n| Duration::from_millis(n)).collect();
    let mut config = config(Rate::UNLIMITED, 0);
    config.looks = Looks::new(None, Time::ZERO, ms(1_000_000));
    config.weather.opportunities = Some(Opportunities::new(times, 1504, true, Duration::ZERO));
    config
}

#[test]
fn who_arrives_with_an_opportunity_waits_for_the_next() {
    for mut link in both(&traced(&[10]), 100) {
        assert_eq!(arrivals(&mut link, &[0, 10, 11, 25], 1504), [(10, 0), (20, 1), (30, 2), (40, 3)]);
    }
}

#[test]
fn who_waits_for_an_opportunity_takes_a_place_in_the_queue() {
    for mut link in both(&traced(&[10]), 1) {
        assert_eq!(arrivals(&mut link, &[0, 1, 12], 1504), [(10, 0), (20, 2)]);
    }
}

#[test]
fn several_packets_share_an_opportunity_and_what_is_left_is_lost() {
    for mut link in both(&traced(&[10]), 100) {
        assert_eq!(arrivals(&mut link, &[0, 0, 0, 10], 700), [(10, 0), (10, 1), (20, 2), (20, 3)]);
    }
}

/// Mahimahi's link shell in the plainest form: one opportunity after the other, over everything that has arrived before.
fn link_shell(times: &[u64], sent: &[(Time, Packet<Payload>)], limit: usize) -> Vec<(Time, usize)> {
    let (mut queue, mut waiting) = (std::collections::VecDeque::new(), sent.iter().peekable());
    let (mut transit, mut seen): (Option<(usize, u32)>, Vec<(Time, usize)>) = (None, Vec::new());
    for round in 0.. {
        for time in times {
            let now = Time::from_nanos(round * times[times.len() - 1] + time);
            while let Some((_, packet)) = waiting.next_if(|next| next.0 < now) {
                if queue.len() < limit {
                    queue.push_back((packet.payload.0, u32::from(packet.size)));
                }
            }
            let mut left = 1504;
            while left > 0 {
                transit = transit.or_else(|| queue.pop_front());
                let Some((id, size)) = transit else { break };
                let part = size.min(left);
                left -= part;
                transit = (size > part).then_some((id, size - part));
                if size == part {
                    seen.push((now, id));
                }
            }
        }
        if waiting.peek().is_none() && queue.is_empty() && transit.is_none() {
            break;
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_trace_is_served_as_mahimahi_serves_it(
        gaps in vec(0u64..20_000_000, 1..30),
        limit in 1usize..30,
        arrivals in vec((0u64..5_000_000, 1u16..5_000), 0..150),
    ) {
        let mut time = 1;
        let times: Vec<u64> = gaps.into_iter().map(|gap| { time += gap; time }).collect();
        let mut now = Time::ZERO;
        let sent: Vec<_> = arrivals.into_iter().enumerate().map(|(id, (gap, size))| {
            now += Duration::from_nanos(gap);
            (now, packet(0, size, id, false))
        }).collect();
        let mut config = config(Rate::UNLIMITED, 0);
        let moments = times.iter().copied().map(Duration::from_nanos).collect();
        config.weather.opportunities = Some(Opportunities::new(moments, 1504, true, Duration::ZERO));
        let queue = DropTail::new(Limit { packets: Some(limit as u64), bytes: None });
        let mut link = Link::new(config.clone(), Box::new(queue));
        let (seen, _) = run(&mut link, config.looks, &sent);
        prop_assert_eq!(seen, link_shell(&times, &sent, limit));
    }
}

#[test]
fn a_shaper_lets_opportunities_pass() {
    let shaper = json!({ "rate_bps": 752_000, "burst_bytes": 1504 }); // 1504 bytes in 16 ms
    let mut link = Link::new(traced(&[10]), build("tbf", &shaper, 1).unwrap());
    assert_eq!(arrivals(&mut link, &[0, 0, 0], 1504), [(10, 0), (30, 1), (50, 2)]);
}

fn slow(changes: &[(u64, u64)]) -> LinkConfig {
    let mut config = config(Rate::from_bits_per_sec(800_000), 0); // 100 bytes per millisecond
    config.looks = Looks::new(None, Time::ZERO, ms(1_000_000));
    let limit = |&(at, packets)| (ms(at), Limit { packets: Some(packets), bytes: None });
    config.weather.limits = changes.iter().map(limit).collect();
    config
}

#[test]
fn a_lower_limit_keeps_who_waits_in_a_fifo_and_admits_nobody_else() {
    for mut link in both(&slow(&[(10, 1)]), 100) {
        // 0 is being sent, 1 to 3 wait when the limit falls.
        let seen = arrivals(&mut link, &[0, 0, 0, 0, 11, 39], 1000);
        assert_eq!(seen, [(10, 0), (20, 1), (30, 2), (40, 3), (50, 5)]);
    }
}

#[test]
fn a_lower_limit_drops_from_the_head_where_linux_does() {
    for kind in ["codel", "pie", "fq_codel", "fq_pie", "fq", "dualpi2"] {
        let mut link = Link::new(slow(&[(5, 1)]), build(kind, &json!({ "limit": 100 }), 1).unwrap());
        assert_eq!(arrivals(&mut link, &[0, 0, 0, 0], 1000), [(10, 0), (20, 3)], "{kind}");
    }
}

#[test]
fn red_begins_anew_with_another_limit() {
    let mut config = slow(&[]);
    config.weather.limits = vec![(ms(5), Limit { packets: None, bytes: Some(10_000) })];
    let mut link = Link::new(config, build("red", &json!({ "limit": 100_000 }), 1).unwrap());
    assert_eq!(arrivals(&mut link, &[0, 0, 0, 6], 1000), [(10, 0), (20, 3)]);
}

#[test]
fn a_limit_that_fell_and_rose_between_two_packets_has_dropped_its_share() {
    let mut link = Link::new(slow(&[(4, 1), (5, 100)]), build("codel", &json!({ "limit": 100 }), 1).unwrap());
    assert_eq!(arrivals(&mut link, &[0, 0, 0], 1000), [(10, 0), (20, 2)]);
}

#[test]
fn a_copy_comes_right_behind_its_packet() {
    let mut config = slow(&[]);
    config.weather.duplication = Some(Duplication { probability: 1.0, rng: Rng::stream(1, "test") });
    let mut link = Link::new(config, Box::new(DropTail::new(Limit::default())));
    assert_eq!(arrivals(&mut link, &[0, 0], 1000), [(10, 0), (10, 0), (20, 1), (20, 1)]);
}

#[test]
fn who_is_lost_and_has_a_copy_arrives_once() {
    let mut config = slow(&[]);
    config.loss = Some(Loss::Periodic { every: 1, seen: 0 });
    config.weather.duplication = Some(Duplication { probability: 1.0, rng: Rng::stream(1, "test") });
    let mut link = Link::new(config, Box::new(DropTail::new(Limit::default())));
    assert_eq!(arrivals(&mut link, &[0, 0], 1000), [(10, 0), (20, 1)]);
}

#[test]
fn a_thinned_link_passes_every_so_many() {
    let queue = Box::new(DropTail::new(Limit::default()));
    let mut link = Link::replaying(slow(&[]), queue).thinned(3, |payload: &Payload| payload.1);
    assert_eq!(arrivals(&mut link, &[0; 7], 1000), [(10, 2), (20, 5)]);
    assert_eq!(link.totals().run.dropped_packets, 5);
}

#[test]
fn an_outage_of_a_token_bucket_lets_nothing_pass_and_keeps_its_tokens() {
    let mut config = config(Rate::UNLIMITED, 0);
    config.looks = Looks::new(None, Time::ZERO, ms(1_000_000));
    config.weather.rates =
        vec![(ms(5), Rate::from_bits_per_sec(0)), (ms(105), Rate::from_bits_per_sec(800_000))];
    let shaper = json!({ "rate_bps": 800_000, "burst_bytes": 1000 });
    let mut link = Link::new(config, build("tbf", &shaper, 1).unwrap());
    assert_eq!(arrivals(&mut link, &[0, 0, 0], 1000), [(0, 0), (110, 1), (120, 2)]);
}
