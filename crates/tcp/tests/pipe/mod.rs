//! A sender and a receiver connected by one bottleneck with a constant delay.

pub mod spy;

use congestion::CongestionControl;
use std::collections::VecDeque;
use tcp::{AckPolicy, ReceiveBuffer, Receiver, ReceiverConfig, Segment, Sender, SenderConfig};
use units::{Duration, Rate, Time};

/// Fate of a data packet at the bottleneck, or of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Drop,
    Mark,
    Duplicate,
    Delay(Duration),
}

pub struct Pipe {
    pub now: Time,
    pub sender: Sender,
    pub receiver: Receiver,
    pub drops: u64,
    /// Send time and number of each data packet, in the order of sending.
    pub sent: Vec<(Time, u32)>,
    rate: Rate,
    delay: Duration,
    limit: usize,
    fate: Box<dyn FnMut(u64, u32) -> Fate>,
    ack_fate: Box<dyn FnMut(u64) -> Fate>,
    /// ACKs that the receiver sent.
    pub acks: u64,
    busy_until: Time,
    departures: VecDeque<Time>,
    count: u64,
    forward: Vec<(Time, Segment, bool)>,
    backward: Vec<(Time, Segment)>,
}

/// Settings of Linux, but with exact timers.
pub fn config() -> SenderConfig {
    SenderConfig { tick: None, ..SenderConfig::default() }
}

impl Pipe {
    /// Build a pipe with a rate of `mbps`, an RTT of `rtt_ms`, a queue of `limit` packets and a flow with the
    /// algorithm `cca`.
    pub fn new(
        cca: &str,
        config: SenderConfig,
        ack: AckPolicy,
        mbps: u64,
        rtt_ms: u64,
        limit: usize,
    ) -> Pipe {
        let algorithm = congestion::build(cca, &serde_json::Value::Null, 1).unwrap();
        Pipe::with_algorithm(algorithm, config, ack, mbps, rtt_ms, limit)
    }

    /// Same as `new`, for an algorithm that is not registered.
    pub fn with_algorithm(
        algorithm: Box<dyn CongestionControl>,
        config: SenderConfig,
        ack: AckPolicy,
        mbps: u64,
        rtt_ms: u64,
        limit: usize,
    ) -> Pipe {
        let receiver =
            ReceiverConfig { mss: config.mss, ack, ecn: config.ecn, tick: None, ..ReceiverConfig::default() };
        let mut pipe = Pipe {
            now: Time::ZERO,
            sender: Sender::new(config, algorithm),
            receiver: Receiver::new(receiver),
            drops: 0,
            sent: Vec::new(),
            rate: Rate::from_bits_per_sec(mbps * 1_000_000),
            delay: Duration::from_micros(rtt_ms * 500),
            limit,
            fate: Box::new(|_, _| Fate::Pass),
            ack_fate: Box::new(|_| Fate::Pass),
            acks: 0,
            busy_until: Time::ZERO,
            departures: VecDeque::new(),
            count: 0,
            forward: Vec::new(),
            backward: Vec::new(),
        };
        let mut out = Vec::new();
        pipe.sender.open(Time::ZERO, &mut out);
        pipe.transmit(out);
        pipe
    }

    /// Let the receiver merge packets that arrive within `gro`. Must be called before the first arrival.
    pub fn with_gro(mut self, gro: Option<Duration>) -> Pipe {
        self.receiver = Receiver::new(ReceiverConfig { gro, ..self.receiver.config().clone() });
        self
    }

    /// Replace the receive buffer. Must be called before the first arrival.
    pub fn with_receive_buffer(mut self, buffer: ReceiveBuffer) -> Pipe {
        self.receiver = Receiver::new(ReceiverConfig { buffer, ..self.receiver.config().clone() });
        self
    }

    /// Decide the fate of each data packet by its position in the order of sending and by its packet number.
    pub fn with_fate(mut self, fate: impl FnMut(u64, u32) -> Fate + 'static) -> Pipe {
        self.fate = Box::new(fate);
        self
    }

    /// Decide the fate of each ACK by its position in the order of sending.
    pub fn with_ack_fate(mut self, fate: impl FnMut(u64) -> Fate + 'static) -> Pipe {
        self.ack_fate = Box::new(fate);
        self
    }

    /// Set the bytes that the application has written so far.
    pub fn write(&mut self, bytes: u64) {
        let mut out = Vec::new();
        self.sender.offer(self.now, Some(bytes), &mut out);
        self.transmit(out);
    }

    fn answer(&mut self, acks: Vec<Segment>) {
        for ack in acks {
            let fate = (self.ack_fate)(self.acks);
            self.acks += 1;
            let copies = match fate {
                Fate::Drop => 0,
                Fate::Duplicate => 2,
                _ => 1,
            };
            let extra = if let Fate::Delay(d) = fate { d } else { Duration::ZERO };
            let arrival = self.now + self.delay + extra;
            let at = self.backward.partition_point(|b| b.0 <= arrival);
            (0..copies).for_each(|_| self.backward.insert(at, (arrival, ack)));
        }
    }

    fn transmit(&mut self, segments: Vec<Segment>) {
        for segment in segments {
            let mut fate = Fate::Pass;
            if let Segment::Data { seq, .. } = segment {
                self.sent.push((self.now, seq));
                fate = (self.fate)(self.count, seq);
                self.count += 1;
            }
            while self.departures.front().is_some_and(|&d| d <= self.now) {
                self.departures.pop_front();
            }
            if fate == Fate::Drop || self.departures.len() >= self.limit {
                self.drops += 1;
                continue;
            }
            let start = self.busy_until.max(self.now);
            let bytes = u64::from(segment.payload()) + 66;
            self.busy_until = start + self.rate.time_to_send(bytes);
            self.departures.push_back(start);
            let extra = if let Fate::Delay(d) = fate { d } else { Duration::ZERO };
            let arrival = start + self.delay + extra; // as in Linux tbf, an idle link adds no transmission time
            let at = self.forward.partition_point(|f| f.0 <= arrival);
            let copies = if fate == Fate::Duplicate { 2 } else { 1 };
            (0..copies).for_each(|_| self.forward.insert(at, (arrival, segment, fate == Fate::Mark)));
        }
    }

    fn next_event(&self) -> Time {
        let arrival = self.forward.first().map_or(Time::NEVER, |f| f.0);
        let ack = self.backward.first().map_or(Time::NEVER, |b| b.0);
        arrival.min(ack).min(self.sender.next_timer()).min(self.receiver.next_timer())
    }

    /// Run until `end`.
    pub fn run_until(&mut self, end: Time) {
        loop {
            let at = self.next_event();
            if at > end {
                self.now = end;
                return;
            }
            self.now = at.max(self.now);
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now;
        let (mut acks, mut data) = (Vec::new(), Vec::new());
        if self.forward.first().is_some_and(|f| f.0 <= now) {
            let (_, segment, ce) = self.forward.remove(0);
            self.receiver.on_segment(now, &segment, ce, &mut acks);
        } else if self.backward.first().is_some_and(|b| b.0 <= now) {
            let (_, segment) = self.backward.remove(0);
            self.sender.on_segment(now, &segment, &mut data);
        } else if self.sender.next_timer() <= now {
            self.sender.on_timer(now, &mut data);
        } else {
            self.receiver.on_timer(now, &mut acks);
        }
        self.answer(acks);
        self.transmit(data);
    }
}

pub fn seconds(s: f64) -> Time {
    Time::from_nanos((s * 1e9) as u64)
}
