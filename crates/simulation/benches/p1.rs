//! Benchmark of the dumbbell of the first study (P1): data packets simulated per second. A data packet and its ACK
//! cross six links.

mod study;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use simulation::{Plan, Simulation};

/// Simulated seconds, long enough that every flow leaves its start-up phase.
const SECONDS: u64 = 5;

fn p1(c: &mut Criterion) {
    let mut group = c.benchmark_group("p1");
    group.sample_size(10);
    for (cca, interval) in [("bbr1", None), ("bbr1", Some(100_000_000)), ("cubic", None)] {
        let plan = Plan::from_json(&study::plan(cca, 16, SECONDS, 5_000, interval)).expect("a valid plan");
        let run = || Simulation::new(plan.clone(), 1).expect("a valid plan").finish().data_packets;
        group.throughput(Throughput::Elements(run()));
        let name = format!("{cca}, {}", if interval.is_some() { "sampled" } else { "summaries only" });
        group.bench_function(name, |b| b.iter(run));
    }
}

criterion_group!(benches, p1);
criterion_main!(benches);
