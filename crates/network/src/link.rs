//! A queue in front of a wire.

use crate::book::{Book, Counters, Looks, Totals};
use crate::line::{Fate, Line, Weather};
use crate::queue::{Backlog, Limit, Losses, QueueDiscipline, Waiting};
use crate::server::Server;
use crate::thinner::Thinner;
use crate::{Loss, Packet, Ring};
use units::{Duration, Rate, Time};

/// What a link is made of, apart from its queue.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Transmission rate; [`Rate::UNLIMITED`] never makes anybody wait.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Loss at the far end.
    pub loss: Option<Loss>,
    /// When its counters are read.
    pub looks: Looks,
    /// What is not the same all the time.
    pub weather: Weather,
}

/// A link: in + duplicated = dropped + waiting + on the wire + lost + forwarded, at any time.
///
/// It has two ways to serve its queue, with the same outcome:
///
/// * *Replay*, for any discipline: packets wait in the queue; whenever the link is used, the departures up to now
///   are replayed, each at its exact time.
/// * *Foresight*, if the queue is first in, first out with a plain limit: the departure of an admitted packet is
///   known on arrival, so it goes straight to the wire with its arrival time at the far end. Only who waits until
///   when is remembered, for the limit. [`transit`](Self::transit) then also serves packets that have not arrived
///   yet, if they come in the order of time.
///
/// At equal times a departure comes before an arrival, so that it makes room.
pub struct Link<P> {
    service: Service<P>,
    line: Line,
    /// Packets on the wire; those still waiting too, with foresight.
    wire: Ring<Flight<P>>,
    /// Drops acknowledgements before they reach the queue.
    thinner: Option<Box<Thinner<P>>>,
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
    },
    Foresight(Foresight),
}

/// Who waits until when, for a queue with a plain limit.
#[derive(Debug)]
struct Foresight {
    limit: Limit,
    waiting: Ring<(Time, u16)>,
    backlog: Backlog,
}

impl Foresight {
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
    /// An idle link. It uses foresight if the queue permits.
    ///
    /// # Panics
    /// If the rate is zero or above [`Server::MAX_RATE`] without being unlimited.
    pub fn new(config: LinkConfig, queue: Box<dyn QueueDiscipline<P>>) -> Link<P> {
        let service = match queue.plain_limit() {
            Some(limit) if config.weather.is_foreseeable() => {
                Service::Foresight(Foresight { limit, waiting: Ring::new(), backlog: Backlog::default() })
            }
            _ => Service::Replay { queue, idle: true },
        };
        Link::with_service(config, service)
    }

    /// An idle link that replays its queue even if it could do without. Slower, otherwise the same.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn replaying(config: LinkConfig, queue: Box<dyn QueueDiscipline<P>>) -> Link<P> {
        Link::with_service(config, Service::Replay { queue, idle: true })
    }

    fn with_service(config: LinkConfig, mut service: Service<P>) -> Link<P> {
        let LinkConfig { rate, delay, loss, looks, mut weather } = config;
        if let (Rate::UNLIMITED, Service::Replay { queue, .. }) = (rate, &mut service) {
            weather.rates = queue.shape(weather.rates);
        }
        let server = Server::changing(rate, std::mem::take(&mut weather.rates));
        let line = Line::new(server, delay, loss, weather, Book::new(looks));
        Link { service, line, wire: Ring::new(), thinner: None }
    }

    /// The same link, which lets only every so many of the packets of a flow pass that `is_thin` says are thin.
    ///
    /// # Panics
    /// If it foresees departures: use [`replaying`](Self::replaying).
    #[must_use]
    pub fn thinned(mut self, every: u32, is_thin: fn(&P) -> bool) -> Link<P> {
        assert!(!self.foresees(), "what is dropped on arrival has no departure");
        self.thinner = Some(Box::new(Thinner::new(every, is_thin)));
        self
    }

    /// Bytes that it could have sent after `from`, up to and including `to`, if it sends at given moments only.
    pub fn offered_bytes(&self, from: Time, to: Time) -> Option<u64> {
        self.line.offered_bytes(from, to)
    }

    /// Whether [`transit`](Self::transit) may be used.
    #[inline]
    pub fn foresees(&self) -> bool {
        matches!(self.service, Service::Foresight(_))
    }

    /// A packet reaches the link.
    pub fn send(&mut self, packet: Packet<P>, now: Time) {
        if self.foresees() {
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
    /// If the link does not use foresight.
    #[inline]
    pub fn transit(&mut self, size: u16, at: Time) -> Option<Time> {
        let Service::Foresight(queue) = &mut self.service else { panic!("the queue decides on departure") };
        let line = &mut self.line;
        let start = line.server.free_at();
        if start > at {
            while let Some(limit) = line.limit(at) {
                queue.limit = limit; // whoever waits stays
            }
            let admitted = queue.wait(size, at, start);
            line.book.backlog(at, queue.backlog.packets);
            if !admitted {
                line.book.arrived(at, size);
                line.book
                    .losses(at, Losses { dropped_packets: 1, dropped_bytes: size.into(), marked_packets: 0 });
                return None;
            }
        }
        let sent = line.server.transmit(size, at);
        let arrival = line.arrival(sent.finish);
        let lost = line.loses(arrival);
        line.book.passed(size, at, sent, arrival, lost);
        (!lost).then_some(arrival)
    }

    /// Puts a packet on the wire whose arrival [`transit`](Self::transit) has foretold. True if it is the next to
    /// arrive.
    #[inline]
    pub fn hold(&mut self, packet: &Packet<P>, arrival: Time) -> bool {
        self.wire.push(Flight { arrival, packet: *packet });
        self.wire.len() == 1
    }

    /// When the next packet reaches the far end, or is lost there; at the latest. It may turn out then that a packet has
    /// only departed.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        match self.wire.front() {
            None => self.next_departure(),
            Some(flight) if !self.line.reorders() => flight.arrival,
            Some(flight) => flight.arrival.min(self.next_departure()), // whoever departs next may arrive first
        }
    }

    /// When the next packet that waits departs, if one does and its departure is not foreseen.
    fn next_departure(&self) -> Time {
        match &self.service {
            Service::Replay { queue, idle: false } if queue.backlog().packets > 0 => {
                queue.ready().max(self.line.free_at())
            }
            _ => Time::NEVER,
        }
    }

    /// Takes the packet that reaches the far end at or before `now`; none if it is lost there or not yet due.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<&Packet<P>> {
        if !self.foresees() {
            return self.take_replayed(now);
        }
        if self.next_arrival() > now {
            return None;
        }
        self.wire.pop().map(|flight| &flight.packet)
    }

    fn take_replayed(&mut self, now: Time) -> Option<&Packet<P>> {
        self.replay(now);
        if self.next_arrival() > now {
            return None;
        }
        let (arrival, size) = self.wire.front().map(|flight| (flight.arrival, flight.packet.size))?;
        let fate = self.line.fate(arrival);
        if fate == Fate::Lost {
            self.line.book.lost(arrival);
            return self.wire.pop().and(None);
        }
        self.line.book.forwarded(arrival, size);
        let arrived = if fate == Fate::Twice { self.wire.front() } else { self.wire.pop() };
        arrived.map(|flight| &flight.packet)
    }

    /// Reads the counters of the interval that ends now. Must be called at every look.
    pub fn look(&mut self, now: Time) -> Counters {
        self.replay(now);
        self.line.book.close()
    }

    /// Everything up to the last look.
    pub fn totals(&self) -> &Totals {
        self.line.book.totals()
    }

    /// Replays the departures up to now.
    fn replay(&mut self, now: Time) {
        let Service::Replay { queue, idle } = &mut self.service else { return };
        while !*idle {
            let ready = queue.ready();
            if let Some(opportunities) = self.line.opportunities() {
                opportunities.waste_before(ready); // a shaper lets them pass
            }
            let start = self.line.free_at().max(ready);
            self.line.resize(queue.as_mut(), now.min(start));
            if start > now {
                return;
            }
            let mut losses = Losses::default();
            match queue.dequeue(start, &mut losses) {
                Some(next) => depart(&mut self.line, &mut self.wire, next, start),
                None => *idle = true,
            }
            self.line.book.losses(start, losses);
        }
    }

    fn queue_or_pass(&mut self, packet: Packet<P>, now: Time) {
        let Service::Replay { queue, idle } = &mut self.service else { return };
        self.line.book.arrived(now, packet.size);
        let mut losses = Losses::default();
        if self.thinner.as_mut().is_some_and(|thinner| thinner.drops(packet.flow, &packet.payload)) {
            losses.drop(&packet);
            return self.line.book.losses(now, losses);
        }
        self.line.resize(queue.as_mut(), now);
        let waits = !*idle || self.line.opportunities().is_some();
        if waits {
            if let Some(opportunities) = self.line.opportunities().filter(|_| *idle) {
                opportunities.waste_before(now + Duration::from_nanos(1)); // what comes now has come before the packet
            }
            queue.enqueue(packet, now, &mut losses);
            *idle = *idle && queue.backlog().packets == 0;
            self.line.book.backlog(now, queue.backlog().packets);
        } else {
            match queue.pass(packet, now, &mut losses) {
                Some(next) => {
                    *idle = false;
                    depart(&mut self.line, &mut self.wire, next, now);
                }
                None => *idle = queue.backlog().packets == 0, // held back by a shaper, or dropped
            }
        }
        self.line.book.losses(now, losses);
    }
}

/// Sends a packet on its way.
fn depart<P: Copy>(line: &mut Line, wire: &mut Ring<Flight<P>>, next: Waiting<P>, ready: Time) {
    let sent = line.transmit(next.packet.size, ready);
    line.book.started(next.packet.size, next.since, sent);
    line.book.waited(next.since, sent.start);
    let flight = Flight { arrival: line.arrival(sent.finish), packet: next.packet };
    if !line.reorders() {
        return wire.push(flight);
    }
    let arrival = flight.arrival + line.detour(sent.finish);
    wire.insert(Flight { arrival, ..flight }, |a, b| a.arrival < b.arrival);
}
