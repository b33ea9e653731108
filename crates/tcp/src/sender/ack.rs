//! Processing of ACKs, in the order of Linux `tcp_ack`.
//!
//! Most ACKs only advance the cumulative acknowledgement while there are no losses, marks or retransmissions. A
//! fast path processes such ACKs with the same result.

use super::Sender;
use super::record::{EVER_RETRANSMITTED, Record, SACKED};
use super::recovery::Resend;
use super::summary::{AckSummary, NO_ECHO};
use crate::segment::{SackBlocks, Segment, stamp};
use congestion::{Ack, CaState, Congestion};
use units::{Duration, Time};

impl Sender {
    #[inline]
    pub(super) fn on_ack(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        let Segment::Ack { ack, ce_count, ece, sacks, .. } = segment else {
            return;
        };
        if *ack > self.board.next() {
            return; // acknowledges a packet that was never sent
        }
        self.watch_pauses();
        // `on_progress` and `on_any_ack` take the arguments of this function, so that the call is only a branch.
        if sacks.is_empty() && !ece && self.is_progress(*ack, *ce_count) {
            self.on_progress(now, segment, out);
        } else {
            self.on_any_ack(now, segment, out);
        }
    }

    /// Whether an ACK that has neither SACK blocks nor ECN-Echo only advances the cumulative acknowledgement: every
    /// outstanding packet was sent once, and no packet may be lost.
    #[inline]
    fn is_progress(&self, ack: u32, ce_count: u16) -> bool {
        let board = &self.board;
        ack > board.una()
            && self.recovery.state() == CaState::Open
            && board.is_clean()
            && self.delivery.knows_marks(ce_count)
            && !self.recovery.probe.is_out()
            && !self.rack.may_adapt()
            && (board.una()..ack).all(|seq| !board.recent(seq).is(EVER_RETRANSMITTED))
    }

    /// Process an ACK that only advances the cumulative acknowledgement.
    #[inline(never)]
    fn on_progress(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        let &Segment::Ack { ack, echo, window, one_way_us, .. } = segment else { return };
        let (una, prior_in_flight) = (self.board.una(), self.board.in_flight());
        let (acked, oldest) = (ack - una, self.board.recent(una).sent);
        self.recovery.note_echo(echo);
        while self.board.una() < ack {
            self.stats.acked_bytes += u64::from(self.board.acknowledge_lowest().len);
        }
        self.delivery.count(u64::from(acked));
        self.queue.set_window(self.board.una_bytes(), window, true);
        self.recovery.note_progress();
        // The rate sample belongs to the acknowledged packet that was sent last. The record of this packet stays
        // in the ring until the next packet is sent.
        let record = self.board.recent(ack - 1);
        self.rack.advance(now, record.sent, ack - 1, false, None);
        self.delivery.sample(ack - 1, record.sent, &mut None);
        let lone = acked == 1 && u32::from(record.len) < self.config.mss;
        let delayed = lone && u64::from(record.delivered) + 1 == self.delivery.delivered();
        let rtt = now.since(record.sent);
        self.rtt.learn(now, now.since(oldest), rtt, delayed, ack, self.board.next());
        let rate = self.delivery.finish(now, acked, Some(record), self.rtt.min());
        self.set_timer_after_progress(now);
        let digest = Ack {
            acked,
            cumulative: acked,
            lost: 0,
            marked: 0,
            rtt: Some(rtt),
            one_way_delay: Some(Duration::from_micros(u64::from(one_way_us))),
            delayed,
            prior_state: CaState::Open,
            prior_in_flight,
            may_grow: true,
            advanced: true,
            una: u64::from(ack),
            rate,
            acks_probe: false,
        };
        self.consult(now, &digest);
        self.apply_control();
        self.push(now, out);
    }

    #[inline(never)]
    fn on_any_ack(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        let Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, dsack, sacks } = segment else {
            return;
        };
        let (overtaken, ack) = (*ack < self.board.una(), (*ack).max(self.board.una()));
        let echo = if self.config.timestamps { *echo } else { NO_ECHO };
        self.recovery.note_echo(echo);
        let mut summary = self.start_summary(ack, echo, *one_way_us);
        self.read_sacks(now, ack, *dsack, sacks, &mut summary);
        if overtaken {
            // A later ACK arrived before this ACK: only the SACK blocks can be new, and there is no sample of RTT
            // or rate. New data may be sent (`old_ack` in Linux `tcp_ack`, then `tcp_data_snd_check`).
            let resend = self.update_recovery(now, &mut summary);
            self.resend(now, resend, out);
            return self.push(now, out);
        }
        let had_packets = self.board.packets_out() > 0;
        self.acknowledge(now, ack, &mut summary);
        self.read_marks(*ce_count, *ece, &mut summary);
        self.queue.set_window(self.board.una_bytes(), *window, summary.advanced);
        if !had_packets {
            self.postpone_window_probe(now);
            if summary.dsack {
                self.update_recovery(now, &mut summary);
            }
            self.judge_probe(now, ack, &mut summary);
            return self.push(now, out);
        }
        if self.rack.may_adapt() {
            self.rack.adapt(self.prior_delivered(&summary), self.delivery.delivered());
        }
        self.judge_probe(now, ack, &mut summary);
        let resend = self.update_recovery(now, &mut summary);
        if summary.arm_timer {
            self.set_timer_after_progress(now);
        }
        self.control_congestion(now, &summary);
        if resend != Resend::Nothing {
            self.resend(now, resend, out);
        }
        self.push(now, out);
        if resend == Resend::NewDataFirst {
            self.await_ack_of_new_data(now);
        }
    }

    fn start_summary(&self, ack: u32, echo: u32, one_way_us: u32) -> AckSummary {
        AckSummary {
            prior_una: self.board.una(),
            prior_state: self.recovery.state(),
            prior_in_flight: self.board.in_flight(),
            prior_highest: self.board.highest_sacked(),
            prior_delivered: self.delivery.delivered(),
            prior_lost: self.delivery.lost(),
            prior_sacked_out: self.board.sacked_out(),
            echo,
            one_way_us,
            advanced: ack > self.board.una(),
            ..AckSummary::default()
        }
    }

    /// The record of the sampled packet, if a packet was sampled.
    fn sampled(&self, summary: &AckSummary) -> Option<&Record> {
        summary.newest.map(|(_, seq)| self.board.get(seq))
    }

    /// `delivered` when the sampled packet was sent.
    fn prior_delivered(&self, summary: &AckSummary) -> Option<u64> {
        self.sampled(summary).map(|record| u64::from(record.delivered))
    }

    /// Mark the packets that the SACK blocks report, lowest block first.
    #[inline]
    fn read_sacks(&mut self, now: Time, ack: u32, dsack: bool, sacks: &SackBlocks, summary: &mut AckSummary) {
        if !sacks.is_empty() {
            self.read_blocks(now, ack, dsack, sacks, summary);
        }
    }

    fn read_blocks(
        &mut self,
        now: Time,
        ack: u32,
        dsack: bool,
        sacks: &SackBlocks,
        summary: &mut AckSummary,
    ) {
        if let Some(seq) = self.board.sacked.grown(sacks)
            && !dsack
            && (ack..self.board.next()).contains(&seq)
        {
            if self.board.sacked.add_one(seq, sacks) {
                self.sack(now, seq, summary); // the usual case: one new packet
            }
        } else {
            self.read_several(now, ack, dsack, sacks, summary);
        }
        if self.recovery.state() != CaState::Loss || self.recovery.can_undo() {
            self.check_reordering(summary.reordered_from);
        }
    }

    #[inline(never)] // the rare case: a DSACK, or not exactly one new packet
    fn read_several(
        &mut self,
        now: Time,
        ack: u32,
        dsack: bool,
        sacks: &SackBlocks,
        summary: &mut AckSummary,
    ) {
        if dsack
            && let Some((start, end)) = sacks.iter().next()
            && self.board.sacked.are_plausible(start, end, self.stats.retransmitted_packets)
        {
            self.read_dsack(start, end, summary);
        }
        for n in 0..self.board.sacked.add(sacks, dsack, ack, self.board.next()) {
            let (start, end) = self.board.sacked.new_range(n);
            (start..end).for_each(|seq| self.sack(now, seq, summary));
        }
    }

    fn read_dsack(&mut self, start: u32, end: u32, summary: &mut AckSummary) {
        summary.dsack = true;
        summary.dsack_of_probe = self.recovery.probe.ends_at(end);
        if !summary.dsack_of_probe {
            self.rack.see_dsack();
        }
        self.delivery.count(u64::from(end.saturating_sub(start))); // the duplicate has left the network, too
        let una = self.board.una();
        for seq in start..end.min(self.board.next()) {
            if seq < una {
                self.recovery.see_duplicate(seq);
                continue;
            }
            if self.board.get(seq).is(EVER_RETRANSMITTED) {
                self.recovery.see_duplicate(seq);
                if self.board.get(seq).is(SACKED) {
                    summary.delivered_late(seq); // the original packet arrived late, but before the retransmission
                }
            }
            self.board.take_back_retransmission(seq);
        }
    }

    /// Process a packet that is SACKed for the first time.
    #[inline]
    fn sack(&mut self, now: Time, seq: u32, summary: &mut AckSummary) {
        let (sent, ever) = self.board.sack(seq);
        self.rack.advance(now, sent, seq, ever, self.rtt.min());
        if !ever {
            if seq < summary.prior_highest {
                summary.delivered_late(seq);
            }
            summary.original_delivered |= seq < self.recovery.high();
            summary.sacked_sent.extend(sent);
        }
        self.delivery.count(1);
        self.delivery.sample(seq, sent, &mut summary.newest);
        summary.sacked = true;
    }

    /// Remove the packets below `ack` from the scoreboard and take samples from these packets.
    fn acknowledge(&mut self, now: Time, ack: u32, summary: &mut AckSummary) {
        let mut lowest_late = None;
        let count = ack - self.board.una();
        while self.board.una() < ack {
            let seq = self.board.una();
            let record = self.board.acknowledge_lowest();
            let ever = record.is(EVER_RETRANSMITTED);
            self.stats.acked_bytes += u64::from(record.len);
            summary.retransmission_acked |= ever;
            if !record.is(SACKED) {
                if !ever {
                    summary.acked_sent.extend(record.sent);
                    lowest_late = lowest_late.or(Some(seq));
                    summary.original_delivered |= seq < self.recovery.high();
                }
                let spurious = ever && summary.echo < stamp(record.sent);
                if !spurious {
                    self.rack.advance(now, record.sent, seq, ever, self.rtt.min());
                }
                self.delivery.count(1);
                self.delivery.sample(seq, record.sent, &mut summary.newest);
            }
            summary.short_packet = count == 1 && u32::from(record.len) < self.config.mss;
        }
        self.board.sacked.remove_below(ack);
        self.board.settle_retransmissions();
        summary.rtt = self.measure_rtt(now, summary);
        if summary.advanced {
            summary.arm_timer = true;
            self.check_reordering(lowest_late.filter(|&seq| seq < summary.prior_highest));
        } else if summary.rtt.is_some() && !summary.sacked_sent.is_empty() {
            // If only packets sent after the last transmission of the lowest outstanding packet are delivered, their
            // ACKs must not postpone the timeout of that packet for ever.
            summary.arm_timer = self.board.get(self.board.una()).sent > summary.sacked_sent.first();
        }
    }

    /// Update the reordering degree with a packet that was delivered after a packet that was sent later.
    fn check_reordering(&mut self, late: Option<u32>) {
        let highest = self.board.highest_sacked();
        if let Some(seq) = late.filter(|&seq| seq < highest) {
            self.rack.see_reordering(highest - seq);
        }
    }

    /// Update the RTT estimate with the samples of an ACK, and return the RTT of the newest packet.
    fn measure_rtt(&mut self, now: Time, summary: &AckSummary) -> Option<Duration> {
        let (smooth, newest) = summary.rtt_samples(now)?;
        let delayed = self.looks_delayed(summary);
        self.rtt.learn(now, smooth, newest, delayed, self.board.una(), self.board.next());
        Some(newest)
    }

    /// Whether the ACK may be a delayed ACK: it acknowledges a lone short packet.
    #[inline]
    fn looks_delayed(&self, summary: &AckSummary) -> bool {
        summary.short_packet
            && summary.prior_sacked_out == 0
            && self.prior_delivered(summary).is_some_and(|d| d + 1 == self.delivery.delivered())
    }

    /// Read the marks in an ACK that no later ACK has overtaken.
    #[inline]
    fn read_marks(&mut self, count: u16, ece: bool, summary: &mut AckSummary) {
        let delivers = summary.advanced || summary.sacked;
        if !delivers && self.delivery.marks_may_be_old(self.config.timestamps) {
            return;
        }
        if let Some(report) = self.delivery.read_marks(count, ece, summary.prior_delivered) {
            self.stats.marked_packets += u64::from(report.counted);
            (summary.ece, summary.marked) = (report.ece, report.marked);
        }
    }

    /// Finish the rate sample and let the algorithm (or proportional rate reduction) set the window.
    fn control_congestion(&mut self, now: Time, summary: &AckSummary) {
        let acked = (self.delivery.delivered() - summary.prior_delivered) as u32;
        let lost = (self.delivery.lost() - summary.prior_lost) as u32;
        let sampled = summary.newest.map(|(_, seq)| self.board.get(seq));
        let rate = self.delivery.finish(now, acked, sampled, self.rtt.min());
        let transport_reduces = self.window.belongs_to_transport() && self.recovery.is_reducing();
        // On a path with reordering, any delivery may grow the window; otherwise only an advance of the cumulative
        // acknowledgement may.
        let progress = summary.advanced || (self.rack.reorders() && summary.sacked);
        let ack = Ack {
            acked,
            cumulative: self.board.una() - summary.prior_una,
            lost,
            marked: summary.marked,
            rtt: summary.rtt,
            one_way_delay: Some(Duration::from_micros(u64::from(summary.one_way_us))),
            delayed: self.looks_delayed(summary),
            prior_state: summary.prior_state,
            prior_in_flight: summary.prior_in_flight,
            may_grow: progress && !transport_reduces,
            advanced: summary.advanced,
            una: u64::from(self.board.una()),
            rate,
            acks_probe: summary.acks_probe,
        };
        self.consult(now, &ack);
        if transport_reduces {
            self.reduce_proportionally(acked, lost, summary.advanced);
        }
        self.apply_control();
    }

    /// Pass an ACK to the algorithm.
    #[inline(always)] // called for every ACK
    fn consult(&mut self, now: Time, ack: &Ack) {
        if ack.may_grow {
            self.window.confirm(now);
        }
        let path = self.path(now);
        self.window.on_ack(ack, &path);
        if self.window.control().reduce {
            self.enter_cwr(now, Congestion::Delay);
        }
    }

    /// Apply the algorithm's decisions: hide rate samples if requested, and set the pacing rate.
    #[inline]
    fn apply_control(&mut self) {
        if self.window.control().hide_samples {
            self.delivery.mark_app_limited(self.board.in_flight());
        }
        self.update_pacing_rate();
    }

    /// Let lost packets wait for the next ACK if new data was sent after a timeout and no more data is left. Pacing then
    /// holds back nothing, so its timer sends nothing (`tcp_xmit_recovery`, `tcp_pacing_check`).
    #[cold]
    fn await_ack_of_new_data(&mut self, now: Time) {
        let sent_new = self.board.next() > self.recovery.high();
        if sent_new
            && self.departures.is_limited_by_pacing()
            && let Some(limit) = self.lack_of_data()
        {
            self.departures.limit(now, limit);
        }
    }

    /// Retransmit the packets that recovery chose for this ACK, before new data is sent.
    #[inline]
    fn resend(&mut self, now: Time, resend: Resend, out: &mut Vec<Segment>) {
        match resend {
            Resend::Nothing => {}
            Resend::Lost => self.retransmit_lost(now, out),
            Resend::NewDataFirst => {
                self.push(now, out);
                if self.board.next() <= self.recovery.high() {
                    self.recovery.accept_timeout();
                    self.retransmit_lost(now, out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::SenderConfig;
    use super::*;

    #[test]
    fn a_copy_that_arrived_was_delivered_as_well() {
        let reno = congestion::build("reno", &serde_json::Value::Null, 1).unwrap();
        let mut sender = Sender::new(SenderConfig::default(), reno);
        sender.read_dsack(3, 5, &mut AckSummary::default());
        assert_eq!(sender.delivery.delivered(), 2);
    }
}
