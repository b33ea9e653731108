//! Tests that use the crate from outside, in one program.

mod kernels;
mod times;
mod verdicts;

/// A server that has accepted a connection with an RTT of 100 ms and an MSS of 1,000 bytes.
pub const ACCEPTED: &str = "
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <...>
  +.1 < . 1:1(0) ack 1 win 257
   +0 accept(3, ..., ...) = 4
";

/// Play the events `then` after the connection was accepted.
pub fn play(then: &str) -> packetdrill::Outcome {
    packetdrill::play(&format!("{ACCEPTED}{then}"), "")
}
