//! Putting packets in order, and what to say of those that are not (RFC 2018, RFC 2883, RFC 7323).

use super::Receiver;
use crate::Segment;

/// How much older than the timestamp to be echoed one may be, in the sender's clock units.
const STAMP_SLACK: u32 = 1;

impl Receiver {
    /// Its timestamp says that the packet is of an earlier age of the connection: one that a retransmission has overtaken
    /// looks so, too (RFC 7323 section 5; Linux `tcp_paws_check`).
    pub(super) fn looks_old(&self, stamp: u32) -> bool {
        self.config.timestamps && self.echo > stamp + STAMP_SLACK
    }

    /// Throws a packet away, and says at once what is expected (Linux `tcp_send_dupack`).
    pub(super) fn refuse(&mut self, seq: u32, out: &mut Vec<Segment>) {
        if seq < self.next {
            self.duplicates += 1;
            self.dsack = Some((seq, seq + 1));
            self.quicken(self.window.quick_acks());
        }
        self.send_ack(out);
    }

    /// Files a packet: in order, beyond a hole, or a duplicate.
    pub(super) fn take(&mut self, seq: u32, len: u16, stamp: u32) {
        let known = self.out_of_order.find(seq);
        if seq + 1 == self.next && self.unacked == 0 {
            self.echo = stamp; // a duplicate of what was acknowledged last is as recent (RFC 7323)
        }
        if seq < self.next || known.is_some() {
            self.duplicates += 1;
            self.dsack = Some((seq, seq + 1));
            if seq < self.next {
                self.quicken(self.window.quick_acks());
                self.ack_now = true;
            }
            return;
        }
        if seq > self.next {
            if u32::from(len) != self.config.mss {
                self.short.push((seq, len));
            }
            let range = self.out_of_order.insert(seq, seq + 1);
            self.remember(range);
            return self.file(len, range.0 < seq);
        }
        if self.unacked == 0 {
            self.echo = stamp; // RFC 7323: the oldest segment not yet acknowledged
        }
        if self.window.may_open(len.into()) && self.window.take(len.into(), self.waiting()) {
            self.quick |= 1;
        }
        self.advance(len);
    }

    /// A packet beyond a hole takes memory; `joins`: it is joined to the one before it.
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
        let mut bytes = u64::from(len);
        let mut end = self.next + 1;
        if let Some((start, stop)) = self.out_of_order.first().filter(|r| r.0 == end) {
            let waited = self.bytes_of(start, stop);
            self.out_of_order_bytes -= waited;
            bytes += waited;
            end = stop;
            self.out_of_order.remove_below(end);
            self.recent.retain(|r| r.0 >= end);
            self.ack_now |= self.out_of_order.is_empty(); // the last hole is filled: say so at once
        }
        self.unacked += end - self.next;
        self.next = end;
        self.delivered_bytes += bytes;
    }

    pub(super) fn bytes_of(&mut self, start: u32, stop: u32) -> u64 {
        let mss = u64::from(self.config.mss);
        let mut bytes = u64::from(stop - start) * mss;
        self.short.retain(|&(seq, len)| {
            let inside = (start..stop).contains(&seq);
            if inside {
                bytes = bytes - mss + u64::from(len);
            }
            !inside
        });
        bytes
    }

    /// Moves a grown range to the front of the SACK blocks.
    pub(super) fn remember(&mut self, range: (u32, u32)) {
        self.recent.retain(|r| r.1 <= range.0 || r.0 >= range.1);
        self.recent.insert(0, range);
        self.recent.truncate(4);
    }
}
