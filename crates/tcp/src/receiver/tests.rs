//! The receiver alone: which ACKs it sends, and when.

use super::*;

fn receiver(ack: AckPolicy) -> Receiver {
    Receiver::new(ReceiverConfig {
        mss: 1448,
        ack,
        ecn: Feedback::Off,
        gro: None,
        sack_compression: true,
        timestamps: true,
        buffer: None,
    })
}

fn every(packets: u32) -> AckPolicy {
    AckPolicy::Every { packets, timeout: Duration::from_millis(200) }
}

fn deliver(r: &mut Receiver, at_us: u64, seq: u32) -> Vec<Segment> {
    let mut out = Vec::new();
    r.on_segment(Time::from_nanos(at_us * 1_000), &data(seq), false, &mut out);
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
    assert_eq!(arrive(4, 4, false), [(5, false)]); // nothing was waiting: one ACK will do
}

#[test]
fn after_three_duplicates_compression_sends_one_ack_a_millisecond() {
    let mut r = receiver(every(1));
    let sent: usize = (1..=20).map(|seq| deliver(&mut r, u64::from(seq) * 10, seq).len()).sum();
    assert_eq!(sent, 3);
    assert_eq!(r.next_timer(), Time::from_nanos(40_000 + 1_000_000));
}

#[test]
fn on_a_path_of_a_millisecond_compression_lasts_a_third_of_it() {
    let mut r = receiver(every(1));
    r.on_segment(Time::ZERO, &Segment::Syn { stamp: 0 }, false, &mut Vec::new());
    (1..=4).for_each(|seq| drop(deliver(&mut r, 1_000, seq)));
    assert_eq!(r.next_timer(), Time::from_nanos(1_000_000 + 330_000));
}

#[test]
fn linux_acknowledges_every_packet_at_first_and_every_second_one_later() {
    let mut r = receiver(AckPolicy::Linux);
    let acks = |r: &mut Receiver, range: std::ops::Range<u32>| -> usize {
        range.map(|seq| deliver(r, u64::from(seq), seq).len()).sum()
    };
    assert_eq!(acks(&mut r, 0..600), 600);
    acks(&mut r, 600..800);
    assert_eq!(acks(&mut r, 800..1000), 100);
}

#[test]
fn a_smaller_buffer_is_open_sooner() {
    for (buffer, opening) in [(64 << 10, 1), (1 << 20, 340)] {
        let mut r = receiver(AckPolicy::Linux);
        r.config.buffer = Some(buffer);
        let quick = (0..1000).take_while(|&seq| deliver(&mut r, u64::from(seq), seq).len() == 1).count();
        assert_eq!(quick, opening + QUICK_ACKS as usize, "{buffer} bytes");
    }
}
