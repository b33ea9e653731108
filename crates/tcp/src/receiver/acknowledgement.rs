//! Timing and contents of acknowledgements (Linux `__tcp_ack_snd_check`; RFC 5681 section 4.2).

use super::{AckPolicy, Receiver};
use crate::wheel::Wheel;
use crate::{Riding, SackBlocks, Segment};
use units::{Duration, Time};

/// Number of duplicate ACKs sent immediately, before compression begins.
const UNCOMPRESSED: u32 = 3;
/// Maximum number of duplicate ACKs compressed into one ACK.
const MOST_COMPRESSED: u32 = 44;
/// SACK blocks that fit into every ACK, beside a DSACK block.
const BLOCKS_EXPECTED: usize = 2;
/// Longest time for which duplicate ACKs are compressed.
const COMPRESSION: Duration = Duration::from_millis(1);
/// Longest compression on paths with an RTT below 3 ms, in percent of the RTT (sysctl tcp_comp_sack_rtt_percent,
/// 33 since Linux 6.19).
const COMPRESSION_PERCENT: u64 = 33;

impl Receiver {
    /// Send the ACK that is held back if packet `seq` would push a SACK block out of this ACK. A packet pushes a block
    /// out if it opens a third block, or touches a block other than the two most recent ones
    /// (`tcp_sack_compress_send_ack`).
    /// True if an ACK was sent: it also ends the wait of the packet for its own ACK, so that only a later packet has one
    /// (`inet_csk_ack_scheduled`).
    pub(super) fn release_before_losing_blocks(&mut self, seq: u32, out: &mut Vec<Segment>) -> bool {
        if self.compressed == 0 || seq <= self.next {
            return false;
        }
        let touched = self.recent.touched(seq);
        let loses = touched.unwrap_or(self.recent.as_slice().len()) >= BLOCKS_EXPECTED;
        if loses {
            self.send_ack(out);
        }
        loses
    }

    /// Acknowledge now, or set the timer for a delayed ACK.
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
            self.delayed_at = match self.config.ack {
                AckPolicy::Linux => {
                    Wheel::new(self.config.tick).after(now, self.ack_timeout.delay(), Duration::ZERO)
                }
                AckPolicy::Every { timeout, .. } => now + timeout,
            };
        }
    }

    pub(super) fn linux_wants_ack(&self, push: bool) -> bool {
        let read = (push && self.unacked > 0) || self.quick > 0;
        self.unacked > 1 || (read && !self.ack_timeout.answers)
    }

    /// Send a duplicate ACK while a packet is missing. The first duplicate ACKs leave immediately. Later duplicate ACKs
    /// may be compressed into a single ACK.
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
        let sacks = match self.dsack {
            None => self.recent.reported(),
            Some(_) => self.blocks_after_duplicate(),
        };
        let Riding { ack, echo, window, one_way_us, ce_count, ece } = self.riding();
        let dsack = self.dsack.is_some();
        out.push(Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, dsack, sacks });
        self.acknowledged(1);
    }

    /// The SACK blocks: a DSACK block first, then the ranges that grew last.
    fn blocks_after_duplicate(&self) -> SackBlocks {
        SackBlocks::from_ranges(self.dsack.into_iter().chain(self.recent.as_slice().iter().copied()))
    }

    /// The fields of an acknowledgement except its SACK blocks.
    #[inline(always)] // called for every ACK
    pub(crate) fn riding(&mut self) -> Riding {
        let window = if self.out_of_order.is_empty() {
            self.window.advertise(self.delivered_bytes)
        } else {
            let waiting = self.waiting();
            self.window.advertise_beside(self.delivered_bytes, waiting, &mut self.quick)
        };
        Riding {
            ack: self.next,
            echo: self.echo,
            window,
            one_way_us: self.one_way_us,
            ce_count: self.echoed.count,
            ece: self.echoed.ece,
        }
    }

    /// Reset the state of pending ACKs after an ACK has left, and use up `quick` quick ACKs.
    pub(super) fn acknowledged(&mut self, quick: u32) {
        self.echoed.reported();
        self.dsack = None;
        self.unacked = 0;
        self.ack_now = false;
        if self.quick > 0 && quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ack_timeout.deflate();
            }
        }
        self.compressed = 0;
        self.delayed_at = Time::NEVER;
        self.compressed_at = Time::NEVER;
    }
}
