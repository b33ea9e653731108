//! Links joined by routes, and the schedule that moves packets along them.

use crate::routes::{Hop, Reroute, Routes, Successors, Switch};
use crate::schedule::Schedule;
use network::{Link, Packet, Streams};
use units::{Duration, Time};

/// The network: links are actors 0, 1, ... of the schedule.
///
/// A packet costs one event per link, with one exception. A link that is fed by a single other link gets its packets in
/// the order in which they left that one. If both compute departures on arrival, the time at which a packet reaches the far end
/// of the second is known as soon as it is sent into the first, and it is put on the second wire at once: two links,
/// one event. Nothing else can get in between, so nothing changes: the limits and the dice of the second link see
/// the same packets at the same times in the same order. The links count per interval for this reason. The
/// second link must take some time, so that what it does at a given time never depends on who else runs at that time.
pub struct Net<P> {
    nodes: Vec<Node<P>>,
    /// First link of every route.
    entries: Vec<u32>,
    streams: Streams,
    /// When a route next changes.
    next_switch: Time,
    /// What changes then and later, last first.
    switches: Vec<(Time, Switch)>,
    /// Wake-ups of links, and of whoever else has a number from the number of links on.
    pub schedule: Schedule,
    /// What links with a tap have handed over: when, which link, what. Whoever taps has to empty it.
    pub tapped: Vec<(Time, u32, Packet<P>)>,
}

/// A link and what comes after it.
struct Node<P> {
    link: Link<P>,
    next: Successors,
    /// Its packets are handed over ahead of the clock.
    cut_through: bool,
    /// Packets are noted when they leave it.
    tap: bool,
}

impl<P: Copy> Net<P> {
    /// A network of idle links with their propagation delays, and a schedule with room for `others` more actors.
    /// `cut_through` permits packets to be handed over ahead of the clock.
    pub fn new(
        links: Vec<(Link<P>, Duration)>,
        routes: &[Vec<u32>],
        reroutes: Vec<Reroute>,
        others: usize,
        cut_through: bool,
    ) -> Net<P> {
        let Routes { entries, successors, only_feeder, switches_at, mut switches } =
            Routes::new(links.len(), routes, reroutes);
        switches.reverse();
        let streams = Streams::new(routes.len());
        let has_closed_form: Vec<bool> = links.iter().map(|(link, _)| link.has_closed_form()).collect();
        let schedule = Schedule::new(links.len() + others);
        let nodes =
            links.into_iter().zip(successors).zip(only_feeder).map(|(((link, delay), next), feeder)| {
                // Behind a fork whose routes change, nobody knows yet who will come.
                let fed_ahead = feeder
                    .is_some_and(|feeder| has_closed_form[feeder as usize] && !switches_at[feeder as usize]);
                let cut_through =
                    cut_through && delay > Duration::ZERO && link.has_closed_form() && fed_ahead;
                Node { link, next, cut_through, tap: false }
            });
        let next_switch = switches.last().map_or(Time::NEVER, |switch| switch.0);
        Net { nodes: nodes.collect(), entries, streams, next_switch, switches, schedule, tapped: Vec::new() }
    }

    /// Makes the changes of routes that are due.
    #[cold]
    fn switch(&mut self, now: Time) {
        while let Some(&(_, switch)) = self.switches.last().filter(|switch| switch.0 <= now) {
            self.switches.pop();
            match switch {
                Switch::Entry { route, link } => self.entries[route as usize] = link,
                Switch::Hop { route, link, hop } => self.nodes[link as usize].next.set(route, hop),
            }
        }
        self.next_switch = self.switches.last().map_or(Time::NEVER, |switch| switch.0);
    }

    /// Taps the links whose number is `wanted`, which must replay their queues: only then does every packet that leaves
    /// them have a turn of its own.
    pub fn tap(&mut self, wanted: impl Fn(usize) -> bool) {
        self.nodes.iter_mut().enumerate().for_each(|(n, node)| node.tap = wanted(n));
    }

    /// The number of links, and of the first actor that is none.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// There is no link.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The links.
    pub fn links(&self) -> impl Iterator<Item = &Link<P>> {
        self.nodes.iter().map(|node| &node.link)
    }

    /// The links, to read their counters.
    pub fn links_mut(&mut self) -> impl Iterator<Item = &mut Link<P>> {
        self.nodes.iter_mut().map(|node| &mut node.link)
    }

    /// The route that a packet takes.
    pub fn route(&self, packet: &Packet<P>) -> u32 {
        self.streams.route(packet.flow)
    }

    /// An endpoint sends a packet.
    pub fn send(&mut self, packet: &Packet<P>, now: Time) {
        if now >= self.next_switch {
            self.switch(now);
        }
        self.forward(self.entries[self.streams.route(packet.flow) as usize], packet, now);
    }

    /// A packet reaches `link`.
    fn forward(&mut self, mut link: u32, packet: &Packet<P>, mut now: Time) {
        let route = self.streams.route(packet.flow);
        loop {
            let node = &mut self.nodes[link as usize];
            if !node.link.has_closed_form() {
                node.link.send(*packet, now);
                return self.schedule.request(link, node.link.next_arrival());
            }
            let Some(arrival) = node.link.transit(packet.size, now) else { return };
            if let Hop::Link(next) = node.next.of(route)
                && self.nodes[next as usize].cut_through
            {
                (link, now) = (next, arrival);
                continue;
            }
            if self.nodes[link as usize].link.hold(packet, arrival) {
                self.schedule.request(link, arrival);
            }
            return;
        }
    }

    /// The turn of a link: a packet reaches its far end, and goes on to the next link or is delivered to its endpoint.
    pub fn run(&mut self, link: u32, now: Time, deliver: impl FnOnce(&mut Net<P>, &Packet<P>)) {
        if now >= self.next_switch {
            self.switch(now);
        }
        let node = &mut self.nodes[link as usize];
        if let Some(arrived) = node.link.take(now) {
            let packet = *arrived;
            if node.tap {
                note(&mut self.tapped, now, link, &packet);
            }
            match node.next.of(self.streams.route(packet.flow)) {
                Hop::Link(next) => self.forward(next, &packet, now),
                Hop::End => deliver(self, &packet),
            }
        }
        self.schedule.end(link, self.nodes[link as usize].link.next_arrival());
    }
}

/// Out of line, so that a tap costs nothing where there is none.
#[cold]
#[inline(never)]
fn note<P: Copy>(tapped: &mut Vec<(Time, u32, Packet<P>)>, at: Time, link: u32, packet: &Packet<P>) {
    tapped.push((at, link, *packet));
}

#[cfg(test)]
mod tests {
    use super::*;
    use network::queue::{DropTail, Limit};
    use network::{Ecn, LinkConfig, SamplingTimes};
    use units::Rate;

    /// Links in a row, each 1 byte per microsecond and so many microseconds long.
    fn row(delays_us: &[u64], cut_through: bool) -> Net<u8> {
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
            (Link::new(config, Box::new(DropTail::new(Limit::default()))), delay)
        });
        let route = (0..delays_us.len() as u32).collect();
        Net::new(links.collect(), &[route], Vec::new(), 0, cut_through)
    }

    /// Sends two packets of 100 bytes; returns when they are delivered, in microseconds, and the number of turns.
    fn journey(mut net: Net<u8>) -> (Vec<u64>, usize) {
        let packet = Packet { flow: 0, size: 100, ecn: Ecn::NotEct, dscp: 0, payload: 0 };
        (0..2).for_each(|_| net.send(&packet, Time::ZERO));
        let (mut delivered, mut turns) = (Vec::new(), 0);
        while let Some((now, link)) = net.schedule.next(Time::NEVER) {
            net.run(link, now, |_, _| delivered.push(now.as_micros()));
            turns += 1;
        }
        (delivered, turns)
    }

    #[test]
    fn a_row_of_links_costs_one_turn_per_packet() {
        // 100 us to transmit on each of three links, 60 us of delays; the second packet is 100 us behind.
        assert_eq!(journey(row(&[10, 20, 30], true)), (vec![360, 460], 2));
        assert_eq!(journey(row(&[10, 20, 30], false)), (vec![360, 460], 6));
    }

    #[test]
    fn a_link_without_delay_is_not_served_ahead() {
        assert_eq!(journey(row(&[10, 0, 30], true)), (vec![340, 440], 4));
    }
}
