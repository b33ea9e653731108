//! Congestion signals: rounds, the bandwidth maximum over two cycles, the latest delivery, losses and marks.

use super::V3;
use super::flight::Flight;
use super::mode::Mode;
use super::rules::LossEvents;
use crate::bbr::{Bandwidth, Gain};
use crate::{Ack, CaState, Path};

/// Round trips, counted by delivered packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// `delivered` at which the present round ends.
    pub(super) end: u64,
    /// Whether this ACK starts a round.
    pub(super) start: bool,
    pub(super) count: u32,
    /// Rounds since the last probe, at most 255.
    pub(super) since_probe: u32,
}

/// Bandwidth maxima of this probing cycle and of the preceding cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth {
    before: Bandwidth,
    current: Bandwidth,
}

impl MaxBandwidth {
    /// google/bbr v3 `bbr_max_bw`.
    pub(super) fn get(&self) -> Bandwidth {
        self.before.max(self.current)
    }

    /// google/bbr v3 `bbr_take_max_bw_sample`; draft-ietf-ccwg-bbr `BBRUpdateMaxBw`.
    fn take(&mut self, sample: Bandwidth) {
        self.current = self.current.max(sample);
    }

    /// End a cycle and discard the maximum of the preceding cycle, unless this cycle had no sample.
    /// google/bbr v3 `bbr_advance_max_bw_filter`; draft-ietf-ccwg-bbr `BBRAdvanceMaxBwFilter`.
    pub(super) fn advance(&mut self) {
        if self.current > Bandwidth::default() {
            *self = MaxBandwidth { before: self.current, current: Bandwidth::default() };
        }
    }
}

/// Largest delivery in the present round of loss accounting, and the signals of congestion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latest {
    pub(super) bw: Bandwidth,
    /// Largest delivery of one sample, packets.
    pub(super) inflight: u32,
    pub(super) round_end: u64,
    /// Whether this ACK starts a round of loss accounting.
    pub(super) round_start: bool,
    pub(super) loss_in_round: bool,
    pub(super) marks_in_round: bool,
    pub(super) loss_in_cycle: bool,
    pub(super) marks_in_cycle: bool,
}

impl Latest {
    /// Reset all signals when a probing cycle begins.
    /// google/bbr v3 `bbr_reset_congestion_signals`; draft-ietf-ccwg-bbr `BBRResetCongestionSignals`.
    pub(super) fn reset(&mut self) {
        *self = Latest { round_end: self.round_end, round_start: self.round_start, ..Latest::default() };
    }

    /// Note a lost packet. The first loss restarts the round, so that the round covers a full round trip.
    /// google/bbr v3 `bbr_note_loss`; draft-ietf-ccwg-bbr `BBRNoteLoss`.
    pub(super) fn note_loss(&mut self, delivered: u64) {
        if !self.loss_in_round {
            self.round_end = delivered;
        }
        self.loss_in_round = true;
        self.loss_in_cycle = true;
    }
}

impl V3 {
    /// google/bbr v3 `bbr_update_round_start`; draft-ietf-ccwg-bbr `BBRUpdateRound`; `bbr_calculate_bw_sample`.
    pub(super) fn update_round(&mut self, ack: &Ack, path: &Path) {
        let sample = ack.bandwidth_sample();
        self.round.start = sample.is_some_and(|(s, _)| s.prior_delivered >= self.round.end);
        self.sample_bw =
            sample.map_or(Bandwidth::default(), |(s, i)| Bandwidth::covering(u64::from(s.delivered), i));
        if self.round.start {
            self.round.end = path.delivered;
            self.round.count = self.round.count.wrapping_add(1);
            self.round.since_probe = (self.round.since_probe + 1).min(255);
            self.end_mark_round(path);
        }
        self.latest.marks_in_round |= self.ecn.eligible && ack.marked > 0;
    }

    /// google/bbr v3 `bbr_update_latest_delivery_signals`; draft-ietf-ccwg-bbr `BBRUpdateLatestDeliverySignals`.
    pub(super) fn update_latest(&mut self, ack: &Ack, path: &Path) {
        self.latest.round_start = false;
        let Some((sample, _)) = ack.bandwidth_sample().filter(|_| ack.acked > 0) else { return };
        let latest = &mut self.latest;
        latest.bw = latest.bw.max(self.sample_bw);
        latest.inflight = latest.inflight.max(sample.delivered);
        if sample.prior_delivered >= latest.round_end {
            latest.round_end = path.delivered;
            latest.round_start = true;
        }
    }

    /// Update the bandwidth maximum, and once per round the short-term bounds.
    /// google/bbr v3 `bbr_update_congestion_signals`; draft-ietf-ccwg-bbr `BBRUpdateCongestionSignals`; `bbr_take_max_bw_sample`.
    pub(super) fn update_congestion_signals(&mut self, ack: &Ack) {
        let Some((sample, _)) = ack.bandwidth_sample().filter(|_| ack.acked > 0) else { return };
        if !sample.app_limited || self.sample_bw >= self.max_bw.get() {
            self.max_bw.take(self.sample_bw);
        }
        self.latest.loss_in_round |= ack.lost > 0;
        if self.latest.round_start {
            self.adapt_lower_bounds();
            self.latest.loss_in_round = false;
            self.latest.marks_in_round = false;
            if !self.rules.tail_loss {
                self.begin_latest(sample.delivered); // in version 2, before the end of a probe may reset `latest`
            }
        }
    }

    /// Begin a round of loss accounting with this sample.
    /// google/bbr v3 `bbr_advance_latest_delivery_signals`; draft-ietf-ccwg-bbr `BBRAdvanceLatestDeliverySignals`.
    fn begin_latest(&mut self, delivered: u32) {
        self.latest.bw = self.sample_bw;
        self.latest.inflight = delivered;
    }

    /// Finish an ACK. If the ACK started a round of loss accounting, the sample of the ACK is the first sample of
    /// that round. google/bbr v3 `bbr_main`, `bbr_advance_latest_delivery_signals`.
    pub(super) fn end_ack(&mut self, ack: &Ack, path: &Path) {
        if let Some(sample) = &ack.rate {
            // The latest delivery before a possible tail loss is kept until the loss is confirmed or excluded.
            if self.latest.round_start && self.rules.tail_loss && !ack.acks_probe {
                self.begin_latest(sample.delivered);
            }
            self.latest.loss_in_cycle |= sample.lost > 0;
            self.latest.marks_in_cycle |= sample.marked > 0;
        }
        self.prior_state = path.state;
    }

    /// Whether the losses or the marks of a flight exceed their threshold.
    /// google/bbr v3 `bbr_is_inflight_too_high`; draft-ietf-ccwg-bbr `BBRIsInflightTooHigh`.
    pub(super) fn is_too_high(&self, flight: &Flight) -> bool {
        let share = (u64::from(flight.tx_in_flight) * u64::from(self.rules.loss_threshold.0)) >> 8;
        let lossy = flight.tx_in_flight > 0 && u64::from(flight.lost) > share;
        lossy || self.marks_are_too_many(flight)
    }

    /// The bandwidth in use: the maximum within its bounds.
    /// google/bbr v3 `bbr_bw`; draft-ietf-ccwg-bbr `BBRBoundBWForModel`.
    pub(super) fn bw(&self) -> Bandwidth {
        self.max_bw.get().min(self.bounds.bw_lo).min(self.bounds.bw_hi)
    }

    /// End STARTUP if a round of recovery had too much loss and too many loss events.
    /// google/bbr v3 `bbr_check_loss_too_high_in_startup`; draft-ietf-ccwg-bbr `BBRCheckStartupHighLoss`.
    pub(super) fn check_startup_losses(&mut self, ack: &Ack, path: &Path) {
        if self.full_pipe.reached {
            return;
        }
        self.losses.count_ack(self.rules.loss_events, ack);
        if !self.latest.round_start {
            return;
        }
        let too_high = ack.rate.as_ref().is_some_and(|s| self.is_too_high(&s.into()));
        let recovering = path.state == CaState::Recovery;
        if recovering && self.losses.events >= self.rules.full_loss_events && too_high {
            self.end_startup_by_queue();
            return;
        }
        self.losses.events = 0;
    }

    /// End STARTUP because its queue is too long, and bound the packets in flight.
    /// google/bbr v3 `bbr_handle_queue_too_high_in_startup`.
    pub(super) fn end_startup_by_queue(&mut self) {
        self.full_pipe.reached = true;
        let bdp = self.inflight(self.max_bw.get(), Gain::UNIT);
        let delivered = if self.rules.startup_keeps_delivered { self.latest.inflight } else { 0 };
        self.bounds.inflight_hi = bdp.max(delivered);
        self.bounds.cut_short = Some(Mode::Startup);
    }
}

/// Count of loss events in the present round of STARTUP.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossCount {
    pub(super) events: u32,
    /// Number of the packet that was last marked lost.
    last: Option<u64>,
}

/// Largest count of loss events.
/// google/bbr v3 `bbr_check_loss_too_high_in_startup` (a field of four bits).
const MAX_LOSS_EVENTS: u32 = 15;

impl LossCount {
    /// google/bbr v3 `bbr_check_loss_too_high_in_startup`.
    fn count_ack(&mut self, what: LossEvents, ack: &Ack) {
        if what == LossEvents::Acks && ack.lost > 0 {
            self.events = (self.events + 1).min(MAX_LOSS_EVENTS);
        }
    }

    /// Count a lost packet if it begins a new contiguous range.
    /// draft-ietf-ccwg-bbr `BBRCheckStartupHighLoss`.
    pub(super) fn count_packet(&mut self, what: LossEvents, number: u64) {
        let follows = self.last.is_some_and(|last| number == last + 1);
        if what == LossEvents::Ranges && !follows {
            self.events = (self.events + 1).min(MAX_LOSS_EVENTS);
        }
        self.last = Some(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_of_lost_packets_is_one_event_even_that_of_the_very_first_packet() {
        let mut losses = LossCount::default();
        [0, 1, 2, 7, 8, 20, 3].into_iter().for_each(|n| losses.count_packet(LossEvents::Ranges, n));
        assert_eq!(losses.events, 4);
    }
}
