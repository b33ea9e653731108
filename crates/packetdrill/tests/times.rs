//! Times of packets, and of calls that block.

use crate::play;
use packetdrill::Verdict;

/// The verdict on a retransmission timeout that a script expects at `time`. The RTO is 300 ms.
fn timeout(time: &str) -> Verdict {
    let events = "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1";
    let script = format!(
        "`sysctl net.ipv4.tcp_early_retrans=0`{}{events}\n{time} > P. 1:1001(1000) ack 1",
        crate::ACCEPTED
    );
    packetdrill::play(&script, "").verdict
}

#[test]
fn an_eighth_of_the_time_since_the_last_event_is_tolerated() {
    assert_eq!(["+.3", "+.34", "+.28"].map(timeout), [Verdict::Passed; 3]);
    assert_eq!(["+.36", "+.25"].map(timeout), [Verdict::Failed; 2]);
}

#[test]
fn times_may_be_ranges_absolute_or_any() {
    assert_eq!(["+.25~+.35", "0.4", "0.38~0.42", "*"].map(timeout), [Verdict::Passed; 4]);
    assert_eq!(["+.1~+.2", "0.2"].map(timeout), [Verdict::Failed; 2]);
}

#[test]
fn four_milliseconds_are_tolerated_unless_the_script_says_otherwise() {
    let data = "+0 write(4, ..., 10) = 10\n+.003 > P. 1:11(10) ack 1";
    assert_eq!(play(data).verdict, Verdict::Passed);
    let late = data.replace("+.003", "+.005");
    assert_eq!(play(&late).verdict, Verdict::Failed);
    let script = format!("--tolerance_usecs=6000\n{}{late}", crate::ACCEPTED);
    assert_eq!(packetdrill::play(&script, "").verdict, Verdict::Passed);
}

#[test]
fn injected_packets_keep_their_distance() {
    let outcome = play(
        "+0 write(4, ..., 1000) = 1000
         +0 > P. 1:1001(1000) ack 1
         +.050 < P. 1:11(10) ack 1 win 257
         +.001 < P. 11:21(10) ack 1001 win 257
         +.001 %{ assert 50000 <= tcpi_rtt <= 100000 }%",
    );
    assert_eq!(outcome.verdict, Verdict::Passed, "{outcome:?}");
}

/// The verdict on a write of 61,000 bytes into a buffer of 42,000 that the script expects to return after `time`.
fn blocked(time: &str) -> Verdict {
    let script = format!(
        "`sysctl net.ipv4.tcp_min_tso_segs=10`{}+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [21000], 4) = 0
         +0...{time} write(4, ..., 61000) = 61000
         +.1 < . 1:1(0) ack 10001 win 50000
         +.1 < . 1:1(0) ack 30001 win 50000
         +.1 < . 1:1(0) ack 36001 win 50000",
        crate::ACCEPTED.replace("wscale 7", "wscale 0").replace("win 257", "win 50000")
    );
    packetdrill::play(&script, "").verdict
}

#[test]
fn a_write_returns_when_all_its_data_is_in_the_buffer() {
    assert_eq!(["0.300", "0.200", "0.400"].map(blocked), [Verdict::Passed, Verdict::Failed, Verdict::Failed]);
}

#[test]
fn packets_arrive_a_moment_after_their_time() {
    let script = "
        0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
       +0 listen(3, 1) = 0
       +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
       +0 > S. 0:0(0) ack 1 <...>
    +.001 < . 1:1(0) ack 1 win 257
       +0 accept(3, ..., ...) = 4
       +0 write(4, ..., 20000) = 20000
       +0 > P. 1:10001(10000) ack 1
    +.001 < . 1:1(0) ack 1001 win 257
       +0 > P. 10001:12001(2000) ack 1
    ";
    assert_eq!(
        packetdrill::play(script, "").verdict,
        Verdict::Passed,
        "the burst is not deferred after 1 ms"
    );
}
