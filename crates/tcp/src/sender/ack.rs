//! Processing of ACKs, in the order of Linux `tcp_ack`.

use super::rate::Newest;
use super::recovery::Resend;
use super::scoreboard::{EVER_RETRANSMITTED, LOST, RETRANSMITTED, Record, SACKED};
use super::{Sender, stamp};
use crate::{SackBlocks, Segment};
use congestion::{Ack, CaState, Congestion, Recovery};
use units::{Duration, Time};

/// Findings of one ACK, and the state before it.
#[derive(Debug, Default)]
pub(super) struct AckSummary {
    pub prior_una: u32,
    prior_state: CaState,
    prior_in_flight: u32,
    prior_highest: u32,
    pub prior_delivered: u64,
    prior_lost: u64,
    prior_sacked_out: u32,
    echo: u32,
    one_way_us: u32,
    /// Whether the cumulative acknowledgement advanced.
    pub advanced: bool,
    /// Whether packets were SACKed for the first time.
    pub sacked: bool,
    /// Whether it acknowledges (or SACKs) a packet that was never retransmitted and was sent before the episode began.
    pub original_delivered: bool,
    /// Whether it reports marks.
    pub ece: bool,
    /// Whether it has a DSACK.
    pub dsack: bool,
    /// Whether it acknowledges a tail loss probe that was a retransmission, so that the original may have arrived.
    pub acks_probe: bool,
    /// Whether the DSACK is for the tail loss probe.
    pub dsack_of_probe: bool,
    /// Whether a retransmission was marked lost.
    pub retransmission_lost: bool,
    retransmission_acked: bool,
    arm_timer: bool,
    short_packet: bool,
    /// Lowest packet delivered late, below the highest SACKed one.
    reordered_from: Option<u32>,
    /// Times of sending of cumulatively acknowledged packets that were never retransmitted.
    acked_sent: Span,
    /// Times of sending of SACKed packets that were never retransmitted.
    sacked_sent: Span,
    /// RTT of the newest packet delivered.
    rtt: Option<Duration>,
    pub marked: u32,
    newest: Newest,
}

impl AckSummary {
    /// Keep the reordering timer, which was armed.
    pub fn leave_timer_alone(&mut self) {
        self.arm_timer = false;
    }

    /// Note that a packet arrived after others that were sent later.
    fn delivered_late(&mut self, seq: u32) {
        self.reordered_from = Some(self.reordered_from.map_or(seq, |lowest| lowest.min(seq)));
    }
}

/// Times of sending of the first and the last of some packets; `NEVER` if there are none.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: Time,
    last: Time,
}

impl Default for Span {
    fn default() -> Span {
        Span { first: Time::NEVER, last: Time::NEVER }
    }
}

impl Span {
    /// Add the time of the next packet.
    #[inline]
    fn extend(&mut self, sent: Time) {
        if self.is_empty() {
            self.first = sent;
        }
        self.last = sent;
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.first == Time::NEVER
    }

    /// This span, or `other` if it is empty.
    #[inline]
    fn or(self, other: Span) -> Span {
        if self.is_empty() { other } else { self }
    }
}

impl Sender {
    #[inline]
    pub(super) fn on_ack(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        let Segment::Ack { ack, ce_count, ece, sacks, .. } = segment else {
            return;
        };
        if *ack > self.board.next {
            return; // acknowledges a packet that was never sent
        }
        self.watch_pauses();
        // Both calls have the same arguments, so that this function only branches.
        if sacks.is_empty() && !ece && self.is_progress(*ack, *ce_count) {
            self.on_progress(now, segment, out);
        } else {
            self.on_any_ack(now, segment, out);
        }
    }

    #[inline(never)]
    fn on_any_ack(&mut self, now: Time, segment: &Segment, out: &mut Vec<Segment>) {
        let Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, dsack, sacks } = segment else {
            return;
        };
        let (overtaken, ack) = (*ack < self.board.una, (*ack).max(self.board.una));
        self.last_echo = *echo;
        let mut summary = self.start_summary(ack, *echo, *one_way_us);
        self.read_sacks(now, ack, *dsack, sacks, &mut summary);
        if overtaken {
            // A later ACK arrived first: only the SACK blocks can be new, and there is no sample of RTT or rate.
            let resend = self.update_recovery(now, &mut summary);
            return self.resend(now, resend, out);
        }
        let had_packets = self.board.packets_out() > 0;
        self.acknowledge(now, ack, &mut summary);
        self.read_marks(*ce_count, *ece, &mut summary);
        self.window_end = self.window_end.max(self.board.una_bytes + u64::from(*window));
        if !had_packets {
            if summary.dsack {
                self.update_recovery(now, &mut summary);
            }
            self.judge_probe(now, ack, &mut summary);
            return self.push(now, out);
        }
        if self.rack.may_adapt() {
            self.rack.adapt(self.prior_delivered(&summary), self.delivery.delivered);
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
    }

    fn start_summary(&self, ack: u32, echo: u32, one_way_us: u32) -> AckSummary {
        AckSummary {
            prior_una: self.board.una,
            prior_state: self.recovery.state,
            prior_in_flight: self.board.in_flight(),
            prior_highest: self.board.highest_sacked(),
            prior_delivered: self.delivery.delivered,
            prior_lost: self.delivery.lost,
            prior_sacked_out: self.board.sacked_out,
            echo,
            one_way_us,
            advanced: ack > self.board.una,
            ..AckSummary::default()
        }
    }

    /// The record of the sampled packet, if one was sampled.
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
        if let Some(seq) = sacks.grown_since(&self.known_sacks)
            && !dsack
            && (ack..self.board.next).contains(&seq)
        {
            self.read_one(now, seq, summary);
            self.known_sacks = *sacks;
        } else {
            self.read_several(now, ack, dsack, sacks, summary);
        }
        if self.recovery.state != CaState::Loss || self.recovery.can_undo() {
            self.check_reordering(summary.reordered_from);
        }
    }

    /// Mark the one packet that the preceding ACK did not report.
    #[inline(always)] // the usual case
    fn read_one(&mut self, now: Time, seq: u32, summary: &mut AckSummary) {
        let mut is_new = false;
        self.board.sacked.add(seq, seq + 1, |_, _| is_new = true);
        if is_new {
            self.sack(now, seq, summary);
        }
    }

    #[inline(never)] // the rare case
    fn read_several(
        &mut self,
        now: Time,
        ack: u32,
        dsack: bool,
        sacks: &SackBlocks,
        summary: &mut AckSummary,
    ) {
        let mut blocks = sacks.iter();
        if dsack
            && let Some((start, end)) = blocks.next()
            && self.is_plausible(start, end)
        {
            self.read_dsack(start, end, summary);
        }
        let (known, mut is_all_known) = (self.known_sacks, !dsack);
        let (board, new) = (&mut self.board, &mut self.scratch);
        new.clear();
        for (start, end) in blocks {
            if known.has(start, end) {
                continue; // most blocks were also in the preceding ACK (`recv_sack_cache`)
            }
            is_all_known &= end <= board.next;
            let (start, end) = (start.max(ack), end.min(board.next));
            if start < end {
                board.sacked.add(start, end, |start, end| new.push((start, end)));
            }
        }
        self.known_sacks = if is_all_known { *sacks } else { SackBlocks::default() };
        if new.len() > 1 {
            new.sort_unstable();
        }
        for n in 0..new.len() {
            let (start, end) = self.scratch[n];
            (start..end).for_each(|seq| self.sack(now, seq, summary));
        }
    }

    /// Count duplicates. False if there are more of them than retransmissions: the network duplicates packets (Linux
    /// `tcp_dsack_seen`).
    fn is_plausible(&mut self, start: u32, end: u32) -> bool {
        self.duplicates += u64::from(end.saturating_sub(start));
        self.duplicates <= self.stats.retransmitted_packets
    }

    fn read_dsack(&mut self, start: u32, end: u32, summary: &mut AckSummary) {
        summary.dsack = true;
        summary.dsack_of_probe = self.probe.end == Some(end);
        if self.rack.reordering_seen && !summary.dsack_of_probe {
            self.rack.dsack_seen = true;
        }
        self.delivery.delivered += u64::from(end.saturating_sub(start)); // a copy has left the network, too
        let una = self.board.una;
        for seq in start..end.min(self.board.next) {
            if seq < una {
                self.recovery.see_duplicate(seq);
                continue;
            }
            if self.board.get(seq).is(EVER_RETRANSMITTED) {
                self.recovery.see_duplicate(seq);
                if self.board.get(seq).is(SACKED) {
                    summary.delivered_late(seq); // the original arrived out of order, before the retransmission
                }
            }
            if self.board.get(seq).flags & (LOST | RETRANSMITTED) == RETRANSMITTED {
                self.board.get_mut(seq).flags &= !RETRANSMITTED;
                self.board.retrans_out -= 1;
            }
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
            summary.original_delivered |= seq < self.recovery.high;
            summary.sacked_sent.extend(sent);
        }
        self.delivery.delivered += 1;
        self.delivery.sample(seq, sent, &mut summary.newest);
        summary.sacked = true;
    }

    /// Remove the packets below `ack` from the scoreboard and take samples from them.
    fn acknowledge(&mut self, now: Time, ack: u32, summary: &mut AckSummary) {
        let mut lowest_late = None;
        let count = ack - self.board.una;
        while self.board.una < ack {
            let seq = self.board.una;
            let record = self.board.acknowledge_lowest();
            let ever = record.is(EVER_RETRANSMITTED);
            self.stats.acked_bytes += u64::from(record.len);
            summary.retransmission_acked |= ever;
            if !record.is(SACKED) {
                if !ever {
                    summary.acked_sent.extend(record.sent);
                    lowest_late = lowest_late.or(Some(seq));
                    summary.original_delivered |= seq < self.recovery.high;
                }
                let spurious = ever && summary.echo < stamp(record.sent);
                if !spurious {
                    self.rack.advance(now, record.sent, seq, ever, self.rtt.min());
                }
                self.delivery.delivered += 1;
                self.delivery.sample(seq, record.sent, &mut summary.newest);
            }
            summary.short_packet = count == 1 && u32::from(record.len) < self.config.mss;
        }
        self.board.sacked.remove_below(ack);
        summary.rtt = self.measure_rtt(now, summary);
        if summary.advanced {
            summary.arm_timer = true;
            self.check_reordering(lowest_late.filter(|&seq| seq < summary.prior_highest));
        } else if summary.rtt.is_some() && !summary.sacked_sent.is_empty() {
            // Delivery of packets sent after the head's last transmission must not postpone its timeout for ever.
            summary.arm_timer = self.board.get(self.board.una).sent > summary.sacked_sent.first;
        }
    }

    /// Update the reordering degree with a packet delivered late.
    fn check_reordering(&mut self, late: Option<u32>) {
        let highest = self.board.highest_sacked();
        if let Some(seq) = late.filter(|&seq| seq < highest) {
            self.rack.see_reordering(highest - seq);
        }
    }

    /// Take RTT samples: that of the oldest acknowledged packet for srtt, that of the newest for the minimum and the
    /// algorithm.
    fn measure_rtt(&mut self, now: Time, summary: &AckSummary) -> Option<Duration> {
        let acked = if summary.retransmission_acked { Span::default() } else { summary.acked_sent };
        let (oldest, newest) = (acked.or(summary.sacked_sent).first, summary.sacked_sent.or(acked).last);
        let (smooth, newest) = if oldest != Time::NEVER {
            (now.since(oldest), now.since(newest))
        } else if summary.advanced {
            let elapsed_ms = stamp(now).saturating_sub(summary.echo).max(1);
            let elapsed = Duration::from_millis(u64::from(elapsed_ms)); // the timestamp option's resolution
            (elapsed, elapsed)
        } else {
            return None;
        };
        self.learn_rtt(now, smooth, newest, self.looks_delayed(summary));
        Some(newest)
    }

    /// Use RTT samples: `smooth` for the smoothed RTT, `newest` for the minimum, unless it is larger and the ACK
    /// `delayed`.
    #[inline(always)] // called for every ACK
    pub(super) fn learn_rtt(&mut self, now: Time, smooth: Duration, newest: Duration, delayed: bool) {
        self.last_rtt = Some(smooth);
        if !(delayed && self.rtt.min().is_some_and(|min| newest > min)) {
            self.rtt.update_min(newest, now);
        }
        self.rtt.update(smooth, self.board.una, self.board.next);
    }

    /// Whether the ACK may be a delayed one: it acknowledges a lone short packet.
    #[inline]
    fn looks_delayed(&self, summary: &AckSummary) -> bool {
        summary.short_packet
            && summary.prior_sacked_out == 0
            && self.prior_delivered(summary).is_some_and(|d| d + 1 == self.delivery.delivered)
    }

    pub(super) fn take_rtt_sample(&mut self, now: Time, rtt: Duration) {
        self.rtt.update_min(rtt, now);
        self.rtt.update(rtt, self.board.una, self.board.next);
        self.last_rtt = Some(rtt);
    }

    /// Finish the rate sample and let the algorithm (or proportional rate reduction) set the window.
    fn control_congestion(&mut self, now: Time, summary: &AckSummary) {
        let acked = (self.delivery.delivered - summary.prior_delivered) as u32;
        let lost = (self.delivery.lost - summary.prior_lost) as u32;
        let sampled = summary.newest.map(|(_, seq)| self.board.get(seq));
        let rate = self.delivery.finish(now, acked, sampled, self.rtt.min());
        let transport_reduces = self.traits.recovery == Recovery::Transport && self.recovery.is_reducing();
        // On a path with reordering, any delivery may grow the window; otherwise only cumulative progress.
        let progress = summary.advanced || (self.rack.reorders() && summary.sacked);
        let ack = Ack {
            acked,
            cumulative: self.board.una - summary.prior_una,
            lost,
            marked: summary.marked,
            rtt: summary.rtt,
            one_way_delay: Some(Duration::from_micros(u64::from(summary.one_way_us))),
            delayed: self.looks_delayed(summary),
            prior_state: summary.prior_state,
            prior_in_flight: summary.prior_in_flight,
            may_grow: progress && !transport_reduces,
            advanced: summary.advanced,
            una: u64::from(self.board.una),
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
    pub(super) fn consult(&mut self, now: Time, ack: &Ack) {
        if ack.may_grow {
            self.usage.confirm(now);
        }
        let path = self.path(now);
        self.algorithm.on_ack(ack, &path);
        self.refresh_control();
        if self.control.reduce {
            self.enter_cwr(now, Congestion::Delay);
        }
    }

    /// Apply the algorithm's decisions on samples and on the pacing rate.
    #[inline]
    pub(super) fn apply_control(&mut self) {
        if self.control.hide_samples {
            self.delivery.mark_app_limited(self.board.in_flight());
        }
        self.update_pacing_rate();
    }

    /// Retransmit as the ACK calls for, before new data.
    #[inline]
    fn resend(&mut self, now: Time, resend: Resend, out: &mut Vec<Segment>) {
        match resend {
            Resend::Nothing => {}
            Resend::Lost => self.retransmit_lost(now, out),
            Resend::NewDataFirst => {
                self.push(now, out);
                if self.board.next <= self.recovery.high {
                    self.recovery.frto = false;
                    self.retransmit_lost(now, out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SenderConfig;
    use super::*;

    #[test]
    fn duplicates_beyond_what_was_retransmitted_are_the_networks() {
        let reno = congestion::build("reno", &serde_json::Value::Null, 1).unwrap();
        let mut sender = Sender::new(SenderConfig::default(), reno);
        sender.stats.retransmitted_packets = 2;
        assert_eq!([5, 6, 7].map(|seq| sender.is_plausible(seq, seq + 1)), [true, true, false]);
    }

    #[test]
    fn a_copy_that_arrived_was_delivered_as_well() {
        let reno = congestion::build("reno", &serde_json::Value::Null, 1).unwrap();
        let mut sender = Sender::new(SenderConfig::default(), reno);
        sender.read_dsack(3, 5, &mut AckSummary::default());
        assert_eq!(sender.delivery.delivered, 2);
    }
}
