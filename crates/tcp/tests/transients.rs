//! Rare moments of a connection: lost SYNs, overtaken ACKs, short transfers, closed windows, late FINs.

use crate::pipe::{config, seconds};
use tcp::{
    AckPolicy, Endpoint, Feedback, Pacing, Receiver, ReceiverConfig, SackBlocks, Segment, SendBuffer,
    SendMemory, Sender, SenderConfig,
};
use units::{Bytes, Duration, Time};

fn sender(config: SenderConfig) -> Sender {
    Sender::new(config, congestion::build("reno", &serde_json::Value::Null, 1).unwrap())
}

/// Build a sender that has sent its first packets at 0.1 s, into a window of `window` bytes.
fn opened(config: SenderConfig, window: u32) -> (Sender, Vec<Segment>) {
    let (mut sender, mut out) = (sender(config), Vec::new());
    sender.open(Time::ZERO, &mut out);
    out.clear();
    sender.on_segment(seconds(0.1), &Segment::SynAck { echo: 0, stamp: 0, window }, &mut out);
    (sender, out)
}

fn ack(ack: u32, blocks: &[(u32, u32)], dsack: bool) -> Segment {
    let sacks = SackBlocks::from_ranges(blocks.iter().copied());
    let (echo, window, one_way_us, ce_count, ece) = (100, 1 << 20, 0, 0, false);
    Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, dsack, sacks }
}

fn data(seq: u32, len: u16, fin: bool) -> Segment {
    let (push, again, cwr, stamp, sent_us, riding) = (false, false, false, 7, 7_000, None);
    Segment::Data { seq, len, push, again, cwr, fin, stamp, sent_us, riding }
}

/// Numbers of the data packets in `out`, which is emptied.
fn numbers(out: &mut Vec<Segment>) -> Vec<u32> {
    let number = |segment: Segment| if let Segment::Data { seq, .. } = segment { Some(seq) } else { None };
    out.drain(..).filter_map(number).collect()
}

/// Times in seconds at which the next `count` timers of `sender` fire.
fn timeouts(sender: &mut Sender, count: usize) -> Vec<u64> {
    let mut out = Vec::new();
    let next = |_| {
        let at = sender.next_timer();
        sender.on_timer(at, &mut out);
        at.as_millis() / 1_000
    };
    (0..count).map(next).collect()
}

#[test]
fn a_lost_syn_is_repeated_every_second_before_its_timeout_doubles() {
    let mut sender = sender(config());
    sender.open(Time::ZERO, &mut Vec::new());
    assert_eq!(timeouts(&mut sender, 8), [1, 2, 3, 4, 5, 7, 11, 19]);
}

#[test]
fn the_timeout_of_a_lost_syn_ack_doubles_at_once() {
    let mut sender = sender(config());
    sender.accept(Time::ZERO, 0, 65_535, &mut Vec::new());
    assert_eq!(timeouts(&mut sender, 4), [1, 3, 7, 15]);
}

/// Packets sent when the SYN-ACK arrives after `lost` SYNs have timed out. It echoes the timestamp `echo`.
fn first_flight(lost: u32, timestamps: bool, echo: u32) -> usize {
    let (mut sender, mut out) = (sender(SenderConfig { timestamps, ..config() }), Vec::new());
    sender.open(seconds(0.5), &mut out);
    for _ in 0..lost {
        let at = sender.next_timer();
        sender.on_timer(at, &mut out);
    }
    out.clear();
    sender.on_segment(seconds(9.0), &Segment::SynAck { echo, stamp: 0, window: 65_535 }, &mut out);
    numbers(&mut out).len()
}

#[test]
fn after_two_lost_syns_the_window_begins_with_one_packet() {
    assert_eq!([0, 1, 2, 3].map(|lost| first_flight(lost, true, 2_500)), [10, 10, 1, 1]);
}

#[test]
fn the_window_begins_in_full_if_the_first_syn_is_answered_late() {
    assert_eq!([true, false].map(|timestamps| first_flight(2, timestamps, 500)), [10, 1]);
}

#[test]
fn a_handshake_without_an_rtt_has_a_timeout_of_three_seconds() {
    let rto = |timestamps| {
        let (mut sender, mut out) = (sender(SenderConfig { timestamps, ..config() }), Vec::new());
        sender.open(Time::ZERO, &mut out);
        sender.on_timer(sender.next_timer(), &mut out);
        sender.on_segment(seconds(1.1), &Segment::SynAck { echo: 1_000, stamp: 0, window: 65_535 }, &mut out);
        sender.rto()
    };
    assert_eq!([true, false].map(rto), [300, 3_000].map(Duration::from_millis));
}

#[test]
fn an_ack_that_delivers_nothing_new_does_not_end_the_wait_for_reordered_packets() {
    let (mut sender, mut out) = opened(config(), 1 << 20);
    sender.on_segment(seconds(0.2), &ack(0, &[(1, 2)], false), &mut out);
    out.clear();
    let timer = sender.next_timer();
    assert_eq!(timer.as_millis(), 227, "RTT, a quarter of it, and 2 ms after the packet was sent");
    sender.on_segment(seconds(0.226), &ack(0, &[(1, 2)], false), &mut out);
    assert_eq!(
        numbers(&mut out),
        [] as [u32; 0],
        "the window of reordering is over, but RACK did not advance"
    );
    sender.on_timer(timer, &mut out);
    assert_eq!(numbers(&mut out)[..1], [0]);
}

#[test]
fn an_overtaken_ack_with_a_new_block_lets_new_data_go() {
    let (mut sender, mut out) = opened(SenderConfig { max_burst_bytes: 0, ..config() }, 1 << 20);
    sender.on_segment(seconds(0.2), &ack(4, &[], false), &mut out);
    let next = numbers(&mut out).last().unwrap() + 1;
    sender.on_segment(seconds(0.201), &ack(3, &[(5, 6)], false), &mut out);
    assert_eq!(numbers(&mut out), [next]);
}

#[test]
fn the_window_does_not_grow_once_nothing_is_left_to_send() {
    // Ten packets fill the window and are the whole data, so that the ACK of the fifth finds nothing to send.
    let (mut sender, mut out) = opened(SenderConfig { data: Some(14_480), ..config() }, 1 << 20);
    assert_eq!(numbers(&mut out).len(), 10);
    sender.on_segment(seconds(0.2), &ack(5, &[], false), &mut out);
    let grown = sender.snapshot().cwnd;
    sender.offer(seconds(0.25), Some(14_480), &mut out);
    assert_eq!(sender.limited(seconds(0.3)).cwnd, Duration::from_millis(0));
    assert_eq!((grown, numbers(&mut out).len()), (15, 0));
}

#[test]
fn probes_of_a_closed_window_leave_the_congestion_window_as_it_is() {
    let (mut sender, mut out) = opened(SenderConfig { tail_loss_probe: false, ..config() }, 14_480);
    let closed = |ack| {
        let (echo, window, one_way_us, ce_count, ece, dsack) = (100, 0, 0, 0, false, false);
        Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, dsack, sacks: SackBlocks::default() }
    };
    sender.on_segment(seconds(0.2), &closed(10), &mut out);
    let before = sender.snapshot().cwnd;
    for _ in 0..4 {
        let at = sender.next_timer();
        sender.on_timer(at, &mut out);
        sender.on_segment(at + Duration::from_millis(100), &closed(10), &mut out);
        assert_eq!(sender.snapshot().cwnd, before);
    }
    out.clear();
    let open = sender.next_timer();
    sender.on_segment(open, &ack(10, &[], false), &mut out);
    assert_eq!((sender.snapshot().cwnd, numbers(&mut out).len()), (10, 10), "the idle time counts once");
}

#[test]
fn the_duplicates_of_a_merged_packet_are_reported_as_one_range() {
    let gro = Some(Duration::from_micros(20));
    let mut receiver =
        Receiver::new(ReceiverConfig { gro, ack: AckPolicy::Linux, ..ReceiverConfig::default() });
    let mut out = Vec::new();
    for time in [0.1, 0.2] {
        out.clear();
        for seq in 0..3 {
            receiver.on_segment(seconds(time), &data(seq, 1448, false), false, &mut out);
        }
        receiver.on_timer(receiver.next_timer(), &mut out);
    }
    let [Segment::Ack { dsack: true, sacks, .. }] = out[..] else { panic!("{out:?}") };
    assert_eq!(sacks.iter().collect::<Vec<_>>(), [(0, 3)]);
}

#[test]
fn a_receiver_may_take_its_window_back_with_an_ack_that_advances() {
    let (mut sender, mut out) = opened(config(), 1 << 20);
    out.clear();
    let Segment::Ack { ack: advanced, echo, one_way_us, ce_count, ece, dsack, sacks, .. } =
        ack(5, &[], false)
    else {
        unreachable!()
    };
    let window = 6 * 1448;
    let shrunk = Segment::Ack { ack: advanced, echo, window, one_way_us, ce_count, ece, dsack, sacks };
    sender.on_segment(seconds(0.2), &shrunk, &mut out);
    assert_eq!(numbers(&mut out), [10], "packets 5 to 10 fill the window");
}

#[test]
fn a_fin_before_any_data_is_acknowledged_at_once() {
    let (mut sender, mut receiver) = (
        sender(config()),
        Receiver::new(ReceiverConfig { tick: None, ..ReceiverConfig::default() }).interactive(),
    );
    let mut out = Vec::new();
    let mut end = Endpoint { sender: &mut sender, receiver: &mut receiver };
    end.on_segment(Time::ZERO, &Segment::Syn { stamp: 0 }, false, &mut out);
    end.on_segment(
        seconds(0.1),
        &Segment::HandshakeAck { stamp: 0, echo: 0, window: 65_535 },
        false,
        &mut out,
    );
    out.clear();
    end.sender.offer(seconds(0.1), Some(0), &mut out);
    end.on_segment(seconds(0.2), &data(0, 0, true), false, &mut out);
    assert_eq!(end.receiver.next_timer(), seconds(0.2));
}

/// Packets sent after five seconds without data, at a window of 20 packets.
fn sent_after_idle(slow_start_after_idle: bool) -> usize {
    let (mut sender, mut out) =
        opened(SenderConfig { data: Some(14_480), slow_start_after_idle, ..config() }, 1 << 20);
    assert_eq!(numbers(&mut out).len(), 10);
    sender.on_segment(seconds(0.2), &ack(10, &[], false), &mut out);
    sender.offer(seconds(5.0), Some(144_800), &mut out);
    numbers(&mut out).len()
}

#[test]
fn an_idle_window_shrinks_only_with_slow_start_after_idle() {
    assert_eq!([true, false].map(sent_after_idle), [10, 20]);
}

#[test]
fn a_tail_loss_probe_repeats_the_last_packet_while_the_application_waits_for_the_send_buffer() {
    let [first, most, per_packet] = [42_000, 42_000, 832].map(Bytes::new);
    let send_buffer = SendBuffer::Memory(SendMemory { first, most, per_packet });
    let settings = SenderConfig { mss: 1_000, data: Some(61_000), send_buffer, ..config() };
    let (mut sender, mut out) = opened(settings, 50_000);
    sender.on_segment(seconds(0.2), &ack(10, &[], false), &mut out);
    sender.on_segment(seconds(0.3), &ack(30, &[], false), &mut out);
    assert_eq!(numbers(&mut out).last(), Some(&59), "one packet is not written yet");
    let at = sender.next_timer();
    sender.on_timer(at, &mut out);
    assert!(matches!(out[..], [Segment::Data { seq: 59, len: 1_000, again: true, .. }]), "{out:?}");
}

/// Acknowledgement and SACK blocks after packets that GRO has merged, of which packet 0 and those in `before` have come
/// before.
fn after_merged(before: &[u32], merged: &[Segment]) -> (u32, Vec<(u32, u32)>) {
    let config = ReceiverConfig { gro: Some(Duration::from_micros(10)), ..ReceiverConfig::default() };
    let (mut receiver, mut out) = (Receiver::new(config).interactive(), Vec::new());
    let mut batch = |at: f64, segments: &[Segment]| {
        out.clear();
        for segment in segments {
            receiver.on_segment(seconds(at), segment, false, &mut out);
        }
        receiver.on_timer(receiver.next_timer(), &mut out);
        receiver.acknowledge(&mut out);
        match out.last() {
            Some(Segment::Ack { ack, sacks, .. }) => (*ack, sacks.iter().collect()),
            other => panic!("{other:?}"),
        }
    };
    for (n, &seq) in [0].iter().chain(before).enumerate() {
        batch(0.1 * (n + 1) as f64, &[data(seq, 1448, false)]);
    }
    batch(2.0, merged)
}

#[test]
fn of_several_ranges_of_duplicates_in_a_merged_packet_the_first_is_reported() {
    let merged: Vec<Segment> = (1..=6).map(|seq| data(seq, 1448, false)).collect();
    assert_eq!(after_merged(&[2, 3, 5, 8], &merged), (7, vec![(2, 4), (8, 9)]));
}

#[test]
fn a_fin_in_order_ends_the_report_of_a_duplicate() {
    let repeated = data(0, 1448, false);
    assert_eq!(after_merged(&[], &[repeated]), (1, vec![(0, 1)]));
    assert_eq!(after_merged(&[], &[repeated, data(1, 0, true)]), (2, vec![]));
}

/// Marks that a sender with AccECN counts in an ACK that delivers nothing, after the timestamps `stamps`.
fn marks_without_progress(timestamps: bool, stamps: &[u32]) -> u64 {
    let (mut sender, mut out) =
        opened(SenderConfig { timestamps, ecn: Feedback::Accurate, ..config() }, 1 << 20);
    stamps.iter().for_each(|&stamp| sender.note_timestamp(stamp));
    let (echo, window, sacks) = (100, 1 << 20, SackBlocks::default());
    let reports =
        Segment::Ack { ack: 0, echo, window, one_way_us: 0, ce_count: 3, ece: false, dsack: false, sacks };
    sender.on_segment(seconds(0.2), &reports, &mut out);
    sender.stats().marked_packets
}

#[test]
fn marks_without_progress_count_only_if_the_timestamp_is_later() {
    assert_eq!(marks_without_progress(true, &[]), 3);
    assert_eq!(marks_without_progress(true, &[7, 8]), 3);
    assert_eq!(marks_without_progress(true, &[7, 7]), 0);
    assert_eq!(marks_without_progress(false, &[]), 0);
}

#[test]
fn marks_on_acks_without_data_are_reported_with_accecn_only() {
    let reported = |ecn| {
        let mut sender = sender(SenderConfig { data: Some(0), ecn, ..config() });
        let mut receiver = Receiver::new(ReceiverConfig { ecn, ..ReceiverConfig::default() }).interactive();
        let mut endpoint = Endpoint { sender: &mut sender, receiver: &mut receiver };
        let mut out = Vec::new();
        endpoint.on_segment(seconds(0.0), &Segment::Syn { stamp: 0 }, false, &mut out);
        let opens = Segment::HandshakeAck { stamp: 0, echo: 0, window: 1 << 20 };
        endpoint.on_segment(seconds(0.1), &opens, true, &mut out);
        endpoint.on_segment(seconds(0.2), &ack(0, &[], false), true, &mut out);
        out.clear();
        endpoint.write(seconds(0.3), Some(1_000), &mut out);
        out[0].acknowledgement().map(|riding| riding.ce_count)
    };
    assert_eq!([Feedback::Accurate, Feedback::Classic].map(reported), [Some(2), Some(0)]);
}

#[test]
fn a_tail_loss_probe_sends_the_fin_that_waits() {
    let (mut sender, mut out) = opened(SenderConfig { data: Some(14_480), ..config() }, 1 << 20);
    assert_eq!(numbers(&mut out).len(), 10);
    sender.close(seconds(0.11), &mut out);
    assert_eq!(out, [], "the congestion window is full");
    let at = sender.next_timer();
    sender.on_timer(at, &mut out);
    assert!(matches!(out[..], [Segment::Data { seq: 10, len: 0, fin: true, .. }]), "{out:?}");
}

/// Lengths of the data packets in `out`, which is emptied.
fn lengths(out: &mut Vec<Segment>) -> Vec<u16> {
    let len = |segment: Segment| if let Segment::Data { len, .. } = segment { Some(len) } else { None };
    out.drain(..).filter_map(len).collect()
}

/// An ACK that advertises a window of `window` bytes.
fn window(ack: u32, window: u32) -> Segment {
    let (echo, one_way_us, ce_count, ece, dsack) = (100, 0, 0, false, false);
    Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, dsack, sacks: SackBlocks::default() }
}

#[test]
fn a_short_packet_waits_until_the_last_short_packet_is_acknowledged() {
    let (mut sender, mut out) = opened(SenderConfig { data: Some(100), ..config() }, 1 << 20);
    assert_eq!(lengths(&mut out), [100]);
    sender.offer(seconds(0.11), Some(1_700), &mut out);
    assert_eq!(lengths(&mut out), [1_448], "the last 152 bytes wait");
    sender.on_segment(seconds(0.2), &window(1, 1 << 20), &mut out);
    assert_eq!(lengths(&mut out), [152], "the packet of 1,448 bytes is not short");
}

#[test]
fn a_fin_does_not_let_its_packet_wait() {
    let (mut sender, mut out) = opened(SenderConfig { data: Some(100), ..config() }, 1 << 20);
    out.clear();
    sender.offer(seconds(0.11), Some(200), &mut out);
    assert_eq!(lengths(&mut out), [] as [u16; 0]);
    sender.close(seconds(0.12), &mut out);
    assert_eq!(lengths(&mut out), [100]);
}

#[test]
fn the_last_packet_is_cut_at_the_end_of_the_receivers_window() {
    let (mut sender, mut out) = opened(SenderConfig { min_burst: 3, ..config() }, 2 * 1_448 + 500);
    assert_eq!(lengths(&mut out), [1_448, 1_448, 500]);
    sender.on_segment(seconds(0.2), &window(3, 700), &mut out);
    assert_eq!(lengths(&mut out), [] as [u16; 0], "the first packet of a burst must fit as a whole");
    sender.on_timer(sender.next_timer(), &mut out);
    assert_eq!(lengths(&mut out), [700], "the probe of the window is a part of a packet");
}

#[test]
fn a_burst_waits_for_a_larger_room_in_the_receivers_window() {
    let (mut sender, mut out) = opened(config(), 10 * 1_448);
    out.clear();
    sender.on_segment(seconds(0.2), &window(4, 8 * 1_448), &mut out);
    assert_eq!(numbers(&mut out), [10, 11]);
    sender.on_segment(seconds(0.2003), &window(5, 8 * 1_448), &mut out);
    assert_eq!(numbers(&mut out), [] as [u32; 0], "room for one packet is less than a third of the window");
    sender.on_segment(seconds(0.2006), &window(7, 8 * 1_448), &mut out);
    assert_eq!(numbers(&mut out), [12, 13]);
}

#[test]
fn an_ack_of_a_closed_window_postpones_the_next_probe() {
    let (mut sender, mut out) = opened(config(), 14_480);
    sender.on_segment(seconds(0.2), &window(10, 0), &mut out);
    let probe = sender.next_timer();
    sender.on_segment(seconds(0.3), &window(10, 0), &mut out);
    assert_eq!(sender.next_timer().since(probe).as_micros(), 100_000);
}

#[test]
fn a_retransmission_from_before_an_undo_holds_back_another() {
    let (mut sender, mut out) = opened(SenderConfig { tail_loss_probe: false, ..config() }, 1 << 20);
    out.clear();
    let timeout = sender.next_timer();
    sender.on_timer(timeout, &mut out);
    assert_eq!(numbers(&mut out), [0]);
    // The timeout was spurious, because packet 2 arrives from its first transmission. Packet 1 is lost.
    sender.on_segment(timeout + Duration::from_millis(50), &ack(0, &[(2, 3)], false), &mut out);
    sender.on_timer(sender.next_timer(), &mut out);
    let counters = sender.counters();
    assert_eq!((counters.lost, counters.retrans), (1, 1));
    assert!(!numbers(&mut out).contains(&1));
}

#[test]
fn a_retransmission_from_before_an_undo_counts_twice_after_a_timeout() {
    let (mut sender, mut out) = opened(SenderConfig { tail_loss_probe: false, ..config() }, 1 << 20);
    let timeout = sender.next_timer();
    sender.on_timer(timeout, &mut out);
    sender.on_segment(timeout + Duration::from_millis(50), &ack(0, &[(2, 3)], false), &mut out);
    sender.on_timer(sender.next_timer(), &mut out);
    let timeout = sender.next_timer();
    sender.on_timer(timeout, &mut out);
    assert_eq!(sender.counters().retrans, 2, "both are retransmissions of packet 0");
    let all = 1 + numbers(&mut out).into_iter().max().unwrap();
    sender.on_segment(timeout + Duration::from_millis(50), &ack(all, &[], false), &mut out);
    assert_eq!(sender.counters().retrans, 0);
}

#[test]
fn the_timer_of_a_tail_loss_probe_lets_no_other_packet_go() {
    let (mut sender, mut out) = opened(SenderConfig { min_burst: 8, ..config() }, 1 << 20);
    out.clear();
    sender.on_timer(sender.next_timer(), &mut out);
    assert_eq!(numbers(&mut out), [10], "the probe");
    sender.on_segment(seconds(0.5), &ack(2, &[], false), &mut out);
    out.clear();
    sender.on_segment(seconds(0.5003), &ack(3, &[], false), &mut out);
    assert_eq!(numbers(&mut out), [] as [u32; 0], "two packets wait for the next ACK");
    assert!(sender.counters().unacked < sender.counters().cwnd);
    sender.on_timer(sender.next_timer(), &mut out);
    assert_eq!(numbers(&mut out), [] as [u32; 0], "a probe is out already");
}

#[test]
fn a_tail_loss_probe_is_a_burst_as_large_as_the_window_allows() {
    let (mut sender, mut out) = opened(SenderConfig { min_burst: 8, ..config() }, 1 << 20);
    sender.on_segment(seconds(0.2), &ack(2, &[], false), &mut out);
    out.clear();
    sender.on_segment(seconds(0.2003), &ack(3, &[], false), &mut out);
    assert_eq!(numbers(&mut out), [] as [u32; 0], "two packets wait for the next ACK");
    sender.on_timer(sender.next_timer(), &mut out);
    assert_eq!(numbers(&mut out), [14, 15]);
}

#[test]
fn after_a_timeout_that_may_be_spurious_lost_packets_wait_for_an_ack_if_no_new_data_is_left() {
    for (packets, waits) in [(11, true), (12, false)] {
        let (pacing, data) = (Pacing::Always, Some(packets * 1_448));
        let settings = SenderConfig { pacing, data, timestamps: false, tail_loss_probe: false, ..config() };
        let (mut sender, mut out) = opened(settings, 1 << 20);
        while sender.next_timer() < seconds(0.3) {
            sender.on_timer(sender.next_timer(), &mut out);
        }
        out.clear();
        let timeout = sender.next_timer();
        sender.on_timer(timeout, &mut out);
        assert_eq!(numbers(&mut out), [0]);
        let progress = timeout + Duration::from_millis(100);
        sender.on_segment(progress, &ack(1, &[], false), &mut out);
        assert_eq!(numbers(&mut out), [10], "new data shows whether the timeout was spurious");
        let next = sender.next_timer();
        assert_eq!(next.since(progress) > Duration::from_millis(200), waits, "with {packets} packets");
    }
}
