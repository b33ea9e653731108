//! Verdicts on scripts that pass, fail, say nothing, do not apply, or are malformed.

use crate::play;
use packetdrill::{Outcome, Verdict};

fn reason(outcome: &Outcome) -> &str {
    assert_eq!(outcome.verdict, Verdict::NotApplicable, "{outcome:?}");
    outcome.reason.as_deref().unwrap()
}

#[test]
fn a_script_passes_if_all_packets_and_assertions_are_as_expected() {
    let outcome = play(
        "+0 write(4, ..., 3000) = 3000
         +0 > P. 1:3001(3000) ack 1
         +.1 < . 1:1(0) ack 1001 win 257 <sack 2001:3001,nop,nop>
         +0 %{ assert tcpi_sacked == 1 and tcpi_ca_state == TCP_CA_Disorder, tcpi_sacked }%
         +0 < P. 1:11(10) ack 1001 win 257
         +0 > . 3001:3001(0) ack 11",
    );
    assert_eq!(outcome.verdict, Verdict::Passed, "{outcome:?}");
    assert_eq!((outcome.packets, outcome.assertions), (2, 1));
}

#[test]
fn the_first_difference_names_packet_and_time() {
    let outcome =
        play("+0 write(4, ..., 3000) = 3000\n+0 > P. 1:2001(2000) ack 1\n+0 > P. 2001:4001(2000) ack 1");
    assert_eq!((outcome.verdict, outcome.line, outcome.packets), (Verdict::Failed, Some(11), 1));
    let difference = outcome.difference.unwrap();
    assert_eq!((difference.packet, difference.time_s), (Some(3), 0.1));
    assert!(difference.expected.starts_with("P. 2001:4001(2000) ack 1 between 0.096000"), "{difference:?}");
    assert_eq!(
        difference.seen, ". 2001:3001(1000) ack 1, then . 2001:3001(1000) ack 1",
        "the rest is a tail loss probe"
    );
}

#[test]
fn a_false_assertion_names_the_values() {
    let outcome = play("+0 %{\ncwnd = 11\nassert tcpi_snd_cwnd == cwnd, tcpi_snd_cwnd\n}%");
    let difference = outcome.difference.unwrap();
    assert_eq!(difference.expected, "tcpi_snd_cwnd == cwnd");
    assert_eq!((difference.packet, difference.seen.as_str()), (None, "tcpi_snd_cwnd = 10, cwnd = 11"));
}

#[test]
fn packets_that_are_not_expected_fail_at_the_next_expected_packet() {
    let outcome = play("+0 write(4, ..., 10) = 10\n+0 close(4) = 0\n+0 > F. 11:11(0) ack 1");
    assert_eq!(outcome.difference.unwrap().seen, ". 1:11(10) ack 1");
}

#[test]
fn a_script_that_checks_only_the_handshake_says_nothing() {
    assert_eq!(play("").verdict, Verdict::SaysNothing);
    let outcome = play("+0 %{ assert tcpi_busy_time == 0 }%");
    assert_eq!((outcome.verdict, outcome.unread), (Verdict::SaysNothing, vec!["tcpi_busy_time".to_owned()]));
}

#[test]
fn a_script_does_not_apply_if_the_model_lacks_something() {
    for (event, lacks) in [
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", "the socket option TCP_CORK"),
        ("+0 send(4, ..., 10, MSG_MORE) = 10", "MSG_MORE"),
        ("+0 write(4, ..., 10) = -1 EPIPE (Broken pipe)", "the result -1 EPIPE (Broken pipe) of write"),
        ("+0 splice(4, NULL, 5, NULL, 10, 0) = 10", "the call splice"),
        ("+0 < R. 1:1(0) ack 1 win 257", "resets"),
        ("+0 > R. 1:1(0) ack 1", "resets"),
        ("+0 < . 1:1(0) ack 9 win 257", "an acknowledgement of byte 9, which was never sent"),
        ("+0 `sysctl -q net.ipv4.tcp_ecn=3`", "sysctls that change during a connection"),
        ("+0 %{ assert len(x) == 3 }%", "code such as \"assert len(x) == 3\""),
    ] {
        assert_eq!(reason(&play(event)), lacks, "{event}");
    }
}

#[test]
fn a_peer_without_sack_may_not_repeat_an_ack() {
    let opened = crate::ACCEPTED.replace("sackOK,", "nop,nop,");
    let then = "+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 1\n+0 < . 1:1(0) ack 1 win 257";
    assert_eq!(reason(&packetdrill::play(&format!("{opened}{then}"), "")), "connections without SACK");
}

#[test]
fn a_malformed_script_is_named_with_its_line() {
    let outcome = packetdrill::play("\n+0 frobnicate", "");
    assert_eq!((outcome.verdict, outcome.line), (Verdict::Malformed, Some(2)));
    let outcome = packetdrill::play(&format!("+0 {}", "(".repeat(3_000)), "");
    assert!(outcome.reason.unwrap().len() <= 200, "a long line is cut");
    let outcome = packetdrill::play("9000000 close(3) = 0", "");
    assert_eq!(outcome.verdict, Verdict::Malformed, "{outcome:?}");
}

#[test]
fn packets_that_no_header_can_describe_are_malformed() {
    for event in [
        "+0 < . 1:18446744073709551615(0) ack 1 win 257",
        "+0 < . 1:99999999999(99999999998) ack 1 win 257",
        "+0 < . 1:65537(65536) ack 1 win 257",
        "+0 < . 1:2147483649(2147483648) ack 1 win 257",
        "+0 > . 1:4294967297(4294967296) ack 1",
        "+0 < . 1:1(0) ack 4294967296 win 257",
    ] {
        assert_eq!(play(event).verdict, Verdict::Malformed, "{event}");
    }
    assert_eq!(play("+0 < . 1:60001(60000) ack 1 win 257").verdict, Verdict::SaysNothing);
}

#[test]
fn a_gap_of_four_billion_bytes_takes_no_memory() {
    let script = format!("--mss=1\n{}+0 < . 4294967294:4294967295(1) ack 1 win 257", crate::ACCEPTED);
    assert_eq!(reason(&packetdrill::play(&script, "")), "data beyond the window");
}

#[test]
fn expressions_that_would_exhaust_the_stack_are_malformed() {
    for code in [
        format!("assert {}1{}", "(".repeat(3_000), ")".repeat(3_000)),
        format!("assert {}1", "not ".repeat(200_000)),
        format!("assert {}1", "-".repeat(200_000)),
        format!("x = 1{}", " + 1".repeat(200_000)),
    ] {
        let outcome = play(&format!("+0 %{{ {code} }}%"));
        assert_eq!(outcome.verdict, Verdict::Malformed, "{:.20}", code);
        assert_eq!(outcome.reason.unwrap(), "an expression of more than 100 operators");
    }
    assert_eq!(play(&format!("+0 %{{ assert 1{} }}%", " + 1".repeat(100))).verdict, Verdict::Passed);
}

#[test]
fn times_add_up_to_no_more_than_the_latest_time() {
    assert_eq!(play(&"+1000 close(5) = 0\n".repeat(900)).verdict, Verdict::SaysNothing);
    let outcome = play(&"+1000000 close(5) = 0\n".repeat(3_000));
    assert_eq!((outcome.verdict, outcome.line), (Verdict::Malformed, Some(9)), "{outcome:?}");
}

#[test]
fn a_text_of_many_bytes_is_malformed() {
    let outcome = packetdrill::play(&"\n".repeat((64 << 20) + 1), "");
    assert_eq!(outcome.reason.as_deref(), Some("a text of more than 67108864 bytes"));
}

#[test]
fn options_without_a_sensible_number_are_malformed() {
    for option in [
        "mss=abc",
        "mss=0",
        "mss=1000000",
        "mtu=",
        "tcp_ts_tick_usecs=x",
        "tolerance_usecs=abc",
        "tolerance_usecs=-1",
        "tolerance_usecs=9223372036854775807",
    ] {
        let outcome = packetdrill::play(&format!("--{option}\n"), "");
        assert_eq!(outcome.verdict, Verdict::Malformed, "{option}");
        assert!(outcome.reason.unwrap().contains(option));
    }
}

#[test]
fn options_that_no_engine_has_do_not_apply() {
    for name in ["remote_ip", "local_ip", "strict_segments", "tcp_ts_ecr_scaled"] {
        let script = format!("\n--{name}=1\n{}", crate::ACCEPTED);
        let outcome = packetdrill::play(&script, "");
        assert_eq!((reason(&outcome), outcome.line), (format!("the option --{name}").as_str(), Some(2)));
        assert_eq!(*packetdrill::plan(&script, "").unwrap_err(), outcome);
    }
}

#[test]
fn a_field_that_no_kernel_has_is_malformed() {
    let outcome = play("+0 %{ assert tcpi_snd_cwnd_typo == 99 }%");
    assert_eq!((outcome.verdict, outcome.line), (Verdict::Malformed, Some(9)), "{outcome:?}");
    assert_eq!(outcome.reason.unwrap(), "no field of tcp_info: tcpi_snd_cwnd_typo");
}

#[test]
fn a_host_resets_packets_of_a_connection_that_it_has_forgotten() {
    let outcome = play(
        "+0 < F. 1:1(0) ack 1 win 257
         +0 > . 1:1(0) ack 2
         +0 close(4) = 0
         +0 > F. 1:1(0) ack 2
         +0 < . 2:2(0) ack 2 win 257
         +0 < . 2:2(0) ack 2 win 257
         +0 > R 2:2(0)",
    );
    assert_eq!(outcome.verdict, Verdict::Passed, "{outcome:?}");
}

#[test]
fn settings_of_the_script_count_and_no_others() {
    let script = |commands: &str| {
        let then =
            "+0 write(4, ..., 2000) = 2000\n+0 > P. 1:2001(2000) ack 1\n+.2 > P. 1001:2001(1000) ack 1";
        packetdrill::play(
            &format!("`{commands}`{}{then}", crate::ACCEPTED),
            "sysctl net.ipv4.tcp_early_retrans=0",
        )
    };
    let times = ["true", "./defaults.sh"].map(|commands| script(commands).verdict);
    assert_eq!(times, [Verdict::Passed, Verdict::Failed], "a probe after two RTTs, or a timeout after three");
    let unknown = script("sysctl net.ipv4.tcp_congestion_control=none");
    assert_eq!(reason(&unknown), "the algorithm none");
}

#[test]
fn short_packets_wait_unless_the_application_sets_no_delay() {
    let writes = "+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 1\n+.01 write(4, ..., 10) = 10\n+0 > P. 11:21(10) ack 1\n";
    assert_eq!(play(writes).verdict, Verdict::Failed);
    for arguments in ["4, SOL_TCP, TCP_NODELAY, [1], 4", "4,SOL_TCP,TCP_NODELAY,[1],4"] {
        let no_delay = format!("+0 setsockopt({arguments}) = 0\n{writes}");
        assert_eq!(play(&no_delay).verdict, Verdict::Passed, "{arguments}");
    }
}
