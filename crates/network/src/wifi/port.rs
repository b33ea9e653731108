//! One port of a cell: one direction between the access point and a station.

use super::activity::Activity;
use super::aggregate::{Aggregate, mpdu_bytes};
use super::block_ack::{Fate, Mpdu, Window};
use super::noise::arrives;
use super::rate::{Choice, Law, Outcome, RateControl, make};
use super::scheme::Scheme;
use super::timing::Control;
use crate::counters::{LinkStats, SamplingTimes};
use crate::queue::{Fifo, RadioRules, Released, Waiting};
use crate::server::Transmission;
use crate::{Backlog, Packet, QueueDiscipline, Ring, Snr};
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

/// What has been handed down to the radio, first in, first out, and waits for a sequence number.
struct Below<P> {
    waiting: Fifo<P>,
    /// Airtime that each is taken to need.
    airtimes: Ring<Duration>,
    /// The data of aggregates takes no longer, if they are made before their turn.
    longest: Option<Duration>,
    /// Estimated airtime of what has been sent or given up, and is not reported yet.
    settled: Duration,
    /// And what that was, if it is listed.
    left: Vec<Released>,
}

/// The port.
pub struct Port<P> {
    queue: Box<dyn QueueDiscipline<P>>,
    /// Between queue and window, if the queue is one of mac80211's.
    below: Option<Below<P>>,
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
    /// The number that its turn has at least, as its last frame failed; 0 if none has.
    turn: u64,
    pub stats: LinkStats<P>,
    activity: Activity,
    /// What has left the host or was dropped in its queue, if that is listed.
    released: Option<Vec<Released>>,
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
        let activity = Activity::new(radio.window);
        let stats = LinkStats::new(sampling);
        let window = Window::new(radio.window);
        let snr_db = radio.snr.as_ref().map(Snr::latest);
        let rates = make(radio.law, &radio.schemes, snr_db, of_rates);
        Port {
            queue,
            below: None,
            released: None,
            window,
            radio,
            rates,
            choice: Choice { scheme: 0, alone: false },
            asks: false,
            ready: Time::NEVER,
            numbers: Ring::new(),
            turn: 0,
            stats,
            activity,
            rng,
        }
    }

    /// What its PPDU uses.
    fn scheme(&self) -> &Scheme {
        &self.radio.schemes[self.choice.scheme]
    }

    /// What its queue has in common with others, if it is one of mac80211's.
    pub fn rules(&mut self) -> Option<RadioRules> {
        self.queue.station_queue().map(|queue| queue.rules())
    }

    /// From now on its packets are handed down to the radio before they are sent; `longest`: in aggregates whose data takes no
    /// longer, of half a window at most, so that there is room for another.
    pub fn hands_down(&mut self, longest: Option<Duration>) {
        self.below = Some(Below {
            waiting: Fifo::default(),
            airtimes: Ring::new(),
            longest,
            settled: Duration::ZERO,
            left: Vec::new(),
        });
    }

    /// Bytes and MPDUs of an aggregate at most, at the present rate.
    fn most(&self) -> (u64, usize) {
        let scheme = self.scheme();
        match self.below.as_ref().and_then(|below| below.longest) {
            Some(longest) => {
                (scheme.most_bytes.min(scheme.mode.bytes_in(longest)), (self.radio.window / 2).max(1))
            }
            None => (scheme.most_bytes, self.radio.window),
        }
    }

    /// Bytes of the fattest flow of its queue.
    pub fn fattest(&mut self) -> u64 {
        self.queue.station_queue().map_or(0, |queue| queue.fattest())
    }

    /// Drops from that flow.
    pub fn drop_from_fattest(&mut self, now: Time) {
        if let Some(queue) = self.queue.station_queue() {
            let listed = self.released.as_mut();
            self.stats.queue_events(now, listed, |events| queue.drop_from_fattest(events));
        }
    }

    /// Hands the next packet down to the radio, with a number of its own; returns its size and the airtime that it is taken
    /// to need at the rate that was used last.
    pub fn hand_down(&mut self, number: u64, now: Time) -> Option<(u16, Duration)> {
        let next = self.dequeue(now)?;
        let size = next.packet.size;
        let airtime = self.scheme().estimate.airtime(size);
        let below = self.below.as_mut()?;
        below.waiting.append(next);
        below.airtimes.push(airtime);
        self.numbers.push(number);
        Some((size, airtime))
    }

    /// The next packet for an aggregate, with the airtime that it was taken to need.
    fn next_packet(&mut self, now: Time) -> Option<(Waiting<P>, Duration)> {
        let Some(below) = &mut self.below else { return Some((self.dequeue(now)?, Duration::ZERO)) };
        Some((below.waiting.pop()?, *below.airtimes.pop()?))
    }

    /// Another packet of so many bytes fits into an aggregate.
    pub fn fits(&self, aggregate: &Aggregate, size: u16) -> bool {
        let (bytes, mpdus) = self.most();
        aggregate.mpdus < mpdus && aggregate.fits(size, bytes)
    }

    /// The radio has something to send.
    pub fn has_below(&self) -> bool {
        self.missing() > 0 || self.below.as_ref().is_some_and(|below| !below.waiting.is_empty())
    }

    /// How many packets have to be sent, or sent again, that have sequence numbers.
    pub fn missing(&self) -> usize {
        self.window.missing()
    }

    /// A frame of it is done: the estimated airtime of what has been sent or given up with it.
    pub fn settled(&mut self) -> Duration {
        let Port { below, released, .. } = self;
        let Some(below) = below else { return Duration::ZERO };
        if let Some(released) = released {
            released.append(&mut below.left);
        }
        below.left.clear();
        std::mem::replace(&mut below.settled, Duration::ZERO)
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
        self.stats.queue_events(now, None, |events| events.drop(packet));
    }

    /// A packet arrives, as the one with this number of the cell.
    pub fn arrive(&mut self, packet: Packet<P>, number: u64, now: Time) {
        self.stats.arrived(now, packet.size);
        let before = self.queue.backlog().packets;
        let Port { queue, stats, released, .. } = self;
        stats.queue_events(now, released.as_mut(), |events| queue.enqueue(packet, now, events));
        let backlog = self.queue.backlog().packets;
        if backlog > before && self.below.is_none() {
            self.numbers.push(number);
        }
        let below = self.below.as_ref().map_or(0, |below| below.waiting.backlog().packets);
        self.stats.backlog(now, backlog + below + self.window.waiting() as u64);
        self.forget_dropped();
        self.refresh();
    }

    /// Begins to tell what leaves the host, or is dropped in its queue.
    pub fn list_released(&mut self) {
        self.released = Some(Vec::new());
    }

    /// What has left, up to now.
    pub fn take_released(&mut self, into: &mut Vec<Released>) {
        if let Some(released) = &mut self.released {
            into.append(released);
        }
    }

    /// The number of the packet that has been here longest, or of its turn if that is later.
    pub fn oldest(&self) -> u64 {
        self.numbers.front().map_or(u64::MAX, |&number| number.max(self.turn))
    }

    /// Its turn comes behind packets with lower numbers.
    pub fn wait_behind(&mut self, number: u64) {
        self.turn = number;
    }

    /// Numbers belong to packets: those of what the queue dropped go, the oldest first. Nothing that has been handed down is
    /// dropped.
    fn forget_dropped(&mut self) {
        if self.below.is_some() {
            return;
        }
        let held = self.queue.backlog().packets as usize + self.window.len();
        while self.numbers.len() > held {
            self.numbers.pop();
        }
    }

    /// Updates when it may have something to send.
    pub fn refresh(&mut self) {
        self.ready = match self.queue.backlog().packets {
            _ if self.asks || self.has_below() => Time::ZERO,
            _ if self.below.is_some() => Time::NEVER,
            0 => Time::NEVER,
            _ => self.queue.ready(),
        };
    }

    fn dequeue(&mut self, now: Time) -> Option<Waiting<P>> {
        if self.queue.backlog().packets > 0 && self.queue.ready() > now {
            return None;
        }
        let Port { queue, stats, released, .. } = self;
        // Also when it is empty, so that it may notice.
        stats.queue_events(now, released.as_mut(), |events| queue.dequeue(now, events))
    }

    /// The aggregate that can be sent now, if any: what is missing, then what waits. To know that the next packet does not
    /// fit, it has to be dequeued: it has a sequence number then, and goes in the next aggregate.
    pub fn fill(&mut self, now: Time) -> Option<Aggregate> {
        self.choice = self.rates.choose(now);
        let (bytes, mpdus) = self.most();
        let most = (bytes, if self.choice.alone { 1 } else { mpdus });
        let mut aggregate = self.missing_aggregate(most);
        let mut full = aggregate.mpdus < self.window.missing();
        while !full && aggregate.mpdus < most.1 && self.window.has_room() {
            let Some((next, airtime)) = self.next_packet(now) else { break };
            full = aggregate.add(next.packet.size, bytes).is_none();
            self.window.push(next, airtime);
        }
        self.forget_dropped();
        (aggregate.mpdus > 0).then_some(aggregate)
    }

    /// An aggregate of what has to be sent again and of what waits in the radio, as far as it fits.
    pub fn aggregate_below(&mut self) -> Aggregate {
        let (bytes, mpdus) = self.most();
        let mut aggregate = self.missing_aggregate((bytes, mpdus));
        for waiting in self.below.iter().flat_map(|below| below.waiting.iter()) {
            if aggregate.mpdus == mpdus || aggregate.add(waiting.packet.size, bytes).is_none() {
                break;
            }
        }
        aggregate
    }

    /// An aggregate of what has to be sent again, as far as it fits.
    fn missing_aggregate(&mut self, (bytes, mpdus): (u64, usize)) -> Aggregate {
        let mut aggregate = Aggregate::default();
        for mpdu in self.window.outstanding().take(mpdus) {
            if aggregate.add(mpdu.waiting.packet.size, bytes).is_none() {
                break;
            }
        }
        aggregate
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
        let Port { window, below, rng, .. } = self;
        let clean = errors == 0.0 && bit_error.is_none();
        let arrives = |size| clean || !rng.chance(lost(size));
        let received = window.judge(aggregate.mpdus, retries, arrives, |mpdu| settle(below, mpdu));
        self.report(aggregate, received, snr_db, start);
        received
    }

    /// A frame of it collides: the PPDU of an aggregate, begun at `start`, or none if that was not on the air yet.
    pub fn collide(&mut self, aggregate: Option<&Aggregate>, start: Time) {
        self.activity.collisions += 1;
        if let Some(aggregate) = aggregate {
            let Port { window, radio, below, .. } = self;
            window.judge(aggregate.mpdus, radio.retries, |_| false, |mpdu| settle(below, mpdu));
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
                Fate::GivenUp if started => self.stats.lost(end, &packet),
                Fate::GivenUp => self.drop(&packet, end),
                _ => return Some((packet, ended.max(known))),
            }
        }
    }

    /// Shows its queue, its window and what it has done.
    pub fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        self.queue.observe(now, probe);
        if let Some(below) = &self.below {
            probe.see("below", below.waiting.backlog().packets as f64, "packets");
        }
        probe.see("window", self.window.len() as f64, "packets");
        self.activity.observe(probe);
        if let Some(snr) = &self.radio.snr {
            probe.see("snr", snr.latest(), "dB");
        }
        if self.radio.schemes.len() > 1 {
            probe.see("mcs", self.scheme().mcs as f64, "");
            probe.see("phy_rate", self.scheme().mode.rate().bits_per_sec() as f64, "bit/s");
        }
        self.activity.observe_sizes(probe);
    }
}

/// A packet will not be sent again.
fn settle<P>(below: &mut Option<Below<P>>, mpdu: &Mpdu<P>) {
    if let Some(below) = below {
        below.settled = below.settled + mpdu.airtime;
        below.left.push(Released::of(&mpdu.waiting.packet));
    }
}
