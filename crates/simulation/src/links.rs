//! Builds links from their plans.

use crate::external::External;
use crate::payload::Payload;
use crate::plan::{ChangePlan, EntryPlan, LinkPlan, OpportunitiesPlan, PlanError, is_external};
use network::queue::Device;
use network::{Dice, Impairment, Impairments, Link, LinkConfig, Loss, QueueDiscipline, SamplingTimes};
use units::{Duration, Rate, Time};

/// Whether packets may enter the next link ahead of the clock. The choice never changes results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutThrough {
    Yes,
    /// No packet may enter a link ahead of the clock. With this choice every link also replays its queue.
    No,
}

/// Builds link `n` of a plan. All random numbers of the link derive from `seed` and the link's stream.
pub(crate) fn build_link(
    n: usize,
    plan: &LinkPlan,
    sampling: SamplingTimes,
    seed: u64,
    cut_through: CutThrough,
    hosts: &[Option<[u32; 2]>],
    external: &External,
) -> Result<Link<Payload>, PlanError> {
    let path = format!("links[{n}]");
    let stream = Dice::new(seed, &*plan.stream);
    let mut config = LinkConfig {
        rate: plan.rate_bps.map_or(Rate::UNLIMITED, Rate::from_bits_per_sec),
        delay: Duration::from_nanos(plan.delay_ns),
        loss: build_loss(plan.loss.as_ref(), &path, &stream)?,
        sampling,
        impairments: build_impairments(plan, &path, seed, sampling.end())?,
    };
    let mut queue = build_queue(&plan.queue, &path, &plan.stream, seed, hosts, external)?;
    if let Some(packets) = plan.device_packets {
        config.impairments.rates = queue.shape(config.impairments.rates);
        queue = Box::new(Device::new(queue, packets));
    }
    let link = if cut_through == CutThrough::Yes { Link::new } else { Link::replaying };
    Ok(link(config, queue).knowing_acks(Payload::is_plain_ack))
}

/// Builds the queue of the link or port at `path`. The random numbers of the queue derive from `seed` and `stream`.
pub(crate) fn build_queue(
    plan: &EntryPlan,
    path: &str,
    stream: &str,
    seed: u64,
    hosts: &[Option<[u32; 2]>],
    external: &External,
) -> Result<Box<dyn QueueDiscipline<Payload>>, PlanError> {
    let dice = Dice::new(seed, stream).rng("queue").next_u64();
    let mut queue = if is_external(&plan.kind) {
        external.make_queue(&plan.kind, &format!("{path}.queue"), dice)?
    } else {
        plan.build_queue(path, dice)?
    };
    queue.know_hosts(hosts);
    queue.know_redundancy(Payload::is_redundant);
    Ok(queue)
}

fn build_impairments(plan: &LinkPlan, path: &str, seed: u64, end: Time) -> Result<Impairments, PlanError> {
    let stream = Dice::new(seed, &*plan.stream);
    let changes = changes_of(plan, seed, end);
    let all = || changes.iter().map(|&(at_ns, change)| (Time::from_nanos(at_ns), change));
    let mut losses = Vec::new();
    for (n, (at, change)) in all().enumerate() {
        let stream = Dice::new(seed, format!("{}/{n}", plan.stream));
        losses.extend(build_loss(change.loss.as_ref(), path, &stream)?.map(|loss| (at, loss)));
    }
    let each = plan
        .impairments
        .iter()
        .enumerate()
        .map(|(n, entry)| entry.build(&format!("{path}.impairments[{n}]"), Impairment::build, &stream));
    let limits = all().filter_map(|(at, change)| Some((at, change.limit?)));
    Ok(Impairments {
        rates: all().filter_map(|(at, c)| Some((at, Rate::from_bits_per_sec(c.rate_bps?)))).collect(),
        delays: all().filter_map(|(at, c)| Some((at, Duration::from_nanos(c.delay_ns?)))).collect(),
        losses,
        limits: limits.collect(),
        opportunities: plan.opportunities.as_ref().map(OpportunitiesPlan::build),
        each: each.collect::<Result<_, _>>()?,
    })
}

/// All changes of a link with their times in nanoseconds, random changes included, in the order of time.
pub(crate) fn changes_of(plan: &LinkPlan, seed: u64, end: Time) -> Vec<(u64, &ChangePlan)> {
    let stream = Dice::new(seed, &*plan.stream);
    let mut changes: Vec<(u64, &ChangePlan)> =
        plan.changes.iter().map(|change| (change.at_ns, change)).collect();
    changes.extend(plan.markov_channel.iter().flat_map(|channel| channel.moves(&stream, end)));
    changes.sort_by_key(|change| change.0); // stable: at equal times the change of the Markov channel is the last
    changes
}

fn build_loss(plan: Option<&EntryPlan>, path: &str, dice: &Dice) -> Result<Option<Loss>, PlanError> {
    plan.map(|loss| loss.build(&format!("{path}.loss"), Loss::build, dice)).transpose()
}
