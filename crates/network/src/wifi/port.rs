//! One port of a cell: one direction between the access point and a station.

use super::aggregate::Aggregate;
use super::block_ack::{Fate, Mpdu, Window};
use super::phy::Mode;
use super::timing::Control;
use crate::counters::{LinkStats, SamplingTimes};
use crate::queue::Waiting;
use crate::server::Transmission;
use crate::{Backlog, Packet, QueueDiscipline, QueueEvents, Ring};
use units::{Duration, Probe, Rng, Time};

/// How a port transmits.
#[derive(Clone, Debug)]
pub struct Radio {
    /// Rate and durations.
    pub mode: Mode,
    /// Control frames around its data.
    pub control: Control,
    /// Propagation delay.
    pub delay: Duration,
    /// A receiver releases each packet when its part of a PPDU ends, not all at its end.
    pub release_each: bool,
    /// A lone MPDU is sent without a delimiter.
    pub bare: bool,
    /// Most bytes of an aggregate.
    pub most_bytes: u64,
    /// Most MPDUs from the first one that is missing on.
    pub window: usize,
    /// The probability that an MPDU is not received, each by itself.
    pub errors: f64,
    /// After so many retries an MPDU is given up; never with 0.
    pub retries: u64,
}

/// What a port has done.
#[derive(Clone, Debug, Default)]
struct Activity {
    /// Data PPDUs by their number of MPDUs, those that collided included.
    sizes: Vec<u64>,
    /// MPDUs sent again.
    retries: u64,
    /// Frames that collided.
    collisions: u64,
    /// Time of PPDUs that did not collide.
    air: Duration,
}

/// The port.
pub struct Port<P> {
    queue: Box<dyn QueueDiscipline<P>>,
    window: Window<P>,
    radio: Radio,
    /// A block ACK has to be asked for.
    pub asks: bool,
    /// When it may have something to send; never if it has nothing.
    pub ready: Time,
    /// Numbers of the packets that wait or are in the window, by their arrival in the cell.
    numbers: Ring<u64>,
    pub stats: LinkStats,
    activity: Activity,
    rng: Rng,
}

impl<P: Copy> Port<P> {
    /// An idle port.
    pub fn new(
        queue: Box<dyn QueueDiscipline<P>>,
        radio: Radio,
        sampling: SamplingTimes,
        rng: Rng,
    ) -> Port<P> {
        let activity = Activity { sizes: vec![0; radio.window + 1], ..Activity::default() };
        let stats = LinkStats::new(sampling);
        let window = Window::new(radio.window);
        Port {
            queue,
            window,
            radio,
            asks: false,
            ready: Time::NEVER,
            numbers: Ring::new(),
            stats,
            activity,
            rng,
        }
    }

    /// Control frames around its data.
    pub fn control(&self) -> Control {
        self.radio.control
    }

    /// What waits in its queue.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// A packet arrives that finds no room, if its queue is first in, first out and `others` wait for the same contender:
    /// such queues are one buffer.
    pub fn refuses(&mut self, packet: &Packet<P>, others: Backlog, now: Time) -> bool {
        let refused = self.queue.plain_limit().is_some_and(|limit| !limit.admits(others, packet.size));
        if refused {
            self.stats.arrived(now, packet.size);
            self.drop(packet, now);
        }
        refused
    }

    /// A packet is dropped.
    fn drop(&mut self, packet: &Packet<P>, now: Time) {
        let mut events = QueueEvents::default();
        events.drop(packet);
        self.stats.queue_events(now, events);
    }

    /// A packet arrives, as the one with this number of the cell.
    pub fn arrive(&mut self, packet: Packet<P>, number: u64, now: Time) {
        self.stats.arrived(now, packet.size);
        let before = self.queue.backlog().packets;
        let mut events = QueueEvents::default();
        self.queue.enqueue(packet, now, &mut events);
        let backlog = self.queue.backlog().packets;
        if backlog > before {
            self.numbers.push(number);
        }
        self.stats.backlog(now, backlog + self.window.waiting() as u64);
        self.stats.queue_events(now, events);
        self.forget_dropped();
        self.refresh();
    }

    /// The number of the packet that has been here longest.
    pub fn oldest(&self) -> u64 {
        self.numbers.front().copied().unwrap_or(u64::MAX)
    }

    /// Numbers belong to packets: those of what the queue dropped go, the oldest first.
    fn forget_dropped(&mut self) {
        let held = self.queue.backlog().packets as usize + self.window.len();
        while self.numbers.len() > held {
            self.numbers.pop();
        }
    }

    /// Updates when it may have something to send.
    pub fn refresh(&mut self) {
        self.ready = match self.queue.backlog().packets {
            _ if self.asks || self.window.missing() > 0 => Time::ZERO,
            0 => Time::NEVER,
            _ => self.queue.ready(),
        };
    }

    fn dequeue(&mut self, now: Time) -> Option<Waiting<P>> {
        if self.queue.backlog().packets > 0 && self.queue.ready() > now {
            return None;
        }
        let mut events = QueueEvents::default();
        let next = self.queue.dequeue(now, &mut events); // also when it is empty, so that it may notice
        self.stats.queue_events(now, events);
        next
    }

    /// The aggregate that can be sent now, if any: what is missing, then what waits. To know that the next packet does not
    /// fit, it has to be dequeued: it has a sequence number then, and goes in the next aggregate.
    pub fn fill(&mut self, now: Time) -> Option<Aggregate> {
        let mut aggregate = Aggregate::default();
        let most = self.radio.most_bytes;
        let mut full = false;
        for mpdu in self.window.outstanding() {
            full = aggregate.add(mpdu.waiting.packet.size, most).is_none();
            if full {
                break;
            }
        }
        while !full && self.window.has_room() {
            let Some(next) = self.dequeue(now) else { break };
            full = aggregate.add(next.packet.size, most).is_none();
            self.window.push(next);
        }
        self.forget_dropped();
        (aggregate.mpdus > 0).then_some(aggregate)
    }

    /// How long the PPDU of an aggregate takes.
    pub fn duration(&self, aggregate: &Aggregate) -> Duration {
        self.radio.mode.ppdu(aggregate.psdu(self.radio.bare))
    }

    /// The PPDU of an aggregate begins, `alone` or together with frames of others. A packet counts as waiting until the
    /// medium is its own, so that no more is carried at once than the medium can.
    pub fn transmit(&mut self, aggregate: &Aggregate, start: Time, alone: bool) {
        let (mut sent, mut first) = (Aggregate::default(), 0);
        for mpdu in self.window.outstanding().take(aggregate.mpdus) {
            let Waiting { packet, since } = mpdu.waiting;
            let Some(bytes) = sent.add(packet.size, u64::MAX) else { break };
            if alone && !mpdu.started {
                (mpdu.started, first) = (true, first + 1);
                let at = start + self.radio.mode.offset(bytes);
                self.stats.started(packet.size, since, Transmission { start: at, finish: at });
                self.stats.waited(since, at);
            }
            if self.radio.release_each {
                mpdu.ended = start + self.radio.mode.offset(sent.psdu(false)) + self.radio.delay;
            }
            self.activity.retries += u64::from(mpdu.tries > 0);
            mpdu.tries += 1;
        }
        self.window.start(first);
        let air = self.duration(aggregate);
        self.stats.busy(start, start + air);
        self.activity.sizes[aggregate.mpdus] += 1;
    }

    /// The PPDU of an aggregate reaches its receiver by itself. How many of its MPDUs does it receive?
    pub fn receive(&mut self, aggregate: &Aggregate) -> usize {
        self.activity.air = self.activity.air + self.duration(aggregate);
        let Radio { errors, retries, .. } = self.radio;
        let rng = &mut self.rng;
        self.window.judge(aggregate.mpdus, retries, || errors == 0.0 || !rng.chance(errors))
    }

    /// A frame of it collides: the PPDU of an aggregate, or none if that was not on the air yet.
    pub fn collide(&mut self, aggregate: Option<&Aggregate>) {
        self.activity.collisions += 1;
        if let Some(aggregate) = aggregate {
            self.window.judge(aggregate.mpdus, self.radio.retries, || false);
        }
    }

    /// The next packet that leaves the window with a PPDU that has arrived by `end`: one that the receiver releases, and when
    /// it had come if that is told, or none more. One that was given up is lost; if it has only ever collided, it has been
    /// waiting, and is dropped.
    pub fn release(&mut self, end: Time) -> Option<(Packet<P>, Time)> {
        let mut known = Time::ZERO;
        loop {
            let Mpdu { waiting: Waiting { packet, .. }, started, ended, fate, .. } = self.window.release()?;
            self.numbers.pop();
            if fate == Fate::GivenUp {
                known = end;
            }
            match fate {
                Fate::GivenUp if started => self.stats.lost(end),
                Fate::GivenUp => self.drop(&packet, end),
                _ => return Some((packet, ended.max(known))),
            }
        }
    }

    /// Shows its queue, its window and what it has done.
    pub fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        self.queue.observe(now, probe);
        let Activity { sizes, retries, collisions, air } = &self.activity;
        let ppdus: u64 = sizes.iter().sum();
        let mpdus: u64 = (0..).zip(sizes).map(|(n, count)| n * count).sum();
        probe.see("window", self.window.len() as f64, "packets");
        probe.see("airtime", air.as_secs_f64(), "s");
        probe.see("ppdus", ppdus as f64, "frames");
        probe.see("retries", *retries as f64, "packets");
        probe.see("collisions", *collisions as f64, "frames");
        if ppdus > 0 {
            probe.see("aggregate_mean", mpdus as f64 / ppdus as f64, "packets");
            probe.see("aggregate_p95", quantile(sizes, ppdus.div_ceil(20)) as f64, "packets");
        }
    }
}

/// The largest size that at least `above` PPDUs have or exceed.
fn quantile(sizes: &[u64], above: u64) -> usize {
    let mut seen = 0;
    let found = sizes.iter().rposition(|&count| {
        seen += count;
        seen >= above
    });
    found.unwrap_or(0)
}
