//! Throughput of cellular cells.

use super::driver::{SIZE, cell, lte, number, packet, passing, steady, us};
use network::PortId;
use network::cellular::{Generation, Lte, Nr};
use serde_json::json;
use units::{Duration, Time};

const END: Time = Time::from_nanos(10_000_000_000);

/// Number of packets of `size` bytes that leave the downlink of a saturated user in ten seconds.
fn carried(kind: &str, params: &serde_json::Value, size: u16, each: Duration) -> usize {
    let mut made = cell(kind, params, Some(3_000_000));
    passing(&mut *made, steady(&[0], us(1), each, END), size, END).len()
}

#[test]
fn one_user_gets_the_sum_of_transport_blocks_exactly() {
    let headers = Lte::HEADERS;
    let mut cases = 0;
    for mcs in 0..Lte::SCHEMES {
        let room = Lte::bits(mcs, 100, 14, 1) / 8 - headers.block;
        // Find a packet size with which whole packets fill a block exactly.
        let Some(packets) = (1..=room).find(|n| room % n == 0 && room / n <= 1_500).filter(|n| room / n > 60)
        else {
            continue;
        };
        let size = (room / packets - headers.piece - headers.packet + 14) as u16;
        let each = Duration::from_nanos(900_000 / packets);
        // The first block is in slot 1. The last block that is decoded by the end is in slot 9,998.
        assert_eq!(carried("lte", &lte(&[mcs], json!({})), size, each) as u64, 9_998 * packets, "MCS {mcs}");
        cases += 1;
    }
    assert!(cases > 5, "{cases}");
}

#[test]
fn lte_at_20_mhz_carries_what_ns_3_does() {
    // Result of ns-3.44 with 100 resource blocks, SISO, and UDP packets of 1,400 bytes: 73.7 Mbit/s.
    let found =
        carried("lte", &lte(&[28], json!({})), SIZE, Duration::from_micros(100)) as f64 * 1_400.0 * 8.0
            / 10e6;
    assert!((found / 73.7 - 1.0).abs() < 0.01, "{found}");
}

#[test]
fn nr_at_100_mhz_carries_its_blocks_in_down_slots() {
    let pattern = json!({
        "resource_blocks": 273, "numerology": 1, "layers": 4, "user_mcs": [27],
        "down_symbols": [14, 14, 14, 10, 0], "up_symbols": [0, 0, 0, 2, 14],
    });
    let bits = |symbols| Nr::bits(27, 273, symbols, 4) as f64;
    let pieces = 1.0 - 6.0 / 1_437.0; // MAC and RLC headers, without the headers of pieces at block boundaries
    let expected = (3.0 * bits(14) + bits(10)) / 2.5e-3 * 1_400.0 / 1_431.0 * pieces / 1e6;
    let found = carried("nr", &pattern, SIZE, Duration::from_micros(6)) as f64 * 1_400.0 * 8.0 / 10e6;
    assert!((found / expected - 1.0).abs() < 0.002, "{found} of {expected}");
}

#[test]
fn a_wake_up_per_slot_that_delivers_and_none_for_others() {
    let mut made = cell("lte", &lte(&[28], json!({})), None);
    let mut wake_ups = std::collections::BTreeSet::new();
    let mut delivered = std::collections::BTreeSet::new();
    // Five packets at the same time, every 10 ms.
    for burst in 0..100 {
        let at = us(10_000 * burst + 300);
        (0..5).for_each(|n| made.put(PortId(0), &packet(n, SIZE), at));
        while made.next() < us(10_000 * (burst + 1)) {
            let due = made.next();
            wake_ups.insert(due);
            delivered.extend(made.take(due).map(|_| due));
        }
    }
    assert_eq!((wake_ups.len(), delivered.len()), (100, 100));
    assert_eq!(number(&*made, 0, END, "cell_slots"), 100.0);
}

#[test]
fn blocks_that_are_not_decoded_take_their_share() {
    let params = lte(&[28], json!({ "user_errors": [0.25], "harq_tries": 10 }));
    let clean = carried("lte", &lte(&[28], json!({})), SIZE, Duration::from_micros(100)) as f64;
    let found = carried("lte", &params, SIZE, Duration::from_micros(100)) as f64;
    assert!((found / clean / 0.75 - 1.0).abs() < 0.02, "{found} of {clean}");
}

#[test]
fn a_loss_that_nothing_follows_is_asked_for_when_it_is_known() {
    // The slot at 1 ms is served when it begins. The loss of the block becomes known 2 ms later, when the receiver has
    // tried to decode the block.
    let params = lte(&[28], json!({ "user_errors": [0.999], "harq_tries": 1, "rlc": "um" }));
    let mut made = cell("lte", &params, None);
    made.put(PortId(0), &packet(0, SIZE), us(300));
    assert!(made.take(us(1_000)).is_none());
    assert_eq!(made.next(), us(3_000));
    assert!(made.take(us(3_000)).is_none());
    assert_eq!(made.next(), Time::NEVER);
    assert_eq!(made.close_interval(PortId(0), us(1_000_000)).lost_packets, 1);
}
