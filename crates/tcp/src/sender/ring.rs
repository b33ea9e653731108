//! Records of the outstanding packets by number. The records of recent packets are in a ring, and those of the
//! oldest packets may be in a compact form.

use super::early::Early;
use super::record::{Record, SACKED};

/// Smallest ring, in records: an initial window of 10 packets (RFC 6928), rounded up to a power of two.
const FEWEST: usize = 16;

/// Ring size below which a lean scoreboard does not save memory.
const MANY: usize = 64;

/// Largest number of outstanding packets per entry of the ring of a lean scoreboard.
const MOST_PER_PLACE: u32 = 32;

/// Numbers of the outstanding packets: `una..next`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    pub una: u32,
    pub next: u32,
}

/// The records of the outstanding packets. The number of a packet determines the position of its record.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Ring {
    /// Records from `base` on.
    places: Vec<Record>,
    /// Number of the first packet whose record is in the ring, not in `early`.
    base: u32,
    lean: bool,
    /// Compact records of the packets below `base`, used only in a lean ring.
    early: Early,
}

impl Ring {
    /// An empty ring; `lean`: delivered packets take less memory, at the cost of time.
    pub fn new(lean: bool) -> Ring {
        Ring { places: vec![Record::default(); FEWEST], early: Early::default(), base: 0, lean }
    }

    #[inline]
    fn slot(&self, seq: u32) -> usize {
        seq as usize & (self.places.len() - 1)
    }

    #[inline]
    pub fn get(&self, seq: u32) -> &Record {
        if seq < self.base { self.early.get(seq) } else { self.recent(seq) }
    }

    #[inline]
    pub fn get_mut(&mut self, seq: u32) -> &mut Record {
        let slot = self.slot(seq);
        if seq < self.base { self.early.get_mut(seq) } else { &mut self.places[slot] }
    }

    /// The record of a packet whose record is in the ring, not in `early`.
    #[inline]
    pub fn recent(&self, seq: u32) -> &Record {
        &self.places[self.slot(seq)]
    }

    /// Number of the first packet whose record is in the ring, not in `early`.
    #[inline]
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Records in memory.
    pub fn len(&self) -> usize {
        self.places.len() + self.early.records()
    }

    /// The lowest outstanding packet whose record is in the ring, not in `early`.
    #[inline]
    fn lowest(&self, out: Outstanding) -> u32 {
        out.una.max(self.base)
    }

    /// Number of outstanding packets whose record is in the ring.
    #[inline]
    fn taken(&self, out: Outstanding) -> usize {
        (out.next - self.lowest(out)) as usize
    }

    /// Add the record of the next new packet.
    #[inline]
    pub fn push(&mut self, out: Outstanding, record: Record) {
        if self.taken(out) == self.places.len() {
            self.make_room(out);
        }
        if self.slot(out.next) == 0 {
            self.shrink(out);
        }
        let slot = self.slot(out.next);
        self.places[slot] = record;
    }

    /// Double the ring, or, in a lean ring, move records to `early`. A lean ring chooses by the number of
    /// undelivered packets:
    ///
    /// - less than 3/8 of the ring: move the oldest three quarters of the records and halve the ring
    /// - less than 7/8 of the ring: move the older half of the records
    /// - 7/8 of the ring or more: double the ring
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, out: Outstanding) {
        let places = self.places.len();
        if !self.lean || places < MANY {
            return self.resize(out, places * 2);
        }
        let waiting = self.places.iter().filter(|record| !record.is(SACKED)).count();
        // Each move copies all records in `early`, so their number must not exceed the size of the ring by much.
        let needed = waiting.max(((out.next - out.una) / MOST_PER_PLACE) as usize);
        match needed * 8 / places {
            ..3 => {
                self.set_aside(out, places / 4 * 3);
                self.resize(out, places / 2);
            }
            3..7 => self.set_aside(out, places / 2),
            _ => self.resize(out, places * 2),
        }
    }

    /// Move the oldest records from the ring to `early`.
    fn set_aside(&mut self, out: Outstanding, records: usize) {
        let end = self.lowest(out) + records as u32;
        self.early = Early::new(out.una, (out.una..end).map(|seq| self.get(seq)));
        self.base = end;
    }

    /// Halve the ring if at most a quarter of it is used, so that memory is freed after a burst. Must not be called
    /// while an ACK is processed, because that processing reads the records of packets that the ACK has just
    /// acknowledged.
    #[cold]
    fn shrink(&mut self, out: Outstanding) {
        if self.base <= out.una {
            self.early = Early::default();
        }
        if self.places.len() > FEWEST && self.taken(out) * 4 <= self.places.len() {
            self.resize(out, self.places.len() / 2);
        }
    }

    fn resize(&mut self, out: Outstanding, records: usize) {
        let mut places = vec![Record::default(); records];
        for seq in self.lowest(out)..out.next {
            places[seq as usize & (records - 1)] = *self.get(seq);
        }
        self.places = places;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    #[test]
    fn records_of_a_burst_are_given_back_and_those_outstanding_stay() {
        let mut ring = Ring::new(false);
        let mut out = Outstanding { una: 0, next: 0 };
        let send = |ring: &mut Ring, out: &mut Outstanding, packets: u32| {
            for n in 0..packets {
                ring.push(*out, Record::new(Time::from_nanos(u64::from(n)), 1_448, 0));
                out.next += 1;
            }
        };
        send(&mut ring, &mut out, 1_000);
        out.una = 1_000;
        assert_eq!(ring.len(), 1_024);
        for _ in 0..2_000 {
            send(&mut ring, &mut out, 3);
            let records = (out.una..out.next).map(|seq| (ring.get(seq).len, ring.get(seq).sent.as_nanos()));
            assert_eq!(records.collect::<Vec<_>>(), [(1_448, 0), (1_448, 1), (1_448, 2)]);
            out.una += 3;
        }
        assert_eq!(ring.len(), FEWEST);
    }
}
