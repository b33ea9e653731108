//! An application that has all of its data at the start.

use super::application::{Application, Job, Sockets};
use units::Time;

/// Sends a number of bytes, or data without end, on one connection.
pub struct Bulk {
    next: Time,
    bytes: Option<u64>,
    connection: u32,
}

impl Bulk {
    /// An application that begins at `start`.
    pub fn new(start: Time, bytes: Option<u64>) -> Bulk {
        Bulk { next: start, bytes, connection: 0 }
    }
}

impl Application for Bulk {
    fn next(&self) -> Time {
        self.next
    }

    fn run(&mut self, _: Time, sockets: &mut Sockets) {
        self.next = Time::NEVER;
        self.connection = sockets.open(false);
        match self.bytes {
            Some(bytes) => sockets.transfer(self.connection, Job::unasked(bytes)),
            None => sockets.write(self.connection, None),
        }
    }

    fn stop(&mut self, sockets: &mut Sockets) {
        sockets.close(self.connection);
    }

    fn is_stream(&self) -> bool {
        true
    }
}
