//! CPU time per ACK of each registered algorithm, without its sender. The benchmark `ack_path` of the crate `tcp`
//! includes the sender.
//!
//! Each algorithm first runs alone on the same path, and its calls are recorded. The recording is then replayed to a
//! new instance of the algorithm. The instance behaves as in the run: loss-based algorithms fill the buffer and back
//! off, BBR goes through the phases of its cycle. At the end, the benchmark prints nanoseconds per ACK and the ratio to
//! CUBIC.

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

/// Print the table of ratios from the fastest of many passes. Algorithms take turns, so that a disturbance of the
/// machine affects all algorithms alike.
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
