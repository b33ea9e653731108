//! # TCP Prague
//!
//! ## Idea
//! DCTCP for the Internet. Packets have ECT(1) for low latency. A fractional window is reduced in proportion to the
//! share of marks. The window grows with every unmarked packet, even in a round trip with a reduction. Packets are
//! paced in short bursts. Some round trips after slow start, a flow with a short RTT begins to grow as slowly as
//! a flow with an RTT of 25 ms.
//!
//! ## Source and revision
//! Behaviour of L4STeam/linux `net/ipv4/tcp_prague.c`, version 0.6 (02573a215581; preset `v0.6`) and, for a window of
//! more than four packets, version 0.7 (893e1479793e; preset `v0.7`); draft-briscoe-iccrg-prague-congestion-control;
//! RFC 9331.
//!
//! ## Signals
//! Counted marks (AccECN, RFC 9768), loss, and the smoothed RTT for pacing and RTT independence.
//!
//! ## State diagram
//! slow start → (first marks) → additive increase by 1 packet (or less: RTT independence) per round trip of unmarked
//! packets. (marks, once per round trip) → window × (1 - alpha / 2). (loss, timeout) → window / 2 and no growth until
//! recovery ends. Once per round trip, from the first mark on: alpha ← alpha + (F - alpha) / 16, where F is the share
//! of marked packets.
//!
//! ## Deviations from the source
//! - Arithmetic is in floating point instead of fixed point, except for RTTs.
//! - Detection of classic ECN queues is not implemented, as the source disables it by default.
//! - Without ECN, Prague behaves like Reno with the transport's recovery, as in the source.
//! - A timeout immediately sets the slow-start threshold to half the window. In the source the window grows to the old
//!   threshold and then steps down, but the pacing rate corresponds to half the window from the timeout on.
//! - RTTs above 100 ms are not scaled. Version 0.6 compares two times in different units and therefore scales RTTs up
//!   to 12.8 s, which only matters for `additive` and `scalable`.
//! - Pacing allows at least one packet per 64 round trips. In the source, successive losses halve the fractional
//!   window, and so the rate, down to 0.
//! - Two rules of version 0.7 are not implemented. For windows up to four packets, version 0.7 computes a rate
//!   instead of a window, and paces alternately 3 % above and 3 % below this rate. In this case version 0.7 also
//!   shrinks packets, down to 150 bytes.
//!
//! ## Validated against
//! Laws of equilibrium, pacing and RTT independence (unit tests of this module, and `tests/theory`), and both
//! versions of the source in a kernel built with them, as Prague is not in the mainline kernel. Version 0.7 differs
//! from version 0.6:
//!
//! - Flows of 10 and 40 ms on 50 Mbit/s with a dual queue: in the kernel the share of the flow of 10 ms is 0.676 with
//!   version 0.6 and 0.763 with version 0.7. In this implementation the share is 0.679 with version 0.6 and 0.780
//!   with version 0.7. Bursts of single packets instead of pairs (`min_burst`) cause most of the difference:
//!   version 0.6 with single packets has 0.754.
//! - A single flow at 4 Mbit/s: single packets raise the rate from 2.43 to 3.51 Mbit/s, in the kernel and here.
//! - The first 10 s: RTT independence after 4 round trips reduces the rate from 46.4 to 42.9 Mbit/s. Version 0.7 with
//!   all its changes has 43.6 Mbit/s in this implementation. In the kernel, version 0.7 has 43.4 Mbit/s and
//!   version 0.6 has 46.2 Mbit/s.
//! - A flow at 1 Mbit/s, where the law for small windows is missing here: 0.86 Mbit/s, 38 ms of queueing delay and 43
//!   % of packets marked here; 0.83 Mbit/s, 33 ms and 58 % in the kernel.

use crate::registry::Algorithm;
use crate::rtt_scaling::RttScaling;
use crate::{
    Ack, CaState, Congestion, CongestionControl, Control, EcnMode, Path, Probe, Recovery, Traits, Undo,
    Window,
};
use params::params;
use units::{Duration, Rate, Time};

params! {
    /// Parameters of Prague, as in the module `tcp_prague`.
    pub struct PragueParams {
        /// Law that slows the growth of flows with a short RTT: none, rate, scalable or additive.
        rtt_scaling: RttScaling = RttScaling::Rate, "";
        /// RTT below which the growth of a flow is slowed down.
        rtt_target_ms: f64 = 25.0, "ms", 0.001..=100.0;
        /// Round trips after slow start until the growth of a flow is slowed down.
        rtt_transition: u32 = 500, "round trips", 0..=1_000_000;
        /// Longest burst as a power of two: 1/2^burst_shift seconds.
        burst_shift: u32 = 12, "", 0..=30;
        /// Smallest burst. With 1, a flow with a short RTT gets more bandwidth from a competing flow with a long
        /// RTT.
        min_burst: u32 = 2, "packets", 1..=44;
        /// Initial average of the share of marks.
        initial_alpha: f64 = 1.0, "", 0.0..=1.0;
        /// Whether the first mark halves the window, whatever the average share of marks.
        first_mark_halves: bool = false, "";
        /// Whether the pacing rate follows the window in whole packets, or the packets in flight if more, instead of
        /// the fractional window.
        pace_by_flight: bool = false, "";
        /// Whether growth per packet is computed from the fractional window, instead of the window in whole
        /// packets.
        growth_by_fraction: bool = false, "";
        /// Whether the fractional window follows slow start. If not, the pacing rate stays at one initial window
        /// per RTT. Slow start then ends soon for lack of packets in flight, and the window grows by one packet
        /// per round trip.
        slow_start_counts: bool = false, "";
    }
    presets {
        "v0.6" => {},
        "v0.7" => {
            rtt_transition: 4, min_burst: 1, initial_alpha: 0.0, first_mark_halves: true, pace_by_flight: true,
            growth_by_fraction: true, slow_start_counts: true,
        },
    }
}

/// Gain of the average share of marks.
/// L4STeam/linux `PRAGUE_SHIFT_G`.
const GAIN: f64 = 1.0 / 16.0;
/// Smallest growth for an unmarked packet: the resolution of the source's fractional window.
/// L4STeam/linux `prague_cong_control` (CWND_UNIT is 2^20).
const LEAST_GROWTH: f64 = 1.0 / (1u64 << 20) as f64;
/// Smallest window, packets.
/// L4STeam/linux `prague_frac_cwnd_to_snd_cwnd`.
const MIN_CWND: u32 = 2;
/// Smallest window used to compute the pacing rate, packets.
/// Own: keeps the rate above 0.
const LEAST_PACED: f64 = 1.0 / 64.0;
/// Smallest rate of version 0.7, bytes per second.
/// L4STeam/linux `MINIMUM_RATE`.
const MIN_RATE: f64 = 12_500.0;
/// Size of IP and TCP headers with timestamps, bytes: the source paces whole packets.
/// L4STeam/linux `prague_update_pacing_rate`.
const HEADERS: u64 = 52;
/// A paced sender with a fractional window, which is reduced in proportion to the share of marks.
pub struct Prague {
    params: PragueParams,
    /// Whether the receiver reports marks. Otherwise Prague behaves like Reno, and the fields declared after `window`
    /// are unused.
    ecn: bool,
    /// The window of the transport in whole packets, which follows `target` by one packet per ACK.
    window: Window,
    /// The fractional window, packets.
    target: f64,
    /// `target` and cwnd when the last loss was detected.
    before_loss: (f64, u32),
    /// Average share of packets marked.
    alpha: f64,
    saw_marks: bool,
    /// Whether growth waits for the end of recovery.
    in_loss: bool,
    state: CaState,
    /// Growth per round trip of unmarked packets.
    increase: f64,
    round: Round,
    /// When the window was last reduced for marks.
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
        "L4STeam/linux net/ipv4/tcp_prague.c 0.6 and 0.7; draft-briscoe-iccrg-prague-congestion-control";

    fn new(params: PragueParams, _seed: u64) -> Prague {
        let window = Window::default();
        Prague {
            ecn: true,
            target: f64::from(window.cwnd),
            window,
            before_loss: (0.0, 0),
            alpha: params.initial_alpha,
            saw_marks: false,
            in_loss: false,
            state: CaState::Open,
            increase: 1.0,
            round: Round::default(),
            cut_at: Time::ZERO,
            rate: None,
            burst: params.min_burst,
            params,
        }
    }
}

impl Prague {
    fn is_old(&self) -> bool {
        self.params.rtt_scaling != RttScaling::None && self.round.count >= self.params.rtt_transition
    }

    /// Whether an RTT-independent flow must wait, as less time than the target RTT has passed since `last`.
    /// L4STeam/linux `prague_target_rtt_elapsed`.
    fn must_wait(&self, last: Time, path: &Path) -> bool {
        let independent = self.is_old() && !self.window.in_slow_start();
        independent && path.now.since(last) < self.params.rtt_scaling.target(self.rtt_target(), path)
    }

    fn rtt_target(&self) -> Duration {
        Duration::from_nanos((self.params.rtt_target_ms * 1e6) as u64)
    }

    /// Grow by slow start, then by additive increase. False if slow start used all packets. In this case the window
    /// does not follow the target, which is above the window after a timeout or an idle time.
    /// L4STeam/linux `prague_ai_ack_increase`, `prague_update_cwnd`.
    fn grow(&mut self, unmarked: u32) -> bool {
        let mut left = unmarked;
        if self.window.in_slow_start() {
            left = self.window.slow_start(unmarked);
            if self.params.slow_start_counts {
                self.target = self.target.max(f64::from(self.window.cwnd));
            }
            if left == 0 {
                return false;
            }
        }
        let window = if self.params.growth_by_fraction { self.target.max(1.0) } else { self.whole() };
        let step = (f64::from(left) * self.increase / window).max(f64::from(left) * LEAST_GROWTH);
        self.target = (self.target + step).min(f64::from(u32::MAX));
        true
    }

    /// The target in whole packets.
    fn whole(&self) -> f64 {
        self.target.ceil().max(1.0)
    }

    /// Move the window by at most one packet towards the target. A decrease ends slow start.
    /// L4STeam/linux `prague_frac_cwnd_to_snd_cwnd`.
    fn follow(&mut self) {
        let whole = self.whole() as u32;
        if self.window.cwnd > whole && self.window.cwnd > MIN_CWND {
            self.window.cwnd -= 1;
            self.window.ssthresh = self.window.cwnd;
        } else if self.window.cwnd < whole {
            self.window.cwnd += 1;
        }
    }

    /// L4STeam/linux `prague_enter_cwr`.
    fn cut_for_marks(&mut self, path: &Path) {
        if !self.must_wait(self.cut_at, path) {
            self.cut_at = path.now;
            self.target -= self.target * self.alpha / 2.0;
        }
    }

    /// L4STeam/linux `prague_enter_loss`.
    fn cut_for_loss(&mut self) {
        self.before_loss = (self.target, self.window.cwnd);
        self.target /= 2.0;
        self.in_loss = true;
    }

    /// End the round trip, if it is over and RTT independence allows the end.
    /// L4STeam/linux `prague_update_alpha`, `prague_should_update_ewma`.
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

    /// L4STeam/linux `prague_new_round`.
    fn start_round(&mut self, path: &Path) {
        self.round = Round { end: path.next, delivered: path.delivered, marked: path.marked, ..self.round };
        self.scale_increase(path);
    }

    /// L4STeam/linux `prague_ai_ack_increase`, which `prague_new_round` and `prague_cwnd_changed` call.
    fn scale_increase(&mut self, path: &Path) {
        let scaling = if self.is_old() { self.params.rtt_scaling } else { RttScaling::None };
        self.increase = scaling.increase(self.rtt_target(), path);
    }

    /// Set the pacing rate: one window per RTT, or two in early slow start. Set the largest burst: by default,
    /// the packets of 1/4096 s at the pacing rate.
    /// L4STeam/linux `prague_update_pacing_rate`.
    fn pace(&mut self, path: &Path) {
        let Some(srtt) = path.srtt else { return };
        let gain = if self.window.cwnd < self.window.ssthresh / 2 { 2.0 } else { 1.0 };
        let packet = (u64::from(path.mss) + HEADERS) as f64;
        let rtt = srtt.as_secs_f64().max(1e-6);
        let packets = if self.params.pace_by_flight {
            gain * (self.target.floor().max(f64::from(path.in_flight)) / rtt).max(MIN_RATE / packet)
        } else {
            gain * self.target.max(LEAST_PACED) / rtt
        };
        self.rate = Some(Rate::from_bits_per_sec(((packets * packet * 8.0) as u64).max(1)));
        let longest = packets / (1u64 << self.params.burst_shift) as f64;
        self.burst = (longest as u32).max(self.params.min_burst);
    }

    /// L4STeam/linux `prague_update_cwnd` (version 0.7: the first mark).
    fn see_marks(&mut self, marked: u32) {
        if marked > 0 && !std::mem::replace(&mut self.saw_marks, true) && self.params.first_mark_halves {
            self.target /= 2.0;
        }
    }

    /// L4STeam/linux `prague_reno`.
    fn as_reno(&mut self, ack: &Ack, path: &Path) {
        if ack.may_grow && path.cwnd_limited {
            self.window.reno(ack.acked);
        }
    }
}

impl CongestionControl for Prague {
    /// L4STeam/linux `prague_init`.
    fn on_established(&mut self, path: &Path) {
        self.ecn = path.ecn;
        self.target = f64::from(self.window.cwnd);
        self.round.updated = path.now;
        self.start_round(path);
        if self.ecn {
            self.pace(path);
        }
    }

    /// L4STeam/linux `prague_cong_control`.
    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        if !self.ecn {
            return self.as_reno(ack, path);
        }
        if (self.state, path.state) == (CaState::Cwr, CaState::Recovery) {
            self.cut_for_loss();
        }
        self.state = path.state;
        self.in_loss &= path.state != CaState::Open;
        self.see_marks(ack.marked);
        let before = self.window.cwnd;
        let unmarked = ack.acked.saturating_sub(ack.marked);
        let may_grow = unmarked > 0 && !self.in_loss && path.cwnd_limited;
        if !may_grow || self.grow(unmarked) {
            self.follow();
        }
        if self.window.cwnd != before {
            self.scale_increase(path);
        }
        self.end_round(path);
        self.pace(path);
    }

    /// L4STeam/linux `prague_ssthresh`, `prague_state`.
    fn on_congestion(&mut self, congestion: Congestion, path: &Path) {
        self.window.forget_credit();
        match congestion {
            Congestion::Timeout { first: false } => {}
            _ if !self.ecn => self.window.ssthresh = (self.window.cwnd / 2).max(MIN_CWND),
            Congestion::Loss => self.cut_for_loss(),
            Congestion::Timeout { .. } => {
                self.cut_for_loss();
                self.window.ssthresh = (self.whole() as u32).max(MIN_CWND);
            }
            Congestion::Ecn | Congestion::Delay | Congestion::TailLoss { .. } => self.cut_for_marks(path),
        }
    }

    /// L4STeam/linux `prague_state`.
    fn on_loss_in_reduction(&mut self, _path: &Path) {
        if self.ecn {
            self.cut_for_loss();
            self.state = CaState::Recovery; // `on_ack` must not do it again
        }
    }

    /// L4STeam/linux `prague_cwnd_undo`.
    fn on_undo(&mut self, undo: &Undo, _path: &Path) {
        let (target, cwnd) = self.before_loss;
        self.target = self.target.max(target);
        self.window.undo(&Undo { prior_cwnd: undo.prior_cwnd.max(cwnd), ..*undo });
        self.in_loss = false;
    }

    fn on_recovery_exit(&mut self, path: &Path) {
        self.in_loss = false;
        self.state = path.state; // a later congestion event of this ACK begins a new episode
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.window.set_cwnd(cwnd);
    }

    fn restart(&mut self, cwnd: u32) {
        self.window.restart(cwnd);
    }

    fn control(&self) -> Control {
        let plain = Control::window(&self.window);
        if !self.ecn {
            return plain;
        }
        Control { pacing_rate: self.rate, min_burst: self.params.min_burst, max_burst: self.burst, ..plain }
    }

    fn observe(&self, probe: &mut Probe<'_>) {
        self.window.observe(probe);
        probe.see("fractional_cwnd", self.target, "packets");
        probe.see("alpha", self.alpha, "");
        probe.see("increase", self.increase, "packets/round trip");
        probe.see("rounds", f64::from(self.round.count), "");
    }

    fn traits(&self) -> Traits {
        let recovery = if self.ecn { Recovery::Algorithm } else { Recovery::Transport };
        Traits { recovery, ecn: EcnMode::L4s, needs_pacing: self.ecn, slow_start: true, ..Traits::default() }
    }
}

#[cfg(test)]
mod tests;
