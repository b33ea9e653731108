//! When to acknowledge (Linux `__tcp_ack_snd_check`; RFC 5681 section 4.2), and what an acknowledgement says.

use super::interactive::Interactive;
use super::{AckPolicy, Receiver};
use crate::{Riding, SackBlocks, Segment};
use units::{Duration, Time};

/// Packets acknowledged one by one while Linux opens the receive window (`tcp_grow_window`): it grows by two segments a
/// packet, here by the 2 MB that a 16 MiB buffer leaves to be opened.
const OPENING_PACKETS: u64 = 770;
/// The window that the receiver opens with, as large as fits into a header without scale.
const FIRST_WINDOW_BYTES: u64 = 65_535;
/// How long an acknowledgement waits (`TCP_DELACK_MIN`).
pub(super) const DELAYED_ACK: Duration = Duration::from_millis(40);
/// Duplicate ACKs sent at once before compression begins, and the most that one ACK may stand for.
const UNCOMPRESSED: u32 = 3;
const MOST_COMPRESSED: u32 = 44;
/// Blocks that one ACK is sure to carry, beside a duplicate report.
const BLOCKS_EXPECTED: usize = 2;
/// Longest compression; shorter on paths below 3 ms: a third of the RTT (sysctl tcp_comp_sack_rtt_percent, 33 since
/// Linux 6.19).
const COMPRESSION: Duration = Duration::from_millis(1);
const COMPRESSION_PERCENT: u64 = 33;

impl Receiver {
    /// A packet that opens a third block, or grows an old one, would push a block out of the next ACK: send the
    /// ACK held back before that happens.
    pub(super) fn release_before_losing_blocks(&mut self, seq: u32, out: &mut Vec<Segment>) {
        if self.compressed == 0 || seq <= self.next || self.out_of_order.find(seq).is_some() {
            return;
        }
        let grows = self.recent.iter().position(|r| r.0 == seq + 1 || r.1 == seq);
        if grows.unwrap_or(self.recent.len()) >= BLOCKS_EXPECTED {
            self.send_ack(out);
        }
    }

    /// Acknowledge now, or later?
    pub(super) fn decide(&mut self, now: Time, push: bool, out: &mut Vec<Segment>) {
        let at_once = match self.config.ack {
            AckPolicy::Linux => self.linux_wants_ack(push),
            AckPolicy::Every { packets, .. } => self.unacked >= packets,
        };
        if at_once || self.ack_now {
            return self.send_ack(out);
        }
        if !self.out_of_order.is_empty() || self.unacked == 0 {
            return self.acknowledge_duplicate(now, out);
        }
        if self.delayed_at == Time::NEVER {
            self.delayed_at = now
                + match self.config.ack {
                    AckPolicy::Linux => self.interactive.as_ref().map_or(DELAYED_ACK, Interactive::delay),
                    AckPolicy::Every { timeout, .. } => timeout,
                };
        }
    }

    pub(super) fn linux_wants_ack(&mut self, push: bool) -> bool {
        if self.opens_window() {
            self.quick |= 1; // the quick ACKs of the beginning are left for afterwards
        }
        let read = (push && self.unacked > 0) || self.quick > 0;
        self.unacked > 1 || (read && !self.expects_to_answer())
    }

    /// The packet that has just come lets the window grow. The last bit of the largest one is left for a packet that comes
    /// out of order, while nothing else takes room in the buffer.
    fn opens_window(&mut self) -> bool {
        let limit = self.opening_packets();
        if self.received - self.duplicates <= limit {
            return true;
        }
        let last_bit = limit == OPENING_PACKETS && !self.opened && !self.out_of_order.is_empty();
        self.opened |= last_bit;
        last_bit
    }

    /// Packets until the window is as large as it gets: fewer if the buffer is smaller.
    fn opening_packets(&self) -> u64 {
        let growth = 2 * u64::from(self.config.mss);
        self.config.buffer.map_or(OPENING_PACKETS, |bytes| {
            bytes.saturating_sub(FIRST_WINDOW_BYTES).div_ceil(growth).min(OPENING_PACKETS)
        })
    }

    /// Something is missing: the first duplicates go at once, later ones may be compressed into one.
    pub(super) fn acknowledge_duplicate(&mut self, now: Time, out: &mut Vec<Segment>) {
        if !self.config.sack_compression || self.compressed >= MOST_COMPRESSED {
            return self.send_ack(out);
        }
        if self.uncompressed_next != self.next {
            self.uncompressed_next = self.next;
            self.uncompressed = 0;
        }
        if self.uncompressed < UNCOMPRESSED {
            self.uncompressed += 1;
            return self.send_ack(out);
        }
        self.compressed += 1;
        if self.compressed_at == Time::NEVER {
            self.compressed_at =
                now + COMPRESSION.min(self.rtt.rtt.unwrap_or(Duration::MAX) / 100 * COMPRESSION_PERCENT);
        }
    }

    pub(super) fn send_ack(&mut self, out: &mut Vec<Segment>) {
        let mut sacks = SackBlocks::default();
        if let Some((start, end)) = self.dsack {
            sacks.push(start, end);
        }
        for &(start, end) in &self.recent {
            sacks.push(start, end);
        }
        let Riding { ack, echo, window, one_way_us, ce_count, ece } = self.riding();
        let dsack = self.dsack.is_some();
        out.push(Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, dsack, sacks });
        self.acknowledged(1);
    }

    /// What an acknowledgement says beside its selective ones.
    pub(crate) fn riding(&self) -> Riding {
        Riding {
            ack: self.next,
            echo: self.echo,
            window: self.window(),
            one_way_us: self.one_way_us,
            ce_count: self.echoed.count,
            ece: self.echoed.ece,
        }
    }

    /// An acknowledgement has left; so many quick ones are used up.
    pub(super) fn acknowledged(&mut self, quick: u32) {
        self.echoed.reported();
        self.dsack = None;
        self.unacked = 0;
        self.ack_now = false;
        self.quick = self.quick.saturating_sub(quick);
        self.compressed = 0;
        self.delayed_at = Time::NEVER;
        self.compressed_at = Time::NEVER;
    }
}
