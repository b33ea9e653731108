//! # LEDBAT
//!
//! ## Idea
//! Low extra delay background transport. The flow controls the queueing delay that it causes to a target (100 ms):
//! the window changes in proportion to the distance from the target. The flow fills an idle path and yields to any
//! flow that builds a queue.
//!
//! ## Source and revision
//! RFC 6817 (2012); ns-3 3.43 `tcp-ledbat.cc` for what the RFC leaves to implementations.
//!
//! ## Signals
//! One-way delay (current: smallest of the last four samples; base: smallest of the last ten minutes), loss, classic
//! ECN marks. If the transport does not measure the one-way delay, LEDBAT uses half the RTT. Half the RTT
//! contains only half of the queueing delay, so the target is then reached at twice the delay.
//!
//! ## State diagram
//! slow start (optional) → (delay above target, or congestion) → cwnd += gain · (target − queueing delay) / target ·
//! acked / cwnd, up to one packet more than the packets in flight → (congestion) → ssthresh = cwnd / 2.
//!
//! ## Deviations from the source
//! Windows are whole packets: fractional changes accumulate. The RFC does not specify slow start. Here slow start
//! ends when the queueing delay first exceeds the target, and begins again only after a timeout. In ns-3, slow
//! start instead ends at a loss.
//!
//! Known weaknesses of LEDBAT are not corrected. A later flow mistakes the queue of an earlier flow for
//! propagation delay of the path, and starves the earlier flow. If the buffer is shorter than the target, the
//! delay never reaches the target and LEDBAT is as aggressive as Reno.
//!
//! ## Validated against
//! The law of RFC 6817 section 2.4.2 (unit tests of this module); the target delay of a single flow, and yielding to
//! Reno (`tests/theory/test_delay_based.py`).

use crate::filter::Recent;
use crate::registry::Algorithm;
use crate::window::MIN_CWND;
use crate::{Ack, Congestion, Path, Probe, Window, WindowAlgorithm};
use params::params;
use units::{Duration, Time};

params! {
    /// Parameters of LEDBAT.
    pub struct LedbatParams {
        /// Target of the queueing delay.
        target_ms: u32 = 100, "ms", 1..=10000;
        /// Growth of the window per round trip without queueing delay.
        gain: f64 = 1.0, "packets", 0.01..=1.0;
        /// Largest excess of the window over the packets in flight.
        allowed_increase: u32 = 1, "packets", 1..=1000;
        /// Length of the window whose smallest delay is the base delay.
        base_history: u32 = 10, "minutes", 1..=60;
        /// Number of latest samples whose minimum is the current delay.
        current_filter: u32 = 4, "", 1..=64;
        /// Whether to begin with slow start.
        slow_start: bool = true, "";
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// A sender that controls its queueing delay to a target.
pub struct Ledbat {
    params: LedbatParams,
    target: Duration,
    targets_per_nano: f64,
    window: Window,
    current: Recent,
    base: Recent,
    minute_ends: Time,
    /// Fraction of a packet by which the window exceeds `cwnd`.
    fraction: f64,
}

impl Algorithm for Ledbat {
    type Params = LedbatParams;
    const TITLE: &'static str = "LEDBAT (background traffic with a delay target)";
    const SOURCE: &'static str = "RFC 6817; ns-3 tcp-ledbat.cc";

    fn new(params: LedbatParams, _seed: u64) -> Ledbat {
        let target = Duration::from_millis(u64::from(params.target_ms));
        Ledbat {
            target,
            targets_per_nano: 1.0 / target.as_nanos() as f64,
            window: Window::default(),
            current: Recent::new(params.current_filter),
            base: Recent::new(params.base_history),
            minute_ends: Time::ZERO,
            fraction: 0.0,
            params,
        }
    }
}

impl Ledbat {
    fn sample(&mut self, delay: Duration, now: Time) {
        if now < self.minute_ends {
            self.base.lower_last(delay);
        } else {
            self.minute_ends =
                Time::ZERO + MINUTE * (now.since(Time::ZERO).as_nanos() / MINUTE.as_nanos() + 1);
            self.base.push(delay);
        }
        self.current.push(delay);
    }

    fn queueing_delay(&self) -> Duration {
        self.current.min().saturating_sub(self.base.min())
    }

    /// Relative distance of the queueing delay from the target: 1 without queueing, negative above the target.
    fn off_target(&self) -> f64 {
        1.0 - self.queueing_delay().as_nanos() as f64 * self.targets_per_nano
    }

    fn steer(&mut self, ack: &Ack, path: &Path) {
        if self.window.in_slow_start() {
            if self.params.slow_start && self.queueing_delay() <= self.target {
                if path.cwnd_limited {
                    self.window.slow_start(ack.acked);
                }
                return;
            }
            self.window.ssthresh = self.window.cwnd.max(MIN_CWND);
        }
        let off_target = self.off_target();
        if off_target < 0.0 || path.cwnd_limited {
            self.move_by(
                self.params.gain * off_target * f64::from(ack.acked) / f64::from(self.window.cwnd),
                ack,
            );
        }
    }

    /// Change the window by whole packets and save the fraction of a packet for later changes.
    fn move_by(&mut self, packets: f64, ack: &Ack) {
        let before = f64::from(self.window.cwnd);
        let allowed = f64::from(ack.prior_in_flight + self.params.allowed_increase).max(before);
        let floor = f64::from(MIN_CWND).min(before); // a timeout may have set a smaller window
        let wanted = (before + self.fraction + packets).clamp(floor, allowed);
        self.window.cwnd = wanted as u32;
        self.fraction = wanted - f64::from(self.window.cwnd);
    }
}

impl WindowAlgorithm for Ledbat {
    has_window!();

    fn measure(&mut self, ack: &Ack, path: &Path) {
        if let Some(delay) = ack.one_way_delay.or(ack.rtt.map(|rtt| rtt / 2)) {
            self.sample(delay, path.now);
        }
        // The window changes here, not in `grow`, because it must fall even when the flow does not fill it.
        if ack.may_grow && self.minute_ends > Time::ZERO {
            self.steer(ack, path);
        }
    }

    fn grow(&mut self, _ack: &Ack, _path: &Path) {}

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.fraction = 0.0;
        self.window.cwnd / 2
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        if self.minute_ends > Time::ZERO {
            probe.see("base_delay", self.base.min().as_secs_f64(), "s");
            probe.see("queueing_delay", self.queueing_delay().as_secs_f64(), "s");
            probe.see("off_target", self.off_target(), "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    const EMPTY_US: u64 = 40_000;

    /// A flow with 100 packets after slow start, with a known base delay.
    fn steady() -> (Ledbat, Drive) {
        let (mut ledbat, mut drive) = (Ledbat::new(LedbatParams::default(), 0), Drive::new());
        drive.round(&mut ledbat, EMPTY_US);
        ledbat.set_cwnd(100);
        ledbat.window.ssthresh = 20;
        (ledbat, drive)
    }

    /// Growth of the window in ten rounds at this queueing delay, packets.
    fn gained_at(queueing_us: u64) -> i64 {
        let (mut ledbat, mut drive) = steady();
        drive.rounds(&mut ledbat, 1, EMPTY_US + queueing_us); // the filter still holds smaller delays
        let before = i64::from(ledbat.window.cwnd);
        drive.rounds(&mut ledbat, 10, EMPTY_US + queueing_us);
        i64::from(ledbat.window.cwnd) - before
    }

    #[test]
    fn without_queueing_it_gains_a_packet_per_round_trip() {
        assert!((9..=10).contains(&gained_at(0)), "{}", gained_at(0));
    }

    #[test]
    fn halfway_to_the_target_it_gains_half_a_packet_per_round_trip() {
        assert!((4..=5).contains(&gained_at(50_000)), "{}", gained_at(50_000));
    }

    #[test]
    fn on_target_it_stands() {
        assert_eq!(gained_at(100_000), 0);
    }

    #[test]
    fn at_twice_the_target_it_loses_a_packet_per_round_trip() {
        assert!((-11..=-9).contains(&gained_at(200_000)), "{}", gained_at(200_000));
    }

    #[test]
    fn one_small_delay_in_four_hides_queueing() {
        let (mut ledbat, mut drive) = steady();
        for rtt_us in [200_000, 200_000, 200_000, EMPTY_US] {
            drive.ack(&mut ledbat, 100, 1, rtt_us);
        }
        assert_eq!(ledbat.queueing_delay(), Duration::ZERO);
    }

    #[test]
    fn the_base_delay_is_forgotten_after_ten_minutes() {
        let (mut ledbat, _) = steady();
        let later = |minutes: u64| Time::ZERO + Duration::from_secs(60 * minutes);
        let (old, new) = (ledbat.base.min(), Duration::from_millis(80));
        for minute in 1..=9 {
            ledbat.sample(new, later(minute));
            assert_eq!(ledbat.base.min(), old, "minute {minute}");
        }
        ledbat.sample(new, later(10));
        assert_eq!(ledbat.base.min(), new);
    }

    #[test]
    fn the_window_stays_within_a_packet_of_what_was_in_flight() {
        let (mut ledbat, mut drive) = steady();
        for _ in 0..1000 {
            drive.ack(&mut ledbat, 100, 1, EMPTY_US);
        }
        assert_eq!(ledbat.window.cwnd, 101);
    }

    #[test]
    fn a_loss_halves() {
        let (mut ledbat, mut drive) = steady();
        assert_eq!(drive.lose(&mut ledbat), 50);
    }
}
