//! Recordings of a kernel, compared with scripts.

use crate::ACCEPTED;
use packetdrill::{Outcome, Verdict, judge, plan};

/// The recording of a kernel that has accepted a connection.
const RECORDED: &str = "\
event 0 0
forget
returned 0 0 5 0
event 1 0
returned 1 0 0 0
event 2 0
returned 2 0 0 0
event 3 0
packet 502 12 0 0 1 0 65535 -020405b401010402
event 4 0
event 5 100000000
event 6 100000000
returned 6 100000501 6 0
";

fn judged(then: &str, recorded: &str) -> Outcome {
    judge(&format!("{ACCEPTED}{then}"), &format!("{RECORDED}{recorded}"))
}

fn seen(outcome: &Outcome) -> &str {
    assert_eq!(outcome.verdict, Verdict::Failed, "{outcome:?}");
    &outcome.difference.as_ref().unwrap().seen
}

const WRITTEN: &str = "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n";
const SENT: &str = "event 7 100000000\nreturned 7 100000501 1000 0\npacket 100000503 18 0 1 1 1000 1050 -\n";

#[test]
fn a_handshake_says_nothing_of_a_kernel() {
    assert_eq!(judged("", "").verdict, Verdict::SaysNothing);
}

#[test]
fn a_burst_may_come_as_several_packets() {
    let script = WRITTEN.replace("1000) = 1000", "2000) = 2000").replace("1:1001(1000)", "1:2001(2000)");
    let recorded = "event 7 100000000\nreturned 7 100000501 2000 0\npacket 100000503 10 0 1 1 1000 1050 -\n\
                    packet 100000504 18 0 1001 1 1000 1050 -\nevent 8 100000000\n";
    let outcome = judged(&script, recorded);
    assert_eq!((outcome.verdict, outcome.packets), (Verdict::Passed, 1), "{outcome:?}");
}

#[test]
fn all_flags_and_options_are_compared() {
    let changed = |from: &str, to: &str| judged(WRITTEN, &format!("{SENT}event 8 0\n").replace(from, to));
    assert_eq!(changed("", "").verdict, Verdict::Passed);
    assert_eq!(seen(&changed("3 18 0", "3 10 0")), ". 1:1001(1000) ack 1 win 1050");
    assert_eq!(seen(&changed("1050 -", "1050 -0101")), "P. 1:1001(1000) ack 1 win 1050 <nop,nop>");
    assert_eq!(seen(&changed("1 1 1000", "1 2 1000")), "P. 1:1001(1000) ack 2 win 1050");
    assert!(seen(&changed("packet 100000503", "packet 107000503")).contains("0.107"));
}

#[test]
fn results_of_calls_are_compared() {
    let outcome = judged(WRITTEN, "event 7 100000000\nreturned 7 100000501 -1 11\n");
    assert_eq!(seen(&outcome), "write = -1 EAGAIN");
    assert_eq!(outcome.difference.unwrap().expected, "write = 1000");
}

#[test]
fn assertions_read_tcp_info() {
    let mut info = "00".repeat(232);
    info.replace_range(160..162, "0a");
    let assert = |value| {
        judged(
            &format!("+0 %{{ assert tcpi_snd_cwnd == {value} }}%\n"),
            &format!("event 7 100000000\ninfo {info}\n"),
        )
    };
    assert_eq!(assert(10).verdict, Verdict::Passed);
    assert_eq!(seen(&assert(11)), "tcpi_snd_cwnd = 10");
    let unknown = judged("+0 %{ assert cwnd == 9 }%\n", &format!("event 7 100000000\ninfo {info}\n"));
    assert_eq!((unknown.verdict, unknown.reason.as_deref()), (Verdict::NotApplicable, Some("the name cwnd")));
}

#[test]
fn packets_of_an_earlier_connection_are_left_out() {
    let script = "+0 close(4) = 0\n+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 5\n+0 > S 0:0(0) <...>\n";
    let recorded = "event 7 100000000\npacket 100000503 11 0 1 1 0 1050 -\nreturned 7 100000504 0 0\n\
                    event 8 100000000\nforget\nreturned 8 100000505 7 0\n\
                    packet 100000506 2 0 0 0 0 65535 -\nevent 9 100000000\n";
    assert_eq!(judged(script, recorded).verdict, Verdict::Passed);
}

#[test]
fn a_script_that_a_kernel_could_not_play_does_not_apply() {
    let outcome = judged(WRITTEN, "event 7 100000000\nproblem the setting x of the kernel\n");
    assert_eq!(outcome.reason.as_deref(), Some("the setting x of the kernel"));
    assert_eq!(judged(WRITTEN, "").reason.as_deref(), Some("the end of its recording"));
    assert!(judge("", "nonsense").reason.unwrap().contains("nonsense"));
}

#[test]
fn plans_say_what_the_guest_lacks() {
    let outcome = plan("--ip_version=ipv6\n", "").unwrap_err();
    assert_eq!((outcome.verdict, outcome.reason.as_deref()), (Verdict::NotApplicable, Some("IPv6")));
    assert_eq!(plan("+0 frobnicate\n", "").unwrap_err().verdict, Verdict::Malformed);
    assert!(plan(ACCEPTED, "").unwrap().ends_with("end\n"));
}
