//! The host under test: a connection of the model, the packets that it has sent, and its clock.

mod arrivals;
mod departures;

use crate::numbering::Numbering;
use crate::script::Packet;
use crate::setup::{Local, Terms};
use crate::verdict::Stop;
pub(crate) use departures::{Departure, Sent};
use std::collections::{BTreeMap, VecDeque};
use tcp::{Endpoint, Receiver, Segment, Sender};
use units::Time;

/// ACE of a connection without marks (RFC 9768 section 3.2.2).
const FIRST_ACE: u16 = 5;
const ACE_MASK: u16 = 7;

/// A connection under test.
pub(crate) struct Connection {
    pub sender: Sender,
    pub receiver: Receiver,
    pub terms: Terms,
    /// CE marks that the peer has counted.
    marks: u16,
}

impl Connection {
    fn endpoint(&mut self) -> Endpoint<'_> {
        Endpoint { sender: &mut self.sender, receiver: &mut self.receiver }
    }

    fn next_timer(&self) -> Time {
        self.sender.next_timer().min(self.receiver.next_timer())
    }
}

/// The host under test.
pub(crate) struct Host {
    pub now: Time,
    pub local: Local,
    pub connection: Option<Connection>,
    /// Packets sent that the script has not looked at.
    pub departures: VecDeque<Departure>,
    /// Whether the application has opened the connection.
    is_client: bool,
    /// Packets of this host.
    ours: Numbering,
    /// Packets of the peer.
    peers: Numbering,
    /// Timestamp of the last packet that the peer can echo.
    stamp: u32,
    /// Timestamp of the last packet of the peer.
    peer_stamp: u32,
    /// Timestamps of sent packets by the value that the script gives them.
    stamps: BTreeMap<u32, u32>,
    /// SYNs or SYN-ACKs of this host that the script has looked at.
    openings: u32,
    /// Packets that the peer has acknowledged.
    acked: u32,
    /// Bytes that the application has written, or waits to write.
    written: u64,
    /// When the last of these bytes was written into the send buffer.
    write_returned: Option<Time>,
    /// The byte after the largest window that the peer has seen.
    window_end: u64,
    /// Whether the peer closed before this host, which then keeps no state of the closed connection.
    peer_closed_first: bool,
}

impl Host {
    pub fn new(local: Local, peers: Numbering) -> Host {
        Host {
            now: Time::ZERO,
            local,
            connection: None,
            departures: VecDeque::new(),
            is_client: false,
            ours: Numbering::default(),
            peers,
            stamp: 0,
            peer_stamp: 0,
            stamps: BTreeMap::new(),
            openings: 0,
            acked: 0,
            written: 0,
            write_returned: None,
            window_end: 0,
            peer_closed_first: false,
        }
    }

    /// Whether the application has opened the connection.
    pub fn is_client(&self) -> bool {
        self.is_client
    }

    /// Send a SYN. `answer` is the SYN-ACK that will arrive.
    pub fn connect(&mut self, answer: &Packet) -> Result<(), Stop> {
        self.is_client = true;
        self.build(answer)?;
        self.drive(|endpoint, now, out| endpoint.open(now, out))
    }

    /// Record that the application has written `bytes` more.
    pub fn write(&mut self, bytes: u64) -> Result<(), Stop> {
        self.written = self.written.saturating_add(bytes);
        self.write_returned = None;
        let written = self.written;
        self.drive(|endpoint, now, out| endpoint.write(now, Some(written), out))
    }

    /// When the last write returned; `None` while it blocks.
    pub fn write_returned(&self) -> Option<Time> {
        self.write_returned
    }

    /// Close the direction of this host.
    pub fn close(&mut self) -> Result<(), Stop> {
        let is_finished = |connection: &Connection| connection.receiver.is_finished();
        self.peer_closed_first = self.connection.as_ref().is_some_and(is_finished);
        self.drive(|endpoint, now, out| endpoint.close(now, out))
    }

    fn build(&mut self, peer: &Packet) -> Result<(), Stop> {
        let (sender, receiver, terms) = self.local.connection(peer)?;
        self.connection = Some(Connection { sender, receiver, terms, marks: 0 });
        Ok(())
    }

    /// Run all timers until `to`.
    pub fn advance(&mut self, to: Time) -> Result<(), Stop> {
        while self.next_timer() <= to {
            self.run_timer()?;
        }
        self.now = self.now.max(to);
        Ok(())
    }

    /// When the next timer is due; `Time::NEVER` without a timer.
    pub fn next_timer(&self) -> Time {
        self.connection.as_ref().map_or(Time::NEVER, Connection::next_timer)
    }

    /// Move the clock to the next timer and run it.
    pub fn run_timer(&mut self) -> Result<(), Stop> {
        self.now = self.now.max(self.next_timer());
        self.drive(|endpoint, now, out| endpoint.on_timer(now, out))
    }

    /// Run a step of the connection and collect what it sends.
    fn drive(&mut self, step: impl FnOnce(&mut Endpoint, Time, &mut Vec<Segment>)) -> Result<(), Stop> {
        let Some(connection) = &mut self.connection else {
            return Stop::lacks("a call without a connection");
        };
        let mut out = Vec::new();
        step(&mut connection.endpoint(), self.now, &mut out);
        if connection.sender.written_bytes() >= self.written {
            self.write_returned.get_or_insert(self.now);
        }
        let has_sack = connection.terms.sack;
        for segment in out {
            let sent = self.departing(segment);
            if matches!(&sent, Sent::Ack { sacks, .. } if !sacks.is_empty() && !has_sack) {
                return Stop::lacks("connections without SACK");
            }
            self.departures.push_back(Departure { at: self.now, sent });
        }
        Ok(())
    }

    fn departing(&mut self, segment: Segment) -> Sent {
        let ace = |marks: u16| ((FIRST_ACE + marks) & ACE_MASK) as u8;
        if !matches!(segment, Segment::Ack { .. } | Segment::HandshakeAck { .. }) {
            self.stamp = self.millis();
        }
        match segment {
            Segment::Syn { .. } => Sent::Opening { answers: false },
            Segment::SynAck { window, .. } => {
                self.window_end = 1 + u64::from(window);
                Sent::Opening { answers: true }
            }
            Segment::HandshakeAck { window, .. } => {
                self.note_window(0, window);
                Sent::Ack { ack: 1, sacks: Vec::new(), ece: false, ace: None }
            }
            Segment::Data { seq, len: 0, fin: false, .. } => {
                Sent::Probe { byte: self.ours.acknowledgement(seq + 1) - 1 }
            }
            Segment::Data { seq, len, fin, riding, .. } => {
                let span = self.ours.record(seq, len, fin);
                if let Some(riding) = riding {
                    self.note_window(riding.ack, riding.window);
                }
                let ack = riding.map(|riding| self.peers.acknowledgement(riding.ack));
                let ace = ace(riding.map_or(0, |riding| riding.ce_count));
                Sent::Data { bytes: (span.start, span.end), fin, ack, ace }
            }
            Segment::Ack { ack, window, ce_count, ece, sacks, .. } => {
                self.note_window(ack, window);
                let bytes = |(start, end)| (self.peers.start(start), self.peers.acknowledgement(end));
                let sacks = sacks.iter().map(bytes).collect();
                Sent::Ack { ack: self.peers.acknowledgement(ack), sacks, ece, ace: Some(ace(ce_count)) }
            }
        }
    }

    fn note_window(&mut self, ack: u32, window: u32) {
        self.window_end = self.window_end.max(self.peers.acknowledgement(ack) + u64::from(window));
    }

    /// Record that a packet which the script expects was sent `at` this time.
    pub fn note_sent(&mut self, packet: &Packet, at: Time) {
        if let Some((value, _)) = packet.timestamps() {
            self.stamps.insert(value, millis(at));
        }
    }

    /// Whether a SYN or SYN-ACK repeats one that the script has looked at.
    pub fn repeats_opening(&mut self) -> bool {
        self.openings += 1;
        self.openings > 1
    }

    fn millis(&self) -> u32 {
        millis(self.now)
    }
}

/// The clock of timestamps.
fn millis(time: Time) -> u32 {
    (time.as_nanos() / 1_000_000) as u32
}
