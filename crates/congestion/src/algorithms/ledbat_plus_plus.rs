//! # LEDBAT++
//!
//! ## Idea
//! LEDBAT with three corrections: a small gain on short paths, a decrease in proportion to the window, and regular
//! slowdowns. The queue drains in a slowdown, so that later flows measure the true propagation delay of the path.
//!
//! ## Source and revision
//! draft-irtf-iccrg-ledbat-plus-plus-06 (2026), as deployed in Windows.
//!
//! ## Signals
//! RTT (current: smallest of the last four samples; base: smallest of the last ten minutes), loss, classic ECN marks.
//!
//! ## State diagram
//! slow start at the reduced gain → (queueing delay above 3/4 of the target, or congestion) → avoidance: per round, the
//! window grows by gain while the delay is below the target, and otherwise changes by max(gain − decrease · cwnd ·
//! (delay / target − 1), −cwnd / 2) → (two rounds after the first slow start; later nine times the duration of the last
//! slowdown) → slowdown: two packets for two rounds → slow start up to the old window → avoidance.
//!
//! ## Deviations from the source
//! Windows are whole packets: fractional changes accumulate. A round of a slowdown lasts for the smallest recent RTT.
//!
//! ## Validated against
//! The laws of the draft, step by step (unit tests of this module).

use crate::filter::Recent;
use crate::registry::Algorithm;
use crate::window::MIN_CWND;
use crate::{Ack, Congestion, Path, Probe, Window, WindowAlgorithm};
use params::params;
use units::{Duration, Time};

/// Number of latest samples whose minimum is the current RTT.
const CURRENT_SAMPLES: u32 = 4;
/// Window of the base RTT, minutes.
const BASE_MINUTES: u32 = 10;

params! {
    /// Parameters of LEDBAT++.
    pub struct LedbatPlusPlusParams {
        /// Target of the queueing delay.
        target_ms: u32 = 60, "ms", 1..=10_000;
        /// Largest divisor of the gain. The gain is 1 / (2 target / base RTT), but at least 1 / max_gain_divisor.
        max_gain_divisor: u32 = 16, "", 1..=1000;
        /// Decrease per round, as a share of the window, for a queueing delay of twice the target.
        decrease: f64 = 1.0, "", 0.0..=10.0;
        /// Share of the target at which the first slow start ends.
        slow_start_exit: f64 = 0.75, "", 0.01..=1.0;
        /// Rounds of a slowdown with a window of two packets.
        slowdown_rounds: u32 = 2, "rounds", 1..=100;
        /// Time between slowdowns, as a multiple of the duration of the last slowdown; 0: no slowdowns.
        slowdown_interval: u32 = 9, "", 0..=1000;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    /// Avoidance; the value is the time of the next slowdown, if any.
    Avoidance(Option<Time>),
    /// A slowdown that began at `began`, with a window of two packets until `until`.
    Frozen {
        began: Time,
        until: Time,
    },
    /// Growth back to the old window, after a slowdown that began at this time.
    Ramp(Time),
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Phase::SlowStart => "SlowStart",
            Phase::Avoidance(_) => "Avoidance",
            Phase::Frozen { .. } => "Slowdown",
            Phase::Ramp(_) => "Ramp",
        }
    }
}

/// A sender of background traffic that drains its queue regularly.
pub struct LedbatPlusPlus {
    params: LedbatPlusPlusParams,
    target: Duration,
    window: Window,
    phase: Phase,
    current: Recent,
    base: Recent,
    minute: Option<u64>,
    /// Fraction of a packet by which the window exceeds `cwnd`.
    fraction: f64,
}

impl Algorithm for LedbatPlusPlus {
    type Params = LedbatPlusPlusParams;
    const TITLE: &'static str = "LEDBAT++ (background traffic with slowdowns)";
    const SOURCE: &'static str = "draft-irtf-iccrg-ledbat-plus-plus-06";

    fn new(params: LedbatPlusPlusParams, _seed: u64) -> LedbatPlusPlus {
        LedbatPlusPlus {
            target: Duration::from_millis(u64::from(params.target_ms)),
            window: Window::default(),
            phase: Phase::SlowStart,
            current: Recent::new(CURRENT_SAMPLES),
            base: Recent::new(BASE_MINUTES),
            minute: None,
            fraction: 0.0,
            params,
        }
    }
}

impl LedbatPlusPlus {
    fn sample(&mut self, rtt: Duration, now: Time) {
        let minute = now.as_millis() / 60_000;
        if self.minute == Some(minute) {
            self.base.lower_last(rtt);
        } else {
            self.minute = Some(minute);
            self.base.push(rtt);
        }
        self.current.push(rtt);
    }

    fn queueing_delay(&self) -> Duration {
        self.current.min().saturating_sub(self.base.min())
    }

    /// Queueing delay as a multiple of the target.
    fn excess(&self) -> f64 {
        self.queueing_delay().as_nanos() as f64 / self.target.as_nanos() as f64
    }

    /// Gain: packets per round in avoidance, and packets per acknowledged packet in slow start.
    fn gain(&self) -> f64 {
        let most = u64::from(self.params.max_gain_divisor);
        let divisor = (self.target * 2).as_nanos().div_ceil(self.base.min().as_nanos().max(1));
        1.0 / divisor.clamp(1, most) as f64
    }

    fn move_by(&mut self, packets: f64) {
        let before = f64::from(self.window.cwnd);
        let floor = f64::from(MIN_CWND).min(before); // a timeout may have set a smaller window
        let wanted = (before + self.fraction + packets).max(floor);
        self.window.cwnd = wanted as u32;
        self.fraction = wanted - f64::from(self.window.cwnd);
    }

    /// Change of the window in a round of avoidance, packets.
    fn step(&self) -> f64 {
        let (cwnd, above) = (f64::from(self.window.cwnd), self.excess() - 1.0);
        if above <= 0.0 {
            return self.gain();
        }
        (self.gain() - self.params.decrease * cwnd * above).max(-cwnd / 2.0)
    }

    /// Begin avoidance; the next slowdown begins after `time`.
    fn avoid(&mut self, now: Time, time: Duration) {
        self.phase = Phase::Avoidance((self.params.slowdown_interval > 0).then_some(now + time));
    }

    fn rounds(&self) -> Duration {
        self.current.min() * u64::from(self.params.slowdown_rounds)
    }

    fn change_phase(&mut self, now: Time) {
        match self.phase {
            Phase::SlowStart if self.excess() > self.params.slow_start_exit => {
                self.window.ssthresh = self.window.cwnd.max(MIN_CWND);
                self.avoid(now, self.rounds());
            }
            Phase::Avoidance(Some(slowdown)) if now >= slowdown => {
                self.window.ssthresh = self.window.cwnd.max(MIN_CWND);
                self.window.cwnd = self.window.cwnd.min(MIN_CWND);
                self.fraction = 0.0;
                self.phase = Phase::Frozen { began: now, until: now + self.rounds() };
            }
            Phase::Frozen { began, until } if now >= until => self.phase = Phase::Ramp(began),
            Phase::Ramp(began) if !self.window.in_slow_start() => {
                self.avoid(now, now.since(began) * u64::from(self.params.slowdown_interval));
            }
            _ => {}
        }
    }
}

impl WindowAlgorithm for LedbatPlusPlus {
    has_window!();

    fn measure(&mut self, ack: &Ack, path: &Path) {
        if let Some(rtt) = ack.rtt {
            self.sample(rtt, path.now);
        }
        if !ack.may_grow || self.minute.is_none() {
            return;
        }
        self.change_phase(path.now);
        // The window changes here, not in `grow`, because it must fall even when the flow does not fill it.
        let step = self.step();
        if matches!(self.phase, Phase::Avoidance(_)) && (step < 0.0 || path.cwnd_limited) {
            self.move_by(step * f64::from(ack.acked) / f64::from(self.window.cwnd));
        }
    }

    fn grow(&mut self, ack: &Ack, _path: &Path) {
        if self.minute.is_some() && matches!(self.phase, Phase::SlowStart | Phase::Ramp(_)) {
            let room = f64::from(self.window.ssthresh.saturating_sub(self.window.cwnd));
            self.move_by((self.gain() * f64::from(ack.acked)).min(room));
        }
    }

    fn reduced(&mut self, _congestion: Congestion, path: &Path) -> u32 {
        self.fraction = 0.0;
        if self.phase == Phase::SlowStart {
            self.avoid(path.now, self.rounds());
        }
        self.window.cwnd / 2
    }

    fn timed_out(&mut self, path: &Path) {
        self.phase = Phase::Ramp(path.now);
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.state("phase", self.phase.name());
        if self.minute.is_some() {
            probe.see("base_rtt", self.base.min().as_secs_f64(), "s");
            probe.see("queueing_delay", self.queueing_delay().as_secs_f64(), "s");
            probe.see("gain", self.gain(), "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    const BASE_US: u64 = 40_000;

    /// A flow with 100 packets in avoidance, with a known base RTT and no slowdown for 1000 s.
    fn steady() -> (LedbatPlusPlus, Drive) {
        let (mut ledbat, mut drive) = (LedbatPlusPlus::new(LedbatPlusPlusParams::default(), 0), Drive::new());
        drive.round(&mut ledbat, BASE_US);
        ledbat.set_cwnd(100);
        ledbat.window.ssthresh = 20;
        ledbat.avoid(Time::ZERO, Duration::from_secs(1000));
        (ledbat, drive)
    }

    #[test]
    fn the_gain_is_small_on_short_paths() {
        let gain_at = |rtt_us| {
            let mut ledbat = LedbatPlusPlus::new(LedbatPlusPlusParams::default(), 0);
            ledbat.sample(Duration::from_micros(rtt_us), Time::ZERO);
            ledbat.gain()
        };
        assert_eq!([1_000, 40_000, 120_000, 300_000].map(gain_at), [1.0 / 16.0, 1.0 / 3.0, 1.0, 1.0]);
    }

    #[test]
    fn below_the_target_it_gains_the_gain_per_round() {
        let (mut ledbat, mut drive) = steady();
        drive.rounds(&mut ledbat, 31, BASE_US + 30_000);
        assert_eq!(ledbat.window.cwnd, 110); // a third of a packet per round
    }

    #[test]
    fn above_the_target_it_falls_in_proportion_to_the_window_and_the_excess() {
        let (mut ledbat, mut drive) = steady();
        drive.round(&mut ledbat, BASE_US + 66_000); // the filter still holds smaller delays
        let before = f64::from(ledbat.window.cwnd);
        drive.round(&mut ledbat, BASE_US + 66_000);
        let share = f64::from(ledbat.window.cwnd) / before;
        assert!((share - 0.905).abs() < 0.02, "{share}"); // 10 % above the target reduces the window by 10 %
    }

    #[test]
    fn never_more_than_half_the_window_per_round() {
        let (mut ledbat, mut drive) = steady();
        drive.round(&mut ledbat, 500_000);
        let before = ledbat.window.cwnd;
        drive.round(&mut ledbat, 500_000);
        assert!(ledbat.window.cwnd >= before / 2);
    }

    #[test]
    fn the_first_slow_start_ends_at_three_quarters_of_the_target() {
        let ends_at = |queueing_us| {
            let mut ledbat = LedbatPlusPlus::new(LedbatPlusPlusParams::default(), 0);
            let mut drive = Drive::new();
            drive.round(&mut ledbat, BASE_US);
            drive.round(&mut ledbat, BASE_US + queueing_us);
            ledbat.phase != Phase::SlowStart
        };
        assert!(!ends_at(44_000) && ends_at(46_000));
    }

    #[test]
    fn a_slowdown_drains_for_two_rounds_and_comes_back_to_the_same_window() {
        let (mut ledbat, mut drive) = steady();
        ledbat.avoid(Time::ZERO, Duration::ZERO);
        drive.ack(&mut ledbat, 100, 1, BASE_US);
        assert_eq!((ledbat.window.cwnd, ledbat.window.ssthresh), (2, 100));
        drive.rounds(&mut ledbat, 2, BASE_US);
        assert_eq!(ledbat.window.cwnd, 2);
        drive.rounds(&mut ledbat, 40, BASE_US);
        assert!(matches!(ledbat.phase, Phase::Avoidance(Some(_))), "{:?}", ledbat.phase);
        assert!((100..=115).contains(&ledbat.window.cwnd), "{}", ledbat.window.cwnd);
    }

    #[test]
    fn slowdowns_take_a_tenth_of_the_time() {
        let (mut ledbat, mut drive) = steady();
        ledbat.avoid(Time::ZERO, Duration::ZERO);
        let (mut down, mut rounds) = (0, 0);
        while rounds < 2_000 {
            drive.round(&mut ledbat, BASE_US);
            rounds += 1;
            down += u32::from(!matches!(ledbat.phase, Phase::Avoidance(_)));
        }
        assert!((150..=260).contains(&down), "{down}");
    }

    #[test]
    fn a_loss_halves() {
        let (mut ledbat, mut drive) = steady();
        assert_eq!(drive.lose(&mut ledbat), 50);
    }
}
