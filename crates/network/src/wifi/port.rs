//! One port of a cell: one direction between the access point and a station.

use super::aggregate::{Aggregate, mpdu_bytes};
use super::block_ack::{Fate, Mpdu, Window};
use super::noise::arrives;
use super::rate::{Choice, Law, Outcome, RateControl, make};
use super::scheme::Scheme;
use super::timing::Control;
use crate::counters::{LinkStats, SamplingTimes};
use crate::queue::Waiting;
use crate::server::Transmission;
use crate::{Backlog, Packet, QueueDiscipline, QueueEvents, Ring, Snr};
use units::{Duration, Probe, Rng, Time};

/// How a port transmits.
#[derive(Clone, Debug)]
pub struct Radio {
    /// What it may use: from slow to fast for each number of streams, fewer streams first.
    pub schemes: Vec<Scheme>,
    /// How it chooses among them.
    pub law: Law,
    /// Signal and noise, the same both ways; none: noise takes nothing.
    pub snr: Option<Snr>,
    /// Propagation delay.
    pub delay: Duration,
    /// A receiver releases each packet when its part of a PPDU ends, not all at its end.
    pub release_each: bool,
    /// A lone MPDU is sent without a delimiter.
    pub bare: bool,
    /// Most MPDUs from the first one that is missing on.
    pub window: usize,
    /// The probability that an MPDU is not received, each by itself, whatever the noise.
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
    rates: Box<dyn RateControl>,
    /// What the PPDU uses that is on the air or was last.
    choice: Choice,
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
    /// An idle port, with random numbers for errors and for rates.
    pub fn new(
        queue: Box<dyn QueueDiscipline<P>>,
        radio: Radio,
        sampling: SamplingTimes,
        rng: Rng,
        of_rates: Rng,
    ) -> Port<P> {
        let activity = Activity { sizes: vec![0; radio.window + 1], ..Activity::default() };
        let stats = LinkStats::new(sampling);
        let window = Window::new(radio.window);
        let snr_db = radio.snr.as_ref().map(Snr::latest);
        let rates = make(radio.law, &radio.schemes, snr_db, of_rates);
        Port {
            queue,
            window,
            radio,
            rates,
            choice: Choice { scheme: 0, alone: false },
            asks: false,
            ready: Time::NEVER,
            numbers: Ring::new(),
            stats,
            activity,
            rng,
        }
    }

    /// What its PPDU uses.
    fn scheme(&self) -> &Scheme {
        &self.radio.schemes[self.choice.scheme]
    }

    /// Control frames around its data.
    pub fn control(&self) -> Control {
        self.scheme().control
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
        self.choice = self.rates.choose(now);
        let most = self.scheme().most_bytes;
        let most_mpdus = if self.choice.alone { 1 } else { usize::MAX };
        let mut full = false;
        for mpdu in self.window.outstanding() {
            full = full || aggregate.add(mpdu.waiting.packet.size, most).is_none();
            if full {
                break;
            }
            full = aggregate.mpdus == most_mpdus;
        }
        while !full && self.window.has_room() {
            let Some(next) = self.dequeue(now) else { break };
            full = aggregate.add(next.packet.size, most).is_none() || aggregate.mpdus == most_mpdus;
            self.window.push(next);
        }
        self.forget_dropped();
        (aggregate.mpdus > 0).then_some(aggregate)
    }

    /// How long the PPDU of an aggregate takes.
    pub fn duration(&self, aggregate: &Aggregate) -> Duration {
        self.scheme().mode.ppdu(aggregate.psdu(self.radio.bare))
    }

    /// The PPDU of an aggregate begins, `alone` or together with frames of others. A packet counts as waiting until the
    /// medium is its own, so that no more is carried at once than the medium can.
    pub fn transmit(&mut self, aggregate: &Aggregate, start: Time, alone: bool) {
        let (mut sent, mut first) = (Aggregate::default(), 0);
        let mode = self.scheme().mode;
        for mpdu in self.window.outstanding().take(aggregate.mpdus) {
            let Waiting { packet, since } = mpdu.waiting;
            let Some(bytes) = sent.add(packet.size, u64::MAX) else { break };
            if alone && !mpdu.started {
                (mpdu.started, first) = (true, first + 1);
                let at = start + mode.offset(bytes);
                self.stats.started(packet.size, since, Transmission { start: at, finish: at });
                self.stats.waited(since, at);
            }
            if self.radio.release_each {
                mpdu.ended = start + mode.offset(sent.psdu(false)) + self.radio.delay;
            }
            self.activity.retries += u64::from(mpdu.tries > 0);
            mpdu.tries += 1;
        }
        self.window.start(first);
        let air = self.duration(aggregate);
        self.stats.busy(start, start + air);
        self.activity.sizes[aggregate.mpdus] += 1;
    }

    /// The PPDU of an aggregate, begun at `start`, reaches its receiver by itself. How many of its MPDUs does it receive?
    pub fn receive(&mut self, aggregate: &Aggregate, start: Time) -> usize {
        self.activity.air = self.activity.air + self.duration(aggregate);
        let snr_db = self.radio.snr.as_mut().map(|snr| snr.at(start));
        let bit_error = snr_db.map(|snr_db| self.scheme().bit_error(snr_db));
        let Radio { errors, retries, .. } = self.radio;
        let lost = |size| match bit_error {
            None => errors,
            Some(wrong) => 1.0 - (1.0 - errors) * arrives(wrong, mpdu_bytes(size)),
        };
        let rng = &mut self.rng;
        let clean = errors == 0.0 && bit_error.is_none();
        let received = self.window.judge(aggregate.mpdus, retries, |size| clean || !rng.chance(lost(size)));
        self.report(aggregate, received, snr_db, start);
        received
    }

    /// A frame of it collides: the PPDU of an aggregate, begun at `start`, or none if that was not on the air yet.
    pub fn collide(&mut self, aggregate: Option<&Aggregate>, start: Time) {
        self.activity.collisions += 1;
        if let Some(aggregate) = aggregate {
            self.window.judge(aggregate.mpdus, self.radio.retries, |_| false);
            self.report(aggregate, 0, None, start);
        }
    }

    /// Rate control learns what became of a PPDU.
    fn report(&mut self, aggregate: &Aggregate, received: usize, snr_db: Option<f64>, start: Time) {
        let outcome = Outcome { choice: self.choice, sent: aggregate.mpdus, received, snr_db };
        self.rates.report(&outcome, start + self.duration(aggregate));
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
        if let Some(snr) = &self.radio.snr {
            probe.see("snr", snr.latest(), "dB");
        }
        if self.radio.schemes.len() > 1 {
            probe.see("mcs", self.scheme().mcs as f64, "");
            probe.see("phy_rate", self.scheme().mode.rate().bits_per_sec() as f64, "bit/s");
        }
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
