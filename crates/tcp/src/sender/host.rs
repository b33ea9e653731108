//! Packets of a connection inside its host: packets that wait for their departure time, and packets in the NIC.
//!
//! The transport passes packets to `sch_fq` before their departure time, and the packets leave the qdisc at that time
//! (Linux `sch_fq.c`). The packets then arrive in the queue of the NIC ([`Nic`]), which is the only
//! queue that all flows of a host share. A host without a NIC passes every packet to the network immediately, so its
//! flows share no queue.
//!
//! With a NIC, the bytes that a connection has in the host are limited (TCP small queues, Linux
//! `tcp_small_queue_check`). The connection continues to send when some of these bytes have left (`tcp_wfree`,
//! `tcp_tsq_write`). The limit counts bytes on the wire. Linux counts `skb->truesize`, which adds the memory of
//! buffers and differs between drivers and versions. The limit of two bursts is the same in bytes on the wire and
//! in `truesize`. The limit of 1 ms of data at the pacing rate is tighter in Linux, where the part of `truesize`
//! that is not payload counts as well.
//!
//! Not modelled:
//!
//! - the timer slack of `sch_fq` (10 microseconds) and its limits for waiting packets (100 packets per flow, a horizon
//!   of 10 s)
//! - the wait of a retransmission until the original has left the host (`skb_still_in_host_queue`)
//! - the immediate reduction of the window after a drop in the host's own queue (`tcp_enter_cwr` in
//!   `__tcp_transmit_skb`). In fullpipe, loss recovery detects such a drop

use super::config::{Nic, Pacing, SenderConfig};
use super::pacing::Pacer;
use super::scoreboard::Scoreboard;
use crate::segment::Segment;
use std::collections::VecDeque;
use units::{Rate, Time};

/// Maximum number of bytes that a connection without pacing may have in its host (sysctl tcp_limit_output_bytes).
const LIMIT_OUTPUT_BYTES: u64 = 4 << 20;
/// Exponent for new data: the limit is multiplied by 2^0 (`tcp_write_xmit`).
pub(super) const NEW_DATA: u32 = 0;
/// Exponent for retransmissions: the limit is multiplied by 2^1 (`tcp_xmit_retransmit_queue`).
pub(super) const RETRANSMISSIONS: u32 = 1;

/// Packets that wait in the host for their departure time, and the bytes of the connection in the NIC.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct HostQueue {
    /// Whether packets wait in the host for their departure time (`sch_fq`).
    on: bool,
    nic: Option<Nic>,
    waiting: VecDeque<(Time, Segment)>,
    /// Payload bytes of the packets in `waiting`.
    bytes: u64,
    /// Bytes on the wire that have not left the NIC (`sk_wmem_alloc`); 0 without a NIC.
    held: u64,
    /// Whether the connection continues when a packet leaves (`TSQ_THROTTLED`).
    throttled: bool,
}

impl HostQueue {
    pub fn new(config: &SenderConfig) -> HostQueue {
        HostQueue { on: config.pacing == Pacing::Fq, nic: config.nic, ..HostQueue::default() }
    }

    /// Whether packets wait for their departure time in the host, not in the transport.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether no packet waits for its departure or is in the NIC (as `tcp_rate_check_app_limited` tests).
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.held == 0
    }

    /// When the next packet departs; `Time::NEVER` if no packet waits.
    pub fn next(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |front| front.0)
    }

    /// Queue a packet that may depart at `at`, or send the packet immediately if that time has come.
    pub fn hand_over(&mut self, now: Time, at: Time, segment: Segment, out: &mut Vec<Segment>) {
        if at <= now && self.waiting.is_empty() {
            out.push(segment);
        } else {
            self.bytes += u64::from(segment.payload());
            self.waiting.push_back((at, segment));
        }
    }

    /// Send the waiting packets whose departure time has come.
    pub fn release(&mut self, now: Time, out: &mut Vec<Segment>) {
        while self.next() <= now
            && let Some((_, segment)) = self.waiting.pop_front()
        {
            self.bytes -= u64::from(segment.payload());
            out.push(segment);
        }
    }

    /// Whether the waiting payload exceeds both two bursts and 2^-`pacing_shift` seconds at the pacing rate.
    pub fn is_full(&self, burst_bytes: u64, rate: Rate, pacing_shift: u32) -> bool {
        self.bytes > (2 * burst_bytes).max(rate.bytes_per_sec() >> pacing_shift)
    }

    /// Count a burst with `bytes` of payload that is passed to the NIC.
    #[inline]
    pub fn count(&mut self, packets: u32, bytes: u64) {
        if let Some(nic) = self.nic {
            self.held += bytes + u64::from(packets) * u64::from(nic.header_bytes);
        }
    }

    /// Count a packet without data that is passed to the NIC; `bytes`: its size on the wire.
    pub fn count_bare(&mut self, bytes: u32) {
        self.held += u64::from(bytes);
    }

    /// Record that a packet of `bytes` has left the NIC, or was dropped there. True if the connection was waiting for
    /// the departure.
    pub fn left(&mut self, bytes: u32) -> bool {
        self.held = self.held.saturating_sub(bytes.into());
        std::mem::take(&mut self.throttled)
    }

    /// Whether the host has a NIC. If the host has a NIC, [`is_throttled`](Self::is_throttled) also counts packets that
    /// wait for their departure.
    #[inline]
    pub fn has_nic(&self) -> bool {
        self.nic.is_some()
    }

    /// Whether a burst of `packets` must wait because the host holds enough bytes of the connection
    /// (`tcp_small_queue_check`). The limit is 2^`factor` times the larger of two such bursts and 2^-`pacing_shift`
    /// seconds at the pacing rate.
    #[inline]
    pub fn is_throttled(
        &mut self,
        packets: u32,
        factor: u32,
        config: &SenderConfig,
        pacer: &Pacer,
        board: &Scoreboard,
    ) -> bool {
        let Some(nic) = self.nic else { return false };
        let burst = u64::from(packets) * u64::from(config.mss + nic.header_bytes);
        let mut limit = (2 * burst).max(pacer.rate().bytes_per_sec() >> config.pacing_shift);
        if !pacer.enabled() {
            limit = limit.min(LIMIT_OUTPUT_BYTES);
        }
        // The kernel's count `sk_wmem_alloc` starts at 1, so it exceeds the limit as soon as `held` equals the limit.
        let full = self.held >= limit << factor && !board.has_one_burst_out();
        self.throttled |= full;
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::from_nanos(us * 1_000)
    }

    fn fq() -> HostQueue {
        HostQueue::new(&SenderConfig { pacing: Pacing::Fq, ..SenderConfig::default() })
    }

    fn data(seq: u32) -> Segment {
        Segment::plain_data(seq, 1000, 0)
    }

    #[test]
    fn packets_depart_in_order_at_their_times() {
        let (mut host, mut out) = (fq(), Vec::new());
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
        let mut host = fq();
        (0..5).for_each(|seq| host.hand_over(at(0), at(1), data(seq), &mut Vec::new()));
        let slow = Rate::from_bytes_per_sec(1_000_000);
        assert!(host.is_full(2_000, slow, 10) && !host.is_full(3_000, slow, 10));
        assert!(!host.is_full(2_000, Rate::from_bytes_per_sec(6_000_000), 10));
        assert!(!host.is_full(2_000, slow, 7));
    }
}
