//! Applications: one file each, one line each in [`build`].

mod application;
mod bulk;
mod distribution;
mod paced;
mod playback;
mod poisson;
mod request_response;
mod video;
mod web;
mod writer;

pub use application::{Application, Job, Order, Sockets, StreamState};
pub use playback::Playback;

use crate::plan::{DistributionPlan, FlowPlan, WorkloadPlan};
use bulk::Bulk;
use distribution::Draws;
use paced::Paced;
use poisson::Poisson;
use request_response::RequestResponse;
use units::{Rng, Time};
use video::Video;
use web::Web;
use writer::Writer;

/// The application of a flow of connections, which begins at `start`.
///
/// # Panics
/// If the flow is one of datagrams, or its application is external.
pub(crate) fn build(plan: &FlowPlan, start: Time, seed: u64) -> Box<dyn Application> {
    let draws = |what: &str, distribution: &DistributionPlan| {
        Draws::new(distribution, Rng::stream(seed, &format!("{what}/{}", plan.stream)))
    };
    match plan.workload.as_ref() {
        None if plan.application.is_empty() => Box::new(Bulk::new(start, plan.bytes)),
        None => Box::new(Paced::new(start, &plan.application, plan.tcp.mss_bytes)),
        Some(WorkloadPlan::Writes(writes)) => {
            Box::new(Writer::new(writes, plan.tcp.send_buffer_bytes, start, seed, &plan.stream))
        }
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
        Some(WorkloadPlan::External { .. }) => panic!("the caller makes external applications"),
        Some(WorkloadPlan::Datagrams(_)) => panic!("datagrams need no connection"),
    }
}
