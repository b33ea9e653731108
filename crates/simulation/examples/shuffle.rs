//! As many packets through as many links as in the first study, without any TCP: a data packet that arrives sends an
//! acknowledgement back, and that one a new data packet. What a simulation of TCP costs beyond this, TCP costs.

#[path = "../benches/study/mod.rs"]
mod study;

use network::queue::{DropTail, Limit};
use network::{Direction, Ecn, Link, LinkConfig, Packet, RouteId, SamplingTimes, StreamId};
use simulation::{HopId, Net};
use units::{Duration, Rate, Time};

const FLOWS: u32 = 16;
/// Packets in flight per flow: 16 times this fills the path of about 10,000 packets and half the queue.
const WINDOW: u32 = 780;
const END: Time = Time::from_nanos(50_000_000_000);
const DATA: u16 = 1486;
const ACK: u16 = 66;

/// As large as a TCP segment.
type Payload = [u32; 10];

fn packet(stream: StreamId, size: u16) -> Packet<Payload> {
    Packet { stream, size, ecn: Ecn::NotEct, dscp: 0, payload: [0; 10] }
}

fn net() -> Net<Payload> {
    let links = study::links(FLOWS).into_iter().map(|(rate, delay)| {
        let delay = Duration::from_nanos(delay);
        let sampling = SamplingTimes::new(None, Time::ZERO, END);
        let config = LinkConfig {
            rate: Rate::from_bits_per_sec(rate),
            delay,
            loss: None,
            sampling,
            impairments: network::Impairments::default(),
        };
        let queue = DropTail::new(Limit { packets: Some(u64::from(FLOWS * WINDOW)), bytes: None });
        Link::new(config, Box::new(queue))
    });
    let routes: Vec<_> =
        (0..FLOWS).flat_map(study::routes).map(|route| route.into_iter().map(HopId).collect()).collect();
    Net::new(links.collect(), Vec::new(), &routes, Vec::new(), true)
}

fn main() {
    let mut net = net();
    for flow in (0..FLOWS).cycle().take((FLOWS * WINDOW) as usize) {
        net.send(&packet(RouteId::new(flow, Direction::Forward).first_stream(), DATA), Time::ZERO);
    }
    let mut delivered = 0u64;
    while let Some((now, actor)) = net.schedule.next(END) {
        net.run(actor, now, |net, arrived| {
            let data = arrived.stream.direction() == Direction::Forward;
            delivered += u64::from(data);
            net.send(&packet(arrived.stream.opposite(), if data { ACK } else { DATA }), now);
        });
    }
    println!("{delivered} data packets");
}
