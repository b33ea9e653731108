//! The scoreboard: which packets were sent, delivered, lost and sent again.
//!
//! Invariants: `una <= next`; a packet in `una..next` has an entry, and a record until it is known to be delivered; the
//! counters equal what the flags say; the send-order list holds every packet believed to be in the network, in the order of
//! sending, and besides only packets that a timeout deemed lost. What its first packet says of an earlier one is out of date:
//! packets leave at the front mostly, and the next one need not be touched for that. Behind its last one comes the packet
//! that will be sent next for the first time.

use super::records::{Record, Records};
use crate::RangeSet;
use std::collections::VecDeque;
use units::Time;

/// So many packets at the least: an initial window and what it lets out (RFC 6928).
const FEWEST: usize = 16;

/// So many packets are sent between two looks at whether there is too much room.
const LOOK_EVERY: u32 = 64;

/// The packet was selectively acknowledged.
pub(super) const SACKED: u16 = 1;
/// The packet is deemed lost.
pub(super) const LOST: u16 = 2;
/// A retransmission of the packet is in the network.
pub(super) const RETRANSMITTED: u16 = 4;
/// The packet was retransmitted at some time.
pub(super) const EVER_RETRANSMITTED: u16 = 8;
/// The packet was sent while the application was the limit.
pub(super) const APP_LIMITED: u16 = 16;
/// The packet is the first of its burst.
pub(super) const BURST_HEAD: u16 = 32;
const LINKED: u16 = 64;
/// The packet bears the FIN.
pub(super) const FIN: u16 = 128;
/// The packet ends what the application had written when it was sent.
/// Linux `tcp_mark_push`.
pub(super) const PUSH: u16 = 256;

/// What is kept of every outstanding packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// Payload bytes.
    pub len: u16,
    pub flags: u16,
}

impl Entry {
    #[inline]
    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// It has a record: it is not known to be delivered, or a probe sent it again all the same.
    #[inline]
    fn has_record(&self) -> bool {
        self.flags & (SACKED | LINKED) != SACKED
    }
}

/// All outstanding packets, with counts, the SACK ranges and the two orders in which loss
/// recovery needs them: by time of sending, and by number for retransmission.
#[derive(Debug)]
pub(super) struct Scoreboard {
    ring: Vec<Entry>,
    records: Records,
    /// Lowest packet not cumulatively acknowledged.
    pub una: u32,
    /// Next packet never sent before.
    pub next: u32,
    pub sacked_out: u32,
    pub lost_out: u32,
    pub retrans_out: u32,
    pub sacked: RangeSet,
    /// Lost packets by number; entries may be stale and are checked when taken.
    lost: VecDeque<u32>,
    oldest: u32,
    newest: u32,
    /// Bytes below `una` and below `next`.
    pub una_bytes: u64,
    pub next_bytes: u64,
    /// Packets among the outstanding ones that are the first of their burst.
    heads: u32,
}

impl Scoreboard {
    pub fn new() -> Scoreboard {
        Scoreboard {
            ring: vec![Entry::default(); FEWEST],
            records: Records::for_packets(FEWEST),
            una: 0,
            next: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            sacked: RangeSet::default(),
            lost: VecDeque::new(),
            oldest: 0,
            newest: 0,
            una_bytes: 0,
            next_bytes: 0,
            heads: 0,
        }
    }

    #[inline]
    fn slot(&self, seq: u32) -> usize {
        seq as usize & (self.ring.len() - 1)
    }

    #[inline]
    pub fn entry(&self, seq: u32) -> Entry {
        self.ring[self.slot(seq)]
    }

    #[inline]
    pub fn entry_mut(&mut self, seq: u32) -> &mut Entry {
        let slot = self.slot(seq);
        &mut self.ring[slot]
    }

    #[inline]
    pub fn is(&self, seq: u32, flag: u16) -> bool {
        self.entry(seq).is(flag)
    }

    /// The record of a packet that is not known to be delivered; also of one that the acknowledgement delivers which is being
    /// digested, until something is sent.
    #[inline]
    pub fn get(&self, seq: u32) -> &Record {
        self.records.get(seq)
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

    /// No packet is selectively acknowledged, deemed lost or on its way again.
    #[inline]
    pub fn is_clean(&self) -> bool {
        self.sacked_out | self.lost_out | self.retrans_out == 0 && self.sacked.is_empty()
    }

    pub fn bytes_out(&self) -> u64 {
        self.next_bytes - self.una_bytes
    }

    /// Bursts of which something is outstanding.
    pub fn bursts_out(&self) -> u64 {
        let begun = self.packets_out() > 0 && !self.is(self.una, BURST_HEAD);
        u64::from(self.heads + u32::from(begun))
    }

    /// One past the highest selectively acknowledged packet, or `una`.
    #[inline]
    pub fn highest_sacked(&self) -> u32 {
        self.sacked.end().unwrap_or(self.una)
    }

    /// Appends a new packet of `len` bytes and returns its number.
    #[inline]
    pub fn append(&mut self, record: &Record, len: u16, flags: u16) -> u32 {
        let seq = self.next;
        if self.packets_out() as usize == self.ring.len() || !self.records.has_room(self.una, seq) {
            self.make_room();
        } else if seq.is_multiple_of(LOOK_EVERY) {
            self.trim();
        }
        *self.records.get_mut(seq) = Record { earlier: self.newest, later: seq + 1, ..*record };
        *self.entry_mut(seq) = Entry { len, flags: flags | LINKED };
        self.newest = seq; // whose number is behind the last one already
        self.next += 1;
        self.next_bytes += u64::from(len);
        self.heads += u32::from(flags & BURST_HEAD != 0);
        seq
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let Scoreboard { ring, records, una, next, .. } = self;
        if !records.has_room(*una, *next) {
            let entry = |seq: u32| ring[seq as usize & (ring.len() - 1)];
            records.make_room(*una, *next, |seq| entry(seq).has_record());
        }
        if self.packets_out() as usize == self.ring.len() {
            self.resize(2 * self.ring.len());
        }
    }

    /// Gives room back of which at most a quarter is taken: a burst does not hold its memory for ever. Not while an
    /// acknowledgement is digested, which reads packets that it has just delivered.
    #[cold]
    #[inline(never)]
    fn trim(&mut self) {
        self.records.trim(self.una, self.next, FEWEST);
        if self.ring.len() > FEWEST && 4 * self.packets_out() as usize <= self.ring.len() {
            self.resize(self.ring.len() / 2);
        }
    }

    fn resize(&mut self, packets: usize) {
        let mut ring = vec![Entry::default(); packets];
        for seq in self.una..self.next {
            ring[seq as usize & (packets - 1)] = self.entry(seq);
        }
        self.ring = ring;
    }

    /// A packet is sent again: its new record, at the end of the send order. Whether it counts as a retransmission is said
    /// apart.
    pub fn send_again(&mut self, seq: u32, record: &Record) {
        self.unlink(seq);
        *self.records.get_mut(seq) = Record { earlier: self.newest, later: self.next, ..*record };
        self.entry_mut(seq).flags |= LINKED;
        if self.oldest == self.next {
            self.oldest = seq;
        } else {
            self.records.get_mut(self.newest).later = seq;
        }
        self.newest = seq;
    }

    /// Takes a packet out of the send order.
    #[inline]
    pub fn unlink(&mut self, seq: u32) {
        let mut entry = self.entry(seq);
        if !entry.is(LINKED) {
            return;
        }
        self.unlink_record(seq);
        entry.flags &= !LINKED;
        *self.entry_mut(seq) = entry;
    }

    #[inline]
    fn unlink_record(&mut self, seq: u32) {
        let &Record { earlier, later, .. } = self.records.get(seq);
        self.unlink_between(seq, earlier, later);
    }

    #[inline]
    fn unlink_between(&mut self, seq: u32, earlier: u32, later: u32) {
        if self.oldest != seq {
            return self.unlink_behind(earlier, later);
        }
        self.oldest = later;
    }

    /// Takes out what lies between two packets.
    fn unlink_behind(&mut self, earlier: u32, later: u32) {
        self.records.get_mut(earlier).later = later;
        if later == self.next {
            self.newest = earlier;
        } else {
            self.records.get_mut(later).earlier = earlier;
        }
    }

    /// The packet sent longest ago that is still believed to be in the network.
    #[inline]
    pub fn oldest_sent(&self) -> Option<u32> {
        (self.oldest != self.next).then_some(self.oldest)
    }

    /// The packet that was sent after one of this record, of those that are still believed to be in the network.
    #[inline]
    pub fn sent_after(&self, record: &Record) -> Option<u32> {
        (record.later != self.next).then_some(record.later)
    }

    /// Marks a packet selectively acknowledged. Returns what was kept of it, and when it was sent.
    #[inline]
    pub fn sack(&mut self, seq: u32) -> (Entry, Time) {
        let mut entry = self.entry(seq);
        let &Record { sent, earlier, later, .. } = self.records.get(seq);
        if entry.is(LINKED) {
            self.unlink_between(seq, earlier, later);
        }
        self.sacked_out += 1;
        if entry.is(LOST) {
            self.lost_out -= 1;
            self.retrans_out -= u32::from(entry.is(RETRANSMITTED));
            entry.flags &= !(LOST | RETRANSMITTED);
        }
        entry.flags = entry.flags & !LINKED | SACKED;
        *self.entry_mut(seq) = entry;
        (entry, sent)
    }

    /// Forgets the lowest packet because it was cumulatively acknowledged. Returns what was kept of it.
    #[inline]
    pub fn acknowledge_lowest(&mut self) -> Entry {
        let seq = self.una;
        let entry = self.entry(seq);
        if entry.is(LINKED) {
            self.unlink_record(seq);
        }
        if entry.flags & (SACKED | LOST | RETRANSMITTED) != 0 {
            self.sacked_out -= u32::from(entry.is(SACKED));
            self.lost_out -= u32::from(entry.is(LOST));
            self.retrans_out -= u32::from(entry.is(RETRANSMITTED));
        }
        self.heads -= u32::from(entry.is(BURST_HEAD));
        self.una += 1;
        self.una_bytes += u64::from(entry.len);
        entry
    }

    /// Forgets all packets below `ack`, none of which was ever sent again or selectively acknowledged: so in the order of
    /// sending they come first, one after the other. Returns their bytes.
    #[inline]
    pub fn acknowledge_in_order(&mut self, ack: u32) -> u64 {
        let (mut bytes, mut linked) = (0, None);
        for seq in self.una..ack {
            let entry = self.entry(seq);
            bytes += u64::from(entry.len);
            self.heads -= u32::from(entry.is(BURST_HEAD));
            linked = if entry.is(LINKED) { Some(seq) } else { linked };
        }
        if let Some(last) = linked {
            self.oldest = self.get(last).later;
        }
        self.una = ack;
        self.una_bytes += bytes;
        bytes
    }

    /// A retransmission of the packet has entered the network.
    pub fn mark_retransmitted(&mut self, seq: u32) {
        let entry = self.entry_mut(seq);
        let before = entry.flags;
        entry.flags |= RETRANSMITTED;
        self.retrans_out += u32::from(before & RETRANSMITTED == 0);
    }

    /// Deems a packet lost. Returns false if nothing changed: it was delivered, or already lost.
    pub fn mark_lost(&mut self, seq: u32) -> bool {
        let flags = self.entry(seq).flags;
        if flags & SACKED != 0 {
            return false;
        }
        match flags & (LOST | RETRANSMITTED) {
            LOST => return false,
            f if f == LOST | RETRANSMITTED => self.retrans_out -= 1, // the retransmission is lost, too
            _ => self.lost_out += 1,
        }
        let entry = self.entry_mut(seq);
        if entry.is(LOST) {
            entry.flags &= !RETRANSMITTED;
        }
        entry.flags |= LOST;
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

    /// The lowest lost packet that is not being retransmitted.
    pub fn next_to_retransmit(&mut self) -> Option<u32> {
        while let Some(&seq) = self.lost.front() {
            if self.awaits_retransmission(seq) {
                return Some(seq);
            }
            self.lost.pop_front();
        }
        None
    }

    /// The packet is lost and not on its way again.
    pub fn awaits_retransmission(&self, seq: u32) -> bool {
        (self.una..self.next).contains(&seq)
            && self.entry(seq).flags & (LOST | RETRANSMITTED | SACKED) == LOST
    }

    /// Takes back every loss mark (an undone episode). As in Linux packets that RACK had found lost stay out of the
    /// send order: only a timeout finds out if one of them was lost after all.
    pub fn forget_losses(&mut self) {
        for seq in self.una..self.next {
            self.entry_mut(seq).flags &= !LOST;
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
            let record = Record { sent: Time::from_nanos(u64::from(n)), ..Record::default() };
            board.append(&record, 1_448, 0);
        });
    }

    fn room(board: &Scoreboard) -> (usize, usize) {
        (board.ring.len(), board.records.room())
    }

    /// The order of sending, by the links in both directions.
    fn in_order(board: &Scoreboard) -> Vec<u32> {
        let order: Vec<u32> =
            std::iter::successors(board.oldest_sent(), |&seq| board.sent_after(board.get(seq))).collect();
        for pair in order.windows(2) {
            assert_eq!(board.get(pair[1]).earlier, pair[0]);
        }
        assert!(order.last().is_none_or(|&last| last == board.newest));
        order
    }

    #[test]
    fn room_of_a_burst_is_given_back_and_what_is_outstanding_stays() {
        let mut board = Scoreboard::new();
        sent(&mut board, 1_000);
        (0..1_000).for_each(|_| {
            board.acknowledge_lowest();
        });
        assert_eq!(room(&board), (1_024, 1_024));
        for _ in 0..2_000 {
            sent(&mut board, 3);
            let packets =
                (board.una..board.next).map(|seq| (board.entry(seq).len, board.get(seq).sent.as_nanos()));
            assert_eq!(packets.collect::<Vec<_>>(), [(1_448, 0), (1_448, 1), (1_448, 2)]);
            (0..3).for_each(|_| {
                board.acknowledge_lowest();
            });
        }
        assert_eq!(room(&board), (FEWEST, FEWEST));
    }

    /// Packets up to `count` are sent of which all are delivered but every hundredth.
    fn with_holes(board: &mut Scoreboard, count: u32) {
        while board.next < count {
            let from = board.next;
            sent(board, 100);
            (from + 1..board.next).for_each(|seq| {
                board.sack(seq);
            });
        }
    }

    #[test]
    fn of_early_packets_only_those_have_records_that_are_not_delivered() {
        let mut board = Scoreboard::new();
        with_holes(&mut board, 50_000);
        assert_eq!(board.ring.len(), 65_536);
        assert!(board.records.room() < 5_000, "{}", board.records.room());
        let holes: Vec<u32> = (0..50_000).step_by(100).collect();
        assert_eq!(in_order(&board), holes);
        assert!(holes.iter().all(|&seq| board.get(seq).sent == Time::ZERO));
        let again = Record { sent: Time::from_nanos(7), ..Record::default() };
        board.send_again(200, &again);
        board.sack(300);
        assert_eq!((in_order(&board)[..3].to_vec(), board.newest), (vec![0, 100, 400], 200));
        assert_eq!(board.get(200).sent, again.sent);
        (0..50_000).for_each(|_| {
            board.acknowledge_lowest();
        });
        assert_eq!((in_order(&board), board.in_flight()), (Vec::<u32>::new(), 0));
        (0..2_000).for_each(|_| {
            sent(&mut board, 1);
            board.acknowledge_lowest();
        });
        assert_eq!(room(&board), (FEWEST, FEWEST));
    }

    #[test]
    fn a_delivered_packet_that_a_probe_sends_again_has_a_record_until_it_leaves_the_order() {
        for early in [false, true] {
            let mut board = Scoreboard::new();
            sent(&mut board, 4);
            board.sack(3);
            if early {
                with_holes(&mut board, 10_004);
                (4..10_004).step_by(100).for_each(|seq| {
                    board.sack(seq);
                });
            }
            let again = Record { sent: Time::from_nanos(9), ..Record::default() };
            board.send_again(3, &again);
            assert_eq!((in_order(&board), board.get(3).sent), (vec![0, 1, 2, 3], again.sent));
            board.send_again(1, &again);
            assert_eq!(in_order(&board), [0, 2, 3, 1]);
            board.unlink(3);
            sent(&mut board, 1);
            assert_eq!(in_order(&board), [0, 2, 1, board.next - 1]);
        }
    }

    #[test]
    fn packets_acknowledged_in_order_leave_the_order() {
        let mut board = Scoreboard::new();
        sent(&mut board, 10);
        board.unlink(4); // as what was deemed lost before that was undone
        assert_eq!((board.acknowledge_in_order(5), board.una_bytes), (5 * 1_448, 5 * 1_448));
        assert_eq!(in_order(&board), [5, 6, 7, 8, 9]);
        board.acknowledge_in_order(10);
        assert_eq!(in_order(&board), Vec::<u32>::new());
        sent(&mut board, 2);
        assert_eq!(in_order(&board), [10, 11]);
    }
}
