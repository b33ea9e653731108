//! Size and growth of the receive window (Linux `tcp_grow_window`, `tcp_rcv_space_adjust`,
//! `__tcp_select_window`).
//!
//! *Space* is an amount of memory, *window* is an amount of payload. A packet takes more memory than its payload,
//! so the window that a buffer supports is a fraction of the buffer's space. The window opens as packets arrive
//! (`opened`, in the kernel `rcv_ssthresh`), up to the window that the buffer supports (`clamp`). The buffer
//! grows with the bytes that the application reads per round trip.
//!
//! Not modelled:
//!
//! - packets dropped, or merged by copying, because the memory is full
//! - memory pressure of the whole host
//! - falling packet sizes (fullpipe's `rcv_mss` only rises)
//! - window updates sent immediately after a reader has freed much memory

use units::{Bytes, Duration, Time};

/// Memory of a receiver's socket, and the overhead of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveMemory {
    /// Initial size (`tcp_rmem[1]`).
    pub first: Bytes,
    /// Maximum size (`tcp_rmem[2]`).
    pub most: Bytes,
    /// Memory per packet beside its payload: the driver's allocation for headers and the packet's descriptor
    /// (`skb->truesize` less the payload).
    pub per_packet: Bytes,
}

/// The largest buffer that Linux supports, bytes (`sk_rcvbuf` and `sk_sndbuf` are an `int`).
pub const LARGEST_BUFFER: u64 = (1 << 31) - 1;

impl Default for ReceiveMemory {
    /// Initial memory of 16 MiB, as in the guest of the Linux engine, and a maximum that is never a limit. In
    /// that guest, a packet over virtual Ethernet takes 576 bytes for headers and 256 bytes for its descriptor
    /// (`SKB_TRUESIZE` of a head of 256 bytes).
    fn default() -> ReceiveMemory {
        ReceiveMemory {
            first: Bytes::new(16 << 20),
            most: Bytes::new(LARGEST_BUFFER),
            per_packet: Bytes::new(832),
        }
    }
}

/// Limit on the data that a receiver holds for its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// Limit in payload bytes, set by the application (`TCP_WINDOW_CLAMP`). The memory of the packets does not
    /// matter.
    Payload(Bytes),
    /// Limit in bytes of memory, from which the window follows.
    Memory(ReceiveMemory),
    /// Limit in payload bytes. Only [`Receiver::make_room`](super::Receiver::make_room) frees room in the buffer.
    Unread(Bytes),
}

impl Default for ReceiveBuffer {
    fn default() -> ReceiveBuffer {
        ReceiveBuffer::Memory(ReceiveMemory::default())
    }
}

/// Bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Space(pub u64);

impl Space {
    fn less(self, other: Space) -> Space {
        Space(self.0.saturating_sub(other.0))
    }

    pub fn and(self, bytes: u64) -> Space {
        Space(self.0 + bytes)
    }
}

/// Assumed packet size before the first packet arrives (`TCP_MSS_DEFAULT`), bytes.
const FIRST_PACKET: u32 = 536;
/// Assumed share of payload in memory before the first packet arrives, in 1/256 (`TCP_DEFAULT_SCALING_RATIO`).
const FIRST_RATIO: u64 = 128;
const RATIO_BITS: u32 = 8;
/// Smallest packet that opens the window, bytes (`tcp_event_data_recv`).
const SMALLEST: u32 = 128;
/// Packets assumed to be read in the first round trip (`TCP_INIT_CWND`).
const FIRST_FLIGHT: u64 = 10;
/// Largest window in a SYN-ACK, which is unscaled (RFC 7323 section 2.2), bytes.
const LARGEST_UNSCALED: u64 = 65_535;
/// Largest window scale (RFC 7323 section 2.3).
const LARGEST_SCALE: u32 = 14;
/// RTT below which the buffer grows more slowly (sysctl tcp_rcvbuf_low_rtt).
const LOW_RTT: Duration = Duration::from_millis(1);
/// Shortest time between two RTT samples, equal to the resolution of timestamps.
const SAMPLED: Duration = Duration::from_millis(1);
/// Maximum number of fragments in one kernel buffer (`MAX_SKB_FRAGS`). At most this many out-of-order packets are
/// merged into one buffer.
const FRAGMENTS: u64 = 17;
/// Maximum number of quick ACKs (`TCP_MAX_QUICKACKS`).
const QUICK_ACKS: u64 = 16;

/// The receive window.
#[derive(Debug)]
pub(super) struct Window {
    /// Whether the application has set the window, so that it neither grows nor shrinks.
    is_fixed: bool,
    /// Payload of a full segment.
    mss: u64,
    /// Payload of a full segment plus the bytes of options that not every segment has (Linux `advmss`). The
    /// window opens in this unit.
    advmss: u64,
    most: Space,
    per_packet: u64,
    /// Unit of the advertised window in bytes, minus 1.
    scale: u64,
    /// Size of the buffer (`sk_rcvbuf`).
    memory: Space,
    /// Share of payload in memory, in 1/256 (`scaling_ratio`).
    ratio: u64,
    /// The largest packet so far (`rcv_mss`).
    largest: u32,
    /// The window that the buffer supports (`window_clamp`).
    clamp: u64,
    /// The window that may be advertised (`rcv_ssthresh`).
    opened: u64,
    /// Limit of `opened` while the receiver holds only the packet that has just arrived.
    open: u64,
    /// The window advertised while no packet is out of order.
    told: u64,
    /// Memory of out-of-order packets at or above which the window cannot open further.
    crowd: Space,
    /// Memory of out-of-order packets above which quick ACKs end.
    calm: Space,
    /// Extent of out-of-order data above which the buffer grows, bytes.
    spare: u64,
    /// Memory of one packet. A fully open window does not grow while out-of-order packets take at least this much
    /// memory.
    one_packet: Space,
    /// One past the highest byte that an advertised window has allowed (`rcv_wup + rcv_wnd`).
    edge: u64,
    /// One past the highest byte that the buffer has room for; `MAX` if the application reads data as soon as it
    /// arrives.
    until: u64,
    /// Bytes read in a round trip (`rcvq_space.space`).
    read_in_rtt: u64,
    /// When the present round trip began (`rcvq_space.time`).
    since: Time,
    /// The first byte to be read in the present round trip (`rcvq_space.seq`).
    from: u64,
    /// RTT estimate of the receiver (`rcv_rtt_est`); `MAX` before the first sample.
    rtt: Duration,
    next_sample: Time,
}

impl Window {
    /// The window before any packet arrives (`tcp_select_initial_window`, `tcp_init_buffer_space`).
    pub fn new(buffer: ReceiveBuffer, mss: u32, advmss: u32) -> Window {
        let (memory, fixed, until) = match buffer {
            ReceiveBuffer::Payload(bytes) => (ReceiveMemory::default(), Some(bytes.get()), u64::MAX),
            ReceiveBuffer::Memory(memory) => (memory, None, u64::MAX),
            ReceiveBuffer::Unread(bytes) => (ReceiveMemory::default(), Some(bytes.get()), bytes.get()),
        };
        let (mss, advmss) = (u64::from(mss), u64::from(advmss));
        let (first, most) = (memory.first.get(), memory.most.get().max(memory.first.get()));
        let mut window = Window {
            is_fixed: fixed.is_some(),
            mss,
            advmss,
            most: Space(most),
            per_packet: memory.per_packet.get(),
            scale: (1 << most.ilog2().saturating_sub(15).min(LARGEST_SCALE)) - 1,
            memory: Space(first),
            ratio: FIRST_RATIO,
            largest: FIRST_PACKET,
            clamp: 0,
            opened: 0,
            open: 0,
            told: 0,
            crowd: Space(0),
            calm: Space(0),
            spare: 0,
            one_packet: Space(0),
            edge: 0,
            until,
            read_in_rtt: 0,
            since: Time::ZERO,
            from: 0,
            rtt: Duration::MAX,
            next_sample: Time::ZERO,
        };
        let full = window.window_of(window.memory);
        window.clamp = fixed.unwrap_or(full.saturating_sub(advmss).max(2 * advmss));
        window.opened = fixed.unwrap_or((full - full % advmss).min(window.clamp));
        window.read_in_rtt = window.opened.min(FIRST_FLIGHT * advmss).max(1);
        window.settle();
        window
    }

    /// The window that a space supports (`tcp_win_from_space`).
    fn window_of(&self, space: Space) -> u64 {
        (space.0 * self.ratio) >> RATIO_BITS
    }

    /// Memory of a packet with `len` bytes of payload (`skb->truesize`).
    fn truesize(&self, len: u32) -> u64 {
        u64::from(len) + self.per_packet
    }

    /// Recompute the thresholds of the fast paths. `calm` is the memory at which half of the window is in use. `spare`
    /// is the window that the buffer supports, minus twice the bytes read in a round trip.
    fn settle(&mut self) {
        let packet = Space(self.truesize(self.largest));
        let all = self.window_of(self.memory);
        self.one_packet = packet;
        self.open = if self.is_fixed { 0 } else { self.clamp.min(self.window_of(self.memory.less(packet))) };
        let half = Space(((self.clamp.min(all) / 2) << RATIO_BITS).div_ceil(self.ratio));
        self.calm = if self.is_fixed { Space(u64::MAX) } else { self.memory.less(half) };
        self.spare = match self.rtt < LOW_RTT {
            true => 0,
            false if self.is_fixed => u64::MAX,
            false => all.saturating_sub(2 * self.read_in_rtt),
        };
        self.tell();
    }

    fn tell(&mut self) {
        let free = if self.is_fixed { u64::MAX } else { self.window_of(self.memory) };
        self.told = self.round_up(free.min(self.opened));
        let taken = (((self.opened + 1) << RATIO_BITS) - 1) / self.ratio;
        self.crowd = self.memory.less(Space(taken));
    }

    /// Memory of out-of-order data: the payload, and the overhead of one packet per range, because the packets of
    /// a range are merged (`tcp_ooo_try_coalesce`).
    #[inline]
    pub fn space(&self, bytes: u64, ranges: usize) -> Space {
        Space(bytes + ranges as u64 * self.per_packet)
    }

    /// The largest packet so far.
    pub fn largest(&self) -> u32 {
        self.largest
    }

    /// Whether an in-order packet may open the window: the window is not fully open, or the packet is the largest so
    /// far.
    #[inline]
    pub fn may_open(&self, len: u32) -> bool {
        self.opened < self.open || len > self.largest
    }

    /// Account for an in-order packet; `waiting`: memory of out-of-order packets. True if the window grows, so that the
    /// packet must be acknowledged immediately (`tcp_event_data_recv`).
    pub fn take(&mut self, len: u32, waiting: Space) -> bool {
        if len > self.largest {
            self.measure(len);
        }
        self.opened < self.open && self.grow(len, waiting.and(self.truesize(len)), true)
    }

    /// Whether an out-of-order packet leaves the state of the window unchanged; for `waiting` and `beyond` see
    /// [`Window::file`].
    #[inline]
    pub fn is_settled(&self, len: u32, waiting: Space, beyond: u64) -> bool {
        len <= self.largest
            && (self.opened >= self.open || waiting >= self.crowd)
            && beyond <= self.spare
            && self.one_packet <= waiting
            && waiting <= self.memory
    }

    /// Account for an out-of-order packet (`tcp_data_queue_ofo`). `waiting`: memory of out-of-order packets before this
    /// packet. `beyond`: extent of all out-of-order data, bytes. `joins`: the preceding packet has arrived, so
    /// the two packets are merged and this packet needs no head of its own. Return the same as [`Window::take`].
    pub fn file(&mut self, len: u32, waiting: Space, beyond: u64, joins: bool) -> bool {
        if len > self.largest {
            self.measure(len);
        }
        let counted = if joins { waiting.and(u64::from(len)) } else { waiting };
        let grows = self.grow(len, counted, joins);
        if beyond > self.spare {
            self.tune(self.read_in_rtt, beyond);
        }
        grows
    }

    /// Derive the share of payload in memory from the largest packet (`tcp_measure_rcv_mss`).
    #[cold]
    fn measure(&mut self, len: u32) {
        self.largest = len;
        self.ratio = ((u64::from(len) << RATIO_BITS) / self.truesize(len)).max(1);
        if !self.is_fixed {
            self.clamp = self.window_of(self.memory);
            self.read_in_rtt = self.read_in_rtt.min(self.clamp);
        }
        self.settle();
    }

    /// Open the window for a packet while `used` memory is in use (`tcp_grow_window`). `lean`: the data of the packet
    /// is in page fragments only, so the head does not count (`truesize_adjust`).
    fn grow(&mut self, len: u32, used: Space, lean: bool) -> bool {
        if self.is_fixed {
            return false;
        }
        let room = self.clamp.min(self.window_of(self.memory.less(used))).saturating_sub(self.opened);
        if room == 0 || len < SMALLEST {
            return false;
        }
        let wasteful = !lean && self.window_of(Space(self.truesize(len))) > u64::from(len);
        let step = if wasteful { self.wasteful_step(len) } else { 2 * self.advmss };
        if step > 0 {
            self.opened += room.min(step.max(2 * u64::from(len)));
            self.tell();
        }
        step > 0
    }

    /// Growth of the window for a packet that takes much more memory than its payload. The growth is above 0 only
    /// while the window is small (`__tcp_grow_window`).
    fn wasteful_step(&self, len: u32) -> u64 {
        let (mut packet, mut window) =
            (self.window_of(Space(self.truesize(len))) / 2, self.window_of(self.most) / 2);
        while self.opened <= window {
            if packet <= u64::from(len) {
                return 2 * u64::from(self.largest);
            }
            (packet, window) = (packet / 2, window / 2);
        }
        0
    }

    /// Enlarge the memory, or clamp the window, if out-of-order data exceed the memory (`tcp_clamp_window`). True if
    /// out-of-order data exceeded the memory; quick ACKs then end.
    #[inline]
    pub fn overflows(&mut self, waiting: Space) -> bool {
        let overflows = waiting > self.memory && !self.is_fixed;
        if overflows {
            self.clamp_to(waiting);
        }
        overflows
    }

    #[cold]
    fn clamp_to(&mut self, waiting: Space) {
        self.memory = waiting.min(self.most);
        if waiting > self.memory {
            self.opened = self.clamp.min(2 * self.advmss);
        }
        self.settle();
    }

    /// The window to advertise after `received` bytes in order, with no packet out of order. The end of the window
    /// never moves back (`tcp_select_window`).
    #[inline]
    pub fn advertise(&mut self, received: u64) -> u32 {
        self.promise(received, self.told)
    }

    /// The window to advertise while out-of-order packets take the memory `waiting`. The end of the window usually
    /// does not move, because the free memory supports no larger window. Quick ACKs end when half of the window
    /// is in use (`__tcp_select_window`).
    #[inline(always)] // called for every packet while a packet is missing
    pub fn advertise_beside(&mut self, received: u64, waiting: Space, quick: &mut u32) -> u32 {
        let allowed = self.edge.saturating_sub(received);
        let adds_nothing = !self.is_fixed && self.window_of(self.memory.less(waiting)) <= allowed;
        if (self.told <= allowed || adds_nothing) && waiting <= self.calm && allowed & self.scale == 0 {
            return allowed.min(u64::from(u32::MAX)) as u32;
        }
        self.weigh(received, waiting, quick)
    }

    fn weigh(&mut self, received: u64, waiting: Space, quick: &mut u32) -> u32 {
        let window = if self.is_fixed { self.told } else { self.select(waiting, quick) };
        self.promise(received, window)
    }

    fn promise(&mut self, received: u64, window: u64) -> u32 {
        let allowed = self.edge.saturating_sub(received);
        let window = if self.until == u64::MAX { window } else { window.min(self.room(received)) };
        let window = if window < allowed { self.round_up(allowed) } else { window };
        self.edge = received + window;
        window.min(u64::from(u32::MAX)) as u32
    }

    /// Free bytes of the buffer above byte `received`. A small free space counts as 0, to avoid the silly window
    /// syndrome (RFC 9293 section 3.8.6.2.2; `__tcp_select_window`).
    fn room(&self, received: u64) -> u64 {
        let free = self.until.saturating_sub(received);
        if free < self.clamp / 16 || free < self.mss { 0 } else { free }
    }

    /// Move the end of the buffer to byte `until` after the application has read. True if a window update must be sent
    /// immediately: the window has at least doubled, and at most half of the window was left (`__tcp_cleanup_rbuf`).
    pub fn make_room(&mut self, received: u64, until: u64) -> bool {
        self.until = until;
        let allowed = self.edge.saturating_sub(received);
        let room = self.room(received);
        2 * allowed <= self.clamp && room > 0 && room >= 2 * allowed
    }

    fn select(&self, waiting: Space, quick: &mut u32) -> u64 {
        let (mut free, all) = (self.window_of(self.memory.less(waiting)), self.window_of(self.memory));
        if free < self.clamp.min(all) / 2 {
            *quick = 0;
            free &= !self.scale;
            if free < all / 16 || free < u64::from(self.largest) {
                return 0;
            }
        }
        self.round_up(free.min(self.opened))
    }

    fn round_up(&self, window: u64) -> u64 {
        if self.is_fixed { window } else { (window + self.scale) & !self.scale }
    }

    /// The window in a SYN-ACK, which is not scaled.
    pub fn unscaled(&self) -> u32 {
        self.opened.min(LARGEST_UNSCALED) as u32
    }

    /// Length of a phase of quick ACKs, packets (`tcp_incr_quickack`).
    pub fn quick_acks(&self) -> u32 {
        match self.opened / (2 * self.mss) {
            0 => 2,
            packets => packets.min(QUICK_ACKS) as u32,
        }
    }

    /// Whether the next RTT sample is due.
    #[inline]
    pub fn wants_sample(&self, now: Time) -> bool {
        now >= self.next_sample
    }

    /// Smooth an RTT sample into the RTT estimate. A sample below the estimate replaces the estimate
    /// (`tcp_rcv_rtt_update`).
    pub fn sample(&mut self, now: Time, rtt: Duration) {
        self.rtt = if rtt < self.rtt { rtt } else { self.rtt - self.rtt / 8 + rtt / 8 };
        self.next_sample = now + SAMPLED;
        if self.rtt < LOW_RTT {
            self.spare = 0;
        }
    }

    /// Whether a round trip has passed since the last call of [`Window::read`].
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        now.since(self.since) >= self.rtt
    }

    /// Adjust the buffer after the application has read (`tcp_recvmsg_locked`, `tcp_rcv_space_adjust`). `bytes` have
    /// arrived in order so far. `newly` is the number of these bytes that the last packet brought in order, including
    /// bytes behind a hole that the packet filled. `beyond` is the extent of out-of-order data. The kernel adjusts the
    /// buffer after the application has read the first `skb` of `newly`, before it reads the rest.
    pub fn read(&mut self, now: Time, bytes: u64, newly: u64, beyond: u64) {
        let unread = newly.saturating_sub(FRAGMENTS * self.mss);
        let until = bytes - unread;
        let read = (until - self.from).saturating_sub(unread);
        if read > self.read_in_rtt {
            self.tune(read, beyond);
        }
        (self.since, self.from) = (now, until);
    }

    /// Enlarge the buffer to hold twice the bytes read in a round trip, or more while these bytes grow, plus the
    /// out-of-order data (`tcp_rcvbuf_grow`).
    fn tune(&mut self, read: u64, beyond: u64) {
        let before = std::mem::replace(&mut self.read_in_rtt, read);
        if self.is_fixed {
            return;
        }
        let twice = 2 * read;
        let more = if self.rtt < LOW_RTT {
            twice * self.rtt.as_nanos() / LOW_RTT.as_nanos()
        } else {
            2 * twice * (read - before) / before
        };
        let wanted = (twice + more + beyond) << RATIO_BITS;
        let memory = Space(wanted / self.ratio).min(self.most);
        if memory > self.memory {
            self.memory = memory;
            self.clamp = self.window_of(memory);
        }
        self.settle();
    }
}
