//! # NV
//!
//! ## Idea
//! New Vegas ("Nevada"). The largest rate of a decision period times the smallest RTT is the window that the path can
//! carry. NV holds the window above this value by a fixed number of packets, the pad. Each decision needs many
//! samples, so that bursts and batched ACKs of segmentation offload do not look like congestion.
//!
//! ## Source and revision
//! Behaviour of Linux 7.2 `net/ipv4/tcp_nv.c` (Brakmo, 2010-2016). There is no paper.
//!
//! ## Signals
//! RTT, packets delivered between sending a packet and its ACK, loss, classic ECN marks.
//!
//! ## State diagram
//! growing (slow start, then like Reno) → (excess above the pad after at least 60 samples, 30 in the first slow start)
//! → holding: up to 30 % of the excess is cut per decision → (excess 2 packets or more below the pad after at least 20
//! samples) → growing. Congestion: ssthresh = 0.8 cwnd and holding until the next decision without congestion. Each
//! timeout halves the speed of growth. More than eight successive decisions without congestion double the speed.
//!
//! ## Deviations from the source
//! Two deviations from Linux: the RTT floor is not configurable, whereas a BPF program can set it in Linux. Jiffies
//! are exact milliseconds.
//!
//! The RTT floor is the smallest average RTT of the last 3.75 to 6.25 s (2 s at first), as in Linux. The floor
//! includes the queue of the flow itself, which NV never drains. The window is 10 packets above the BDP until the
//! floor is first renewed. Each renewal then adds about nine packets to the window. At 20 Mbit/s and 40 ms the
//! successive windows are 77, 86, 95 and 104 packets here, and 76, 85, 94 and 103 in Linux 7.2. A decision to
//! shrink needs at least 60 ACKs, so small windows react slowly.
//!
//! ## Validated against
//! Linux 7.2 in virtual time (`tests/differential`); the steady window (`tests/theory/test_delay_based.py`).

use crate::registry::Algorithm;
use crate::window::MIN_CWND;
use crate::{Ack, CaState, Congestion, Path, Probe, Window, WindowAlgorithm};
use params::params;
use units::{Duration, Rng, Time};

params! {
    /// Parameters of NV.
    pub struct NvParams {
        /// Largest excess of the window over the window that the path carries (the pad).
        pad: u32 = 10, "packets", 0..=10000;
        /// Distance below the pad in which the window neither grows nor shrinks.
        pad_buffer: u32 = 2, "packets", 0..=10000;
        /// Mean time between renewals of the RTT floor.
        reset_period_s: f64 = 5.0, "s", 0.1..=3600.0;
        /// Share of the window's excess that one decision removes.
        cong_dec_mult: u32 = 38, "1/128", 0..=128;
        /// Factor of the window on a loss.
        loss_dec_factor: u32 = 819, "1/1024", 102..=1024;
        /// Weight of a new RTT in the average; 0: no average.
        rtt_factor: u32 = 128, "1/256", 0..=256;
        /// Growth that timeouts have slowed becomes twice as fast after more than this number of successive decisions
        /// without congestion; 0: timeouts do not slow growth.
        growth_rate_neg: u32 = 8, "decisions", 0..=255;
        /// Samples needed for a decision to shrink the window.
        dec_eval_min_calls: u32 = 60, "", 1..=255;
        /// Samples needed for a decision to grow.
        inc_eval_min_calls: u32 = 20, "", 1..=255;
        /// Samples needed to leave the first slow start.
        ssthresh_eval_min_calls: u32 = 30, "", 1..=255;
        /// Rounds without a decision after which growth stops, if the window is too large.
        stop_rtt_cnt: u32 = 10, "rounds", 1..=255;
        /// Rounds needed for a decision to shrink the window.
        rtt_min_cnt: u32 = 2, "rounds", 1..=255;
    }
}

/// Time until the RTT floor is first renewed.
const FIRST_RESET: Duration = Duration::from_secs(2);
/// Smallest number of packets by which a round with a single ACK is extended.
const LEAST_STRETCH: u32 = 4;
const STRETCH_STEP: u32 = 2;
/// Largest number of packets by which rounds are extended: a burst of the largest size and one packet.
const MOST_STRETCH: u32 = 81;
/// Largest slowdown of growth by timeouts, as a power of two.
const SLOWEST_GROWTH: u32 = 8;
/// Limit of the counters of a decision period, which are one byte wide in Linux.
const MOST: u32 = 255;

/// Samples of a decision period.
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    /// Largest ratio of packets in flight to RTT, packets per second times 2^16.
    rate: u64,
    samples: u32,
    rounds: u32,
}

/// A sender whose window exceeds the window that the path carries by a fixed pad.
pub struct Nv {
    params: NvParams,
    window: Window,
    rng: Rng,
    average_us: u64,
    floor_us: u64,
    next_floor_us: u64,
    floor_reset: Time,
    evidence: Evidence,
    round_end: u64,
    last_una: u64,
    stretch: u32,
    allowed_to_grow: bool,
    /// Slowdown of growth, as a power of two.
    slowness: u32,
    good_decisions: u32,
    /// Whether a congestion episode is under way. Measurements restart after the episode.
    disturbed: bool,
}

impl Algorithm for Nv {
    type Params = NvParams;
    const TITLE: &'static str = "NV (New Vegas, for bursty hosts)";
    const SOURCE: &'static str = "Linux net/ipv4/tcp_nv.c";

    fn new(params: NvParams, seed: u64) -> Nv {
        Nv {
            params,
            window: Window::default(),
            rng: Rng::stream(seed, "nv/reset"),
            average_us: 0,
            floor_us: u64::MAX,
            next_floor_us: u64::MAX,
            floor_reset: Time::ZERO + FIRST_RESET,
            evidence: Evidence::default(),
            round_end: 0,
            last_una: 0,
            stretch: LEAST_STRETCH,
            allowed_to_grow: true,
            slowness: 0,
            good_decisions: 0,
            disturbed: false,
        }
    }
}

/// Measurements.
impl Nv {
    /// Process one sample: update the average RTT, the largest rate and the RTT floor.
    fn sample(&mut self, rtt: Duration, in_flight: u32, now: Time) {
        let average_us = self.average(rtt.as_micros()).max(1);
        let rate = ((u64::from(in_flight) * 1_000_000) << 16) / average_us;
        self.evidence.rate = self.evidence.rate.max(rate);
        self.evidence.samples = (self.evidence.samples + 1).min(MOST);
        self.floor_us = self.floor_us.min(average_us);
        self.next_floor_us = self.next_floor_us.min(average_us);
        if now >= self.floor_reset {
            self.floor_us = std::mem::replace(&mut self.next_floor_us, u64::MAX);
            let spread = f64::from(384 + self.rng.below(256)) / 512.0;
            self.floor_reset = now + Duration::from_nanos((self.params.reset_period_s * spread * 1e9) as u64);
            self.stretch = (self.stretch / 2).max(LEAST_STRETCH);
        }
    }

    fn average(&mut self, rtt_us: u64) -> u64 {
        let weight = u64::from(self.params.rtt_factor);
        if weight == 0 {
            return rtt_us;
        }
        if self.average_us > 0 {
            self.average_us = (rtt_us * weight + self.average_us * (256 - weight)) >> 8;
        } else {
            self.average_us = rtt_us;
            self.floor_us = 2 * rtt_us;
        }
        self.average_us
    }

    /// The window that the path carries: the largest rate times the RTT floor, packets.
    fn carried(&self) -> u32 {
        let packets = u128::from(self.evidence.rate) * u128::from(self.floor_us) / (1_000_000 << 16);
        packets.min(u128::from(u32::MAX / 2)) as u32
    }

    /// End a round. Decide on the window if there are enough samples.
    fn end_round(&mut self, acked: u64, path: &Path) {
        self.round_end = path.next;
        self.evidence.rounds = (self.evidence.rounds + 1).min(MOST);
        let alone = self.evidence.samples == 1;
        if alone && acked >= u64::from(self.stretch - 1) && self.stretch < MOST_STRETCH {
            // One ACK for the whole window: with segmentation offload, such a small window gives no useful sample.
            self.stretch = (self.stretch + STRETCH_STEP).min(MOST_STRETCH);
            self.round_end = path.next + u64::from(self.stretch);
            self.evidence.samples = 0;
            self.allowed_to_grow = true;
            return;
        }
        let limit = self.carried() + self.params.pad;
        let decided = if self.window.cwnd > limit {
            self.hold(limit)
        } else if self.window.cwnd + self.params.pad_buffer <= limit {
            self.release()
        } else {
            false
        };
        if decided {
            self.evidence = Evidence::default();
        }
    }
}

/// Decisions.
impl Nv {
    /// Shrink a window above `limit`, if there are enough samples. True if a decision was made.
    fn hold(&mut self, limit: u32) -> bool {
        let Evidence { samples, rounds, .. } = self.evidence;
        if rounds < self.params.rtt_min_cnt {
            return false;
        }
        let first = self.window.ssthresh == u32::MAX;
        let needed = if first { self.params.ssthresh_eval_min_calls } else { self.params.dec_eval_min_calls };
        if samples < needed {
            if !first && rounds > self.params.stop_rtt_cnt {
                self.allowed_to_grow = false;
            }
            return false;
        }
        self.allowed_to_grow = false;
        self.good_decisions = 0;
        self.window.ssthresh = limit.max(MIN_CWND);
        let floor = MIN_CWND.min(self.window.cwnd);
        let excess = self.window.cwnd - limit;
        if excess > 2 {
            let cut = (u64::from(excess) * u64::from(self.params.cong_dec_mult)) >> 7;
            self.window.cwnd -= cut.max(2) as u32;
        } else if self.params.cong_dec_mult > 0 {
            self.window.cwnd = limit;
        }
        self.window.cwnd = self.window.cwnd.max(floor);
        true
    }

    /// Let a window well below its limit grow, if there are enough samples. True if a decision was made.
    fn release(&mut self) -> bool {
        if self.evidence.samples < self.params.inc_eval_min_calls {
            return false;
        }
        self.allowed_to_grow = true;
        self.good_decisions = (self.good_decisions + 1).min(MOST);
        let patience = self.params.growth_rate_neg;
        if self.slowness > 0 && patience > 0 && self.good_decisions > patience {
            self.slowness -= 1;
            self.good_decisions = 0;
        }
        true
    }

    fn begin_anew(&mut self, ack: &Ack) {
        self.disturbed = false;
        self.evidence = Evidence::default();
        self.good_decisions = 0;
        self.average_us = 0;
        self.round_end = ack.una;
        self.last_una = ack.una;
    }
}

impl WindowAlgorithm for Nv {
    has_window!();

    fn established(&mut self, path: &Path) {
        self.floor_reset = path.now + FIRST_RESET;
    }

    fn measure(&mut self, ack: &Ack, path: &Path) {
        if let Some(rtt) = ack.rtt
            && ack.prior_state <= CaState::Disorder
        {
            let acked = ack.una.saturating_sub(self.last_una);
            self.last_una = ack.una;
            if let Some(rate) = ack.rate.filter(|r| r.delivered > 0) {
                self.sample(rtt, rate.delivered, path.now);
                if ack.una > self.round_end {
                    self.end_round(acked, path);
                }
            }
        }
        if self.disturbed && path.state == CaState::Open {
            self.begin_anew(ack);
        }
    }

    fn grow(&mut self, ack: &Ack, _path: &Path) {
        if !self.allowed_to_grow {
            return;
        }
        let left = if self.window.in_slow_start() { self.window.slow_start(ack.acked) } else { ack.acked };
        if left > 0 {
            let per_increment = if self.slowness > 0 {
                self.window.cwnd.saturating_mul(1 << self.slowness)
            } else {
                self.window.cwnd.max(4)
            };
            self.window.additive_increase(per_increment, left);
        }
    }

    fn reduced(&mut self, _congestion: Congestion, _path: &Path) -> u32 {
        self.disturbed = true;
        self.allowed_to_grow = false;
        ((u64::from(self.window.cwnd) * u64::from(self.params.loss_dec_factor)) >> 10) as u32
    }

    fn timed_out(&mut self, _path: &Path) {
        self.disturbed = true;
        self.allowed_to_grow = false;
        if self.params.growth_rate_neg > 0 {
            self.slowness = (self.slowness + 1).min(SLOWEST_GROWTH);
        }
    }

    fn variables(&self, probe: &mut Probe<'_>) {
        if self.floor_us != u64::MAX {
            probe.see("min_rtt", self.floor_us as f64 / 1e6, "s");
            probe.see("carried", f64::from(self.carried()), "packets");
        }
        probe.state("mode", if self.allowed_to_grow { "Growing" } else { "Holding" });
        probe.see("slowness", f64::from(self.slowness), "log2");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionControl;
    use crate::test_drive::Drive;

    const BASE_US: u64 = 40_000;

    /// A flow with `cwnd` packets in congestion avoidance, with a known base RTT.
    fn steady(cwnd: u32) -> (Nv, Drive) {
        let (mut nv, mut drive) = (Nv::new(NvParams::default(), 1), Drive::new());
        nv.established(&drive.path(0));
        nv.set_cwnd(cwnd);
        nv.window.ssthresh = 20;
        drive.ack(&mut nv, cwnd, 1, BASE_US);
        drive.ack(&mut nv, cwnd, 1, BASE_US);
        nv.set_cwnd(cwnd);
        (nv, drive)
    }

    #[test]
    fn a_loss_keeps_four_fifths() {
        let (mut nv, mut drive) = steady(1000);
        assert_eq!(drive.lose(&mut nv), 799); // 819/1024
    }

    #[test]
    fn a_full_pad_stops_growth_and_costs_at_most_three_tenths_of_the_excess() {
        let (mut nv, mut drive) = steady(100);
        let mut limits = Vec::new();
        for _ in 0..8 {
            let before = nv.window.cwnd;
            drive.round(&mut nv, 60_000); // the path carries two thirds of the window
            if nv.window.cwnd < before {
                let excess = before - nv.window.ssthresh;
                assert!(before - nv.window.cwnd <= (excess * 38 / 128).max(2), "{excess}");
                limits.push(nv.window.ssthresh);
            }
        }
        assert!(!limits.is_empty() && !nv.allowed_to_grow);
    }

    #[test]
    fn shrinking_takes_sixty_samples() {
        let (mut nv, mut drive) = steady(30);
        let mut shrunk = false;
        for _ in 0..300 {
            let (before, samples) = (nv.window.cwnd, nv.evidence.samples);
            drive.ack(&mut nv, before, 1, 90_000);
            if nv.window.cwnd < before {
                assert!(samples + 1 >= 60, "{samples}");
                shrunk = true;
            }
        }
        assert!(shrunk);
    }

    #[test]
    fn a_timeout_halves_growth_until_nine_good_decisions() {
        let (mut nv, mut drive) = steady(100);
        drive.time_out(&mut nv);
        assert_eq!(nv.slowness, 1);
        nv.set_cwnd(100);
        nv.window.ssthresh = 20;
        let mut good = 0;
        while nv.slowness > 0 {
            drive.round(&mut nv, BASE_US);
            good += 1;
            assert!(good < 20);
        }
        assert!((9..=11).contains(&good), "{good} rounds, each with a decision once RTTs are known");
    }

    #[test]
    fn growth_after_a_timeout_is_half_renos() {
        let (mut nv, mut drive) = steady(100);
        nv.slowness = 1;
        nv.params.growth_rate_neg = 255;
        let before = nv.window.cwnd;
        drive.rounds(&mut nv, 10, BASE_US);
        assert!((4..=5).contains(&(nv.window.cwnd - before)));
    }

    #[test]
    fn the_rtt_floor_is_renewed_after_two_seconds_and_then_every_4_to_6() {
        let (mut nv, mut drive) = steady(50);
        let mut reset = nv.floor_reset;
        assert_eq!(reset, Time::ZERO + FIRST_RESET);
        for _ in 0..20 {
            drive.rounds(&mut nv, 30, BASE_US);
            if nv.floor_reset != reset {
                let period = nv.floor_reset.since(reset).as_secs_f64();
                assert!((3.75..=6.3).contains(&period), "{period} s"); // up to one round late
                reset = nv.floor_reset;
            }
        }
        assert!(reset > Time::ZERO + Duration::from_secs(15));
    }
}
