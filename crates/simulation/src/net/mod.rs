//! Links and media joined by routes, and the schedule that moves packets along them.

mod border;
mod hand_overs;
mod lanes;

pub use border::Exit;
pub use hand_overs::{EndMarker, HandOver};
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
/// A packet costs one event per hop, with one exception. A link that is fed by a single other link gets its packets in
/// the order in which they left that one. If both compute departures on arrival, the time at which a packet reaches the far end
/// of the second is known as soon as it is sent into the first, and it is put on the second wire at once: two links,
/// one event. Nothing else can get in between, so nothing changes: the limits and the random numbers of the second link see
/// the same packets at the same times in the same order. The links count per interval for this reason. The
/// second link must take some time, so that what it does at a given time never depends on what else happens at that time.
pub struct Net<P> {
    nodes: Vec<Node<P>>,
    media: Vec<Medium<P>>,
    /// The ports of all media.
    ports: Vec<Port>,
    /// First hop of every route.
    entries: Vec<HopId>,
    streams: Streams,
    /// If this is a part of a larger network: where it ends.
    border: Border<P>,
    /// How routes will change, and when; last first.
    switches: Vec<(Time, Switch)>,
    /// What ports hand over, by number.
    hand_overs: Vec<HandOver>,
    /// Ports between which packets have been handed over.
    chains: Vec<Chain<P>>,
    /// The numbers of the actors in the schedule.
    pub actors: Actors,
    /// Wake-ups of the network and of the other actors.
    pub schedule: Schedule,
    /// What hops with a tap have handed over: when, which hop, what. The code that taps has to empty it.
    pub tapped: Vec<(Time, HopId, Packet<P>)>,
    /// What has left network interfaces, or was dropped there, in order. To be told to its sender and emptied.
    pub released: Vec<Released>,
}

/// A link and what comes after it.
struct Node<P> {
    link: Link<P>,
    next: Successors,
    /// Packets are noted when they leave it.
    tap: bool,
    /// It is the network interface of a host, which is told what leaves it.
    nic: bool,
    /// Its number among the links of the larger network that this part shares with others: only its far end is here.
    shared: Option<u32>,
}

/// An element with several ports.
struct Medium<P> {
    element: Box<dyn Element<P>>,
    /// Number of its first port among those of all media.
    first_port: usize,
    /// Hosts are told what leaves it at some port.
    tells: bool,
}

/// A port of a medium and what comes after it.
struct Port {
    /// Its medium.
    medium: usize,
    id: PortId,
    next: Successors,
    /// Packets are noted when they leave it.
    tap: bool,
    /// It is one of several that have handed over one to the other.
    chain: Option<usize>,
}

impl<P: Copy + Send> Net<P> {
    /// A network of idle links and media, and a schedule with room for the ends of its routes and a sampler.
    /// `cut_through` permits packets to be handed over ahead of the clock.
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
            // Behind a fork whose routes change, it is not known in advance which packets come.
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

    /// A router has been told to do this, or does it from the beginning.
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

    /// A route will change, after all that change at that time by what is known.
    pub fn change_at(&mut self, at: Time, switch: Switch) {
        self.insert_switch(at, switch);
        self.schedule.request(Actors::CONTROL, at);
    }

    /// As [`change_at`](Self::change_at) while the control has its turn, which asks for the next one itself.
    fn insert_switch(&mut self, at: Time, switch: Switch) {
        let place = self.switches.partition_point(|later| later.0 > at);
        self.switches.insert(place, (at, switch));
    }

    /// Changes the routes whose time has come, and hands over what is on old ones: what was planned later comes last.
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

    /// What comes after a hop.
    fn successors(&mut self, hop: HopId) -> &mut Successors {
        let links = self.nodes.len();
        match self.nodes.get_mut(hop.index()) {
            Some(node) => &mut node.next,
            None => &mut self.ports[hop.index() - links].next,
        }
    }

    /// Taps the hops whose number is `wanted`. Links among them must replay their queues: only then does every packet
    /// that leaves them have a turn of its own.
    pub fn tap(&mut self, wanted: impl Fn(HopId) -> bool) {
        let taps = self.nodes.iter_mut().map(|node| &mut node.tap);
        let taps = taps.chain(self.ports.iter_mut().map(|port| &mut port.tap));
        taps.zip(0..).for_each(|(tap, n)| *tap = wanted(HopId(n)));
    }

    /// Says which links are network interfaces of hosts. They must replay their queues: only then has every packet that
    /// leaves them a turn of its own.
    pub fn set_nics(&mut self, wanted: impl Fn(usize) -> bool) {
        for (_, node) in self.nodes.iter_mut().enumerate().filter(|(n, _)| wanted(*n)) {
            node.nic = true;
            node.link.list_drops();
        }
    }

    /// Says which ports of media tell hosts what leaves them.
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

    /// Bytes that a hop could have sent after `from`, up to and including `to`, if it sends at given moments only.
    pub fn offered_bytes(&self, hop: HopId, from: Time, to: Time) -> Option<u64> {
        self.nodes.get(hop.index())?.link.offered_bytes(from, to)
    }

    /// What a hop has done up to the last sampling time.
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

    /// Shows what the queue of a hop keeps of itself, at the sampling time up to which its counters were read last.
    pub fn observe(&self, hop: HopId, now: Time, probe: &mut Probe<'_>) {
        let Some(node) = self.nodes.get(hop.index()) else {
            let Port { medium, id, .. } = self.ports[hop.index() - self.nodes.len()];
            return self.media[medium].element.observe(id, now, probe);
        };
        node.link.observe(now, probe);
    }

    /// The number that a packet's route has in this network.
    #[inline]
    fn own_route(&self, packet: &Packet<P>) -> RouteId {
        self.border.own(self.streams.route(packet.stream))
    }

    /// The route that a packet takes.
    pub fn route(&self, packet: &Packet<P>) -> RouteId {
        self.streams.route(packet.stream)
    }

    /// The route that packets of a stream take.
    pub fn route_of(&self, stream: StreamId) -> RouteId {
        self.streams.route(stream)
    }

    /// An endpoint sends a packet.
    pub fn send(&mut self, packet: &Packet<P>, now: Time) {
        self.forward(self.entries[self.own_route(packet).index()], packet, now);
    }

    /// A packet reaches a hop.
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

    /// A packet reaches a port of a medium, or a link that replays its queue.
    #[inline(never)] // else the common case above takes longer
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

    /// A packet goes into a port of a medium.
    fn put(&mut self, hop: HopId, packet: &Packet<P>, now: Time) {
        let Port { medium, id, .. } = *self.port(hop);
        let Medium { element, tells, .. } = &mut self.media[medium];
        element.put(id, packet, now);
        if *tells {
            element.take_released(&mut self.released);
        }
        self.schedule.request(self.actors.medium(medium), element.next());
    }

    /// The turn of the control, a link or a medium. A packet that reaches the far end of a link or a port goes on to the
    /// next hop or is delivered to its endpoint.
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
        // By reference: otherwise the packet is copied once more.
        if let Some((packet, next)) = &arrived {
            match *next {
                Next::Hop(hop) | Next::CutThrough(hop) => self.forward(hop, packet, now),
                Next::End => deliver(self, packet), // called here only, so that it is compiled into this
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

    /// A packet that reaches the far end of a link which replays its queue, and what comes next.
    #[inline(never)] // else the common case is not inlined
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

    /// A packet that reaches the far end of a port of a medium, and what comes next; none from the control, which
    /// changes routes.
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

/// When a route next changes, of switches with the last first.
fn next_change(switches: &[(Time, Switch)]) -> Time {
    switches.last().map_or(Time::NEVER, |switch| switch.0)
}

/// Out of line, so that a tap costs nothing where there is none.
#[cold]
#[inline(never)]
fn note<P: Copy>(tapped: &mut Vec<(Time, HopId, Packet<P>)>, at: Time, hop: HopId, packet: &Packet<P>) {
    tapped.push((at, hop, *packet));
}

#[cfg(test)]
mod tests;
