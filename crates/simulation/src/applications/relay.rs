//! An application that relays the data of another connection.

use super::application::{Application, Sockets};
use units::Time;

/// Opens a connection as soon as the previous flow has a connection, and writes all data that arrive on the connection
/// of the previous flow.
#[derive(Debug, Default)]
pub struct Relay {
    connection: Option<u32>,
}

impl Application for Relay {
    fn next(&self) -> Time {
        Time::NEVER
    }

    fn run(&mut self, _: Time, sockets: &mut Sockets) {
        let connection = *self.connection.get_or_insert_with(|| sockets.open(false));
        sockets.write(connection, Some(sockets.stream.fed_bytes));
    }

    fn stop(&mut self, sockets: &mut Sockets) {
        self.connection.into_iter().for_each(|connection| sockets.close(connection));
    }

    fn is_stream(&self) -> bool {
        true
    }
}
