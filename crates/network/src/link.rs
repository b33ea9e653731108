//! Links: a queue in front of a wire.

use crate::closed_form::ClosedForm;
use crate::counters::{Counters, LinkStats, Passages, SamplingTimes, Totals};
use crate::queue::{QueueDiscipline, Released, Waiting};
use crate::server::Server;
use crate::wire::{Fate, Impairments, Wire};
use crate::{Drops, Loss, Packet, Ring};
use std::sync::Arc;
use units::{Duration, Probe, Rate, Time};

/// Configuration of a link, except the queue.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Transmission rate; with [`Rate::UNLIMITED`] no packet waits.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Loss at the far end.
    pub loss: Option<Loss>,
    /// Times at which the counters of the link are read.
    pub sampling: SamplingTimes,
    /// Effects besides queueing, transmission and delay.
    pub impairments: Impairments,
}

/// A link. At any time: arrived + duplicated = dropped + waiting + on the wire + lost + forwarded.
///
/// A link serves its queue in one of two ways, with the same result:
///
/// * *Replay*, for any discipline: packets wait in the queue. At every call of the link, all departures up to the
///   time of the call are replayed, each at its exact time.
/// * *Closed form*, for a first-in, first-out queue whose limit is the only reason for drops: the departure of an
///   admitted packet is known on arrival. The packet immediately goes to the wire with its arrival time at the far end.
///   To apply the limit, the link stores only the times until which packets wait. [`transit`](Self::transit) can then
///   also serve packets ahead of the clock, if they come in the order of time.
///
/// At equal times departures come before arrivals, so a departing packet makes room for an arriving packet.
pub struct Link<P> {
    wire: Wire,
    /// Packets on the wire. With the closed form, also packets that wait.
    in_flight: Ring<Flight<P>>,
    service: Service<P>,
}

/// A position after the last packet that was in a link when [`Link::mark`] was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The link is empty.
    Nothing,
    /// The last packet reaches the far end at this time.
    Until(Time),
    /// The last packet is the n-th that the link accepted, counted from 1.
    Accepted(u64),
}

/// A packet and the time at which it reaches the far end.
#[derive(Clone, Copy, Debug)]
struct Flight<P> {
    arrival: Time,
    packet: Packet<P>,
    /// Number of changes of the loss before the packet.
    era: u32,
}

#[repr(u8)] // an explicit tag takes fewer instructions to read
enum Service<P> {
    ClosedForm(ClosedForm<P>),
    Replay(Box<Replay<P>>),
}

/// A queue whose departures are replayed.
struct Replay<P> {
    queue: Box<dyn QueueDiscipline<P>>,
    /// Whether the queue was found empty when the link became free.
    idle: bool,
    /// Time of the last arrival. A transmission that this arrival makes possible does not begin earlier.
    since: Time,
    stats: LinkStats<P>,
    /// Packets that arrived and were not dropped on arrival.
    accepted: u64,
    /// Whether a packet is a plain ACK, for the ACK filter.
    is_plain_ack: fn(&P) -> bool,
    /// Packets that the queue dropped, if they are listed.
    dropped: Option<Vec<Released>>,
}

impl<P: Copy> Link<P> {
    /// Create an idle link. The link uses the closed form if the queue permits it.
    ///
    /// # Panics
    /// If the rate is zero, or above [`Server::MAX_RATE`] but not unlimited.
    pub fn new(config: LinkConfig, queue: Box<dyn QueueDiscipline<P>>) -> Link<P> {
        let limit = queue.plain_limit().filter(|_| config.impairments.have_closed_form());
        Link::with_service(config, |sampling, delay| match limit {
            Some(limit) => Service::ClosedForm(ClosedForm::new(limit, Passages::new(sampling, delay))),
            None => Service::replay(queue, sampling),
        })
    }

    /// Create an idle link that replays its queue even if the queue permits the closed form. A replaying link is slower
    /// and has the same results.
    ///
    /// # Panics
    /// If [`new`](Self::new) would panic with `config`.
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

    /// Set the function that recognises plain ACKs: ACKs that report only progress, without SACK or ECN marks. By
    /// default no packet is a plain ACK.
    #[must_use]
    pub fn knowing_acks(mut self, is_plain_ack: fn(&P) -> bool) -> Link<P> {
        if let Service::Replay(replay) = &mut self.service {
            replay.is_plain_ack = is_plain_ack;
        }
        self
    }

    /// Count dropped data packets by flow, from now on.
    pub fn count_drops(&mut self, drops: &Arc<Drops<P>>) {
        match &mut self.service {
            Service::ClosedForm(queue) => queue.drops = Some(Arc::clone(drops)),
            Service::Replay(replay) => replay.stats.count_drops(drops),
        }
    }

    /// Start to list packets that the queue drops; see [`dropped`](Self::dropped). Packets dropped because the
    /// limit changes are not listed.
    ///
    /// # Panics
    /// If the link uses the closed form.
    pub fn list_drops(&mut self) {
        let Service::Replay(replay) = &mut self.service else {
            panic!("drops are listed only if the queue is replayed")
        };
        replay.dropped = Some(Vec::new());
    }

    /// Take the list of packets that the queue has dropped. The list is empty if drops are not listed.
    pub fn dropped(&mut self) -> impl Iterator<Item = Released> {
        let list = match &mut self.service {
            Service::Replay(replay) => replay.dropped.as_mut(),
            Service::ClosedForm(_) => None,
        };
        list.into_iter().flat_map(|list| list.drain(..))
    }

    /// Bytes that a link with opportunities could have sent after `from`, up to and including `to`; `None` for other
    /// links.
    pub fn offered_bytes(&self, from: Time, to: Time) -> Option<u64> {
        self.wire.offered_bytes(from, to)
    }

    /// Whether [`transit`](Self::transit) may be used.
    #[inline]
    pub fn has_closed_form(&self) -> bool {
        matches!(self.service, Service::ClosedForm(_))
    }

    /// Accept a packet that reaches the link.
    pub fn send(&mut self, packet: Packet<P>, now: Time) {
        if let Service::Replay(replay) = &mut self.service {
            replay.serve(&mut self.wire, &mut self.in_flight, now);
            replay.queue_or_pass(&mut self.wire, &mut self.in_flight, packet, now);
        } else if let Some(arrival) = self.transit(&packet, now) {
            self.hold(&packet, arrival);
        }
    }

    /// Compute when a packet that reaches the link at `at`, possibly ahead of the clock, reaches the far end. `None` if
    /// the packet is dropped or lost. Calls must come in the order of `at`.
    ///
    /// # Panics
    /// If the link does not use the closed form.
    #[inline(always)] // called for every packet on every link
    pub fn transit(&mut self, packet: &Packet<P>, at: Time) -> Option<Time> {
        let Service::ClosedForm(queue) = &mut self.service else { panic!("the link has no closed form") };
        queue.transit(&mut self.wire, packet, at)
    }

    /// Call [`transit`](Self::transit) for several packets that reach the link at `at`. `arrive` is called with each
    /// packet that arrives and its arrival time.
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
        let Service::ClosedForm(queue) = &mut self.service else { panic!("the link has no closed form") };
        for packet in packets {
            if let Some(arrival) = queue.transit(&mut self.wire, &packet, at) {
                arrive(arrival, packet);
            }
        }
    }

    /// Call [`transit`](Self::transit) for several packets, and [hold](Self::hold) the packets that arrive.
    ///
    /// # Panics
    /// If the link does not use the closed form.
    #[inline]
    pub fn transit_and_hold<'a>(&mut self, packets: impl Iterator<Item = (Time, &'a Packet<P>)>)
    where
        P: 'a,
    {
        let Service::ClosedForm(queue) = &mut self.service else { panic!("the link has no closed form") };
        for (at, packet) in packets {
            if let Some(arrival) = queue.transit(&mut self.wire, packet, at) {
                self.in_flight.push(Flight { arrival, packet: *packet, era: 0 });
            }
        }
    }

    /// Release unused memory for packets on the wire. Useful after a burst.
    #[inline]
    pub fn trim(&mut self) {
        self.in_flight.trim();
    }

    /// Put a packet on the wire. The `arrival` of the packet comes from [`transit`](Self::transit). Return whether the
    /// packet is the next packet to arrive.
    #[inline(always)]
    pub fn hold(&mut self, packet: &Packet<P>, arrival: Time) -> bool {
        self.in_flight.push(Flight { arrival, packet: *packet, era: 0 });
        self.in_flight.len() == 1
    }

    /// A lower bound of the time at which the next packet reaches the far end or is lost there. At the returned time a
    /// packet may merely leave the queue.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        if let Service::Replay(replay) = &self.service {
            return replay.next_arrival(&self.wire, &self.in_flight);
        }
        self.in_flight.front().map_or(Time::NEVER, |flight| flight.arrival)
    }

    /// A mark after the last packet that is in the link now.
    pub fn mark(&self) -> Mark {
        match &self.service {
            Service::ClosedForm(_) => {
                self.in_flight.back().map_or(Mark::Nothing, |flight| Mark::Until(flight.arrival))
            }
            Service::Replay(replay) => Mark::Accepted(replay.accepted),
        }
    }

    /// The time at which the last packet before a mark reaches the far end, or a lower bound of this time. `None` if
    /// all these packets have reached the far end, or if no packet can leave any more.
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

    /// Take the packet that reaches the far end at or before `now`; `None` if the packet is lost there, or if no packet
    /// is due.
    #[inline(always)] // called for every packet on every link
    pub fn take(&mut self, now: Time) -> Option<&Packet<P>> {
        if let Service::Replay(replay) = &mut self.service {
            return replay.take(&mut self.wire, &mut self.in_flight, now);
        }
        self.in_flight.pop_if(|flight| flight.arrival <= now).map(|flight| &flight.packet)
    }

    /// Take the packet that reaches the far end before `until`. Only for links with the closed form.
    #[inline]
    pub fn take_before(&mut self, until: Time) -> Option<(Time, &Packet<P>)> {
        let flight = self.in_flight.pop_if(|flight| flight.arrival < until)?;
        Some((flight.arrival, &flight.packet))
    }

    /// Take a packet that has left the queue at or before `now` and will not be lost. Return the packet with its
    /// arrival time at the far end, which may be ahead of the clock. Only for links that replay their queue and whose
    /// arrivals [are known on departure](Self::arrivals_known_on_departure).
    pub fn take_departed(&mut self, now: Time) -> Option<(Time, Packet<P>)> {
        let Service::Replay(replay) = &mut self.service else { return None };
        replay.serve(&mut self.wire, &mut self.in_flight, now);
        while let Some(&Flight { arrival, packet, era }) = self.in_flight.pop() {
            if self.wire.fate(&packet, arrival, era, &mut replay.stats) != Fate::Lost {
                replay.stats.forwarded(arrival, packet.size);
                return Some((arrival, packet));
            }
        }
        None
    }

    /// Read the counters of the interval that ends now. Must be called at every sampling time.
    pub fn close_interval(&mut self, now: Time) -> Counters {
        match &mut self.service {
            Service::Replay(replay) => {
                replay.serve(&mut self.wire, &mut self.in_flight, now);
                replay.stats.close()
            }
            Service::ClosedForm(queue) => queue.passages.close(self.wire.server.free_at()),
        }
    }

    /// Report the variables of the queue, at the sampling time at which the counters were last read. A link with the
    /// closed form has no variables.
    pub fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        if let Service::Replay(replay) = &self.service {
            replay.queue.observe(now, probe);
        }
    }

    /// Counters up to the last sampling time.
    pub fn totals(&self) -> &Totals {
        match &self.service {
            Service::Replay(replay) => replay.stats.totals(),
            Service::ClosedForm(queue) => queue.passages.totals(),
        }
    }

    /// Minimum propagation delay from now on.
    pub fn min_delay(&self) -> Duration {
        self.wire.min_delay()
    }

    /// Highest rate from now on; unlimited if the link has no rate limit, or has opportunities.
    pub fn capacity(&self) -> Rate {
        self.wire.capacity()
    }

    /// Whether packets of one stream arrive at the far end in the order in which they reached the link.
    pub fn keeps_order(&self) -> bool {
        !self.wire.reorders()
    }

    /// Whether packets arrive in the order of their departures, at most once, and their arrival times are known on
    /// departure.
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

    /// Time at which the next waiting packet departs; [`Time::NEVER`] if no packet will depart.
    #[inline(never)] // otherwise the common case above is not inlined
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
        let Flight { arrival, packet, era } = in_flight.front()?;
        let fate = wire.fate(packet, *arrival, *era, &mut self.stats);
        if fate == Fate::Lost {
            return in_flight.pop().and(None);
        }
        self.stats.forwarded(*arrival, packet.size);
        let arrived = if fate == Fate::Twice { in_flight.front() } else { in_flight.pop() };
        arrived.map(|flight| &flight.packet)
    }

    /// Replay the departures up to now.
    fn serve(&mut self, wire: &mut Wire, in_flight: &mut Ring<Flight<P>>, now: Time) {
        let Replay { queue, idle, since, stats, .. } = self;
        while !*idle {
            let ready = queue.ready();
            if let Some(opportunities) = wire.opportunities() {
                opportunities.waste_before(ready); // a shaper does not use these opportunities
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
                    *idle = queue.backlog().packets == 0; // packets are held back by a shaper, or were dropped
                    *accepted += queue.backlog().packets;
                }
            }
        }
    }
}

/// Put a packet on the wire.
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
    let (arrival, era) = wire.arrival(sent.finish);
    let flight = Flight { arrival, packet: next.packet, era };
    if wire.reorders() {
        in_flight.insert(flight, |a, b| a.arrival < b.arrival);
    } else {
        in_flight.push(flight);
    }
}
