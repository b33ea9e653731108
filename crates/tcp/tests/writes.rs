//! Applications that write now and then.

mod pipe;

use pipe::{Pipe, config};
use tcp::{AckPolicy, SenderConfig};
use units::Duration;

const PACKET: u64 = 1448;

/// A flow over 20 Mbit/s and 40 ms that has just sent what the application has written at first.
fn after_a_burst(cca: &str, packets: u64) -> Pipe {
    let config = SenderConfig { data: Some(packets * PACKET), ..config() };
    let mut pipe = Pipe::new(cca, config, AckPolicy::Linux, 20, 40, 1_000);
    while !pipe.sender.is_done() {
        pipe.run_until(pipe.now + Duration::from_millis(1));
    }
    pipe
}

/// Linux `tcp_cong_avoid`: every ACK that may raise the window renews `snd_cwnd_stamp`, so that `tcp_cwnd_validate` finds
/// no window unused for a timeout while ACKs arrive.
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
