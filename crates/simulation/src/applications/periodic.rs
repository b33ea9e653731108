//! Transfers at a constant interval: telemetry, or an upload in chunks.

use super::application::{Application, FlowStart, Job, Planned, Sockets, bounded};
use super::distribution::{Distribution, Draws};
use crate::plan::declared::as_declared;
use crate::plan::range::Check;
use params::params;
use units::{Duration, Time};

params! {
    /// A transfer from the sender to the receiver at every interval.
    #[derive(PartialEq, schemars::JsonSchema)]
    #[schemars(transform = as_declared::<PeriodicSettings>)]
    pub struct PeriodicSettings {
        /// Time from the start of one transfer to the next.
        interval_ns: u64, "ns", 1e3..=1e15, example = 1_000_000_000;
        /// Payload of each transfer.
        sizes: Distribution, "";
        /// Send all transfers over one connection, which stays open. A transfer that is due before the previous
        /// transfer is complete waits. With false, each transfer has its own connection.
        keep: bool = false, "";
    }
}

/// A sender that starts a transfer at every interval. With a single connection, a transfer that is due during another
/// transfer begins after that transfer.
pub struct Periodic {
    /// Time at which the next transfer is due.
    due: Time,
    /// Time at which the next transfer begins; `NEVER` while the single connection is busy.
    next: Time,
    interval: Duration,
    sizes: Draws,
    keep: bool,
    /// The connection that stays open.
    connection: Option<u32>,
}

impl Planned for Periodic {
    type Settings = PeriodicSettings;
    const TITLE: &'static str =
        "Transfers at a constant interval, each over a connection of its own or all over one";

    fn check(settings: &PeriodicSettings, path: &str, span_ns: u64) -> Check {
        bounded(path, span_ns as f64 / settings.interval_ns as f64)?;
        settings.sizes.check_bytes(&format!("{path}.sizes"))
    }

    /// The first transfer begins when the flow starts.
    fn new(settings: &PeriodicSettings, flow: &FlowStart<'_>) -> Periodic {
        Periodic {
            due: flow.at,
            next: flow.at,
            interval: Duration::from_nanos(settings.interval_ns),
            sizes: Draws::new(&settings.sizes, flow.rng("sizes")),
            keep: settings.keep,
            connection: None,
        }
    }
}

impl Periodic {
    fn transfer(&mut self, connection: u32, sockets: &mut Sockets) {
        sockets.transfer(connection, Job::unasked(self.sizes.bytes()));
        self.due += self.interval;
    }
}

impl Application for Periodic {
    fn next(&self) -> Time {
        self.next
    }

    fn run(&mut self, now: Time, sockets: &mut Sockets) {
        if self.keep {
            let connection = *self.connection.get_or_insert_with(|| sockets.open(false));
            self.transfer(connection, sockets);
            self.next = Time::NEVER;
            return;
        }
        while self.due <= now {
            let connection = sockets.open(false);
            self.transfer(connection, sockets);
            sockets.close(connection);
        }
        self.next = self.due;
    }

    fn done(&mut self, now: Time, _: u32, _: &mut Sockets) {
        if self.keep {
            self.next = self.due.max(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::applications::Order;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// A transfer of 1 kB every 10 ms, from time 0 on.
    fn periodic(keep: bool) -> Periodic {
        let sizes = Distribution::Constant { value: 1_000.0 };
        let plan = PeriodicSettings { interval_ns: 10_000_000, sizes, keep };
        let flow = FlowStart { at: Time::ZERO, seed: 1, stream: "test", send_buffer_bytes: None };
        Periodic::new(&plan, &flow)
    }

    fn connections(sockets: &mut Sockets) -> Vec<u32> {
        let mut calls = Vec::new();
        sockets.take(&mut calls);
        let of = |call: &Order| match call {
            Order::Transfer { connection, .. } => Some(*connection),
            _ => None,
        };
        calls.iter().filter_map(of).collect()
    }

    #[test]
    fn each_transfer_has_a_connection_of_its_own() {
        let (mut periodic, mut sockets) = (periodic(false), Sockets::default());
        periodic.run(at(0), &mut sockets);
        periodic.run(at(10), &mut sockets);
        assert_eq!((connections(&mut sockets), periodic.next()), (vec![1, 2], at(20)));
    }

    #[test]
    fn a_transfer_waits_for_the_one_before_it_on_a_connection_that_stays_open() {
        let (mut periodic, mut sockets) = (periodic(true), Sockets::default());
        periodic.run(at(0), &mut sockets);
        assert_eq!(periodic.next(), Time::NEVER);
        periodic.done(at(25), 1, &mut sockets);
        assert_eq!(periodic.next(), at(25), "the transfer due at 10 ms is late");
        periodic.run(at(25), &mut sockets);
        periodic.done(at(26), 1, &mut sockets);
        assert_eq!(periodic.next(), at(26), "the transfer due at 20 ms is late, too");
        periodic.run(at(26), &mut sockets);
        periodic.done(at(27), 1, &mut sockets);
        assert_eq!((connections(&mut sockets), periodic.next()), (vec![1, 1, 1], at(30)));
    }
}
