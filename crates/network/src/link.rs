//! A queue in front of a wire.

use crate::book::{Book, Counters, Looks, Totals};
use crate::queue::{Backlog, Limit, Losses, QueueDiscipline, Waiting};
use crate::server::Server;
use crate::weather::{Agenda, Detours, slot_after};
use crate::{Detour, Jitter, Loss, Packet, Ring};
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

/// What is not the same all the time. The default is fair weather.
#[derive(Clone, Debug, Default)]
pub struct Weather {
    /// Rates that take over, in the order of time; a packet being transmitted is not affected. On a link of unlimited
    /// rate behind a shaper, the shaper's.
    pub rates: Vec<(Time, Rate)>,
    /// Delays that take over for packets whose transmission ends at or after a time, in the order of time. Behind a
    /// shorter one, packets overtake those sent before.
    pub delays: Vec<(Time, Duration)>,
    /// Losses that take over at the far end, in the order of time.
    pub losses: Vec<(Time, Loss)>,
    /// The far end hands packets over at multiples of this time only: batches, as on a radio link.
    pub slot: Option<Duration>,
    /// Some packets are overtaken.
    pub detour: Option<Detour>,
    /// Every packet takes a little longer.
    pub jitter: Option<Jitter>,
}

/// A link: in = dropped + waiting + on the wire + lost + forwarded, at any time.
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

/// The part of a link that does not depend on what packets carry.
#[derive(Debug)]
struct Line {
    server: Server,
    delay: Duration,
    loss: Option<Loss>,
    /// None in fair weather, which is what most links have and what must cost nothing.
    weather: Option<Box<Unsettled>>,
    book: Book,
}

/// A link in weather that is not fair.
#[derive(Debug)]
struct Unsettled {
    reorders: bool,
    delays: Agenda<Duration>,
    losses: Agenda<Loss>,
    slot: Option<Duration>,
    detours: Option<Detours>,
    jitter: Option<Jitter>,
    /// The last arrival at the far end.
    latest: Time,
}

impl Line {
    /// The packet that reaches the far end at `now` is lost there.
    #[inline]
    fn loses(&mut self, now: Time) -> bool {
        if let Some(weather) = &mut self.weather
            && let Some(loss) = weather.losses.due(now)
        {
            self.loss = Some(loss);
        }
        self.loss.as_mut().is_some_and(Loss::strikes)
    }

    /// When a packet reaches the far end whose transmission ended at `finish`.
    #[inline]
    fn arrival(&mut self, finish: Time) -> Time {
        match &mut self.weather {
            None => finish + self.delay,
            Some(weather) => weather.arrival(finish, &mut self.delay),
        }
    }

    /// Packets may arrive in another order than that of their departures.
    #[inline]
    fn reorders(&self) -> bool {
        self.weather.as_ref().is_some_and(|weather| weather.reorders)
    }
}

impl Unsettled {
    fn new(weather: Weather) -> Unsettled {
        Unsettled {
            reorders: weather.reorders(),
            delays: Agenda::new(weather.delays),
            losses: Agenda::new(weather.losses),
            slot: weather.slot,
            detours: weather.detour.map(|detour| Detours { detour, seen: 0 }),
            jitter: weather.jitter,
            latest: Time::ZERO,
        }
    }

    fn arrival(&mut self, finish: Time, delay: &mut Duration) -> Time {
        if let Some(changed) = self.delays.due(finish) {
            *delay = changed;
        }
        let mut arrival = finish + *delay;
        if let Some(jitter) = &mut self.jitter {
            arrival += jitter.extra();
            if !jitter.reorders {
                arrival = arrival.max(self.latest);
                self.latest = arrival;
            }
        }
        self.slot.map_or(arrival, |slot| slot_after(arrival, slot))
    }

    /// What the packet that leaves at `now` takes longer, on its own.
    fn detour(&mut self, now: Time) -> Duration {
        self.detours.as_mut().map_or(Duration::ZERO, |detours| detours.extra(now))
    }
}

impl Weather {
    /// Nothing of what happens on the wire ever differs.
    fn is_fair(&self) -> bool {
        let steady = self.delays.is_empty() && self.losses.is_empty();
        steady && self.slot.is_none() && self.detour.is_none() && self.jitter.is_none()
    }

    /// Packets may arrive in another order than that of their departures.
    fn reorders(&self) -> bool {
        let overtakes = self.jitter.as_ref().is_some_and(|jitter| jitter.reorders);
        self.detour.is_some() || !self.delays.is_empty() || overtakes
    }
}

impl<P: Copy> Link<P> {
    /// An idle link. It uses foresight if the queue permits.
    ///
    /// # Panics
    /// If the rate is zero or above [`Server::MAX_RATE`] without being unlimited.
    pub fn new(config: LinkConfig, queue: Box<dyn QueueDiscipline<P>>) -> Link<P> {
        let service = match queue.plain_limit() {
            // Whoever is overtaken does not arrive in the order of departures.
            Some(limit) if !config.weather.reorders() => {
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
        let line = Line {
            server: Server::changing(rate, std::mem::take(&mut weather.rates)),
            delay,
            loss,
            weather: (!weather.is_fair()).then(|| Box::new(Unsettled::new(weather))),
            book: Book::new(looks),
        };
        Link { service, line, wire: Ring::new() }
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
                queue.ready().max(self.line.server.free_at())
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
        let Flight { arrival, packet } = self.wire.pop()?;
        if self.line.loses(*arrival) {
            self.line.book.lost(*arrival);
            return None;
        }
        self.line.book.forwarded(*arrival, packet.size);
        Some(packet)
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
            let start = self.line.server.free_at().max(queue.ready());
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
        if !*idle {
            queue.enqueue(packet, now, &mut losses);
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
    let sent = line.server.transmit(next.packet.size, ready);
    line.book.started(next.packet.size, next.since, sent);
    line.book.waited(next.since, sent.start);
    let flight = Flight { arrival: line.arrival(sent.finish), packet: next.packet };
    let Some(weather) = line.weather.as_mut().filter(|weather| weather.reorders) else {
        return wire.push(flight);
    };
    let arrival = flight.arrival + weather.detour(sent.finish);
    wire.insert(Flight { arrival, ..flight }, |a, b| a.arrival < b.arrival);
}
