//! Transfers that begin at random times, each over a connection of its own.

use super::application::{Application, Job, Orders};
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

    fn run(&mut self, now: Time, orders: &mut Orders) {
        while self.next <= now {
            let connection = orders.open(false);
            orders.transfer(connection, Job { bytes: self.sizes.bytes(), request: 0, page: 0 });
            self.next += self.pauses.pause();
        }
    }

    fn done(&mut self, _: Time, connection: u32, orders: &mut Orders) {
        orders.close(connection);
    }
}
