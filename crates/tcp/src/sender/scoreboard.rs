//! The scoreboard: which packets were sent, delivered, marked lost and retransmitted.
//!
//! Invariants:
//!
//! - `una <= next`, and every packet in `una..next` has a record.
//! - The counters agree with the flags.
//! - The send-order list has every packet believed to be in the network, in the order of sending. Any other
//!   packet in the list was marked lost by a timeout.
//! - The field `earlier` of the first packet in the list is stale: most packets leave the list at the front, and the
//!   record of the next packet is then not updated.

use super::record::{BURST_HEAD, EVER_RETRANSMITTED, LINKED, LOST, NONE, RETRANSMITTED, Record, SACKED};
use super::ring::{Outstanding, Ring};
use super::sacked::Sacked;
use crate::numbered::Numbered;
use std::collections::VecDeque;
use units::Time;

/// The records of all outstanding packets, with counters and SACK ranges. Loss recovery reads the records in two
/// orders: by time of sending, and by number for retransmission. The fields that every ACK needs come first.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Scoreboard {
    /// Lowest packet not cumulatively acknowledged.
    una: u32,
    /// Number of the next new packet.
    next: u32,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    /// Outstanding packets that are the first of their burst.
    heads: u32,
    oldest: u32,
    newest: u32,
    /// Payload bytes below `una`.
    una_bytes: u64,
    /// Payload bytes below `next`.
    next_bytes: u64,
    ring: Ring,
    /// Lost packets by number. An entry may be stale, so each entry is checked when it is taken out.
    lost: VecDeque<u32>,
    pub sacked: Sacked,
    /// When each retransmitted packet was first sent, microseconds modulo 2^32; `None`: not recorded.
    first_us: Option<Box<Numbered<u32>>>,
}

impl Scoreboard {
    /// An empty scoreboard; `lean`: delivered packets take less memory, at the cost of time.
    pub fn new(lean: bool) -> Scoreboard {
        Scoreboard {
            ring: Ring::new(lean),
            una: 0,
            next: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            sacked: Sacked::default(),
            lost: VecDeque::new(),
            oldest: NONE,
            newest: NONE,
            una_bytes: 0,
            next_bytes: 0,
            heads: 0,
            first_us: None,
        }
    }

    #[inline]
    pub fn get(&self, seq: u32) -> &Record {
        self.ring.get(seq)
    }

    #[inline]
    pub fn get_mut(&mut self, seq: u32) -> &mut Record {
        self.ring.get_mut(seq)
    }

    /// The record of a packet whose record is in the ring, not in its compact form.
    #[inline]
    pub fn recent(&self, seq: u32) -> &Record {
        self.ring.recent(seq)
    }

    /// Lowest packet not cumulatively acknowledged.
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// Number of the next new packet.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Payload bytes below `una`.
    #[inline]
    pub fn una_bytes(&self) -> u64 {
        self.una_bytes
    }

    /// Payload bytes below `next`.
    #[inline]
    pub fn next_bytes(&self) -> u64 {
        self.next_bytes
    }

    #[inline]
    pub fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    #[inline]
    pub fn lost_out(&self) -> u32 {
        self.lost_out
    }

    #[inline]
    pub fn retrans_out(&self) -> u32 {
        self.retrans_out
    }

    #[inline]
    pub fn packets_out(&self) -> u32 {
        self.next - self.una
    }

    /// Packets believed to be in the network (RFC 6675 "pipe", counted as Linux does).
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.packets_out() + self.retrans_out - (self.sacked_out + self.lost_out)
    }

    /// Whether no packet is SACKed, marked lost or retransmitted, and no record is in compact form.
    #[inline]
    pub fn is_clean(&self) -> bool {
        self.ring.base() <= self.una
            && self.sacked_out | self.lost_out | self.retrans_out == 0
            && self.sacked.is_empty()
    }

    #[inline]
    pub fn bytes_out(&self) -> u64 {
        self.next_bytes - self.una_bytes
    }

    /// Bursts with at least one outstanding packet.
    #[inline]
    pub fn bursts_out(&self) -> u64 {
        let begun = self.packets_out() > 0 && !self.get(self.una).is(BURST_HEAD);
        u64::from(self.heads + u32::from(begun))
    }

    /// Whether at most one burst is unacknowledged (`tcp_rtx_queue_empty_or_single_skb`).
    pub fn has_one_burst_out(&self) -> bool {
        !(self.una + 1..self.next).rev().any(|seq| self.get(seq).is(BURST_HEAD))
    }

    /// Whether a retransmission is in the network, or the lowest packet was ever retransmitted.
    pub fn any_retransmission_out(&self) -> bool {
        let head_was_retransmitted = self.packets_out() > 0 && self.get(self.una).is(EVER_RETRANSMITTED);
        self.retrans_out > 0 || head_was_retransmitted
    }

    /// Whether packets are SACKed, marked lost or retransmitted.
    pub fn is_suspicious(&self) -> bool {
        self.sacked_out + self.lost_out > 0 || self.any_retransmission_out()
    }

    /// One past the highest selectively acknowledged packet, or `una`.
    #[inline]
    pub fn highest_sacked(&self) -> u32 {
        self.sacked.end().unwrap_or(self.una)
    }

    /// Number of packets before `seq` in its burst that Google's kernel would have moved into the preceding
    /// burst. These are all packets before `seq` if they and the last packet of the preceding burst are SACKed,
    /// else 0.
    pub fn shifted_away(&self, seq: u32) -> u32 {
        let mut head = seq;
        while head > self.una && !self.get(head).is(BURST_HEAD) {
            head -= 1;
        }
        let moved = head > self.una && (head - 1..seq).all(|before| self.get(before).is(SACKED));
        if moved { seq - head } else { 0 }
    }

    /// Number of packets from `seq` on that await retransmission and were sent in one burst, at most `limit`.
    pub fn lost_run(&self, seq: u32, limit: u32) -> u32 {
        let belongs = |s: &u32| !self.get(*s).is(BURST_HEAD) && self.awaits_retransmission(*s);
        1 + (seq + 1..self.next.min(seq + limit)).take_while(belongs).count() as u32
    }

    /// The lowest packet in `from..end` that is neither SACKed nor marked lost nor retransmitted.
    pub fn find_untouched(&self, from: u32, end: u32) -> Option<u32> {
        let is_untouched = |&seq: &u32| self.get(seq).flags & (SACKED | LOST | RETRANSMITTED) == 0;
        (from.max(self.una)..end).find(is_untouched)
    }

    /// Record from now on when retransmitted packets were first sent.
    pub fn keep_first_transmissions(&mut self) {
        self.first_us = Some(Box::default());
    }

    /// Time of the first transmission of a retransmitted packet, microseconds modulo 2^32, if it is recorded.
    pub fn first_us(&self, seq: u32) -> Option<u32> {
        self.first_us.as_ref()?.get(seq)
    }

    /// Record that `record` was the first transmission of a packet, if first transmissions are recorded.
    #[inline]
    pub fn note_first(&mut self, seq: u32, record: &Record) {
        if let Some(first_us) = self.first_us.as_mut().filter(|_| !record.is(EVER_RETRANSMITTED)) {
            first_us.set(seq, record.sent.as_micros() as u32, self.una);
        }
    }

    /// Records in memory.
    pub fn records(&self) -> usize {
        self.ring.len()
    }

    /// Append a new packet and return its number.
    #[inline]
    pub fn append(&mut self, record: &Record) -> u32 {
        let (seq, una) = (self.next, self.una);
        let flags = record.flags | LINKED;
        let linked = Record { earlier: self.newest, later: NONE, flags, ..*record };
        self.ring.push(Outstanding { una, next: seq }, linked);
        self.next += 1;
        self.next_bytes += u64::from(record.len);
        self.heads += u32::from(record.is(BURST_HEAD));
        self.follow_newest(seq);
        seq
    }

    /// Replace the record of a packet that is retransmitted, and move the packet to the end of the send order.
    #[inline]
    pub fn replace(&mut self, seq: u32, record: Record) {
        *self.get_mut(seq) = record;
        self.get_mut(seq).flags |= EVER_RETRANSMITTED;
        self.link_newest(seq);
    }

    /// Move a packet to the end of the send order.
    pub fn link_newest(&mut self, seq: u32) {
        self.unlink(seq);
        let newest = self.newest;
        let record = self.get_mut(seq);
        record.flags |= LINKED;
        record.earlier = newest;
        record.later = NONE;
        self.follow_newest(seq);
    }

    fn follow_newest(&mut self, seq: u32) {
        match self.newest {
            NONE => self.oldest = seq,
            newest => self.get_mut(newest).later = seq,
        }
        self.newest = seq;
    }

    /// Remove a packet from the send order, if the send order contains it.
    pub fn unlink(&mut self, seq: u32) {
        let record = self.get_mut(seq);
        let (before, earlier, later) = (record.flags, record.earlier, record.later);
        record.flags &= !LINKED;
        if before & LINKED != 0 {
            self.join(seq, earlier, later);
        }
    }

    /// Link the predecessor of a packet in the send order to its successor.
    #[inline(always)] // most packets leave at the front
    fn join(&mut self, seq: u32, earlier: u32, later: u32) {
        if seq != self.oldest {
            return self.join_behind(earlier, later);
        }
        self.oldest = later;
        if later == NONE {
            self.newest = NONE;
        }
    }

    #[inline(never)]
    fn join_behind(&mut self, earlier: u32, later: u32) {
        self.get_mut(earlier).later = later;
        if later == NONE {
            self.newest = earlier;
        } else {
            self.get_mut(later).earlier = earlier;
        }
    }

    /// The packet sent longest ago that is still believed to be in the network.
    #[inline]
    pub fn oldest_sent(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Mark a packet SACKed. Return when the packet was last sent, and whether it was ever retransmitted.
    #[inline]
    pub fn sack(&mut self, seq: u32) -> (Time, bool) {
        let record = self.get_mut(seq);
        let (before, earlier, later) = (record.flags, record.earlier, record.later);
        let (sent, ever) = (record.sent, record.is(EVER_RETRANSMITTED));
        let was_lost = record.is(LOST);
        let kept = if was_lost { before & !(LOST | RETRANSMITTED) } else { before };
        record.flags = kept & !LINKED | SACKED;
        if before & LINKED != 0 {
            self.join(seq, earlier, later);
        }
        self.sacked_out += 1;
        self.lost_out -= u32::from(was_lost);
        self.retrans_out -= u32::from(was_lost && before & RETRANSMITTED != 0);
        (sent, ever)
    }

    /// Remove the lowest packet, which was cumulatively acknowledged. Return its record.
    #[inline(always)] // called for most ACKs, which read little of the record
    pub fn acknowledge_lowest(&mut self) -> Record {
        let record = *self.get(self.una);
        if record.is(LINKED) {
            self.join(self.una, record.earlier, record.later);
        }
        if record.flags & (SACKED | LOST | RETRANSMITTED) != 0 {
            self.sacked_out -= u32::from(record.is(SACKED));
            self.lost_out -= u32::from(record.is(LOST));
            self.retrans_out -= u32::from(record.is(RETRANSMITTED));
        }
        self.heads -= u32::from(record.is(BURST_HEAD));
        self.una += 1;
        self.una_bytes += u64::from(record.len);
        record
    }

    /// Record that a retransmission of the packet is in the network. As in Linux, the packet counts twice if an undo has left
    /// an earlier retransmission in the network (`tcp_retransmit_skb`).
    pub fn mark_retransmitted(&mut self, seq: u32) {
        self.get_mut(seq).flags |= RETRANSMITTED;
        self.retrans_out += 1;
    }

    /// Forget retransmissions that were counted twice, if no packet is outstanding (`tcp_clean_rtx_queue`).
    pub fn settle_retransmissions(&mut self) {
        if self.packets_out() == 0 {
            self.retrans_out = 0;
        }
    }

    /// Record that the retransmission in the network was a duplicate, if there is a retransmission and the packet is
    /// not marked lost.
    pub fn take_back_retransmission(&mut self, seq: u32) {
        let record = self.get_mut(seq);
        if record.flags & (LOST | RETRANSMITTED) == RETRANSMITTED {
            record.flags &= !RETRANSMITTED;
            self.retrans_out -= 1;
        }
    }

    /// Mark a packet lost. False if the packet was delivered or already marked lost.
    pub fn mark_lost(&mut self, seq: u32) -> bool {
        let flags = self.get(seq).flags;
        if flags & SACKED != 0 {
            return false;
        }
        match flags & (LOST | RETRANSMITTED) {
            LOST => return false,
            f if f == LOST | RETRANSMITTED => self.retrans_out -= 1, // the retransmission is lost, too
            _ => self.lost_out += 1,
        }
        let record = self.get_mut(seq);
        if record.is(LOST) {
            record.flags &= !RETRANSMITTED;
        }
        record.flags |= LOST;
        self.queue_for_retransmission(seq);
        true
    }

    fn queue_for_retransmission(&mut self, seq: u32) {
        if self.lost.back().is_none_or(|&last| last < seq) {
            self.lost.push_back(seq);
            return;
        }
        let at = self.lost.partition_point(|&s| s < seq);
        if self.lost.get(at) != Some(&seq) {
            self.lost.insert(at, seq);
        }
    }

    /// The lowest lost packet without a retransmission in the network.
    #[inline(always)] // called for every ACK that pacing does not hold
    pub fn next_to_retransmit(&mut self) -> Option<u32> {
        while let Some(&seq) = self.lost.front() {
            if self.awaits_retransmission(seq) {
                return Some(seq);
            }
            self.lost.pop_front();
        }
        None
    }

    /// Whether the packet is marked lost and no retransmission of it is in the network.
    pub fn awaits_retransmission(&self, seq: u32) -> bool {
        (self.una..self.next).contains(&seq) && self.get(seq).flags & (LOST | RETRANSMITTED | SACKED) == LOST
    }

    /// Clear every loss mark, because the episode is undone. As in Linux, packets that RACK marked lost stay out
    /// of the send order: if one of these packets really is lost, only a timeout detects the loss.
    pub fn forget_losses(&mut self) {
        for seq in self.una..self.next {
            self.get_mut(seq).flags &= !LOST;
        }
        self.lost_out = 0;
        self.lost.clear();
    }
}
