//! A client that sends a request, waits for the response, pauses, and sends the next one, over one connection.

use super::application::{Application, Job, Sockets};
use super::distribution::Draws;
use units::Time;

/// One client.
pub struct RequestResponse {
    next: Time,
    connection: Option<u32>,
    requests: Draws,
    responses: Draws,
    thinking: Draws,
}

impl RequestResponse {
    /// Asks for the first time at `start`.
    pub fn new(start: Time, requests: Draws, responses: Draws, thinking: Draws) -> RequestResponse {
        RequestResponse { next: start, connection: None, requests, responses, thinking }
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
