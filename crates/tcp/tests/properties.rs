//! Properties of the transport. The name of each test states the property.

use crate::pipe::{Fate, Pipe, config, seconds};
use congestion::CaState;
use tcp::{AckPolicy, Feedback, ReceiveBuffer, SendBuffer, SendMemory, SenderConfig};
use units::{Bytes, Duration};

const EACH: AckPolicy = AckPolicy::Every { packets: 1, timeout: Duration::from_millis(200) };
const UNBOUNDED: usize = usize::MAX;

fn finite(packets: u64) -> SenderConfig {
    SenderConfig { data: Some(packets * 1448), ..config() }
}

/// Drop the first transmission of each packet for which `lost` is true.
fn drop_once(lost: impl Fn(u32) -> bool + 'static) -> impl FnMut(u64, u32) -> Fate {
    let mut seen = 0;
    move |_, seq| {
        let first = seq >= seen;
        seen = seen.max(seq + 1);
        if first && lost(seq) { Fate::Drop } else { Fate::Pass }
    }
}

#[test]
fn one_isolated_loss_costs_one_retransmission_and_half_the_window() {
    let mut p =
        Pipe::new("reno", finite(4_000), EACH, 100, 40, UNBOUNDED).with_fate(drop_once(|seq| seq == 300));
    let mut before = 0;
    for ms in 1..20_000 {
        p.run_until(seconds(f64::from(ms) / 1e3));
        let s = p.sender.snapshot();
        if s.state == CaState::Open && p.sender.stats().retransmitted_packets == 0 {
            before = s.cwnd;
        } else if s.state == CaState::Open {
            assert!(s.cwnd.abs_diff(before / 2) <= before / 10, "{before} -> {}", s.cwnd);
            break;
        }
    }
    p.run_until(seconds(60.0));
    let stats = p.sender.stats();
    assert_eq!((stats.retransmitted_packets, stats.lost_packets, stats.timeouts), (1, 1, 0));
    assert!(p.sender.is_done());
}

#[test]
fn a_lost_tail_is_repaired_by_a_probe_not_by_a_timeout() {
    let mut p = Pipe::new("reno", finite(50), EACH, 10, 40, UNBOUNDED).with_fate(drop_once(|seq| seq == 49));
    p.run_until(seconds(10.0));
    assert!(p.sender.is_done());
    assert_eq!(p.sender.stats().timeouts, 0);
    assert_eq!(p.sender.stats().retransmitted_packets, 1);
}

#[test]
fn a_lone_lost_packet_is_probed_after_two_rtts_and_the_delayed_ack_time() {
    let mut p = Pipe::new("reno", finite(1), EACH, 100, 40, UNBOUNDED).with_fate(drop_once(|seq| seq == 0));
    p.run_until(seconds(10.0));
    let wait = p.sent[1].0.since(p.sent[0].0);
    // A probe would be due after 2 srtt + 200 ms = 280 ms, but a probe never waits longer than the timeout, srtt
    // + 200 ms.
    let expected = Duration::from_millis(40 + 200);
    assert!(wait >= expected && wait < expected + Duration::from_millis(3), "{wait}");
    assert_eq!(p.sender.stats().timeouts, 0);
}

#[test]
fn a_lost_window_is_repaired_by_a_timeout_and_slow_start() {
    let fate = drop_once(|seq| (20..80).contains(&seq));
    let mut p = Pipe::new("reno", finite(200), EACH, 10, 40, UNBOUNDED).with_fate(fate);
    p.run_until(seconds(20.0));
    assert!(p.sender.is_done());
    assert!(p.sender.stats().timeouts >= 1);
    assert_eq!(p.receiver.delivered_bytes(), 200 * 1448);
}

#[test]
fn small_reordering_is_never_taken_for_loss_once_reordering_was_seen() {
    let late = Duration::from_millis(5); // less than a quarter of the RTT
    let mut p = Pipe::new("reno", finite(20_000), EACH, 50, 40, UNBOUNDED)
        .with_fate(move |n, _| if n % 50 == 49 { Fate::Delay(late) } else { Fate::Pass });
    p.run_until(seconds(2.0));
    let learnt = p.sender.stats().retransmitted_packets;
    p.run_until(seconds(60.0));
    assert!(p.sender.is_done());
    assert_eq!(p.sender.stats().retransmitted_packets, learnt, "retransmitted after reordering was seen");
}

#[test]
fn a_spurious_timeout_is_undone() {
    // A whole window, the probe and the first retransmission are delayed by more than the timeout.
    let pause = Duration::from_millis(600);
    let config = SenderConfig { send_buffer: SendBuffer::Payload(Bytes::new(30 * 1448)), ..config() };
    let mut p = Pipe::new("reno", config, EACH, 10, 40, UNBOUNDED)
        .with_fate(move |n, _| if (200..235).contains(&n) { Fate::Delay(pause) } else { Fate::Pass });
    let mut before = 0;
    while p.sender.stats().timeouts == 0 {
        assert!(p.now < seconds(5.0), "no timeout");
        before = p.sender.snapshot().cwnd;
        p.run_until(p.now + Duration::from_millis(1));
    }
    p.run_until(p.now + Duration::from_millis(1_500));
    let after = p.sender.snapshot();
    assert!(after.cwnd >= before, "{before} -> {after:?}");
    assert_eq!(after.state, CaState::Open);
}

#[test]
fn no_delivery_rate_sample_exceeds_the_link() {
    let mut p = Pipe::new("bbr1", config(), AckPolicy::Linux, 10, 40, UNBOUNDED);
    let link = 10e6 * 1448.0 / 1514.0;
    for step in 1..1_000 {
        p.run_until(seconds(f64::from(step) * 0.01));
        if let Some(rate) = p.sender.snapshot().delivery_rate {
            // The tolerance of 6 % corresponds to one burst of two packets per round trip.
            assert!((rate.bits_per_sec() as f64) < link * 1.06, "{rate}");
        }
    }
}

#[test]
fn a_full_receive_window_shows_as_receiver_limited() {
    use tcp::{Receiver, ReceiverConfig};
    let window = 20 * 1448;
    let mut p = Pipe::new("reno", config(), EACH, 1_000, 40, UNBOUNDED);
    let buffer = ReceiveBuffer::Payload(Bytes::new(window));
    p.receiver = Receiver::new(ReceiverConfig { ack: EACH, buffer, ..ReceiverConfig::default() });
    p.run_until(seconds(10.0));
    let rate = p.receiver.delivered_bytes() as f64 * 8.0 / 10.0;
    let cap = window as f64 * 8.0 / 0.040;
    assert!((rate / cap - 1.0).abs() < 0.03, "{rate} vs {cap}");
    let limited = p.sender.limited(p.now);
    assert!(limited.receiver > Duration::from_secs(9), "{limited:?}");
}

/// Return the largest number of packets in flight of a flow that is limited only by its sender's memory of `most`
/// bytes.
fn largest_flight(most: u64) -> u32 {
    let [first, most, per_packet] = [16 << 10, most, 832].map(Bytes::new);
    let send_buffer = SendBuffer::Memory(SendMemory { first, most, per_packet });
    let mut p = Pipe::new("reno", SenderConfig { send_buffer, ..config() }, EACH, 1_000, 40, UNBOUNDED);
    let mut largest = 0;
    for step in 1..=400 {
        p.run_until(seconds(f64::from(step) / 100.0));
        largest = largest.max(p.sender.snapshot().in_flight);
    }
    largest
}

#[test]
fn the_memory_of_a_sender_grows_with_its_window_up_to_its_limit() {
    let payload = f64::from(largest_flight(4 << 20)) * 1448.0;
    let share = payload / f64::from(4 << 20);
    assert!((0.70..1.30).contains(&share), "payload in the network is {share} of 4 MiB");
}

/// Linux `tcp_sendmsg_locked` checks memory when it begins a chunk, not when it fills up a chunk. If bursts are smaller
/// than chunks, the last chunk is refilled again and again. A Reno flow with a send buffer of 256 KiB on a path with
/// 200 Mbit/s and 100 ms has up to 12 times the buffer in flight in Linux 7.2, and 10.5 times the buffer in this
/// simulator. On the path of this test the factor is 3.5.
#[test]
fn a_small_buffer_does_not_bound_what_is_filled_up() {
    let payload = f64::from(largest_flight(256 << 10)) * 1448.0;
    let share = payload / f64::from(256 << 10);
    assert!((3.0..4.0).contains(&share), "payload in the network is {share} of 256 KiB");
}

#[test]
fn a_full_send_buffer_shows_as_such_and_stops_growth() {
    let config = SenderConfig { send_buffer: SendBuffer::Payload(Bytes::new(20 * 1448)), ..config() };
    let mut p = Pipe::new("cubic", config, EACH, 1_000, 40, UNBOUNDED);
    p.run_until(seconds(10.0));
    assert!(p.sender.limited(p.now).send_buffer > Duration::from_secs(9));
    assert!(p.sender.snapshot().cwnd <= 40);
}

#[test]
fn marks_reduce_once_per_window_and_are_never_undone() {
    let config = SenderConfig { ecn: Feedback::Classic, ..config() };
    let mut p = Pipe::new("reno", config, EACH, 50, 40, UNBOUNDED)
        .with_fate(|n, _| if (1_000..1_010).contains(&n) { Fate::Mark } else { Fate::Pass });
    let (mut largest, mut smallest_after) = (0, u32::MAX);
    for ms in 1..1_500 {
        p.run_until(seconds(f64::from(ms) / 1e3));
        let cwnd = p.sender.snapshot().cwnd;
        if p.sender.stats().marked_packets == 0 {
            largest = cwnd;
        } else {
            smallest_after = smallest_after.min(cwnd);
        }
    }
    assert_eq!(p.sender.stats().marked_packets, 10);
    assert_eq!(p.sender.stats().retransmitted_packets, 0);
    assert!(smallest_after.abs_diff(largest / 2) <= largest / 8, "{largest} -> {smallest_after}");
}

#[test]
fn bbr_paces_pairs_at_the_bottleneck_rate() {
    let mut p = Pipe::new("bbr1", config(), AckPolicy::Linux, 20, 40, 200);
    p.run_until(seconds(8.0));
    let late: Vec<_> = p.sent.iter().filter(|s| s.0 > seconds(3.0)).collect();
    let span = late.last().unwrap().0.since(late[0].0).as_secs_f64();
    let rate = (late.len() - 1) as f64 * 1448.0 * 8.0 / span;
    assert!((rate / (20e6 * 1448.0 / 1514.0) - 1.0).abs() < 0.02, "{rate}");
    let pairs = late.windows(2).filter(|w| w[0].0 == w[1].0).count();
    assert!((pairs as f64 / late.len() as f64 - 0.5).abs() < 0.02);
}
