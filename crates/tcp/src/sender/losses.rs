//! Marking packets lost: on an ACK, on the reordering timer, on a timeout.

use super::Sender;
use super::quirks::LostInFlight;
use super::record::{APP_LIMITED, EVER_RETRANSMITTED, LOST, RETRANSMITTED};
use super::summary::AckSummary;
use congestion::{CaState, LostPacket};
use units::{Duration, Time};

impl Sender {
    /// Mark packets lost on a timeout. With RACK, mark the lowest outstanding packet and every packet for which the
    /// reordering window has expired. Without RACK, mark all packets.
    pub(super) fn mark_timed_out(&mut self, now: Time) {
        let (head, all) = (self.board.una(), self.rack.by_duplicates());
        for seq in head..self.board.next() {
            let sent = self.board.get(seq).sent;
            if all || seq == head || self.rack.time_left(now, sent, Duration::ZERO).is_none() {
                self.mark_lost(now, seq);
            }
        }
    }

    #[inline(always)] // called for most ACKs while a packet is missing
    pub(super) fn find_losses(&mut self, now: Time, summary: &mut AckSummary) {
        if self.board.packets_out() == 0 {
            return;
        }
        let retransmissions = self.board.retrans_out();
        if self.rack.may_have_losses(&self.board)
            && let Some(wait) = self.detect_losses(now)
        {
            self.timer.arm_reordering(now, wait);
            summary.arm_timer = false;
        }
        summary.retransmission_lost |= self.board.retrans_out() < retransmissions;
    }

    /// Mark every packet lost for which the reordering window has expired. For the other packets that were sent before
    /// the newest delivered packet, return the longest time until the reordering window expires.
    pub(super) fn detect_losses(&mut self, now: Time) -> Option<Duration> {
        if self.rack.by_duplicates() {
            self.detect_losses_by_duplicates(now);
            return None;
        }
        let (mut window, mut wait) = (None, None);
        let mut cursor = self.board.oldest_sent();
        while let Some(seq) = cursor {
            let record = self.board.get(seq);
            cursor = record.next_sent();
            if record.flags & (LOST | RETRANSMITTED) == LOST {
                continue; // marked by a timeout, waiting to be retransmitted
            }
            let sent = record.sent;
            if !self.rack.is_overtaken(sent, seq) {
                break;
            }
            let window = *window.get_or_insert_with(|| {
                let recovers = self.recovery.state() >= CaState::Recovery;
                self.rack.window(recovers, self.board.sacked_out(), &self.rtt)
            });
            match self.rack.time_left(now, sent, window) {
                None => {
                    self.mark_lost(now, seq);
                    self.board.unlink(seq);
                }
                left => wait = wait.max(left),
            }
        }
        wait
    }

    fn detect_losses_by_duplicates(&mut self, now: Time) {
        for seq in self.rack.examine(&self.board) {
            if !self.board.get(seq).is(EVER_RETRANSMITTED) {
                self.mark_lost(now, seq);
                self.board.unlink(seq);
            }
        }
    }

    fn mark_lost(&mut self, now: Time, seq: u32) {
        if self.board.mark_lost(seq) {
            self.delivery.count_lost();
            self.stats.lost_packets += u64::from(self.board.get(seq).len > 0);
            if self.window.traits().watches_losses {
                self.report_loss(now, seq);
            }
        }
    }

    fn report_loss(&mut self, now: Time, seq: u32) {
        let record = self.board.get(seq);
        let shifted = match self.config.quirks.lost_in_flight {
            LostInFlight::Counted => 0,
            LostInFlight::Shifted => self.board.shifted_away(seq),
        };
        let lost = LostPacket {
            number: u64::from(seq),
            tx_in_flight: record.in_flight.saturating_sub(shifted),
            lost: (self.delivery.lost() as u32).wrapping_sub(record.lost),
            app_limited: record.is(APP_LIMITED),
        };
        let path = self.path(now);
        self.window.on_lost(&lost, &path);
    }
}
