//! The packet scheduler of the sending host, when it is `sch_fq`: packets are handed to it ahead of their time, each
//! with its earliest departure time, and it lets them go when that has come (Linux `sch_fq.c`, `tcp_small_queue_check`).
//!
//! Not modelled: its timer slack of 10 microseconds, its limits (100 packets per flow, a horizon of 10 s), and the
//! fair turns it gives to several flows of one host, because here every flow has a host of its own.

use super::Sender;
use crate::Segment;
use std::collections::VecDeque;
use units::{Rate, Time};

/// Who holds packets back until pacing lets them go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// The transport, if the algorithm needs pacing; otherwise bursts are not paced.
    #[default]
    Auto,
    /// The transport, for every algorithm (SO_MAX_PACING_RATE, or `sch_fq` in what it does to rates).
    Always,
    /// `sch_fq`, for every algorithm. The transport decides up to a millisecond ahead what will be sent.
    Fq,
}

/// Packets that wait in the host for their departure.
#[derive(Debug, Default)]
pub(super) struct HostQueue {
    pub on: bool,
    waiting: VecDeque<(Time, Segment)>,
    bytes: u64,
}

impl HostQueue {
    pub fn new(on: bool) -> HostQueue {
        HostQueue { on, ..HostQueue::default() }
    }

    /// When the next packet departs; `Time::NEVER` if there is none.
    pub fn next(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |front| front.0)
    }

    /// Takes a packet that may depart at `at`, or lets it go if that is now.
    pub fn hand_over(&mut self, now: Time, at: Time, segment: Segment, out: &mut Vec<Segment>) {
        if at <= now && self.waiting.is_empty() {
            out.push(segment);
        } else {
            self.bytes += u64::from(segment.payload());
            self.waiting.push_back((at, segment));
        }
    }

    /// Lets go what is due.
    pub fn release(&mut self, now: Time, out: &mut Vec<Segment>) {
        while self.next() <= now
            && let Some((_, segment)) = self.waiting.pop_front()
        {
            self.bytes -= u64::from(segment.payload());
            out.push(segment);
        }
    }

    /// So much is waiting that the transport is to hold back: two bursts, or a millisecond at the pacing rate.
    fn is_full(&self, burst_bytes: u64, rate: Rate) -> bool {
        self.bytes > (2 * burst_bytes).max(rate.bytes_per_sec() >> 10)
    }
}

impl Sender {
    /// Pacing forbids to send (or to hand over) anything now.
    pub(super) fn must_wait(&self, now: Time) -> bool {
        if !self.host.on {
            return self.pacer.holds(now);
        }
        let burst_bytes = u64::from(self.burst_packets()) * u64::from(self.config.mss);
        self.host.is_full(burst_bytes, self.pacer.rate())
    }

    /// When a burst sent now departs.
    pub(super) fn departure(&self, now: Time) -> Time {
        if self.host.on { self.pacer.next_departure().max(now) } else { now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::from_nanos(us * 1_000)
    }

    fn data(seq: u32) -> Segment {
        Segment::Data { seq, len: 1000, push: false, again: false, cwr: false, stamp: 0, sent_us: 0 }
    }

    #[test]
    fn packets_depart_in_order_at_their_times() {
        let (mut host, mut out) = (HostQueue::new(true), Vec::new());
        for (time, seq) in [(0, 0), (500, 1), (1_000, 2)] {
            host.hand_over(at(0), at(time), data(seq), &mut out);
        }
        assert_eq!((out.len(), host.next()), (1, at(500)));
        host.release(at(999), &mut out);
        assert_eq!((out.len(), host.next()), (2, at(1_000)));
        host.release(at(1_000), &mut out);
        assert_eq!(out, [0, 1, 2].map(data));
    }

    #[test]
    fn two_bursts_or_a_millisecond_fill_it() {
        let mut host = HostQueue::new(true);
        (0..5).for_each(|seq| host.hand_over(at(0), at(1), data(seq), &mut Vec::new()));
        let slow = Rate::from_bytes_per_sec(1_000_000);
        assert!(host.is_full(2_000, slow) && !host.is_full(3_000, slow));
        assert!(!host.is_full(2_000, Rate::from_bytes_per_sec(6_000_000)));
    }
}
