//! A sender that gets the writes and ACKs of a recorded trace at the same times.

use super::format::{Counters, Event, Trace};
use tcp::{Feedback, SackBlocks, Segment, SendBuffer, SendMemory, Sender, SenderConfig};
use units::{Bytes, Time};

/// Size of the kernel's send buffer, which no trace fills.
const BUFFER: Bytes = Bytes::new(8_000_000);
/// The kernel's timers count ticks from five minutes before its clock begins (`INITIAL_JIFFIES`): this many microseconds
/// modulo 512 ms, the coarsest unit of timers below half a minute.
const FIRST_TICK: u64 = 32_000;
/// Largest difference between the times of a packet in microseconds: a tick, the finest grain of the kernel's timers.
const GRAIN: u64 = 1_000;
const NAMES: [&str; 8] = ["cwnd", "ssthresh", "state", "unacked", "sacked", "lost", "retrans", "reordering"];
/// Linux's `ssthresh` before the first reduction.
const NO_SSTHRESH: u32 = i32::MAX as u32;

/// The first difference between a trace and the simulated sender.
pub struct Divergence {
    /// Time in microseconds.
    pub at: u64,
    /// Event of the trace.
    pub event: usize,
    pub text: String,
}

/// A packet that the kernel or the simulated sender has sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: u64,
    start: u64,
    end: u64,
    cwr: bool,
}

struct Replay<'a> {
    trace: &'a Trace,
    sender: Sender,
    out: Vec<Segment>,
    /// One past the last byte of every packet of the simulated sender.
    ends: Vec<u64>,
    ours: Vec<Sent>,
    theirs: Vec<Sent>,
    compared: usize,
    written: u64,
    acks: usize,
}

/// Replay a trace. `None`: every packet and every counter is identical.
pub fn replay(trace: &Trace, algorithm: &str, seed: u64) -> Option<Divergence> {
    let mut replay = Replay::new(trace, algorithm, seed);
    for (n, event) in trace.events.iter().enumerate() {
        if let Err((at, text)) = replay.follow(event) {
            return Some(Divergence { at, event: n, text });
        }
    }
    let end = replay.theirs.last().map_or(0, |sent| sent.at);
    replay.run_timers(end + 1);
    let text = replay.compare(end).err()?;
    Some(Divergence { at: end, event: trace.events.len(), text: text.1 })
}

impl Replay<'_> {
    fn new<'a>(trace: &'a Trace, algorithm: &str, seed: u64) -> Replay<'a> {
        let feedback = [Feedback::Off, Feedback::Classic, Feedback::EveryMark, Feedback::Accurate];
        let config = SenderConfig {
            mss: trace.mss as u32,
            data: Some(0),
            min_burst: 2,
            timestamps: trace.timestamps,
            ecn: feedback[trace.ecn as usize],
            send_buffer: SendBuffer::Memory(SendMemory {
                first: BUFFER,
                most: BUFFER,
                ..SendMemory::default()
            }),
            ..SenderConfig::default()
        };
        let algorithm = congestion::build(algorithm, &serde_json::Value::Null, seed).unwrap();
        let mut replay = Replay {
            trace,
            sender: Sender::new(config, algorithm),
            out: Vec::new(),
            ends: Vec::new(),
            ours: Vec::new(),
            theirs: Vec::new(),
            compared: 0,
            written: 0,
            acks: 0,
        };
        let (syn, open) = (replay.time(trace.syn), replay.time(trace.open));
        let (echo, window) = (replay.stamp(0), trace.window as u32);
        replay.sender.accept(syn, 0, 65_535, &mut replay.out);
        replay.sender.on_segment(open, &Segment::HandshakeAck { stamp: 0, echo, window }, &mut replay.out);
        replay.out.clear();
        replay
    }

    /// Simulated time of a moment of the trace: the middle of a microsecond, as in the recorder.
    fn time(&self, at: u64) -> Time {
        Time::from_nanos((at + self.trace.clock + FIRST_TICK) * 1_000 + 500)
    }

    /// The timestamp `echo` milliseconds after that of the SYN-ACK.
    fn stamp(&self, echo: i64) -> u32 {
        (self.time(self.trace.syn).as_millis() as i64 + echo) as u32
    }

    fn follow(&mut self, event: &Event) -> Result<(), (u64, String)> {
        match *event {
            Event::Packet { at, start, end, cwr } => self.theirs.push(Sent { at, start, end, cwr }),
            Event::Write { at, bytes } => {
                self.run_timers(at);
                self.compare(at)?;
                self.written += bytes;
                self.sender.offer(self.time(at), Some(self.written), &mut self.out);
                self.take(at);
            }
            Event::Ack { at, .. } => {
                self.run_timers(at);
                self.compare(at)?;
                let segment = self.segment(event);
                self.sender.on_segment(self.time(at), &segment, &mut self.out);
                self.take(at);
                self.acks += 1;
            }
            Event::Counters(counters) => {
                let at = self.theirs.last().map_or(0, |sent| sent.at);
                // The kernel may send a paced packet in the microseconds until its counters are read.
                self.run_timers(at + 1);
                self.compare(at)?;
                self.check(at, counters)?;
            }
        }
        Ok(())
    }

    fn run_timers(&mut self, until: u64) {
        while self.sender.next_timer() < self.time(until) {
            let now = self.sender.next_timer();
            self.sender.on_timer(now, &mut self.out);
            self.take(now.as_micros() - self.trace.clock - FIRST_TICK);
        }
    }

    /// Note the packets that the simulated sender has sent.
    fn take(&mut self, at: u64) {
        for segment in self.out.drain(..) {
            let Segment::Data { seq, len, cwr, .. } = segment else { continue };
            let start = if seq == 0 { 0 } else { self.ends[seq as usize - 1] };
            if seq as usize == self.ends.len() {
                self.ends.push(start + u64::from(len));
            }
            // A probe of a closed window has an old number and no payload.
            let (start, end) = if len == 0 { (u64::MAX, u64::MAX) } else { (start, start + u64::from(len)) };
            self.ours.push(Sent { at, start, end, cwr });
        }
    }

    /// Number of whole packets below a byte.
    fn packets(&self, byte: u64) -> u32 {
        self.ends.partition_point(|&end| end <= byte) as u32
    }

    fn segment(&self, event: &Event) -> Segment {
        let Event::Ack { ack, echo, window, marks, ece, ref blocks, .. } = *event else { unreachable!() };
        let ranges: Vec<_> =
            blocks.iter().map(|&(start, end)| (self.packets(start), self.packets(end))).collect();
        let within = |inner: (u64, u64), outer: (u64, u64)| outer.0 <= inner.0 && inner.1 <= outer.1;
        let dsack = match blocks[..] {
            [first, ..] if first.0 < ack => true,
            [first, second, ..] => within(first, second),
            _ => false,
        };
        let sacks = SackBlocks::from_ranges(ranges);
        let (ack, echo, window) = (self.packets(ack), self.stamp(echo), window as u32);
        Segment::Ack { ack, echo, window, one_way_us: 0, ce_count: marks, ece, dsack, sacks }
    }

    /// Compare the packets sent so far.
    fn compare(&mut self, at: u64) -> Result<(), (u64, String)> {
        let describe = |sent: &Sent| match sent.start {
            _ if sent.start == sent.end => format!("a probe at {} us", sent.at),
            start => format!("{start}..{} at {} us{}", sent.end, sent.at, if sent.cwr { " CWR" } else { "" }),
        };
        while self.compared < self.ours.len().max(self.theirs.len()) {
            let (ours, theirs) = (self.ours.get(self.compared), self.theirs.get(self.compared));
            let is_same = ours.zip(theirs).is_some_and(|(ours, theirs)| {
                let are_probes = ours.start == ours.end && theirs.start == theirs.end;
                let are_equal = (ours.start, ours.end, ours.cwr) == (theirs.start, theirs.end, theirs.cwr);
                (are_probes || are_equal) && ours.at.abs_diff(theirs.at) <= GRAIN
            });
            if !is_same {
                let [ours, theirs] = [ours, theirs].map(|sent| sent.map_or("nothing".into(), describe));
                let (packet, acks) = (self.compared, self.acks);
                return Err((
                    at,
                    format!("packet {packet} after {acks} ACKs: Linux {theirs}, simulated {ours}"),
                ));
            }
            self.compared += 1;
        }
        Ok(())
    }

    fn check(&self, at: u64, theirs: Counters) -> Result<(), (u64, String)> {
        let c = self.sender.counters();
        let ssthresh = c.ssthresh.min(NO_SSTHRESH);
        let ours = [c.cwnd, ssthresh, c.state as u32, c.unacked, c.sacked, c.lost, c.retrans, c.reordering];
        let different: Vec<_> = (0..8).filter(|&n| ours[n] != theirs[n]).collect();
        if different.is_empty() {
            return Ok(());
        }
        let list: Vec<_> = different
            .iter()
            .map(|&n| format!("{} Linux {}, simulated {}", NAMES[n], theirs[n], ours[n]))
            .collect();
        Err((at, format!("after ACK {}: {}", self.acks - 1, list.join("; "))))
    }
}
