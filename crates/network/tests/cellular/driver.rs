//! Cells, and packets that pass through them.

use network::kit::Tag;
use network::queue::{self, QueueDiscipline};
use network::{Ecn, Element, Packet, PortId, SamplingTimes, StreamId, medium};
use serde_json::{Value, json};
use units::{Duration, Probe, Reading, Time};

/// Size of a packet with 1,400 bytes of UDP payload: IP, UDP, and the Ethernet header that packets have on other
/// links.
pub const SIZE: u16 = 1_442;

/// A packet that arrives at a port or leaves it.
pub struct Passage {
    pub at: Time,
    pub port: u16,
    pub number: Tag,
}

pub fn queue_of(bytes: Option<u64>) -> Box<dyn QueueDiscipline<Tag>> {
    queue::build("drop_tail", &json!({ "bytes": bytes }), 1).unwrap()
}

/// Create a cell of a kind, with queues of `bytes` bytes.
pub fn cell(kind: &str, params: &Value, bytes: Option<u64>) -> Box<dyn Element<Tag>> {
    let ports = 2 * params["user_mcs"].as_array().unwrap().len();
    let queues = (0..ports).map(|_| queue_of(bytes)).collect();
    let sampling = SamplingTimes::new(None, Time::ZERO, Time::from_nanos(1_000_000_000_000));
    medium::build(kind, params, queues, sampling, 1).unwrap()
}

/// Parameters of LTE at 20 MHz. There is one user for each scheme in `user_mcs`; `more` has further parameters.
pub fn lte(user_mcs: &[u64], more: Value) -> Value {
    let mut all = json!({ "resource_blocks": 100, "user_mcs": user_mcs });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

pub fn packet(number: Tag, size: u16) -> Packet<Tag> {
    Packet { stream: StreamId(0), size, ecn: Ecn::NotEct, dscp: 0, payload: number }
}

pub fn us(n: u64) -> Time {
    Time::from_nanos(n * 1_000)
}

/// Pass packets of `size` bytes, given their arrivals in order, through a cell until `end`. Return the packets that
/// leave.
pub fn passing(
    cell: &mut dyn Element<Tag>,
    arrivals: impl IntoIterator<Item = Passage>,
    size: u16,
    end: Time,
) -> Vec<Passage> {
    let mut left = Vec::new();
    let mut serve = |cell: &mut dyn Element<Tag>, until: Time| {
        while cell.next() <= until {
            let at = cell.next();
            left.extend(cell.take(at).map(|(port, packet)| Passage {
                at,
                port: port.0,
                number: packet.payload,
            }));
        }
    };
    for Passage { at, port, number } in arrivals {
        serve(cell, at);
        cell.put(PortId(port), &packet(number, size), at);
    }
    serve(cell, end);
    left
}

/// Arrivals at ports, each port every `period`, from `start` until `end`.
pub fn steady(ports: &[u16], start: Time, period: Duration, end: Time) -> Vec<Passage> {
    let times = (0..).map(|n| start + period * n).take_while(|&at| at < end);
    (0..)
        .zip(times)
        .flat_map(|(number, at)| ports.iter().map(move |&port| Passage { at, port, number }))
        .collect()
}

/// The value at `now` of a variable that a port reports.
pub fn number(cell: &dyn Element<Tag>, port: u16, now: Time, name: &str) -> f64 {
    let mut found = None;
    let mut sink = |shown, reading| {
        if let (true, Reading::Number(value, _)) = (shown == name, reading) {
            found = Some(value);
        }
    };
    cell.observe(PortId(port), now, &mut Probe::new(&mut sink));
    found.unwrap()
}
