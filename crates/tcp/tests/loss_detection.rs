//! Loss detection by RACK or by duplicate ACKs, the minimum retransmission timeout, and tail loss probes.

use crate::pipe::{Fate, Pipe, config, seconds};
use tcp::{AckPolicy, LossDetection, SenderConfig};
use units::{Duration, Time};

const LOST: u32 = 200;
const RTT_MS: u64 = 40;

fn detecting(loss_detection: LossDetection) -> SenderConfig {
    SenderConfig { loss_detection, ..config() }
}

/// Return the times at which packet `LOST` was sent. The first `copies` transmissions are dropped; with `late`, the
/// first transmission is delayed instead.
fn times(config: SenderConfig, packets: u64, copies: u32, late: Option<Duration>) -> (Vec<Time>, Pipe) {
    let config = SenderConfig { data: Some(packets * 1448), max_burst_bytes: 0, ..config };
    let ack = AckPolicy::Every { packets: 1, timeout: Duration::from_millis(40) };
    let mut seen = 0;
    let mut pipe = Pipe::new("reno", config, ack, 200, RTT_MS, 10_000).with_fate(move |_, seq| {
        seen += u32::from(seq == LOST);
        match late {
            _ if seq != LOST => Fate::Pass,
            Some(delay) if seen == 1 => Fate::Delay(delay),
            _ if seen <= copies => Fate::Drop,
            _ => Fate::Pass,
        }
    });
    pipe.run_until(seconds(8.0));
    let sent = pipe.sent.iter().filter(|(_, seq)| *seq == LOST).map(|(at, _)| *at).collect();
    (sent, pipe)
}

fn waits_ms(sent: &[Time]) -> Vec<u64> {
    sent.windows(2).map(|pair| pair[1].since(pair[0]).as_micros() / 1_000).collect()
}

#[test]
fn three_duplicates_tell_of_a_loss_within_a_round_trip() {
    let (sent, pipe) = times(detecting(LossDetection::DupAck), 400, 1, None);
    assert!(waits_ms(&sent)[0] < 3 * RTT_MS && pipe.sender.stats().timeouts == 0, "{:?}", waits_ms(&sent));
}

#[test]
fn only_rack_notices_that_a_retransmission_is_lost() {
    let again = |detection| {
        let (sent, pipe) = times(detecting(detection), 2_000, 2, None);
        (waits_ms(&sent)[1] < 200, pipe.sender.stats().timeouts)
    };
    assert_eq!(again(LossDetection::Rack), (true, 0));
    assert_eq!(again(LossDetection::DupAck), (false, 1));
}

#[test]
fn a_packet_that_comes_late_is_sent_again_after_three_duplicates() {
    let (sent, _) = times(detecting(LossDetection::DupAck), 2_000, 0, Some(Duration::from_millis(5)));
    assert_eq!(sent.len(), 2);
}

#[test]
fn what_duplicates_have_found_lost_is_found_once() {
    let (sent, pipe) = times(detecting(LossDetection::DupAck), 400, 1, None);
    assert_eq!((sent.len(), pipe.sender.stats().lost_packets), (2, 1));
}

/// Return the time of the last transmission in milliseconds and the number of timeouts. The first transmissions
/// of the last three packets are lost.
fn lost_tail(config: SenderConfig) -> (u64, u64) {
    let last = LOST + 3;
    let config = SenderConfig { data: Some(u64::from(last) * 1448), max_burst_bytes: 0, ..config };
    let ack = AckPolicy::Every { packets: 1, timeout: Duration::from_millis(40) };
    let mut seen = [false; 3];
    let mut pipe = Pipe::new("reno", config, ack, 200, RTT_MS, 10_000).with_fate(move |_, seq| {
        let first = seq >= LOST && !std::mem::replace(&mut seen[(seq - LOST) as usize], true);
        if first { Fate::Drop } else { Fate::Pass }
    });
    pipe.run_until(seconds(8.0));
    let last = pipe.sent.last().map_or(0, |(at, _)| at.as_millis());
    (last, pipe.sender.stats().timeouts)
}

#[test]
fn a_lost_tail_is_probed_unless_probes_are_off() {
    let without = SenderConfig { tail_loss_probe: false, ..config() };
    assert_eq!((lost_tail(config()).1, lost_tail(without).1), (0, 1));
}

#[test]
fn the_timeout_is_as_long_as_it_is_told_at_least() {
    let with = |min_rto| SenderConfig { tail_loss_probe: false, min_rto, ..config() };
    let (short, long) = (Duration::from_millis(200), Duration::from_secs(1));
    assert_eq!(lost_tail(with(long)).0 - lost_tail(with(short)).0, 800);
}

#[test]
fn a_reduction_that_was_spurious_is_taken_back_unless_that_is_off() {
    let window = |undo| {
        let config = SenderConfig { undo, ..detecting(LossDetection::DupAck) };
        let (_, pipe) = times(config, 2_000, 0, Some(Duration::from_millis(5)));
        pipe.sender.snapshot().cwnd
    };
    assert!(window(true) > window(false), "{} {}", window(true), window(false));
}
