//! Offloads of network cards: TSO and GRO.

use crate::pipe::spy::Spy;
use crate::pipe::{Pipe, config, seconds};
use tcp::{AckPolicy, Pacing, SenderConfig};
use units::Duration;

/// Run CUBIC for two seconds at 100 Mbit/s and 40 ms, without losses.
fn run(config: SenderConfig, gro: Option<Duration>) -> Pipe {
    let mut p = Pipe::new("cubic", config, AckPolicy::Linux, 100, 40, usize::MAX).with_gro(gro);
    p.run_until(seconds(2.0));
    p
}

/// Mean number of packets per ACK.
fn stretch(p: &Pipe) -> f64 {
    p.receiver.received_packets() as f64 / p.acks as f64
}

#[test]
fn packets_that_arrive_together_are_acknowledged_together() {
    let without = stretch(&run(config(), None));
    assert!(without < 2.1, "{without}"); // one ACK for every second packet, and for ends of bursts
    let with = stretch(&run(config(), Some(Duration::from_millis(1)))); // 8 packets arrive per millisecond
    assert!((4.0..=9.0).contains(&with), "{with}");
}

#[test]
fn receive_offload_changes_when_but_not_what_is_delivered() {
    let config = SenderConfig { data: Some(2_000 * 1448), ..config() };
    let mut p = run(config, Some(Duration::from_micros(100)));
    p.run_until(seconds(20.0));
    assert!(p.sender.is_done());
    assert_eq!((p.receiver.delivered_bytes(), p.receiver.duplicate_packets()), (2_000 * 1448, 0));
}

#[test]
fn a_host_may_ask_for_longer_bursts_than_the_algorithm() {
    let longest = |min_burst| {
        let p = run(SenderConfig { min_burst, pacing: Pacing::Always, ..config() }, None);
        // The first packets are in slow start: bursts have 8 packets at 100 Mbit/s, but fewer packets in the first
        // rounds.
        let times: Vec<_> = p.sent.iter().skip(10).take(40).map(|s| s.0).collect();
        times.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap()
    };
    assert_eq!((longest(1), longest(4)), (2, 4));
}

/// Return the lengths of bursts, in packets, of a flow with a window of 40 packets and an ACK for every packet.
fn bursts_in_steady_state(mbps: u64, rtt_ms: u64) -> Vec<usize> {
    let (spy, _) = Spy::asking(0..0);
    let each = AckPolicy::Every { packets: 1, timeout: Duration::from_millis(200) };
    let config = SenderConfig { initial_window: 40, ..config() };
    let mut p = Pipe::with_algorithm(spy, config, each, mbps, rtt_ms, usize::MAX);
    p.run_until(seconds(1.0));
    let times: Vec<_> = p.sent.iter().skip(400).map(|s| s.0).collect();
    times.chunk_by(|a, b| a == b).skip(1).map(<[_]>::len).collect() // the first burst may be incomplete
}

#[test]
fn a_single_packet_waits_for_the_next_ack_if_that_is_due_within_a_millisecond() {
    let bursts = bursts_in_steady_state(15, 30); // ACKs are 0.8 ms apart
    let pairs = bursts.iter().filter(|&&len| len == 2).count();
    // Two kinds of single packets do not wait: the last packet of a chunk of 45 packets, and the packet that the ACK of
    // this last packet allows.
    let packets: usize = bursts.iter().sum();
    assert!(2 * pairs * 10 > packets * 9 && bursts.iter().all(|&len| len <= 2), "{bursts:?}");
}

#[test]
fn a_single_packet_does_not_wait_for_an_ack_that_comes_later() {
    let bursts = bursts_in_steady_state(5, 40); // ACKs are 2.4 ms apart
    assert!(bursts.iter().all(|&len| len == 1), "{bursts:?}");
}
