//! The outputs of BBRv1: window and pacing rate.

use super::{Base, Core, Mode, V1, Variant};
use crate::bbr::{Bandwidth, Gain, burst_goal, in_net_at_departure};
use crate::window::INITIAL_CWND;
use crate::{Ack, CaState, Path};
use std::cell::Cell;
use units::{Duration, Rate};

/// Return the cached value if the arguments are the same as in the last call.
/// Own: rates and round trips change rarely.
#[inline]
fn remembered<A: Copy + PartialEq>(last: &Cell<(A, u32)>, asked: A, work_out: impl FnOnce() -> u32) -> u32 {
    if last.get().0 != asked {
        last.set((asked, work_out()));
    }
    last.get().1
}

impl Core {
    /// The bandwidth-delay product times `gain`, packets.
    pub(crate) fn bdp(&self, bw: Bandwidth, gain: Gain) -> u32 {
        let Some(rtt) = self.min_rtt else { return INITIAL_CWND };
        remembered(&self.product, (bw, rtt, gain), || bw.bdp(rtt, gain))
    }

    /// Packets per burst.
    /// Linux `bbr_tso_segs_goal`.
    fn burst(&self, path: &Path) -> u32 {
        let asked = (self.pacing_rate, path.mss, path.max_burst_bytes);
        remembered(&self.burst, asked, || burst_goal(self.pacing_rate, path))
    }

    /// Linux `bbr_quantization_budget`.
    fn with_room_for_bursts(&self, packets: u32, gain: Gain, path: &Path) -> u32 {
        // Room for three bursts: one in the sender, one in the network, one waiting for its ACK. The sum is
        // rounded up to an even number.
        let packets = (packets + 3 * self.burst(path)).next_multiple_of(2);
        // Two more packets allow a probe even if the BDP is small.
        let probing = match (self.settings.base, self.mode) {
            (Base::Linux6_18, Mode::ProbeBw { phase, .. }) => phase == 0,
            (Base::Linux4_14, Mode::ProbeBw { .. }) => gain > Gain::UNIT,
            _ => false,
        };
        if probing { packets + 2 } else { packets }
    }

    /// Packets of `in_flight` that are still in the network at the next departure that pacing allows.
    /// Linux `bbr_packets_in_net_at_edt`.
    pub(super) fn in_net_at_departure(&self, in_flight: u32, path: &Path) -> u32 {
        if self.settings.base == Base::Linux4_14 {
            return in_flight;
        }
        let burst = if self.pacing_gain > Gain::UNIT { self.burst(path) } else { 0 };
        in_net_at_departure(in_flight, burst, self.bandwidth(), path)
    }

    /// Linux `bbr_init_pacing_rate_from_rtt`.
    pub(super) fn init_pacing_rate(&mut self, path: &Path) {
        self.seen_rtt = path.srtt.is_some();
        let rtt = path.srtt.unwrap_or(Duration::from_millis(1));
        let Core { cwnd, settings, .. } = *self;
        self.pacing_rate = Bandwidth::over(u64::from(cwnd), rtt).pacing_rate(
            path.mss,
            settings.startup_gain,
            settings.margin_percent,
        );
    }

    /// The pacing rate at the present bandwidth with this gain.
    /// Linux `bbr_bw_to_pacing_rate`.
    #[inline]
    fn paced_at(&mut self, gain: Gain, mss: u32) -> Rate {
        let asked = (self.bandwidth(), gain, mss);
        if self.paced.0 != asked {
            self.paced = (asked, asked.0.pacing_rate(mss, gain, self.settings.margin_percent));
        }
        self.paced.1
    }

    /// Linux `bbr_save_cwnd`.
    pub(super) fn save_cwnd(&mut self) {
        let undisturbed = self.prior_state < CaState::Recovery && !self.in_probe_rtt();
        self.prior_cwnd = if undisturbed { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }
}

impl<V: Variant> V1<V> {
    /// Bandwidth-delay product times `gain`, with room for bursts, packets.
    pub(super) fn inflight(&self, bw: Bandwidth, gain: Gain, path: &Path) -> u32 {
        self.core.with_room_for_bursts(self.variant.bdp(&self.core, bw, gain), gain, path)
    }

    /// Linux `bbr_set_pacing_rate`.
    #[inline]
    pub(super) fn set_pacing_rate(&mut self, gain: Gain, path: &Path) {
        let core = &mut self.core;
        if !core.seen_rtt && path.srtt.is_some() {
            core.init_pacing_rate(path);
        }
        let rate = core.paced_at(gain, path.mss);
        let rate = self.variant.pace(core, rate, path.mss);
        if core.pipe_full || rate > core.pacing_rate {
            core.pacing_rate = rate;
        }
    }

    /// Set the window on entering and leaving recovery. True if packet conservation applies to this ACK.
    /// Linux `bbr_set_cwnd_to_recover_or_restore`.
    fn recover_or_restore(&mut self, ack: &Ack, path: &Path) -> bool {
        let core = &mut self.core;
        core.cwnd = core.cwnd.saturating_sub(ack.lost).max(1);
        let entering = path.state == CaState::Recovery && core.prior_state != CaState::Recovery;
        if entering {
            core.conserve_packets = true; // packet conservation lasts for one round
            core.round_end = path.delivered;
        } else if core.prior_state >= CaState::Recovery && path.state < CaState::Recovery {
            if V::RESTORES_CWND {
                core.cwnd = core.cwnd.max(core.prior_cwnd);
            }
            core.conserve_packets = false;
        }
        core.prior_state = path.state;
        if core.conserve_packets {
            let flow = path.in_flight + ack.acked;
            core.cwnd = self.variant.conserve(core.cwnd, flow, path.in_flight, entering);
        }
        core.conserve_packets
    }

    /// Linux `bbr_set_cwnd`.
    pub(super) fn update_cwnd(&mut self, ack: &Ack, path: &Path) {
        if ack.acked > 0 && !self.recover_or_restore(ack, path) {
            let target = self.target(path);
            let core = &mut self.core;
            if core.pipe_full {
                core.cwnd = (core.cwnd + ack.acked).min(target);
            } else if core.cwnd < target || path.delivered < u64::from(INITIAL_CWND) {
                core.cwnd += ack.acked;
            }
            core.cwnd = core.cwnd.max(core.settings.min_cwnd);
        }
        let core = &mut self.core;
        if core.in_probe_rtt() {
            core.cwnd = core.cwnd.min(core.probe_rtt_cwnd);
        }
    }

    /// Target of the window, packets.
    /// Linux `bbr_set_cwnd`, `bbr_ack_aggregation_cwnd`, `bbr_quantization_budget`.
    pub(super) fn target(&self, path: &Path) -> u32 {
        let core = &self.core;
        let (bw, gain) = (core.bandwidth(), core.cwnd_gain);
        let allowance = if core.pipe_full { core.extra_acked.allowance(bw) } else { 0 };
        core.with_room_for_bursts(self.variant.bdp(core, bw, gain) + allowance, gain, path)
    }
}
