//! Grants of the uplink: the times at which ACKs and single packets leave.

use super::driver::{Passage, cell, lte, passing, steady, us};
use serde_json::json;
use units::{Duration, Time};

/// Size of a TCP ACK with timestamps.
const ACK: u16 = 66;

/// Times at which packets leave the uplink, and the number of packets at each time.
fn clumps(left: &[Passage]) -> Vec<(Time, usize)> {
    left.chunk_by(|a, b| a.at == b.at).map(|clump| (clump[0].at, clump.len())).collect()
}

/// Distances between clumps in microseconds, and the mean size of clumps, in the second half of the run.
fn settled(params: &serde_json::Value, kind: &str, period: Duration) -> (Vec<u64>, f64) {
    let mut made = cell(kind, params, None);
    let left = passing(&mut *made, steady(&[1], us(7), period, us(2_000_000)), ACK, us(2_000_000));
    let late: Vec<_> = clumps(&left).into_iter().filter(|clump| clump.0 > us(1_000_000)).collect();
    let gaps = late.windows(2).map(|pair| pair[1].0.since(pair[0].0).as_micros()).collect();
    (gaps, late.iter().map(|clump| clump.1 as f64).sum::<f64>() / late.len() as f64)
}

#[test]
fn acknowledgements_leave_in_clumps_of_a_grant_delay() {
    // One ACK every 300 us, so that one block holds all waiting ACKs. The next buffer status report covers the ACKs
    // that arrive while a report is under way.
    for delay in [4, 8] {
        let params = lte(&[20], json!({ "grant_delay_ns": delay * 1_000_000 }));
        let (gaps, size) = settled(&params, "lte", Duration::from_micros(300));
        assert!(gaps.iter().all(|&gap| gap == delay * 1_000), "{gaps:?}");
        let expected = delay as f64 * 1_000.0 / 300.0;
        assert!((size / expected - 1.0).abs() < 0.02, "{size} of {expected}");
    }
}

#[test]
fn acknowledgements_leave_in_clumps_of_up_slots() {
    // The slot pattern is DDDSU, and there are no other delays. Slots of 2 symbols are too short for data, so there is
    // one usable slot every 2.5 ms.
    let params = json!({
        "resource_blocks": 273, "numerology": 1, "down_symbols": [14, 14, 14, 10, 0], "up_symbols": [0, 0, 0, 2, 14],
        "user_mcs": [20], "grant_delay_ns": 500_000, "request_period_ns": 500_000,
    });
    let (gaps, size) = settled(&params, "nr", Duration::from_micros(100));
    assert!(gaps.iter().all(|&gap| gap == 2_500), "{gaps:?}");
    assert!((size / 25.0 - 1.0).abs() < 0.02, "{size}");
}

#[test]
fn a_lone_packet_waits_for_a_request_and_its_grant() {
    // Delays: up to 10 ms until an opportunity, 8 ms for the grant, up to a slot until the next slot, a slot and
    // decoding.
    let mut made = cell("lte", &lte(&[20], json!({})), None);
    let period = Duration::from_micros(500_070);
    let left = passing(&mut *made, steady(&[1], us(7), period, us(100_000_000)), ACK, us(101_000_000));
    let delay = |p: &Passage| p.at.since(us(7) + period * u64::from(p.number)).as_nanos() as f64 / 1e6;
    let delays: Vec<f64> = left.iter().map(delay).collect();
    assert!(delays.len() >= 199 && delays.iter().all(|ms| (10.0..=21.0).contains(ms)), "{delays:?}");
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    // A grant waits for the next slot, on average for half a slot, as opportunities may be anywhere in a slot.
    assert!((mean - 15.5).abs() < 1.0, "{mean}");
}
