//! What the application has written into the socket, and how much memory that may take (Linux `tcp_sendmsg_locked`,
//! `tcp_sndbuf_expand`, `sk_stream_write_space`).
//!
//! An application that finds the buffer full waits until a third of it is free again (`sk_stream_min_wspace`), and then writes
//! until it is full. The buffer grows with the window while that is not filled, up to the limit of the host.
//!
//! Not modelled: writes smaller than what fits, pressure on the memory of the whole host, and what retransmissions and
//! selective acknowledgements split and merge.

use super::Sender;
use super::pacing::GSO_MAX_BYTES;
use super::quirks::IdleApplication;
use congestion::Recovery;
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
    /// Whatever is written.
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
/// The buffer is good for so many windows. Algorithms that see to recovery themselves have that of BBR (`bbr_sndbuf_expand`).
const WINDOWS: u64 = 2;
const WINDOWS_OF_BBR: u64 = 3;
/// Before the first ACK a chunk has half of the largest window that a SYN-ACK can tell (`tcp_bound_to_half_wnd`).
const FIRST_CHUNK: u64 = 65_535 / 2;

/// What has been written.
#[derive(Debug)]
pub(super) struct WriteQueue {
    memory: Option<SendMemory>,
    /// The buffer (`sk_sndbuf`).
    limit: u64,
    /// All that has been written since the start; without limit, more than there can ever be.
    pub written: u64,
    /// The application waits for room (`SOCK_NOSPACE`).
    pub is_full: bool,
}

impl WriteQueue {
    pub fn new(buffer: SendBuffer) -> WriteQueue {
        let SendBuffer::Memory(memory) = buffer else {
            return WriteQueue { memory: None, limit: u64::MAX, written: u64::MAX, is_full: false };
        };
        WriteQueue { memory: Some(memory), limit: memory.first.get(), written: 0, is_full: false }
    }

    /// Its memory is counted.
    #[inline]
    pub fn is_managed(&self) -> bool {
        self.memory.is_some()
    }
}

impl Sender {
    /// Makes the buffer good for a multiple of the window (`tcp_sndbuf_expand`).
    pub(super) fn expand_send_buffer(&mut self) {
        let Some(memory) = self.queue.memory else { return };
        let packets = u64::from(self.control.cwnd.max(LEAST_PACKETS));
        let per_segment = memory.per_segment(u64::from(self.config.mss));
        let windows = if self.traits.recovery == Recovery::Algorithm { WINDOWS_OF_BBR } else { WINDOWS };
        let wanted = windows * packets * per_segment;
        self.queue.limit = self.queue.limit.max(wanted.min(memory.most.get()));
    }

    /// Memory of what is written and not acknowledged (`sk_wmem_queued`): payload, and a head for each burst in the network
    /// and each chunk that waits.
    fn queued(&self, memory: &SendMemory) -> u64 {
        let waiting = self.queue.written.saturating_sub(self.board.next_bytes);
        let heads = self.board.bursts_out() + waiting.div_ceil(self.chunk());
        self.queue.written.saturating_sub(self.board.una_bytes) + heads * memory.per_packet.get()
    }

    /// Payload of what is queued for segmentation as one (`tcp_xmit_size_goal`).
    fn chunk(&self) -> u64 {
        let most = if self.board.una == 0 { FIRST_CHUNK } else { GSO_MAX_BYTES.into() };
        let mss = u64::from(self.config.mss);
        (most / mss).max(1) * mss
    }

    /// The application writes until the buffer is full or there is no more. True if it has written.
    pub(super) fn write_more(&mut self) -> bool {
        let Some(memory) = self.queue.memory else { return false };
        let end = self.config.data.unwrap_or(u64::MAX / 2);
        if self.queue.is_full || self.queue.written >= end {
            return false;
        }
        let free = self.queue.limit.saturating_sub(self.queued(&memory));
        let chunks = free.div_ceil(self.chunk() + memory.per_packet.get());
        let wanted = self.queue.written + chunks * self.chunk();
        self.queue.is_full = wanted < end;
        self.queue.written = wanted.min(end);
        chunks > 0
    }

    /// After an ACK: the buffer may grow, and if there is room the application, which has waited for it, writes. True if it
    /// has (`tcp_check_space`, `sk_stream_write_space`).
    pub(super) fn make_room(&mut self, now: Time) -> bool {
        let Some(memory) = self.queue.memory.filter(|_| self.queue.is_full) else { return false };
        if self.board.in_flight() < self.control.cwnd {
            self.expand_send_buffer();
            self.usage.confirm(now);
        }
        let queued = self.queued(&memory);
        if self.queue.limit.saturating_sub(queued) < queued / 2 {
            return false;
        }
        self.queue.is_full = false;
        self.check_app_limited();
        self.write_more()
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
}
