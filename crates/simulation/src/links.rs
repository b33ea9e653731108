//! From the plan of a link to the link.

use crate::engine::CutThrough;
use crate::payload::Payload;
use crate::periods::exponential;
use crate::plan::{ChangePlan, LinkPlan, LossPlan, OpportunitiesPlan, PlanError, QueuePlan, WanderPlan};
use network::queue::Limit;
use network::{
    Chain, Detour, Duplication, Impairments, Jitter, Link, LinkConfig, Loss, Opportunities, QueueDiscipline,
    SamplingTimes,
};
use units::{Duration, Rate, Rng, Time};

/// Makes link `n` of a plan. All its dice come from `seed` and its stream.
pub(crate) fn build_link(
    n: usize,
    plan: &LinkPlan,
    sampling: SamplingTimes,
    seed: u64,
    cut_through: CutThrough,
    hosts: &[Option<[u32; 2]>],
) -> Result<Link<Payload>, PlanError> {
    let config = LinkConfig {
        rate: plan.rate_bps.map_or(Rate::UNLIMITED, Rate::from_bits_per_sec),
        delay: Duration::from_nanos(plan.delay_ns),
        loss: plan.loss.as_ref().map(|loss| build_loss(loss, seed, &format!("loss/{}", plan.stream))),
        sampling,
        impairments: build_impairments(plan, seed, sampling.end()),
    };
    let queue = build_queue(&plan.queue, &format!("links[{n}]"), &plan.stream, seed, hosts)?;
    Ok(match plan.thin {
        Some(every) => Link::replaying(config, queue).with_ack_filter(every, Payload::is_plain_ack),
        None if cut_through == CutThrough::Yes => Link::new(config, queue),
        None => Link::replaying(config, queue),
    })
}

/// Makes the queue of the link or port at `path`. Its dice come from `seed` and the stream of that.
pub(crate) fn build_queue(
    plan: &QueuePlan,
    path: &str,
    stream: &str,
    seed: u64,
    hosts: &[Option<[u32; 2]>],
) -> Result<Box<dyn QueueDiscipline<Payload>>, PlanError> {
    let dice = Rng::stream(seed, &format!("queue/{stream}")).next_u64();
    let mut queue = plan.build(path, dice)?;
    queue.know_hosts(hosts);
    queue.know_redundancy(Payload::is_redundant);
    Ok(queue)
}

fn build_impairments(plan: &LinkPlan, seed: u64, end: Time) -> Impairments {
    let changes = changes_of(plan, seed, end);
    let all = || changes.iter().map(|&(at_ns, change)| (Time::from_nanos(at_ns), change));
    let losses = all().enumerate().filter_map(|(n, (at, change))| {
        Some((at, build_loss(change.loss.as_ref()?, seed, &format!("loss/{}/{n}", plan.stream))))
    });
    let limits = all().filter_map(|(at, change)| {
        let limit = change.limit?;
        Some((at, Limit { packets: limit.packets, bytes: limit.bytes }))
    });
    let duplication = plan.duplicate.filter(|&probability| probability > 0.0);
    Impairments {
        rates: all().filter_map(|(at, c)| Some((at, Rate::from_bits_per_sec(c.rate_bps?)))).collect(),
        delays: all().filter_map(|(at, c)| Some((at, Duration::from_nanos(c.delay_ns?)))).collect(),
        losses: losses.collect(),
        limits: limits.collect(),
        opportunities: plan.opportunities.as_ref().map(build_opportunities),
        duplication: duplication.map(|probability| Duplication {
            probability,
            rng: Rng::stream(seed, &format!("duplicate/{}", plan.stream)),
        }),
        slot: plan.slot_ns.map(Duration::from_nanos),
        detour: plan.detour.map(|detour| Detour {
            every: detour.every,
            extra: Duration::from_nanos(detour.extra_ns),
            from: Time::from_nanos(detour.from_ns),
            until: detour.until_ns.map_or(Time::NEVER, Time::from_nanos),
        }),
        jitter: plan.jitter.map(|jitter| Jitter {
            spread: Duration::from_nanos(jitter.spread_ns),
            normal: jitter.normal,
            reorders: jitter.reorders,
            rng: Rng::stream(seed, &format!("jitter/{}", plan.stream)),
        }),
    }
}

/// What changes on a link, those changes included that are drawn, and when; in the order of time.
pub(crate) fn changes_of(plan: &LinkPlan, seed: u64, end: Time) -> Vec<(u64, &ChangePlan)> {
    let moves = plan.wander.iter().flat_map(|wander| moves(wander, seed, &plan.stream, end));
    let mut changes: Vec<(u64, &ChangePlan)> =
        plan.changes.iter().map(|change| (change.at_ns, change)).collect();
    changes.extend(moves);
    changes.sort_by_key(|change| change.0); // stable: a walk has the last word
    changes
}

fn build_loss(plan: &LossPlan, seed: u64, stream: &str) -> Loss {
    match plan {
        &LossPlan::Bernoulli { probability } => {
            Loss::Bernoulli { probability, rng: Rng::stream(seed, stream) }
        }
        &LossPlan::Periodic { every } => Loss::Periodic { every, seen: 0 },
        LossPlan::Replay { packets, period } => {
            Loss::Replay { lost: packets.clone(), period: *period, seen: 0, struck: 0 }
        }
        &LossPlan::GilbertElliott { worsens, improves, good, bad } => {
            let chain = Chain { worsens, improves, good, bad };
            Loss::GilbertElliott { chain, bad: false, rng: Rng::stream(seed, stream) }
        }
    }
}

fn build_opportunities(plan: &OpportunitiesPlan) -> Opportunities {
    let times = plan.times.iter().map(|time| Duration::from_nanos(time * plan.unit_ns));
    Opportunities::new(times.collect(), plan.bytes, plan.repeat, Duration::from_nanos(plan.offset_ns))
}

/// The states that a walk goes through until the end, and when it enters them.
fn moves<'a>(plan: &'a WanderPlan, seed: u64, stream: &str, end: Time) -> Vec<(u64, &'a ChangePlan)> {
    let mut rng = Rng::stream(seed, &format!("wander/{stream}"));
    let (mut at, mut state) = (plan.from_ns, 0usize);
    let mut found = Vec::new();
    while at < end.as_nanos() {
        found.push((at, &plan.states[state]));
        let stay = exponential(Duration::from_nanos(plan.mean_ns), &mut rng);
        at = at.saturating_add(stay.as_nanos());
        state = step(plan, state, &mut rng);
    }
    found
}

/// The state after `state`.
fn step(plan: &WanderPlan, state: usize, rng: &mut Rng) -> usize {
    let last = plan.states.len() - 1;
    if !plan.neighbours {
        return (state + 1 + rng.below(last as u32) as usize) % (last + 1);
    }
    match state {
        0 => 1,
        _ if state == last => last - 1,
        _ if rng.chance(0.5) => state + 1,
        _ => state - 1,
    }
}
