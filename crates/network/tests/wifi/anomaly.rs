//! The performance anomaly (Heusse et al., INFOCOM 2003): with first-in, first-out queues, stations get the same
//! number of packets.

use super::saturated::{cell_with, number, packet, within};
use network::kit::Tag;
use network::queue::{self, QueueDiscipline};
use network::{Element, PortId};
use serde_json::json;
use units::{Duration, Time};

fn hundred() -> Box<dyn QueueDiscipline<Tag>> {
    queue::build("drop_tail", &json!({ "packets": 100 }), 1).unwrap()
}

/// Packets received by each of two stations. `per_second` packets per second are sent to each station.
pub fn downloads(element: &mut dyn Element<Tag>, per_second: u64, seconds: u64) -> [u64; 2] {
    let mut carried = [0; 2];
    for n in 0..seconds * per_second {
        let now = Time::ZERO + Duration::from_nanos(n * 1_000_000_000 / per_second);
        while element.next() < now {
            let due = element.next();
            if let Some((port, _)) = element.take(due) {
                carried[usize::from(port.0 / 2)] += 1;
            }
        }
        // The order of the ports alternates, so that neither station is always first.
        for port in if n % 2 == 0 { [0, 2] } else { [2, 0] } {
            element.put(PortId(port), &packet(n as Tag), now);
        }
    }
    carried
}

#[test]
fn a_slow_and_a_fast_station_get_equal_goodput_and_unequal_airtime() {
    let params = json!({ "standard": "802.11n", "width_mhz": 20, "streams": 1, "station_mcs": [0, 7] });
    let mut element = cell_with(&params, 1, hundred);
    let [slow, fast] = downloads(&mut *element, 850, 60);
    within(slow as f64, fast as f64, 0.01, "packets");
    let [slow, fast] =
        [0, 2].map(|port| number(&*element, port, Time::from_nanos(60_000_000_000), "airtime"));
    assert!(slow > 6.0 * fast, "{slow} s and {fast} s");
}

#[test]
fn equal_stations_get_equal_airtime() {
    let params = json!({ "standard": "802.11n", "width_mhz": 20, "streams": 1, "station_mcs": [1, 1] });
    let mut element = cell_with(&params, 1, hundred);
    downloads(&mut *element, 850, 60);
    let [one, other] =
        [0, 2].map(|port| number(&*element, port, Time::from_nanos(60_000_000_000), "airtime"));
    within(one, other, 0.01, "airtime");
}
