//! What an ACK costs in each algorithm of the registry, without its sender: `ack_path` in the `tcp` crate measures all.
//!
//! Every algorithm is told once more what it was told alone on the same path, so that it does what it does there: loss-based
//! ones fill the buffer and back off, BBR goes through the phases of its cycle. Prints nanoseconds per ACK and the ratio to
//! CUBIC at the end.

mod replay;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use replay::Recording;
use std::time::{Duration, Instant};

fn per_ack(criterion: &mut Criterion) {
    let recordings: Vec<Recording> =
        congestion::descriptors().iter().map(|d| Recording::make(d.name)).collect();
    let mut group = criterion.benchmark_group("algorithms");
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(20);
    for recording in &recordings {
        group.throughput(Throughput::Elements(recording.acks));
        group.bench_function(recording.name, |bencher| {
            bencher.iter_batched_ref(
                || recording.warm(),
                |algorithm| recording.replay(&mut **algorithm),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
    compare(&recordings);
}

/// The table of ratios: the quickest of many passes, taken in turn so that a disturbance meets all alike.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn compare(recordings: &[Recording]) {
    const PASSES: usize = 100;
    let mut best = vec![f64::INFINITY; recordings.len()];
    for _ in 0..PASSES {
        for (recording, best) in recordings.iter().zip(&mut best) {
            let mut algorithm = recording.warm();
            let start = Instant::now();
            recording.replay(&mut *algorithm);
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / recording.acks as f64);
        }
    }
    let cubic = recordings.iter().zip(&best).find(|(r, _)| r.name == "cubic").map_or(f64::NAN, |(_, ns)| *ns);
    println!("algorithm          ns/ACK  of CUBIC");
    for (recording, ns) in recordings.iter().zip(&best) {
        println!("{:<17} {ns:>7.1} {:>9.2}", recording.name, ns / cubic);
    }
}

criterion_group!(benches, per_ack);
criterion_main!(benches);
