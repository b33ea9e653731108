//! A queue in front of a wire.

use crate::counters::{Counters, LinkStats, SamplingTimes, Totals};
use crate::queue::{Backlog, Limit, QueueDiscipline, QueueEvents, Released, Waiting};
use crate::server::Server;
use crate::wire::{Fate, Impairments, Wire};
use crate::{Loss, Packet, Ring};
use units::{Duration, Probe, Rate, Time};

/// What a link is made of, apart from its queue.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Transmission rate; [`Rate::UNLIMITED`] never makes a packet wait.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Loss at the far end.
    pub loss: Option<Loss>,
    /// When its counters are read.
    pub sampling: SamplingTimes,
    /// What it does beside queueing, sending and delaying.
    pub impairments: Impairments,
}

/// A link: in + duplicated = dropped + waiting + on the wire + lost + forwarded, at any time.
///
/// It has two ways to serve its queue, with the same outcome:
///
/// * *Replay*, for any discipline: packets wait in the queue; whenever the link is used, the departures up to now
///   are replayed, each at its exact time.
/// * *Closed form*, if the queue is first in, first out with a plain limit: the departure of an admitted packet is
///   known on arrival, so it goes straight to the wire with its arrival time at the far end. Only the times
///   until which packets wait are remembered, for the limit. [`transit`](Self::transit) then also serves packets that have not arrived
///   yet, if they come in the order of time.
///
/// At equal times a departure comes before an arrival, so that it makes room.
pub struct Link<P> {
    service: Service<P>,
    wire: Wire,
    /// Packets on the wire; those still waiting too, in the closed form.
    in_flight: Ring<Flight<P>>,
    /// Says which packets are plain acknowledgements, for impairments that treat those otherwise.
    is_plain_ack: fn(&P) -> bool,
    /// What the queue has dropped, if that is listed.
    dropped: Option<Vec<Released>>,
}

/// A packet and the time at which it reaches the far end.
#[derive(Clone, Copy, Debug)]
struct Flight<P> {
    arrival: Time,
    packet: Packet<P>,
}

enum Service<P> {
    Replay {
        queue: Box<dyn QueueDiscipline<P>>,
        /// The queue was found empty when the link became free.
        idle: bool,
        /// The last arrival. What it makes possible cannot begin before.
        since: Time,
    },
    ClosedForm(ClosedForm),
}

/// Who waits until when, for a queue with a plain limit.
#[derive(Debug)]
struct ClosedForm {
    limit: Limit,
    waiting: Ring<(Time, u16)>,
    backlog: Backlog,
}

impl ClosedForm {
    /// A packet of `size` bytes reaches a busy link at `at`; it would be transmitted from `start` on. False if the queue
    /// is full.
    fn wait(&mut self, size: u16, at: Time, start: Time) -> bool {
        while let Some(&(start, size)) = self.waiting.front()
            && start <= at
        {
            self.waiting.pop();
            self.backlog.remove(size);
        }
        let admitted = self.limit.admits(self.backlog, size);
        if admitted {
            self.waiting.push((start, size));
            self.backlog.add(size);
        }
        admitted
    }
}

impl<P: Copy> Link<P> {
    /// An idle link. It uses the closed form if the queue permits.
    ///
    /// # Panics
    /// If the rate is zero or above [`Server::MAX_RATE`] without being unlimited.
    pub fn new(config: LinkConfig, queue: Box<dyn QueueDiscipline<P>>) -> Link<P> {
        let service = match queue.plain_limit() {
            Some(limit) if config.impairments.have_closed_form() => {
                Service::ClosedForm(ClosedForm { limit, waiting: Ring::new(), backlog: Backlog::default() })
            }
            _ => Service::Replay { queue, idle: true, since: Time::ZERO },
        };
        Link::with_service(config, service)
    }

    /// An idle link that replays its queue even if it could do without. Slower, otherwise the same.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn replaying(config: LinkConfig, queue: Box<dyn QueueDiscipline<P>>) -> Link<P> {
        Link::with_service(config, Service::Replay { queue, idle: true, since: Time::ZERO })
    }

    fn with_service(config: LinkConfig, mut service: Service<P>) -> Link<P> {
        let LinkConfig { rate, delay, loss, sampling, mut impairments } = config;
        if let (Rate::UNLIMITED, Service::Replay { queue, .. }) = (rate, &mut service) {
            impairments.rates = queue.shape(impairments.rates);
        }
        let server = Server::changing(rate, std::mem::take(&mut impairments.rates));
        let wire = Wire::new(server, delay, loss, impairments, LinkStats::new(sampling));
        Link { service, wire, in_flight: Ring::new(), is_plain_ack: |_| false, dropped: None }
    }

    /// The same link, told which packets are plain acknowledgements: those that only repeat and extend what others of
    /// their flow say. Otherwise none is one.
    #[must_use]
    pub fn knowing_acks(mut self, is_plain_ack: fn(&P) -> bool) -> Link<P> {
        self.is_plain_ack = is_plain_ack;
        self
    }

    /// From now on lists what its queue drops; see [`dropped`](Self::dropped). Not what is dropped when its limit changes.
    ///
    /// # Panics
    /// If the link uses the closed form.
    pub fn list_drops(&mut self) {
        assert!(!self.has_closed_form(), "drops are listed where the queue is replayed");
        self.dropped = Some(Vec::new());
    }

    /// What its queue has dropped since this was called last, if that is listed.
    pub fn dropped(&mut self) -> impl Iterator<Item = Released> {
        self.dropped.iter_mut().flat_map(|list| list.drain(..))
    }

    /// Bytes that it could have sent after `from`, up to and including `to`, if it sends at given moments only.
    pub fn offered_bytes(&self, from: Time, to: Time) -> Option<u64> {
        self.wire.offered_bytes(from, to)
    }

    /// Whether [`transit`](Self::transit) may be used.
    #[inline]
    pub fn has_closed_form(&self) -> bool {
        matches!(self.service, Service::ClosedForm(_))
    }

    /// A packet reaches the link.
    pub fn send(&mut self, packet: Packet<P>, now: Time) {
        if self.has_closed_form() {
            if let Some(arrival) = self.transit(packet.size, now) {
                self.hold(&packet, arrival);
            }
        } else {
            self.replay(now);
            self.queue_or_pass(packet, now);
        }
    }

    /// A packet of `size` bytes reaches the link at `at`, possibly ahead of the clock: when will it reach the far
    /// end? Not at all if it is dropped or lost. Calls must come in the order of `at`.
    ///
    /// # Panics
    /// If the link does not use the closed form.
    #[inline]
    pub fn transit(&mut self, size: u16, at: Time) -> Option<Time> {
        let Service::ClosedForm(queue) = &mut self.service else { panic!("the queue decides on departure") };
        let wire = &mut self.wire;
        let start = wire.server.free_at();
        if start > at {
            while let Some(limit) = wire.limit(at) {
                queue.limit = limit; // packets that wait already stay
            }
            let admitted = queue.wait(size, at, start);
            wire.stats.backlog(at, queue.backlog.packets);
            if !admitted {
                wire.stats.arrived(at, size);
                wire.stats.queue_events(
                    at,
                    QueueEvents { dropped_packets: 1, dropped_bytes: size.into(), ..QueueEvents::default() },
                );
                return None;
            }
        }
        let sent = wire.server.transmit(size, at);
        let arrival = wire.arrival(sent.finish);
        let lost = wire.loses(arrival);
        wire.stats.passed(size, at, sent, arrival, lost);
        (!lost).then_some(arrival)
    }

    /// Puts a packet on the wire whose arrival [`transit`](Self::transit) has computed. True if it is the next to
    /// arrive.
    #[inline]
    pub fn hold(&mut self, packet: &Packet<P>, arrival: Time) -> bool {
        self.in_flight.push(Flight { arrival, packet: *packet });
        self.in_flight.len() == 1
    }

    /// When the next packet reaches the far end, or is lost there; at the latest. It may turn out then that a packet has
    /// only departed.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        if !self.has_closed_form() {
            return self.next_arrival_replayed();
        }
        self.in_flight.front().map_or(Time::NEVER, |flight| flight.arrival)
    }

    #[inline(never)] // else the common case above it is not inlined
    fn next_arrival_replayed(&self) -> Time {
        match self.in_flight.front() {
            None => self.next_departure(),
            Some(flight) if !self.wire.reorders() => flight.arrival,
            Some(flight) => flight.arrival.min(self.next_departure()), // the packet that departs next may arrive first
        }
    }

    /// When the next packet that waits departs, if one does and its departure is not computed on arrival.
    fn next_departure(&self) -> Time {
        match &self.service {
            Service::Replay { queue, idle: false, since } if queue.backlog().packets > 0 => {
                queue.ready().max(self.wire.free_at()).max(*since)
            }
            _ => Time::NEVER,
        }
    }

    /// Takes the packet that reaches the far end at or before `now`; none if it is lost there or not yet due.
    #[inline(always)] // called for every packet on every link
    pub fn take(&mut self, now: Time) -> Option<&Packet<P>> {
        if !self.has_closed_form() {
            return self.take_replayed(now);
        }
        self.in_flight.pop_if(|flight| flight.arrival <= now).map(|flight| &flight.packet)
    }

    fn take_replayed(&mut self, now: Time) -> Option<&Packet<P>> {
        self.replay(now);
        if self.next_arrival() > now {
            return None;
        }
        let (arrival, size) = self.in_flight.front().map(|flight| (flight.arrival, flight.packet.size))?;
        let fate = self.wire.fate(arrival);
        if fate == Fate::Lost {
            self.wire.stats.lost(arrival);
            return self.in_flight.pop().and(None);
        }
        self.wire.stats.forwarded(arrival, size);
        let arrived = if fate == Fate::Twice { self.in_flight.front() } else { self.in_flight.pop() };
        arrived.map(|flight| &flight.packet)
    }

    /// Reads the counters of the interval that ends now. Must be called at every sampling time.
    pub fn close_interval(&mut self, now: Time) -> Counters {
        self.replay(now);
        self.wire.stats.close()
    }

    /// Shows what the queue keeps of itself, at the sampling time up to which the counters were read last. Departures
    /// that were computed on arrival leave nothing to show.
    pub fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        if let Service::Replay { queue, .. } = &self.service {
            queue.observe(now, probe);
        }
    }

    /// Everything up to the last sampling time.
    pub fn totals(&self) -> &Totals {
        self.wire.stats.totals()
    }

    /// The shortest propagation delay from now on.
    pub fn min_delay(&self) -> Duration {
        self.wire.min_delay()
    }

    /// The highest rate from now on; unlimited if it has none, or sends at given moments.
    pub fn capacity(&self) -> Rate {
        self.wire.capacity()
    }

    /// The packets of one stream arrive in the order in which they came.
    pub fn keeps_order(&self) -> bool {
        !self.wire.reorders()
    }

    /// Replays the departures up to now.
    fn replay(&mut self, now: Time) {
        let Service::Replay { queue, idle, since } = &mut self.service else { return };
        while !*idle {
            let ready = queue.ready();
            if let Some(opportunities) = self.wire.opportunities() {
                opportunities.waste_before(ready); // a shaper lets them pass
            }
            let start = self.wire.free_at().max(ready).max(*since);
            self.wire.resize(queue.as_mut(), now.min(start));
            if start > now {
                return;
            }
            let mut events = QueueEvents { dropped: self.dropped.as_mut(), ..QueueEvents::default() };
            match queue.dequeue(start, &mut events) {
                Some(next) => depart(&mut self.wire, &mut self.in_flight, next, start),
                None => *idle = true,
            }
            self.wire.stats.queue_events(start, events);
        }
    }

    fn queue_or_pass(&mut self, packet: Packet<P>, now: Time) {
        let Service::Replay { queue, idle, since } = &mut self.service else { return };
        *since = now;
        self.wire.stats.arrived(now, packet.size);
        let mut events = QueueEvents { dropped: self.dropped.as_mut(), ..QueueEvents::default() };
        if self.wire.may_filter() && self.wire.filters(packet.stream, (self.is_plain_ack)(&packet.payload)) {
            events.drop(&packet);
            return self.wire.stats.queue_events(now, events);
        }
        self.wire.resize(queue.as_mut(), now);
        let waits = !*idle || self.wire.opportunities().is_some();
        if waits {
            if let Some(opportunities) = self.wire.opportunities().filter(|_| *idle) {
                opportunities.waste_before(now + Duration::from_nanos(1)); // what comes now has come before the packet
            }
            queue.enqueue(packet, now, &mut events);
            *idle = *idle && queue.backlog().packets == 0;
            self.wire.stats.backlog(now, queue.backlog().packets);
        } else {
            match queue.pass(packet, now, &mut events) {
                Some(next) => {
                    *idle = false;
                    depart(&mut self.wire, &mut self.in_flight, next, now);
                }
                None => *idle = queue.backlog().packets == 0, // held back by a shaper, or dropped
            }
        }
        self.wire.stats.queue_events(now, events);
    }
}

/// Sends a packet on its way.
fn depart<P: Copy>(wire: &mut Wire, in_flight: &mut Ring<Flight<P>>, next: Waiting<P>, ready: Time) {
    let sent = wire.transmit(next.packet.size, ready);
    wire.stats.started(next.packet.size, next.since, sent);
    wire.stats.waited(next.since, sent.start);
    let flight = Flight { arrival: wire.arrival(sent.finish), packet: next.packet };
    if wire.reorders() {
        in_flight.insert(flight, |a, b| a.arrival < b.arrival);
    } else {
        in_flight.push(flight);
    }
}
