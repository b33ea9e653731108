//! Links and media joined by routes, and the schedule that moves packets along them.

use crate::actors::{ActorId, Actors};
use crate::routes::{HopId, Next, Reroute, Routes, Successors, Switch};
use crate::schedule::Schedule;
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
    /// How routes will change, and when; last first.
    switches: Vec<(Time, Switch)>,
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
    /// Its packets are handed over ahead of the clock.
    cut_through: bool,
    /// Packets are noted when they leave it.
    tap: bool,
    /// It is the network interface of a host, which is told what leaves it.
    nic: bool,
}

/// An element with several ports.
struct Medium<P> {
    element: Box<dyn Element<P>>,
    /// Number of its first port among those of all media.
    first_port: usize,
}

/// A port of a medium and what comes after it.
struct Port {
    /// Its medium.
    medium: usize,
    id: PortId,
    next: Successors,
    /// Packets are noted when they leave it.
    tap: bool,
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
        let mut ports: Vec<Port> = numbers
            .map(|(medium, id)| Port { medium, id: PortId(id as u16), next: Successors::End, tap: false })
            .collect();
        let Routes { entries, mut successors, only_feeder, switches_at, mut switches } =
            Routes::new(links.len() + ports.len(), routes, reroutes);
        switches.reverse();
        let at_ports = successors.split_off(links.len());
        ports.iter_mut().zip(at_ports).for_each(|(port, next)| port.next = next);
        let has_closed_form: Vec<bool> = links.iter().map(Link::has_closed_form).collect();
        let actors = Actors::new(links.len(), media.len(), routes.len());
        let mut schedule = Schedule::new(actors.count());
        schedule.request(Actors::CONTROL, next_change(&switches));
        let nodes = links.into_iter().zip(successors).zip(only_feeder).map(|((link, next), feeder)| {
            // Behind a fork whose routes change, it is not known in advance which packets come.
            let fed_ahead = feeder.map(HopId::index).is_some_and(|feeder| {
                has_closed_form.get(feeder).is_some_and(|&closed| closed && !switches_at[feeder])
            });
            let takes_time = link.min_delay() > Duration::ZERO;
            let cut_through = cut_through && takes_time && link.has_closed_form() && fed_ahead;
            Node { link, next, cut_through, tap: false, nic: false }
        });
        let nodes = nodes.collect();
        let mut first_port = 0;
        let media = media.into_iter().map(|element| {
            first_port += element.ports();
            Medium { first_port: first_port - element.ports(), element }
        });
        Net {
            nodes,
            media: media.collect(),
            ports,
            entries,
            streams: Streams::new(routes.len()),
            switches,
            actors,
            schedule,
            tapped: Vec::new(),
            released: Vec::new(),
        }
    }

    /// Changes the routes whose time has come.
    fn change_routes(&mut self, now: Time) {
        while let Some((_, switch)) = self.switches.pop_if(|switch| switch.0 <= now) {
            match switch {
                Switch::Entry { route, hop } => self.entries[route.index()] = hop,
                Switch::Fork { route, hop, next } => self.successors(hop).set(route, next),
            }
        }
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
        self.forward(self.entries[self.streams.route(packet.stream).index()], packet, now);
    }

    /// A packet reaches a hop.
    fn forward(&mut self, mut hop: HopId, packet: &Packet<P>, mut now: Time) {
        debug_assert!(next_change(&self.switches) > now, "the control runs before all others");
        let route = self.streams.route(packet.stream);
        loop {
            let Some(node) = self.nodes.get_mut(hop.index()) else {
                return self.put(hop.index() - self.nodes.len(), packet, now);
            };
            if !node.link.has_closed_form() {
                node.link.send(*packet, now);
                if node.nic {
                    self.released.extend(node.link.dropped());
                }
                return self.schedule.request(Actors::link(hop), node.link.next_arrival());
            }
            let Some(arrival) = node.link.transit(packet.size, now) else { return };
            if let Next::Hop(next) = node.next.hop(route)
                && self.nodes.get(next.index()).is_some_and(|next| next.cut_through)
            {
                (hop, now) = (next, arrival);
                continue;
            }
            if self.nodes[hop.index()].link.hold(packet, arrival) {
                self.schedule.request(Actors::link(hop), arrival);
            }
            return;
        }
    }

    /// A packet reaches a port of a medium.
    fn put(&mut self, port: usize, packet: &Packet<P>, now: Time) {
        let Port { medium, id, .. } = self.ports[port];
        let element = &mut self.media[medium].element;
        element.put(id, packet, now);
        self.schedule.request(self.actors.medium(medium), element.next());
    }

    /// The turn of the control, a link or a medium. A packet that reaches the far end of a link or a port goes on to the
    /// next hop or is delivered to its endpoint.
    pub fn run(&mut self, actor: ActorId, now: Time, deliver: impl FnOnce(&mut Net<P>, &Packet<P>)) {
        let link = Actors::as_link(actor);
        let arrived = match self.nodes.get_mut(link.index()) {
            Some(node) => {
                let arrived = node.link.take(now).map(|packet| {
                    if node.tap {
                        note(&mut self.tapped, now, link, packet);
                    }
                    (*packet, node.next.hop(self.streams.route(packet.stream)))
                });
                if node.nic {
                    self.released.extend(arrived.iter().map(|(packet, _)| Released::of(packet)));
                    self.released.extend(node.link.dropped());
                }
                arrived
            }
            None => self.take(actor, now),
        };
        // By reference: otherwise the packet is copied once more.
        if let Some((packet, next)) = &arrived {
            match *next {
                Next::Hop(hop) => self.forward(hop, packet, now),
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

    /// A packet that reaches the far end of a port of a medium, and what comes next; none from the control, which
    /// changes routes.
    #[cold]
    fn take(&mut self, actor: ActorId, now: Time) -> Option<(Packet<P>, Next)> {
        let Some(medium) = self.actors.as_medium(actor) else {
            self.change_routes(now);
            return None;
        };
        let Medium { element, first_port } = &mut self.media[medium];
        let (id, packet) = element.take(now)?;
        let n = *first_port + usize::from(id.0);
        let port = &self.ports[n];
        if port.tap {
            note(&mut self.tapped, now, HopId((self.nodes.len() + n) as u32), &packet);
        }
        Some((packet, port.next.hop(self.streams.route(packet.stream))))
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
mod tests {
    use super::*;
    use network::queue::{DropTail, Limit};
    use network::{Ecn, LinkConfig, SamplingTimes, StreamId};
    use units::Rate;

    /// Two links as one element.
    struct Pair([Link<u8>; 2]);

    impl Element<u8> for Pair {
        fn ports(&self) -> usize {
            2
        }

        fn put(&mut self, port: PortId, packet: &Packet<u8>, now: Time) {
            self.0[usize::from(port.0)].send(*packet, now);
        }

        fn next(&self) -> Time {
            self.0[0].next().min(self.0[1].next())
        }

        fn take(&mut self, now: Time) -> Option<(PortId, Packet<u8>)> {
            let due = (0..2).find(|&n| self.0[n].next() <= now)?;
            Element::take(&mut self.0[due], now).map(|(_, packet)| (PortId(due as u16), packet))
        }

        fn close_interval(&mut self, port: PortId, now: Time) -> Counters {
            self.0[usize::from(port.0)].close_interval(now)
        }

        fn totals(&self, port: PortId) -> &Totals {
            self.0[usize::from(port.0)].totals()
        }

        fn min_delay(&self) -> Duration {
            Element::min_delay(&self.0[0]).min(Element::min_delay(&self.0[1]))
        }

        fn capacity(&self) -> Rate {
            Rate::UNLIMITED
        }
    }

    /// Idle links, each 1 byte per microsecond and so many microseconds long.
    fn links(delays_us: &[u64]) -> Vec<Link<u8>> {
        let links = delays_us.iter().map(|&us| {
            let delay = Duration::from_micros(us);
            let sampling = SamplingTimes::new(None, Time::ZERO, Time::from_nanos(1_000_000_000));
            let config = LinkConfig {
                rate: Rate::from_bits_per_sec(8_000_000),
                delay,
                loss: None,
                sampling,
                impairments: network::Impairments::default(),
            };
            Link::new(config, Box::new(DropTail::new(Limit::default())))
        });
        links.collect()
    }

    /// Links in a row.
    fn row(delays_us: &[u64], cut_through: bool) -> Net<u8> {
        let route = (0..delays_us.len() as u32).map(HopId).collect();
        Net::new(links(delays_us), Vec::new(), &[route], Vec::new(), cut_through)
    }

    /// Sends two packets of 100 bytes; returns when they are delivered, in microseconds, and the number of turns.
    fn journey(net: &mut Net<u8>) -> (Vec<u64>, usize) {
        let packet = Packet { stream: StreamId(0), size: 100, ecn: Ecn::NotEct, dscp: 0, payload: 0 };
        (0..2).for_each(|_| net.send(&packet, Time::ZERO));
        let (mut delivered, mut turns) = (Vec::new(), 0);
        while let Some((now, actor)) = net.schedule.next(Time::NEVER) {
            net.run(actor, now, |_, _| delivered.push(now.as_micros()));
            turns += 1;
        }
        (delivered, turns)
    }

    #[test]
    fn a_row_of_links_costs_one_turn_per_packet() {
        // 100 us to transmit on each of three links, 60 us of delays; the second packet is 100 us behind.
        let journey = |mut net| journey(&mut net);
        assert_eq!(journey(row(&[10, 20, 30], true)), (vec![360, 460], 2));
        assert_eq!(journey(row(&[10, 20, 30], false)), (vec![360, 460], 6));
    }

    #[test]
    fn a_route_crosses_ports_as_it_crosses_links() {
        // Hops 0 and 1 are links, 2 to 5 the ports of two media.
        let [one, other] = [[10, 20], [30, 40]]
            .map(|delays| links(&delays).try_into().map(Pair).unwrap_or_else(|_| unreachable!()));
        let media: Vec<Box<dyn Element<u8>>> = vec![Box::new(one), Box::new(other)];
        let routes = [[0, 3, 5, 1].map(HopId).to_vec()];
        let change = Reroute {
            at: Time::from_nanos(90_000),
            route: RouteId(0),
            path: [0, 3, 2, 1].map(HopId).to_vec(),
        };
        let mut net = Net::new(links(&[50, 60]), media, &routes, vec![change], true);
        net.tap(|hop| hop == HopId(2));
        // 100 us to transmit at each of four hops. When the first packet leaves port 3, at 270 us, its route has
        // changed: it goes on to port 2.
        assert_eq!(net.hops().count(), 6);
        let (delivered, _) = journey(&mut net);
        assert_eq!(delivered, [100 + 50 + 100 + 20 + 100 + 10 + 100 + 60, 640]);
        let tapped: Vec<_> = net.tapped.iter().map(|&(at, hop, _)| (at.as_micros(), hop.0)).collect();
        assert_eq!(tapped, [(380, 2), (480, 2)]);
        net.close_interval(HopId(2), Time::from_nanos(1_000_000_000));
        assert_eq!(net.totals(HopId(2)).run.forwarded_packets, 2);
    }

    #[test]
    fn a_route_changes_before_all_else_at_its_time() {
        // Two packets come to the fork behind link 0 after 110 and 210 us. The other way is 10 us longer.
        let journey = |at_us: u64| {
            let at = Time::from_nanos(at_us * 1_000);
            let change = Reroute { at, route: RouteId(0), path: [0, 2].map(HopId).to_vec() };
            let routes = [[0, 1].map(HopId).to_vec()];
            journey(&mut Net::new(links(&[10, 20, 30]), Vec::new(), &routes, vec![change], true))
        };
        assert_eq!(journey(110), (vec![240, 340], 5)); // a turn of the control, and two of each packet
        assert_eq!(journey(111), (vec![230, 340], 5));
    }

    #[test]
    fn a_link_without_delay_is_not_served_ahead() {
        assert_eq!(journey(&mut row(&[10, 0, 30], true)), (vec![340, 440], 4));
    }
}
