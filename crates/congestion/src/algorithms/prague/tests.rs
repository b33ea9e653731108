//! Prague without a network: its equilibrium, its pacing, and the effects of marks and losses.

use super::*;
use crate::kit::ideal;
use units::Duration;

/// Prague in congestion avoidance on a path that carries one window per round trip.
struct Rounds {
    prague: Prague,
    path: Path,
}

impl Rounds {
    fn new(window: u32, rtt: Duration, params: PragueParams) -> Rounds {
        let path = Path { srtt: Some(rtt), next: 10_000, packets_out: window, ..ideal::path(Time::ZERO) };
        let mut prague = Prague::new(params, 1);
        prague.on_established(&path);
        prague.set_cwnd(window);
        prague.window.ssthresh = window;
        prague.target = f64::from(window);
        Rounds { prague, path }
    }

    /// Run a round trip, packet by packet. Packet n is marked if `marked(n)`. Only the first mark of the round trip is
    /// reported as congestion ([`Congestion::Ecn`]).
    fn round(&mut self, marked: impl Fn(u32) -> bool) {
        let window = self.prague.control().cwnd;
        let mut told = false;
        self.path.packets_out = window;
        for n in 0..window {
            self.path.now += self.path.srtt.unwrap() / u64::from(window);
            let mark = marked(n);
            self.path.delivered += 1;
            self.path.next += 1;
            self.path.marked += u64::from(mark);
            if mark && !std::mem::replace(&mut told, true) {
                self.prague.on_congestion(Congestion::Ecn, &self.path);
            }
            let ack = Ack { marked: u32::from(mark), prior_in_flight: window, ..ideal::ack(1) };
            self.prague.on_ack(&ack, &self.path);
        }
    }
}

fn avoidance(window: u32) -> Rounds {
    Rounds::new(window, Duration::from_millis(40), PragueParams::default())
}

#[test]
fn without_marks_it_grows_by_a_packet_per_round_trip() {
    let mut rounds = avoidance(50);
    (0..10).for_each(|_| rounds.round(|_| false));
    assert!((59..=60).contains(&rounds.prague.control().cwnd), "{}", rounds.prague.target);
}

#[test]
fn in_equilibrium_there_are_about_two_marks_per_round_trip() {
    // With random marks of probability p that do not depend on the window W, p W converges to about 2 (1 - p),
    // whether W starts above or below its equilibrium.
    for start in [10, 1_000] {
        let mut rounds = avoidance(start);
        let (mut dice, p, mut sum) = (units::Rng::stream(1, "marks"), 0.02, 0.0);
        for n in 0..2_000 {
            let marks: Vec<bool> = (0..rounds.prague.control().cwnd).map(|_| dice.unit() < p).collect();
            rounds.round(|n| marks[n as usize]);
            sum += if n >= 1_000 { rounds.prague.target / 1_000.0 } else { 0.0 };
        }
        let marks_per_round = sum * p;
        assert!((1.5..2.8).contains(&marks_per_round), "from {start}: {marks_per_round}");
    }
}

#[test]
fn alpha_stands_still_until_the_first_mark() {
    let mut rounds = avoidance(50);
    (0..30).for_each(|_| rounds.round(|_| false));
    assert_eq!(rounds.prague.alpha, 1.0);
    rounds.round(|n| n == 25);
    rounds.round(|_| false);
    assert!(rounds.prague.alpha < 1.0);
}

#[test]
fn the_first_mark_ends_slow_start_and_halves() {
    let mut rounds = avoidance(64);
    rounds.prague.window.ssthresh = u32::MAX;
    rounds.round(|n| n == 0);
    assert!(!rounds.prague.window.in_slow_start());
    assert!((31.0..34.0).contains(&rounds.prague.target), "{}", rounds.prague.target);
}

#[test]
fn it_grows_while_the_transport_says_that_it_is_being_reduced() {
    let mut rounds = avoidance(50);
    rounds.path.state = CaState::Cwr;
    rounds.round(|_| false);
    assert!(rounds.prague.target > 50.9, "{}", rounds.prague.target);
}

#[test]
fn a_loss_halves_once_and_holds_until_recovery_is_over() {
    let mut rounds = avoidance(50);
    rounds.prague.on_congestion(Congestion::Loss, &rounds.path);
    rounds.path.state = CaState::Recovery;
    rounds.round(|_| false);
    assert_eq!(rounds.prague.target, 25.0);
    rounds.path.state = CaState::Open;
    rounds.prague.on_recovery_exit(&rounds.path);
    rounds.round(|_| false);
    assert!(rounds.prague.target > 25.0);
}

#[test]
fn a_timeout_halves_and_slow_start_leads_no_further_than_there() {
    let mut rounds = avoidance(100);
    rounds.prague.on_congestion(Congestion::Timeout { first: true }, &rounds.path);
    rounds.prague.set_cwnd(1);
    rounds.path.state = CaState::Loss;
    (0..3).for_each(|_| rounds.round(|_| false)); // growth from 1 to 8 packets during retransmissions
    rounds.path.state = CaState::Open;
    rounds.prague.on_recovery_exit(&rounds.path);
    let mut seen = Vec::new();
    for _ in 0..5 {
        rounds.round(|_| false);
        seen.push((rounds.prague.control().cwnd, rounds.prague.target.round()));
    }
    assert_eq!(seen, [(16, 50.0), (32, 50.0), (51, 50.0), (52, 51.0), (53, 52.0)]);
}

#[test]
fn after_an_idle_time_the_window_grows_by_slow_start_alone() {
    let mut rounds = avoidance(100);
    rounds.prague.restart(10);
    rounds.round(|_| false);
    assert_eq!(rounds.prague.control().cwnd, 20);
    assert_eq!(rounds.prague.target, 100.0);
}

#[test]
fn the_fractional_window_stays_behind_in_slow_start_but_in_0_7() {
    for (params, target) in [(PragueParams::default(), 10.0), (preset_0_7(), 20.0)] {
        let mut rounds = Rounds::new(10, Duration::from_millis(40), params);
        rounds.prague.window.ssthresh = u32::MAX;
        rounds.round(|_| false);
        assert_eq!((rounds.prague.control().cwnd, rounds.prague.target), (20, target));
    }
}

#[test]
fn slow_start_ends_with_the_first_ack_that_finds_the_window_unused() {
    let mut rounds = avoidance(20);
    rounds.prague.window.ssthresh = u32::MAX;
    rounds.prague.target = 10.0;
    rounds.path.cwnd_limited = false;
    rounds.prague.on_ack(&ideal::ack(2), &rounds.path);
    assert_eq!((rounds.prague.control().cwnd, rounds.prague.control().ssthresh), (19, 19));
}

#[test]
fn growth_is_scaled_anew_when_the_window_changes() {
    let params = PragueParams { rtt_transition: 0, ..PragueParams::default() };
    let mut rounds = Rounds::new(50, Duration::from_millis(5), params);
    let before = rounds.prague.increase;
    rounds.path.srtt = Some(Duration::from_millis(10));
    rounds.prague.target = 49.5; // the window remains 50
    rounds.prague.on_ack(&ideal::ack(1), &rounds.path);
    assert_eq!(rounds.prague.increase, before);
    rounds.prague.target = 60.0;
    rounds.prague.on_ack(&ideal::ack(1), &rounds.path);
    assert!((rounds.prague.increase / before - 4.0).abs() < 1e-9, "{}", rounds.prague.increase);
}

#[test]
fn losses_in_a_row_leave_a_packet_per_64_round_trips() {
    let mut rounds = avoidance(10);
    (0..40).for_each(|_| rounds.prague.on_congestion(Congestion::Loss, &rounds.path));
    rounds.prague.pace(&rounds.path);
    let rate = rounds.prague.control().pacing_rate.unwrap().bits_per_sec() as f64;
    assert!((rate / (1_500.0 * 8.0 / 0.04 / 64.0) - 1.0).abs() < 1e-3, "{rate}");
}

fn preset_0_7() -> PragueParams {
    params::read(&serde_json::json!({ "preset": "v0.7" })).unwrap()
}

#[test]
fn in_0_7_the_first_mark_halves_though_there_is_no_average_yet() {
    let mut rounds = Rounds::new(64, Duration::from_millis(40), preset_0_7());
    assert_eq!(rounds.prague.alpha, 0.0);
    rounds.round(|n| n == 0);
    assert!((31.0..34.0).contains(&rounds.prague.target), "{}", rounds.prague.target);
}

#[test]
fn in_0_7_what_is_in_flight_is_paced_if_it_is_more_than_the_window() {
    let mut rounds = Rounds::new(64, Duration::from_millis(40), preset_0_7());
    for (in_flight, packets) in [(60, 64.0), (80, 80.0)] {
        rounds.path.in_flight = in_flight;
        rounds.prague.pace(&rounds.path);
        let rate = rounds.prague.control().pacing_rate.unwrap().bits_per_sec() as f64;
        assert!((rate / (packets / 0.04 * 1_500.0 * 8.0) - 1.0).abs() < 1e-6, "{rate}");
    }
}

#[test]
fn a_slow_flow_sends_pairs_in_0_6_and_single_packets_in_0_7() {
    for (params, burst) in [(PragueParams::default(), 2), (preset_0_7(), 1)] {
        let control = Rounds::new(10, Duration::from_millis(40), params).prague.control();
        assert_eq!((control.min_burst, control.max_burst), (burst, burst));
    }
}

#[test]
fn a_loss_found_by_the_ack_that_ends_a_reduction_by_marks_halves_once() {
    let mut rounds = avoidance(50);
    rounds.path.state = CaState::Cwr;
    rounds.prague.on_ack(&ideal::ack(0), &rounds.path);
    rounds.path.state = CaState::Open;
    rounds.prague.on_recovery_exit(&rounds.path);
    rounds.prague.on_congestion(Congestion::Loss, &rounds.path);
    rounds.path.state = CaState::Recovery;
    rounds.prague.on_ack(&ideal::ack(1), &rounds.path);
    assert_eq!(rounds.prague.target, 25.0);
}

#[test]
fn it_is_paced_at_a_window_per_round_trip_in_bursts_of_a_quarter_millisecond() {
    let mut rounds = avoidance(2_000);
    rounds.round(|_| false);
    let control = rounds.prague.control();
    let expected = rounds.prague.target / 0.04 * 1_500.0 * 8.0;
    let rate = control.pacing_rate.unwrap().bits_per_sec() as f64;
    assert!((rate / expected - 1.0).abs() < 1e-3, "{rate} {expected}");
    assert_eq!(control.max_burst, (rounds.prague.target / 0.04 / 4096.0) as u32);
}

#[test]
fn an_old_flow_of_5_ms_grows_as_fast_as_one_of_25_ms() {
    let rate_gained_in_a_second = |rtt_ms: u64| {
        let params = PragueParams { rtt_transition: 0, ..PragueParams::default() };
        let rtt = Duration::from_millis(rtt_ms);
        let mut rounds = Rounds::new(1_000, rtt, params);
        (0..1_000 / rtt_ms).for_each(|_| rounds.round(|_| false));
        (rounds.prague.target - 1_000.0) / rtt.as_secs_f64()
    };
    let ratio = rate_gained_in_a_second(5) / rate_gained_in_a_second(25);
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
}

#[test]
fn an_old_flow_is_cut_at_most_once_per_target_rtt() {
    let params = PragueParams { rtt_transition: 0, ..PragueParams::default() };
    let mut rounds = Rounds::new(1_000, Duration::from_millis(5), params);
    rounds.path.now = Time::from_nanos(1_000_000_000);
    let mut cuts = 0;
    for _ in 0..20 {
        let before = rounds.prague.target;
        rounds.prague.on_congestion(Congestion::Ecn, &rounds.path);
        cuts += u32::from(rounds.prague.target < before);
        rounds.path.now += Duration::from_millis(5);
    }
    assert_eq!(cuts, 4); // four reductions in 100 ms
}

#[test]
fn without_ecn_it_is_reno() {
    let path = Path { ecn: false, ..ideal::path(Time::ZERO) };
    let mut prague = Prague::new(PragueParams::default(), 1);
    prague.on_established(&path);
    assert_eq!((prague.traits().recovery, prague.traits().needs_pacing), (Recovery::Transport, false));
    assert_eq!(prague.control().pacing_rate, None);
    prague.set_cwnd(50);
    prague.on_congestion(Congestion::Loss, &path);
    assert_eq!(prague.control().ssthresh, 25);
}
