//! Transfers that begin at random times, each over a connection of its own.

use super::application::{Application, Job, Sockets};
use super::distribution::Draws;
use units::Time;

/// A Poisson process of arrivals.
pub struct Poisson {
    next: Time,
    pauses: Draws,
    sizes: Draws,
}

impl Poisson {
    /// Arrivals after `start`, with random times between them.
    pub fn new(start: Time, mut pauses: Draws, sizes: Draws) -> Poisson {
        Poisson { next: start + pauses.pause(), pauses, sizes }
    }
}

impl Application for Poisson {
    fn next(&self) -> Time {
        self.next
    }

    fn run(&mut self, now: Time, sockets: &mut Sockets) {
        while self.next <= now {
            let connection = sockets.open(false);
            sockets.transfer(connection, Job::unasked(self.sizes.bytes()));
            self.next += self.pauses.pause();
        }
    }
}
