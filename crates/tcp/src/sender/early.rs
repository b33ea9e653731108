//! Compact records of the oldest outstanding packets. Most of these packets have been SACKed while a packet with a
//! lower number is missing.

use super::record::{BURST_HEAD, EVER_RETRANSMITTED, LINKED, RETRANSMITTED, Record, SACKED};

/// Flags of a delivered packet that the sender still reads, in addition to the packet's length.
const LASTING: u16 = SACKED | EVER_RETRANSMITTED | BURST_HEAD;

/// Number of recent distinct records with which the next record is compared.
const KINDS: usize = 8;

/// Records of consecutive packets. Delivered packets with equal records share one record.
#[derive(Debug, Default)]
pub(super) struct Early {
    first: u32,
    /// Index in `records` of each packet's record.
    places: Vec<u32>,
    records: Vec<Record>,
}

impl Early {
    /// Collect the records of the packets from number `first` on.
    pub fn new<'a>(first: u32, records: impl ExactSizeIterator<Item = &'a Record>) -> Early {
        let places = Vec::with_capacity(records.len());
        let mut early = Early { first, places, records: Vec::new() };
        let mut kinds = Kinds::default();
        for record in records {
            let place = early.keep(record, &mut kinds);
            early.places.push(place);
        }
        early.records.shrink_to_fit();
        early
    }

    /// Store a record, or find a recent record that is equal to it. Return the index of the record.
    fn keep(&mut self, record: &Record, kinds: &mut Kinds) -> u32 {
        let next = self.records.len() as u32;
        // Such a record may still change: a DSACK may clear RETRANSMITTED, and LINKED means that a probe retransmitted
        // the packet.
        if record.flags & (SACKED | RETRANSMITTED | LINKED) != SACKED {
            self.records.push(*record);
            return next;
        }
        kinds.find(record).unwrap_or_else(|| {
            self.records.push(Record::new(record.sent, record.len, record.flags & LASTING));
            kinds.add(record, next);
            next
        })
    }

    fn place(&self, seq: u32) -> usize {
        self.places[(seq - self.first) as usize] as usize
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        self.records.len()
    }

    #[cold]
    #[inline(never)]
    pub fn get(&self, seq: u32) -> &Record {
        &self.records[self.place(seq)]
    }

    /// The record of a packet. Delivered packets may share a record, and a shared record must not be changed.
    #[cold]
    #[inline(never)]
    pub fn get_mut(&mut self, seq: u32) -> &mut Record {
        let place = self.place(seq);
        &mut self.records[place]
    }
}

/// The last distinct records of delivered packets, each with its index in `records`.
#[derive(Default)]
struct Kinds {
    known: [((u16, u16), u32); KINDS],
    seen: usize,
}

impl Kinds {
    fn key(record: &Record) -> (u16, u16) {
        (record.len, record.flags & LASTING)
    }

    fn find(&self, record: &Record) -> Option<u32> {
        let key = Kinds::key(record);
        self.known.iter().find(|(kind, _)| *kind == key).map(|(_, place)| *place)
    }

    fn add(&mut self, record: &Record, place: u32) {
        self.known[self.seen % KINDS] = (Kinds::key(record), place);
        self.seen += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::LOST;
    use super::super::scoreboard::Scoreboard;
    use super::*;
    use proptest::prelude::*;
    use std::iter::successors;
    use units::Time;

    /// Send packets with different send times, lengths and positions in a burst.
    fn send(board: &mut Scoreboard, packets: u32) {
        (0..packets).for_each(|_| {
            board.append(&sent(board.next()));
        });
    }

    fn sent(seq: u32) -> Record {
        Record::new(
            Time::from_nanos(u64::from(seq)),
            1_000 + (seq % 3) as u16,
            [0, BURST_HEAD][seq as usize % 2],
        )
    }

    fn count(board: &Scoreboard, flag: u16) -> u32 {
        (board.una()..board.next()).filter(|&seq| board.get(seq).is(flag)).count() as u32
    }

    #[test]
    fn delivered_packets_above_a_hole_take_little() {
        let mut board = Scoreboard::new(true);
        send(&mut board, 100);
        for seq in 100..20_000 {
            send(&mut board, 1);
            if seq % 100 != 0 {
                board.sack(seq - 99);
            }
        }
        let records = board.records();
        assert!(records < 1_500, "{records} records for 100 packets in flight and 200 holes");
        let holes = (0..19_900).filter(|&seq| !board.get(seq).is(SACKED));
        assert!(
            holes.eq((0..19_900).filter(|seq| seq % 100 == 1 || *seq == 0)),
            "compact records changed the holes"
        );
        (0..20_000).for_each(|seq| assert_eq!(board.acknowledge_lowest().len, sent(seq).len));
        send(&mut board, 10_000);
        assert_eq!((board.sacked_out(), count(&board, SACKED)), (0, 0));
    }

    /// Apply an event of this kind to an outstanding packet.
    fn happen(board: &mut Scoreboard, kind: u8, seq: u32) {
        let is_missing = !board.get(seq).is(SACKED);
        match kind {
            0 if seq == board.una() => {
                board.acknowledge_lowest();
            }
            1 if is_missing => {
                board.mark_lost(seq);
            }
            2 if board.awaits_retransmission(seq) => {
                board.get_mut(seq).flags |= EVER_RETRANSMITTED;
                board.mark_retransmitted(seq);
            }
            3 if board.awaits_retransmission(seq) => board.link_newest(seq),
            4 if board.get(seq).flags & (LOST | SACKED) == LOST => board.unlink(seq),
            5 => board.forget_losses(),
            6.. if is_missing && seq > board.una() => {
                board.sack(seq);
            }
            _ => {}
        }
    }

    /// The fields of a record that the sender reads. Fewer fields are read once the packet is delivered.
    fn told(board: &Scoreboard, seq: u32) -> (u16, u16, Option<Time>, Option<u32>) {
        let record = board.get(seq);
        let flags = record.flags & (LASTING | LOST | RETRANSMITTED | LINKED);
        let (is_missing, is_linked) = (!record.is(SACKED), record.is(LINKED));
        (record.len, flags, is_missing.then_some(record.sent), record.next_sent().filter(|_| is_linked))
    }

    proptest! {
        #[test]
        fn records_outlast_being_set_aside(ops in prop::collection::vec((0u8..10, 0u32..4_000, 1u32..60), 0..200)) {
            let (mut board, mut whole) = (Scoreboard::new(true), Scoreboard::new(false));
            for (kind, from, packets) in ops {
                let from = board.una() + from % board.packets_out().max(1);
                let end = (from + packets * 3).min(board.next());
                for board in [&mut board, &mut whole] {
                    (from..end).for_each(|seq| if seq >= board.una() { happen(board, kind, seq) });
                    send(board, packets);
                }
                prop_assert_eq!((board.una(), board.next()), (whole.una(), whole.next()));
                let flags = [SACKED, LOST, RETRANSMITTED, BURST_HEAD, LINKED];
                let mut counts = [0; 5];
                for seq in board.una()..board.next() {
                    prop_assert_eq!(told(&board, seq), told(&whole, seq), "packet {}", seq);
                    let record = board.get(seq);
                    (0..5).for_each(|at| counts[at] += u32::from(record.is(flags[at])));
                }
                let [sacked, lost, retransmitted, heads, linked] = counts;
                prop_assert_eq!([sacked, lost, retransmitted], [board.sacked_out(), board.lost_out(), board.retrans_out()]);
                let begun = board.packets_out() > 0 && !board.get(board.una()).is(BURST_HEAD);
                prop_assert_eq!(board.bursts_out(), u64::from(heads + u32::from(begun)));
                let in_order = successors(board.oldest_sent(), |&seq| board.get(seq).next_sent());
                prop_assert_eq!(in_order.count() as u32, linked);
            }
        }
    }
}
