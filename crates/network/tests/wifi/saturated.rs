//! Cells with saturated ports.

use network::kit::Tag;
use network::queue::{self, QueueDiscipline};
use network::{Ecn, Element, Packet, PortId, SamplingTimes, StreamId, medium};
use serde_json::{Value, json};
use units::{Duration, Probe, Reading, Time};

/// Size of a full packet: 1,472 bytes of UDP payload, 1,500 bytes of IP, and the Ethernet header that packets have on
/// other links.
pub const SIZE: u16 = 1_514;
pub const PAYLOAD_BITS: f64 = 11_776.0;

/// A queue without a limit.
pub fn endless() -> Box<dyn QueueDiscipline<Tag>> {
    queue::build("drop_tail", &Value::Null, 1).unwrap()
}

/// Create a cell without beacons in which no packet is given up, unless `params` changes this.
pub fn cell(params: &Value, seed: u64) -> Box<dyn Element<Tag>> {
    let mut all = json!({ "retries": 0 });
    all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    cell_with(&all, seed, endless)
}

/// Create a cell with queues of one kind and without beacons, unless `params` changes this.
pub fn cell_with(
    params: &Value,
    seed: u64,
    queue: fn() -> Box<dyn QueueDiscipline<Tag>>,
) -> Box<dyn Element<Tag>> {
    let mut all = json!({ "beacons": false });
    all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    let ports = 2 * all["station_mcs"].as_array().unwrap().len();
    let queues = (0..ports).map(|_| queue()).collect();
    let sampling = SamplingTimes::new(None, Time::ZERO, Time::from_nanos(1_000_000_000_000));
    medium::build("wifi", &all, queues, sampling, seed).unwrap()
}

pub fn packet(number: Tag) -> Packet<Tag> {
    Packet { stream: StreamId(0), size: SIZE, ecn: Ecn::NotEct, dscp: 0, payload: number }
}

/// Number of packets that leave each port within `time` if the given ports always have 600 packets.
pub fn carried(element: &mut dyn Element<Tag>, ports: &[u16], time: Duration) -> Vec<u64> {
    let mut numbers = vec![0; element.ports()];
    let mut put = |element: &mut dyn Element<Tag>, port: PortId, now| {
        element.put(port, &packet(numbers[usize::from(port.0)]), now);
        numbers[usize::from(port.0)] += 1;
    };
    for &port in ports {
        (0..600).for_each(|_| put(element, PortId(port), Time::ZERO));
    }
    let mut carried = vec![0; element.ports()];
    while element.next() <= Time::ZERO + time {
        let due = element.next();
        if let Some((port, packet)) = element.take(due) {
            let place = &mut carried[usize::from(port.0)];
            assert_eq!(u64::from(packet.payload), *place, "port {} keeps its order", port.0);
            *place += 1;
            put(element, port, due);
        }
    }
    carried
}

/// Payload rate of `packets` packets within `time` in Mbit/s.
pub fn mbps(packets: u64, time: Duration) -> f64 {
    packets as f64 * PAYLOAD_BITS / time.as_secs_f64() / 1e6
}

/// The values at `now` of the variables that a port reports.
pub fn shown(element: &dyn Element<Tag>, port: u16, now: Time) -> Vec<(&'static str, f64)> {
    let mut found = Vec::new();
    let mut sink = |name, reading| {
        if let Reading::Number(value, _) = reading {
            found.push((name, value));
        }
    };
    element.observe(PortId(port), now, &mut Probe::new(&mut sink));
    found
}

/// The value at `now` of a variable that a port reports.
pub fn number(element: &dyn Element<Tag>, port: u16, now: Time, name: &str) -> f64 {
    shown(element, port, now).into_iter().find(|found| found.0 == name).unwrap().1
}

/// The uplink ports of `stations` stations.
pub fn up(stations: usize) -> Vec<u16> {
    (0..stations).map(|station| 2 * station as u16 + 1).collect()
}

pub fn within(found: f64, expected: f64, share: f64, what: &str) {
    assert!((found / expected - 1.0).abs() <= share, "{what}: {found} of {expected}");
}
