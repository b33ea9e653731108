//! Accounting of a cell's time by use.

use super::saturated::{carried, cell, packet, shown, up, within};
use network::PortId;
use serde_json::json;
use units::{Duration, Time};

const USES: [&str; 5] = ["cell_idle", "cell_data", "cell_control", "cell_collisions", "cell_beacons"];

#[test]
fn the_uses_of_the_medium_add_up_to_the_time_that_has_passed() {
    let params =
        json!({ "station_mcs": [5, 2, 9], "beacons": true, "bar": true, "station_errors": [0.0, 0.2, 0.5] });
    for seconds in [1, 2, 3] {
        let mut element = cell(&params, seconds);
        carried(&mut *element, &[0, 1, 2, 3, 5], Duration::from_secs(seconds));
        let now = Time::from_nanos(seconds * 1_000_000_000);
        element.take(now);
        let all: Vec<_> = (0..6).flat_map(|port| shown(&*element, port, now)).collect();
        let sum =
            |name: &str| -> f64 { all.iter().filter(|found| found.0 == name).map(|found| found.1).sum() };
        let whole: f64 = USES.iter().map(|name| sum(name)).sum();
        assert!((whole - seconds as f64).abs() < 1e-9, "{whole} s of {seconds} s: {all:?}");
        assert!(USES.iter().all(|name| sum(name) > 0.0), "{all:?}");
        // The port counts the whole PPDU that is on the air now. The cell counts only the elapsed part.
        assert!((0.0..0.0055).contains(&(sum("airtime") - sum("cell_data"))), "{all:?}");
    }
}

#[test]
fn beacons_take_a_third_of_a_percent() {
    let mut element = cell(&json!({ "station_mcs": [5], "beacons": true }), 1);
    let now = Time::from_nanos(100_000_000_000);
    element.take(now);
    let beacons = shown(&*element, 0, now).iter().find(|found| found.0 == "cell_beacons").unwrap().1;
    within(beacons, 976.0 * 224e-6, 0.001, "beacons of 150 bytes at 6 Mbit/s");
}

#[test]
fn aggregates_are_of_what_waits() {
    let mut element = cell(&json!({ "station_mcs": [5], "streams": 1, "width_mhz": 20 }), 1);
    let find = |shown: &[(&str, f64)], name: &str| shown.iter().find(|found| found.0 == name).unwrap().1;
    carried(&mut *element, &up(1), Duration::from_secs(1));
    let now = Time::from_nanos(1_000_000_000);
    let found = shown(&*element, 1, now);
    assert_eq!((find(&found, "aggregate_mean"), find(&found, "aggregate_p95")), (30.0, 30.0));
    // All aggregates have 30 packets and are counted in the bin from 25 to 32.
    let counted: Vec<_> = found.iter().filter(|found| found.0.starts_with("ppdus_to_")).collect();
    assert_eq!(counted.iter().map(|found| found.1).sum::<f64>(), find(&found, "ppdus"));
    assert_eq!(find(&found, "ppdus_to_32"), find(&found, "ppdus"), "{counted:?}");
}

#[test]
fn a_packet_that_finds_the_medium_idle_goes_at_the_next_slot() {
    let mut element = cell(&json!({ "station_mcs": [5], "streams": 1, "width_mhz": 20 }), 1);
    // Slot boundaries are at 16 us plus multiples of 9 us. The first boundary after 1 ms is at 1,006 us.
    element.put(PortId(0), &packet(0), Time::from_nanos(1_000_000));
    let mut due = element.next();
    while element.take(due).is_none() {
        due = element.next();
    }
    assert_eq!(due.as_nanos(), 1_006_000 + 44_000 + 14 * 13_600);
    assert_eq!(element.next(), Time::NEVER);
}

#[test]
fn packets_are_released_together_or_one_by_one() {
    let times = |each: bool| -> Vec<u64> {
        let params = json!({ "station_mcs": [5], "streams": 1, "width_mhz": 20, "release_each": each });
        let mut element = cell(&params, 1);
        (0..3).for_each(|number| element.put(PortId(0), &packet(number), Time::ZERO));
        let mut times = Vec::new();
        while element.next() < Time::NEVER {
            let due = element.next();
            times.extend(element.take(due).map(|_| due.as_nanos() - 43_000));
        }
        times
    };
    // Three subframes of 1,544 bytes, the last without padding: 40 symbols of 936 bits.
    assert_eq!(times(false), [44_000 + 40 * 13_600; 3]);
    let end = |bytes: u64| 44_000 + (16 + 8 * bytes) * 13_600 / 936;
    assert_eq!(times(true), [end(1_542), end(1_544 + 1_542), end(2 * 1_544 + 1_542)]);
}

#[test]
fn wake_ups_are_those_of_ppdus() {
    let mut element = cell(&json!({ "station_mcs": vec![5; 10], "streams": 1, "width_mhz": 20 }), 1);
    for port in up(10) {
        (0..3_000).for_each(|number| element.put(PortId(port), &packet(number), Time::ZERO));
    }
    let (mut wakes, mut packets) = (0, 0);
    let end = Time::from_nanos(3_000_000_000);
    while element.next() <= end {
        let due = element.next();
        match element.take(due) {
            Some(_) => packets += 1,
            None => wakes += 1,
        }
    }
    let ppdus: f64 = up(10).iter().map(|&port| super::saturated::number(&*element, port, end, "ppdus")).sum();
    assert!(packets > 10_000 && f64::from(wakes) <= ppdus, "{wakes} for {ppdus} PPDUs");
}
