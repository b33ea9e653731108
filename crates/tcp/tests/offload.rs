//! What the hosts' network cards do to bursts.

mod pipe;

use pipe::{Pipe, config, seconds};
use tcp::{AckPolicy, Pacing, SenderConfig};
use units::Duration;

/// CUBIC for two seconds at 100 Mbit/s and 40 ms, never losing anything.
fn run(config: SenderConfig, gro: Option<Duration>) -> Pipe {
    let mut p = Pipe::new("cubic", config, AckPolicy::Linux, 100, 40, usize::MAX).with_gro(gro);
    p.run_until(seconds(2.0));
    p
}

/// Packets acknowledged by one ACK on average.
fn stretch(p: &Pipe) -> f64 {
    p.receiver.received_packets() as f64 / p.acks as f64
}

#[test]
fn packets_that_arrive_together_are_acknowledged_together() {
    let without = stretch(&run(config(), None));
    assert!(without < 2.1, "{without}"); // every second packet, and ends of bursts
    let with = stretch(&run(config(), Some(Duration::from_millis(1)))); // 8 packets a millisecond
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
        // In slow start at first: bursts at 100 Mbit/s are 8 packets, at the pace of the first rounds fewer.
        let times: Vec<_> = p.sent.iter().skip(10).take(40).map(|s| s.0).collect();
        times.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap()
    };
    assert_eq!((longest(1), longest(4)), (2, 4));
}
