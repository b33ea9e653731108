//! Properties of every kind of link with every kind of impairment, in random cases.

use crate::common::{Payload, config, impairment, loss, ms, packet, run};
use network::queue::{Limit, build, descriptors};
use network::{Impairment, Impairments, Link, LinkConfig, Opportunities, Packet, Train, Trains};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use units::{Duration, Rate, Time};

#[derive(Clone, Debug)]
struct Case {
    queue: (usize, bool),
    config: LinkConfig,
    /// Recorded trains for packets after a pause, if the link has opportunities.
    trains: Option<Trains>,
    /// For each packet, the gap to the previous arrival in nanoseconds, the flow, the size, and whether the packet is a
    /// plain ACK.
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

    /// A limit of the kind that the queue supports, if its limit can be changed.
    fn limit(&self, n: u64) -> Limit {
        match self.queue().0 {
            "red" | "cake" => Limit { packets: None, bytes: Some(1514 * n) },
            _ => Limit { packets: Some(n), bytes: None },
        }
    }

    fn link(&self) -> Link<Payload> {
        let (kind, params) = self.queue();
        let mut config = self.config.clone();
        config.impairments.limits = config
            .impairments
            .limits
            .into_iter()
            .map(|(at, l)| (at, self.limit(l.packets.unwrap_or(0))))
            .collect();
        let opportunities = config.impairments.opportunities.take();
        config.impairments.opportunities = opportunities.map(|made| match &self.trains {
            Some(trains) => made.with_trains(trains.clone()),
            None => made,
        });
        let queue = build(kind, &params, 7).unwrap();
        Link::new(config, queue).knowing_acks(|payload| payload.1)
    }

    fn sent(&self) -> Vec<(Time, Packet<Payload>)> {
        let mut now = Time::ZERO;
        let packets = self.arrivals.iter().enumerate().map(|(id, &(gap, flow, size, thin))| {
            now += Duration::from_nanos(gap);
            (now, packet(flow, size, id, thin))
        });
        packets.collect()
    }

    /// Maximum number of bytes that the wire may carry between two times.
    fn possible(&self, from: Time, to: Time) -> f64 {
        let Impairments { rates, opportunities, .. } = &self.config.impairments;
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

    /// The case without changes and impairments that reorder packets.
    fn ordered(mut self) -> Case {
        let impairments = &mut self.config.impairments;
        impairments.delays.clear();
        impairments.each.retain(|one| !one.properties().reorders);
        self
    }

    /// The case changed so that each packet arrives at most once, at a fixed time after its transmission.
    fn exact(self) -> Case {
        let mut case = self.ordered();
        case.trains = None; // trains carry additional bytes
        case.config.impairments.each.retain(|one| one.kind() == "ack_filter");
        case
    }
}

fn wire() -> impl Strategy<Value = (Rate, Vec<(Time, Rate)>, Option<Opportunities>)> {
    let rate = || prop_oneof![Just(u64::MAX), 100_000u64..50_000_000].prop_map(Rate::from_bits_per_sec);
    let change = (0u64..400, prop_oneof![rate(), Just(Rate::from_bits_per_sec(0))]);
    let changes = (vec(change, 0..4), rate()).prop_map(|(mut changes, last)| {
        changes.sort_by_key(|change| change.0);
        let last = (changes.last().map_or(0, |change| change.0 + 50), last); // every outage ends
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

fn trains() -> impl Strategy<Value = Trains> {
    let train = (0u64..20_000_000, 0u64..20_000_000, vec(0u64..5_000_000, 0..9));
    (vec(train, 2..9), 0u64..10).prop_map(|(trains, idle)| {
        let mut at = Duration::ZERO;
        let long = Duration::from_nanos;
        let made = trains.into_iter().map(|(gap, delay, mut offsets)| {
            at = at + long(gap + 1);
            offsets.extend([0]);
            offsets.sort_unstable();
            Train { at, delay: long(delay), offsets: offsets.into_iter().map(long).collect() }
        });
        Trains::new(made.collect(), Duration::from_millis(idle), true, Duration::ZERO)
    })
}

fn impairments() -> impl Strategy<Value = Impairments> {
    let time = || (0u64..400).prop_map(ms);
    let sorted = |mut list: Vec<(Time, u64)>| {
        list.sort();
        list
    };
    let delays = prop_oneof![3 => Just(Vec::new()), 1 => vec((time(), 0u64..30), 0..4).prop_map(sorted)];
    let limits = prop_oneof![1 => Just(Vec::new()), 1 => vec((time(), 1u64..30), 0..4).prop_map(sorted)];
    let rare = proptest::option::weighted(0.2, 0.0f64..=1.0);
    (delays, limits, each(), rare).prop_map(move |(delays, limits, each, lossy)| Impairments {
        delays: delays.into_iter().map(|(at, n)| (at, Duration::from_millis(n))).collect(),
        limits: limits.into_iter().map(|(at, n)| (at, Limit { packets: Some(n), bytes: None })).collect(),
        losses: lossy
            .map(|probability| (ms(100), loss("bernoulli", &json!({ "probability": probability }))))
            .into_iter()
            .collect(),
        each,
        ..Impairments::default()
    })
}

/// A selection of the impairments, in any order.
fn each() -> impl Strategy<Value = Vec<Impairment>> {
    let filter = (2u32..6).prop_map(|every| ("ack_filter", json!({ "every": every })));
    let jitter = (0u64..5_000_000, any::<bool>(), any::<bool>()).prop_map(|(spread, normal, reorders)| {
        let shape = if normal { "normal" } else { "uniform" };
        ("jitter", json!({ "spread_ns": spread, "shape": shape, "reorder": reorders }))
    });
    let wifi = (1_000_000u64..=91_000_000).prop_map(|mean| ("wifi_jitter", json!({ "mean_ns": mean })));
    let recorded =
        (vec(0u64..9_000_000, 1..9), any::<bool>(), any::<bool>()).prop_map(|(delays, whole, reorders)| {
            let draw = if whole { "interpolated" } else { "listed" };
            ("recorded_jitter", json!({ "delays_ns": delays, "draw": draw, "reorder": reorders }))
        });
    let aggregation = (1u64..10_000_000).prop_map(|slot| ("aggregation", json!({ "slot_ns": slot })));
    let reordering = (1u64..10, 1u64..30_000_000)
        .prop_map(|(every, extra)| ("reordering", json!({ "every": every, "extra_ns": extra })));
    let arq = (0.0f64..0.9, 1u64..20_000_000)
        .prop_map(|(p, delay)| ("arq", json!({ "probability": p, "delay_ns": delay })));
    let copies = (0.0f64..=1.0).prop_map(|p| ("duplicate", json!({ "probability": p })));
    (
        of(filter),
        of(jitter),
        of(wifi),
        of(recorded),
        of(aggregation),
        of(reordering),
        of(arq),
        proptest::option::weighted(0.3, copies),
    )
        .prop_map(|(a, b, c, d, e, f, g, h)| {
            [a, b, c, d, e, f, g, h].into_iter().flatten().collect::<Vec<_>>()
        })
        .prop_shuffle()
        .prop_map(|each| each.iter().map(|(kind, params)| impairment(kind, params)).collect())
}

fn cases() -> impl Strategy<Value = Case> {
    let queue = (0..descriptors().len(), any::<bool>());
    let arrivals = vec((0u64..6_000_000, 0u32..5, 60u16..1514, any::<bool>()), 1..120);
    let fair = prop_oneof![2 => Just(Impairments::default()), 3 => impairments()];
    (queue, wire(), of(trains()), fair, arrivals).prop_map(|(queue, wire, trains, impairments, arrivals)| {
        let (rate, rates, opportunities) = wire;
        let config = LinkConfig {
            impairments: Impairments { rates, opportunities, ..impairments },
            ..config(rate, 5)
        };
        Case { queue, config, trains, arrivals }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn in_and_duplicated_is_out_and_dropped_and_inside(case in cases()) {
        let sent = case.sent();
        let (seen, sum) = run(&mut case.link(), case.config.sampling, &sent);
        prop_assert_eq!(sum.arrived_packets as usize, sent.len());
        prop_assert_eq!(sum.forwarded_packets as usize, seen.len());
        prop_assert_eq!(sum.waiting_packets() + sum.travelling_packets(), 0, "everything leaves in the end");
        let mut times = vec![0u64; sent.len()];
        let least = case.config.impairments.delays.iter().map(|delay| delay.1).chain([case.config.delay]).min();
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
        let (seen, _) = run(&mut case.link(), case.config.sampling, &case.sent());
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
        let (seen, _) = run(&mut case.link(), case.config.sampling, &case.sent());
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
