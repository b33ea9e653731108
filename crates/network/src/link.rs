//! A queue in front of a wire.

use crate::closed_form::ClosedForm;
use crate::counters::{Counters, LinkStats, Passages, SamplingTimes, Totals};
use crate::queue::{QueueDiscipline, Released, Waiting};
use crate::server::Server;
use crate::wire::{Fate, Impairments, Wire};
use crate::{Drops, Loss, Packet, Ring};
use std::sync::Arc;
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
    wire: Wire,
    /// Packets on the wire; those still waiting too, in the closed form.
    in_flight: Ring<Flight<P>>,
    service: Service<P>,
}

/// A place behind packets in a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// There are none.
    Nothing,
    /// The last one reaches the far end at this time.
    Until(Time),
    /// The last one was the so many-th that the link had accepted.
    Accepted(u64),
}

/// A packet and the time at which it reaches the far end.
#[derive(Clone, Copy, Debug)]
struct Flight<P> {
    arrival: Time,
    packet: Packet<P>,
}

#[repr(u8)] // a tag of its own takes fewer instructions to read
enum Service<P> {
    ClosedForm(ClosedForm<P>),
    Replay(Box<Replay<P>>),
}

/// A queue that decides for itself.
struct Replay<P> {
    queue: Box<dyn QueueDiscipline<P>>,
    /// The queue was found empty when the link became free.
    idle: bool,
    /// The last arrival. What it makes possible cannot begin before.
    since: Time,
    stats: LinkStats<P>,
    /// So many packets have come and were not dropped at once.
    accepted: u64,
    /// Says which packets are plain acknowledgements, for impairments that treat those otherwise.
    is_plain_ack: fn(&P) -> bool,
    /// What the queue has dropped, if that is listed.
    dropped: Option<Vec<Released>>,
}

impl<P: Copy> Link<P> {
    /// An idle link. It uses the closed form if the queue permits.
    ///
    /// # Panics
    /// If the rate is zero or above [`Server::MAX_RATE`] without being unlimited.
    pub fn new(config: LinkConfig, queue: Box<dyn QueueDiscipline<P>>) -> Link<P> {
        let limit = queue.plain_limit().filter(|_| config.impairments.have_closed_form());
        Link::with_service(config, |sampling, delay| match limit {
            Some(limit) => Service::ClosedForm(ClosedForm::new(limit, Passages::new(sampling, delay))),
            None => Service::replay(queue, sampling),
        })
    }

    /// An idle link that replays its queue even if it could do without. Slower, otherwise the same.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn replaying(config: LinkConfig, queue: Box<dyn QueueDiscipline<P>>) -> Link<P> {
        Link::with_service(config, |sampling, _| Service::replay(queue, sampling))
    }

    fn with_service(
        config: LinkConfig,
        service: impl FnOnce(SamplingTimes, Duration) -> Service<P>,
    ) -> Link<P> {
        let LinkConfig { rate, delay, loss, sampling, mut impairments } = config;
        let mut service = service(sampling, delay);
        if let (Rate::UNLIMITED, Service::Replay(replay)) = (rate, &mut service) {
            impairments.rates = replay.queue.shape(impairments.rates);
        }
        let server = Server::changing(rate, std::mem::take(&mut impairments.rates));
        let wire = Wire::new(server, delay, loss, impairments);
        Link { wire, in_flight: Ring::new(), service }
    }

    /// The same link, told which packets are plain acknowledgements: those that only repeat and extend what others of
    /// their flow say. Otherwise none is one.
    #[must_use]
    pub fn knowing_acks(mut self, is_plain_ack: fn(&P) -> bool) -> Link<P> {
        if let Service::Replay(replay) = &mut self.service {
            replay.is_plain_ack = is_plain_ack;
        }
        self
    }

    /// Counts by flow the data packets that it drops, from now on.
    pub fn count_drops(&mut self, drops: &Arc<Drops<P>>) {
        match &mut self.service {
            Service::ClosedForm(queue) => queue.drops = Some(Arc::clone(drops)),
            Service::Replay(replay) => replay.stats.count_drops(drops),
        }
    }

    /// From now on lists what its queue drops; see [`dropped`](Self::dropped). Not what is dropped when its limit changes.
    ///
    /// # Panics
    /// If the link uses the closed form.
    pub fn list_drops(&mut self) {
        let Service::Replay(replay) = &mut self.service else {
            panic!("drops are listed where the queue is replayed")
        };
        replay.dropped = Some(Vec::new());
    }

    /// What its queue has dropped since this was called last, if that is listed.
    pub fn dropped(&mut self) -> impl Iterator<Item = Released> {
        let list = match &mut self.service {
            Service::Replay(replay) => replay.dropped.as_mut(),
            Service::ClosedForm(_) => None,
        };
        list.into_iter().flat_map(|list| list.drain(..))
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
        if let Service::Replay(replay) = &mut self.service {
            replay.serve(&mut self.wire, &mut self.in_flight, now);
            replay.queue_or_pass(&mut self.wire, &mut self.in_flight, packet, now);
        } else if let Some(arrival) = self.transit(&packet, now) {
            self.hold(&packet, arrival);
        }
    }

    /// A packet reaches the link at `at`, possibly ahead of the clock: when will it reach the far
    /// end? Not at all if it is dropped or lost. Calls must come in the order of `at`.
    ///
    /// # Panics
    /// If the link does not use the closed form.
    #[inline(always)] // called for every packet on every link
    pub fn transit(&mut self, packet: &Packet<P>, at: Time) -> Option<Time> {
        let Service::ClosedForm(queue) = &mut self.service else { panic!("the queue decides on departure") };
        queue.transit(&mut self.wire, packet, at)
    }

    /// As [`transit`](Self::transit) for packets that reach the link at `at`; `arrive` takes those that arrive, and when.
    ///
    /// # Panics
    /// If the link does not use the closed form.
    #[inline(always)] // called for every burst
    pub fn transit_each(
        &mut self,
        packets: impl Iterator<Item = Packet<P>>,
        at: Time,
        mut arrive: impl FnMut(Time, Packet<P>),
    ) {
        let Service::ClosedForm(queue) = &mut self.service else { panic!("the queue decides on departure") };
        for packet in packets {
            if let Some(arrival) = queue.transit(&mut self.wire, &packet, at) {
                arrive(arrival, packet);
            }
        }
    }

    /// As [`transit`](Self::transit) for one packet after the other, each of which is [held](Self::hold) if it arrives.
    ///
    /// # Panics
    /// If the link does not use the closed form.
    #[inline]
    pub fn transit_and_hold<'a>(&mut self, packets: impl Iterator<Item = (Time, &'a Packet<P>)>)
    where
        P: 'a,
    {
        let Service::ClosedForm(queue) = &mut self.service else { panic!("the queue decides on departure") };
        for (at, packet) in packets {
            if let Some(arrival) = queue.transit(&mut self.wire, packet, at) {
                self.in_flight.push(Flight { arrival, packet: *packet });
            }
        }
    }

    /// Gives room back of which the packets on the wire take little; for when there are most of them.
    #[inline]
    pub fn trim(&mut self) {
        self.in_flight.trim();
    }

    /// Puts a packet on the wire whose arrival [`transit`](Self::transit) has computed. True if it is the next to
    /// arrive.
    #[inline(always)]
    pub fn hold(&mut self, packet: &Packet<P>, arrival: Time) -> bool {
        self.in_flight.push(Flight { arrival, packet: *packet });
        self.in_flight.len() == 1
    }

    /// When the next packet reaches the far end, or is lost there; at the latest. It may turn out then that a packet has
    /// only departed.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        if let Service::Replay(replay) = &self.service {
            return replay.next_arrival(&self.wire, &self.in_flight);
        }
        self.in_flight.front().map_or(Time::NEVER, |flight| flight.arrival)
    }

    /// The end of what is in the link now.
    pub fn mark(&self) -> Mark {
        match &self.service {
            Service::ClosedForm(_) => {
                self.in_flight.back().map_or(Mark::Nothing, |flight| Mark::Until(flight.arrival))
            }
            Service::Replay(replay) => Mark::Accepted(replay.accepted),
        }
    }

    /// When the last packet before a mark reaches the far end, or the first time at which it may do so. None if all have, and
    /// if nothing leaves any more.
    pub fn passes(&self, mark: Mark) -> Option<Time> {
        match (mark, &self.service) {
            (Mark::Until(arrival), _) => Some(arrival),
            (Mark::Accepted(before), Service::Replay(replay)) => {
                let inside = replay.queue.backlog().packets + self.in_flight.len() as u64;
                let next = self.next_arrival();
                (replay.accepted.saturating_sub(inside) < before && next < Time::NEVER).then_some(next)
            }
            _ => None,
        }
    }

    /// Takes the packet that reaches the far end at or before `now`; none if it is lost there or not yet due.
    #[inline(always)] // called for every packet on every link
    pub fn take(&mut self, now: Time) -> Option<&Packet<P>> {
        if let Service::Replay(replay) = &mut self.service {
            return replay.take(&mut self.wire, &mut self.in_flight, now);
        }
        self.in_flight.pop_if(|flight| flight.arrival <= now).map(|flight| &flight.packet)
    }

    /// Takes the packet that reaches the far end before `until`, of a link that computes departures on arrival.
    #[inline]
    pub fn take_before(&mut self, until: Time) -> Option<(Time, &Packet<P>)> {
        let flight = self.in_flight.pop_if(|flight| flight.arrival < until)?;
        Some((flight.arrival, &flight.packet))
    }

    /// Takes a packet that has left the queue at or before `now` and is not lost, with the time at which it reaches the far
    /// end: ahead of the clock. For links that replay their queue, of which that
    /// [is known](Self::arrivals_known_on_departure).
    pub fn take_departed(&mut self, now: Time) -> Option<(Time, Packet<P>)> {
        let Service::Replay(replay) = &mut self.service else { return None };
        replay.serve(&mut self.wire, &mut self.in_flight, now);
        while let Some(&Flight { arrival, packet }) = self.in_flight.pop() {
            if self.wire.fate(&packet, arrival, &mut replay.stats) != Fate::Lost {
                replay.stats.forwarded(arrival, packet.size);
                return Some((arrival, packet));
            }
        }
        None
    }

    /// Reads the counters of the interval that ends now. Must be called at every sampling time.
    pub fn close_interval(&mut self, now: Time) -> Counters {
        match &mut self.service {
            Service::Replay(replay) => {
                replay.serve(&mut self.wire, &mut self.in_flight, now);
                replay.stats.close()
            }
            Service::ClosedForm(queue) => queue.passages.close(self.wire.server.free_at()),
        }
    }

    /// Shows what the queue keeps of itself, at the sampling time up to which the counters were read last. Departures
    /// that were computed on arrival leave nothing to show.
    pub fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        if let Service::Replay(replay) = &self.service {
            replay.queue.observe(now, probe);
        }
    }

    /// Everything up to the last sampling time.
    pub fn totals(&self) -> &Totals {
        match &self.service {
            Service::Replay(replay) => replay.stats.totals(),
            Service::ClosedForm(queue) => queue.passages.totals(),
        }
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

    /// What leaves the queue arrives in that order, once if it is not lost, at a time that is known when it leaves.
    pub fn arrivals_known_on_departure(&self) -> bool {
        self.wire.arrivals_known_on_departure()
    }
}

impl<P: Copy> Service<P> {
    fn replay(queue: Box<dyn QueueDiscipline<P>>, sampling: SamplingTimes) -> Service<P> {
        Service::Replay(Box::new(Replay {
            queue,
            idle: true,
            since: Time::ZERO,
            stats: LinkStats::new(sampling),
            accepted: 0,
            is_plain_ack: |_| false,
            dropped: None,
        }))
    }
}

impl<P: Copy> Replay<P> {
    #[inline]
    fn next_arrival(&self, wire: &Wire, in_flight: &Ring<Flight<P>>) -> Time {
        match in_flight.front() {
            Some(flight) if !wire.reorders() => flight.arrival,
            None => self.next_departure(wire),
            Some(flight) => flight.arrival.min(self.next_departure(wire)), // the packet that departs next may arrive first
        }
    }

    /// When the next packet that waits departs, if one does.
    #[inline(never)] // else the common case above is not inlined
    fn next_departure(&self, wire: &Wire) -> Time {
        if self.idle || self.queue.backlog().packets == 0 {
            return Time::NEVER;
        }
        self.queue.ready().max(wire.free_at()).max(self.since)
    }

    #[inline(never)]
    fn take<'a>(
        &mut self,
        wire: &mut Wire,
        in_flight: &'a mut Ring<Flight<P>>,
        now: Time,
    ) -> Option<&'a Packet<P>> {
        self.serve(wire, in_flight, now);
        if self.next_arrival(wire, in_flight) > now {
            return None;
        }
        let Flight { arrival, packet } = in_flight.front()?;
        let fate = wire.fate(packet, *arrival, &mut self.stats);
        if fate == Fate::Lost {
            return in_flight.pop().and(None);
        }
        self.stats.forwarded(*arrival, packet.size);
        let arrived = if fate == Fate::Twice { in_flight.front() } else { in_flight.pop() };
        arrived.map(|flight| &flight.packet)
    }

    /// Replays the departures up to now.
    fn serve(&mut self, wire: &mut Wire, in_flight: &mut Ring<Flight<P>>, now: Time) {
        let Replay { queue, idle, since, stats, .. } = self;
        while !*idle {
            let ready = queue.ready();
            if let Some(opportunities) = wire.opportunities() {
                opportunities.waste_before(ready); // a shaper lets them pass
            }
            let start = wire.free_at().max(ready).max(*since);
            wire.resize(queue.as_mut(), now.min(start), stats);
            if start > now {
                return;
            }
            match stats.queue_events(start, self.dropped.as_mut(), |events| queue.dequeue(start, events)) {
                Some(next) => depart(wire, in_flight, stats, next, start),
                None => *idle = true,
            }
        }
    }

    fn queue_or_pass(
        &mut self,
        wire: &mut Wire,
        in_flight: &mut Ring<Flight<P>>,
        packet: Packet<P>,
        now: Time,
    ) {
        let Replay { queue, idle, since, stats, accepted, .. } = self;
        *since = now;
        stats.arrived(now, packet.size);
        let listed = self.dropped.as_mut();
        if wire.may_filter() && wire.filters(packet.stream, (self.is_plain_ack)(&packet.payload)) {
            return stats.queue_events(now, listed, |events| events.drop(&packet));
        }
        wire.resize(queue.as_mut(), now, stats);
        let waits = !*idle || wire.opportunities().is_some();
        if waits {
            if let Some(opportunities) = wire.opportunities().filter(|_| queue.backlog().packets == 0) {
                opportunities.wake(now);
            }
            let before = queue.backlog().packets;
            stats.queue_events(now, listed, |events| queue.enqueue(packet, now, events));
            let backlog = queue.backlog().packets;
            *accepted += backlog.saturating_sub(before);
            *idle = *idle && backlog == 0;
            stats.backlog(now, backlog);
        } else {
            match stats.queue_events(now, listed, |events| queue.pass(packet, now, events)) {
                Some(next) => {
                    *idle = false;
                    *accepted += 1;
                    depart(wire, in_flight, stats, next, now);
                }
                None => {
                    *idle = queue.backlog().packets == 0; // held back by a shaper, or dropped
                    *accepted += queue.backlog().packets;
                }
            }
        }
    }
}

/// Sends a packet on its way.
fn depart<P: Copy>(
    wire: &mut Wire,
    in_flight: &mut Ring<Flight<P>>,
    stats: &mut LinkStats<P>,
    next: Waiting<P>,
    ready: Time,
) {
    let sent = wire.transmit(next.packet.size, ready);
    stats.started(next.packet.size, next.since, sent);
    stats.waited(next.since, sent.start);
    let flight = Flight { arrival: wire.arrival(sent.finish), packet: next.packet };
    if wire.reorders() {
        in_flight.insert(flight, |a, b| a.arrival < b.arrival);
    } else {
        in_flight.push(flight);
    }
}
