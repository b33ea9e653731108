//! ECN: marks reported to algorithms, and the number of reductions.

use crate::pipe::spy::{Seen, Spy};
use crate::pipe::{Fate, Pipe, config, seconds};
use congestion::Congestion;
use std::sync::{Arc, Mutex};
use tcp::{AckPolicy, Feedback, SenderConfig};
use units::Duration;

const EVERY_SECOND: AckPolicy = AckPolicy::Every { packets: 2, timeout: Duration::from_millis(40) };

/// Run a flow with a window of 40 packets on an idle path for a second. Packet `n` is marked if `marked(n)`.
fn run(ecn: Feedback, marked: impl Fn(u64) -> bool + 'static) -> (Pipe, Arc<Mutex<Seen>>) {
    let (spy, seen) = Spy::asking(0..0);
    let config = SenderConfig { ecn, initial_window: 40, ..config() };
    let fate = move |n, _| if marked(n) { Fate::Mark } else { Fate::Pass };
    let mut p = Pipe::with_algorithm(spy, config, EVERY_SECOND, 100, 40, usize::MAX).with_fate(fate);
    p.run_until(seconds(1.0));
    (p, seen)
}

fn marked_and_acked(seen: &Seen) -> (u32, u32) {
    seen.acks.iter().fold((0, 0), |sum, (ack, _)| (sum.0 + ack.marked, sum.1 + ack.acked))
}

#[test]
fn delayed_acks_do_not_bias_the_marked_fraction_with_dctcp_feedback() {
    let (p, seen) = run(Feedback::EveryMark, |n| n % 8 < 3);
    let (marked, acked) = marked_and_acked(&seen.lock().unwrap());
    assert_eq!(u64::from(marked), p.sender.stats().marked_packets);
    assert!((f64::from(marked) / f64::from(acked) - 3.0 / 8.0).abs() < 0.02, "{marked} of {acked}");
}

#[test]
fn accurate_feedback_counts_every_mark() {
    let (p, seen) = run(Feedback::Accurate, |n| n % 8 < 3);
    let (marked, _) = marked_and_acked(&seen.lock().unwrap());
    assert_eq!(u64::from(marked), p.sender.stats().marked_packets);
    assert!(marked > 20, "{marked}");
}

#[test]
fn what_options_take_from_the_payload_is_left_in_the_mss_that_algorithms_see() {
    let (spy, seen) = Spy::asking(0..0);
    let config = SenderConfig { mss: 1436, option_bytes: 12, ..config() };
    Pipe::with_algorithm(spy, config, EVERY_SECOND, 100, 40, usize::MAX).run_until(seconds(0.2));
    assert_eq!(seen.lock().unwrap().mss, 1448);
}

#[test]
fn classic_feedback_takes_all_for_marked_until_the_sender_has_reduced() {
    let (p, seen) = run(Feedback::Classic, |n| n == 50);
    let (marked, _) = marked_and_acked(&seen.lock().unwrap());
    assert_eq!(p.sender.stats().marked_packets, 1);
    // All packets of a round trip count as marked, because the receiver sets ECN-Echo until CWR arrives.
    assert!((20..=60).contains(&marked), "{marked}");
}

#[test]
fn one_reduction_per_window_however_many_marks() {
    for feedback in [Feedback::Classic, Feedback::EveryMark, Feedback::Accurate] {
        let (_, seen) = run(feedback, |_| true);
        let seen = seen.lock().unwrap();
        assert!(seen.congestion.len() > 10, "{feedback:?}: {}", seen.congestion.len());
        assert!(seen.congestion.iter().all(|(cause, _)| *cause == Congestion::Ecn));
        // Each episode begins after all packets were delivered that were outstanding at the start of the preceding
        // episode.
        let apart = seen.congestion.windows(2).all(|pair| pair[1].1 > pair[0].1);
        assert!(apart, "{feedback:?}: {:?}", seen.congestion);
        let least = 1_000 / seen.congestion.len();
        assert!(least >= 40, "{feedback:?}: one episode per {least} ms");
    }
}

#[test]
fn a_single_mark_is_one_reduction() {
    for feedback in [Feedback::Classic, Feedback::EveryMark, Feedback::Accurate] {
        let (p, seen) = run(feedback, |n| n == 100);
        assert_eq!(seen.lock().unwrap().congestion.len(), 1, "{feedback:?}");
        assert_eq!(p.sender.snapshot().cwnd, 20, "{feedback:?}");
    }
}

#[test]
fn without_ecn_marks_are_nothing() {
    let (_, seen) = run(Feedback::Off, |_| true);
    let seen = seen.lock().unwrap();
    assert_eq!((seen.congestion.len(), marked_and_acked(&seen).0), (0, 0));
}
