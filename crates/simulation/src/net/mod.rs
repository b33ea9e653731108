//! Links and media joined by routes, and the schedule that moves packets along them.

mod border;
mod hand_overs;
mod lanes;

pub use border::Exit;
pub use hand_overs::HandOver;
pub use lanes::{Lane, Ways};

use crate::actors::{ActorId, Actors};
use crate::routes::{HopId, Next, Reroute, Routes, Successors, Switch};
use crate::schedule::Schedule;
use border::Border;
use hand_overs::Chain;
use network::{Counters, Element, Link, Packet, PortId, Released, RouteId, StreamId, Streams, Totals};
use units::{Duration, Probe, Time};

/// The network: links and media, which are actors of the schedule, and a control that changes routes.
///
/// A packet costs one event per hop, with one exception (cut-through). A link that is fed by a single other link
/// receives packets in the order in which they leave the feeding link. If both links have a closed form, the arrival
/// time at the far end of the second link is known when the packet enters the first link. The packet then enters both
/// links at the same time, with one event for two links. Results do not change: no other packet can enter the second
/// link in between, so the limits and the random numbers of the second link apply to the same packets at the same times
/// in the same order. Packets enter the second link ahead of the clock, so links keep separate counters for each
/// sampling interval. The second link must have a delay, so that its deliveries never depend on other events at the
/// same time.
pub struct Net<P> {
    nodes: Vec<Node<P>>,
    media: Vec<Medium<P>>,
    /// The ports of all media.
    ports: Vec<Port>,
    /// First hop of every route.
    entries: Vec<HopId>,
    streams: Streams,
    /// Border to the larger network, if this network is a part of a larger network.
    border: Border<P>,
    /// Scheduled changes of routes, in reverse order of time.
    switches: Vec<(Time, Switch)>,
    /// Handovers by index.
    hand_overs: Vec<HandOver>,
    /// Chains of ports between which packets have been handed over.
    chains: Vec<Chain<P>>,
    /// IDs of the actors in the schedule.
    pub actors: Actors,
    /// Wake-ups of the network and of the other actors.
    pub schedule: Schedule,
    /// Packets that have left hops with a tap: time, hop, packet. The code that set the taps must empty the list.
    pub tapped: Vec<(Time, HopId, Packet<P>)>,
    /// Packets that have left network interfaces or were dropped there, in order. The caller reports these packets to
    /// their senders and empties the list.
    pub released: Vec<Released>,
}

/// A link and the next hops behind it.
struct Node<P> {
    link: Link<P>,
    next: Successors,
    /// Whether packets are recorded when they leave the link.
    tap: bool,
    /// Whether the link is the network interface of a host. Departures are then reported to the host's senders.
    nic: bool,
    /// Index of the shared link whose far end this link is, if the network is a part of a larger network.
    shared: Option<u32>,
}

/// An element with several ports.
struct Medium<P> {
    element: Box<dyn Element<P>>,
    /// Index of the medium's first port among the ports of all media.
    first_port: usize,
    /// Whether departures at any port of the medium are reported to hosts.
    tells: bool,
}

/// A port of a medium and the next hops behind it.
struct Port {
    /// Index of the port's medium.
    medium: usize,
    id: PortId,
    next: Successors,
    /// Whether packets are recorded when they leave the port.
    tap: bool,
    /// Index of the port's chain, if the port has taken part in a handover.
    chain: Option<usize>,
}

impl<P: Copy + Send> Net<P> {
    /// Creates a network of idle links and media. The schedule of the network also has room for the ends of its routes
    /// and a sampler. `cut_through` permits packets to enter the next link ahead of the clock.
    pub fn new(
        links: Vec<Link<P>>,
        media: Vec<Box<dyn Element<P>>>,
        routes: &[Vec<HopId>],
        reroutes: Vec<Reroute>,
        cut_through: bool,
    ) -> Net<P> {
        let numbers =
            media.iter().enumerate().flat_map(|(n, medium)| (0..medium.ports()).map(move |id| (n, id)));
        let port = |(medium, id)| Port {
            medium,
            id: PortId(id as u16),
            next: Successors::END,
            tap: false,
            chain: None,
        };
        let mut ports: Vec<Port> = numbers.map(port).collect();
        let Routes { entries, mut successors, only_feeder, switches_at, mut switches } =
            Routes::new(links.len() + ports.len(), routes, reroutes);
        switches.reverse();
        let at_ports = successors.split_off(links.len());
        ports.iter_mut().zip(at_ports).for_each(|(port, next)| port.next = next);
        let has_closed_form: Vec<bool> = links.iter().map(Link::has_closed_form).collect();
        let actors = Actors::new(links.len(), media.len(), routes.len());
        let mut schedule = Schedule::new(actors.count());
        schedule.request(Actors::CONTROL, next_change(&switches));
        let cut_through_into = links.iter().zip(only_feeder).map(|(link, feeder)| {
            // If routes change at the feeding hop, it is not known in advance which packets arrive.
            let fed_ahead = feeder.map(HopId::index).is_some_and(|feeder| {
                has_closed_form.get(feeder).is_some_and(|&closed| closed && !switches_at[feeder])
            });
            let takes_time = link.min_delay() > Duration::ZERO;
            cut_through && takes_time && link.has_closed_form() && fed_ahead
        });
        let cut_through_into: Vec<bool> = cut_through_into.collect();
        let nodes = links.into_iter().zip(successors).map(|(link, mut next)| {
            next.cut_through(|hop| cut_through_into.get(hop.index()).is_some_and(|&into| into));
            Node { link, next, tap: false, nic: false, shared: None }
        });
        let nodes = nodes.collect();
        let mut first_port = 0;
        let media = media.into_iter().map(|element| {
            first_port += element.ports();
            Medium { first_port: first_port - element.ports(), element, tells: false }
        });
        Net {
            nodes,
            media: media.collect(),
            ports,
            entries,
            streams: Streams::new(routes.len()),
            border: Border::default(),
            switches,
            hand_overs: Vec::new(),
            chains: Vec::new(),
            actors,
            schedule,
            tapped: Vec::new(),
            released: Vec::new(),
        }
    }

    /// Whether a change of routes is already in effect.
    pub fn is_so(&self, switch: &Switch) -> bool {
        match *switch {
            Switch::Entry { route, hop } => self.entries[route.index()] == hop,
            Switch::Fork { route, hop, next } => match self.nodes.get(hop.index()) {
                Some(node) => node.next.hop(route).hop() == next.hop(),
                None => self.ports[hop.index() - self.nodes.len()].next.hop(route).hop() == next.hop(),
            },
            Switch::HandOver { .. } | Switch::GapEnd { .. } | Switch::Follow { .. } => false,
        }
    }

    /// Schedules a change of routes. The change comes after the changes that are already scheduled for the same time.
    pub fn change_at(&mut self, at: Time, switch: Switch) {
        self.insert_switch(at, switch);
        self.schedule.request(Actors::CONTROL, at);
    }

    /// Inserts a change into the schedule of changes. Used in turns of the control, which requests its next turn
    /// itself.
    fn insert_switch(&mut self, at: Time, switch: Switch) {
        let place = self.switches.partition_point(|later| later.0 > at);
        self.switches.insert(place, (at, switch));
    }

    /// Carries out the changes of routes and the handovers that are due, in the order in which they were scheduled.
    fn change_routes(&mut self, now: Time) {
        while let Some((_, switch)) = self.switches.pop_if(|switch| switch.0 <= now) {
            match switch {
                Switch::Entry { route, hop } => self.entries[route.index()] = hop,
                Switch::Fork { route, hop, next } => self.successors(hop).set(route, next),
                Switch::HandOver { number } => self.hand_over(number, now),
                Switch::GapEnd { hand_over } => self.end_gap(hand_over, now),
                Switch::Follow { marker } => self.follow(marker, now),
            }
        }
    }

    fn port(&mut self, hop: HopId) -> &mut Port {
        &mut self.ports[hop.index() - self.nodes.len()]
    }

    /// The next hops behind a hop.
    fn successors(&mut self, hop: HopId) -> &mut Successors {
        let links = self.nodes.len();
        match self.nodes.get_mut(hop.index()) {
            Some(node) => &mut node.next,
            None => &mut self.ports[hop.index() - links].next,
        }
    }

    /// Taps the hops that are `wanted`. Links among these hops must replay their queues, as only then every departure
    /// has a separate turn.
    pub fn tap(&mut self, wanted: impl Fn(HopId) -> bool) {
        let taps = self.nodes.iter_mut().map(|node| &mut node.tap);
        let taps = taps.chain(self.ports.iter_mut().map(|port| &mut port.tap));
        taps.zip(0..).for_each(|(tap, n)| *tap = wanted(HopId(n)));
    }

    /// Makes the `wanted` links network interfaces of hosts. The `wanted` links must replay their queues, as only then
    /// every departure has a separate turn.
    pub fn set_nics(&mut self, wanted: impl Fn(usize) -> bool) {
        for (_, node) in self.nodes.iter_mut().enumerate().filter(|(n, _)| wanted(*n)) {
            node.nic = true;
            node.link.list_drops();
        }
    }

    /// Makes ports of media report departures to hosts.
    pub fn list_released(&mut self, ports: &[HopId]) {
        let links = self.nodes.len();
        for hop in ports {
            let Port { medium, id, .. } = self.ports[hop.index() - links];
            self.media[medium].element.list_released(id);
            self.media[medium].tells = true;
        }
    }

    /// All hops: links, and ports of media.
    pub fn hops(&self) -> impl Iterator<Item = HopId> + use<P> {
        (0..(self.nodes.len() + self.ports.len()) as u32).map(HopId)
    }

    /// Bytes that a link with opportunities could have sent after `from`, up to and including `to`.
    pub fn offered_bytes(&self, hop: HopId, from: Time, to: Time) -> Option<u64> {
        self.nodes.get(hop.index())?.link.offered_bytes(from, to)
    }

    /// Counters of a hop up to the last sampling time.
    pub fn totals(&self, hop: HopId) -> &Totals {
        let Some(node) = self.nodes.get(hop.index()) else {
            let Port { medium, id, .. } = self.ports[hop.index() - self.nodes.len()];
            return self.media[medium].element.totals(id);
        };
        node.link.totals()
    }

    /// Reads the counters of a hop for the interval that ends now. Must be called at every sampling time.
    pub fn close_interval(&mut self, hop: HopId, now: Time) -> Counters {
        let links = self.nodes.len();
        let Some(node) = self.nodes.get_mut(hop.index()) else {
            let Port { medium, id, .. } = self.ports[hop.index() - links];
            return self.media[medium].element.close_interval(id, now);
        };
        node.link.close_interval(now)
    }

    /// Reports the variables of the queue of a hop. `now` must be the last sampling time at which the counters of the
    /// hop were read.
    pub fn observe(&self, hop: HopId, now: Time, probe: &mut Probe<'_>) {
        let Some(node) = self.nodes.get(hop.index()) else {
            let Port { medium, id, .. } = self.ports[hop.index() - self.nodes.len()];
            return self.media[medium].element.observe(id, now, probe);
        };
        node.link.observe(now, probe);
    }

    /// ID of a packet's route in this part of the network.
    #[inline]
    fn own_route(&self, packet: &Packet<P>) -> RouteId {
        self.border.own(self.streams.route(packet.stream))
    }

    /// The route of a packet.
    pub fn route(&self, packet: &Packet<P>) -> RouteId {
        self.streams.route(packet.stream)
    }

    /// The route of a stream.
    pub fn route_of(&self, stream: StreamId) -> RouteId {
        self.streams.route(stream)
    }

    /// Sends a packet of an endpoint into the first hop of its route.
    pub fn send(&mut self, packet: &Packet<P>, now: Time) {
        self.forward(self.entries[self.own_route(packet).index()], packet, now);
    }

    /// Moves a packet into a hop, and through further hops as far as they are cut-through.
    fn forward(&mut self, mut hop: HopId, packet: &Packet<P>, mut now: Time) {
        debug_assert!(next_change(&self.switches) > now, "the control runs before all others");
        let route = self.own_route(packet);
        let mut feeder = None;
        while let Some(node) = self.nodes.get_mut(hop.index())
            && node.link.has_closed_form()
        {
            if let Some(shared) = node.shared {
                return self.border.leave(shared, feeder, packet, now);
            }
            let Some(arrival) = node.link.transit(packet, now) else { return };
            if let Next::CutThrough(next) = node.next.hop(route) {
                feeder = Some((self.actors.link(hop), now));
                (hop, now) = (next, arrival);
                continue;
            }
            if node.link.hold(packet, arrival) {
                self.schedule.request(self.actors.link(hop), arrival);
            }
            return;
        }
        self.queue(hop, packet, now);
    }

    /// Moves a packet into a port of a medium, or into a link that replays its queue.
    #[inline(never)] // the common case in `forward` is slower otherwise
    fn queue(&mut self, hop: HopId, packet: &Packet<P>, now: Time) {
        if let Some(node) = self.nodes.get_mut(hop.index()) {
            node.link.send(*packet, now);
            if node.nic {
                self.released.extend(node.link.dropped());
            }
            return self.schedule.request(self.actors.link(hop), node.link.next_arrival());
        }
        match self.port(hop).chain {
            Some(chain) => self.put_in_order(chain, hop, packet, now),
            None => self.put(hop, packet, now),
        }
    }

    /// Moves a packet into a port of a medium, regardless of handovers.
    fn put(&mut self, hop: HopId, packet: &Packet<P>, now: Time) {
        let Port { medium, id, .. } = *self.port(hop);
        let Medium { element, tells, .. } = &mut self.media[medium];
        element.put(id, packet, now);
        if *tells {
            element.take_released(&mut self.released);
        }
        self.schedule.request(self.actors.medium(medium), element.next());
    }

    /// Runs the turn of the control, a link or a medium. A packet at the far end of a link or a port moves to the next
    /// hop, or is delivered to its endpoint.
    pub fn run(&mut self, actor: ActorId, now: Time, deliver: impl FnOnce(&mut Net<P>, &Packet<P>)) {
        let link = self.actors.as_link(actor);
        let arrived = match self.nodes.get_mut(link.index()) {
            Some(Node { link, next, .. }) if link.has_closed_form() => {
                let route = |packet: &Packet<P>| self.border.own(self.streams.route(packet.stream));
                link.take(now).map(|packet| (*packet, next.hop(route(packet))))
            }
            Some(_) => self.take_from_link(link, now),
            None => self.take(actor, now),
        };
        // Matched by reference, as the packet is copied once more otherwise.
        if let Some((packet, next)) = &arrived {
            match *next {
                Next::Hop(hop) | Next::CutThrough(hop) => self.forward(hop, packet, now),
                Next::End => deliver(self, packet), // the only call of `deliver`, so that the compiler inlines it
            }
        }
        let next = match self.nodes.get(link.index()) {
            Some(node) => node.link.next_arrival(),
            None => match self.actors.as_medium(actor) {
                Some(medium) => self.media[medium].element.next(),
                None => next_change(&self.switches),
            },
        };
        self.schedule.end(actor, next);
    }

    /// Takes the packet at the far end of a link that replays its queue, with its next hop.
    #[inline(never)] // otherwise the common case is not inlined
    fn take_from_link(&mut self, hop: HopId, now: Time) -> Option<(Packet<P>, Next)> {
        let Node { link, next, tap, nic, .. } = &mut self.nodes[hop.index()];
        let arrived = link.take(now);
        if *nic {
            self.released.extend(arrived.map(Released::of));
        }
        let arrived = arrived.map(|packet| {
            if *tap {
                note(&mut self.tapped, now, hop, packet);
            }
            (*packet, next.hop(self.border.own(self.streams.route(packet.stream))))
        });
        if *nic {
            self.released.extend(link.dropped());
        }
        arrived
    }

    /// Takes the packet at the far end of a port of a medium, with its next hop. `None` for the control, which changes
    /// routes and carries no packets.
    #[cold]
    fn take(&mut self, actor: ActorId, now: Time) -> Option<(Packet<P>, Next)> {
        let Some(medium) = self.actors.as_medium(actor) else {
            self.change_routes(now);
            return None;
        };
        let Medium { element, first_port, tells } = &mut self.media[medium];
        let taken = element.take(now);
        if *tells {
            element.take_released(&mut self.released);
        }
        let (id, packet) = taken?;
        let n = *first_port + usize::from(id.0);
        let port = &self.ports[n];
        if port.tap {
            note(&mut self.tapped, now, HopId((self.nodes.len() + n) as u32), &packet);
        }
        Some((packet, port.next.hop(self.own_route(&packet))))
    }
}

/// Time of the next change of routes in a list in reverse order of time.
fn next_change(switches: &[(Time, Switch)]) -> Time {
    switches.last().map_or(Time::NEVER, |switch| switch.0)
}

/// Records a packet. The function is not inlined, so that it takes no time at hops without a tap.
#[cold]
#[inline(never)]
fn note<P: Copy>(tapped: &mut Vec<(Time, HopId, Packet<P>)>, at: Time, hop: HopId, packet: &Packet<P>) {
    tapped.push((at, hop, *packet));
}

#[cfg(test)]
mod tests;
