//! Segments that the two endpoints of a connection exchange.

use units::{Duration, Time};

/// Up to three ranges of packet numbers `[start, end)`, most recent first (RFC 2018). The timestamps option
/// leaves room for three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(Rust, packed(2))] // no padding, so that the discriminant of `Segment` fits into 40 bytes
pub struct SackBlocks {
    starts: [u32; 3],
    lengths: [u16; 3],
}

impl SackBlocks {
    /// Take the first three non-empty blocks, in their order. A block longer than 65,535 packets is reduced to its last
    /// 65,535 packets, because earlier ACKs have reported the others.
    #[inline]
    pub fn from_ranges(blocks: impl IntoIterator<Item = (u32, u32)>) -> SackBlocks {
        let (mut starts, mut lengths) = ([0; 3], [0; 3]);
        for (place, (start, end)) in (0..3).zip(blocks.into_iter().filter(|(start, end)| start < end)) {
            let length = (end - start).min(u32::from(u16::MAX));
            (starts[place], lengths[place]) = (end - length, length as u16);
        }
        SackBlocks { starts, lengths }
    }

    /// Take the first three blocks. No block may be empty.
    pub(crate) fn from_first(blocks: &[(u32, u32)]) -> SackBlocks {
        let (mut starts, mut lengths) = ([0; 3], [0; 3]);
        for (place, &(start, end)) in blocks.iter().take(3).enumerate() {
            let length = (end - start).min(u32::from(u16::MAX));
            (starts[place], lengths[place]) = (end - length, length as u16);
        }
        SackBlocks { starts, lengths }
    }

    /// The blocks in their order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let (starts, lengths) = (self.starts, self.lengths);
        let block = move |n: usize| (lengths[n] > 0).then(|| (starts[n], starts[n] + u32::from(lengths[n])));
        (0..3).map_while(block)
    }

    /// Whether one of the blocks is exactly this range.
    #[inline]
    pub fn has(&self, start: u32, end: u32) -> bool {
        let (starts, lengths, length) = (self.starts, self.lengths, end.wrapping_sub(start));
        // Compares all three blocks without branches.
        (0..3).fold(false, |has, n| has | ((starts[n] == start) & (u32::from(lengths[n]) == length)))
    }

    /// The packet by which the first block has grown since `before`; `None` if the blocks are equal or differ in
    /// any other way.
    #[inline]
    pub fn grown_since(&self, before: &SackBlocks) -> Option<u32> {
        let (starts, [first, second, third]) = (self.starts, self.lengths);
        let (old_starts, [old_first, old_second, old_third]) = (before.starts, before.lengths);
        let grows = old_first > 0 && first == old_first.wrapping_add(1);
        let is_same = starts == old_starts && second == old_second && third == old_third;
        (grows && is_same).then(|| starts[0] + u32::from(old_first))
    }

    /// Extend the first block by one packet; false if the block had the maximum length.
    #[inline]
    pub fn grow_first(&mut self) -> bool {
        let [first, second, third] = self.lengths;
        self.lengths = [first.saturating_add(1), second, third];
        first < u16::MAX
    }

    /// Whether there are no blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.lengths[0] == 0
    }

    /// Packets in all blocks.
    fn packets(&self) -> u64 {
        let lengths = self.lengths;
        lengths.into_iter().map(u64::from).sum()
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        match self.lengths {
            [0, ..] => 0,
            [_, 0, _] => 1,
            [_, _, 0] => 2,
            _ => 3,
        }
    }
}

/// Room for options in the TCP header, bytes.
const MOST_OPTION_BYTES: u16 = 40;
/// Bytes of the timestamps option, padded to whole words.
const STAMP_BYTES: u16 = 12;
/// Bytes of the AccECN option with its three counters, padded to whole words (RFC 9768 section 3.2.3).
pub const ACCECN_OPTION_BYTES: u16 = 12;

/// One TCP segment. Packets are numbered from 0. Every packet has a full MSS of payload unless the application had less
/// to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Opens the connection.
    Syn {
        /// Sender's timestamp, in the sender's clock units.
        stamp: u32,
    },
    /// Answers `Syn`.
    SynAck {
        /// The `Syn`'s timestamp echoed.
        echo: u32,
        /// Sender's timestamp, in the sender's clock units.
        stamp: u32,
        /// Receive window in bytes.
        window: u32,
    },
    /// Answers `SynAck` and completes the handshake.
    HandshakeAck {
        /// Sender's timestamp, in the sender's clock units.
        stamp: u32,
        /// The `SynAck`'s timestamp echoed.
        echo: u32,
        /// Receive window in bytes; 0 from an end that receives no data.
        window: u32,
    },
    /// Carries payload, or a FIN, or both.
    Data {
        /// Packet number.
        seq: u32,
        /// Payload bytes; 0 for a FIN without data.
        len: u16,
        /// Whether this is the last packet of a burst of several packets. Linux sets PSH in this packet, and a Linux
        /// receiver acknowledges the packet immediately.
        push: bool,
        /// Whether this is a retransmission.
        again: bool,
        /// Whether the sender has reduced its window in answer to an echoed mark (RFC 3168 CWR).
        cwr: bool,
        /// Whether this is the last packet of the connection.
        fin: bool,
        /// Sender's timestamp, in the sender's clock units.
        stamp: u32,
        /// Send time, microseconds modulo 2^32. TCP has no such field. The simulation has it because the two ends
        /// of a simulated path share a clock.
        sent_us: u32,
        /// The piggybacked acknowledgement, on connections that carry data both ways.
        riding: Option<Riding>,
    },
    /// Acknowledges data and carries no data.
    Ack {
        /// Every packet below this number has arrived.
        ack: u32,
        /// Timestamp echoed (RFC 7323 rules).
        echo: u32,
        /// Receive window in bytes, from `ack` on.
        window: u32,
        /// One-way delay of the data packet that arrived last, microseconds. TCP has no such field.
        one_way_us: u32,
        /// CE-marked packets received so far, modulo 2^16.
        ce_count: u16,
        /// ECN-Echo (RFC 3168).
        ece: bool,
        /// Whether the first block reports a duplicate (RFC 2883).
        dsack: bool,
        /// Selective acknowledgements.
        sacks: SackBlocks,
    },
}

// Segments are kept small because a segment is copied at every hop.
const _: () = assert!(size_of::<Segment>() == 40);

/// The acknowledgement of one direction, piggybacked on data of the other direction. It has no SACK blocks, which are
/// sent in a separate segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Riding {
    /// Every packet below this number has arrived.
    pub ack: u32,
    /// Timestamp echoed.
    pub echo: u32,
    /// Receive window in bytes.
    pub window: u32,
    /// One-way delay of the data packet that arrived last, microseconds.
    pub one_way_us: u32,
    /// CE-marked packets received so far, modulo 2^16.
    pub ce_count: u16,
    /// ECN-Echo (RFC 3168).
    pub ece: bool,
}

impl Riding {
    /// The same acknowledgement as a separate segment.
    pub fn alone(self) -> Segment {
        let Riding { ack, echo, window, one_way_us, ce_count, ece } = self;
        let sacks = SackBlocks::default();
        Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, dsack: false, sacks }
    }
}

/// Room for options other than timestamps, bytes.
fn room_for_options(timestamps: bool) -> u16 {
    if timestamps { MOST_OPTION_BYTES - STAMP_BYTES } else { MOST_OPTION_BYTES }
}

/// Bytes by which the options of a handshake segment exceed the options of a data packet.
fn opening_bytes(timestamps: bool) -> u16 {
    if timestamps { 8 } else { 12 }
}

#[cfg(test)]
impl Segment {
    /// New data without flags.
    pub(crate) fn plain_data(seq: u32, len: u16, stamp: u32) -> Segment {
        let (push, again, cwr, fin, sent_us, riding) = (false, false, false, false, 0, None);
        Segment::Data { seq, len, push, again, cwr, fin, stamp, sent_us, riding }
    }
}

impl Segment {
    /// Payload bytes.
    pub fn payload(&self) -> u16 {
        match self {
            Segment::Data { len, .. } => *len,
            _ => 0,
        }
    }

    /// The acknowledgement in an ACK or on data, without SACK blocks.
    pub fn acknowledgement(&self) -> Option<Riding> {
        match *self {
            Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, .. } => {
                Some(Riding { ack, echo, window, one_way_us, ce_count, ece })
            }
            Segment::Data { riding, .. } => riding,
            _ => None,
        }
    }

    /// One-way delay of the payload so far, to the microsecond; `None` without payload.
    #[inline]
    pub fn one_way(&self, now: Time) -> Option<Duration> {
        match *self {
            Segment::Data { len: 1.., sent_us, .. } => {
                Some(Duration::from_micros(micros(now).wrapping_sub(sent_us).into()))
            }
            _ => None,
        }
    }

    /// Whether the segment is in the scoreboard of its sender: it carries payload or a FIN.
    pub fn is_data(&self) -> bool {
        matches!(self, Segment::Data { .. })
    }

    /// Bytes of options in the header, except timestamps.
    ///
    /// - SYN and SYN-ACK: MSS and window scale. SACK-permitted fits into the padding of timestamps (Linux
    ///   `tcp_syn_options`).
    /// - SACK: two bytes for kind and length, two bytes of padding, and eight bytes per block (RFC 2018; Linux
    ///   `tcp_established_options`).
    /// - AccECN: `accecn` bytes in every segment except a SYN, or the room left if that is less (Linux
    ///   `tcp_options_fit_accecn`). Linux may drop a third SACK block to make room, which is not modelled.
    pub fn option_bytes(&self, timestamps: bool, accecn: u16) -> u16 {
        match self {
            Segment::Data { .. } => accecn,
            Segment::Ack { sacks, .. } if !sacks.is_empty() => {
                (4 + 8 * sacks.len() as u16 + accecn).min(room_for_options(timestamps))
            }
            Segment::Syn { .. } => opening_bytes(timestamps),
            Segment::SynAck { .. } => opening_bytes(timestamps) + accecn,
            _ => accecn,
        }
    }

    /// Whether the segment is a bare cumulative ACK, which any later ACK of its flow supersedes.
    pub fn is_plain_ack(&self) -> bool {
        matches!(self, Segment::Ack { ece: false, dsack: false, sacks, .. } if sacks.iter().next().is_none())
    }

    /// Whether the `younger` ACK conveys all information of this ACK. A duplicate ACK is itself a signal, so it is
    /// redundant only if the younger ACK has more SACKed packets.
    pub fn is_redundant(&self, younger: &Segment) -> bool {
        let (
            Segment::Ack { ack, ece, dsack: false, sacks, .. },
            Segment::Ack { ack: newer, ece: still, sacks: covering, .. },
        ) = (self, younger)
        else {
            return false;
        };
        let covered = |(start, end): (u32, u32)| {
            end <= *newer || covering.iter().any(|(from, until)| from <= start.max(*newer) && end <= until)
        };
        let says_more = newer > ack || (newer == ack && covering.packets() > sacks.packets());
        ece == still && says_more && sacks.iter().all(covered)
    }
}

/// The time on the clock of the timestamps option: milliseconds, as in Linux.
pub(crate) fn stamp(now: Time) -> u32 {
    now.as_millis() as u32
}

/// The time on the clock that both ends share: microseconds, modulo 2^32.
#[inline]
pub(crate) fn micros(now: Time) -> u32 {
    now.as_micros() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(ack: u32, blocks: &[(u32, u32)]) -> Segment {
        let sacks = SackBlocks::from_ranges(blocks.iter().copied());
        Segment::Ack { ack, echo: 0, window: 0, one_way_us: 0, ce_count: 0, ece: false, dsack: false, sacks }
    }

    #[test]
    fn a_higher_acknowledgement_makes_a_lower_one_redundant() {
        assert!(ack(5, &[]).is_redundant(&ack(6, &[])));
        assert!(ack(5, &[(6, 8)]).is_redundant(&ack(9, &[])));
        assert!(ack(5, &[(8, 10)]).is_redundant(&ack(6, &[(7, 11)])));
        assert!(!ack(6, &[]).is_redundant(&ack(5, &[])));
        assert!(!ack(5, &[(8, 10)]).is_redundant(&ack(6, &[(20, 30)])));
    }

    #[test]
    fn an_acknowledgement_is_plain_that_reports_nothing_but_progress() {
        assert!(ack(5, &[]).is_plain_ack());
        assert!(!ack(5, &[(7, 8)]).is_plain_ack());
        assert!(!Segment::Syn { stamp: 0 }.is_plain_ack());
    }

    #[test]
    fn selective_acknowledgements_take_room_in_the_header() {
        let sizes = [&[][..], &[(7, 8)], &[(7, 8), (9, 12), (20, 21)]]
            .map(|blocks| ack(5, blocks).option_bytes(true, 0));
        assert_eq!(sizes, [0, 12, 28]);
    }

    #[test]
    fn the_accecn_option_takes_what_selective_acknowledgements_leave() {
        let sizes = [&[][..], &[(7, 8)], &[(7, 8), (9, 12)], &[(7, 8), (9, 12), (20, 21)]]
            .map(|blocks| ack(5, blocks).option_bytes(true, ACCECN_OPTION_BYTES));
        assert_eq!(sizes, [12, 24, 28, 28]);
        let opening = [Segment::Syn { stamp: 0 }, Segment::SynAck { echo: 0, stamp: 0, window: 0 }];
        assert_eq!(opening.map(|segment| segment.option_bytes(true, ACCECN_OPTION_BYTES)), [8, 20]);
    }

    #[test]
    fn a_duplicate_counts_unless_selective_acknowledgements_grow() {
        assert!(!ack(5, &[]).is_redundant(&ack(5, &[])));
        assert!(!ack(5, &[(7, 8)]).is_redundant(&ack(5, &[(7, 8)])));
        assert!(ack(5, &[(7, 8)]).is_redundant(&ack(5, &[(7, 9)])));
    }

    #[test]
    fn an_echoed_mark_and_data_are_never_redundant() {
        let mut echo = ack(5, &[]);
        if let Segment::Ack { ece, .. } = &mut echo {
            *ece = true;
        }
        assert!(!echo.is_redundant(&ack(6, &[])));
        assert!(!Segment::Syn { stamp: 0 }.is_redundant(&ack(6, &[])));
    }

    #[test]
    fn three_blocks_fit_and_an_empty_one_takes_no_room() {
        let blocks = SackBlocks::from_ranges([(5, 9), (3, 3), (1, 2), (20, 30), (40, 50)]);
        assert_eq!(blocks.iter().collect::<Vec<_>>(), [(5, 9), (1, 2), (20, 30)]);
        assert!([(5, 9), (1, 2), (20, 30)].iter().all(|&(start, end)| blocks.has(start, end)));
        assert!(![(5, 8), (4, 9), (40, 50)].iter().any(|&(start, end)| blocks.has(start, end)));
    }

    #[test]
    fn a_first_block_that_grows_by_a_packet_reports_that() {
        let blocks = |first: (u32, u32)| SackBlocks::from_ranges([first, (1, 2)]);
        assert_eq!(blocks((5, 9)).grown_since(&blocks((5, 8))), Some(8));
        for other in [(5, 9), (5, 7), (4, 8), (6, 6)] {
            assert_eq!(blocks((5, 9)).grown_since(&blocks(other)), None, "{other:?}");
        }
        let mut grown = blocks((5, 8));
        assert!(grown.grow_first() && grown == blocks((5, 9)));
        assert!(!SackBlocks::from_ranges([(10, 100_000)]).grow_first());
    }

    #[test]
    fn a_very_long_block_keeps_its_end() {
        let blocks = SackBlocks::from_ranges([(10, 100_000)]);
        assert_eq!(blocks.iter().collect::<Vec<_>>(), [(34_465, 100_000)]);
    }
}
