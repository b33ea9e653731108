//! The receiving half of a connection: reassembly, selective acknowledgements, and when to acknowledge
//! (Linux `__tcp_ack_snd_check`, `tcp_data_queue`; RFC 5681 section 4.2, RFC 2018, RFC 2883).

use crate::feedback::Echo;
use crate::gro::Gro;
use crate::segment::micros;
use crate::{Feedback, RangeSet, SackBlocks, Segment};
use units::{Duration, Time};

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// As Linux does: every packet at first, then every second one and every end of a burst, or after 40 ms;
    /// at once when something is missing, with compression of long runs of duplicates.
    Linux,
    /// Every `packets` in-order packets, or `timeout` after the first unacknowledged one; at once when
    /// something is missing (RFC 5681; ns-3's DelAckCount).
    Every {
        /// In-order packets per acknowledgement.
        packets: u32,
        /// Longest delay.
        timeout: Duration,
    },
}

/// How a receiver is set up.
#[derive(Clone, Debug)]
pub struct ReceiverConfig {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// When to acknowledge.
    pub ack: AckPolicy,
    /// How marks are told to the sender.
    pub ecn: Feedback,
    /// Merge packets that arrive within this time before they are looked at (GRO); `None`: look at each at once.
    pub gro: Option<Duration>,
    /// Hold back duplicate ACKs for up to a millisecond (Linux does).
    pub sack_compression: bool,
    /// Receive buffer in bytes of payload: the window it advertises; `None`: no bound.
    pub buffer: Option<u64>,
}

/// Packets acknowledged one by one while Linux opens the receive window: it grows by two segments a packet,
/// here by the 2 MB that a 16 MiB buffer leaves to be opened.
const OPENING_PACKETS: u64 = 680;
/// Quick ACKs after a duplicate arrived.
const QUICK_ACKS: u32 = 16;
const DELAYED_ACK: Duration = Duration::from_millis(40);
/// Duplicate ACKs sent at once before compression begins, and the most that one ACK may stand for.
const UNCOMPRESSED: u32 = 3;
const MOST_COMPRESSED: u32 = 44;
/// Blocks that one ACK is sure to carry, beside a duplicate report.
const BLOCKS_EXPECTED: usize = 2;
/// Longest compression; shorter on paths below 3 ms: a third of the RTT (sysctl tcp_comp_sack_rtt_percent, 33 since
/// Linux 6.19).
const COMPRESSION: Duration = Duration::from_millis(1);
const COMPRESSION_PERCENT: u64 = 33;

/// The receiving half of a connection.
pub struct Receiver {
    config: ReceiverConfig,
    next: u32,
    delivered_bytes: u64,
    received: u64,
    duplicates: u64,
    out_of_order: RangeSet,
    /// Payload lengths of packets beyond `next` that are not a full MSS.
    short: Vec<(u32, u16)>,
    /// Ranges in the order in which they last grew, newest first.
    recent: Vec<(u32, u32)>,
    dsack: Option<(u32, u32)>,
    unacked: u32,
    quick: u32,
    ack_now: bool,
    delayed_at: Time,
    compressed: u32,
    compressed_at: Time,
    uncompressed: u32,
    uncompressed_next: u32,
    echo: u32,
    one_way_us: u32,
    rtt: RttGuess,
    echoed: Echo,
    gro: Option<Gro>,
}

/// A receiver's idea of the RTT: from the SYN-ACK to the first data.
#[derive(Debug, Default)]
struct RttGuess {
    answered: Option<Time>,
    rtt: Option<Duration>,
}

impl Receiver {
    /// A receiver that waits for a SYN.
    ///
    /// # Panics
    /// If the MSS is 0 or the buffer smaller than one MSS: nothing could ever be received.
    pub fn new(config: ReceiverConfig) -> Receiver {
        assert!(config.mss > 0, "an MSS of 0");
        assert!(config.buffer.is_none_or(|b| b >= u64::from(config.mss)), "a receive buffer below one MSS");
        Receiver {
            echoed: Echo::new(config.ecn),
            gro: config.gro.map(|delay| Gro::new(delay, config.mss)),
            config,
            next: 0,
            delivered_bytes: 0,
            received: 0,
            duplicates: 0,
            out_of_order: RangeSet::default(),
            short: Vec::new(),
            recent: Vec::with_capacity(8),
            dsack: None,
            unacked: 0,
            quick: QUICK_ACKS,
            ack_now: false,
            delayed_at: Time::NEVER,
            compressed: 0,
            compressed_at: Time::NEVER,
            uncompressed: 0,
            uncompressed_next: 0,
            echo: 0,
            one_way_us: 0,
            rtt: RttGuess::default(),
        }
    }

    /// How it was set up.
    pub fn config(&self) -> &ReceiverConfig {
        &self.config
    }

    /// In-order payload bytes handed to the application.
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

    /// When the receiver wants `on_timer` called; `Time::NEVER` if it does not.
    pub fn next_timer(&self) -> Time {
        let batch = self.gro.as_ref().map_or(Time::NEVER, Gro::due);
        self.ack_timer().min(batch)
    }

    fn ack_timer(&self) -> Time {
        self.delayed_at.min(self.compressed_at)
    }

    /// Sends what was held back long enough. Harmless if nothing was.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.gro.as_ref().is_some_and(|gro| gro.due() <= now) {
            let batch = self.gro.as_mut().map(Gro::take).unwrap_or_default();
            for (segment, ce, more) in batch {
                self.on_data(now, &segment, ce, more, out);
            }
        }
        if self.ack_timer() <= now {
            self.send_ack(out);
        }
    }

    /// Digests an arriving segment; `ce`: it was marked on the way.
    pub fn on_segment(&mut self, now: Time, segment: &Segment, ce: bool, out: &mut Vec<Segment>) {
        match *segment {
            Segment::Syn { stamp } => {
                self.rtt.answered = Some(now);
                out.push(Segment::SynAck { echo: stamp, window: self.window() });
            }
            Segment::Data { .. } => match &mut self.gro {
                Some(gro) => gro.hold(now, *segment, ce),
                None => self.on_data(now, segment, ce, false, out),
            },
            _ => {}
        }
    }

    /// Digests a data packet; `more`: it is looked at together with the next one.
    fn on_data(&mut self, now: Time, segment: &Segment, ce: bool, more: bool, out: &mut Vec<Segment>) {
        let Segment::Data { seq, len, push, cwr, stamp, sent_us, .. } = *segment else { return };
        self.received += 1;
        self.one_way_us = micros(now).wrapping_sub(sent_us);
        self.rtt.guess(now);
        self.note_ecn(ce, cwr, out);
        self.release_before_losing_blocks(seq, out);
        self.take(seq, len, stamp);
        if !more {
            self.decide(now, push, out);
        }
    }

    fn note_ecn(&mut self, ce: bool, cwr: bool, out: &mut Vec<Segment>) {
        let wanted = self.echoed.arrive(ce, cwr);
        if wanted.flush && self.delayed_at != Time::NEVER {
            self.send_ack(out);
        }
        self.echoed.turn(ce);
        self.quick = self.quick.max(wanted.quick);
        self.ack_now |= wanted.now;
    }

    /// A packet that opens a third block, or grows an old one, would push a block out of the next ACK: send the
    /// ACK held back before that happens.
    fn release_before_losing_blocks(&mut self, seq: u32, out: &mut Vec<Segment>) {
        if self.compressed == 0 || seq <= self.next || self.out_of_order.find(seq).is_some() {
            return;
        }
        let grows = self.recent.iter().position(|r| r.0 == seq + 1 || r.1 == seq);
        if grows.unwrap_or(self.recent.len()) >= BLOCKS_EXPECTED {
            self.send_ack(out);
        }
    }

    /// Files a packet: in order, beyond a hole, or a duplicate.
    fn take(&mut self, seq: u32, len: u16, stamp: u32) {
        let known = self.out_of_order.find(seq);
        if seq + 1 == self.next && self.unacked == 0 {
            self.echo = stamp; // a duplicate of what was acknowledged last is as recent (RFC 7323)
        }
        if seq < self.next || known.is_some() {
            self.duplicates += 1;
            self.dsack = Some((seq, seq + 1));
            if seq < self.next {
                self.quick = self.quick.max(QUICK_ACKS);
                self.ack_now = true;
            }
            return;
        }
        if seq > self.next {
            if u32::from(len) != self.config.mss {
                self.short.push((seq, len));
            }
            let range = self.out_of_order.insert(seq, seq + 1);
            self.remember(range);
            return;
        }
        if self.unacked == 0 {
            self.echo = stamp; // RFC 7323: the oldest segment not yet acknowledged
        }
        self.advance(len);
    }

    fn advance(&mut self, len: u16) {
        let mut bytes = u64::from(len);
        let mut end = self.next + 1;
        if let Some((start, stop)) = self.out_of_order.first().filter(|r| r.0 == end) {
            bytes += self.bytes_of(start, stop);
            end = stop;
            self.out_of_order.remove_below(end);
            self.recent.retain(|r| r.0 >= end);
            self.ack_now |= self.out_of_order.is_empty(); // the last hole is filled: say so at once
        }
        self.unacked += end - self.next;
        self.next = end;
        self.delivered_bytes += bytes;
    }

    fn bytes_of(&mut self, start: u32, stop: u32) -> u64 {
        let mss = u64::from(self.config.mss);
        let mut bytes = u64::from(stop - start) * mss;
        self.short.retain(|&(seq, len)| {
            let inside = (start..stop).contains(&seq);
            if inside {
                bytes = bytes - mss + u64::from(len);
            }
            !inside
        });
        bytes
    }

    /// Moves a grown range to the front of the SACK blocks.
    fn remember(&mut self, range: (u32, u32)) {
        self.recent.retain(|r| r.1 <= range.0 || r.0 >= range.1);
        self.recent.insert(0, range);
        self.recent.truncate(4);
    }

    /// Acknowledge now, or later?
    fn decide(&mut self, now: Time, push: bool, out: &mut Vec<Segment>) {
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
                    AckPolicy::Linux => DELAYED_ACK,
                    AckPolicy::Every { timeout, .. } => timeout,
                };
        }
    }

    fn linux_wants_ack(&mut self, push: bool) -> bool {
        if self.received <= OPENING_PACKETS {
            self.quick = self.quick.max(1);
        }
        let end_of_burst = push && self.unacked > 0;
        self.unacked > 1 || end_of_burst || self.quick > 0
    }

    /// Something is missing: the first duplicates go at once, later ones may be compressed into one.
    fn acknowledge_duplicate(&mut self, now: Time, out: &mut Vec<Segment>) {
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

    fn window(&self) -> u32 {
        self.config.buffer.map_or(u32::MAX, |b| b.min(u64::from(u32::MAX)) as u32)
    }

    fn send_ack(&mut self, out: &mut Vec<Segment>) {
        let mut sacks = SackBlocks::default();
        if let Some((start, end)) = self.dsack {
            sacks.push(start, end);
        }
        for &(start, end) in &self.recent {
            sacks.push(start, end);
        }
        out.push(Segment::Ack {
            ack: self.next,
            echo: self.echo,
            window: self.window(),
            one_way_us: self.one_way_us,
            ce_count: self.echoed.count,
            ece: self.echoed.ece,
            dsack: self.dsack.is_some(),
            sacks,
        });
        self.echoed.reported();
        self.dsack = None;
        self.unacked = 0;
        self.ack_now = false;
        self.quick = self.quick.saturating_sub(1);
        self.compressed = 0;
        self.delayed_at = Time::NEVER;
        self.compressed_at = Time::NEVER;
    }
}

impl RttGuess {
    fn guess(&mut self, now: Time) {
        if let Some(answered) = self.answered.take() {
            self.rtt = Some(now.since(answered));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(ack: AckPolicy) -> Receiver {
        Receiver::new(ReceiverConfig {
            mss: 1448,
            ack,
            ecn: Feedback::Off,
            gro: None,
            sack_compression: true,
            buffer: None,
        })
    }

    fn every(packets: u32) -> AckPolicy {
        AckPolicy::Every { packets, timeout: Duration::from_millis(200) }
    }

    fn deliver(r: &mut Receiver, at_us: u64, seq: u32) -> Vec<Segment> {
        let mut out = Vec::new();
        r.on_segment(Time::from_nanos(at_us * 1_000), &data(seq), false, &mut out);
        out
    }

    fn data(seq: u32) -> Segment {
        Segment::Data { seq, len: 1448, push: false, again: false, cwr: false, stamp: 0, sent_us: 0 }
    }

    fn blocks(segment: &Segment) -> (u32, Vec<(u32, u32)>) {
        let Segment::Ack { ack, sacks, .. } = segment else { panic!("{segment:?}") };
        (*ack, sacks.iter().collect())
    }

    #[test]
    fn every_second_packet_is_acknowledged_and_a_lone_one_after_the_timeout() {
        let mut r = receiver(every(2));
        assert!(deliver(&mut r, 0, 0).is_empty());
        assert_eq!(blocks(&deliver(&mut r, 1, 1)[0]), (2, vec![]));
        assert!(deliver(&mut r, 2, 2).is_empty());
        assert_eq!(r.next_timer(), Time::from_nanos(200_002_000));
        let mut out = Vec::new();
        r.on_timer(r.next_timer(), &mut out);
        assert_eq!(blocks(&out[0]), (3, vec![]));
    }

    #[test]
    fn a_hole_is_reported_at_once_newest_block_first() {
        let mut r = receiver(every(2));
        assert_eq!(blocks(&deliver(&mut r, 0, 3)[0]), (0, vec![(3, 4)]));
        assert_eq!(blocks(&deliver(&mut r, 1, 1)[0]), (0, vec![(1, 2), (3, 4)]));
        assert_eq!(blocks(&deliver(&mut r, 2, 2)[0]), (0, vec![(1, 4)]));
        assert_eq!(blocks(&deliver(&mut r, 3, 0)[0]), (4, vec![]));
        assert_eq!(r.delivered_bytes(), 4 * 1448);
    }

    #[test]
    fn a_duplicate_is_reported_as_such() {
        let mut r = receiver(every(1));
        deliver(&mut r, 0, 0);
        let again = &deliver(&mut r, 1, 0)[0];
        assert!(matches!(again, Segment::Ack { dsack: true, .. }));
        assert_eq!(blocks(again), (1, vec![(0, 1)]));
        assert_eq!(r.duplicate_packets(), 1);
    }

    #[test]
    fn a_change_of_marks_is_acknowledged_at_once_and_what_came_before_as_it_was() {
        let mut r = receiver(every(2));
        r.echoed = Echo::new(Feedback::EveryMark);
        let mut arrive = |at_us: u64, seq, ce| -> Vec<(u32, bool)> {
            let mut out = Vec::new();
            r.on_segment(Time::from_nanos(at_us * 1_000), &data(seq), ce, &mut out);
            let told =
                |s: &Segment| if let Segment::Ack { ack, ece, .. } = s { (*ack, *ece) } else { panic!() };
            out.iter().map(told).collect()
        };
        assert_eq!(arrive(0, 0, false), []);
        assert_eq!(arrive(1, 1, true), [(1, false), (2, true)]);
        assert_eq!(arrive(2, 2, true), []);
        assert_eq!(arrive(3, 3, true), [(4, true)]);
        assert_eq!(arrive(4, 4, false), [(5, false)]); // nothing was waiting: one ACK will do
    }

    #[test]
    fn after_three_duplicates_compression_sends_one_ack_a_millisecond() {
        let mut r = receiver(every(1));
        let sent: usize = (1..=20).map(|seq| deliver(&mut r, u64::from(seq) * 10, seq).len()).sum();
        assert_eq!(sent, 3);
        assert_eq!(r.next_timer(), Time::from_nanos(40_000 + 1_000_000));
    }

    #[test]
    fn on_a_path_of_a_millisecond_compression_lasts_a_third_of_it() {
        let mut r = receiver(every(1));
        r.on_segment(Time::ZERO, &Segment::Syn { stamp: 0 }, false, &mut Vec::new());
        (1..=4).for_each(|seq| drop(deliver(&mut r, 1_000, seq)));
        assert_eq!(r.next_timer(), Time::from_nanos(1_000_000 + 330_000));
    }

    #[test]
    fn linux_acknowledges_every_packet_at_first_and_every_second_one_later() {
        let mut r = receiver(AckPolicy::Linux);
        let acks = |r: &mut Receiver, range: std::ops::Range<u32>| -> usize {
            range.map(|seq| deliver(r, u64::from(seq), seq).len()).sum()
        };
        assert_eq!(acks(&mut r, 0..600), 600);
        acks(&mut r, 600..800);
        assert_eq!(acks(&mut r, 800..1000), 100);
    }
}
