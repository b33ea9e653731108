//! A client that sends a request, waits for the response, pauses, and sends the next request, all over one connection.

use super::application::{Application, FlowStart, Job, Planned, Sockets};
use super::distribution::{DistributionPlan, Draws};
use crate::plan::range::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Time;

/// A client that sends requests on one connection, with pauses. The flow sends the responses.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponsePlan {
    /// Payload of a request.
    pub request: DistributionPlan,
    /// Payload of a response.
    pub response: DistributionPlan,
    /// Time between a response and the next request.
    pub think: DistributionPlan,
}

/// State of a client that sends requests.
pub struct RequestResponse {
    next: Time,
    connection: Option<u32>,
    requests: Draws,
    responses: Draws,
    thinking: Draws,
}

impl Planned for RequestResponse {
    type Plan = RequestResponsePlan;
    const TITLE: &'static str =
        "A client that sends a request, waits for the response and pauses, over one connection";

    fn check(plan: &RequestResponsePlan, path: &str, _: u64) -> Check {
        plan.request.check_bytes(&format!("{path}.request"))?;
        plan.response.check_bytes(&format!("{path}.response"))?;
        plan.think.check_pause(&format!("{path}.think"))
    }

    /// A client that sends the first request when the flow starts.
    fn new(plan: &RequestResponsePlan, flow: &FlowStart<'_>) -> RequestResponse {
        RequestResponse {
            next: flow.at,
            connection: None,
            requests: Draws::new(&plan.request, flow.rng("requests")),
            responses: Draws::new(&plan.response, flow.rng("sizes")),
            thinking: Draws::new(&plan.think, flow.rng("thinking")),
        }
    }
}

impl Application for RequestResponse {
    fn next(&self) -> Time {
        self.next
    }

    fn run(&mut self, _: Time, sockets: &mut Sockets) {
        let connection = *self.connection.get_or_insert_with(|| sockets.open(true));
        let job = Job { bytes: self.responses.bytes(), request: self.requests.bytes(), page: 0 };
        sockets.transfer(connection, job);
        self.next = Time::NEVER;
    }

    fn done(&mut self, now: Time, _: u32, _: &mut Sockets) {
        self.next = now + self.thinking.pause();
    }
}
