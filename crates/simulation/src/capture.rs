//! Packets as somebody would capture them: at the endpoints, or where a link hands them over.
//!
//! A segment says less than its header would: the receiver's clock, and what a data packet echoes, stay out of what
//! travels. Both are noted when a segment is sent, and looked up wherever it is seen again.

use crate::payload::{Packet, Payload};
use crate::table::{Column, Table};
use network::Ecn;
use tcp::Segment;
use units::Time;

/// What a header says, by number in the column `kind`.
const KINDS: [&str; 7] = ["syn", "syn_ack", "handshake_ack", "data", "ack", "datagram", "reply"];
/// By number in the column `ecn`.
const ECN: [&str; 4] = ["not_ect", "ect0", "ect1", "ce"];
/// The first two points; links follow.
const SENDER: u32 = 0;
const RECEIVER: u32 = 1;
const LINKS: u32 = 2;

/// Packets captured so far, and what has to be remembered to fill in their headers.
#[derive(Debug, Default)]
pub struct Capture {
    /// Per point: it is captured.
    wanted: Vec<bool>,
    /// Two per flow: from the sender, and from the receiver.
    streams: Vec<Stream>,
    rows: Vec<Row>,
}

/// One direction of a flow.
#[derive(Debug, Default)]
struct Stream {
    sent: Vec<Sent>,
    /// Per point: how many of `sent` came past, those lost on the way included.
    seen: Vec<usize>,
    /// Packets shorter than the MSS: number, and bytes missing up to and including it.
    short: Vec<(u32, u64)>,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    payload: Payload,
    /// Milliseconds on the clock of whoever sent it.
    clock: u32,
    /// The clock of the other side, as last heard.
    echo: u32,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    time: Time,
    point: u32,
    stream: u32,
    ecn: Ecn,
    size: u16,
    sent: Sent,
}

impl Capture {
    /// Captures at the points of these names; unknown ones are ignored (the plan was checked).
    pub fn new(points: &[String], links: &[String], flows: usize) -> Capture {
        let known = ["sender", "receiver"].into_iter().chain(links.iter().map(String::as_str));
        let wanted = known.map(|name| points.iter().any(|point| point == name)).collect();
        let streams = (0..2 * flows).map(|_| Stream { seen: vec![0; links.len() + 2], ..Stream::default() });
        Capture { wanted, streams: streams.collect(), rows: Vec::new() }
    }

    /// How many rows there are so far.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// An endpoint sends a packet.
    pub fn sent(&mut self, now: Time, mss: u32, packet: &Packet) {
        let clock = now.as_millis() as u32;
        let echo = self.streams[packet.flow as usize ^ 1].heard(if packet.flow % 2 == 0 {
            SENDER
        } else {
            RECEIVER
        });
        let stream = &mut self.streams[packet.flow as usize];
        stream.sent.push(Sent { payload: packet.payload, clock, echo });
        if let Payload::Tcp(Segment::Data { seq, len, .. }) = packet.payload
            && seq >= stream.next
        {
            stream.next = seq + 1;
            let missing = mss - u32::from(len);
            if missing > 0 {
                let before = stream.short.last().map_or(0, |short| short.1);
                stream.short.push((seq, before + u64::from(missing)));
            }
        }
        let point = if packet.flow % 2 == 0 { SENDER } else { RECEIVER };
        let sent = Sent { payload: packet.payload, clock, echo };
        self.note(now, point, packet, sent);
    }

    /// A packet reaches its endpoint.
    pub fn arrived(&mut self, now: Time, packet: &Packet) {
        self.seen(now, if packet.flow % 2 == 0 { RECEIVER } else { SENDER }, packet);
    }

    /// A link hands a packet over.
    pub fn passed(&mut self, at: Time, link: u32, packet: &Packet) {
        self.seen(at, LINKS + link, packet);
    }

    fn seen(&mut self, at: Time, point: u32, packet: &Packet) {
        let stream = self.streams.get_mut(packet.flow as usize); // none: traffic that is not captured
        if let Some(sent) = stream.and_then(|stream| stream.see(point, &packet.payload)) {
            self.note(at, point, packet, sent);
        }
    }

    fn note(&mut self, time: Time, point: u32, packet: &Packet, sent: Sent) {
        if self.wanted[point as usize] {
            let Packet { flow: stream, ecn, size, .. } = *packet;
            self.rows.push(Row { time, point, stream, ecn, size, sent });
        }
    }

    /// The table `packets`, up to `end`, in the order of time.
    pub fn table(mut self, flows: &[String], links: &[String], mss: &[u32], end: Time) -> Table {
        self.rows.retain(|row| row.time <= end);
        self.rows.sort_by_key(|row| (row.time, row.point));
        let ints = |of: &dyn Fn(&Row) -> i64| Column::Int(self.rows.iter().map(of).collect());
        let label = |of: &dyn Fn(&Row) -> u32, names: &[&str]| Column::Label {
            codes: self.rows.iter().map(of).collect(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
        };
        let text = |of: &dyn Fn(&Row) -> String| texts(self.rows.iter().map(of));
        let points: Vec<&str> =
            ["sender", "receiver"].into_iter().chain(links.iter().map(String::as_str)).collect();
        let names: Vec<&str> = flows.iter().map(String::as_str).collect();
        let byte = |row: &Row, number: u32| {
            let flow = row.stream as usize / 2;
            self.streams[2 * flow].byte(number, mss[flow])
        };
        let columns = vec![
            ("time_ns", ints(&|row| row.time.as_nanos() as i64)),
            ("point", label(&|row| row.point, &points)),
            ("flow", label(&|row| row.stream / 2, &names)),
            ("kind", label(&|row| kind(&row.sent.payload), &KINDS)),
            ("seq", ints(&|row| seq(&row.sent.payload, &|number| byte(row, number)))),
            ("len", ints(&|row| i64::from(row.sent.payload.len()))),
            ("ack", ints(&|row| row.sent.ack().map_or(0, |number| byte(row, number)))),
            ("window", ints(&|row| window(&row.sent.payload))),
            ("sacks", text(&|row| sacks(&row.sent.payload, &|number| byte(row, number)))),
            ("ts_val", ints(&|row| i64::from(row.sent.clock))),
            ("ts_ecr", ints(&|row| i64::from(echo(&row.sent)))),
            ("ce_count", ints(&|row| ce_count(&row.sent.payload))),
            ("flags", text(&|row| flags(&row.sent.payload))),
            ("ecn", label(&|row| row.ecn as u32, &ECN)),
            ("size", ints(&|row| i64::from(row.size))),
        ];
        Table { columns }
    }
}

impl Stream {
    /// The clock of this stream's sender, as last seen at `point`.
    fn heard(&self, point: u32) -> u32 {
        self.seen[point as usize].checked_sub(1).map_or(0, |last| self.sent[last].clock)
    }

    /// Finds what was sent; nearly always the next one not seen at this point yet.
    fn see(&mut self, point: u32, payload: &Payload) -> Option<Sent> {
        let next = self.seen[point as usize];
        let matches = |n: &usize| self.sent[*n].payload == *payload;
        let found = (next..self.sent.len()).find(matches).or_else(|| (0..next).rev().find(matches))?;
        self.seen[point as usize] = next.max(found + 1);
        Some(self.sent[found])
    }

    /// First byte of packet `number`, from 0.
    fn byte(&self, number: u32, mss: u32) -> i64 {
        let before = self.short.partition_point(|short| short.0 < number);
        let missing = before.checked_sub(1).map_or(0, |last| self.short[last].1);
        i64::from(number) * i64::from(mss) - missing as i64
    }
}

impl Sent {
    /// The number of the packet below which all have arrived, if it says so.
    fn ack(&self) -> Option<u32> {
        if let Payload::Tcp(Segment::Ack { ack, .. }) = self.payload { Some(ack) } else { None }
    }
}

fn kind(payload: &Payload) -> u32 {
    match payload {
        Payload::Tcp(Segment::Syn { .. }) => 0,
        Payload::Tcp(Segment::SynAck { .. }) => 1,
        Payload::Tcp(Segment::HandshakeAck { .. }) => 2,
        Payload::Tcp(Segment::Data { .. }) => 3,
        Payload::Tcp(Segment::Ack { .. }) => 4,
        Payload::Datagram(datagram) => 5 + u32::from(datagram.reply),
    }
}

/// The first byte of a segment, the number of a datagram.
fn seq(payload: &Payload, byte: &dyn Fn(u32) -> i64) -> i64 {
    match payload {
        Payload::Tcp(Segment::Data { seq, .. }) => byte(*seq),
        Payload::Tcp(_) => 0,
        Payload::Datagram(datagram) => i64::from(datagram.number),
    }
}

fn window(payload: &Payload) -> i64 {
    match *payload {
        Payload::Tcp(Segment::SynAck { window, .. } | Segment::Ack { window, .. }) => i64::from(window),
        _ => 0,
    }
}

fn ce_count(payload: &Payload) -> i64 {
    if let Payload::Tcp(Segment::Ack { ce_count, .. }) = *payload { i64::from(ce_count) } else { 0 }
}

fn echo(sent: &Sent) -> u32 {
    match sent.payload {
        Payload::Tcp(Segment::SynAck { echo, .. } | Segment::Ack { echo, .. }) => echo,
        Payload::Tcp(Segment::HandshakeAck { .. } | Segment::Data { .. }) => sent.echo,
        Payload::Tcp(Segment::Syn { .. }) | Payload::Datagram(_) => 0,
    }
}

fn sacks(payload: &Payload, byte: &dyn Fn(u32) -> i64) -> String {
    let Payload::Tcp(Segment::Ack { sacks, .. }) = payload else { return String::new() };
    let blocks = sacks.iter().map(|(start, end)| format!("{}-{}", byte(start), byte(end)));
    blocks.collect::<Vec<_>>().join(" ")
}

fn flags(payload: &Payload) -> String {
    let set = match *payload {
        Payload::Tcp(Segment::Data { push, cwr, .. }) => [push.then_some("psh"), cwr.then_some("cwr")],
        Payload::Tcp(Segment::Ack { ece, dsack, .. }) => [ece.then_some("ece"), dsack.then_some("dsack")],
        _ => [None, None],
    };
    set.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A column of texts that are mostly empty or come up again at once.
fn texts(values: impl Iterator<Item = String>) -> Column {
    let mut names = vec![String::new()];
    let codes = values.map(|value| {
        if value.is_empty() {
            return 0;
        }
        if names.last() != Some(&value) {
            names.push(value);
        }
        names.len() as u32 - 1
    });
    let codes = codes.collect();
    Column::Label { codes, names }
}
