//! A client that sends a request, waits for the response, pauses, and sends the next request, all over one connection.

use super::application::{Application, FlowStart, Job, Planned, Sockets};
use super::distribution::{Distribution, Draws};
use crate::plan::declared::as_declared;
use crate::plan::range::Check;
use params::params;
use units::Time;

params! {
    /// A client that sends requests on one connection, with pauses. The flow sends the responses.
    #[derive(PartialEq, schemars::JsonSchema)]
    #[schemars(transform = as_declared::<RequestResponseSettings>)]
    pub struct RequestResponseSettings {
        /// Payload of a request.
        request: Distribution, "";
        /// Payload of a response.
        response: Distribution, "";
        /// Think time: from a complete response to the next request.
        think: Distribution, "";
    }
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
    type Settings = RequestResponseSettings;
    const TITLE: &'static str =
        "A client that sends a request, waits for the response and pauses, over one connection";

    fn check(settings: &RequestResponseSettings, path: &str, _: u64) -> Check {
        settings.request.check_bytes(&format!("{path}.request"))?;
        settings.response.check_bytes(&format!("{path}.response"))?;
        settings.think.check_pause(&format!("{path}.think"))
    }

    /// A client that sends the first request when the flow starts.
    fn new(settings: &RequestResponseSettings, flow: &FlowStart<'_>) -> RequestResponse {
        RequestResponse {
            next: flow.at,
            connection: None,
            requests: Draws::new(&settings.request, flow.rng("requests")),
            responses: Draws::new(&settings.response, flow.rng("sizes")),
            thinking: Draws::new(&settings.think, flow.rng("thinking")),
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
