//! Transfers that begin at random times, each over a connection of its own.

use super::application::{Application, FlowStart, Job, Planned, Sockets, bounded};
use super::distribution::{Distribution, Draws};
use crate::plan::declared::as_declared;
use crate::plan::range::Check;
use params::params;
use units::Time;

params! {
    /// New connections at random times, each for one transfer from the sender to the receiver.
    #[derive(PartialEq, schemars::JsonSchema)]
    #[schemars(transform = as_declared::<PoissonSettings>)]
    pub struct PoissonSettings {
        /// Mean time between two arrivals of one flow. Times are exponentially distributed.
        interval_ns: f64, "ns", 1.0..=1e15;
        /// Payload of each transfer.
        sizes: Distribution, "";
    }
}

/// A Poisson process of arrivals.
pub struct Poisson {
    next: Time,
    pauses: Draws,
    sizes: Draws,
}

impl Planned for Poisson {
    type Settings = PoissonSettings;
    const TITLE: &'static str = "Transfers that begin at random times, each over a connection of its own";

    fn check(settings: &PoissonSettings, path: &str, span_ns: u64) -> Check {
        bounded(path, span_ns as f64 / settings.interval_ns)?;
        settings.sizes.check_bytes(&format!("{path}.sizes"))
    }

    /// Arrivals after the start of the flow, with random times between them.
    fn new(settings: &PoissonSettings, flow: &FlowStart<'_>) -> Poisson {
        let pauses = Distribution::Exponential { mean: settings.interval_ns };
        let mut pauses = Draws::new(&pauses, flow.rng("arrivals"));
        Poisson {
            next: flow.at + pauses.pause(),
            pauses,
            sizes: Draws::new(&settings.sizes, flow.rng("sizes")),
        }
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
            sockets.close(connection);
            self.next += self.pauses.pause();
        }
    }
}
