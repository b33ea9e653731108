//! Generic receive offload: packets that arrive close together are merged, and TCP acknowledges the merged packet once
//! (Linux `net/core/gro.c`, `tcp_gro_receive`).
//!
//! The network card raises an interrupt some time after the first packet of a batch (`rx-usecs`). Consecutive packets
//! that have arrived before the interrupt are merged if their headers allow a merge, and are passed to TCP in
//! order. Not modelled: batches that grow while the host is busy, and interleaved flows in one batch.

use crate::{Riding, Segment};
use units::{Duration, Time};

/// Largest payload that is merged, bytes (64 KiB less headers).
const MOST_BYTES: u32 = 65_483;

/// A batch of packets that await the interrupt.
#[derive(Debug)]
pub(crate) struct Gro {
    delay: Duration,
    mss: u32,
    waiting: Vec<(Segment, bool)>,
    due: Time,
}

impl Gro {
    /// Create an empty batch. It collects packets that arrive within `delay` of its first packet.
    pub fn new(delay: Duration, mss: u32) -> Gro {
        Gro { delay, mss, waiting: Vec::with_capacity(64), due: Time::NEVER }
    }

    /// Time at which the batch is passed to TCP; `Time::NEVER` without a batch.
    pub fn due(&self) -> Time {
        self.due
    }

    /// Add an arriving data packet; `ce`: the packet arrived with a CE mark.
    pub fn hold(&mut self, now: Time, segment: Segment, ce: bool) {
        if self.waiting.is_empty() {
            self.due = now + self.delay;
        }
        self.waiting.push((segment, ce));
    }

    /// Take the batch: each packet, whether the packet was marked, and whether it is merged with the next packet.
    pub fn take(&mut self) -> Vec<(Segment, bool, bool)> {
        self.due = Time::NEVER;
        let mut merged = 0;
        let batch = &self.waiting;
        let joins = |n: usize, merged: u32| {
            batch.get(n + 1).is_some_and(|next| self.alike(&batch[n], next) && merged < MOST_BYTES / self.mss)
        };
        let parts = (0..batch.len()).map(|n| {
            merged += 1;
            let more = joins(n, merged);
            merged = if more { merged } else { 0 };
            (batch[n].0, batch[n].1, more)
        });
        let parts = parts.collect();
        self.waiting.clear();
        parts
    }

    /// Whether the two packets are merged: consecutive numbers, the same timestamp, ECN bits and acknowledgement, the
    /// first with a full MSS and without PSH, and no CWR.
    fn alike(&self, first: &(Segment, bool), second: &(Segment, bool)) -> bool {
        let (Segment::Data { seq, len, push, cwr, stamp, riding, .. }, ce) = *first else { return false };
        let Segment::Data { seq: next, cwr: next_cwr, stamp: next_stamp, riding: next_riding, .. } = second.0
        else {
            return false;
        };
        let quiet = !push && !cwr && !next_cwr && u32::from(len) == self.mss;
        let ack = |riding: Option<Riding>| riding.map(|riding| riding.ack);
        quiet && ack(riding) == ack(next_riding) && next == seq + 1 && next_stamp == stamp && second.1 == ce
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(seq: u32, push: bool) -> Segment {
        let mut segment = Segment::plain_data(seq, 1448, 7);
        if let Segment::Data { push: pushed, .. } = &mut segment {
            *pushed = push;
        }
        segment
    }

    /// Packets in each part of the batch.
    fn parts(packets: impl IntoIterator<Item = (Segment, bool)>) -> Vec<u32> {
        let mut gro = Gro::new(Duration::from_micros(50), 1448);
        packets.into_iter().for_each(|(segment, ce)| gro.hold(Time::ZERO, segment, ce));
        let (mut parts, mut size) = (Vec::new(), 0);
        for (_, _, more) in gro.take() {
            size += 1;
            if !more {
                parts.push(std::mem::take(&mut size));
            }
        }
        parts
    }

    #[test]
    fn a_run_is_one_part_up_to_64_kib() {
        assert_eq!(parts((0..100).map(|seq| (data(seq, false), false))), [45, 45, 10]);
    }

    #[test]
    fn holes_marks_and_the_ends_of_bursts_separate() {
        assert_eq!(parts([0, 1, 3, 4].map(|seq| (data(seq, false), false))), [2, 2]);
        assert_eq!(parts([0, 1, 2, 3].map(|seq| (data(seq, false), seq >= 1))), [1, 3]);
        assert_eq!(parts([0, 1, 2, 3].map(|seq| (data(seq, seq == 2), false))), [3, 1]);
    }

    #[test]
    fn the_batch_is_due_a_delay_after_its_first_packet() {
        let mut gro = Gro::new(Duration::from_micros(50), 1448);
        [0, 30].into_iter().for_each(|us| gro.hold(Time::from_nanos(us * 1_000), data(0, false), false));
        assert_eq!(gro.due(), Time::from_nanos(50_000));
        gro.take();
        assert_eq!(gro.due(), Time::NEVER);
    }
}
