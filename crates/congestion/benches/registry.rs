//! What an ACK costs in each algorithm: every one of the registry on one stream of ACKs, beside CUBIC.
//!
//! Prints nanoseconds per ACK and the ratio to CUBIC at the end; no algorithm should exceed 1.5. This is the algorithm's
//! own part; `ack_path` in the `tcp` crate measures all that an ACK costs at its endpoints.

use congestion::kit::ideal;
use congestion::{
    Ack, CaState, Congestion, CongestionControl, Path, RateSample, Recovery, Sent, build, descriptors,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::{Duration as Wall, Instant};
use units::{Duration, Time};

/// Packets per round, rounds, and rounds from one loss to the next.
const WINDOW: u64 = 100;
const ROUNDS: u64 = 100;
const LOSS_EVERY: u64 = 25;
const LIMIT: f64 = 1.5;

/// An ACK, the path as it is then, and whether a loss comes before it.
struct Arrival {
    ack: Ack,
    path: Path,
    loss: bool,
}

/// ACKs of single packets, evenly spaced, with an RTT that climbs to one and a half of its base between losses.
fn stream() -> Vec<Arrival> {
    let arrival = |n: u64| {
        let (round, place) = (n / WINDOW, n % WINDOW);
        let climb = ideal::RTT * (round % LOSS_EVERY) / (2 * LOSS_EVERY);
        let rtt = ideal::RTT + climb;
        let now = Time::ZERO + ideal::RTT * (n + 1) / WINDOW + climb;
        let loss = place == 0 && round % LOSS_EVERY == LOSS_EVERY - 1;
        let sample = RateSample {
            prior_delivered: n.saturating_sub(WINDOW),
            lost: u32::from(loss),
            ..ideal::sample(WINDOW as u32, rtt)
        };
        let ack = Ack {
            lost: u32::from(loss),
            rtt: Some(rtt),
            one_way_delay: Some(rtt / 2),
            prior_in_flight: WINDOW as u32,
            una: n + 1,
            rate: Some(sample),
            ..ideal::ack(1)
        };
        let path = Path {
            srtt: Some(rtt),
            in_flight: WINDOW as u32 - 1,
            packets_out: WINDOW as u32 - 1,
            next: n + WINDOW,
            delivered: n + 1,
            lost: round / LOSS_EVERY,
            ..ideal::path(now)
        };
        Arrival { ack, path, loss }
    };
    (0..WINDOW * ROUNDS).map(arrival).collect()
}

fn fresh(name: &str) -> Box<dyn CongestionControl> {
    let mut algorithm = build(name, &serde_json::Value::Null, 1).expect("defaults are valid");
    algorithm.on_established(&ideal::path(Time::ZERO));
    algorithm
}

/// Everything a sender calls for one ACK and the packet that it releases.
fn digest(algorithm: &mut dyn CongestionControl, arrivals: &[Arrival]) {
    let traits = algorithm.traits();
    for Arrival { ack, path, loss } in arrivals {
        if *loss {
            algorithm.on_congestion(Congestion::Loss, path);
            if traits.recovery == Recovery::Transport {
                algorithm.set_cwnd(algorithm.control().ssthresh);
            }
            algorithm.on_recovery_exit(&Path { state: CaState::Open, ..*path });
        }
        algorithm.on_ack(ack, path);
        if traits.watches_sends {
            algorithm.on_send(&Sent { packets: 1, from_idle: false, gap: Duration::from_micros(400) }, path);
        }
        black_box(algorithm.control());
    }
}

fn per_ack(criterion: &mut Criterion) {
    let arrivals = stream();
    let mut group = criterion.benchmark_group("per_ack");
    group.throughput(Throughput::Elements(arrivals.len() as u64));
    group.warm_up_time(Wall::from_millis(300)).measurement_time(Wall::from_secs(1)).sample_size(20);
    for descriptor in descriptors() {
        group.bench_function(descriptor.name, |bencher| {
            bencher.iter_batched_ref(
                || fresh(descriptor.name),
                |algorithm| digest(&mut **algorithm, &arrivals),
                criterion::BatchSize::SmallInput,
            );
        });
    }
    group.finish();
    compare(&arrivals);
}

/// The table of ratios: the quickest of many passes, taken in turn so that a disturbance meets all alike.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn compare(arrivals: &[Arrival]) {
    const PASSES: usize = 200;
    let names: Vec<&str> = descriptors().iter().map(|d| d.name).collect();
    let mut best = vec![f64::INFINITY; names.len()];
    for _ in 0..PASSES {
        for (name, best) in names.iter().zip(&mut best) {
            let mut algorithm = fresh(name);
            let start = Instant::now();
            digest(&mut *algorithm, arrivals);
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / arrivals.len() as f64);
        }
    }
    let cubic = names.iter().zip(&best).find(|(name, _)| **name == "cubic").map_or(f64::NAN, |(_, ns)| *ns);
    println!("algorithm        ns/ACK  of CUBIC");
    for (name, ns) in names.iter().zip(&best) {
        let ratio = ns / cubic;
        println!("{name:<15} {ns:>7.1} {ratio:>9.2}{}", if ratio > LIMIT { "  above 1.5" } else { "" });
    }
}

criterion_group!(benches, per_ack);
criterion_main!(benches);
