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
//! - chunks of different sizes, apart from the chunks before the first ACK
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
    /// Payload of a chunk (`tcp_xmit_size_goal`).
    chunk: u64,
    /// Payload of a chunk before the first ACK: at most half of the window that the handshake advertised
    /// (`tcp_bound_to_half_wnd`).
    first_chunk: u64,
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
            data: config.data,
            mss,
            payload,
            per_packet: memory.map_or(0, |memory| memory.per_packet.get()),
            most: memory.map_or(0, |memory| memory.most.get()),
            per_segment: memory.map_or(0, |memory| memory.per_segment(config.largest_segment().into())),
            limit: memory.map_or(u64::MAX, |memory| memory.first.get()),
            good_for: 0,
            chunk: whole(GSO_MAX_BYTES.into()),
            first_chunk: whole(GSO_MAX_BYTES.into()),
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
        }
    }

    /// Set the window that the receiver advertises in the handshake.
    pub fn open(&mut self, window: u32) {
        self.window_end = u64::from(window);
        let half = if self.window_end > TINY_WINDOW { self.window_end / 2 } else { self.window_end };
        self.first_chunk = whole_segments(half, self.mss).min(self.chunk);
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

    /// Whether the receiver's window has room for a full segment.
    #[inline]
    pub fn receiver_has_room(&self, board: &Scoreboard) -> bool {
        self.window_end >= board.next_bytes() + self.mss
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
        let (receiver, buffer, data) = (receiver / mss, buffer / mss, data.div_ceil(mss));
        let count = u64::from(quota).min(receiver).min(buffer).min(data);
        match count {
            0 if data == 0 && self.is_full => Err(Limit::SendBuffer),
            0 if data == 0 => without_data(),
            0 if buffer == 0 => Err(Limit::SendBuffer),
            0 => Err(Limit::Receiver),
            _ => Ok(count as u32),
        }
    }

    /// Whether `room` packets reach the end of a chunk, or one packet reaches the end of the written data.
    pub fn ends_chunk(&self, room: u32, next: u64) -> bool {
        let left = self.left_of_chunk(next);
        self.unsent(next) <= self.mss || left.is_some_and(|left| left <= u64::from(room) * self.mss)
    }

    /// Unsent payload of the chunk with the byte `next`; `None` for the last chunk, which may still grow.
    fn left_of_chunk(&self, next: u64) -> Option<u64> {
        if !self.is_managed() {
            return Some(self.chunk - next % self.chunk);
        }
        let before_tail = self.tail.checked_sub(next + 1)?;
        Some(before_tail % self.chunk + 1)
    }

    /// Enlarge the buffer to a multiple of the window (`tcp_sndbuf_expand`). `three_windows`: three windows instead of
    /// two.
    #[inline]
    pub fn expand(&mut self, cwnd: u32, three_windows: bool) {
        if cwnd > self.good_for {
            self.enlarge(cwnd, three_windows);
        }
    }

    fn enlarge(&mut self, cwnd: u32, three_windows: bool) {
        self.good_for = cwnd;
        let packets = u64::from(cwnd.max(LEAST_PACKETS));
        let windows = if three_windows { WINDOWS_OF_BBR } else { WINDOWS };
        let wanted = windows * packets * self.per_segment;
        self.limit = self.limit.max(wanted.min(self.most));
    }

    /// Memory of written data that is not acknowledged (`sk_wmem_queued`): payload, and a head for each burst in the
    /// network and each unsent chunk.
    fn queued(&self, board: &Scoreboard) -> u64 {
        let waiting = self.written - board.next_bytes();
        let heads = board.bursts_out() + waiting.div_ceil(self.chunk);
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

    fn chunk_size(&self, board: &Scoreboard) -> u64 {
        if board.una() == 0 { self.first_chunk } else { self.chunk }
    }

    /// Fill up the last chunk, or begin another chunk if there is memory. False if nothing was written.
    pub fn write_chunk(&mut self, board: &Scoreboard) -> bool {
        let end = self.data.unwrap_or(UNLIMITED);
        if self.written >= end {
            return false;
        }
        let (size, written) = (self.chunk_size(board), self.written);
        let tail = self.tail.max(board.next_bytes());
        let is_new = written == tail || written - tail >= size;
        if is_new && self.queued(board) >= self.limit {
            self.is_full = true;
            return false;
        }
        self.tail = if is_new { written } else { tail };
        self.written = (self.tail + size).min(end);
        true
    }

    /// Whether the last chunk is full and is the next data to be sent.
    pub fn is_next_chunk_full(&self, board: &Scoreboard) -> bool {
        self.written - self.tail == self.chunk_size(board) && self.tail == board.next_bytes()
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
    fn the_first_chunks_are_at_most_half_of_the_window_of_the_handshake() {
        let first_chunk = |window| {
            let mut queue = WriteQueue::new(&SenderConfig::default());
            queue.open(window);
            queue.first_chunk / queue.mss
        };
        assert_eq!([400, 10_000, 65_535, 1 << 20].map(first_chunk), [1, 3, 22, 45]);
    }
}
