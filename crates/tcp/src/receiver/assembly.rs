//! Reassembly of packets, and the state for SACK, DSACK and timestamps (RFC 2018, RFC 2883, RFC 7323).

use super::Receiver;
use crate::Segment;

/// Tolerance by which the timestamp of a packet may be older than the timestamp to echo, in the sender's clock units.
const STAMP_SLACK: u32 = 1;

impl Receiver {
    /// Whether the timestamp marks the packet as an old duplicate. A packet that a retransmission has overtaken also
    /// counts as an old duplicate (RFC 7323 section 5; Linux `tcp_paws_check`).
    pub(super) fn looks_old(&self, stamp: u32) -> bool {
        self.config.timestamps && self.echo > stamp + STAMP_SLACK
    }

    /// Discard a packet and send a duplicate ACK immediately, or with the last packet that GRO has merged with it; `more`:
    /// the packet is not the last one (Linux `tcp_send_dupack`).
    pub(super) fn refuse(&mut self, seq: u32, more: bool, out: &mut Vec<Segment>) {
        if seq < self.next {
            self.note_duplicate(seq);
            self.quicken(self.window.quick_acks());
        }
        if !more {
            self.send_ack(out);
        }
    }

    /// Accept a packet: in order, beyond a hole, or a duplicate.
    #[inline]
    pub(super) fn take(&mut self, seq: u32, len: u16, stamp: u32) {
        if seq != self.next {
            return self.take_out_of_order(seq, len, stamp);
        }
        if self.unacked == 0 {
            self.echo = stamp; // RFC 7323: echo the oldest segment not yet acknowledged
        }
        if self.window.may_open(len.into()) && self.window.take(len.into(), self.waiting()) {
            self.quick |= 1;
        }
        self.advance(len);
    }

    fn take_out_of_order(&mut self, seq: u32, len: u16, stamp: u32) {
        if seq > self.next {
            return self.take_beyond(seq, len);
        }
        if len == 0 && !self.sends {
            self.ack_now = true; // a window probe has no payload, so it does not count as a duplicate
            return;
        }
        if seq + 1 == self.next && self.unacked == 0 {
            self.echo = stamp; // RFC 7323: echo also a duplicate of the packet acknowledged last
        }
        self.note_duplicate(seq);
        self.quicken(self.window.quick_acks());
        self.ack_now = true;
    }

    /// Report a duplicate. Consecutive duplicates that GRO has merged are one range. If a merged packet has several such
    /// ranges, the first one is reported (Linux `tcp_dsack_set`, `tcp_dsack_extend`).
    fn note_duplicate(&mut self, seq: u32) {
        self.duplicates += 1;
        self.dsack = Some(match self.dsack.filter(|_| self.continues) {
            Some((start, end)) if end == seq => (start, seq + 1),
            Some(first) => first,
            None => (seq, seq + 1),
        });
    }

    fn take_beyond(&mut self, seq: u32, len: u16) {
        let mut is_new = false;
        let range = self.out_of_order.add(seq, seq + 1, |_, _| is_new = true);
        self.recent.remember(seq);
        if !is_new {
            return self.note_duplicate(seq);
        }
        if u32::from(len) != self.config.mss {
            self.short.push((seq, len));
        }
        self.file(len, range.0 < seq);
    }

    /// Account for the memory of a packet beyond a hole; `joins`: the packet is merged with the preceding packet.
    fn file(&mut self, len: u16, joins: bool) {
        let before =
            self.window.space(self.out_of_order_bytes, self.out_of_order.len() - usize::from(!joins));
        self.out_of_order_bytes += u64::from(len);
        let beyond = self.beyond();
        if self.window.is_settled(len.into(), before, beyond) {
            return;
        }
        if self.window.overflows(before) {
            self.quick = 0;
        }
        if self.window.file(len.into(), before, beyond, joins) {
            self.quick |= 1;
        }
    }

    pub(super) fn advance(&mut self, len: u16) {
        self.next += 1;
        self.unacked += 1;
        self.delivered_bytes += u64::from(len);
        if let Some(range) = self.out_of_order.first().filter(|r| r.0 == self.next) {
            self.join(range);
        }
    }

    /// Deliver the range above a hole that is now filled.
    fn join(&mut self, (start, end): (u32, u32)) {
        let waited = self.bytes_of(start, end);
        self.out_of_order_bytes -= waited;
        self.out_of_order.remove_below(end);
        self.recent.forget_below(end);
        self.ack_now |= self.out_of_order.is_empty(); // the last hole is filled: acknowledge immediately
        self.next = end;
        self.unacked += end - start;
        self.delivered_bytes += waited;
    }

    pub(super) fn bytes_of(&mut self, start: u32, stop: u32) -> u64 {
        let mss = u64::from(self.config.mss);
        let mut bytes = u64::from(stop - start) * mss;
        if self.short.is_empty() {
            return bytes;
        }
        self.short.retain(|&(seq, len)| {
            let inside = (start..stop).contains(&seq);
            if inside {
                bytes = bytes - mss + u64::from(len);
            }
            !inside
        });
        bytes
    }
}
