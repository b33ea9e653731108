//! Applications that write intermittently.

use crate::pipe::spy::Spy;
use crate::pipe::{Fate, Pipe, config};
use tcp::{AckPolicy, SenderConfig};
use units::{Duration, Time};

const PACKET: u64 = 1448;

/// Run a flow over 20 Mbit/s and 40 ms until its first write of `packets` is acknowledged.
fn after_a_burst(cca: &str, packets: u64) -> Pipe {
    let config = SenderConfig { data: Some(packets * PACKET), ..config() };
    let mut pipe = Pipe::new(cca, config, AckPolicy::Linux, 20, 40, 1_000);
    while !pipe.sender.is_done() {
        pipe.run_until(pipe.now + Duration::from_millis(1));
    }
    pipe
}

/// Every ACK that may raise the window renews `snd_cwnd_stamp` (Linux `tcp_cong_avoid`). While ACKs arrive,
/// `tcp_cwnd_validate` therefore never finds the window unused for an RTO.
#[test]
fn a_window_that_is_not_filled_stays_as_it_is_while_acks_arrive() {
    let mut pipe = after_a_burst("cubic", 400);
    let before = pipe.sender.snapshot().cwnd;
    for n in 401..1_400 {
        pipe.run_until(pipe.now + Duration::from_micros(2_300)); // 5 Mbit/s
        pipe.write(n * PACKET);
    }
    assert!(before > 40, "{before}");
    assert_eq!(pipe.sender.snapshot().cwnd, before);
}

/// Linux `tcp_push` sets PSH at the end of a write. The receiver acknowledges that packet as soon as the application
/// reads it (`tcp_measure_rcv_mss`: `ICSK_ACK_PUSHED`; `tcp_cleanup_rbuf`), without waiting for a second full packet.
#[test]
fn a_write_of_one_full_packet_is_acknowledged_at_once() {
    let mut pipe = after_a_burst("cubic", 1_000);
    let before = pipe.acks;
    for n in 1_001..1_101 {
        pipe.write(n * PACKET);
        pipe.run_until(pipe.now + Duration::from_micros(2_300));
    }
    pipe.run_until(pipe.now + Duration::from_millis(20));
    assert_eq!(pipe.acks - before, 100);
}

/// Retransmissions have PSH, too, because Linux `tcp_retransmit_skb` sends the buffer with its flags.
#[test]
fn the_last_packet_of_a_write_is_acknowledged_at_once_when_it_is_sent_again_too() {
    let lost = 999;
    let mut pipe = Pipe::new(
        "cubic",
        SenderConfig { data: Some(1_000 * PACKET), ..config() },
        AckPolicy::Linux,
        20,
        40,
        1_000,
    );
    let mut seen = 0;
    pipe = pipe.with_fate(move |_, seq| {
        seen += u32::from(seq == lost);
        if seq == lost && seen == 1 { Fate::Drop } else { Fate::Pass }
    });
    while !pipe.sender.is_done() {
        pipe.run_until(pipe.now + Duration::from_millis(1));
    }
    let again = pipe.sent.last().unwrap().0;
    assert!(pipe.now.since(again) < Duration::from_millis(42), "{:?}", pipe.now.since(again));
}

/// Whether each sample of the second write is app-limited, in the order of ACKs. The write has ten packets, and the
/// first packet is lost. The application pauses before and after the write.
fn limited_samples(watches_pauses: bool) -> Vec<bool> {
    let (mut spy, seen) = Spy::asking(0..0);
    spy.watches_pauses = watches_pauses;
    let config = SenderConfig { data: Some(10 * PACKET), ..config() };
    let mut pipe = Pipe::with_algorithm(spy, config, AckPolicy::Linux, 20, 40, 1_000)
        .with_fate(|count, _| if count == 10 { Fate::Drop } else { Fate::Pass });
    pipe.run_until(Time::ZERO + Duration::from_millis(500));
    let before = seen.lock().unwrap().acks.len();
    pipe.write(20 * PACKET);
    pipe.run_until(Time::ZERO + Duration::from_millis(1_500));
    assert!(pipe.sender.is_done());
    let acks = &seen.lock().unwrap().acks;
    acks[before..].iter().filter_map(|(ack, _)| ack.rate.map(|rate| rate.app_limited)).collect()
}

/// Linux `tcp_rate_check_app_limited`, which `tcp_sendmsg_locked` calls: the write after a pause detects the
/// pause.
#[test]
fn what_is_written_after_a_pause_is_application_limited_and_what_is_sent_again_is_not() {
    let limited = limited_samples(false);
    let (again, first) = limited.split_last().unwrap();
    assert!(!again && first.iter().all(|&limited| limited), "{limited:?}");
}

/// `CheckIfApplicationLimited` runs before an ACK is processed (draft-ietf-ccwg-bbr section 4.1.1.3).
#[test]
fn what_is_sent_again_after_a_pause_is_application_limited_if_the_algorithm_watches_pauses() {
    let limited = limited_samples(true);
    assert!(limited.iter().all(|&limited| limited), "{limited:?}");
}
