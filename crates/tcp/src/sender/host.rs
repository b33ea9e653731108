//! What a connection has in its host: packets that wait for their departure, and packets in the network interface.
//!
//! With `sch_fq` packets are handed over ahead of their time, each with its earliest departure time, and leave when
//! that has come (Linux `sch_fq.c`). Several flows of one host take turns only behind that, in the queue of its
//! interface ([`Nic`]): there a packet arrives at its departure time. A host without an interface passes everything on
//! at once, so that its flows have nothing in common.
//!
//! With an interface, the bytes that a connection has in the host are limited (TCP small queues, Linux
//! `tcp_small_queue_check`), and the connection goes on when some have left (`tcp_wfree`, `tcp_tsq_write`). Counted are
//! bytes on the wire. Linux counts `skb->truesize`, which adds the memory of buffers and differs between drivers and
//! versions; the limit of two bursts is the same in either measure, and that of a millisecond is tighter there by the
//! part of `truesize` that is no payload.
//!
//! Not modelled: the timer slack of `sch_fq` (10 microseconds) and its limits for what waits for its time (100 packets per
//! flow, a horizon of 10 s); that a retransmission waits until the original has left the host
//! (`skb_still_in_host_queue`); that a drop in the host's own queue reduces the window at once (`tcp_enter_cwr` in
//! `__tcp_transmit_skb`): loss recovery finds it.

use super::Sender;
use super::scoreboard::BURST_HEAD;
use crate::Segment;
use std::collections::VecDeque;
use units::{Rate, Time};

/// The most that a connection without pacing may have in its host (sysctl tcp_limit_output_bytes).
const LIMIT_OUTPUT_BYTES: u64 = 4 << 20;
/// The limit for new data (`tcp_write_xmit`): its factor is 2^0.
pub(super) const NEW_DATA: u32 = 0;
/// The limit for retransmissions is twice as high (`tcp_xmit_retransmit_queue`).
pub(super) const RETRANSMISSIONS: u32 = 1;

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

/// The network interface of a host. It tells the sender what leaves it ([`Sender::on_left_host`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nic {
    /// Bytes of headers around the payload of a data packet on the wire.
    pub header_bytes: u32,
}

/// Packets that wait in the host for their departure, and what is counted of those in its interface.
#[derive(Debug, Default)]
pub(super) struct HostQueue {
    pub on: bool,
    waiting: VecDeque<(Time, Segment)>,
    /// Payload that waits for its departure.
    bytes: u64,
    /// Bytes on the wire that have not left the interface (`sk_wmem_alloc`); 0 without one.
    held: u64,
    /// The connection goes on when something leaves (`TSQ_THROTTLED`).
    throttled: bool,
}

impl HostQueue {
    pub fn new(on: bool) -> HostQueue {
        HostQueue { on, ..HostQueue::default() }
    }

    /// Nothing waits for its departure, and nothing is in the interface (as `tcp_rate_check_app_limited` asks).
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.held == 0
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
    fn is_full(&self, burst_bytes: u64, rate: Rate, pacing_shift: u32) -> bool {
        self.bytes > (2 * burst_bytes).max(rate.bytes_per_sec() >> pacing_shift)
    }
}

impl Sender {
    /// A packet of so many bytes has left the interface of the host, or was dropped there; sends what that releases
    /// (`tcp_wfree`, `tcp_tsq_write`). True if the sender had waited for it.
    pub fn on_left_host(&mut self, now: Time, bytes: u32, out: &mut Vec<Segment>) -> bool {
        self.host.held = self.host.held.saturating_sub(bytes.into());
        let goes_on = std::mem::take(&mut self.host.throttled) && self.established;
        if goes_on {
            self.retransmit_lost(now, out);
            self.push(now, out);
        }
        goes_on
    }

    /// A packet of the connection without data goes into the interface of the host, too.
    pub fn on_sent_beside(&mut self, bytes: u32) {
        self.host.held += u64::from(bytes);
    }

    /// Counts a burst of so much payload that goes into the interface of the host.
    pub(super) fn count_in_host(&mut self, packets: u32, bytes: u64) {
        if let Some(nic) = self.config.nic {
            self.host.held += bytes + u64::from(packets) * u64::from(nic.header_bytes);
        }
    }

    /// Enough of the connection is in its host to wait with a burst of so many packets (`tcp_small_queue_check`): two
    /// such bursts, or 2^-`pacing_shift` seconds at the pacing rate, times 2^`factor`.
    pub(super) fn is_throttled(&mut self, packets: u32, factor: u32) -> bool {
        let Some(nic) = self.config.nic else { return false };
        let burst = u64::from(packets) * u64::from(self.config.mss + nic.header_bytes);
        let mut limit = (2 * burst).max(self.pacer.rate().bytes_per_sec() >> self.config.pacing_shift);
        if !self.pacer.enabled() {
            limit = limit.min(LIMIT_OUTPUT_BYTES);
        }
        // `sk_wmem_alloc` counts from 1, so that just as much as the limit is above it.
        let full = self.host.held >= limit << factor && !self.has_one_burst_out();
        self.host.throttled |= full;
        full
    }

    /// At most one burst is unacknowledged (`tcp_rtx_queue_empty_or_single_skb`).
    fn has_one_burst_out(&self) -> bool {
        !(self.board.una + 1..self.board.next).rev().any(|seq| self.board.get(seq).is(BURST_HEAD))
    }

    /// Pacing forbids to send (or to hand over) anything now.
    pub(super) fn must_wait(&self, now: Time) -> bool {
        if !self.host.on {
            return self.pacer.holds(now);
        }
        if self.config.nic.is_some() {
            return false; // `is_throttled` counts what waits for its departure, too
        }
        let burst_bytes = u64::from(self.burst_packets()) * u64::from(self.config.mss);
        self.host.is_full(burst_bytes, self.pacer.rate(), self.config.pacing_shift)
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
        Segment::plain_data(seq, 1000, 0)
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
        assert!(host.is_full(2_000, slow, 10) && !host.is_full(3_000, slow, 10));
        assert!(!host.is_full(2_000, Rate::from_bytes_per_sec(6_000_000), 10));
        assert!(!host.is_full(2_000, slow, 7));
    }
}
