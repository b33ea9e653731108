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

#[cfg(test)]
mod tests {
    use super::*;
    use network::queue::{DropTail, Limit};
    use network::{Ecn, LinkConfig, Looks};
    use units::Rate;

    /// Links in a row, each 1 byte per microsecond and so many microseconds long.
    fn row(delays_us: &[u64], ahead: bool) -> Net<u8> {
        let links = delays_us.iter().map(|&us| {
            let delay = Duration::from_micros(us);
            let looks = Looks::new(None, Time::ZERO, Time::from_nanos(1_000_000_000));
            let config = LinkConfig { rate: Rate::from_bits_per_sec(8_000_000), delay, loss: None, looks };
            (Link::new(config, Box::new(DropTail::new(Limit::default()))), delay)
        });
        let route = (0..delays_us.len() as u32).collect();
        Net::new(links.collect(), &[route], 0, ahead)
    }

    /// Sends two packets of 100 bytes; returns when they are delivered, in microseconds, and the number of turns.
    fn journey(mut net: Net<u8>) -> (Vec<u64>, usize) {
        let packet = Packet { flow: 0, size: 100, ecn: Ecn::NotEct, payload: 0 };
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
