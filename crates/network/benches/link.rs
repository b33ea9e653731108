//! CPU time per packet of one link with a drop-tail queue: a saturated link, computed in closed form and by replay, and
//! an idle link.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use network::queue::{DropTail, Limit};
use network::{Ecn, Link, LinkConfig, Packet, SamplingTimes, StreamId};
use std::hint::black_box;
use units::{Duration, Rate, Time};

const PACKETS: u64 = 10_000;

fn config() -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bits_per_sec(1_000_000_000),
        delay: Duration::from_millis(1),
        loss: None,
        sampling: SamplingTimes::new(None, Time::ZERO, Time::from_nanos(u64::MAX - 1)),
        impairments: network::Impairments::default(),
    }
}

fn queue() -> Box<DropTail<[u64; 5]>> {
    Box::new(DropTail::new(Limit { packets: Some(100), bytes: None }))
}

/// Send `PACKETS` packets, one every `gap`, and take each packet when it arrives at the far end.
fn pump(link: &mut Link<[u64; 5]>, gap: Duration, now: &mut Time) {
    for _ in 0..PACKETS {
        *now += gap;
        link.send(
            Packet { stream: StreamId(0), size: 1514, ecn: Ecn::NotEct, dscp: 0, payload: [0; 5] },
            *now,
        );
        while link.next_arrival() <= *now {
            black_box(link.take(*now));
        }
    }
}

fn link(c: &mut Criterion) {
    let mut group = c.benchmark_group("link");
    group.throughput(Throughput::Elements(PACKETS));
    let (busy, idle) = (Duration::from_micros(12), Duration::from_micros(20));
    let cases = [
        ("saturated, closed form", Link::new(config(), queue()), busy),
        ("saturated, replay", Link::replaying(config(), queue()), busy),
        ("idle, closed form", Link::new(config(), queue()), idle),
    ];
    for (name, mut link, gap) in cases {
        let mut now = Time::ZERO;
        group.bench_function(name, |b| b.iter(|| pump(&mut link, gap, &mut now)));
    }
}

criterion_group!(benches, link);
criterion_main!(benches);
