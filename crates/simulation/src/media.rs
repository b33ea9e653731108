//! Builds media from their plans.

use crate::external::External;
use crate::links::build_queue;
use crate::payload::Payload;
use crate::plan::{MediumPlan, PlanError, is_external};
use network::{Element, SamplingTimes};
use units::Rng;

/// Builds medium `n` of a plan. The random numbers of the medium derive from `seed` and the stream of the medium. The
/// random numbers of each queue derive from `seed` and the stream of its port.
pub(crate) fn build_medium(
    n: usize,
    plan: &MediumPlan,
    sampling: SamplingTimes,
    seed: u64,
    hosts: &[Option<[u32; 2]>],
    external: &External,
) -> Result<Box<dyn Element<Payload>>, PlanError> {
    let path = format!("media[{n}]");
    let ports = plan.ports.iter().enumerate();
    let queues = ports.map(|(port, plan)| {
        build_queue(&plan.queue, &format!("{path}.ports[{port}]"), &plan.stream, seed, hosts, external)
    });
    let dice = Rng::stream(seed, &format!("medium/{}", plan.stream)).next_u64();
    let queues = queues.collect::<Result<_, _>>()?;
    if is_external(&plan.kind) {
        return external.make_medium(&plan.kind, &path, queues, sampling, dice);
    }
    plan.build(&path, queues, sampling, dice)
}
