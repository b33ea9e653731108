//! What applications do: one file per kind.
//!
//! [`Paced`] hands out the data of one connection at its own pace. An [`application::Application`] opens and closes
//! connections, which [`Connections`] holds.

mod application;
mod connection;
mod connections;
mod distribution;
mod maker;
mod paced;
mod poisson;
mod request_response;
mod supply;
mod video;
mod web;
mod writer;

pub use connections::Connections;
pub use paced::Paced;
pub use supply::{Socket, Supply};
pub use writer::Writer;

use crate::flow::start;
use crate::plan::{DistributionPlan, FlowPlan, PlanError, WorkloadPlan};
use application::Application;
use distribution::Draws;
use maker::Maker;
use network::{SamplingTimes, Streams};
use poisson::Poisson;
use request_response::RequestResponse;
use units::{Rng, Time};
use video::Video;
use web::Web;

/// The connections of flow `n` of a plan; none if the flow is a single connection.
///
/// # Errors
/// If they cannot be made.
pub fn build(
    n: u32,
    plan: &FlowPlan,
    streams: Streams,
    sampling: SamplingTimes,
    seed: u64,
) -> Result<Option<Connections>, PlanError> {
    let (start, stop) = (start(plan, seed), plan.stop_ns.map_or(Time::NEVER, Time::from_nanos));
    let draws = |what: &str, distribution: &DistributionPlan| {
        Draws::new(distribution, Rng::stream(seed, &format!("{what}/{}", plan.stream)))
    };
    let application: Box<dyn Application> = match plan.workload.as_ref() {
        None | Some(WorkloadPlan::Writes(_) | WorkloadPlan::Datagrams(_)) => return Ok(None),
        Some(WorkloadPlan::Poisson { interval_ns, sizes }) => {
            let pauses = DistributionPlan::Exponential { mean: *interval_ns };
            Box::new(Poisson::new(start, draws("arrivals", &pauses), draws("sizes", sizes)))
        }
        Some(WorkloadPlan::RequestResponse { request, response, think }) => {
            let (requests, responses) = (draws("requests", request), draws("sizes", response));
            Box::new(RequestResponse::new(start, requests, responses, draws("thinking", think)))
        }
        Some(WorkloadPlan::Web { think, objects, sizes, connections, request_bytes }) => {
            let (thinking, objects) = (draws("thinking", think), draws("objects", objects));
            Box::new(Web::new(start, thinking, objects, draws("sizes", sizes), *connections, *request_bytes))
        }
        Some(WorkloadPlan::Video(video)) => Box::new(Video::new(video, start)),
    };
    let maker = Maker::new(plan, n, seed)?;
    Ok(Some(Connections::new(n, streams, sampling, [start, stop], maker, application)))
}
