//! Construction of the application of a flow.

use super::application::{Application, FlowStart};
use super::bulk::Bulk;
use super::paced::Paced;
use super::relay::Relay;
use crate::plan::FlowPlan;
use units::Time;

/// Builds the application of a TCP flow that begins at `start`.
///
/// # Panics
/// If the flow sends datagrams, or its application is external.
pub(crate) fn build(plan: &FlowPlan, start: Time, seed: u64) -> Box<dyn Application> {
    let stream = &plan.stream;
    let flow = FlowStart { at: start, seed, stream, send_buffer_bytes: plan.tcp.send_buffer };
    match plan.workload.as_ref() {
        None if plan.relayed.is_some() => Box::new(Relay::default()),
        None if plan.application.is_empty() => Box::new(Bulk::new(start, plan.bytes)),
        None => Box::new(Paced::new(start, &plan.application, plan.tcp.mss)),
        Some(workload) => workload.build(&flow),
    }
}
