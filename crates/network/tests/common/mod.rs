//! Packets, and a link that is run until it is empty.

pub mod cells;
pub mod limits;

use network::queue::{DropTail, Limit};
use network::{
    Counters, Dice, Ecn, Impairment, Impairments, Link, LinkConfig, Loss, Packet, SamplingTimes, StreamId,
};
use serde_json::Value;
use units::{Duration, Rate, Time};

/// Index of a packet, and whether a middlebox may drop it.
pub type Payload = (usize, bool);

pub fn ms(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000)
}

pub fn impairment(kind: &str, params: &Value) -> Impairment {
    Impairment::build(kind, params, &Dice::new(1, "test")).unwrap()
}

pub fn loss(kind: &str, params: &Value) -> Loss {
    Loss::build(kind, params, &Dice::new(1, "test")).unwrap()
}

pub fn config(rate: Rate, delay_ms: u64) -> LinkConfig {
    LinkConfig {
        rate,
        delay: Duration::from_millis(delay_ms),
        loss: None,
        sampling: SamplingTimes::new(Some(Duration::from_secs(3)), Time::ZERO, ms(300_000)),
        impairments: Impairments::default(),
    }
}

pub fn packet(flow: u32, size: u16, id: usize, thin: bool) -> Packet<Payload> {
    let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0][flow as usize % 3];
    Packet { stream: StreamId(flow), size, ecn, dscp: 0, payload: (id, thin) }
}

/// Run a link until it is empty. Return every delivered packet with its time, and the sums of all counters.
pub fn run(
    link: &mut Link<Payload>,
    sampling: SamplingTimes,
    sent: &[(Time, Packet<Payload>)],
) -> (Vec<(Time, usize)>, Counters) {
    let (mut seen, mut sum, mut waiting) = (Vec::new(), Counters::default(), sent.iter().peekable());
    let mut sample = sampling.after(Time::ZERO);
    while sample != Time::NEVER {
        let (send, due) = (waiting.peek().map_or(Time::NEVER, |next| next.0), link.next_arrival());
        if due <= send.min(sample) {
            seen.extend(link.take(due).map(|packet| (due, packet.payload.0)));
        } else if send <= sample {
            waiting.next().iter().for_each(|(at, packet)| link.send(*packet, *at));
        } else {
            sum += link.close_interval(sample);
            // These subtractions would overflow if a packet were counted twice or too early.
            assert_eq!(
                sum.arrived_packets + sum.duplicated_packets,
                sum.dropped_packets
                    + sum.waiting_packets()
                    + sum.travelling_packets()
                    + sum.lost_packets
                    + sum.forwarded_packets
            );
            sample = sampling.after(sample);
        }
    }
    (seen, sum)
}

/// Create two drop-tail links: one with the closed form where possible, and one that replays its queue.
pub fn both(config: &LinkConfig, packets: u64) -> [Link<Payload>; 2] {
    let queue = || Box::new(DropTail::new(Limit { packets: Some(packets), bytes: None }));
    [Link::new(config.clone(), queue()), Link::replaying(config.clone(), queue())]
}

/// Arrival times in milliseconds of packets that are sent at given times.
pub fn arrivals(link: &mut Link<Payload>, sent_ms: &[u64], size: u16) -> Vec<(u64, usize)> {
    let sent: Vec<_> =
        sent_ms.iter().enumerate().map(|(id, &at)| (ms(at), packet(0, size, id, true))).collect();
    let sampling = SamplingTimes::new(None, Time::ZERO, ms(1_000_000));
    run(link, sampling, &sent).0.into_iter().map(|(at, id)| (at.as_millis(), id)).collect()
}
