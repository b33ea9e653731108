//! How large the receive window is, and when it grows (Linux `tcp_grow_window`, `tcp_rcv_space_adjust`,
//! `__tcp_select_window`).
//!
//! *Space* is memory, *window* is payload. What waits in a receiver takes more memory than it has payload, so that a buffer
//! of so much space is good for a window of a part of it. The window opens while packets come (`opened`, in the kernel
//! `rcv_ssthresh`) up to what the buffer is good for (`clamp`), and the buffer grows with what the application reads in a
//! round trip.
//!
//! Not modelled: packets that are dropped, or merged by copying, because the memory is full; pressure on the memory of the
//! whole host; a packet size that falls (`rcv_mss` only rises here); that a reader that has made much room says so at once.

use units::{Bytes, Duration, Time};

/// Memory of a receiver's socket, and what a packet takes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveMemory {
    /// What it has at first (`tcp_rmem[1]`).
    pub first: Bytes,
    /// What it grows to at most (`tcp_rmem[2]`).
    pub most: Bytes,
    /// What a packet takes beside its payload: what the driver allocates for headers, and what describes it (`skb->truesize`
    /// less the payload).
    pub per_packet: Bytes,
}

/// The largest buffer that Linux knows, bytes (`sk_rcvbuf` and `sk_sndbuf` are an `int`).
pub const LARGEST_BUFFER: u64 = (1 << 31) - 1;

impl Default for ReceiveMemory {
    /// Never a limit. It begins with 16 MiB, as in the guest of the Linux engine, where a packet over virtual Ethernet takes
    /// 576 bytes for headers and 256 for its description (`SKB_TRUESIZE` of a head of 256 bytes).
    fn default() -> ReceiveMemory {
        ReceiveMemory {
            first: Bytes::new(16 << 20),
            most: Bytes::new(LARGEST_BUFFER),
            per_packet: Bytes::new(832),
        }
    }
}

/// What a receiver may hold for its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// So much payload, whatever memory that takes: an application that has set its window (`TCP_WINDOW_CLAMP`).
    Payload(Bytes),
    /// What its memory is good for.
    Memory(ReceiveMemory),
    /// So much payload for an application that reads when it is [told](super::Receiver::make_room).
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

/// A packet before any came (`TCP_MSS_DEFAULT`), bytes.
const FIRST_PACKET: u32 = 536;
/// What part of the memory is payload before any packet came, of 256 (`TCP_DEFAULT_SCALING_RATIO`).
const FIRST_RATIO: u64 = 128;
const RATIO_BITS: u32 = 8;
/// Smaller packets do not open the window (`tcp_event_data_recv`).
const SMALLEST: u32 = 128;
/// Packets that are read in the first round trip (`TCP_INIT_CWND`).
const FIRST_FLIGHT: u64 = 10;
/// The first window goes without scale (RFC 7323 section 2.2), and the largest scale is 14 (section 2.3).
const LARGEST_UNSCALED: u64 = 65_535;
const LARGEST_SCALE: u32 = 14;
/// Below this round trip the buffer grows more slowly (sysctl tcp_rcvbuf_low_rtt).
const LOW_RTT: Duration = Duration::from_millis(1);
/// Time between two samples of the round trip: timestamps change so often.
const SAMPLED: Duration = Duration::from_millis(1);
/// Pieces that one buffer of the kernel has at most (`MAX_SKB_FRAGS`): packets out of order that are joined.
const FRAGMENTS: u64 = 17;
/// Quick ACKs at most (`TCP_MAX_QUICKACKS`).
const QUICK_ACKS: u64 = 16;

/// The receive window.
#[derive(Debug)]
pub(super) struct Window {
    /// It stays as it is.
    is_fixed: bool,
    /// Payload of a full segment, and what the window opens by: the same without options that come and go.
    mss: u64,
    advmss: u64,
    most: Space,
    per_packet: u64,
    /// Unit of what is advertised, less one.
    scale: u64,
    /// The buffer (`sk_rcvbuf`).
    memory: Space,
    /// Payload that a space is good for, of 256 (`scaling_ratio`).
    ratio: u64,
    /// The largest packet so far (`rcv_mss`).
    largest: u32,
    /// The window that the buffer is good for (`window_clamp`).
    clamp: u64,
    /// The window that may be advertised (`rcv_ssthresh`).
    opened: u64,
    /// As far as it opens while nothing but the packet that has come waits, and what is advertised while nothing waits.
    open: u64,
    told: u64,
    /// What waits leaves no room to open further once it takes so much.
    crowd: Space,
    /// How much may wait before quick ACKs end, and how far it may reach before the buffer grows.
    calm: Space,
    spare: u64,
    /// What one packet takes: an open window does not grow while that much waits.
    one_packet: Space,
    /// One past the highest byte that was allowed (`rcv_wup + rcv_wnd`).
    edge: u64,
    /// One past the highest byte for which there is room; `MAX` if the application reads at once.
    until: u64,
    /// Bytes read in a round trip, and when and where the present one began (`rcvq_space`).
    read_in_rtt: u64,
    since: Time,
    from: u64,
    /// The round trip as the receiver sees it (`rcv_rtt_est`); `MAX` before it is known. When it is looked at again.
    rtt: Duration,
    next_sample: Time,
}

impl Window {
    /// The window before anything came (`tcp_select_initial_window`, `tcp_init_buffer_space`).
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

    /// The window that a space is good for (`tcp_win_from_space`).
    fn window_of(&self, space: Space) -> u64 {
        (space.0 * self.ratio) >> RATIO_BITS
    }

    /// What a packet takes (`skb->truesize`).
    fn truesize(&self, len: u32) -> u64 {
        u64::from(len) + self.per_packet
    }

    /// Keeps what the fast paths compare with. Half of the window is in use when more than half of the space is, and the
    /// buffer grows when it is not good for twice what is read.
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

    /// What waits out of order takes so much memory: payload, and packets that others could not be joined to
    /// (`tcp_ooo_try_coalesce`).
    #[inline]
    pub fn space(&self, bytes: u64, ranges: usize) -> Space {
        Space(bytes + ranges as u64 * self.per_packet)
    }

    /// A packet has come in order, which may open the window: there is room, or it says what packets are like.
    #[inline]
    pub fn may_open(&self, len: u32) -> bool {
        self.opened < self.open || len > self.largest
    }

    /// It has, while so much waits out of order. True if the window grows: it is to be acknowledged at once
    /// (`tcp_event_data_recv`).
    pub fn take(&mut self, len: u32, waiting: Space) -> bool {
        if len > self.largest {
            self.measure(len);
        }
        self.opened < self.open && self.grow(len, waiting.and(self.truesize(len)), true)
    }

    /// A packet that is filed out of order, beside so much memory that waits, changes nothing.
    #[inline]
    pub fn is_settled(&self, len: u32, waiting: Space, beyond: u64) -> bool {
        len <= self.largest
            && (self.opened >= self.open || waiting >= self.crowd)
            && beyond <= self.spare
            && self.one_packet <= waiting
            && waiting <= self.memory
    }

    /// A packet has come that is filed out of order, beside so much other memory; `beyond`: how far it all reaches; `joins`: the packet
    /// before it is there, so that it needs no head of its own. True as above (`tcp_data_queue_ofo`).
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

    /// Learns from the largest packet what part of the memory is payload (`tcp_measure_rcv_mss`).
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

    /// Opens the window by a packet, while so much memory is in use (`tcp_grow_window`). Of a packet that is in pages alone
    /// the head does not count, `lean` (`truesize_adjust`).
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

    /// By how much a packet opens the window that takes more memory than its payload is worth: only while the window is
    /// small (`__tcp_grow_window`).
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

    /// The memory does not hold what waits out of order (`tcp_clamp_window`). True if it was so: no more quick ACKs.
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

    /// The window to advertise when so many bytes have come in order and nothing waits out of order, never less than was
    /// allowed before (`tcp_select_window`).
    #[inline]
    pub fn advertise(&mut self, received: u64) -> u32 {
        self.promise(received, self.told)
    }

    /// The same while so much waits out of order: mostly what was allowed before, as nothing that is free adds to it. Quick ACKs end when half of the space is in use (`__tcp_select_window`).
    #[inline(always)] // called for every packet while something is missing
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

    /// Room for what comes after `received`: none rather than a little, so that no small segments are asked for
    /// (RFC 9293 section 3.8.6.2.2; `__tcp_select_window`).
    fn room(&self, received: u64) -> u64 {
        let free = self.until.saturating_sub(received);
        if free < self.clamp / 16 || free < self.mss { 0 } else { free }
    }

    /// The application has read: there is room up to the byte before `until`. True if the sender is to hear of it at once, as the
    /// window has at least doubled and less than half of it was left (`__tcp_cleanup_rbuf`).
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

    /// What a SYN-ACK says, which has no scale.
    pub fn unscaled(&self) -> u32 {
        self.opened.min(LARGEST_UNSCALED) as u32
    }

    /// How many packets to acknowledge at once when there is reason to (`tcp_incr_quickack`).
    pub fn quick_acks(&self) -> u32 {
        match self.opened / (2 * self.mss) {
            0 => 2,
            packets => packets.min(QUICK_ACKS) as u32,
        }
    }

    /// The round trip is to be looked at.
    #[inline]
    pub fn wants_sample(&self, now: Time) -> bool {
        now >= self.next_sample
    }

    /// A sample of the round trip (`tcp_rcv_rtt_update`).
    pub fn sample(&mut self, now: Time, rtt: Duration) {
        self.rtt = if rtt < self.rtt { rtt } else { self.rtt - self.rtt / 8 + rtt / 8 };
        self.next_sample = now + SAMPLED;
        if self.rtt < LOW_RTT {
            self.spare = 0;
        }
    }

    /// A round trip has passed since the buffer was looked at.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        now.since(self.since) >= self.rtt
    }

    /// The application reads all that came in order, `bytes` by now, of which a packet has brought `newly`, with what it has
    /// joined; what is out of order reaches `beyond`. It looks at the buffer after the first piece: the rest is not read yet
    /// (`tcp_recvmsg_locked`, `tcp_rcv_space_adjust`).
    pub fn read(&mut self, now: Time, bytes: u64, newly: u64, beyond: u64) {
        let unread = newly.saturating_sub(FRAGMENTS * self.mss);
        let until = bytes - unread;
        let read = (until - self.from).saturating_sub(unread);
        if read > self.read_in_rtt {
            self.tune(read, beyond);
        }
        (self.since, self.from) = (now, until);
    }

    /// Makes the buffer good for twice what is read in a round trip, for more while that grows, and for what is out of order
    /// (`tcp_rcvbuf_grow`).
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
