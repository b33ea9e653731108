//! The data that the application has written into the socket, and the memory for it (Linux `tcp_sendmsg_locked`,
//! `tcp_sndbuf_expand`, `sk_stream_write_space`).
//!
//! An application that has filled the buffer waits until a third of it is free again (`sk_stream_min_wspace`), and then
//! writes until it is full. The buffer grows with the window while the window is not full, up to the limit of the host.
//! Written data is in chunks that are segmented later. The last chunk is filled up before another begins, even if the
//! buffer is full.
//!
//! Not modelled:
//!
//! - writes smaller than the free room
//! - PSH within a write (`forced_push`), and on the last chunk when the buffer is full (`tcp_mark_push`)
//! - memory pressure of the whole host
//! - chunks of different sizes, apart from those before the first ACK
//! - splits and merges by retransmissions and SACK

use super::Sender;
use super::pacing::GSO_MAX_BYTES;
use super::quirks::IdleApplication;
use crate::Segment;
use crate::receiver::{LARGEST_BUFFER, ReceiveMemory};
use units::{Bytes, Time};

/// Memory of a sender's socket, and the overhead of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendMemory {
    /// Initial size (`tcp_wmem[1]`).
    pub first: Bytes,
    /// Maximum size (`tcp_wmem[2]`).
    pub most: Bytes,
    /// Memory per burst beside its payload: head and descriptor (`skb->truesize` less the payload).
    pub per_packet: Bytes,
}

impl Default for SendMemory {
    /// Memory that grows with the window without limit. It begins with 64 KiB, as in the guest of the Linux engine.
    /// There, the overhead of a burst equals that of a received packet.
    fn default() -> SendMemory {
        let per_packet = ReceiveMemory::default().per_packet;
        SendMemory { first: Bytes::new(64 << 10), most: Bytes::new(LARGEST_BUFFER), per_packet }
    }
}

impl SendMemory {
    /// Memory of a packet with a head of its own, which is allocated in powers of two.
    fn per_segment(&self, mss: u64) -> u64 {
        let head = mss + TIMESTAMPS + self.per_packet.get().saturating_sub(DESCRIPTION);
        head.next_power_of_two() + DESCRIPTION
    }
}

/// Limit on data that a sender holds until it is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendBuffer {
    /// No limit: the application writes all its data at once.
    #[default]
    Unlimited,
    /// Payload bytes sent and not acknowledged, whatever memory they take.
    Payload(Bytes),
    /// Memory for written data that is not acknowledged.
    Memory(SendMemory),
}

/// Descriptor of a burst (`sizeof(struct sk_buff)`), bytes.
const DESCRIPTION: u64 = 256;
/// The timestamps option, by which the largest segment exceeds its payload (`mss_clamp`), bytes.
const TIMESTAMPS: u64 = 12;
/// Smallest window that the buffer supports, packets (`TCP_INIT_CWND`).
const LEAST_PACKETS: u32 = 10;
/// Windows that the buffer holds.
const WINDOWS: u64 = 2;
/// Windows that the buffer holds for BBR (`bbr_sndbuf_expand`).
const WINDOWS_OF_BBR: u64 = 3;
/// Size of a chunk before the first ACK: half of the largest window that a SYN-ACK can advertise
/// (`tcp_bound_to_half_wnd`).
const FIRST_CHUNK: u64 = 65_535 / 2;

/// Written data, and the buffer for it.
#[derive(Debug)]
pub(super) struct WriteQueue {
    /// Memory of a burst beside its payload.
    per_packet: u64,
    /// Memory per packet of the window, by which the buffer grows.
    per_segment: u64,
    /// The largest buffer; 0 if memory is not counted.
    most: u64,
    /// The buffer (`sk_sndbuf`).
    limit: u64,
    /// The largest window that the buffer was enlarged for, packets.
    good_for: u32,
    /// Payload of a chunk (`tcp_xmit_size_goal`).
    chunk: u64,
    /// Payload of a chunk before the first ACK.
    first_chunk: u64,
    /// Bytes written since the start; `MAX` if memory is not counted.
    pub written: u64,
    /// First byte of the last chunk, or of its unsent part.
    tail: u64,
    /// Whether the application waits for room (`SOCK_NOSPACE`).
    pub is_full: bool,
}

impl WriteQueue {
    /// A queue for segments with `mss` bytes of payload, or `largest` without intermittent options.
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

    /// Whether memory is counted.
    #[inline]
    pub fn is_managed(&self) -> bool {
        self.most > 0
    }

    /// Whether less than a third of the buffer is free (`sk_stream_is_writeable`); `queued`: memory in use.
    fn is_tight(&self, queued: u64) -> bool {
        self.limit.saturating_sub(queued) < queued / 2
    }

    /// Payload left of the chunk with the byte `next`; `None` if it is the last one, which may still grow.
    pub fn left_of_chunk(&self, next: u64) -> Option<u64> {
        if !self.is_managed() {
            return Some(self.chunk - next % self.chunk);
        }
        let before_tail = self.tail.checked_sub(next + 1)?;
        Some(before_tail % self.chunk + 1)
    }
}

impl Sender {
    /// Enlarge the buffer to a multiple of the window (`tcp_sndbuf_expand`).
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

    /// Memory of written data that is not acknowledged (`sk_wmem_queued`): payload, and a head for each burst in the
    /// network and each unsent chunk.
    fn queued(&self) -> u64 {
        let waiting = self.queue.written - self.board.next_bytes;
        let heads = self.board.bursts_out() + waiting.div_ceil(self.queue.chunk);
        self.queue.written - self.board.una_bytes + heads * self.queue.per_packet
    }

    /// Let the application write until the buffer is full or its data ends (`tcp_sendmsg_locked`). Return the packets
    /// sent meanwhile.
    #[inline]
    pub(super) fn write(&mut self, now: Time, out: &mut Vec<Segment>) -> u32 {
        if self.queue.is_full || !self.queue.is_managed() { 0 } else { self.write_chunks(now, out) }
    }

    /// Write chunks. When a full chunk is the next to be sent, one burst of it leaves without waiting for an ACK to
    /// grow (`tcp_push_one`).
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

    /// Fill up the last chunk, or begin another if there is memory. False if nothing was written.
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

    /// Enlarge the buffer if the window allows. True if the waiting application has room to write. Called after every
    /// attempt to send; Linux checks after ACKs only (`tcp_check_space`, `sk_stream_write_space`).
    #[inline]
    pub(super) fn has_room_again(&mut self, now: Time) -> bool {
        self.queue.is_full && self.frees_room(now)
    }

    #[inline(always)] // called for most ACKs while the buffer is full
    fn frees_room(&mut self, now: Time) -> bool {
        if self.board.in_flight() < self.control.cwnd {
            self.expand_send_buffer();
            self.usage.confirm(now);
        }
        let payload = self.queue.written - self.board.una_bytes; // cheap test first: mostly decided without the heads
        if self.queue.is_tight(payload) || self.queue.is_tight(self.queued()) {
            return false;
        }
        self.queue.is_full = false;
        self.check_app_limited();
        true
    }

    /// Mark packets sent from now on as app-limited if only the application kept the sender from sending
    /// (`tcp_rate_check_app_limited`). To be called before the application writes.
    pub(super) fn check_app_limited(&mut self) {
        let counts = self.config.quirks.idle_application == IdleApplication::AppLimited;
        if counts && self.unsent() < u64::from(self.config.mss) {
            self.check_path_idle();
        }
    }

    /// Same as [`Sender::check_app_limited`], regardless of unsent data: used when a full send buffer keeps the
    /// application from writing.
    pub(super) fn check_path_idle(&mut self) {
        let in_flight = self.board.in_flight();
        let idle = self.host.is_empty();
        if idle && in_flight < self.control.cwnd && self.board.lost_out <= self.board.retrans_out {
            self.delivery.mark_app_limited(in_flight);
        }
    }

    /// Check for app limitation on ACKs and timers, too, for algorithms that watch for pauses.
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
