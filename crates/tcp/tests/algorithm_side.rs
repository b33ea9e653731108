//! The interface between transport and algorithm: reports of the transport, and requests of the algorithm.

use crate::pipe::spy::Spy;
use crate::pipe::{Fate, Pipe, config, seconds};
use congestion::{CaState, Congestion};
use tcp::AckPolicy;
use units::{Duration, Rate};

const EACH: AckPolicy = AckPolicy::Every { packets: 1, timeout: Duration::from_millis(200) };

fn pipe(spy: Box<Spy>) -> Pipe {
    let mut config = config();
    config.initial_window = 40;
    Pipe::with_algorithm(spy, config, EACH, 100, 40, usize::MAX)
}

#[test]
fn the_one_way_delay_is_the_way_there_only() {
    let (spy, seen) = Spy::asking(0..0);
    // The ACKs of the first two rounds are delayed, which must not change the one-way delay.
    let mut p =
        pipe(spy).with_ack_fate(|n| if n < 80 { Fate::Delay(Duration::from_millis(30)) } else { Fate::Pass });
    p.run_until(seconds(1.0));
    let seen = seen.lock().unwrap();
    let delays: Vec<u64> = seen.acks.iter().map(|(ack, _)| ack.one_way_delay.unwrap().as_micros()).collect();
    // Forty packets of 1514 bytes leave together, behind an ACK. The last packet waits for this ACK and for 39 packets,
    // each of which takes 121.12 us.
    assert_eq!(delays[0], 20_000 + 528 / 100);
    assert_eq!(delays[39], 20_000 + (528 + 39 * 12_112) / 100);
    assert!(delays.iter().all(|d| (20_000..=24_728).contains(d)));
}

#[test]
fn a_reduction_asked_for_is_one_episode_that_ends_at_the_threshold() {
    let (spy, seen) = Spy::asking(100..120);
    let mut p = pipe(spy);
    p.run_until(seconds(2.0));
    let seen = seen.lock().unwrap();
    assert_eq!(seen.congestion.len(), 1, "{:?}", seen.congestion);
    assert_eq!(seen.congestion[0].0, Congestion::Delay);
    let reducing = seen.acks.iter().filter(|(_, state)| *state == CaState::Cwr);
    assert!(reducing.clone().count() >= 30 && reducing.clone().all(|(ack, _)| !ack.may_grow));
    assert_eq!((p.sender.snapshot().cwnd, p.sender.snapshot().state), (20, CaState::Open));
}

#[test]
fn the_window_comes_down_in_proportion_to_what_is_delivered() {
    let (spy, seen) = Spy::asking(100..101);
    let mut p = pipe(spy);
    let start = seconds(0.0);
    let mut reduced = Vec::new();
    for ms in 0..500 {
        p.run_until(start + Duration::from_millis(ms));
        if p.sender.snapshot().state == CaState::Cwr {
            reduced.push(p.sender.snapshot().cwnd);
        }
    }
    drop(seen);
    assert!(reduced.is_sorted_by(|a, b| a >= b), "{reduced:?}");
    assert!(reduced.iter().any(|cwnd| (25..36).contains(cwnd)), "at once: {reduced:?}");
}

#[test]
fn a_request_during_an_episode_is_void() {
    let (spy, seen) = Spy::asking(100..130); // the episode lasts longer than the request
    pipe(spy).run_until(seconds(2.0));
    assert_eq!(seen.lock().unwrap().congestion.len(), 1);
}

#[test]
fn a_reduction_asked_for_is_never_undone() {
    let (spy, seen) = Spy::asking(100..101);
    let mut p = pipe(spy)
        .with_fate(|count, _| if count == 130 { Fate::Delay(Duration::from_millis(30)) } else { Fate::Pass });
    p.run_until(seconds(2.0));
    assert!(p.sender.stats().lost_packets > 0, "no packet was marked lost");
    assert_eq!(seen.lock().unwrap().undone, 0);
}

#[test]
fn the_end_of_a_reduction_without_loss_is_told_once_the_window_is_there() {
    let (spy, seen) = Spy::asking(100..101);
    pipe(spy).run_until(seconds(2.0));
    assert_eq!(seen.lock().unwrap().exits, [20]);
}

#[test]
fn the_end_of_a_recovery_is_told_once_the_window_is_there() {
    let (spy, seen) = Spy::asking(0..0);
    let mut p = pipe(spy).with_fate(|n, _| if n == 100 { Fate::Drop } else { Fate::Pass });
    p.run_until(seconds(2.0));
    assert_eq!(seen.lock().unwrap().exits, [20]);
}

#[test]
fn the_cumulative_count_includes_what_was_delivered_selectively() {
    let (spy, seen) = Spy::asking(0..0);
    let mut p = pipe(spy).with_fate(|n, _| if n == 100 { Fate::Drop } else { Fate::Pass });
    p.run_until(seconds(1.0));
    let seen = seen.lock().unwrap();
    let (ack, _) = seen.acks.iter().find(|(ack, _)| ack.advanced && ack.prior_state > CaState::Open).unwrap();
    assert!(ack.cumulative > ack.acked, "{} of {}", ack.acked, ack.cumulative);
    let total: u64 = seen.acks.iter().map(|(ack, _)| u64::from(ack.cumulative)).sum();
    assert_eq!(total, seen.acks.last().unwrap().0.una);
}

#[test]
fn neither_probes_nor_timeouts_break_the_pace() {
    // A packet every 144.8 ms on a path of 40 ms: a probe would be due after 82 ms, a timeout after 240 ms.
    let (mut spy, _) = Spy::asking(0..0);
    spy.pace = Some(Rate::from_bytes_per_sec(10_000));
    let mut p = Pipe::with_algorithm(spy, config(), EACH, 100, 40, usize::MAX);
    p.run_until(seconds(20.0));
    let paced: Vec<_> = p.sent.iter().skip(10).collect();
    assert!(paced.len() > 100);
    // Bursts have two packets.
    assert!(
        paced
            .chunks(2)
            .collect::<Vec<_>>()
            .windows(2)
            .all(|w| w[1][0].0.since(w[0][0].0) >= Duration::from_millis(289))
    );
    assert_eq!((p.sender.stats().timeouts, p.sender.stats().retransmitted_packets), (0, 0));
}
