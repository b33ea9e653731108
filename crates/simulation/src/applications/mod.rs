//! Applications: one file each, with the plan of it and its checks.
//!
//! Adding an application is one file beside this one and one line in the list below.

mod application;
mod bulk;
mod distribution;
mod list;
mod paced;
mod playback;

pub use application::{Application, FlowStart, Job, Order, Planned, Sockets, StreamState};
pub use distribution::DistributionPlan;
pub use playback::Playback;
pub use poisson::PoissonPlan;
pub use request_response::RequestResponsePlan;
pub use video::{AbrPlan, VideoPlan};
pub use web::WebPlan;
pub use writer::WritesPlan;

use crate::plan::FlowPlan;
use bulk::Bulk;
use paced::Paced;
use units::Time;

list::applications! {
    "writes" => writer::Writer,
    "poisson" => poisson::Poisson,
    "periodic" => periodic::Periodic,
    "request_response" => request_response::RequestResponse,
    "web" => web::Web,
    "video" => video::Video,
}

/// The application of a flow of connections, which begins at `start`.
///
/// # Panics
/// If the flow is one of datagrams, or its application is external.
pub(crate) fn build(plan: &FlowPlan, start: Time, seed: u64) -> Box<dyn Application> {
    let stream = &plan.stream;
    let flow = FlowStart { at: start, seed, stream, send_buffer_bytes: plan.tcp.send_buffer_bytes };
    match plan.workload.as_ref() {
        None if plan.application.is_empty() => Box::new(Bulk::new(start, plan.bytes)),
        None => Box::new(Paced::new(start, &plan.application, plan.tcp.mss_bytes)),
        Some(workload) => workload.build(&flow),
    }
}
