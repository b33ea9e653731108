//! # Illinois
//!
//! ## Idea
//! Loss decides when the window grows and when it is reduced; delay decides by how much. While the queue is empty,
//! growth is fast. When the queue is nearly full, growth is slow and a reduction is large.
//!
//! ## Source and revision
//! Liu, Başar and Srikant, "TCP-Illinois: a loss and delay-based congestion control algorithm for high-speed
//! networks", VALUETOOLS 2006; behaviour of Linux 7.2 `net/ipv4/tcp_illinois.c`.
//!
//! ## Signals
//! Loss, classic ECN marks; the average RTT of each round, relative to the smallest and the largest RTT of the
//! connection.
//!
//! ## State diagram
//! slow start → (cwnd ≥ ssthresh) → growth by alpha packets per round, with alpha and beta updated once per round →
//! (congestion) → ssthresh = (1 - beta) cwnd.
//!
//! ## Deviations from the source
//! None known. Details of Linux that apply here, too:
//!
//! - The largest RTT is never reset, so after one outlier the algorithm barely responds to delay any more.
//! - An ACK that ends recovery counts for growth in full.
//! - When slow start ends within an ACK, the remaining packets of the ACK do not count for growth.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`).

use crate::registry::Algorithm;
use crate::{Ack, Congestion, Path, Probe, Window, WindowAlgorithm};
use params::params;

params! {
    /// Parameters of Illinois.
    pub struct IllinoisParams {
        /// Window below which Illinois behaves like Reno.
        win_thresh: u32 = 15, "packets", 2..=10_000;
        /// Rounds with a short delay after which growth is at its maximum again.
        theta: u32 = 5, "rounds", 1..=1_000;
    }
}

/// Fixed-point value of 1 in alpha.
const ALPHA_ONE: u64 = 128;
/// Fixed-point value of 1 in beta.
const BETA_ONE: u64 = 64;
const ALPHA_MIN: u64 = 3 * ALPHA_ONE / 10;
const ALPHA_MAX: u64 = 10 * ALPHA_ONE;
const BETA_MIN: u64 = BETA_ONE / 8;
const BETA_MAX: u64 = BETA_ONE / 2;
/// Upper limit of RTTs, so that Linux's products fit 32 bits.
const RTT_MAX_US: u64 = u32::MAX as u64 / ALPHA_MAX;

/// A sender with AIMD whose constants depend on the queueing delay.
pub struct Illinois {
    params: IllinoisParams,
    window: Window,
    alpha: u64,
    beta: u64,
    base_us: u64,
    max_us: u64,
    round_end: u64,
    round_us: u64,
    samples: u64,
    delay_was_long: bool,
    short_rounds: u32,
}

impl Algorithm for Illinois {
    type Params = IllinoisParams;
    const TITLE: &'static str = "Illinois (AIMD steered by delay)";
    const SOURCE: &'static str = "Liu, Başar and Srikant 2006; Linux net/ipv4/tcp_illinois.c";

    fn new(params: IllinoisParams, _seed: u64) -> Illinois {
        Illinois {
            params,
            window: Window::default(),
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            base_us: u64::MAX,
            max_us: 0,
            round_end: 0,
            round_us: 0,
            samples: 0,
            delay_was_long: false,
            short_rounds: 0,
        }
    }
}

impl Illinois {
    fn start_round(&mut self, next: u64) {
        self.round_end = next;
        self.round_us = 0;
        self.samples = 0;
    }

    fn become_reno(&mut self) {
        self.alpha = ALPHA_ONE;
        self.beta = BETA_MAX;
    }

    fn judge_round(&mut self) {
        if self.window.cwnd < self.params.win_thresh {
            self.become_reno();
        } else if let Some(mean) = self.round_us.checked_div(self.samples) {
            let longest = self.max_us - self.base_us;
            let average = mean - self.base_us;
            self.alpha = self.choose_alpha(average, longest);
            self.beta = choose_beta(average, longest);
        }
    }

    /// Compute the increase from the average queueing delay of a round and the longest queueing delay, both in
    /// microseconds.
    fn choose_alpha(&mut self, average: u64, longest: u64) -> u64 {
        let short = longest / 100;
        if average > short {
            self.delay_was_long = true;
            let (range, excess) = (longest - short, average - short);
            return range * ALPHA_MAX / (range + excess * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN);
        }
        if !self.delay_was_long {
            return ALPHA_MAX;
        }
        self.short_rounds += 1;
        if self.short_rounds < self.params.theta {
            return self.alpha;
        }
        self.short_rounds = 0;
        self.delay_was_long = false;
        ALPHA_MAX
    }
}

/// The decrease: 1/8 up to a tenth of the longest queueing delay, 1/2 from eight tenths on, and linear in between.
fn choose_beta(average: u64, longest: u64) -> u64 {
    let (low, high) = (longest / 10, longest * 8 / 10);
    if average <= low {
        BETA_MIN
    } else if average >= high || high <= low {
        BETA_MAX
    } else {
        (BETA_MIN * high + (BETA_MAX - BETA_MIN) * average - BETA_MAX * low) / (high - low)
    }
}

impl WindowAlgorithm for Illinois {
    has_window!();

    fn established(&mut self, path: &Path) {
        self.start_round(path.next);
    }

    fn measure(&mut self, ack: &Ack, path: &Path) {
        if let Some(rtt) = ack.rtt {
            let rtt_us = rtt.as_micros().min(RTT_MAX_US);
            self.base_us = self.base_us.min(rtt_us);
            self.max_us = self.max_us.max(rtt_us);
            self.round_us += rtt_us;
            self.samples += 1;
        }
        if ack.may_grow && ack.una > self.round_end {
            self.judge_round();
            self.start_round(path.next);
        }
    }

    fn grow(&mut self, ack: &Ack, _path: &Path) {
        if self.window.in_slow_start() {
            self.window.slow_start(ack.acked);
            return;
        }
        self.window.credit = self.window.credit.saturating_add(ack.cumulative);
        let increments = u64::from(self.window.credit) * self.alpha / ALPHA_ONE / u64::from(self.window.cwnd);
        if increments > 0 {
            self.window.cwnd = self.window.cwnd.saturating_add(increments as u32);
            self.window.credit = 0;
        }
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.window.cwnd - (u64::from(self.window.cwnd) * self.beta / BETA_ONE) as u32
    }

    fn timed_out(&mut self, path: &Path) {
        self.become_reno();
        self.short_rounds = 0;
        self.delay_was_long = false;
        self.start_round(path.next);
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        probe.see("alpha", self.alpha as f64 / ALPHA_ONE as f64, "packets/round");
        probe.see("beta", self.beta as f64 / BETA_ONE as f64, "");
        if self.max_us > 0 {
            probe.see("base_rtt", self.base_us as f64 / 1e6, "s");
            probe.see("max_rtt", self.max_us as f64 / 1e6, "s");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    const BASE_US: u64 = 40_000;
    const MAX_US: u64 = 80_000;

    /// A flow in congestion avoidance that has measured the longest delay.
    fn steady(cwnd: u32) -> (Illinois, Drive) {
        let (mut illinois, mut drive) = (Illinois::new(IllinoisParams::default(), 0), Drive::new());
        illinois.window.ssthresh = 2;
        for rtt in [BASE_US, MAX_US] {
            illinois.set_cwnd(cwnd);
            drive.round(&mut illinois, rtt);
        }
        illinois.set_cwnd(cwnd);
        (illinois, drive)
    }

    #[test]
    fn growth_is_ten_per_round_until_a_delay_was_seen() {
        let (mut illinois, mut drive) = (Illinois::new(IllinoisParams::default(), 0), Drive::new());
        (illinois.window.cwnd, illinois.window.ssthresh) = (1_000, 2);
        (0..1_009).for_each(|_| drive.ack(&mut illinois, 1_000, 1, BASE_US)); // a round, including its growth
        assert_eq!(illinois.window.cwnd, 1_010);
    }

    #[test]
    fn the_longest_delay_gives_alpha_0_3_and_beta_one_half() {
        let (mut illinois, _) = steady(100);
        let longest = MAX_US - BASE_US;
        assert_eq!(illinois.choose_alpha(longest, longest), ALPHA_MIN);
        assert_eq!(choose_beta(longest, longest), BETA_ONE / 2);
    }

    #[test]
    fn no_delay_gives_alpha_10_after_five_rounds() {
        let (mut illinois, mut drive) = steady(100);
        drive.rounds(&mut illinois, 5, BASE_US); // the first ACK of a round ends the preceding round
        assert!(illinois.alpha < ALPHA_MAX, "{}", illinois.alpha);
        drive.rounds(&mut illinois, 2, BASE_US);
        assert_eq!(illinois.alpha, ALPHA_MAX);
    }

    #[test]
    fn no_delay_gives_beta_one_eighth() {
        let (mut illinois, mut drive) = steady(800);
        drive.rounds(&mut illinois, 2, BASE_US);
        let cwnd = illinois.window.cwnd;
        assert_eq!(drive.lose(&mut illinois), cwnd - cwnd / 8);
    }

    #[test]
    fn beta_is_linear_between_a_tenth_and_eight_tenths_of_the_longest_delay() {
        assert_eq!(choose_beta(10_000, 100_000), BETA_MIN);
        assert_eq!(choose_beta(45_000, 100_000), (BETA_MIN + BETA_MAX) / 2);
        assert_eq!(choose_beta(80_000, 100_000), BETA_MAX);
    }

    #[test]
    fn below_15_packets_it_is_reno() {
        let (mut illinois, mut drive) = steady(10);
        drive.round(&mut illinois, BASE_US);
        assert_eq!((illinois.alpha, illinois.beta), (ALPHA_ONE, BETA_ONE / 2));
    }

    #[test]
    fn one_outlier_desensitises_for_ever() {
        let (mut illinois, _) = steady(100);
        let before = illinois.choose_alpha(20_000, 40_000);
        illinois.max_us += 1_000_000;
        assert!(illinois.choose_alpha(20_000, 1_040_000) > 3 * before);
    }

    #[test]
    fn a_timeout_makes_it_reno_until_the_next_round() {
        let (mut illinois, mut drive) = steady(100);
        drive.time_out(&mut illinois);
        assert_eq!((illinois.alpha, illinois.beta), (ALPHA_ONE, BETA_ONE / 2));
    }
}
