//! The receiving half of a connection: reassembly, selective acknowledgements, and their timing
//! (Linux `__tcp_ack_snd_check`, `tcp_data_queue`; RFC 5681 section 4.2, RFC 2018, RFC 2883).

mod acknowledgement;
mod assembly;
mod blocks;
mod interactive;
mod order;
#[cfg(test)]
mod tests;
mod window;

use crate::feedback::Echo;
use crate::gro::Gro;
use crate::segment::micros;
use crate::wheel::TICK;
use crate::{Feedback, RangeSet, Segment};
use blocks::Blocks;
use interactive::AckTimeout;
pub use order::InOrder;
use units::{Duration, Time};
pub use window::{LARGEST_BUFFER, ReceiveBuffer, ReceiveMemory};
use window::{Space, Window};

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Linux acknowledges every packet at first. Later it acknowledges every second packet and the end of every
    /// burst, and any packet after 40 ms at the latest. While a packet is missing, ACKs leave immediately, and long
    /// runs of duplicate ACKs are compressed.
    Linux,
    /// One ACK for every `packets` in-order packets, or `timeout` after the first unacknowledged packet. While a packet
    /// is missing, ACKs leave immediately (RFC 5681; ns-3's DelAckCount).
    Every {
        /// Packets per acknowledgement if the packets arrive in order.
        packets: u32,
        /// Longest delay of an acknowledgement.
        timeout: Duration,
    },
}

/// Settings of a receiver.
#[derive(Clone, Debug)]
pub struct ReceiverConfig {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Bytes of options that not every segment has. These bytes are already subtracted from `mss`. The window
    /// grows in units of `mss + option_bytes` (Linux `advmss`).
    pub option_bytes: u32,
    /// Timing of acknowledgements.
    pub ack: AckPolicy,
    /// ECN feedback to the sender.
    pub ecn: Feedback,
    /// Time within which arriving packets are merged before they are processed (GRO); `None`: each packet is processed
    /// on arrival.
    pub gro: Option<Duration>,
    /// Tick of the host's clock, at which its delayed ACKs leave; `None`: the timer is exact.
    pub tick: Option<Duration>,
    /// Whether duplicate ACKs are held back for up to a millisecond, as in Linux.
    pub sack_compression: bool,
    /// Whether segments have timestamps (RFC 7323), by which old segments are discarded.
    pub timestamps: bool,
    /// Limit on data held for the application; the advertised window follows from this limit.
    pub buffer: ReceiveBuffer,
}

impl Default for ReceiverConfig {
    /// Settings of Linux on Ethernet.
    fn default() -> ReceiverConfig {
        ReceiverConfig {
            mss: 1448,
            option_bytes: 0,
            ack: AckPolicy::Linux,
            ecn: Feedback::Off,
            gro: None,
            tick: Some(TICK),
            sack_compression: true,
            timestamps: true,
            buffer: ReceiveBuffer::default(),
        }
    }
}

/// The receiving half of a connection.
///
/// The fields that every packet needs come first, as in the [`Sender`](crate::Sender).
#[repr(C, align(64))]
pub struct Receiver {
    next: u32,
    unacked: u32,
    quick: u32,
    echo: u32,
    one_way_us: u32,
    compressed: u32,
    ack_now: bool,
    echoed: Echo,
    delivered_bytes: u64,
    received: u64,
    delayed_at: Time,
    compressed_at: Time,
    dsack: Option<(u32, u32)>,
    /// Whether GRO has merged the next packet with the packet before it.
    continues: bool,
    out_of_order: RangeSet,
    window: Window,
    rtt: RttGuess,
    config: ReceiverConfig,
    gro: Option<Box<Gro>>,
    in_order: Option<Box<InOrder>>,
    ack_timeout: AckTimeout,
    /// Whether this end may also send data.
    sends: bool,
    /// Out-of-order ranges. The range that grew last comes first.
    recent: Blocks,
    /// Payload of out-of-order packets.
    out_of_order_bytes: u64,
    /// Payload lengths of packets beyond `next` that are not a full MSS.
    short: Vec<(u32, u16)>,
    duplicates: u64,
    uncompressed: u32,
    uncompressed_next: u32,
    /// The packet with the FIN.
    fin: Option<u32>,
}

/// A receiver's estimate of the RTT. The first estimate is the time from the SYN-ACK to its answer. Later the measured
/// one-way delay of the data replaces the forward part of this time. This is possible because the two ends of a
/// simulated path share a clock. A real receiver uses the echo of its own timestamp.
#[derive(Debug, Default)]
struct RttGuess {
    answered: Option<Time>,
    rtt: Option<Duration>,
    /// Delay from the receiver to the sender, microseconds.
    back_us: Option<u32>,
}

impl Receiver {
    /// A receiver that waits for a SYN.
    ///
    /// # Panics
    /// If the MSS is 0 or the buffer is smaller than one MSS, because no packet could be received.
    pub fn new(config: ReceiverConfig) -> Receiver {
        assert!(config.mss > 0, "an MSS of 0");
        let (ReceiveBuffer::Payload(least)
        | ReceiveBuffer::Unread(least)
        | ReceiveBuffer::Memory(ReceiveMemory { first: least, .. })) = config.buffer;
        assert!(least.get() >= u64::from(config.mss), "a receive buffer below one MSS");
        let window = Window::new(config.buffer, config.mss, config.mss + config.option_bytes);
        Receiver {
            echoed: Echo::new(config.ecn),
            gro: config.gro.map(|delay| Box::new(Gro::new(delay, config.mss))),
            config,
            next: 0,
            delivered_bytes: 0,
            received: 0,
            in_order: None,
            duplicates: 0,
            out_of_order: RangeSet::default(),
            out_of_order_bytes: 0,
            short: Vec::new(),
            recent: Blocks::default(),
            dsack: None,
            continues: false,
            unacked: 0,
            quick: window.quick_acks(),
            window,
            ack_now: false,
            delayed_at: Time::NEVER,
            compressed: 0,
            compressed_at: Time::NEVER,
            uncompressed: 0,
            uncompressed_next: 0,
            echo: 0,
            one_way_us: 0,
            rtt: RttGuess::default(),
            fin: None,
            ack_timeout: AckTimeout::new(),
            sends: false,
        }
    }

    /// The settings.
    pub fn config(&self) -> &ReceiverConfig {
        &self.config
    }

    /// Payload bytes delivered in order to the application.
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Data packets that arrived.
    pub fn received_packets(&self) -> u64 {
        self.received
    }

    /// Data packets that arrived more than once.
    pub fn duplicate_packets(&self) -> u64 {
        self.duplicates
    }

    /// Payload of the largest packet so far, by which the window grows (`tcpi_rcv_mss`).
    pub fn largest_payload(&self) -> u32 {
        self.window.largest()
    }

    /// When `on_timer` must be called; `Time::NEVER` if no timer is set.
    pub fn next_timer(&self) -> Time {
        let batch = self.gro.as_ref().map_or(Time::NEVER, |gro| gro.due());
        self.ack_timer().min(batch)
    }

    fn ack_timer(&self) -> Time {
        self.delayed_at.min(self.compressed_at)
    }

    /// Process the GRO batch if it is due, and send the acknowledgement if it is due. The call has no effect if
    /// neither is due.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.gro.as_ref().is_some_and(|gro| gro.due() <= now) {
            self.look_at_batch(now, out);
        }
        if self.ack_timer() <= now {
            if self.delayed_at <= now {
                self.ack_timeout.miss();
            }
            self.send_ack(out);
        }
    }

    /// Process the packets of a GRO batch.
    fn look_at_batch(&mut self, now: Time, out: &mut Vec<Segment>) {
        let batch = self.gro.as_mut().map(|gro| gro.take()).unwrap_or_default();
        for (segment, ce, more) in batch {
            self.on_data(now, &segment, ce, more, out);
            self.continues = more;
        }
    }

    /// Process an arriving segment; `ce`: the segment arrived with a CE mark.
    pub fn on_segment(&mut self, now: Time, segment: &Segment, ce: bool, out: &mut Vec<Segment>) {
        match *segment {
            Segment::Syn { stamp } => {
                self.rtt.answered = Some(now);
                let echo = stamp;
                out.push(Segment::SynAck {
                    echo,
                    stamp: crate::segment::stamp(now),
                    window: self.first_window(),
                });
            }
            Segment::Data { .. } => match &mut self.gro {
                Some(gro) => gro.hold(now, *segment, ce),
                None => self.on_data(now, segment, ce, false, out),
            },
            Segment::HandshakeAck { .. } => self.end_handshake(now),
            _ => {}
        }
    }

    /// Take the first RTT sample, from the SYN-ACK to its answer.
    #[inline]
    fn end_handshake(&mut self, now: Time) {
        if let Some(rtt) = self.rtt.guess(now).filter(|_| !self.sends) {
            self.ack_timeout.note_handshake(rtt);
        }
    }

    /// Process a data packet; `more`: GRO has merged this packet with the next packet, so the decision on an ACK waits.
    #[inline(always)] // called for every packet that arrives
    fn on_data(&mut self, now: Time, segment: &Segment, ce: bool, more: bool, out: &mut Vec<Segment>) {
        let Segment::Data { seq, len, push, cwr, fin, stamp, sent_us, .. } = *segment else { return };
        self.received += 1;
        self.one_way_us = micros(now).wrapping_sub(sent_us);
        let expected = self.next;
        self.end_handshake(now);
        if self.window.wants_sample(now)
            && let Some(rtt) = self.rtt.sample(self.one_way_us)
        {
            self.window.sample(now, rtt);
        }
        self.note_ecn(ce, cwr, out);
        if self.looks_old(stamp) {
            return self.refuse(seq, more, out);
        }
        let released = self.release_before_losing_blocks(seq, out);
        let delivered = self.delivered_bytes;
        self.take(seq, len, stamp);
        if let Some(in_order) = &mut self.in_order {
            in_order.note(now, [expected, self.next], segment);
        }
        if seq == expected && len > 0 && self.ack_timeout.receive(now) {
            self.quick = self.quick.max(self.window.quick_acks());
        }
        let read = self.sends && self.interact(seq, len, fin);
        if !more && !released {
            self.decide(now, push || read, out);
        }
        let newly = self.delivered_bytes - delivered;
        if newly > 0 && self.window.is_due(now) {
            self.window.read(now, self.delivered_bytes, newly, self.beyond());
        }
    }

    #[inline]
    fn note_ecn(&mut self, ce: bool, cwr: bool, out: &mut Vec<Segment>) {
        if self.echoed.has_no_use_for(ce, cwr) {
            return;
        }
        let wanted = self.echoed.arrive(ce, cwr);
        if wanted.flush && self.delayed_at != Time::NEVER {
            self.send_ack(out);
        }
        self.echoed.turn(ce);
        if wanted.quick > 0 {
            self.quicken(wanted.quick);
        }
        self.ack_now |= wanted.now;
    }

    /// Process the ECN mark of a segment without data.
    pub(crate) fn note_bare(&mut self, ce: bool) {
        self.ack_now |= self.echoed.arrive_bare(ce);
    }

    /// Move the end of the buffer to byte `until`, because the application has read up to byte `until` minus the
    /// size of the buffer. Send a window update if the window at least doubles.
    pub fn make_room(&mut self, until: u64, out: &mut Vec<Segment>) {
        if self.window.make_room(self.delivered_bytes, until) {
            self.send_ack(out);
        }
    }

    /// The window in a SYN-ACK, bytes.
    pub fn first_window(&self) -> u32 {
        self.window.unscaled()
    }

    /// Memory of out-of-order packets.
    fn waiting(&self) -> Space {
        self.window.space(self.out_of_order_bytes, self.out_of_order.len())
    }

    /// Extent of out-of-order data beyond the last in-order packet, bytes.
    fn beyond(&self) -> u64 {
        self.out_of_order.end().map_or(0, |end| u64::from(end - self.next) * u64::from(self.config.mss))
    }
}

impl RttGuess {
    fn guess(&mut self, now: Time) -> Option<Duration> {
        let rtt = now.since(self.answered.take()?);
        self.rtt = Some(rtt);
        self.rtt
    }

    /// RTT sample from data with a one-way delay of `one_way_us`.
    fn sample(&mut self, one_way_us: u32) -> Option<Duration> {
        let micros = |rtt: Duration| (rtt.as_nanos() / 1_000) as u32;
        if self.back_us.is_none() {
            self.back_us = self.rtt.map(|rtt| micros(rtt).saturating_sub(one_way_us));
        }
        self.back_us.map(|back_us| Duration::from_micros(u64::from(back_us) + u64::from(one_way_us)))
    }
}
