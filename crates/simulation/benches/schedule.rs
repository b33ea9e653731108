//! Benchmark of the schedule: take the next actor and set its next wake-up.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use simulation::{ActorId, Schedule};
use std::hint::black_box;
use units::{Duration, Rng, Time};

fn turns(c: &mut Criterion) {
    let mut group = c.benchmark_group("schedule");
    for actors in [16u32, 128, 1_024, 8_192, 65_536] {
        let mut schedule = Schedule::new(actors as usize);
        let mut rng = Rng::stream(1, "bench");
        (0..actors)
            .for_each(|a| schedule.request(ActorId(a), Time::from_nanos(u64::from(rng.below(100_000)))));
        group.bench_function(BenchmarkId::new("turn", actors), |b| {
            b.iter(|| {
                let (now, actor) = schedule.next(Time::NEVER).expect("every actor always has a wake-up");
                schedule.end(actor, now + Duration::from_nanos(u64::from(rng.below(100_000))));
                black_box(now)
            });
        });
    }
}

criterion_group!(benches, turns);
criterion_main!(benches);
