//! The table `packets`: one row per captured packet, at the endpoints or at the far end of a link.
//!
//! A simulated segment has fewer fields than a TCP header. The segment lacks the timestamp of a receiver and the
//! timestamp echoed by a data packet. Both timestamps are recorded when a segment is sent, and looked up at every other
//! capture point.

use super::cell::{FlowName, Names, Numbered};
use super::declare::{Rows, table};
use crate::payload::{Packet, Payload};
use crate::routes::HopId;
use network::{Direction, Ecn, StreamId, Streams};
use std::collections::BTreeMap;
use tcp::{Riding, Segment};
use units::Time;

table! {
    /// A packet where it was captured.
    pub struct PacketRow, one row per "packet and point of capture" {
        /// time at which it was sent, arrived, or left the link
        time_ns: u64, "ns";
        /// sender, receiver or the name of a link
        point: Point, "";
        /// name
        flow: FlowName, "";
        /// number of the flow's connection, from 1; null for a datagram
        connection: Option<u32>, "1";
        /// end of the flow that sent it: sender or receiver
        source: &'static str, "";
        /// syn, syn_ack, handshake_ack, data, ack, datagram, or reply to a datagram
        kind: &'static str, "";
        /// first byte of payload, from 0; without payload, the next byte to send, a FIN counted as one byte; for a
        /// datagram and its reply, the number of the datagram
        seq: i64, "bytes";
        /// bytes of payload
        len: u32, "bytes";
        /// cumulative acknowledgement: first byte that has not arrived, a FIN counted as one byte; 0 without an ACK
        ack: i64, "bytes";
        /// receive window, counted from ack; 0 from an end that receives no data
        window: i64, "bytes";
        /// selective acknowledgements, for example "1448-2896 5792-7240"; empty if there are none
        sacks: String, "";
        /// timestamp of the end that sent it
        ts_val: u32, "ms";
        /// timestamp echoed
        ts_ecr: u32, "ms";
        /// marked packets counted by the receiver, modulo 65,536
        ce_count: i64, "packets";
        /// any of psh, cwr, ece, fin, and dsack (the first block reports a duplicate)
        flags: String, "";
        /// not_ect, ect0, ect1 or ce
        ecn: &'static str, "";
        /// bytes on the wire, all headers included
        size: u32, "bytes";
    }
}

/// Names of ECN codepoints in the order of [`Ecn`].
const ECN: [&str; 4] = ["not_ect", "ect0", "ect1", "ce"];
/// Indices of the capture points at the sender and at the receiver. The indices of links follow.
const SENDER: u32 = 0;
const RECEIVER: u32 = 1;
const LINKS: u32 = 2;

/// Point of capture: the sender, the receiver, or the far end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Point(u32);

impl Numbered for Point {
    fn number(self) -> u32 {
        self.0
    }

    fn names(names: &Names) -> Vec<String> {
        ["sender", "receiver"].map(str::to_owned).into_iter().chain(names.links.iter().cloned()).collect()
    }
}

/// Packets captured so far, and the state from which missing header fields are filled in.
#[derive(Debug, Default)]
pub struct Capture {
    /// Whether packets are captured at each point.
    wanted: Vec<bool>,
    numbering: Streams,
    /// Streams of all connections. Each connection has two adjacent streams, one per direction.
    streams: Vec<Stream>,
    /// Index in `streams` by current stream ID. The stream IDs of removed connections are reused.
    numbered: BTreeMap<StreamId, usize>,
    seen: Vec<Seen>,
}

/// One direction of a connection.
#[derive(Debug, Default)]
struct Stream {
    flow: u32,
    connection: Option<u32>,
    sent: Vec<Sent>,
    /// For each capture point, number of packets of `sent` that have passed the point or were dropped before it.
    seen: Vec<usize>,
    /// Payload of a full packet.
    mss: u32,
    /// Packets with less than a full payload: the packet's number, and the total bytes by which all packets up to and
    /// including this one fall short of a full payload. A FIN takes one byte, as in TCP.
    short: Vec<(u32, i64)>,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    payload: Payload,
    /// Clock of the sending end in milliseconds.
    clock: u32,
    /// Last clock value received from the other end.
    echo: u32,
    /// Number of the next data packet of this end.
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    time: Time,
    point: u32,
    /// Index in `streams`.
    stream: usize,
    ecn: Ecn,
    size: u16,
    sent: Sent,
}

impl Capture {
    /// Captures packets at the points with these names. Unknown names are ignored, as the plan was checked.
    pub fn new(points: &[String], links: &[String], numbering: Streams) -> Capture {
        let known = ["sender", "receiver"].into_iter().chain(links.iter().map(String::as_str));
        let wanted = known.map(|name| points.iter().any(|point| point == name)).collect();
        Capture { wanted, numbering, ..Capture::default() }
    }

    /// Number of rows so far.
    pub fn rows(&self) -> usize {
        self.seen.len()
    }

    /// Called when a connection opens, with the stream ID of its data.
    pub fn opened(&mut self, data: StreamId, connection: u32) {
        self.add(data, Some(connection));
    }

    /// Adds both directions of a connection and returns the index of `stream`.
    fn add(&mut self, stream: StreamId, connection: Option<u32>) -> usize {
        let forward = self.streams.len();
        let backward = stream.direction() == Direction::Backward;
        self.numbered.insert(stream, forward + usize::from(backward));
        self.numbered.insert(stream.opposite(), forward + usize::from(!backward));
        let flow = self.numbering.route(stream).flow();
        let seen = vec![0; self.wanted.len()];
        let new = || Stream { flow, connection, seen: seen.clone(), ..Stream::default() };
        self.streams.extend([new(), new()]);
        self.numbered[&stream]
    }

    /// Called when an endpoint sends a packet.
    pub fn sent(&mut self, now: Time, mss: u32, packet: &Packet) {
        let clock = now.as_millis() as u32;
        let (point, _) = self.ends(packet);
        let known = self.numbered.get(&packet.stream).copied();
        let stream = known.unwrap_or_else(|| self.add(packet.stream, None));
        let echo = self.streams[opposite(stream)].heard(point);
        let next = self.streams[stream].next;
        let sent = Sent { payload: packet.payload, clock, echo, next };
        self.streams[stream].send(sent, mss);
        self.note(now, point, stream, packet, sent);
    }

    /// Called when a packet reaches its endpoint.
    pub fn arrived(&mut self, now: Time, packet: &Packet) {
        self.pass(now, self.ends(packet).1, packet);
    }

    /// Called when a packet reaches the far end of a link.
    pub fn passed(&mut self, at: Time, link: HopId, packet: &Packet) {
        self.pass(at, LINKS + link.0, packet);
    }

    /// The first and the last point of a packet's route.
    fn ends(&self, packet: &Packet) -> (u32, u32) {
        match packet.stream.direction() {
            Direction::Forward => (SENDER, RECEIVER),
            Direction::Backward => (RECEIVER, SENDER),
        }
    }

    fn pass(&mut self, at: Time, point: u32, packet: &Packet) {
        let Some(&stream) = self.numbered.get(&packet.stream) else { return };
        if let Some(sent) = self.streams[stream].see(point, &packet.payload) {
            self.note(at, point, stream, packet, sent);
        }
    }

    fn note(&mut self, time: Time, point: u32, stream: usize, packet: &Packet, sent: Sent) {
        if self.wanted[point as usize] {
            let Packet { ecn, size, .. } = *packet;
            self.seen.push(Seen { time, point, stream, ecn, size, sent });
        }
    }

    /// Rows up to `end`, in the order of time.
    pub fn rows_until(mut self, end: Time) -> Rows<PacketRow> {
        let mut seen = std::mem::take(&mut self.seen);
        seen.retain(|seen| seen.time <= end);
        seen.sort_by_key(|seen| (seen.time, seen.point));
        seen.iter().map(|seen| self.row(seen)).collect()
    }

    fn row(&self, seen: &Seen) -> PacketRow {
        let stream = &self.streams[seen.stream];
        let own = |number: u32| stream.byte(number);
        let other = |number: u32| self.streams[opposite(seen.stream)].byte(number);
        let payload = &seen.sent.payload;
        let acknowledged = acknowledgement(payload);
        PacketRow {
            time_ns: seen.time.as_nanos(),
            point: Point(seen.point),
            flow: FlowName(stream.flow),
            connection: stream.connection,
            source: ["sender", "receiver"][seen.stream % 2],
            kind: kind(payload),
            seq: seq(&seen.sent, &own),
            len: payload.len().into(),
            ack: acknowledged.map_or(0, |said| other(said.ack)),
            window: window(payload),
            sacks: sacks(payload, &other),
            ts_val: seen.sent.clock,
            ts_ecr: echo(&seen.sent),
            ce_count: acknowledged.map_or(0, |said| said.ce_count.into()),
            flags: flags(payload),
            ecn: ECN[seen.ecn as usize],
            size: seen.size.into(),
        }
    }
}

/// Index of the opposite direction of a stream.
fn opposite(stream: usize) -> usize {
    stream ^ 1
}

impl Stream {
    /// Records a packet that is sent; `mss`: payload of a full packet.
    fn send(&mut self, sent: Sent, mss: u32) {
        self.sent.push(sent);
        self.mss = mss;
        if let Payload::Tcp(Segment::Data { seq, len, fin, .. }) = sent.payload
            && seq >= self.next
        {
            self.next = seq + 1;
            let missing = i64::from(mss) - i64::from(len) - i64::from(fin);
            if missing != 0 {
                let before = self.short.last().map_or(0, |short| short.1);
                self.short.push((seq, before + missing));
            }
        }
    }

    /// Last clock value of this stream's sender that was seen at `point`.
    fn heard(&self, point: u32) -> u32 {
        self.seen[point as usize].checked_sub(1).map_or(0, |last| self.sent[last].clock)
    }

    /// Finds the record of a packet, which is nearly always the first record not yet seen at this point.
    fn see(&mut self, point: u32, payload: &Payload) -> Option<Sent> {
        let next = self.seen[point as usize];
        let matches = |n: &usize| self.sent[*n].payload == *payload;
        let found = (next..self.sent.len()).find(matches).or_else(|| (0..next).rev().find(matches))?;
        self.seen[point as usize] = next.max(found + 1);
        Some(self.sent[found])
    }

    /// First byte of packet `number`, from 0.
    fn byte(&self, number: u32) -> i64 {
        let before = self.short.partition_point(|short| short.0 < number);
        let missing = before.checked_sub(1).map_or(0, |last| self.short[last].1);
        i64::from(number) * i64::from(self.mss) - missing
    }
}

/// The acknowledgement of a segment, if it has one.
fn acknowledgement(payload: &Payload) -> Option<Riding> {
    if let Payload::Tcp(segment) = payload { segment.acknowledgement() } else { None }
}

fn kind(payload: &Payload) -> &'static str {
    match payload {
        Payload::Tcp(Segment::Syn { .. }) => "syn",
        Payload::Tcp(Segment::SynAck { .. }) => "syn_ack",
        Payload::Tcp(Segment::HandshakeAck { .. }) => "handshake_ack",
        Payload::Tcp(Segment::Data { .. }) => "data",
        Payload::Tcp(Segment::Ack { .. }) => "ack",
        Payload::Datagram(datagram) if datagram.reply => "reply",
        Payload::Datagram(_) => "datagram",
    }
}

/// First byte of a segment, or number of a datagram.
fn seq(sent: &Sent, byte: &dyn Fn(u32) -> i64) -> i64 {
    match &sent.payload {
        Payload::Tcp(Segment::Data { seq, .. }) => byte(*seq),
        Payload::Tcp(_) => byte(sent.next),
        Payload::Datagram(datagram) => i64::from(datagram.number),
    }
}

fn window(payload: &Payload) -> i64 {
    match *payload {
        Payload::Tcp(Segment::SynAck { window, .. } | Segment::HandshakeAck { window, .. }) => window.into(),
        _ => acknowledgement(payload).map_or(0, |said| said.window.into()),
    }
}

fn echo(sent: &Sent) -> u32 {
    match sent.payload {
        Payload::Tcp(Segment::SynAck { echo, .. }) => echo,
        Payload::Tcp(Segment::Syn { .. }) | Payload::Datagram(_) => 0,
        Payload::Tcp(_) => acknowledgement(&sent.payload).map_or(sent.echo, |said| said.echo),
    }
}

fn sacks(payload: &Payload, byte: &dyn Fn(u32) -> i64) -> String {
    let Payload::Tcp(Segment::Ack { sacks, .. }) = payload else { return String::new() };
    let blocks = sacks.iter().map(|(start, end)| format!("{}-{}", byte(start), byte(end)));
    blocks.collect::<Vec<_>>().join(" ")
}

fn flags(payload: &Payload) -> String {
    let ece = acknowledgement(payload).is_some_and(|said| said.ece);
    let [push, cwr, fin, dsack] = match *payload {
        Payload::Tcp(Segment::Data { push, cwr, fin, .. }) => [push, cwr, fin, false],
        Payload::Tcp(Segment::Ack { dsack, .. }) => [false, false, false, dsack],
        _ => [false; 4],
    };
    let set = [(push, "psh"), (cwr, "cwr"), (ece, "ece"), (fin, "fin"), (dsack, "dsack")];
    let names: Vec<_> = set.into_iter().filter_map(|(on, name)| on.then_some(name)).collect();
    names.join(" ")
}
