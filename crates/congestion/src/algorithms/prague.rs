//! # TCP Prague
//!
//! ## Idea
//! DCTCP for the Internet: packets ask for low latency with ECT(1), a fractional window is cut in proportion to the
//! share of marks and grows with every unmarked packet even while it is cut, sending is paced in short bursts, and
//! flows with short round trips slow down to the pace of 25 ms once they are old.
//!
//! ## Source and revision
//! Behaviour of L4STeam/linux `net/ipv4/tcp_prague.c`, version 0.6; draft-briscoe-iccrg-prague-congestion-control;
//! RFC 9331.
//!
//! ## Signals
//! Counted marks (AccECN, RFC 9768), loss, and the smoothed RTT for pacing and RTT independence.
//!
//! ## State diagram
//! slow start → (first marks) → additive increase of 1 (or less: RTT independence) packet per round trip of unmarked
//! packets; (marks, once per round trip) → window × (1 - alpha / 2); (loss, timeout) → window / 2 and no growth until
//! recovery is over. alpha ← alpha + (F - alpha) / 16 once per round trip, from the first mark on.
//!
//! ## Deviations from the source
//! Floating point in place of fixed point. The fractional window follows slow start, and the first marks end it at once:
//! the snapshot forgets to, and would fall back to the initial window. Detection of classic queues is left out, as it is
//! off by default. Without ECN it is Reno with the transport's recovery, as in the source.
//!
//! ## Validated against
//! Its laws of equilibrium, pacing and RTT independence (here, and `tests/theory`); not in the mainline kernel.

use crate::registry::Algorithm;
use crate::rtt_scaling::RttScaling;
use crate::{
    Ack, CaState, Congestion, CongestionControl, Control, EcnMode, Path, Probe, Recovery, Traits, Undo,
    Window,
};
use params::params;
use units::{Rate, Time};

params! {
    /// Parameters of Prague, as the module has them.
    pub struct PragueParams {
        /// How flows of short RTT are slowed down: none, rate, scalable or additive.
        rtt_scaling: RttScaling = RttScaling::Rate, "";
        /// RTT below which flows are slowed down.
        rtt_target_ms: f64 = 25.0, "ms", 0.001..=100.0;
        /// Round trips after slow start before they are.
        rtt_transition: u32 = 500, "round trips", 0..=1_000_000;
        /// Longest burst as a power of two: 1/2^burst_shift seconds.
        burst_shift: u32 = 12, "", 0..=30;
    }
}

/// Gain of the average share of marks.
const GAIN: f64 = 1.0 / 16.0;
/// Smallest growth for an unmarked packet: the resolution of the source's fractional window.
const LEAST_GROWTH: f64 = 1.0 / (1u64 << 20) as f64;
const MIN_CWND: u32 = 2;
/// Bursts are no shorter than this, packets (Linux `tcp_min_tso_segs`).
const MIN_BURST: u32 = 2;
/// IP and TCP headers, with timestamps: the source paces whole packets, bytes.
const HEADERS: u64 = 52;
/// A fractional window, cut in proportion to marks and paced.
pub struct Prague {
    params: PragueParams,
    /// Marks are fed back; without them everything below the window is idle.
    ecn: bool,
    /// The whole packets that the transport goes by; it follows `target` one packet per ACK.
    window: Window,
    /// The window in fractions of a packet.
    target: f64,
    /// The same when the last loss was found, and cwnd then.
    before_loss: (f64, u32),
    /// Average share of packets marked.
    alpha: f64,
    saw_marks: bool,
    /// Nothing grows until recovery is over.
    in_loss: bool,
    state: CaState,
    /// Growth per round trip of unmarked packets.
    increase: f64,
    round: Round,
    /// When the window was last cut for marks.
    cut_at: Time,
    rate: Option<Rate>,
    burst: u32,
}

/// The round trip over which marks are counted.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    end: u64,
    delivered: u64,
    marked: u64,
    /// When alpha was last updated.
    updated: Time,
    /// Round trips since slow start.
    count: u32,
}

impl Algorithm for Prague {
    type Params = PragueParams;
    const TITLE: &'static str = "TCP Prague (L4S: counted marks, pacing, RTT independence)";
    const SOURCE: &'static str =
        "L4STeam/linux net/ipv4/tcp_prague.c 0.6; draft-briscoe-iccrg-prague-congestion-control";

    fn new(params: PragueParams, _seed: u64) -> Prague {
        let window = Window::default();
        Prague {
            params,
            ecn: true,
            target: f64::from(window.cwnd),
            window,
            before_loss: (0.0, 0),
            alpha: 1.0,
            saw_marks: false,
            in_loss: false,
            state: CaState::Open,
            increase: 1.0,
            round: Round::default(),
            cut_at: Time::ZERO,
            rate: None,
            burst: MIN_BURST,
        }
    }
}

impl Prague {
    fn is_old(&self) -> bool {
        self.params.rtt_scaling != RttScaling::None && self.round.count >= self.params.rtt_transition
    }

    /// A flow that runs at the pace of the target RTT has to wait until that has passed since `last`.
    fn must_wait(&self, last: Time, path: &Path) -> bool {
        let independent = self.is_old() && !self.window.in_slow_start();
        let target = self.params.rtt_scaling.target(self.params.rtt_target_ms / 1e3, path);
        independent && path.now.since(last).as_secs_f64() < target
    }

    fn grow(&mut self, unmarked: u32) {
        let mut left = unmarked;
        if self.window.in_slow_start() {
            let before = self.window.cwnd;
            left = self.window.slow_start(unmarked);
            self.target += f64::from(self.window.cwnd - before);
        }
        let step = (f64::from(left) * self.increase / self.whole()).max(f64::from(left) * LEAST_GROWTH);
        self.target = (self.target + step).min(f64::from(u32::MAX));
    }

    /// The target in whole packets.
    fn whole(&self) -> f64 {
        self.target.ceil().max(1.0)
    }

    /// Moves the window by at most a packet towards the target. Having to shrink ends slow start.
    fn follow(&mut self) {
        let whole = self.whole() as u32;
        if self.window.cwnd > whole && self.window.cwnd > MIN_CWND {
            self.window.cwnd -= 1;
            self.window.ssthresh = self.window.cwnd;
        } else if self.window.cwnd < whole {
            self.window.cwnd += 1;
        }
    }

    fn cut_for_marks(&mut self, path: &Path) {
        if !self.must_wait(self.cut_at, path) {
            self.cut_at = path.now;
            self.target -= self.target * self.alpha / 2.0;
        }
    }

    fn cut_for_loss(&mut self) {
        self.before_loss = (self.target, self.window.cwnd);
        self.target /= 2.0;
        self.in_loss = true;
    }

    /// Ends the round trip, if it is over and the pace allows.
    fn end_round(&mut self, path: &Path) {
        let una = path.next - u64::from(path.packets_out);
        if una < self.round.end || self.must_wait(self.round.updated, path) {
            return;
        }
        if self.saw_marks {
            let delivered = (path.delivered - self.round.delivered).max(1);
            let share = ((path.marked - self.round.marked) as f64 / delivered as f64).min(1.0);
            self.alpha += GAIN * (share - self.alpha);
            self.round.updated = path.now;
        }
        if !self.window.in_slow_start() {
            self.round.count = self.round.count.saturating_add(1);
        }
        self.start_round(path);
    }

    fn start_round(&mut self, path: &Path) {
        self.round = Round { end: path.next, delivered: path.delivered, marked: path.marked, ..self.round };
        let scaling = if self.is_old() { self.params.rtt_scaling } else { RttScaling::None };
        self.increase = scaling.increase(self.params.rtt_target_ms / 1e3, path);
    }

    /// A window per RTT, two in early slow start; bursts of at most 1/4096 s.
    fn pace(&mut self, path: &Path) {
        let Some(srtt) = path.srtt else { return };
        let gain = if self.window.cwnd < self.window.ssthresh / 2 { 2.0 } else { 1.0 };
        let packets = gain * self.target / srtt.as_secs_f64().max(1e-6);
        let bits = packets * ((u64::from(path.mss) + HEADERS) * 8) as f64;
        self.rate = Some(Rate::from_bits_per_sec((bits as u64).max(1)));
        let longest = packets / (1u64 << self.params.burst_shift) as f64;
        self.burst = (longest as u32).max(MIN_BURST);
    }

    fn as_reno(&mut self, ack: &Ack, path: &Path) {
        if ack.may_grow && path.cwnd_limited {
            self.window.reno(ack.acked);
        }
    }
}

impl CongestionControl for Prague {
    fn on_established(&mut self, path: &Path) {
        self.ecn = path.ecn;
        self.target = f64::from(self.window.cwnd);
        self.round.updated = path.now;
        self.start_round(path);
        if self.ecn {
            self.pace(path);
        }
    }

    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        if !self.ecn {
            return self.as_reno(ack, path);
        }
        if (self.state, path.state) == (CaState::Cwr, CaState::Recovery) {
            self.cut_for_loss();
        }
        self.state = path.state;
        self.in_loss &= path.state != CaState::Open;
        self.saw_marks |= ack.marked > 0;
        // In slow start the window may be twice what is in flight: pacing has not filled it yet (Linux
        // `tcp_is_cwnd_limited`). A cut that the window has not followed yet ends slow start.
        let opening = self.window.in_slow_start() && self.window.cwnd / 2 < ack.prior_in_flight;
        let cut = self.window.in_slow_start() && self.whole() < f64::from(self.window.cwnd);
        let unmarked = ack.acked.saturating_sub(ack.marked);
        if unmarked > 0 && !self.in_loss && !cut && (path.cwnd_limited || opening) {
            self.grow(unmarked);
        }
        self.follow();
        self.end_round(path);
        self.pace(path);
    }

    fn on_congestion(&mut self, congestion: Congestion, path: &Path) {
        self.window.forget_credit();
        match congestion {
            Congestion::Timeout { first: false } => {}
            _ if !self.ecn => self.window.ssthresh = (self.window.cwnd / 2).max(MIN_CWND),
            Congestion::Loss | Congestion::Timeout { .. } => self.cut_for_loss(),
            Congestion::Ecn | Congestion::Delay | Congestion::TailLoss { .. } => self.cut_for_marks(path),
        }
    }

    fn on_undo(&mut self, undo: &Undo, _path: &Path) {
        let (target, cwnd) = self.before_loss;
        self.target = self.target.max(target);
        self.window.undo(&Undo { prior_cwnd: undo.prior_cwnd.max(cwnd), ..*undo });
        self.in_loss = false;
    }

    fn on_recovery_exit(&mut self, path: &Path) {
        self.in_loss = false;
        self.state = path.state; // what follows within this ACK is an episode of its own
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.window.set_cwnd(cwnd);
    }

    fn restart(&mut self, cwnd: u32) {
        self.window.restart(cwnd);
    }

    fn control(&self) -> Control {
        let paced = self.ecn.then_some(self.rate).flatten();
        let max_burst = if self.ecn { self.burst } else { u32::MAX };
        Control { pacing_rate: paced, max_burst, ..Control::window(&self.window) }
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        probe.window(&self.window);
        probe.see("fractional_cwnd", self.target, "packets");
        probe.see("alpha", self.alpha, "");
        probe.see("increase", self.increase, "packets/round trip");
        probe.see("rounds", f64::from(self.round.count), "");
    }

    fn traits(&self) -> Traits {
        let recovery = if self.ecn { Recovery::Algorithm } else { Recovery::Transport };
        Traits { recovery, ecn: EcnMode::L4s, needs_pacing: self.ecn, ..Traits::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::ideal;
    use units::Duration;

    /// Prague in congestion avoidance on a path that it fills with a window per round trip.
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

        /// A round trip, packet by packet; packet n is marked if `marked(n)`, and the first mark is echoed.
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
        // Marks by dice that do not depend on the window: p W comes to about 2 (1 - p), from either side.
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
        assert_eq!(cuts, 4); // 100 ms
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
}
