//! How many more packets ACKs report than the bandwidth explains (Linux `bbr_update_ack_aggregation`).

use super::Bandwidth;
use units::Time;

/// Rounds per slot of the two-slot maximum.
const SLOT_ROUNDS: u32 = 5;
/// An epoch restarts after this many packets, so that old credit cannot hide new aggregation.
const EPOCH_RESET: u64 = 1 << 20;
/// Aggregation is believed for at most this long a stretch of silence.
const MAX_MICROS: u64 = 100_000;

/// The windowed maximum of the excess, over the last five to ten rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExtraAcked {
    slots: [u64; 2],
    current: usize,
    rounds: u32,
    epoch_start: Time,
    epoch_acked: u64,
}

impl ExtraAcked {
    /// Starts a new epoch: what was acknowledged before does not count.
    pub(crate) fn restart(&mut self, now: Time) {
        self.epoch_start = now;
        self.epoch_acked = 0;
    }

    /// Accounts for `acked` packets delivered at `now`, with the window at `cwnd`.
    pub(crate) fn update(&mut self, acked: u32, now: Time, round_start: bool, bw: Bandwidth, cwnd: u32) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= SLOT_ROUNDS {
                self.rounds = 0;
                self.current ^= 1;
                self.slots[self.current] = 0;
            }
        }
        let mut expected = bw.packets_in(now.since(self.epoch_start).as_micros());
        if self.epoch_acked <= expected || self.epoch_acked + u64::from(acked) >= EPOCH_RESET {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked += u64::from(acked);
        let extra = (self.epoch_acked - expected).min(u64::from(cwnd));
        self.slots[self.current] = self.slots[self.current].max(extra);
    }

    /// Packets to add to the window.
    pub(crate) fn allowance(&self, bw: Bandwidth) -> u32 {
        self.slots[0].max(self.slots[1]).min(bw.packets_in(MAX_MICROS)) as u32
    }
}
