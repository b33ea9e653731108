//! The first study as a benchmark: data packets per second through endpoints, six links and one schedule.

mod study;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use simulation::{Plan, Simulation};

/// Simulated seconds; long enough for every flow to leave its start-up.
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
