//! The receiver alone: the ACKs that it sends, and their times.

use super::*;
use units::Bytes;

fn receiver(ack: AckPolicy) -> Receiver {
    Receiver::new(ReceiverConfig { ack, ..ReceiverConfig::default() })
}

fn every(packets: u32) -> AckPolicy {
    AckPolicy::Every { packets, timeout: Duration::from_millis(200) }
}

fn deliver(r: &mut Receiver, at_us: u64, seq: u32) -> Vec<Segment> {
    let mut out = Vec::new();
    let mut segment = data(seq);
    if let Segment::Data { sent_us, .. } = &mut segment {
        *sent_us = (at_us as u32).wrapping_sub(50_000); // half a round trip ago
    }
    r.on_segment(Time::from_nanos(at_us * 1_000), &segment, false, &mut out);
    out
}

fn data(seq: u32) -> Segment {
    Segment::plain_data(seq, 1448, 0)
}

fn blocks(segment: &Segment) -> (u32, Vec<(u32, u32)>) {
    let Segment::Ack { ack, sacks, .. } = segment else { panic!("{segment:?}") };
    (*ack, sacks.iter().collect())
}

#[test]
fn every_second_packet_is_acknowledged_and_a_lone_one_after_the_timeout() {
    let mut r = receiver(every(2));
    assert!(deliver(&mut r, 0, 0).is_empty());
    assert_eq!(blocks(&deliver(&mut r, 1, 1)[0]), (2, vec![]));
    assert!(deliver(&mut r, 2, 2).is_empty());
    assert_eq!(r.next_timer(), Time::from_nanos(200_002_000));
    let mut out = Vec::new();
    r.on_timer(r.next_timer(), &mut out);
    assert_eq!(blocks(&out[0]), (3, vec![]));
}

#[test]
fn a_hole_is_reported_at_once_newest_block_first() {
    let mut r = receiver(every(2));
    assert_eq!(blocks(&deliver(&mut r, 0, 3)[0]), (0, vec![(3, 4)]));
    assert_eq!(blocks(&deliver(&mut r, 1, 1)[0]), (0, vec![(1, 2), (3, 4)]));
    assert_eq!(blocks(&deliver(&mut r, 2, 2)[0]), (0, vec![(1, 4)]));
    assert_eq!(blocks(&deliver(&mut r, 3, 0)[0]), (4, vec![]));
    assert_eq!(r.delivered_bytes(), 4 * 1448);
}

#[test]
fn a_duplicate_is_reported_as_such() {
    let mut r = receiver(every(1));
    deliver(&mut r, 0, 0);
    let again = &deliver(&mut r, 1, 0)[0];
    assert!(matches!(again, Segment::Ack { dsack: true, .. }));
    assert_eq!(blocks(again), (1, vec![(0, 1)]));
    assert_eq!(r.duplicate_packets(), 1);
}

#[test]
fn a_packet_that_a_retransmission_has_overtaken_is_thrown_away() {
    for (timestamps, stamp, taken) in [(true, 98, false), (true, 99, true), (false, 98, true)] {
        let mut r = Receiver::new(ReceiverConfig { timestamps, ..receiver(every(1)).config().clone() });
        let mut out = Vec::new();
        for (seq, stamp) in [(0, 100), (2, stamp)] {
            let segment = Segment::plain_data(seq, 1448, stamp);
            r.on_segment(Time::ZERO, &segment, false, &mut out);
        }
        let told = if taken { vec![(2, 3)] } else { vec![] };
        assert_eq!(blocks(&out[1]), (1, told), "stamp {stamp} after 100, timestamps {timestamps}");
    }
}

#[test]
fn a_change_of_marks_is_acknowledged_at_once_and_what_came_before_as_it_was() {
    let mut r = receiver(every(2));
    r.echoed = Echo::new(Feedback::EveryMark);
    let mut arrive = |at_us: u64, seq, ce| -> Vec<(u32, bool)> {
        let mut out = Vec::new();
        r.on_segment(Time::from_nanos(at_us * 1_000), &data(seq), ce, &mut out);
        let told = |s: &Segment| if let Segment::Ack { ack, ece, .. } = s { (*ack, *ece) } else { panic!() };
        out.iter().map(told).collect()
    };
    assert_eq!(arrive(0, 0, false), []);
    assert_eq!(arrive(1, 1, true), [(1, false), (2, true)]);
    assert_eq!(arrive(2, 2, true), []);
    assert_eq!(arrive(3, 3, true), [(4, true)]);
    assert_eq!(arrive(4, 4, false), [(5, false)]); // no earlier ACK is pending, so only this packet's ACK is sent
}

#[test]
fn after_three_duplicates_compression_sends_one_ack_a_millisecond() {
    let mut r = receiver(every(1));
    let sent: usize = (1..=20).map(|seq| deliver(&mut r, u64::from(seq) * 10, seq).len()).sum();
    assert_eq!(sent, 3);
    assert_eq!(r.next_timer(), Time::from_nanos(40_000 + 1_000_000));
}

#[test]
fn a_packet_that_releases_an_ack_has_none_of_its_own() {
    let mut r = receiver(every(1));
    [1, 3, 5].into_iter().for_each(|seq| assert_eq!(deliver(&mut r, 10, seq).len(), 1));
    assert!(deliver(&mut r, 40, 7).is_empty(), "held back");
    let released = deliver(&mut r, 50, 9);
    assert_eq!(released.len(), 1);
    assert_eq!(blocks(&released[0]).1[0], (7, 8));
    assert_eq!(r.next_timer(), Time::NEVER);
    assert!(deliver(&mut r, 60, 10).is_empty(), "held back again");
    assert_eq!(r.next_timer(), Time::from_nanos(60_000 + 1_000_000));
}

#[test]
fn on_a_path_of_a_millisecond_compression_lasts_a_third_of_it() {
    let mut r = receiver(every(1));
    r.on_segment(Time::ZERO, &Segment::Syn { stamp: 0 }, false, &mut Vec::new());
    (1..=4).for_each(|seq| drop(deliver(&mut r, 1_000, seq)));
    assert_eq!(r.next_timer(), Time::from_nanos(1_000_000 + 330_000));
}

/// A receiver with memory from `first` to `most` bytes, of which each packet takes `per_packet` bytes in addition to
/// its payload.
fn with_memory(first: u64, most: u64, per_packet: u64) -> Receiver {
    let [first, most, per_packet] = [first, most, per_packet].map(Bytes::new);
    let buffer = ReceiveBuffer::Memory(ReceiveMemory { first, most, per_packet });
    Receiver::new(ReceiverConfig { buffer, ..receiver(AckPolicy::Linux).config().clone() })
}

/// Count the packets that are acknowledged one by one. Packets arrive 12 microseconds apart, from `at_us` on.
fn alone(r: &mut Receiver, at_us: u64, seqs: std::ops::Range<u32>) -> usize {
    let mut before = r.next;
    let mut lone = |seq: u32| {
        let acks = deliver(r, at_us + 12 * u64::from(seq), seq);
        acks.iter().any(|ack| std::mem::replace(&mut before, blocks(ack).0) + 1 == before)
    };
    seqs.filter(|&seq| lone(seq)).count()
}

#[test]
fn the_window_opens_by_the_memory_that_packets_take() {
    // The counts were measured in two Linux guests with 16 MiB of receive memory. The 16 quick ACKs at the start
    // are not part of these counts.
    for (per_packet, opening) in [(832, 770), (960, 566)] {
        let mut r = with_memory(16 << 20, 128 << 20, per_packet);
        assert_eq!(
            alone(&mut r, 0, 0..2_000),
            opening + 16,
            "each packet takes {per_packet} bytes in addition to its payload"
        );
    }
}

#[test]
fn the_window_opens_by_segments_without_the_options_that_come_and_go() {
    let config = receiver(AckPolicy::Linux).config().clone();
    let opening = [(1_448, 0), (1_436, 12)].map(|(mss, option_bytes)| {
        let mut r = Receiver::new(ReceiverConfig { mss, option_bytes, ..config.clone() });
        let mut one_by_one = |seq: &u32| {
            let (mut acks, at) = (Vec::new(), Time::from_nanos(12_000 * u64::from(*seq)));
            r.on_segment(at, &Segment::plain_data(*seq, mss as u16, 0), false, &mut acks);
            !acks.is_empty()
        };
        (0..2_000).take_while(&mut one_by_one).count()
    });
    assert_eq!(
        opening,
        [786, 786],
        "with and without AccECN, Linux acknowledges the first 786 packets one by one"
    );
}

#[test]
fn packets_out_of_order_open_the_window_too_as_far_as_they_leave_room_for_it() {
    let mut r = with_memory(16 << 20, 128 << 20, 832);
    let mut acks = |seqs: std::ops::RangeInclusive<u32>| -> usize {
        seqs.map(|seq| deliver(&mut r, 12 * u64::from(seq), seq).len()).sum()
    };
    assert_eq!(acks(1..=584), 584, "each packet takes 916 bytes of the window and opens it by 2896 bytes");
    assert!(acks(585..=1_084) < 50);
}

#[test]
fn with_the_buffer_that_linux_ships_quick_acks_come_and_go() {
    let mut r = with_memory(128 << 10, 32 << 20, 832);
    r.on_segment(Time::ZERO, &Segment::Syn { stamp: 0 }, false, &mut Vec::new());
    let rounds = [0..10, 10..30, 30..70, 70..150, 150..310, 310..630];
    let alone: Vec<_> = (1..).zip(rounds).map(|(round, seqs)| alone(&mut r, round * 100_000, seqs)).collect();
    assert_eq!(
        alone,
        [10, 13, 33, 61, 121, 241],
        "at first 7 packets open the window, and 16 packets get quick ACKs"
    );
}

#[test]
fn a_buffer_follows_what_is_read_in_a_round_trip_and_never_shrinks() {
    let mut r = with_memory(128 << 10, 1 << 20, 832);
    r.on_segment(Time::ZERO, &Segment::Syn { stamp: 0 }, false, &mut Vec::new());
    let mut told = Vec::new();
    for round in 0..8u64 {
        let acks: Vec<_> = (0..100)
            .flat_map(|n| deliver(&mut r, round * 100_000 + 12 * n, (100 * round + n) as u32))
            .collect();
        let Some(Segment::Ack { window, .. }) = acks.last() else { panic!("no ACK") };
        told.push(*window);
    }
    assert!(told.is_sorted(), "{told:?}");
    assert_eq!(told[0], 81_504, "the window of a buffer of 128 KiB, in steps of 32 bytes");
    assert_eq!(told[7], 662_112, "the window of a buffer of 1 MiB");
}

#[test]
fn packets_out_of_order_take_room_and_end_quick_acks() {
    let mut r = with_memory(128 << 10, 128 << 10, 832);
    let quick: Vec<_> = (1..60)
        .map(|seq| {
            deliver(&mut r, u64::from(seq), seq);
            r.quick
        })
        .collect();
    assert!(quick[10] > 0 && quick[58] == 0, "{quick:?}");
}

#[test]
fn a_window_that_the_application_has_set_stays_as_it_is() {
    let mut r = receiver(AckPolicy::Linux);
    r.config.buffer = ReceiveBuffer::Payload(Bytes::new(30_000));
    let mut r = Receiver::new(r.config);
    assert_eq!(alone(&mut r, 0, 0..99), 10, "half the window has 10 packets, which get quick ACKs");
    let Some(Segment::Ack { window, .. }) = deliver(&mut r, 1_200, 100).pop() else { panic!("no ACK") };
    assert_eq!(window, 30_000);
}

/// A receiver after 100 packets 2 ms apart, and the time of the last one in microseconds. The RTT of the handshake is 100 ms,
/// so the RTO is 300 ms.
fn after_bulk_data() -> (Receiver, u64) {
    let buffer = ReceiveBuffer::Payload(Bytes::new(100_000));
    let (mut r, mut out) =
        (Receiver::new(ReceiverConfig { buffer, ..ReceiverConfig::default() }), Vec::new());
    r.on_segment(Time::ZERO, &Segment::Syn { stamp: 0 }, false, &mut out);
    (0..100).for_each(|n| drop(deliver(&mut r, 100_000 + 2_000 * u64::from(n), n)));
    (r, 298_000)
}

#[test]
fn packets_after_a_pause_longer_than_the_rto_get_an_ack_each() {
    for (pause_us, acks) in [(299_000, 8), (302_000, 16)] {
        let (mut r, last_us) = after_bulk_data();
        let sent = (0..16)
            .filter(|&n| !deliver(&mut r, last_us + pause_us + 2_000 * u64::from(n), 100 + n).is_empty());
        assert_eq!(sent.count(), acks, "{pause_us} us");
    }
}

#[test]
fn delayed_acks_wait_longer_if_packets_come_slowly_but_no_longer_than_an_rtt() {
    let (mut r, last_us) = after_bulk_data();
    let waits: Vec<u64> = (0..4)
        .map(|n| {
            let at_us = last_us + 35_000 * (n + 1);
            let acks = deliver(&mut r, at_us, 100 + n as u32);
            if acks.is_empty() { r.next_timer().as_millis() - at_us / 1_000 } else { 0 }
        })
        .collect();
    // The timeouts are 20 + 35, 27 + 35 and 31 + 35 ms. Timers beyond 63 ms have a grain of 8 ms: 403 + 66 becomes 472.
    assert_eq!(waits, [56, 0, 69, 0]);
}
