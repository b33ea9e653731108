//! One port of a Wi-Fi cell: one direction between the access point and a station.

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

/// Settings with which a port transmits.
#[derive(Clone, Debug)]
pub struct Radio {
    /// Schemes that the port may use, sorted by number of streams, then from slow to fast.
    pub schemes: Vec<Scheme>,
    /// Rate control.
    pub law: Law,
    /// Signal-to-noise ratio, the same in both directions. `None`: noise causes no errors.
    pub snr: Option<Snr>,
    /// Propagation delay.
    pub delay: Duration,
    /// Whether a receiver releases each packet when its part of a PPDU ends, instead of all packets at the end of the
    /// PPDU.
    pub release_each: bool,
    /// Whether a single MPDU is sent without a delimiter.
    pub bare: bool,
    /// Size of the block ACK window, in MPDUs from the first missing MPDU on.
    pub window: usize,
    /// Probability that an MPDU is not received, independently of other MPDUs and of noise.
    pub errors: f64,
    /// Retries after which an MPDU is given up; 0: an MPDU is never given up.
    pub retries: u64,
}

/// Packets in the radio that have no sequence number yet, first in, first out.
struct Below<P> {
    waiting: Fifo<P>,
    /// Estimated airtime of each waiting packet.
    airtimes: Ring<Duration>,
    /// Longest data part of an aggregate, if aggregates are built before they are sent.
    longest: Option<Duration>,
    /// Estimated airtime of packets that have been received or given up but not yet reported to the driver.
    settled: Duration,
    /// The packets whose airtime `settled` contains, for the list of released packets.
    left: Vec<Released>,
}

/// The state of a port.
pub struct Port<P> {
    queue: Box<dyn QueueDiscipline<P>>,
    /// Packets between the queue and the block ACK window; only with a mac80211 queue.
    below: Option<Below<P>>,
    window: Window<P>,
    radio: Radio,
    rates: Box<dyn RateControl>,
    /// Rate choice for the current PPDU, or for the last PPDU.
    choice: Choice,
    /// Whether the port has to request a block ACK.
    pub asks: bool,
    /// Earliest time at which the port may have something to send; [`Time::NEVER`] if it has nothing.
    pub ready: Time,
    /// Arrival numbers, counted over the whole cell, of the packets in the queue and in the window.
    numbers: Ring<u64>,
    /// Lower bound of the port's position in the order of service. The bound is set when a frame of the port fails; 0
    /// if no frame has failed.
    turn: u64,
    pub stats: LinkStats<P>,
    activity: Activity,
    /// Packets that left the host or were dropped in the port's queue, if such packets are listed.
    released: Option<Vec<Released>>,
    rng: Rng,
}

impl<P: Copy> Port<P> {
    /// Create an idle port. `rng` is for errors, `of_rates` for rate control.
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

    /// The scheme of the current PPDU.
    fn scheme(&self) -> &Scheme {
        &self.radio.schemes[self.choice.scheme]
    }

    /// The rules that the port's queue shares with the other queues of the radio; `None` if the queue is not a mac80211
    /// queue.
    pub fn rules(&mut self) -> Option<RadioRules> {
        self.queue.station_queue().map(|queue| queue.rules())
    }

    /// Start to pass packets to the radio before they are sent. `longest` limits the data of aggregates that are built
    /// in advance. An aggregate that is built in advance fills at most half of the window, so that a second aggregate
    /// has room.
    pub fn hands_down(&mut self, longest: Option<Duration>) {
        self.below = Some(Below {
            waiting: Fifo::default(),
            airtimes: Ring::new(),
            longest,
            settled: Duration::ZERO,
            left: Vec::new(),
        });
    }

    /// Maximum bytes and MPDUs of an aggregate at the current rate.
    fn most(&self) -> (u64, usize) {
        let scheme = self.scheme();
        match self.below.as_ref().and_then(|below| below.longest) {
            Some(longest) => {
                (scheme.most_bytes.min(scheme.mode.bytes_in(longest)), (self.radio.window / 2).max(1))
            }
            None => (scheme.most_bytes, self.radio.window),
        }
    }

    /// Bytes of the longest flow of the queue.
    pub fn fattest(&mut self) -> u64 {
        self.queue.station_queue().map_or(0, |queue| queue.fattest())
    }

    /// Drop packets from the head of the longest flow.
    pub fn drop_from_fattest(&mut self, now: Time) {
        if let Some(queue) = self.queue.station_queue() {
            let listed = self.released.as_mut();
            self.stats.queue_events(now, listed, |events| queue.drop_from_fattest(events));
        }
    }

    /// Pass the next packet to the radio. Its arrival number becomes `number`. Return the packet's size in bytes and
    /// its airtime, estimated at the last used rate.
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

    /// The next packet for an aggregate and its estimated airtime.
    fn next_packet(&mut self, now: Time) -> Option<(Waiting<P>, Duration)> {
        let Some(below) = &mut self.below else { return Some((self.dequeue(now)?, Duration::ZERO)) };
        Some((below.waiting.pop()?, *below.airtimes.pop()?))
    }

    /// Whether another packet of `size` bytes fits into an aggregate.
    pub fn fits(&self, aggregate: &Aggregate, size: u16) -> bool {
        let (bytes, mpdus) = self.most();
        aggregate.mpdus < mpdus && aggregate.fits(size, bytes)
    }

    /// Whether packets wait in the radio.
    pub fn has_below(&self) -> bool {
        self.missing() > 0 || self.below.as_ref().is_some_and(|below| !below.waiting.is_empty())
    }

    /// Packets with sequence numbers that have to be transmitted or retransmitted.
    pub fn missing(&self) -> usize {
        self.window.missing()
    }

    /// Return the estimated airtime of the packets that the last frame delivered or gave up.
    pub fn settled(&mut self) -> Duration {
        let Port { below, released, .. } = self;
        let Some(below) = below else { return Duration::ZERO };
        if let Some(released) = released {
            released.append(&mut below.left);
        }
        below.left.clear();
        std::mem::replace(&mut below.settled, Duration::ZERO)
    }

    /// Durations of the control frames around the port's data.
    pub fn control(&self) -> Control {
        self.scheme().control
    }

    /// The backlog of the queue.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Count and drop an arriving packet if the shared buffer is full. Return whether the packet was dropped.
    /// First-in, first-out queues share one buffer per contender. `others` is the backlog of the other queues of this
    /// contender.
    pub fn refuses(&mut self, packet: &Packet<P>, others: Backlog, now: Time) -> bool {
        let refused = self.queue.plain_limit().is_some_and(|limit| !limit.admits(others, packet.size));
        if refused {
            self.stats.arrived(now, packet.size);
            self.drop(packet, now);
        }
        refused
    }

    /// Drop a packet.
    fn drop(&mut self, packet: &Packet<P>, now: Time) {
        self.stats.queue_events(now, None, |events| events.drop(packet));
    }

    /// Accept an arriving packet with the arrival number `number`, counted over the whole cell.
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

    /// List packets that leave the host or are dropped in its queue, from now on.
    pub fn list_released(&mut self) {
        self.released = Some(Vec::new());
    }

    /// Move the packets listed so far to `into`.
    pub fn take_released(&mut self, into: &mut Vec<Released>) {
        if let Some(released) = &mut self.released {
            into.append(released);
        }
    }

    /// Arrival number of the oldest packet, or the port's position in the order of service if that is later.
    pub fn oldest(&self) -> u64 {
        self.numbers.front().map_or(u64::MAX, |&number| number.max(self.turn))
    }

    /// Place the port after packets with lower arrival numbers in the order of service.
    pub fn wait_behind(&mut self, number: u64) {
        self.turn = number;
    }

    /// Remove the arrival numbers of packets that the queue dropped, the oldest number first. A packet in the radio is
    /// never dropped.
    fn forget_dropped(&mut self) {
        if self.below.is_some() {
            return;
        }
        let held = self.queue.backlog().packets as usize + self.window.len();
        while self.numbers.len() > held {
            self.numbers.pop();
        }
    }

    /// Update the time from which the port may have something to send.
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
        // The discipline is also called if its queue is empty, so that it can detect the empty queue.
        stats.queue_events(now, released.as_mut(), |events| queue.dequeue(now, events))
    }

    /// Return the aggregate that can be sent now, if any: missing MPDUs first, then waiting packets. Whether a packet
    /// fits is only known once it has been dequeued. A packet that does not fit already has a sequence number, and
    /// goes into the next aggregate.
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

    /// Return an aggregate of MPDUs to be retransmitted and then packets that wait in the radio, as many as fit.
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

    /// Return an aggregate of MPDUs to be retransmitted, as many as fit.
    fn missing_aggregate(&mut self, (bytes, mpdus): (u64, usize)) -> Aggregate {
        let mut aggregate = Aggregate::default();
        for mpdu in self.window.outstanding().take(mpdus) {
            if aggregate.add(mpdu.waiting.packet.size, bytes).is_none() {
                break;
            }
        }
        aggregate
    }

    /// Duration of the PPDU of an aggregate.
    pub fn duration(&self, aggregate: &Aggregate) -> Duration {
        self.scheme().mode.ppdu(aggregate.psdu(self.radio.bare))
    }

    /// Begin the PPDU of an aggregate, `alone` or in a collision. A packet counts as waiting until its first PPDU
    /// without a collision. If a colliding packet counted as sent, the counters could show more traffic than the medium
    /// can carry.
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

    /// Receive the PPDU of an aggregate that began at `start` without a collision. Return how many of its MPDUs
    /// arrive.
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

    /// Record a collision of a frame that began at `start`. `aggregate` is `None` if the PPDU was not yet on the air.
    pub fn collide(&mut self, aggregate: Option<&Aggregate>, start: Time) {
        self.activity.collisions += 1;
        if let Some(aggregate) = aggregate {
            let Port { window, radio, below, .. } = self;
            window.judge(aggregate.mpdus, radio.retries, |_| false, |mpdu| settle(below, mpdu));
            self.report(aggregate, 0, None, start);
        }
    }

    /// Report the outcome of a PPDU to rate control.
    fn report(&mut self, aggregate: &Aggregate, received: usize, snr_db: Option<f64>, start: Time) {
        let outcome = Outcome { choice: self.choice, sent: aggregate.mpdus, received, snr_db };
        self.rates.report(&outcome, start + self.duration(aggregate));
    }

    /// Remove the next packet that the receiver releases from the window, after a PPDU that ended at `end`. Return the
    /// packet with its arrival time, which is zero if packets are not released one by one. Packets that were given up
    /// before the released packet are counted as lost. A packet whose PPDUs have all collided still counted as waiting,
    /// so it is counted as dropped, not as lost.
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

    /// Report the variables of the queue, the window and the counters of transmissions.
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

/// Record that an MPDU will not be retransmitted.
fn settle<P>(below: &mut Option<Below<P>>, mpdu: &Mpdu<P>) {
    if let Some(below) = below {
        below.settled = below.settled + mpdu.airtime;
        below.left.push(Released::of(&mpdu.waiting.packet));
    }
}
