//! Linux's queues for Wi-Fi: airtime fairness, limits on queued airtime, and the packet limit that stations share.

use super::anomaly::downloads;
use super::saturated::{cell_with, number, packet, within};
use network::kit::Tag;
use network::queue::{self, QueueDiscipline};
use network::{Ecn, Element, Packet, PortId, Released, StreamId};
use serde_json::{Value, json};
use units::Time;

type Queue = Box<dyn QueueDiscipline<Tag>>;

fn mac80211() -> Queue {
    queue::build("mac80211", &Value::Null, 1).unwrap()
}

fn without_fairness() -> Queue {
    queue::build("mac80211", &json!({ "airtime_fairness": false }), 1).unwrap()
}

fn with_aql() -> Queue {
    queue::build("mac80211", &json!({ "aql": true }), 1).unwrap()
}

/// Parameters of HT20 with one stream. `errors` has the error probability of each station.
fn ht20(mcs: [u64; 2], errors: [f64; 2]) -> Value {
    json!({
        "standard": "802.11n", "width_mhz": 20, "streams": 1, "station_mcs": mcs, "station_errors": errors,
    })
}

fn at(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

fn of_stations(element: &dyn Element<Tag>, name: &str) -> [f64; 2] {
    [0, 2].map(|port| number(element, port, at(60_000), name))
}

/// Duration in microseconds of a PPDU of full packets, at a rate of HT20.
fn ppdu_us(packets: f64, bits_per_symbol: f64) -> f64 {
    let bits = 16.0 + 8.0 * (packets * 1_544.0 - 2.0) + 6.0;
    36.0 + 4.0 * (bits / bits_per_symbol).ceil()
}

#[test]
fn a_slow_and_a_fast_station_get_equal_airtime_and_what_it_carries() {
    let mut element = cell_with(&ht20([0, 7], [0.0, 0.0]), 1, mac80211);
    let carried = downloads(&mut *element, 5_000, 60);
    let [slow, fast] = of_stations(&*element, "airtime");
    within(slow, fast, 0.01, "airtime");
    assert_eq!(of_stations(&*element, "aggregate_p95"), [2.0, 21.0]); // 4 ms
    // Aggregates have equal airtime. Each aggregate also takes AIFS, 7.5 slots, SIFS and a block ACK at 6 or 24 Mbit/s.
    let airs = [ppdu_us(2.0, 26.0), ppdu_us(21.0, 260.0)];
    let cycles = [(airs[0], 68.0), (airs[1], 32.0)].map(|(air, answer)| air + 43.0 + 67.5 + 16.0 + answer);
    let second = 1e6 / (cycles[0] / airs[0] + cycles[1] / airs[1]);
    for (station, packets) in [(0, 2.0), (1, 21.0)] {
        let expected = 60.0 * packets * second / airs[station];
        within(carried[station] as f64, expected, 0.01, "packets");
    }
}

#[test]
fn a_station_pays_for_what_it_sends_again() {
    let mut element = cell_with(&ht20([7, 7], [0.5, 0.0]), 1, mac80211);
    let [lossy, clean] = downloads(&mut *element, 5_000, 60);
    let [one, other] = of_stations(&*element, "airtime");
    within(one, other, 0.01, "airtime");
    assert!(lossy < 3 * clean / 4, "{lossy} and {clean}");
}

#[test]
fn without_fairness_stations_take_turns_by_aggregates() {
    let mut element = cell_with(&ht20([0, 7], [0.0, 0.0]), 1, without_fairness);
    downloads(&mut *element, 5_000, 60);
    let [slow, fast] = of_stations(&*element, "ppdus");
    within(slow, fast, 0.01, "PPDUs");
}

#[test]
fn limits_on_queued_airtime_alone_keep_it_nearly_equal() {
    let mut element = cell_with(&ht20([0, 7], [0.0, 0.0]), 1, with_aql);
    downloads(&mut *element, 5_000, 60);
    let [slow, fast] = of_stations(&*element, "airtime");
    within(slow, fast, 0.15, "airtime");
}

/// Number of packets of a port that wait in the radio after its first 100 arrivals.
fn below(mcs: u64, queue: fn() -> Queue) -> f64 {
    let mut element = cell_with(&ht20([mcs, 7], [0.0, 0.0]), 1, queue);
    (0..100).for_each(|n| element.put(PortId(0), &packet(n), Time::ZERO));
    number(&*element, 0, Time::ZERO, "below")
}

#[test]
fn little_waits_in_the_radio() {
    // 12 ms of estimated airtime: 1,930 us per packet at 6.5 Mbit/s, 193 us at 65 Mbit/s.
    assert_eq!([0, 7].map(|mcs| below(mcs, with_aql)), [7.0, 63.0]);
    // One aggregate is in the radio. The second aggregate is built when another packet arrives, or when the first
    // aggregate has been sent.
    assert_eq!([0, 7].map(|mcs| below(mcs, mac80211)), [2.0, 2.0]);
}

/// Create a packet of a stream.
fn packet_in(stream: u32, n: u64) -> Packet<Tag> {
    Packet { stream: StreamId(stream), size: 1_514, ecn: Ecn::NotEct, dscp: 0, payload: n as Tag }
}

#[test]
fn the_fattest_flow_of_all_stations_loses() {
    let tight = || queue::build("mac80211", &json!({ "limit": 50 }), 1).unwrap();
    let mut element = cell_with(&ht20([0, 0], [0.0, 0.0]), 1, tight);
    (0..200).for_each(|n| element.put(PortId(0), &packet_in(1, n), Time::ZERO));
    (0..10).for_each(|n| element.put(PortId(2), &packet_in(2, n), Time::ZERO));
    let dropped =
        |element: &mut dyn Element<Tag>, port| element.close_interval(PortId(port), at(1)).dropped_packets;
    assert!(dropped(&mut *element, 0) >= 150);
    assert_eq!(dropped(&mut *element, 2), 0);
}

#[test]
fn hosts_hear_of_packets_when_they_have_been_acknowledged() {
    let mut element = cell_with(&ht20([7, 7], [0.0, 0.0]), 1, mac80211);
    element.list_released(PortId(1));
    element.put(PortId(1), &packet_in(3, 0), Time::ZERO);
    let mut released: Vec<(u64, Released)> = Vec::new();
    while element.next() < Time::NEVER {
        let due = element.next();
        element.take(due);
        let mut now = Vec::new();
        element.take_released(&mut now);
        released.extend(now.into_iter().map(|one| (due.as_nanos(), one)));
    }
    // Slot boundary 3, a PPDU with one MPDU of 1,538 bytes, SIFS and an ACK.
    let air = 36_000 + 4_000 * (16_u64 + 8 * 1_538 + 6).div_ceil(260);
    let expected = 16_000 + 27_000 + air + 16_000 + 28_000;
    assert_eq!(released, [(expected, Released { stream: StreamId(3), size: 1_514 })]);
}
