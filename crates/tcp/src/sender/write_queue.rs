//! What the application has written into the socket, and how much memory that may take (Linux `tcp_sendmsg_locked`,
//! `tcp_sndbuf_expand`, `sk_stream_write_space`).
//!
//! An application that finds the buffer full waits until a third of it is free again (`sk_stream_min_wspace`), and then writes
//! until it is full. The buffer grows with the window while that is not filled, up to the limit of the host. What is written lies
//! in chunks that are segmented later; the last one is filled up before another begins, whatever the buffer holds.
//!
//! Not modelled: writes smaller than what fits; what is pushed on the way (`forced_push`), and the last chunk when the
//! application finds the buffer full (`tcp_mark_push`); pressure on the memory of the whole host; chunks of two sizes
//! behind each other but for the first ones; what retransmissions and selective acknowledgements split and merge.

use super::Sender;
use super::pacing::GSO_MAX_BYTES;
use super::quirks::IdleApplication;
use crate::Segment;
use crate::receiver::{LARGEST_BUFFER, ReceiveMemory};
use units::{Bytes, Time};

/// Memory of a sender's socket, and what a burst takes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendMemory {
    /// What it has at first (`tcp_wmem[1]`).
    pub first: Bytes,
    /// What it grows to at most (`tcp_wmem[2]`).
    pub most: Bytes,
    /// What a burst takes beside its payload: its head, and what describes it (`skb->truesize` less the payload).
    pub per_packet: Bytes,
}

impl Default for SendMemory {
    /// Grows with the window without end. It begins with 64 KiB, as in the guest of the Linux engine, where a burst takes as
    /// much beside its payload as a packet does that is received.
    fn default() -> SendMemory {
        let per_packet = ReceiveMemory::default().per_packet;
        SendMemory { first: Bytes::new(64 << 10), most: Bytes::new(LARGEST_BUFFER), per_packet }
    }
}

impl SendMemory {
    /// What a packet may take if each has a head of its own, which is allocated in powers of two.
    fn per_segment(&self, mss: u64) -> u64 {
        let head = mss + TIMESTAMPS + self.per_packet.get().saturating_sub(DESCRIPTION);
        head.next_power_of_two() + DESCRIPTION
    }
}

/// What a sender may hold until it is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendBuffer {
    /// Whatever is written, all of it at once.
    #[default]
    Unlimited,
    /// So much payload in the network, whatever memory that takes.
    Payload(Bytes),
    /// What fits into its memory.
    Memory(SendMemory),
}

/// What describes a burst (`sizeof(struct sk_buff)`), bytes.
const DESCRIPTION: u64 = 256;
/// The timestamps option, which the largest segment has beside the payload (`mss_clamp`).
const TIMESTAMPS: u64 = 12;
/// The buffer is good for so many packets at least (`TCP_INIT_CWND`).
const LEAST_PACKETS: u32 = 10;
/// The buffer is good for so many windows, or for as many as BBR wants (`bbr_sndbuf_expand`).
const WINDOWS: u64 = 2;
const WINDOWS_OF_BBR: u64 = 3;
/// Before the first ACK a chunk has half of the largest window that a SYN-ACK can tell (`tcp_bound_to_half_wnd`).
const FIRST_CHUNK: u64 = 65_535 / 2;

/// What has been written.
#[derive(Debug)]
pub(super) struct WriteQueue {
    /// What a burst takes beside its payload, and what a packet of the window is reckoned with.
    per_packet: u64,
    per_segment: u64,
    /// The largest buffer; 0 if memory is not counted.
    most: u64,
    /// The buffer (`sk_sndbuf`), and the window that it was made good for, packets.
    limit: u64,
    good_for: u32,
    /// Payload of a chunk (`tcp_xmit_size_goal`), and of one before the first ACK.
    chunk: u64,
    first_chunk: u64,
    /// All that has been written since the start; without limit, more than there can ever be.
    pub written: u64,
    /// Where the last chunk begins, or what is left of it.
    tail: u64,
    /// The application waits for room (`SOCK_NOSPACE`).
    pub is_full: bool,
}

impl WriteQueue {
    /// For segments of so much payload; `largest`: the same without options that come and go.
    pub fn new(buffer: SendBuffer, mss: u32, largest: u32) -> WriteQueue {
        let mss = u64::from(mss);
        let whole = |bytes: u64| (bytes / mss).max(1) * mss;
        let memory = if let SendBuffer::Memory(memory) = buffer { Some(memory) } else { None };
        WriteQueue {
            per_packet: memory.map_or(0, |memory| memory.per_packet.get()),
            most: memory.map_or(0, |memory| memory.most.get()),
            per_segment: memory.map_or(0, |memory| memory.per_segment(largest.into())),
            limit: memory.map_or(u64::MAX, |memory| memory.first.get()),
            good_for: 0,
            chunk: whole(GSO_MAX_BYTES.into()),
            first_chunk: whole(FIRST_CHUNK),
            written: if memory.is_some() { 0 } else { u64::MAX },
            tail: 0,
            is_full: false,
        }
    }

    /// Its memory is counted.
    #[inline]
    pub fn is_managed(&self) -> bool {
        self.most > 0
    }

    /// Less than a third is free while so much is taken (`sk_stream_is_writeable`).
    fn is_tight(&self, queued: u64) -> bool {
        self.limit.saturating_sub(queued) < queued / 2
    }

    /// Payload left of the chunk that holds the byte `next`; none if that is the last one, to which more may come.
    pub fn left_of_chunk(&self, next: u64) -> Option<u64> {
        if !self.is_managed() {
            return Some(self.chunk - next % self.chunk);
        }
        let before_tail = self.tail.checked_sub(next + 1)?;
        Some(before_tail % self.chunk + 1)
    }
}

impl Sender {
    /// Makes the buffer good for a multiple of the window (`tcp_sndbuf_expand`).
    #[inline]
    pub(super) fn expand_send_buffer(&mut self) {
        if self.control.cwnd > self.queue.good_for {
            self.enlarge_send_buffer();
        }
    }

    fn enlarge_send_buffer(&mut self) {
        self.queue.good_for = self.control.cwnd;
        let packets = u64::from(self.control.cwnd.max(LEAST_PACKETS));
        let windows = if self.traits.buffers_three_windows { WINDOWS_OF_BBR } else { WINDOWS };
        let wanted = windows * packets * self.queue.per_segment;
        self.queue.limit = self.queue.limit.max(wanted.min(self.queue.most));
    }

    /// Memory of what is written and not acknowledged (`sk_wmem_queued`): payload, and a head for each burst in the network
    /// and each chunk that waits.
    fn queued(&self) -> u64 {
        let waiting = self.queue.written - self.board.next_bytes;
        let heads = self.board.bursts_out() + waiting.div_ceil(self.queue.chunk);
        self.queue.written - self.board.una_bytes + heads * self.queue.per_packet
    }

    /// The application writes until the buffer is full or there is no more (`tcp_sendmsg_locked`). Packets sent meanwhile.
    #[inline]
    pub(super) fn write(&mut self, now: Time, out: &mut Vec<Segment>) -> u32 {
        if self.queue.is_full || !self.queue.is_managed() { 0 } else { self.write_chunks(now, out) }
    }

    /// Of a chunk that is filled and that is the next to be sent one burst goes, which does not wait for an ACK to become larger
    /// (`tcp_push_one`).
    fn write_chunks(&mut self, now: Time, out: &mut Vec<Segment>) -> u32 {
        let mut sent = 0;
        while self.write_chunk() {
            let (tail, is_whole) =
                (self.queue.tail, self.queue.written - self.queue.tail == self.chunk_size());
            if is_whole && tail == self.board.next_bytes {
                sent += self.push_one(now, out);
            }
        }
        sent
    }

    fn chunk_size(&self) -> u64 {
        if self.board.una == 0 { self.queue.first_chunk } else { self.queue.chunk }
    }

    /// Fills up the last chunk, or begins another if there is memory. False if nothing was written.
    fn write_chunk(&mut self) -> bool {
        let end = self.config.data.unwrap_or(u64::MAX / 2);
        if self.queue.written >= end {
            return false;
        }
        let (size, written) = (self.chunk_size(), self.queue.written);
        let tail = self.queue.tail.max(self.board.next_bytes);
        let is_new = written == tail || written - tail >= size;
        if is_new && self.queued() >= self.queue.limit {
            self.queue.is_full = true;
            return false;
        }
        self.queue.tail = if is_new { written } else { tail };
        self.queue.written = (self.queue.tail + size).min(end);
        true
    }

    /// The buffer may grow, and if there is room the application, which has waited for it, is to write. True if so. Asked after
    /// every attempt to send, in Linux after ACKs only (`tcp_check_space`, `sk_stream_write_space`).
    #[inline]
    pub(super) fn has_room_again(&mut self, now: Time) -> bool {
        self.queue.is_full && self.frees_room(now)
    }

    #[inline(always)] // asked for most ACKs while the buffer is full
    fn frees_room(&mut self, now: Time) -> bool {
        if self.board.in_flight() < self.control.cwnd {
            self.expand_send_buffer();
            self.usage.confirm(now);
        }
        let payload = self.queue.written - self.board.una_bytes; // without heads, which is enough to see it mostly
        if self.queue.is_tight(payload) || self.queue.is_tight(self.queued()) {
            return false;
        }
        self.queue.is_full = false;
        self.check_app_limited();
        true
    }

    /// Marks what is sent from now on if nothing but the application was in the way (`tcp_rate_check_app_limited`). To be
    /// called before the application writes.
    pub(super) fn check_app_limited(&mut self) {
        let counts = self.config.quirks.idle_application == IdleApplication::AppLimited;
        if counts && self.unsent() < u64::from(self.config.mss) {
            self.check_path_idle();
        }
    }

    /// The same where a full send buffer is what keeps the application from writing.
    pub(super) fn check_path_idle(&mut self) {
        let in_flight = self.board.in_flight();
        let idle = self.host.is_empty();
        if idle && in_flight < self.control.cwnd && self.board.lost_out <= self.board.retrans_out {
            self.delivery.mark_app_limited(in_flight);
        }
    }

    /// What algorithms are told that watch for pauses between ACKs and timers, too.
    pub(super) fn watch_pauses(&mut self) {
        if self.traits.watches_pauses {
            self.check_app_limited();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SenderConfig;
    use super::*;

    #[test]
    fn a_buffer_is_good_for_packets_that_each_have_a_head() {
        let per_segment = |per_packet| {
            let [first, most, per_packet] = [16 << 10, 4 << 20, per_packet].map(Bytes::new);
            SendMemory { first, most, per_packet }.per_segment(1448)
        };
        assert_eq!(per_segment(832), 2_304);
        assert_eq!(per_segment(960), 4_352, "twenty of them were seen as 87,040 bytes");
    }

    #[test]
    fn a_buffer_holds_two_windows_or_three_for_an_algorithm_that_asks_for_them() {
        let limit = |name: &str| {
            let [first, most, per_packet] = [16 << 10, 4 << 20, 960].map(Bytes::new);
            let send_buffer = SendBuffer::Memory(SendMemory { first, most, per_packet });
            let algorithm = congestion::build(name, &serde_json::Value::Null, 1).unwrap();
            let mut sender = Sender::new(SenderConfig { send_buffer, ..SenderConfig::default() }, algorithm);
            sender.expand_send_buffer();
            sender.queue.limit
        };
        assert_eq!(["cubic", "prague"].map(limit), [87_040; 2]);
        assert_eq!(["bbr1", "bbr3"].map(limit), [130_560; 2], "bbr_sndbuf_expand");
    }
}
