//! The scoreboard: which packets were sent, delivered, marked lost and retransmitted.
//!
//! Invariants:
//!
//! - `una <= next`, and every packet in `una..next` has a record.
//! - The counters agree with the flags.
//! - The send-order list has every packet believed to be in the network, in the order of sending. Besides these it has
//!   only packets that a timeout marked lost.
//! - The field `earlier` of the first packet in the list is stale: most packets leave the list at the front, and the
//!   next record is not touched for that.

use super::early::Early;
use crate::RangeSet;
use std::collections::VecDeque;
use units::{Duration, Time};

const NONE: u32 = u32::MAX;

/// Smallest ring, in records: an initial window (RFC 6928) and some more.
const FEWEST: usize = 16;

/// Ring size below which a lean scoreboard does not save memory.
const MANY: usize = 64;

/// Most outstanding packets per place in the ring of a lean scoreboard.
const MOST_PER_PLACE: u32 = 32;

/// The packet was selectively acknowledged.
pub(super) const SACKED: u16 = 1;
/// The packet is marked lost.
pub(super) const LOST: u16 = 2;
/// A retransmission of the packet is in the network.
pub(super) const RETRANSMITTED: u16 = 4;
/// The packet was retransmitted at some time.
pub(super) const EVER_RETRANSMITTED: u16 = 8;
/// The packet was sent while the flow was app-limited.
pub(super) const APP_LIMITED: u16 = 16;
/// The packet is the first of its burst.
pub(super) const BURST_HEAD: u16 = 32;
/// The packet is in the send order.
pub(super) const LINKED: u16 = 64;
/// The packet has the FIN.
pub(super) const FIN: u16 = 128;
/// The packet was the last of the written data when it was sent (Linux `tcp_mark_push`).
pub(super) const PUSH: u16 = 256;

/// One packet: its time of sending and the delivery counters at that time. Fits one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Record {
    /// When it was last sent.
    pub sent: Time,
    /// When its flight began to be sent.
    pub flight_start: Time,
    /// When `delivered` had last changed at the time of sending.
    pub delivered_time: Time,
    pub delivered: u32,
    pub lost: u32,
    pub marked: u32,
    pub in_flight: u32,
    earlier: u32,
    later: u32,
    pub len: u16,
    pub flags: u16,
}

impl Record {
    /// Describe a packet of `len` bytes before its first transmission.
    pub fn new(sent: Time, len: u16, flags: u16) -> Record {
        Record { sent, len, flags, ..Record::default() }
    }

    #[inline]
    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// The next packet in the send order.
    #[inline]
    pub fn next_sent(&self) -> Option<u32> {
        (self.later != NONE).then_some(self.later)
    }

    /// Time from the start of its flight until it was sent.
    #[inline]
    pub fn send_elapsed(&self) -> Duration {
        self.sent.since(self.flight_start)
    }
}

/// The records of all outstanding packets, with counters and SACK ranges. Loss recovery reads them in two orders: by
/// time of sending, and by number for retransmission.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    /// Records from `base` on.
    ring: Vec<Record>,
    /// Records below `base`, which only a lean scoreboard sets aside.
    early: Early,
    /// Number of the first packet that was not set aside.
    base: u32,
    lean: bool,
    /// Lowest packet not cumulatively acknowledged.
    pub una: u32,
    /// Number of the next new packet.
    pub next: u32,
    pub sacked_out: u32,
    pub lost_out: u32,
    pub retrans_out: u32,
    pub sacked: RangeSet,
    /// Lost packets by number; entries may be stale and are checked when taken.
    lost: VecDeque<u32>,
    oldest: u32,
    newest: u32,
    /// Payload bytes below `una`.
    pub una_bytes: u64,
    /// Payload bytes below `next`.
    pub next_bytes: u64,
    /// Outstanding packets that are the first of their burst.
    heads: u32,
}

impl Scoreboard {
    /// An empty scoreboard; `lean`: delivered packets take less memory, at the cost of time.
    pub fn new(lean: bool) -> Scoreboard {
        Scoreboard {
            lean,
            ring: vec![Record::default(); FEWEST],
            oldest: NONE,
            newest: NONE,
            ..Scoreboard::default()
        }
    }

    #[inline]
    fn slot(&self, seq: u32) -> usize {
        seq as usize & (self.ring.len() - 1)
    }

    #[inline]
    pub fn get(&self, seq: u32) -> &Record {
        if seq < self.base { self.early.get(seq) } else { self.recent(seq) }
    }

    #[inline]
    pub fn get_mut(&mut self, seq: u32) -> &mut Record {
        let slot = self.slot(seq);
        if seq < self.base { self.early.get_mut(seq) } else { &mut self.ring[slot] }
    }

    /// The record of a packet that was not set aside.
    #[inline]
    pub fn recent(&self, seq: u32) -> &Record {
        &self.ring[self.slot(seq)]
    }

    /// The lowest outstanding packet that was not set aside.
    #[inline]
    fn lowest_in_ring(&self) -> u32 {
        self.una.max(self.base)
    }

    /// Packets with a place in the ring.
    #[inline]
    fn places_taken(&self) -> usize {
        (self.next - self.lowest_in_ring()) as usize
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

    /// Whether no packet is SACKed, marked lost, retransmitted or set aside.
    #[inline]
    pub fn is_clean(&self) -> bool {
        self.base <= self.una
            && self.sacked_out | self.lost_out | self.retrans_out == 0
            && self.sacked.is_empty()
    }

    pub fn bytes_out(&self) -> u64 {
        self.next_bytes - self.una_bytes
    }

    /// Bursts with at least one outstanding packet.
    pub fn bursts_out(&self) -> u64 {
        let begun = self.packets_out() > 0 && !self.get(self.una).is(BURST_HEAD);
        u64::from(self.heads + u32::from(begun))
    }

    /// One past the highest selectively acknowledged packet, or `una`.
    #[inline]
    pub fn highest_sacked(&self) -> u32 {
        self.sacked.end().unwrap_or(self.una)
    }

    /// Append a new packet and return its number.
    #[inline]
    pub fn append(&mut self, record: &Record) -> u32 {
        if self.places_taken() == self.ring.len() {
            self.make_room();
        }
        let seq = self.next;
        if self.slot(seq) == 0 {
            self.shrink();
        }
        let slot = self.slot(seq);
        self.ring[slot] =
            Record { earlier: self.newest, later: NONE, flags: record.flags | LINKED, ..*record };
        self.next += 1;
        self.next_bytes += u64::from(record.len);
        self.heads += u32::from(record.is(BURST_HEAD));
        self.follow_newest(seq);
        seq
    }

    /// Double the ring, or set records aside if the scoreboard is lean. The choice depends on the undelivered packets:
    ///
    /// - less than 3/8 of the ring: set the oldest three quarters aside and halve the ring
    /// - less than 7/8: set the older half aside
    /// - more: double the ring
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let places = self.ring.len();
        if !self.lean || places < MANY {
            return self.resize(places * 2);
        }
        let waiting = self.ring.iter().filter(|record| !record.is(SACKED)).count();
        // Records set aside are copied each time, so they must not be many more than the ring has.
        let needed = waiting.max((self.packets_out() / MOST_PER_PLACE) as usize);
        match needed * 8 / places {
            ..3 => {
                self.set_aside(places / 4 * 3);
                self.resize(places / 2);
            }
            3..7 => self.set_aside(places / 2),
            _ => self.resize(places * 2),
        }
    }

    /// Move the oldest records out of the ring.
    fn set_aside(&mut self, records: usize) {
        let end = self.lowest_in_ring() + records as u32;
        self.early = Early::new(self.una, (self.una..end).map(|seq| self.get(seq)));
        self.base = end;
    }

    /// Records in memory.
    pub fn records(&self) -> usize {
        self.ring.len() + self.early.records()
    }

    /// Halve the ring if at most a quarter of it is used, so that memory is freed after a burst. Not to be called
    /// while an ACK is processed, as that reads packets that it has just acknowledged.
    #[cold]
    fn shrink(&mut self) {
        if self.base <= self.una {
            self.early = Early::default();
        }
        if self.ring.len() > FEWEST && self.places_taken() * 4 <= self.ring.len() {
            self.resize(self.ring.len() / 2);
        }
    }

    fn resize(&mut self, records: usize) {
        let mut ring = vec![Record::default(); records];
        for seq in self.lowest_in_ring()..self.next {
            ring[seq as usize & (records - 1)] = *self.get(seq);
        }
        self.ring = ring;
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

    /// Remove a packet from the send order, if it is in it.
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

    /// Mark a packet SACKed. Return when it was last sent, and whether it was ever retransmitted.
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

    /// Note that a retransmission of the packet is in the network.
    pub fn mark_retransmitted(&mut self, seq: u32) {
        let record = self.get_mut(seq);
        let before = record.flags;
        record.flags |= RETRANSMITTED;
        self.retrans_out += u32::from(before & RETRANSMITTED == 0);
    }

    /// Mark a packet lost. False if nothing changed: it was delivered, or already marked lost.
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

    /// Clear every loss mark, as the episode is undone. As in Linux, packets that RACK marked lost stay out of the send
    /// order: if one of them really is lost, only a timeout detects that.
    pub fn forget_losses(&mut self) {
        for seq in self.una..self.next {
            self.get_mut(seq).flags &= !LOST;
        }
        self.lost_out = 0;
        self.lost.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(board: &mut Scoreboard, packets: u32) {
        (0..packets).for_each(|n| {
            board.append(&Record::new(Time::from_nanos(u64::from(n)), 1_448, 0));
        });
    }

    #[test]
    fn records_of_a_burst_are_given_back_and_those_outstanding_stay() {
        let mut board = Scoreboard::new(false);
        sent(&mut board, 1_000);
        (0..1_000).for_each(|_| {
            board.acknowledge_lowest();
        });
        assert_eq!(board.ring.len(), 1_024);
        for _ in 0..2_000 {
            sent(&mut board, 3);
            let lengths =
                (board.una..board.next).map(|seq| (board.get(seq).len, board.get(seq).sent.as_nanos()));
            assert_eq!(lengths.collect::<Vec<_>>(), [(1_448, 0), (1_448, 1), (1_448, 2)]);
            (0..3).for_each(|_| {
                board.acknowledge_lowest();
            });
        }
        assert_eq!(board.ring.len(), FEWEST);
    }
}
