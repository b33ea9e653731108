//! CPU time per packet of one element whose queue is never empty: a link with FQ-CoDel, or a Wi-Fi cell. Cells send
//! aggregates of 42 packets from FQ-CoDel or from Linux's queues for Wi-Fi, or single packets from FQ-CoDel.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use network::{
    Ecn, Element, Impairments, Link, LinkConfig, Packet, PortId, SamplingTimes, StreamId, medium, queue,
};
use serde_json::{Value, json};
use std::hint::black_box;
use units::{Duration, Rate, Time};

const PACKETS: u64 = 10_000;
const WAITING: u64 = 200;

type Payload = [u64; 5];
type Queue = fn() -> Box<dyn network::QueueDiscipline<Payload>>;

fn sampling() -> SamplingTimes {
    SamplingTimes::new(None, Time::ZERO, Time::from_nanos(u64::MAX - 1))
}

fn fq_codel() -> Box<dyn network::QueueDiscipline<Payload>> {
    queue::build("fq_codel", &json!({ "target_ms": 10_000.0 }), 1).unwrap()
}

/// A link with the rate of the Wi-Fi cell that [`cell`] makes.
fn link() -> Box<dyn Element<Payload>> {
    let config = LinkConfig {
        rate: Rate::from_bits_per_sec(332_000_000),
        delay: Duration::from_millis(1),
        loss: None,
        sampling: sampling(),
        impairments: Impairments::default(),
    };
    Box::new(Link::new(config, fq_codel()))
}

/// Linux's queues for Wi-Fi, with the CoDel target of [`fq_codel`].
fn mac80211() -> Box<dyn network::QueueDiscipline<Payload>> {
    queue::build("mac80211", &json!({ "target_ms": 10_000.0 }), 1).unwrap()
}

fn cell(more: &[(&str, Value)], queue: Queue) -> Box<dyn Element<Payload>> {
    let mut params =
        json!({ "standard": "802.11ac", "streams": 1, "station_mcs": [9], "max_ampdu_bytes": 65_535 });
    more.iter().for_each(|(name, value)| params[*name] = value.clone());
    medium::build("wifi", &params, vec![queue(), queue()], sampling(), 1).unwrap()
}

/// Send a new packet for each packet that the element delivers, so that its queue is never empty.
fn pump(element: &mut dyn Element<Payload>) {
    let packet = Packet { stream: StreamId(0), size: 1514, ecn: Ecn::NotEct, dscp: 0, payload: [0; 5] };
    let mut left = PACKETS;
    while left > 0 {
        let due = element.next();
        if black_box(element.take(due)).is_some() {
            element.put(PortId(0), &packet, due);
            left -= 1;
        }
    }
}

fn wifi(c: &mut Criterion) {
    let mut group = c.benchmark_group("wifi");
    group.throughput(Throughput::Elements(PACKETS));
    let cases = [
        ("FQ-CoDel link", link()),
        ("aggregates of 42", cell(&[], fq_codel)),
        ("aggregates of 42, errors of 10 %", cell(&[("station_errors", json!([0.1]))], fq_codel)),
        ("aggregates of 42, mac80211", cell(&[], mac80211)),
        ("aggregates of 42, mac80211, errors of 10 %", cell(&[("station_errors", json!([0.1]))], mac80211)),
        ("one packet each", cell(&[("max_ampdu_mpdus", json!(1))], fq_codel)),
    ];
    for (name, mut element) in cases {
        let packet = Packet { stream: StreamId(0), size: 1514, ecn: Ecn::NotEct, dscp: 0, payload: [0; 5] };
        (0..WAITING).for_each(|_| element.put(PortId(0), &packet, Time::ZERO));
        group.bench_function(name, |b| b.iter(|| pump(&mut *element)));
    }
}

criterion_group!(benches, wifi);
criterion_main!(benches);
