//! Your own queue discipline and application: a last-in, first-out queue, and a transfer every 100 ms.

use fullpipe::network::Packet;
use fullpipe::network::queue::{Backlog, QueueDiscipline, QueueEvents, Waiting};
use fullpipe::units::{Duration, Rate, Time};
use fullpipe::{Application, Experiment, Flow, Job, Link, Network, Payload, PlanError, Sockets, json};

/// A queue that serves the youngest packet first.
#[derive(Default)]
struct Stack(Vec<Waiting<Payload>>);

impl QueueDiscipline<Payload> for Stack {
    fn enqueue(&mut self, packet: Packet<Payload>, now: Time, events: &mut QueueEvents<Payload>) {
        if self.0.len() == 50 {
            events.drop(&packet);
        } else {
            self.0.push(Waiting { packet, since: now });
        }
    }

    fn dequeue(&mut self, _: Time, _: &mut QueueEvents<Payload>) -> Option<Waiting<Payload>> {
        self.0.pop()
    }

    fn backlog(&self) -> Backlog {
        let bytes = self.0.iter().map(|waiting| u64::from(waiting.packet.size)).sum();
        Backlog { packets: self.0.len() as u64, bytes }
    }
}

/// An application that opens a connection every 100 ms and transfers 20 kB on it.
struct Ticks(Time);

impl Application for Ticks {
    fn next(&self) -> Time {
        self.0
    }

    fn run(&mut self, now: Time, sockets: &mut Sockets) {
        let connection = sockets.open(false);
        sockets.transfer(connection, Job::unasked(20_000));
        self.0 = now + Duration::from_millis(100);
    }
}

fn main() -> Result<(), PlanError> {
    let link = Link::new(Rate::from_bits_per_sec(10_000_000), Duration::from_millis(10))
        .own_queue(|_seed| Box::<Stack>::default());
    let network = Network::new().duplex("server", "client", link);
    let flow = Flow::new("ticks", "server", "client")
        .algorithm("reno", json!({}))
        .own_application(|start, _seed| Box::new(Ticks(start)));
    let run = Experiment::new(network, Duration::from_secs(2)).flow(flow).run(1)?;
    let times = run.table("transfers").numbers("fct_s");
    println!(
        "{} transfers, the slowest in {:.1} ms",
        times.len(),
        times.iter().fold(0.0, |a: f64, &b| a.max(b)) * 1e3
    );
    Ok(())
}
