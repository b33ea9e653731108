//! Delays of packets in cellular cells.

use super::driver::{Passage, SIZE, cell, lte, passing, steady, us};
use network::PortId;
use serde_json::{Value, json};
use units::{Duration, Time};

/// Downlink and uplink symbols of a pattern of D, S and U. Slot S has 10 downlink and 2 uplink symbols.
fn symbols(pattern: &str) -> [Vec<u64>; 2] {
    [("D", 10), ("U", 2)].map(|(own, special)| {
        let of = |slot: char| {
            if own.contains(slot) {
                14
            } else if slot == 'S' {
                special
            } else {
                0
            }
        };
        pattern.chars().map(of).collect()
    })
}

fn nr(numerology: u64, pattern: &str) -> Value {
    let [down, up] = symbols(pattern);
    json!({
        "resource_blocks": 66, "numerology": numerology, "down_symbols": down, "up_symbols": up, "user_mcs": [20],
        "processing_ns": 100_000,
    })
}

/// Mean time from the arrival of a packet to the next slot. Slots start at the times `starts` of each period.
fn mean_wait(starts: &[u64], period: u64) -> f64 {
    let next = starts.iter().skip(1).copied().chain([starts[0] + period]);
    starts.iter().zip(next).map(|(a, b)| ((b - a) * (b - a)) as f64).sum::<f64>() / (2 * period) as f64
}

#[test]
fn slot_waits_of_every_pattern_are_those_of_the_closed_form() {
    let cases = [
        (1, "DDDSU"),
        (1, "DDDDDDDSUU"),
        (1, "DDDSUDDSUU"),
        (1, "DDSU"),
        (3, "DDDSU"),
        (0, "DSUDDDSUDD"),
        (2, "DU"),
    ];
    for (numerology, pattern) in cases {
        let slot = 1_000_000u64 >> numerology;
        let period = slot * pattern.len() as u64;
        let starts: Vec<u64> =
            (0..).zip(pattern.chars()).filter(|(_, c)| *c != 'U').map(|(n, _)| n * slot).collect();
        // One packet in each of 1,000 periods, at 1,000 different phases.
        let at = |n: u64| Time::from_nanos(100 * n * period + n * period / 1_000 + 1);
        let arrivals: Vec<Passage> =
            (0..1_000).map(|n| Passage { at: at(n), port: 0, number: n as u32 }).collect();
        let mut made = cell("nr", &nr(numerology, pattern), None);
        let left = passing(&mut *made, arrivals, 200, at(1_001));
        let mean = left.iter().map(|p| p.at.since(at(p.number.into())).as_nanos() as f64).sum::<f64>() / 1e3;
        let expected = mean_wait(&starts, period) + (slot + 100_000) as f64;
        assert_eq!(left.len(), 1_000);
        assert!((mean - expected).abs() < 0.003 * period as f64, "{pattern}: {mean} of {expected}");
    }
}

#[test]
fn a_block_waits_k_round_trips_with_the_error_probability_to_the_power_of_k() {
    let params = lte(&[28], json!({ "user_errors": [0.3], "harq_tries": 30, "processing_ns": 0 }));
    let packets = 20_000;
    let period = Duration::from_millis(300);
    let mut made = cell("lte", &params, None);
    let end = us(300_000 * (packets + 1));
    let left = passing(&mut *made, steady(&[0], us(999), period, us(300_000 * packets)), SIZE, end);
    assert_eq!(left.len() as u64, packets);
    let trips: Vec<u64> = left
        .iter()
        .map(|p| (p.at.since(us(999) + period * u64::from(p.number)).as_nanos() - 1_001_000) / 8_000_000)
        .collect();
    for k in 1..=5 {
        let share = trips.iter().filter(|&&trips| trips >= k).count() as f64 / packets as f64;
        let expected = 0.3f64.powi(k as i32);
        let error = (expected * (1.0 - expected) / packets as f64).sqrt();
        assert!((share - expected).abs() < 4.0 * error, "{k}: {share} of {expected}");
    }
}

#[test]
fn nothing_is_reordered_and_what_was_held_comes_at_once() {
    for rlc in ["am", "um"] {
        let params = lte(&[28], json!({ "user_errors": [0.2], "harq_tries": 2, "rlc": rlc }));
        let mut made = cell("lte", &params, None);
        let arrivals = steady(&[0, 1], us(1), Duration::from_micros(400), us(5_000_000));
        let sent = arrivals.len();
        let left = passing(&mut *made, arrivals, SIZE, us(6_000_000));
        for port in [0, 1] {
            let own: Vec<&Passage> = left.iter().filter(|p| p.port == port).collect();
            assert!(own.windows(2).all(|pair| pair[0].number < pair[1].number), "{rlc}");
            let bursts = own.chunk_by(|a, b| a.at == b.at).map(<[_]>::len);
            assert!(bursts.max().unwrap() > 15, "{rlc}"); // 2.5 packets per millisecond are held for 8 ms
        }
        assert!(if rlc == "am" {
            left.len() == sent
        } else {
            left.len() < sent && left.len() > sent * 7 / 10
        });
    }
}

#[test]
fn a_full_buffer_delays_by_its_bytes_over_the_rate() {
    for bytes in [500_000u64, 1_500_000] {
        let mut made = cell("lte", &lte(&[28], json!({})), Some(bytes));
        let arrivals = steady(&[0], us(1), Duration::from_micros(100), us(3_000_000));
        let left = passing(&mut *made, arrivals, SIZE, us(3_000_000));
        let late: Vec<&Passage> = left.iter().filter(|p| p.at > us(2_000_000)).collect();
        let delay = |p: &&Passage| p.at.since(us(1 + 100 * u64::from(p.number))).as_secs_f64();
        let mean = late.iter().map(delay).sum::<f64>() / late.len() as f64;
        let rate = late.len() as f64 * f64::from(SIZE) / 1.0; // within the last second
        let expected = bytes as f64 / rate + 0.002; // 2 ms for a slot and decoding
        assert!((mean / expected - 1.0).abs() < 0.02, "{bytes}: {mean} of {expected}");
    }
}

#[test]
fn a_handover_of_g_ms_delays_by_g_and_loses_nothing() {
    for gap in [30u64, 80] {
        let params = lte(
            &[20],
            json!({ "user_gaps_ns": [[1_000_000_000, gap * 1_000_000, 0]], "user_errors": [0.1] }),
        );
        let mut made = cell("lte", &params, None);
        let arrivals = steady(&[0, 1], us(1), Duration::from_millis(1), us(3_000_000));
        let sent = arrivals.len();
        let left = passing(&mut *made, arrivals, SIZE, us(4_000_000));
        assert_eq!(left.len(), sent);
        for port in [0, 1] {
            let own: Vec<&Passage> = left.iter().filter(|p| p.port == port).collect();
            assert!(own.windows(2).all(|pair| pair[0].number < pair[1].number));
            // Packets decoded before the gap still arrive. Blocks that were not decoded are retransmitted after the
            // gap.
            let quiet = own.windows(2).map(|pair| pair[1].at.since(pair[0].at).as_micros()).max().unwrap();
            assert!((gap * 1_000..gap * 1_000 + 17_000).contains(&quiet), "{gap} ms: {quiet} us");
            let burst = own.chunk_by(|a, b| a.at == b.at).map(<[_]>::len).max().unwrap() as u64;
            assert!(burst > 3, "{burst}");
        }
    }
}

#[test]
fn who_is_idle_is_reached_in_its_windows() {
    // In a cycle of 160 ms the user listens for 10 ms. Packets that arrive once per second wait for (150 ms)^2 / (2 *
    // 160 ms) on average.
    let drx = |cycle: u64| json!({ "drx_cycle_ns": cycle * 1_000_000, "drx_on_ns": 10_000_000, "drx_inactivity_ns": 100_000_000 });
    let mean = |params: Value, period: Duration, count: u64| {
        let mut made = cell("lte", &params, None);
        let left =
            passing(&mut *made, steady(&[0], us(1), period, us(1) + period * count), SIZE, us(3_000_000_000));
        let delay = |p: &Passage| p.at.since(us(1) + period * u64::from(p.number)).as_secs_f64() * 1e3;
        assert_eq!(left.len() as u64, count);
        left.iter().map(delay).sum::<f64>() / count as f64
    };
    let sparse = Duration::from_micros(1_003_117);
    let waits = mean(lte(&[20], drx(160)), sparse, 2_000) - mean(lte(&[20], drx(0)), sparse, 2_000);
    assert!((waits / 70.3 - 1.0).abs() < 0.05, "{waits}");
    // A busy user always listens, except before its first window. The packets that arrive before this window wait for
    // 150 ms, 130 ms and so on.
    let busy = Duration::from_millis(20);
    let waits = mean(lte(&[20], drx(160)), busy, 2_000) - mean(lte(&[20], drx(0)), busy, 2_000);
    assert!(waits < 0.29, "{waits}");
}

/// Packets that leave a user's port of a cell. Another cell takes over after a gap of `gap` that begins at `at`.
/// Packets are in order.
fn handed_over(params: &Value, at: Time, gap: Duration) -> (Vec<Passage>, usize, u64) {
    let mut old = cell("lte", params, None);
    let mut target = params.clone();
    target["user_gaps_ns"] = json!([[at.as_nanos(), gap.as_nanos(), 0]]);
    let mut new = cell("lte", &target, None);
    let arrivals = steady(&[0, 1], us(1), Duration::from_micros(600), us(2_000_000));
    let sent = arrivals.len();
    let (before, after): (Vec<Passage>, Vec<Passage>) = arrivals.into_iter().partition(|p| p.at < at);
    let mut left = passing(&mut *old, before, SIZE, at);
    let mut moved = [Vec::new(), Vec::new()];
    for (port, packets) in (0..).zip(&mut moved) {
        old.withdraw(PortId(port), at, packets);
        packets.iter().for_each(|packet| new.put(PortId(port), packet, at));
    }
    let late = us(8_000_000);
    left.extend(passing(&mut *old, [], SIZE, late)); // packets that were decoded and are on their way
    assert_eq!(old.next(), Time::NEVER);
    left.extend(passing(&mut *new, after, SIZE, late));
    left.sort_by_key(|passage| passage.at);
    let still = [0, 1].map(|port| {
        let counted = old.close_interval(PortId(port), Time::from_nanos(1_000_000_000_000));
        counted.waiting_packets() + counted.travelling_packets()
    });
    (left, sent, still.iter().sum())
}

#[test]
fn a_handover_to_another_cell_forwards_what_waits_and_what_was_not_decoded() {
    // The old cell has errors, so that blocks are missing and later blocks are held. The user's queues are full.
    for (rlc, at) in [("am", 1_000_000), ("am", 1_004_321), ("um", 1_007_777)] {
        let params = lte(&[9], json!({ "user_errors": [0.3], "rlc": rlc, "harq_tries": 30 }));
        for gap in [Duration::from_micros(1), Duration::from_millis(60)] {
            let (left, sent, still) = handed_over(&params, us(at), gap);
            let mut expected = [0, 0];
            for Passage { port, number, .. } in &left {
                let next = &mut expected[usize::from(*port)];
                assert_eq!(number, next, "{rlc} at {at} us: port {port}");
                *next += 1;
            }
            assert_eq!((left.len(), still), (sent, 0), "{rlc} at {at} us");
        }
    }
}
