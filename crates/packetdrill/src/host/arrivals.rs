//! Packets of a script as segments of the model.

use super::{ACE_MASK, Departure, FIRST_ACE, Host, Sent};
use crate::clock::micros;
use crate::script::Packet;
use crate::verdict::Stop;
use tcp::{Feedback, Riding, SackBlocks, Segment};
use units::Duration;

/// ACE of the ACK of a handshake whose SYN-ACK arrived with a mark (RFC 9768 table 3).
const ACE_OF_MARKED_SYN_ACK: u8 = 6;
/// SACK blocks of a segment that the model can read.
const MOST_BLOCKS: usize = 3;

impl Host {
    /// Whether the connection is over and the host has forgotten it (LAST-ACK).
    fn is_over(&self) -> bool {
        self.peer_closed_first
            && self.connection.as_ref().is_some_and(|connection| connection.sender.is_closed())
    }

    /// Receive a packet of the script.
    pub fn receive(&mut self, packet: &Packet) -> Result<(), Stop> {
        if packet.has_flag('R') {
            return Stop::lacks("resets");
        }
        if packet.flags == "icmp" {
            return Stop::lacks("ICMP");
        }
        if packet.is_syn() {
            return self.receive_syn(packet);
        }
        let Some(connection) = &self.connection else { return Stop::lacks("a packet without a connection") };
        let Some(ack) = packet.ack else { return Stop::lacks("segments without an acknowledgement") };
        if self.is_over() {
            self.departures.push_back(Departure { at: self.now, sent: Sent::Reset { byte: ack } });
            return Ok(());
        }
        if packet.len() > 0 && packet.bytes.1 > self.window_end {
            return Stop::lacks("data beyond the window");
        }
        let was_established = connection.sender.is_established();
        let number = self.ours.packets_before(ack).map_err(Stop::NotApplicable)?;
        self.note_timestamp(packet);
        let is_bare = packet.len() == 0 && !packet.has_flag('F');
        let riding = self.riding(packet, number)?;
        let is_marked = packet.ecn.as_deref() == Some("ce");
        if !was_established {
            let (stamp, echo, window) = (self.peer_stamp(packet), riding.echo, riding.window);
            self.feed(Segment::HandshakeAck { stamp, echo, window }, is_marked && is_bare)?;
        } else if is_bare || !packet.sacks().is_empty() {
            let acknowledgement = self.acknowledgement(packet, riding)?;
            self.feed(acknowledgement, is_marked && is_bare)?;
        }
        if is_bare { Ok(()) } else { self.receive_data(packet, riding, is_marked) }
    }

    fn note_timestamp(&mut self, packet: &Packet) {
        let Some(connection) = self.connection.as_mut().filter(|connection| connection.terms.timestamps)
        else {
            return;
        };
        if let Some((stamp, _)) = packet.timestamps() {
            connection.sender.note_timestamp(stamp);
        }
    }

    fn receive_syn(&mut self, packet: &Packet) -> Result<(), Stop> {
        if packet.len() > 0 {
            return Stop::lacks("data in a SYN");
        }
        if packet.ecn.as_deref() == Some("ce") {
            return Stop::lacks("ECN marks of SYNs");
        }
        let (stamp, echo) = (self.peer_stamp(packet), self.echo(packet));
        if packet.ack.is_none() {
            if self.is_client {
                return Stop::lacks("simultaneous opening");
            }
            if self.connection.is_none() {
                self.build(packet)?;
            }
            return self.feed(Segment::Syn { stamp }, false);
        }
        let is_expected =
            self.connection.as_ref().is_some_and(|connection| !connection.sender.is_established());
        if !(self.is_client && is_expected) {
            return Stop::lacks("a SYN-ACK after the handshake");
        }
        let window = packet.window.unwrap_or(0) as u32;
        self.feed(Segment::SynAck { echo, stamp, window }, false)
    }

    fn riding(&mut self, packet: &Packet, ack: u32) -> Result<Riding, Stop> {
        let echo = self.echo(packet);
        let Some(connection) = &mut self.connection else {
            return Stop::lacks("a packet without a connection");
        };
        let feedback = connection.terms.feedback;
        if feedback == Feedback::Accurate && connection.sender.is_established() {
            let acked = ack.saturating_sub(self.acked);
            if acked > u32::from(ACE_MASK) && !packet.has_option("ECN") {
                return Stop::lacks("AccECN with the three-bit counter only");
            }
            let marks = u16::from(packet.ace()).wrapping_sub(FIRST_ACE + connection.marks);
            connection.marks += marks & ACE_MASK;
        } else if feedback == Feedback::Accurate && packet.ace() == ACE_OF_MARKED_SYN_ACK {
            return Stop::lacks("ECN marks of SYNs");
        }
        self.acked = self.acked.max(ack);
        let window = packet.window.unwrap_or(0) << connection.terms.window_scale;
        Ok(Riding {
            ack,
            echo,
            window: window as u32,
            one_way_us: 0,
            ce_count: connection.marks,
            ece: feedback != Feedback::Accurate && packet.has_flag('E'),
        })
    }

    fn acknowledgement(&self, packet: &Packet, riding: Riding) -> Result<Segment, Stop> {
        let blocks = packet.sacks();
        if blocks.len() > MOST_BLOCKS {
            return Stop::lacks("more than three SACK blocks");
        }
        let number = |byte| self.ours.packets_before(byte).map_err(Stop::NotApplicable);
        let ranges: Vec<(u32, u32)> = blocks
            .iter()
            .map(|&(start, end)| Ok((number(start)?, number(end)?)))
            .collect::<Result<_, Stop>>()?;
        let Some(connection) = &self.connection else { return Stop::lacks("a packet without a connection") };
        let is_duplicate = !connection.sender.awaits(riding.ack) && connection.sender.counters().unacked > 0;
        if !connection.terms.sack && (is_duplicate || !ranges.is_empty()) {
            return Stop::lacks("connections without SACK");
        }
        let Riding { ack, echo, window, one_way_us, ce_count, ece } = riding;
        let (dsack, sacks) = (packet.reports_duplicate(), SackBlocks::from_ranges(ranges));
        Ok(Segment::Ack { ack, echo, window, one_way_us, ce_count, ece, dsack, sacks })
    }

    fn receive_data(&mut self, packet: &Packet, riding: Riding, is_marked: bool) -> Result<(), Stop> {
        let numbers = self.peers.within(packet.bytes, packet.has_flag('F'));
        if numbers.is_empty() && packet.len() > 0 {
            return Stop::lacks("so many packets of a peer");
        }
        let is_classic =
            self.connection.as_ref().is_some_and(|connection| connection.terms.feedback == Feedback::Classic);
        let (stamp, sent_us) = (self.peer_stamp(packet), micros(self.now) as u32);
        for &seq in &numbers {
            let span = self.peers.span(seq);
            let is_last = Some(&seq) == numbers.last();
            let segment = Segment::Data {
                seq,
                len: (span.end - span.start) as u16,
                push: packet.has_flag('P') && is_last && numbers.len() > 1,
                again: false,
                cwr: is_classic && packet.has_flag('W'),
                fin: span.fin,
                stamp,
                sent_us,
                riding: Some(riding),
            };
            self.feed(segment, is_marked)?;
        }
        self.advance(self.now + Duration::from_nanos(1)) // the merged packet is complete
    }

    fn feed(&mut self, segment: Segment, is_marked: bool) -> Result<(), Stop> {
        self.drive(|endpoint, now, out| {
            endpoint.on_segment(now, &segment, is_marked, out);
        })
    }

    /// The timestamp of this host that a packet echoes.
    fn echo(&self, packet: &Packet) -> u32 {
        let echoed = packet.timestamps().and_then(|(_, echo)| self.stamps.get(&echo));
        echoed.copied().unwrap_or(self.stamp)
    }

    /// The timestamp of the peer in a packet; that of an earlier packet if a script leaves it out.
    fn peer_stamp(&mut self, packet: &Packet) -> u32 {
        self.peer_stamp = packet.timestamps().map_or(self.peer_stamp, |(value, _)| value);
        self.peer_stamp
    }
}
