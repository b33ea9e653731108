//! The files of recorded traces, which `scripts/record_traces.py` writes.

use std::path::Path;

/// The kernel's counters after an ACK: cwnd, ssthresh, state, unacked, sacked, lost, retrans, reordering.
pub type Counters = [u32; 8];

/// An event of a trace, at a time in microseconds.
#[derive(Clone, Debug)]
pub enum Event {
    /// The application writes bytes.
    Write { at: u64, bytes: u64 },
    /// An ACK arrives at the sender. Blocks are ranges of bytes; `echo` counts milliseconds from the SYN-ACK.
    Ack { at: u64, ack: u64, echo: i64, window: u64, marks: u16, ece: bool, blocks: Vec<(u64, u64)> },
    /// The kernel has sent the bytes from `start` to `end`; `cwr`: with the flag CWR.
    Packet { at: u64, start: u64, end: u64, cwr: bool },
    /// The kernel's counters, after all packets that the ACK before has caused.
    Counters(Counters),
}

/// One connection of the kernel. Times are in microseconds.
#[derive(Clone, Debug)]
pub struct Trace {
    pub seed: u64,
    /// Time of the kernel's clock at the beginning of the trace.
    pub clock: u64,
    pub syn: u64,
    pub open: u64,
    pub mss: u64,
    pub timestamps: bool,
    /// 0: no ECN, 1: RFC 3168, 2: every mark (DCTCP), 3: AccECN.
    pub ecn: u64,
    /// The window that the handshake advertises.
    pub window: u64,
    pub events: Vec<Event>,
}

/// The kernel's algorithm and the traces of a file.
pub fn read(path: &Path) -> (String, Vec<Trace>) {
    let data = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let end = data.iter().position(|&byte| byte == b'\n').expect("a name of an algorithm");
    let algorithm = String::from_utf8(data[..end].to_vec()).unwrap();
    let mut rest = Bytes { data: &data[end + 1..] };
    let mut traces = Vec::new();
    while !rest.data.is_empty() {
        traces.push(rest.trace());
    }
    (algorithm, traces)
}

struct Bytes<'a> {
    data: &'a [u8],
}

/// The last number of each kind, to which the next one is relative.
#[derive(Default)]
struct Last {
    at: u64,
    ack: i64,
    echo: i64,
    window: i64,
    marks: i64,
    sent: i64,
    counters: Counters,
}

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let (&first, rest) = self.data.split_first().expect("a whole trace");
        self.data = rest;
        first
    }

    /// A number in groups of seven bits, lowest first.
    fn number(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return value;
            }
        }
    }

    /// A number whose sign is in the lowest bit.
    fn signed(&mut self) -> i64 {
        let value = self.number();
        let half = (value >> 1) as i64;
        if value & 1 == 0 { half } else { -half - 1 }
    }

    fn trace(&mut self) -> Trace {
        let [seed, clock, syn, open, mss, timestamps, ecn, window] = std::array::from_fn(|_| self.number());
        let (mut events, mut last) = (Vec::new(), Last::default());
        loop {
            let tag = self.byte();
            match tag & 7 {
                0 => break,
                1 => {
                    last.at += self.number();
                    events.push(Event::Write { at: last.at, bytes: self.number() });
                }
                2 => events.push(self.ack(tag, &mut last)),
                3 => self.packets(tag, mss, &mut last, &mut events),
                _ => events.push(self.counters(&mut last)),
            }
        }
        Trace { seed, clock, syn, open, mss, timestamps: timestamps == 1, ecn, window, events }
    }

    fn ack(&mut self, tag: u8, last: &mut Last) -> Event {
        last.at += self.number();
        last.ack += self.signed();
        last.echo += self.signed();
        last.window += if tag & 64 != 0 { self.signed() } else { 0 };
        last.marks += if tag & 128 != 0 { self.signed() } else { 0 };
        let block = |_| {
            let start = (last.ack + self.signed()) as u64;
            (start, start + self.number())
        };
        let blocks = (0..(tag >> 3 & 3)).map(block).collect();
        let (ack, echo, window) = (last.ack as u64, last.echo, last.window as u64);
        Event::Ack { at: last.at, ack, echo, window, marks: last.marks as u16, ece: tag & 32 != 0, blocks }
    }

    fn packets(&mut self, tag: u8, mss: u64, last: &mut Last, events: &mut Vec<Event>) {
        last.at += self.number();
        last.sent += if tag & 16 != 0 { 0 } else { self.signed() };
        let len = if tag & 32 != 0 { mss } else { self.number() };
        for _ in 0..if tag & 64 != 0 { self.number() } else { 1 } {
            let start = last.sent as u64;
            events.push(Event::Packet { at: last.at, start, end: start + len, cwr: tag & 8 != 0 });
            last.sent += len as i64;
        }
    }

    fn counters(&mut self, last: &mut Last) -> Event {
        let changed = self.byte();
        for (n, counter) in last.counters.iter_mut().enumerate() {
            if changed >> n & 1 == 1 {
                *counter = (i64::from(*counter) + self.signed()) as u32;
            }
        }
        Event::Counters(last.counters)
    }
}
