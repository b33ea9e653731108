//! A station that receives no frame: its packets are given up, and other stations are served in the meantime.

use super::anomaly::downloads;
use super::saturated::{cell_with, number, within};
use network::kit::Tag;
use network::queue::{self, QueueDiscipline};
use serde_json::{Value, json};
use units::Time;

const SECONDS: u64 = 60;
/// Durations of HT20 at MCS 7 with one stream, in microseconds. A symbol has 260 bits.
const SIFS: f64 = 16.0;
const SLOT: f64 = 9.0;
const AIFS: f64 = SIFS + 3.0 * SLOT;
const BLOCK_ACK: f64 = 32.0;
/// Difference between EIFS and AIFS: SIFS and an ACK at 6 Mbit/s.
const AFTER_ERROR: f64 = SIFS + 44.0;
/// Mean backoffs, in slots, before each of eight successive failing tries. The window is the smallest window, doubled
/// at most six times. The eighth failure is the failure of the seventh retry, which resets the window.
const BACKOFFS: [f64; 8] = [7.5, 15.5, 31.5, 63.5, 127.5, 255.5, 511.5, 511.5];

/// Parameters of a cell with two stations. Station 0 receives no frame, as MCS 7 fails at 10 dB. Station 1 has no
/// losses.
fn beside(params: &Value) -> Value {
    let mut cell = json!({
        "standard": "802.11n", "width_mhz": 20, "streams": 1, "station_mcs": [7, 7], "station_snr": [[10.0, 0.0, 1.0], []],
    });
    cell.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
    cell
}

fn ppdu(packets: f64) -> f64 {
    36.0 + 4.0 * ((16.0 + 8.0 * (packets * 1_544.0 - 2.0) + 6.0) / 260.0).ceil()
}

/// Duration of a failing access with a mean backoff of `backoff` slots.
fn fails(packets: f64, backoff: f64) -> f64 {
    AIFS + SLOT * backoff + ppdu(packets) + AFTER_ERROR
}

fn succeeds(packets: f64, backoff: f64) -> f64 {
    AIFS + SLOT * backoff + ppdu(packets) + SIFS + BLOCK_ACK
}

/// Packets that the deaf station and the other station receive in a minute, and the PPDUs of both stations.
fn shares(params: &Value, queue: fn() -> Box<dyn QueueDiscipline<Tag>>) -> ([u64; 2], [f64; 2]) {
    let mut element = cell_with(&beside(params), 1, queue);
    let carried = downloads(&mut *element, 5_000, SECONDS);
    let end = Time::from_nanos(SECONDS * 1_000_000_000);
    (carried, [0, 2].map(|port| number(&*element, port, end, "ppdus")))
}

fn hundred() -> Box<dyn QueueDiscipline<Tag>> {
    queue::build("drop_tail", &json!({ "packets": 100 }), 1).unwrap()
}

fn two_aggregates() -> Box<dyn QueueDiscipline<Tag>> {
    queue::build("mac80211", &json!({ "aql": false }), 1).unwrap()
}

fn queued_airtime() -> Box<dyn QueueDiscipline<Tag>> {
    queue::build("mac80211", &json!({ "aql": true }), 1).unwrap()
}

/// Expected packets of the other station with first-in, first-out queues. Both stations have the same number of
/// packets, in aggregates of 28 (5.484 ms). The other station sends one aggregate for each aggregate of the deaf
/// station, which is sent `1 + retries` times.
fn behind_fifo(retries: usize) -> f64 {
    let failing: f64 = (0..=retries).map(|n| fails(28.0, BACKOFFS[n % 8])).sum();
    1e6 * SECONDS as f64 * 28.0 / (failing + succeeds(28.0, BACKOFFS[(retries + 1) % 8]))
}

#[test]
fn behind_first_in_first_out_the_others_wait_for_all_its_retries() {
    for (params, retries) in [(json!({}), 30), (json!({ "retries": 7 }), 7), (json!({ "retries": 1 }), 1)] {
        let ([deaf, other], _) = shares(&params, hundred);
        assert_eq!(deaf, 0);
        within(other as f64, behind_fifo(retries), 0.03, &format!("packets with {retries} retries"));
    }
}

#[test]
fn without_a_limit_it_holds_the_access_point_behind_first_in_first_out_only() {
    let forever = json!({ "retries": 0 });
    let (carried, ppdus) = shares(&forever, hundred);
    assert!(carried[0] == 0 && carried[1] <= 28 && ppdus[0] > 1_000.0, "{carried:?} in {ppdus:?}");
    let ([_, other], _) = shares(&forever, two_aggregates);
    within(other as f64, shares(&json!({}), two_aggregates).0[1] as f64, 0.01, "packets");
}

#[test]
fn behind_mac80211_it_has_half_of_the_airtime_and_the_other_what_the_other_half_carries() {
    // Aggregates have 21 packets (4 ms). Each station sends three aggregates in a row, as two more aggregates are in
    // the radio before airtime fairness changes the order. Each failing aggregate doubles the contention window for the
    // next aggregate.
    let ([deaf, other], ppdus) = shares(&json!({}), two_aggregates);
    assert_eq!(deaf, 0);
    within(ppdus[0], ppdus[1], 0.01, "PPDUs");
    let failing: f64 = BACKOFFS[..3].iter().map(|&backoff| fails(21.0, backoff)).sum();
    let cycle = failing + succeeds(21.0, BACKOFFS[3]) + 2.0 * succeeds(21.0, BACKOFFS[0]);
    within(other as f64, 1e6 * SECONDS as f64 * 63.0 / cycle, 0.01, "packets");
}

#[test]
fn with_limits_on_queued_airtime_it_waits_for_what_the_other_has_in_the_radio() {
    // The other station has 63 packets in the radio (12 ms at 193 us each). Three aggregates of 28 packets (5.484 ms)
    // begin with these packets.
    let ([deaf, other], ppdus) = shares(&json!({}), queued_airtime);
    assert_eq!(deaf, 0);
    within(3.0 * ppdus[0], ppdus[1], 0.01, "PPDUs");
    let cycle = fails(28.0, BACKOFFS[0]) + succeeds(28.0, BACKOFFS[1]) + 2.0 * succeeds(28.0, BACKOFFS[0]);
    within(other as f64, 1e6 * SECONDS as f64 * 84.0 / cycle, 0.01, "packets");
}
