//! Bytes of a script as packets of the model. The model numbers packets, and every packet has fixed bytes.

use crate::script::Packet;
use std::collections::BTreeSet;

/// Packets of a peer that the model tells apart. Gaps between segments count as packets, and a window has 2^30 bytes.
const MOST_PACKETS: usize = 1 << 20;

/// Bytes of one packet. Byte 1 is the first of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: u64,
    pub end: u64,
    pub fin: bool,
}

/// The packets of one direction, in order.
#[derive(Debug, Default)]
pub(crate) struct Numbering(Vec<Span>);

impl Numbering {
    /// Packets of a peer whose segments have these bytes. A packet ends wherever one of the segments begins or ends, and
    /// has at most `mss` bytes. Packets after the first [`MOST_PACKETS`] are left out.
    pub fn of_peer<'a>(segments: impl Iterator<Item = &'a Packet>, mss: u64) -> Numbering {
        let (mut cuts, mut plain_ends, mut fin) = (BTreeSet::from([1]), BTreeSet::new(), None);
        for segment in segments.filter(|segment| !segment.is_syn() && !segment.has_flag('R')) {
            let (start, end) = segment.bytes;
            if end > start {
                cuts.extend([start, end]);
            }
            if segment.has_flag('F') {
                fin = Some((end, end > start));
                cuts.insert(end.max(1));
            } else {
                plain_ends.insert(end);
            }
        }
        // A FIN that joins data which has also come without it is a packet of its own.
        let fin = fin.map(|(end, rides)| (end, rides && !plain_ends.contains(&end)));
        let mut spans = Vec::new();
        for (&from, &to) in cuts.iter().zip(cuts.iter().skip(1)) {
            let starts = (from..to).step_by(mss.max(1) as usize);
            let left = MOST_PACKETS - spans.len();
            spans.extend(starts.take(left).map(|start| Span { start, end: to.min(start + mss), fin: false }));
        }
        match fin {
            Some((end, true)) => {
                spans.iter_mut().filter(|span| span.end == end).for_each(|span| span.fin = true)
            }
            Some((end, false)) => spans.push(Span { start: end, end, fin: true }),
            None => {}
        }
        Numbering(spans)
    }

    /// Record a sent packet, and return its bytes. A retransmission has the bytes of the first transmission.
    pub fn record(&mut self, seq: u32, len: u16, fin: bool) -> Span {
        if seq as usize == self.0.len() {
            let start = self.0.last().map_or(1, |last| last.end);
            self.0.push(Span { start, end: start + u64::from(len), fin });
        }
        self.0[seq as usize]
    }

    /// Number of packets.
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// The bytes of a packet.
    pub fn span(&self, seq: u32) -> Span {
        self.0[seq as usize]
    }

    /// The byte that acknowledges the first `count` packets. A FIN takes one number.
    pub fn acknowledgement(&self, count: u32) -> u64 {
        let last = (count as usize).checked_sub(1).and_then(|last| self.0.get(last));
        last.map_or(1, |span| span.end + u64::from(span.fin))
    }

    /// The first byte of a packet that may not have been sent yet.
    pub fn start(&self, seq: u32) -> u64 {
        self.0.get(seq as usize).map_or_else(|| self.acknowledgement(self.len()), |span| span.start)
    }

    /// Number of packets before a byte.
    ///
    /// # Errors
    /// If the byte is inside a packet or was never sent.
    pub fn packets_before(&self, byte: u64) -> Result<u32, String> {
        if byte <= 1 {
            return Ok(0);
        }
        for (count, span) in (1..).zip(&self.0) {
            if byte == span.start {
                return Ok(count - 1);
            }
            if byte < span.end {
                return Err(format!(
                    "an acknowledgement of byte {byte}, which is inside a packet of the model"
                ));
            }
            let before_fin =
                self.0.get(count as usize).is_some_and(|next| next.fin && next.start == next.end);
            if byte == span.end + u64::from(span.fin) && !(before_fin && byte > span.end) {
                return Ok(count);
            }
        }
        Err(format!("an acknowledgement of byte {byte}, which was never sent"))
    }

    /// Packets that a segment with these bytes contains. A FIN that is a packet of its own belongs to a segment with
    /// `fin` that ends before it.
    pub fn within(&self, (start, end): (u64, u64), fin: bool) -> Vec<u32> {
        let contains = |span: &Span| match span.start == span.end {
            true => fin && span.start == end,
            false => start <= span.start && span.end <= end,
        };
        (0..).zip(&self.0).filter(|(_, span)| contains(span)).map(|(seq, _)| seq).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    fn peer(lines: &str) -> Numbering {
        let script = Script::parse(lines).unwrap();
        Numbering::of_peer(script.injected(), 1_000)
    }

    #[test]
    fn packets_end_where_any_segment_ends() {
        let peer = peer("0 < . 1:3001(3000) ack 1\n0 < . 1501:2001(500) ack 1\n0 < F. 3001:3001(0) ack 1");
        let bytes: Vec<_> = (0..peer.len()).map(|seq| (peer.span(seq).start, peer.span(seq).end)).collect();
        assert_eq!(bytes, [(1, 1001), (1001, 1501), (1501, 2001), (2001, 3001), (3001, 3001)]);
        assert_eq!(peer.within((1, 2001), false), [0, 1, 2]);
        assert_eq!(peer.within((3001, 3001), true), [4]);
        assert_eq!(peer.acknowledgement(5), 3002);
    }

    #[test]
    fn a_fin_may_ride_on_data() {
        let peer = peer("0 < F. 1:11(10) ack 1");
        assert_eq!((peer.len(), peer.span(0).fin, peer.acknowledgement(1)), (1, true, 12));
    }

    #[test]
    fn acknowledgements_name_packets_at_their_ends() {
        let mut ours = Numbering::default();
        ours.record(0, 1_000, false);
        ours.record(1, 500, false);
        ours.record(2, 0, true);
        ours.record(0, 1_000, false);
        assert_eq!([1, 1_001, 1_501, 1_502].map(|byte| ours.packets_before(byte)), [0, 1, 2, 3].map(Ok));
        assert!(ours.packets_before(500).unwrap_err().contains("inside"));
        assert!(ours.packets_before(1_503).unwrap_err().contains("never"));
    }
}
