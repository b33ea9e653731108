//! ACK aggregation: packets acknowledged in excess of the bandwidth (Linux `bbr_update_ack_aggregation`).

use super::Bandwidth;
use crate::WindowedMax;
use units::Time;

/// Number of acknowledged packets after which an aggregation epoch restarts, so that an old surplus cannot hide new
/// aggregation. Linux `bbr_ack_epoch_acked_reset_thresh`.
const EPOCH_RESET: u64 = 1 << 20;
/// Longest gap between ACKs for which an extra window compensates.
/// Linux `bbr_extra_acked_max_us`.
const MAX_MICROS: u64 = 100_000;

/// Window over which the largest excess is tracked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slots {
    /// Two slots of `rounds` rounds each, filled in turn.
    Two { rounds: u32 },
    /// A sliding window of `rounds`.
    Sliding { rounds: u32 },
}

impl Default for Slots {
    fn default() -> Slots {
        Slots::Two { rounds: 5 }
    }
}

/// Largest number of packets acknowledged in excess of the bandwidth estimate, by default in the last five to ten
/// rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExtraAcked {
    memory: Slots,
    slots: [u64; 2],
    current: usize,
    sliding: WindowedMax,
    rounds: u32,
    epoch_start: Time,
    epoch_acked: u64,
}

impl ExtraAcked {
    /// Start a new epoch: packets acknowledged before `now` do not count.
    /// Linux `bbr_update_ack_aggregation`.
    pub(crate) fn restart(&mut self, now: Time) {
        self.epoch_start = now;
        self.epoch_acked = 0;
    }

    /// Set the window over which the largest excess is tracked.
    pub(crate) fn remember(&mut self, memory: Slots) {
        self.memory = memory;
    }

    /// Account for `acked` packets delivered at `now`; the excess is at most `cwnd`.
    /// google/bbr v3 `bbr_update_ack_aggregation`; draft-ietf-ccwg-bbr `BBRUpdateACKAggregation`.
    #[inline(always)] // called for every ACK
    pub(crate) fn update(&mut self, acked: u32, now: Time, round_start: bool, bw: Bandwidth, cwnd: u32) {
        if round_start {
            self.end_round();
        }
        let mut expected = bw.packets_in(now.since(self.epoch_start).as_micros());
        if self.epoch_acked <= expected || self.epoch_acked + u64::from(acked) >= EPOCH_RESET {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked += u64::from(acked);
        let extra = (self.epoch_acked - expected).min(u64::from(cwnd));
        match self.memory {
            Slots::Two { .. } => self.slots[self.current] = self.slots[self.current].max(extra),
            Slots::Sliding { rounds } => {
                self.sliding.update(rounds, self.rounds, extra);
            }
        }
    }

    /// Linux `bbr_extra_acked_win_rtts`.
    fn end_round(&mut self) {
        self.rounds = self.rounds.wrapping_add(1);
        if let Slots::Two { rounds } = self.memory
            && self.rounds >= rounds
        {
            self.rounds = 0;
            self.current ^= 1;
            self.slots[self.current] = 0;
        }
    }

    /// Packets to add to the congestion window.
    /// Linux `bbr_ack_aggregation_cwnd`.
    pub(crate) fn allowance(&self, bw: Bandwidth) -> u32 {
        self.largest().min(ExtraAcked::believable(bw)) as u32
    }

    /// The largest excess in the window, packets.
    /// Linux `bbr_extra_acked`.
    pub(crate) fn largest(&self) -> u64 {
        match self.memory {
            Slots::Two { .. } => self.slots[0].max(self.slots[1]),
            Slots::Sliding { .. } => self.sliding.get(),
        }
    }

    /// The largest excess allowed at this bandwidth, packets.
    /// Linux `bbr_extra_acked_max_us`.
    pub(crate) fn believable(bw: Bandwidth) -> u64 {
        bw.packets_in(MAX_MICROS)
    }
}
