//! Links joined by routes, and the schedule that moves packets along them.

use crate::routes::{Hop, Routes};
use crate::schedule::Schedule;
use network::{Link, Packet};
use units::{Duration, Time};

/// The network: links are actors 0, 1, ... of the schedule.
///
/// A packet costs one event per link, with one exception. A link that is fed by a single other link gets its packets in
/// the order in which they left that one. If both foresee departures, the time at which a packet reaches the far end
/// of the second is known as soon as it is sent into the first, and it is put on the second wire at once: two links,
/// one event. Nothing else can get in between, so nothing changes: the limits and the dice of the second link see
/// the same packets at the same times in the same order. The links keep their books per interval for this reason. The
/// second link must take some time, so that what it does at a given time never depends on who else runs at that time.
pub struct Net<P> {
    links: Vec<Link<P>>,
    routes: Routes,
    /// Per link: packets reach it ahead of the clock.
    chained: Vec<bool>,
    /// Wake-ups of links, and of whoever else has a number from the number of links on.
    pub schedule: Schedule,
}

impl<P: Copy> Net<P> {
    /// A network of idle links with their propagation delays, and a schedule with room for `others` more actors.
    /// `ahead` permits packets to be handed over ahead of the clock.
    pub fn new(links: Vec<(Link<P>, Duration)>, routes: &[Vec<u32>], others: usize, ahead: bool) -> Net<P> {
        let routes = Routes::new(links.len(), routes);
        let foresees = |link: u32| links[link as usize].0.foresees();
        let chained = (0u32..).zip(&links).zip(&routes.only_feeder).map(|((number, (_, delay)), feeder)| {
            ahead && *delay > Duration::ZERO && foresees(number) && feeder.is_some_and(foresees)
        });
        let chained = chained.collect();
        let schedule = Schedule::new(links.len() + others);
        Net { links: links.into_iter().map(|(link, _)| link).collect(), routes, chained, schedule }
    }

    /// The links.
    pub fn links(&self) -> &[Link<P>] {
        &self.links
    }

    /// The links, to read their counters.
    pub fn links_mut(&mut self) -> &mut [Link<P>] {
        &mut self.links
    }

    /// An endpoint sends a packet.
    pub fn send(&mut self, packet: &Packet<P>, now: Time) {
        self.forward(self.routes.entries[packet.flow as usize], packet, now);
    }

    /// A packet reaches `link`.
    fn forward(&mut self, mut link: u32, packet: &Packet<P>, mut now: Time) {
        loop {
            let this = &mut self.links[link as usize];
            if !this.foresees() {
                this.send(*packet, now);
                break;
            }
            let Some(arrival) = this.transit(packet.size, now) else { return };
            match self.routes.successors[link as usize].of(packet.flow) {
                Hop::Link(next) if self.chained[next as usize] => (link, now) = (next, arrival),
                _ => {
                    this.hold(packet, arrival);
                    break;
                }
            }
        }
        self.schedule.request(link, self.links[link as usize].next_arrival());
    }

    /// The turn of a link: a packet reaches its far end, and goes on to the next link or is delivered to its endpoint.
    pub fn run(&mut self, link: u32, now: Time, deliver: impl FnOnce(&mut Net<P>, &Packet<P>)) {
        if let Some(arrived) = self.links[link as usize].take(now) {
            let packet = *arrived;
            match self.routes.successors[link as usize].of(packet.flow) {
                Hop::Link(next) => self.forward(next, &packet, now),
                Hop::End => deliver(self, &packet),
            }
        }
        self.schedule.end(link, self.links[link as usize].next_arrival());
    }
}
