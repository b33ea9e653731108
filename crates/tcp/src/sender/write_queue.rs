//! The data that the application has written into the socket, and the memory for it (Linux `tcp_sendmsg_locked`,
//! `tcp_sndbuf_expand`, `sk_stream_write_space`).
//!
//! An application that has filled the buffer waits until a third of the buffer is free again
//! (`sk_stream_min_wspace`), and then writes until the buffer is full. The buffer grows with the congestion
//! window, up to the limit of the host, but only while the window is not full. Written data is in chunks that are
//! segmented later. The last chunk is filled up before another chunk begins, even if the buffer is full.
//!
//! Not modelled:
//!
//! - writes smaller than the free space of the buffer
//! - PSH within a write (`forced_push`), and on the last chunk when the buffer is full (`tcp_mark_push`)
//! - memory pressure of the whole host
//! - more than two sizes of chunks at a time
//! - splits and merges by retransmissions and SACK

use super::config::{SendBuffer, SenderConfig};
use super::limits::Limit;
use super::pacing::GSO_MAX_BYTES;
use super::scoreboard::Scoreboard;

/// Smallest window that the buffer supports, packets (`TCP_INIT_CWND`).
const LEAST_PACKETS: u32 = 10;
/// Size of the buffer in congestion windows.
const WINDOWS: u64 = 2;
/// Size of the buffer in congestion windows for BBR (`bbr_sndbuf_expand`).
const WINDOWS_OF_BBR: u64 = 3;
/// Largest window that is not halved to bound the first chunks (`TCP_MSS_DEFAULT`), bytes.
const TINY_WINDOW: u64 = 536;

/// One past the last byte of an application with unlimited data.
const UNLIMITED: u64 = u64::MAX / 2;

/// Written data, the buffer for it, and the receiver's window.
#[repr(C)]
#[derive(Debug)]
pub(super) struct WriteQueue {
    /// One past the highest byte that the receiver's window allows.
    window_end: u64,
    /// One past the last byte of the last short packet (`snd_sml`).
    short_end: u64,
    /// Bytes that the application has to send; `None`: unlimited.
    data: Option<u64>,
    /// Payload of a full segment.
    mss: u64,
    /// Limit of unacknowledged payload; `MAX` if the buffer counts no payload.
    payload: u64,
    /// Memory of a burst in addition to its payload.
    per_packet: u64,
    /// Memory by which the buffer grows for each packet of the congestion window.
    per_segment: u64,
    /// Largest size of the buffer in bytes of memory; 0 if memory is not counted.
    most: u64,
    /// Size of the buffer in bytes of memory (`sk_sndbuf`).
    limit: u64,
    /// The largest congestion window for which the buffer was enlarged, packets.
    good_for: u32,
    /// Whether the application waits for room (`SOCK_NOSPACE`).
    is_full: bool,
    /// Largest payload of a chunk (`tcp_xmit_size_goal`).
    largest_chunk: u64,
    /// Payload of a chunk that is written now: at most half of the largest window so far (`tcp_bound_to_half_wnd`).
    chunk: u64,
    /// The largest window that the receiver has advertised (`max_window`), bytes.
    max_window: u64,
    /// Payload of the chunks below `resized_at`, while later ones have `chunk_at_tail`.
    former_chunk: u64,
    /// Payload of the chunks from `resized_at` on.
    chunk_at_tail: u64,
    /// First byte of the first chunk of the present size.
    resized_at: u64,
    /// Bytes written since the start; `MAX` if memory is not counted.
    written: u64,
    /// First byte of the last chunk, or of its unsent part.
    tail: u64,
}

impl WriteQueue {
    /// Create the queue of a sender with these settings.
    pub fn new(config: &SenderConfig) -> WriteQueue {
        let mss = u64::from(config.mss);
        let whole = |bytes: u64| whole_segments(bytes, mss);
        let (payload, memory) = match config.send_buffer {
            SendBuffer::Unlimited => (u64::MAX, None),
            SendBuffer::Payload(bytes) => (bytes.get(), None),
            SendBuffer::Memory(memory) => (u64::MAX, Some(memory)),
        };
        WriteQueue {
            window_end: 0,
            short_end: 0,
            data: config.data,
            mss,
            payload,
            per_packet: memory.map_or(0, |memory| memory.per_packet.get()),
            most: memory.map_or(0, |memory| memory.most.get()),
            per_segment: memory.map_or(0, |memory| memory.per_segment(config.largest_segment().into())),
            limit: memory.map_or(u64::MAX, |memory| memory.first.get()),
            good_for: 0,
            largest_chunk: whole(GSO_MAX_BYTES.into()),
            chunk: whole(GSO_MAX_BYTES.into()),
            max_window: 0,
            former_chunk: whole(GSO_MAX_BYTES.into()),
            chunk_at_tail: whole(GSO_MAX_BYTES.into()),
            resized_at: 0,
            written: if memory.is_some() { 0 } else { u64::MAX },
            tail: 0,
            is_full: false,
        }
    }

    /// Bytes that the application has to send; `None`: unlimited.
    pub fn data(&self) -> Option<u64> {
        self.data
    }

    /// Bytes that the application has written into the buffer; `MAX` if nothing limits them.
    pub fn written(&self) -> u64 {
        self.written.min(self.data.unwrap_or(UNLIMITED))
    }

    /// Set the bytes that the application has to send.
    pub fn offer(&mut self, bytes: Option<u64>) {
        self.data = bytes;
    }

    /// End the data after `bytes` if the data is unlimited.
    pub fn end_at(&mut self, bytes: u64) {
        self.data.get_or_insert(bytes);
    }

    /// End the data after the `bytes` sent so far.
    pub fn stop(&mut self, bytes: u64) {
        self.data = Some(bytes);
        self.is_full = false;
    }

    /// Set the window that the receiver advertises beyond byte `from`; `advanced`: the ACK acknowledges data. Only such
    /// an ACK, or one that closes the window, moves the end of the window back (`tcp_may_update_window`).
    #[inline]
    pub fn set_window(&mut self, from: u64, window: u32, advanced: bool) {
        let end = from + u64::from(window);
        if advanced || window == 0 || end > self.window_end {
            self.window_end = end;
            if u64::from(window) > self.max_window {
                self.note_largest_window(window.into());
            }
        }
    }

    #[cold]
    fn note_largest_window(&mut self, window: u64) {
        self.max_window = window;
        let half = if window > TINY_WINDOW { window / 2 } else { window };
        self.chunk = whole_segments(half, self.mss).min(self.largest_chunk);
    }

    /// Set the window that the receiver advertises in the handshake.
    pub fn open(&mut self, window: u32) {
        self.window_end = u64::from(window);
        self.note_largest_window(self.window_end);
    }

    /// Whether the buffer is limited by memory.
    #[inline]
    pub fn is_managed(&self) -> bool {
        self.most > 0
    }

    /// Whether the application waits for room (`SOCK_NOSPACE`).
    #[inline]
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether the application cannot write now.
    #[inline]
    pub fn is_closed_to_writes(&self) -> bool {
        self.is_full || !self.is_managed()
    }

    /// Bytes written and not yet sent; `next`: bytes sent so far.
    #[inline]
    pub fn unsent(&self, next: u64) -> u64 {
        self.data.unwrap_or(UNLIMITED).min(self.written).saturating_sub(next)
    }

    /// Whether less than a full segment is written and not yet sent.
    #[inline]
    pub fn lacks_segment(&self, next: u64) -> bool {
        self.unsent(next) < self.mss
    }

    /// Whether the application has unsent data, written or not, and the send buffer has room for a full segment.
    #[inline]
    pub fn has_new_data(&self, board: &Scoreboard) -> bool {
        self.data.is_none_or(|end| end > board.next_bytes()) && !self.payload_is_full(board)
    }

    /// Whether new data is in the send buffer, so that it can be sent now (`tcp_send_head`).
    pub fn has_written(&self, board: &Scoreboard) -> bool {
        self.unsent(board.next_bytes()) > 0 && !self.payload_is_full(board)
    }

    /// Whether the application waits for room in the send buffer.
    #[inline]
    pub fn waits_for_room(&self, board: &Scoreboard) -> bool {
        self.is_full || self.payload_is_full(board)
    }

    /// Room in a send buffer that counts payload, bytes.
    #[inline]
    fn payload_room(&self, board: &Scoreboard) -> u64 {
        self.payload.saturating_sub(board.bytes_out())
    }

    /// Whether a send buffer that counts payload has no room for a full segment.
    #[inline]
    pub fn payload_is_full(&self, board: &Scoreboard) -> bool {
        self.payload_room(board) < self.mss
    }

    /// Whether the receiver's window has room for the next packet (`tcp_snd_wnd_test`).
    #[inline]
    pub fn receiver_has_room(&self, board: &Scoreboard) -> bool {
        let next = board.next_bytes();
        self.window_end >= next + self.mss
            || (self.window_end > next && self.window_end - next >= self.remaining(next))
    }

    /// The receiver's window (`snd_wnd`), bytes.
    #[inline]
    pub fn window(&self, board: &Scoreboard) -> u64 {
        self.window_room(board.una_bytes())
    }

    /// Bytes of the receiver's window after byte `next`.
    #[inline]
    pub fn window_room(&self, next: u64) -> u64 {
        self.window_end.saturating_sub(next)
    }

    /// Bytes that the application has to send after byte `next`, written or not.
    #[inline]
    fn remaining(&self, next: u64) -> u64 {
        self.data.unwrap_or(UNLIMITED).saturating_sub(next)
    }

    /// Payload of the next `count` packets: the last one is short at the end of the written data, or of the receiver's
    /// window (`tcp_mss_split_point`).
    #[inline]
    pub fn payload_of(&self, count: u32, board: &Scoreboard) -> u64 {
        let next = board.next_bytes();
        (u64::from(count) * self.mss).min(self.unsent(next)).min(self.window_room(next))
    }

    /// Whether a short packet must wait until the last short packet is acknowledged (`tcp_nagle_check`,
    /// `tcp_minshall_check`).
    #[inline]
    pub fn holds_short(&self, board: &Scoreboard) -> bool {
        board.packets_out() > 0 && self.short_end > board.una_bytes()
    }

    /// Record that `count` packets with `bytes` of payload are sent, up to byte `next` (`tcp_minshall_update`).
    #[inline]
    pub fn note_burst(&mut self, count: u32, bytes: u64, next: u64) {
        if bytes < u64::from(count) * self.mss {
            self.short_end = next;
        }
    }

    /// Number of packets that the data, the send buffer and the receive window allow, at most `quota`. If they allow
    /// none, return which of them is the limit. `without_data` is called if there is no data although the send buffer
    /// has room. It returns the number of packets to send (a FIN), or the limit.
    #[inline]
    pub fn sendable(
        &self,
        quota: u32,
        board: &Scoreboard,
        without_data: impl FnOnce() -> Result<u32, Limit>,
    ) -> Result<u32, Limit> {
        let mss = self.mss;
        let receiver = self.window_end.saturating_sub(board.next_bytes());
        let (buffer, data) = (self.payload_room(board), self.unsent(board.next_bytes()));
        if receiver.min(buffer).min(data) >= u64::from(quota) * mss {
            return Ok(quota);
        }
        // The first packet must fit into the window as a whole. Later packets may be cut at its end.
        let receiver = if receiver < mss.min(data) { 0 } else { receiver.div_ceil(mss) };
        let (buffer, data) = (buffer / mss, data.div_ceil(mss));
        let count = u64::from(quota).min(receiver).min(buffer).min(data);
        match count {
            0 if data == 0 && self.is_full => Err(Limit::SendBuffer),
            0 if data == 0 => without_data(),
            0 if buffer == 0 => Err(Limit::SendBuffer),
            0 => Err(Limit::Receiver),
            _ => Ok(count as u32),
        }
    }

    /// Whether `room` bytes are enough for a chunk with `waiting` bytes that has another chunk behind it, or one packet
    /// reaches the end of the written data.
    pub fn ends_chunk(&self, waiting: u64, room: u64, next: u64) -> bool {
        let unsent = self.unsent(next);
        unsent <= self.mss || (waiting <= room && waiting < unsent)
    }

    /// Unsent payload of the chunk with the byte `next`, after it has grown to a `burst` with data of the next chunk.
    pub fn grown_chunk(&self, burst: u64, next: u64) -> u64 {
        let unsent = self.unsent(next);
        self.left_of_chunk(next).map_or(unsent, |left| left.max(burst.min(unsent)))
    }

    /// Unsent payload of the chunk with the byte `next`; `None` for the last chunk, which may still grow.
    fn left_of_chunk(&self, next: u64) -> Option<u64> {
        if !self.is_managed() {
            return Some(self.largest_chunk - next % self.largest_chunk);
        }
        let before_tail = self.tail.checked_sub(next + 1)?;
        Some(match self.resized_at.checked_sub(next + 1) {
            Some(before_resizing) => before_resizing % self.former_chunk + 1,
            None => before_tail % self.chunk_at_tail + 1,
        })
    }

    /// Enlarge the buffer to a multiple of a number of packets, which is the window, or one more than the reordering
    /// degree (`tcp_sndbuf_expand`). `three_windows`: three times this number instead of twice.
    #[inline]
    pub fn expand(&mut self, packets: u32, three_windows: bool) {
        if packets > self.good_for {
            self.enlarge(packets, three_windows);
        }
    }

    fn enlarge(&mut self, packets: u32, three_windows: bool) {
        self.good_for = packets;
        let packets = u64::from(packets.max(LEAST_PACKETS));
        let windows = if three_windows { WINDOWS_OF_BBR } else { WINDOWS };
        let wanted = windows * packets * self.per_segment;
        self.limit = self.limit.max(wanted.min(self.most));
    }

    /// Memory of written data that is not acknowledged (`sk_wmem_queued`): payload, and a head for each burst in the
    /// network and each unsent chunk.
    fn queued(&self, board: &Scoreboard) -> u64 {
        let waiting = self.written - board.next_bytes();
        let heads = board.bursts_out() + waiting.div_ceil(self.chunk_at_tail);
        self.written - board.una_bytes() + heads * self.per_packet
    }

    /// Whether less than a third of the buffer is free (`sk_stream_is_writeable`); `queued`: memory in use.
    #[inline]
    fn is_tight(&self, queued: u64) -> bool {
        self.limit.saturating_sub(queued) < queued / 2
    }

    /// Let the waiting application write again if the buffer has room (`sk_stream_write_space`). Return whether
    /// the buffer has room.
    #[inline]
    pub fn free(&mut self, board: &Scoreboard) -> bool {
        let payload = self.written - board.una_bytes(); // the payload alone mostly decides, and its test is cheap
        if self.is_tight(payload) || self.is_tight(self.queued(board)) {
            return false;
        }
        self.is_full = false;
        true
    }

    /// Fill up the last chunk, or begin another chunk if there is memory. False if nothing was written.
    pub fn write_chunk(&mut self, board: &Scoreboard) -> bool {
        let end = self.data.unwrap_or(UNLIMITED);
        if self.written >= end {
            return false;
        }
        let (size, written) = (self.chunk, self.written);
        let tail = self.tail.max(board.next_bytes());
        let is_new = written == tail || written - tail >= size;
        if is_new && self.queued(board) >= self.limit {
            self.is_full = true;
            return false;
        }
        self.tail = if is_new { written } else { tail };
        if size != self.chunk_at_tail {
            (self.former_chunk, self.chunk_at_tail, self.resized_at) = (self.chunk_at_tail, size, self.tail);
        }
        self.written = (self.tail + size).min(end);
        true
    }

    /// Whether the last chunk is full and is the next data to be sent.
    pub fn is_next_chunk_full(&self, board: &Scoreboard) -> bool {
        self.written - self.tail == self.chunk_at_tail && self.tail == board.next_bytes()
    }
}

/// The payload of the full segments in `bytes`, but of at least one.
fn whole_segments(bytes: u64, mss: u64) -> u64 {
    (bytes / mss).max(1) * mss
}

#[cfg(test)]
mod tests {
    use super::super::config::SendMemory;
    use super::super::window::Window;
    use super::*;
    use units::Bytes;

    #[test]
    fn a_buffer_holds_two_windows_or_three_for_an_algorithm_that_asks_for_them() {
        let limit = |name: &str| {
            let [first, most, per_packet] = [16 << 10, 4 << 20, 960].map(Bytes::new);
            let send_buffer = SendBuffer::Memory(SendMemory { first, most, per_packet });
            let algorithm = congestion::build(name, &serde_json::Value::Null, 1).unwrap();
            let window = Window::new(algorithm, 10);
            let mut queue = WriteQueue::new(&SenderConfig { send_buffer, ..SenderConfig::default() });
            queue.expand(window.cwnd(), window.traits().buffers_three_windows);
            queue.limit
        };
        assert_eq!(["cubic", "prague"].map(limit), [87_040; 2]);
        assert_eq!(["bbr1", "bbr3"].map(limit), [130_560; 2], "bbr_sndbuf_expand");
    }

    #[test]
    fn chunks_are_at_most_half_of_the_largest_window() {
        let chunk = |window| {
            let mut queue = WriteQueue::new(&SenderConfig::default());
            queue.open(window);
            queue.chunk / queue.mss
        };
        assert_eq!([400, 10_000, 65_535, 1 << 20].map(chunk), [1, 3, 22, 45]);
    }
}
