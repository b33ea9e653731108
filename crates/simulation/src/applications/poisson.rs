//! Transfers that begin at random times, each over a connection of its own.

use super::application::{Application, FlowStart, Job, Planned, Sockets, bounded};
use super::distribution::{DistributionPlan, Draws};
use crate::plan::range::{Check, LONGEST_NS, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Time;

/// New connections at random times, each for one transfer from the sender to the receiver.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonPlan {
    /// Mean time between two arrivals.
    pub interval_ns: f64,
    /// Payload of each transfer.
    pub sizes: DistributionPlan,
}

/// A Poisson process of arrivals.
pub struct Poisson {
    next: Time,
    pauses: Draws,
    sizes: Draws,
}

impl Planned for Poisson {
    type Plan = PoissonPlan;
    const TITLE: &'static str = "Transfers that begin at random times, each over a connection of its own";

    fn check(plan: &PoissonPlan, path: &str, span_ns: u64) -> Check {
        within(format!("{path}.interval_ns"), plan.interval_ns, 1.0..=LONGEST_NS as f64)?;
        bounded(path, span_ns as f64 / plan.interval_ns)?;
        plan.sizes.check_bytes(&format!("{path}.sizes"))
    }

    /// Arrivals after the start of the flow, with random times between them.
    fn new(plan: &PoissonPlan, flow: &FlowStart<'_>) -> Poisson {
        let pauses = DistributionPlan::Exponential { mean: plan.interval_ns };
        let mut pauses = Draws::new(&pauses, flow.rng("arrivals"));
        Poisson { next: flow.at + pauses.pause(), pauses, sizes: Draws::new(&plan.sizes, flow.rng("sizes")) }
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
