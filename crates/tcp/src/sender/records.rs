//! What was stamped on packets that are not known to be delivered.
//!
//! In recovery most packets between the lowest hole and the newest one are delivered. Records of recent packets are in a ring,
//! delivered or not; of earlier ones only those are kept that are not.

use std::collections::VecDeque;
use units::{Duration, Time};

/// Smaller rings grow, whatever is delivered of what is in them: they take little, and records are found in them at once.
const LARGE: usize = 4_096;

/// One packet: when it was sent and what the delivery counters said then, and its neighbours in the order of sending.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    /// When it was last sent.
    pub sent: Time,
    /// When the flight it belongs to began to be sent.
    pub flight_start: Time,
    /// When `delivered` had last changed as it was sent.
    pub delivered_time: Time,
    pub delivered: u32,
    pub lost: u32,
    pub marked: u32,
    pub in_flight: u32,
    pub earlier: u32,
    pub later: u32,
}

const _: () = assert!(size_of::<Record>() == 48);

impl Record {
    /// How long its flight had been sent when it was.
    #[inline]
    pub fn send_elapsed(&self) -> Duration {
        self.sent.since(self.flight_start)
    }
}

/// Records of outstanding packets.
#[derive(Debug)]
pub(super) struct Records {
    /// By number; a power of two.
    ring: Vec<Record>,
    /// The first packet whose record is in the ring.
    first: u32,
    /// Those of earlier packets, by number.
    early: VecDeque<(u32, Record)>,
}

impl Records {
    /// Room for so many packets, a power of two.
    pub fn for_packets(packets: usize) -> Records {
        Records { ring: vec![Record::default(); packets], first: 0, early: VecDeque::new() }
    }

    #[inline]
    fn slot(&self, seq: u32) -> usize {
        seq as usize & (self.ring.len() - 1)
    }

    #[inline]
    pub fn get(&self, seq: u32) -> &Record {
        if seq < self.first { self.early(seq) } else { &self.ring[self.slot(seq)] }
    }

    #[inline]
    pub fn get_mut(&mut self, seq: u32) -> &mut Record {
        if seq < self.first {
            return self.early_mut(seq);
        }
        let slot = self.slot(seq);
        &mut self.ring[slot]
    }

    fn place(&self, seq: u32) -> Result<usize, usize> {
        self.early.binary_search_by_key(&seq, |early| early.0)
    }

    #[cold]
    #[inline(never)]
    fn early(&self, seq: u32) -> &Record {
        if let Some((first, record)) = self.early.front()
            && *first == seq
        {
            return record; // the lowest hole, mostly
        }
        let Ok(place) = self.place(seq) else { panic!("packet {seq} has been delivered") };
        &self.early[place].1
    }

    /// The record of an early packet, anew if it had been given up.
    #[cold]
    #[inline(never)]
    fn early_mut(&mut self, seq: u32) -> &mut Record {
        let place = self.place(seq).unwrap_or_else(|place| {
            self.early.insert(place, (seq, Record::default()));
            place
        });
        &mut self.early[place].1
    }

    /// How many records there is room for.
    #[cfg(test)]
    pub fn room(&self) -> usize {
        self.ring.len() + self.early.capacity()
    }

    /// Whether the ring has a slot for the packet `next`, all below `una` being acknowledged.
    #[inline]
    pub fn has_room(&self, una: u32, next: u32) -> bool {
        self.ring.len() > (next - una.max(self.first)) as usize
    }

    /// Makes room for the packet `next`, all below `una` being acknowledged. If the ring is large and few of its
    /// earlier half are `needed` still, only those are kept; else it doubles.
    #[cold]
    #[inline(never)]
    pub fn make_room(&mut self, una: u32, next: u32, needed: impl Fn(u32) -> bool) {
        let (first, half) = (self.first.max(una), self.ring.len() / 2);
        let later = first + half as u32;
        let kept: Vec<u32> = (first..later).filter(|&seq| needed(seq)).collect();
        if self.ring.len() < LARGE || kept.len() > half / 4 {
            return self.resize(una, next, 2 * self.ring.len());
        }
        self.early.retain(|&(seq, _)| seq >= una && needed(seq));
        for seq in kept {
            self.early.push_back((seq, self.ring[self.slot(seq)]));
        }
        self.first = later;
    }

    /// Gives room back of which at most a quarter is taken, down to a ring of `fewest`.
    pub fn trim(&mut self, una: u32, next: u32, fewest: usize) {
        let taken = (next - una.max(self.first)) as usize;
        if self.ring.len() > fewest && 4 * taken <= self.ring.len() {
            self.resize(una, next, self.ring.len() / 2);
        }
        if self.early.back().is_some_and(|&(last, _)| last < una) {
            self.early = VecDeque::new();
        }
    }

    fn resize(&mut self, una: u32, next: u32, packets: usize) {
        let mut ring = vec![Record::default(); packets];
        for seq in una.max(self.first)..next {
            ring[seq as usize & (packets - 1)] = self.ring[self.slot(seq)];
        }
        self.ring = ring;
    }
}
