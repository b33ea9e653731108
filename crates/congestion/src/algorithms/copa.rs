//! # Copa
//!
//! ## Idea
//! The target rate 1 / (delta · queueing delay) balances throughput against delay. The window moves towards the
//! target by velocity / delta packets per round trip. The velocity doubles while the direction does not change. The
//! queue therefore oscillates around 1 / delta packets per flow and is empty regularly. If the queue is never empty,
//! Copa assumes that other flows fill it, and lowers delta to compete.
//!
//! ## Source and revision
//! Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018 (preset
//! `nsdi18`); Facebook's QUIC stack mvfst, `Copa.cpp`, as of 2025 (preset `mvfst`).
//!
//! ## Signals
//! RTT: latest, smallest of the last half RTT (standing RTT), smallest of the last ten seconds, largest of the last
//! four RTTs; losses in competitive mode. A mark counts as a loss.
//!
//! ## State diagram
//! slow start (doubles once per RTT) → (rate above target) → steady: the window rises while the rate is below the
//! target, and otherwise falls. Mode: default → (for five RTTs, the queueing delay never falls below 10 % of its
//! maximum: the queue is never nearly empty) → competitive: 1 / delta grows by one per RTT and halves on loss → (queue
//! nearly empty) → default. A timeout returns to slow start.
//!
//! ## Deviations from the source
//! - A round lasts for the smoothed RTT.
//! - An ACK moves the window by at most the packets that it acknowledges. In the paper and in mvfst only the
//!   velocity limits the change of the window.
//! - A timeout returns to slow start. In mvfst a timeout does not change Copa's state, and the window stays at its
//!   minimum.
//! - The transport paces at two windows per smoothed RTT in both presets. The paper uses the standing RTT.
//! - Preset `mvfst` has no competitive mode, uses the latest RTT instead of the standing RTT, and has delta 0.05.
//!
//! One claim of the paper does not hold here (50 Mbit/s, 40 ms): that the queue is nearly empty every five RTTs.
//!
//! - With delta 0.5 up to fourteen RTTs pass until the queue is nearly empty. Copa flows therefore mistake each
//!   other for loss-based flows. In competitive mode Copa flows fill large buffers: four flows queue 240 to 350
//!   packets on average. With `competitive = false` four flows queue 9.6 packets. `empty_within = 10` helps in
//!   some cases only.
//! - With delta 0.05 two or more flows never empty the queue. When the smallest RTT expires, the flows measure a
//!   larger smallest RTT, and the queue grows: four flows queue 74 packets in the first ten seconds, and 142
//!   packets after forty seconds.
//! - A single flow with delta 0.5 queues 5.5 packets, not 2.5, after ten seconds, when the oscillations of its
//!   velocity have ended.
//!
//! ## Validated against
//! The paper's queue of 1 / delta packets per flow, fairness among Copa flows and against Reno and CUBIC, and no
//! response to random loss (`tests/theory/test_delay_based.py`).

use crate::filter::WindowedMax;
use crate::registry::Algorithm;
use crate::window::{INITIAL_CWND, MIN_CWND};
use crate::{Ack, Congestion, CongestionControl, Control, Path, Probe, Recovery, Traits, Undo, Window};
use params::params;
use units::{Duration, Time};

params! {
    /// Parameters of Copa.
    pub struct CopaParams {
        /// Weight of delay against throughput: a flow keeps about 1/delta packets queued.
        delta: f64 = 0.5, "1/packet", 0.001..=10.0;
        /// Whether the queueing delay is computed from the smallest RTT of the last half RTT, instead of the
        /// latest RTT.
        standing: bool = true, "";
        /// Whether delta falls while other flows keep the queue from emptying.
        competitive: bool = true, "";
        /// Time without a nearly empty queue after which other flows are assumed to fill the queue.
        empty_within: u32 = 5, "RTTs", 1..=1000;
        /// Window of the smallest RTT.
        min_rtt_window_s: f64 = 10.0, "s", 0.1..=3600.0;
    }
    presets {
        "nsdi18" => {},
        "mvfst" => { delta: 0.05, standing: false, competitive: false },
    }
}

/// Rounds in one direction before the velocity doubles.
const STEADY_ROUNDS: u32 = 3;
/// Divisor of the largest queueing delay: the queue is nearly empty while the queueing delay is below a tenth of
/// its largest value.
const NEARLY_EMPTY: u64 = 10;
/// Window of the largest queueing delay, RTTs.
const MAX_RTTS: u64 = 4;
/// Tick of the fine clock of the RTT filters: 2^10 ns, about a microsecond. The clock may wrap.
const FINE_TICK: u32 = 10;
/// Tick of the coarse clock of the RTT filters: 2^20 ns, about a millisecond. The clock may wrap.
const COARSE_TICK: u32 = 20;
/// Limit that keeps the velocity finite.
const MOST_VELOCITY: f64 = 65_536.0;
/// Limit that keeps the window finite, packets.
const MOST_CWND: f64 = 1e9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// Speed and direction of the window, updated once per round trip.
#[derive(Clone, Copy, Debug)]
struct Velocity {
    direction: Direction,
    value: f64,
    steady_rounds: u32,
    /// Time and window at the start of the round.
    since: Option<(Time, f64)>,
}

impl Velocity {
    fn new() -> Velocity {
        Velocity { direction: Direction::Up, value: 1.0, steady_rounds: 0, since: None }
    }

    /// Update the velocity once per round trip. True if a round trip has passed.
    fn update(&mut self, cwnd: f64, srtt: Duration, now: Time) -> bool {
        let Some((since, before)) = self.since else {
            self.since = Some((now, cwnd));
            return false;
        };
        if now.since(since) < srtt {
            return false;
        }
        let direction = if cwnd > before { Direction::Up } else { Direction::Down };
        if direction == self.direction {
            self.steady_rounds = self.steady_rounds.saturating_add(1);
            if self.steady_rounds >= STEADY_ROUNDS {
                self.value = (2.0 * self.value).min(MOST_VELOCITY);
            }
        } else {
            self.turn(direction);
        }
        self.since = Some((now, cwnd));
        true
    }

    /// Change the direction and reset the velocity.
    fn turn(&mut self, direction: Direction) {
        (self.direction, self.value, self.steady_rounds) = (direction, 1.0, 0);
    }
}

/// The RTT filters of Copa. Every filter tracks a maximum. A minimum is tracked as the maximum of the complement.
#[derive(Clone, Copy, Debug, Default)]
struct Rtts {
    latest: Duration,
    shortest: WindowedMax,
    standing: WindowedMax,
    longest: WindowedMax,
}

impl Rtts {
    fn sample(&mut self, rtt: Duration, srtt: Duration, min_window: u32, now: Time) {
        let clock = now.as_nanos();
        let ticks = |span: Duration| (span.as_nanos() >> FINE_TICK).min(u64::from(u32::MAX / 4)) as u32;
        self.latest = rtt;
        self.shortest.update(min_window, (clock >> COARSE_TICK) as u32, complement(rtt));
        self.standing.update(ticks(srtt / 2), (clock >> FINE_TICK) as u32, complement(rtt));
        self.longest.update(ticks(srtt * MAX_RTTS), (clock >> FINE_TICK) as u32, rtt.as_nanos());
    }

    fn min(&self) -> Duration {
        Duration::from_nanos(u64::MAX - self.shortest.get())
    }

    fn standing(&self) -> Duration {
        Duration::from_nanos(u64::MAX - self.standing.get())
    }

    /// Whether the queue was nearly empty within the last half RTT.
    fn nearly_empty(&self) -> bool {
        let most = Duration::from_nanos(self.longest.get()).saturating_sub(self.min());
        self.standing().saturating_sub(self.min()) <= most / NEARLY_EMPTY
    }
}

fn complement(rtt: Duration) -> u64 {
    u64::MAX - rtt.as_nanos()
}

/// A sender whose window moves towards a rate that balances throughput and delay.
pub struct Copa {
    params: CopaParams,
    /// Window of the smallest RTT, coarse ticks.
    min_rtt_window: u32,
    cwnd: f64,
    slow_start: bool,
    doubled: Option<Time>,
    rtts: Rtts,
    velocity: Velocity,
    /// Target number of queued packets, 1/delta, in the present mode.
    queue_goal: f64,
    competing: bool,
    last_empty: Time,
}

impl Algorithm for Copa {
    type Params = CopaParams;
    const TITLE: &'static str = "Copa (a target rate from queueing delay)";
    const SOURCE: &'static str = "Arun and Balakrishnan 2018; mvfst Copa.cpp";

    fn new(params: CopaParams, _seed: u64) -> Copa {
        Copa {
            min_rtt_window: ((params.min_rtt_window_s * 1e9) as u64 >> COARSE_TICK) as u32,
            cwnd: f64::from(INITIAL_CWND),
            slow_start: true,
            doubled: None,
            rtts: Rtts::default(),
            velocity: Velocity::new(),
            queue_goal: 1.0 / params.delta,
            competing: false,
            last_empty: Time::ZERO,
            params,
        }
    }
}

impl Copa {
    fn default_goal(&self) -> f64 {
        1.0 / self.params.delta
    }

    fn queueing_delay(&self) -> Duration {
        let rtt = if self.params.standing { self.rtts.standing() } else { self.rtts.latest };
        rtt.saturating_sub(self.rtts.min())
    }

    /// Whether the rate is at or below the target: cwnd / standing <= goal / delay.
    fn is_slow(&self) -> bool {
        let delay = self.queueing_delay().as_nanos() as f64;
        self.cwnd * delay <= self.queue_goal * self.rtts.standing().as_nanos() as f64
    }

    fn update_mode(&mut self, srtt: Duration, now: Time) {
        if self.rtts.nearly_empty() {
            self.last_empty = now;
        }
        let competing = self.params.competitive
            && now.since(self.last_empty) > srtt * u64::from(self.params.empty_within);
        if self.competing && !competing {
            self.queue_goal = self.default_goal();
        }
        self.competing = competing;
    }

    fn double(&mut self, srtt: Duration, now: Time) {
        match self.doubled {
            None => self.doubled = Some(now),
            Some(at) if now.since(at) > srtt => {
                self.cwnd = (2.0 * self.cwnd).min(MOST_CWND);
                self.doubled = Some(now);
            }
            Some(_) => {}
        }
    }

    fn steer(&mut self, direction: Direction, acked: u32) {
        if self.velocity.direction != direction && self.velocity.value > 1.0 {
            self.velocity.turn(direction);
        }
        let acked = f64::from(acked);
        let step = (acked * self.velocity.value * self.queue_goal / self.cwnd).min(acked);
        let moved = if direction == Direction::Up { self.cwnd + step } else { self.cwnd - step };
        self.cwnd = moved.clamp(f64::from(MIN_CWND), MOST_CWND);
    }

    fn packets(&self) -> u32 {
        self.cwnd as u32
    }
}

impl CongestionControl for Copa {
    fn on_established(&mut self, path: &Path) {
        self.last_empty = path.now;
    }

    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        let Some(srtt) = path.srtt else { return };
        if let Some(rtt) = ack.rtt {
            self.rtts.sample(rtt, srtt, self.min_rtt_window, path.now);
            self.update_mode(srtt, path.now);
        }
        if self.rtts.latest == Duration::ZERO || ack.acked == 0 {
            return;
        }
        let slow = self.is_slow();
        self.slow_start &= slow;
        if !self.slow_start {
            let round_over = self.velocity.update(self.cwnd, srtt, path.now);
            if round_over && self.competing {
                self.queue_goal += 1.0;
            }
        }
        let unused = ack.rate.is_some_and(|sample| sample.app_limited);
        match (slow, self.slow_start) {
            (true, _) if unused => {}
            (true, true) => self.double(srtt, path.now),
            (true, false) => self.steer(Direction::Up, ack.acked),
            (false, _) => self.steer(Direction::Down, ack.acked),
        }
    }

    fn on_congestion(&mut self, congestion: Congestion, _path: &Path) {
        if self.competing {
            self.queue_goal = (self.queue_goal / 2.0).max(self.default_goal());
        }
        if matches!(congestion, Congestion::Timeout { .. }) {
            (self.slow_start, self.doubled) = (true, None);
            self.velocity = Velocity::new();
        }
    }

    fn on_undo(&mut self, undo: &Undo, _path: &Path) {
        // Recovery does not change the window; only a timeout does.
        if self.slow_start {
            self.cwnd = self.cwnd.max(f64::from(undo.prior_cwnd));
        }
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.cwnd = f64::from(cwnd.max(1));
    }

    fn control(&self) -> Control {
        let window = Window { cwnd: self.packets(), ..Window::default() };
        Control { min_burst: 1, ..Control::window(&window) } // without ssthresh, the transport paces at two windows per RTT
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        probe.state("state", if self.slow_start { "SlowStart" } else { "Steady" });
        probe.state("mode", if self.competing { "Competitive" } else { "Default" });
        probe.see("cwnd", self.cwnd, "packets");
        probe.see("velocity", self.velocity.value, "");
        probe.see("delta", 1.0 / self.queue_goal, "1/packet");
        if self.rtts.latest > Duration::ZERO {
            probe.see("queueing_delay", self.queueing_delay().as_secs_f64(), "s");
            probe.see("min_rtt", self.rtts.min().as_secs_f64(), "s");
        }
    }

    fn traits(&self) -> Traits {
        Traits { recovery: Recovery::Algorithm, needs_pacing: true, ..Traits::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Algorithm;
    use crate::test_drive::Drive;

    const EMPTY_US: u64 = 40_000;

    /// A flow with 100 packets after slow start, with a known smallest RTT.
    fn steady() -> (Copa, Drive) {
        let (mut copa, mut drive) = (Copa::new(CopaParams::default(), 0), Drive::new());
        drive.round(&mut copa, EMPTY_US);
        copa.slow_start = false;
        copa.set_cwnd(100);
        (copa, drive)
    }

    #[test]
    fn slow_start_doubles_once_per_rtt_until_the_rate_exceeds_the_target() {
        let (mut copa, mut drive) = (Copa::new(CopaParams::default(), 0), Drive::new());
        drive.rounds(&mut copa, 5, EMPTY_US);
        assert!([80, 160].contains(&copa.packets()), "{}", copa.packets());
        drive.round(&mut copa, 2 * EMPTY_US);
        assert!(!copa.slow_start);
    }

    #[test]
    fn an_empty_queue_adds_one_over_delta_packets_per_rtt() {
        let (mut copa, mut drive) = steady();
        drive.rounds(&mut copa, 2, EMPTY_US);
        assert!((103.5..=104.5).contains(&copa.cwnd), "{}", copa.cwnd);
    }

    #[test]
    fn a_rate_above_the_target_takes_one_over_delta_packets_per_rtt() {
        let (mut copa, mut drive) = steady();
        drive.round(&mut copa, EMPTY_US + 4_000); // the standing RTT takes half a round to rise
        copa.set_cwnd(100);
        drive.rounds(&mut copa, 2, EMPTY_US + 4_000); // the target is 500 packets/s, the rate is 2300 packets/s
        assert!((95.5..=96.5).contains(&copa.cwnd), "{}", copa.cwnd);
    }

    #[test]
    fn velocity_doubles_after_three_rounds_one_way_and_a_turn_resets_it() {
        let (mut copa, mut drive) = steady();
        drive.rounds(&mut copa, 4, EMPTY_US);
        assert!(copa.velocity.value <= 2.0);
        drive.rounds(&mut copa, 3, EMPTY_US);
        assert!(copa.velocity.value >= 8.0);
        drive.rounds(&mut copa, 1, 2 * EMPTY_US);
        assert!(copa.velocity.value <= 1.0);
    }

    #[test]
    fn a_queue_that_never_empties_calls_for_competition_and_an_empty_one_ends_it() {
        let (mut copa, mut drive) = steady();
        drive.rounds(&mut copa, 9, 2 * EMPTY_US);
        assert!(copa.competing && copa.queue_goal > 2.0);
        drive.round(&mut copa, EMPTY_US);
        assert!(!copa.competing);
        assert_eq!(copa.queue_goal, 2.0);
    }

    #[test]
    fn competing_it_halves_one_over_delta_on_loss_but_not_below_the_default() {
        let (mut copa, mut drive) = steady();
        (copa.competing, copa.queue_goal) = (true, 10.0);
        for left in [5.0, 2.5, 2.0] {
            drive.lose(&mut copa);
            assert_eq!(copa.queue_goal, left);
        }
    }

    #[test]
    fn in_default_mode_a_loss_is_ignored() {
        let (mut copa, drive) = steady();
        copa.on_congestion(Congestion::Loss, &drive.path(100));
        assert_eq!((copa.packets(), copa.queue_goal), (100, 2.0));
    }
}
