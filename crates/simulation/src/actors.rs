//! Who runs, in which order.

use crate::routes::HopId;
use network::RouteId;

/// The number of an actor of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ActorId(pub u32);

/// What an actor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A part of the network: the control, a link or a medium.
    Network,
    /// The end of a flow at which a route begins.
    End(RouteId),
    /// What takes samples.
    Sampler,
}

/// The numbers of all actors. At equal times they run in this order:
///
/// 1. the control, which changes routes, so that whatever else happens at that time sees the new ones;
/// 2. the ends of flows, in the order of the routes that begin there: a timer runs before a packet that arrives at that
///    time is looked at. So it is in the guest of the Linux engine, where the path lets a packet go in NET_TX, so that
///    NET_RX waits for the next pass, after the timers (`handle_softirqs`). An ACK that a paced burst has caused comes
///    back at the very time at which pacing lets the next burst leave;
/// 3. the links, then the media;
/// 4. the sampler, so that a sample sees everything that happens at its time.
#[derive(Clone, Copy, Debug)]
pub struct Actors {
    /// The first link.
    links: u32,
    /// The first medium.
    media: u32,
    sampler: u32,
}

/// The first end of a flow.
const ENDS: u32 = 1;

impl Actors {
    /// What changes the network.
    pub const CONTROL: ActorId = ActorId(0);

    /// Of a network of so many links, media and routes.
    pub fn new(links: usize, media: usize, routes: usize) -> Actors {
        let links_from = ENDS + routes as u32;
        let media_from = links_from + links as u32;
        Actors { links: links_from, media: media_from, sampler: media_from + media as u32 }
    }

    /// How many there are.
    pub fn count(self) -> usize {
        self.sampler as usize + 1
    }

    /// A link.
    #[inline]
    pub fn link(self, link: HopId) -> ActorId {
        ActorId(self.links + link.0)
    }

    /// A medium, by its number.
    #[inline]
    pub fn medium(self, medium: usize) -> ActorId {
        ActorId(self.media + medium as u32)
    }

    /// The end of a flow at which a route begins.
    #[inline]
    pub fn end(self, route: RouteId) -> ActorId {
        ActorId(ENDS + route.0)
    }

    /// What takes samples.
    pub fn sampler(self) -> ActorId {
        ActorId(self.sampler)
    }

    /// The link that an actor is; a number beyond all links if it is none.
    #[inline]
    pub fn as_link(self, actor: ActorId) -> HopId {
        HopId(actor.0.wrapping_sub(self.links))
    }

    /// The number of the medium that an actor of the network is.
    #[inline]
    pub fn as_medium(self, actor: ActorId) -> Option<usize> {
        actor.0.checked_sub(self.media).map(|n| n as usize)
    }

    /// An actor is a part of the network.
    #[inline]
    pub fn is_network(self, actor: ActorId) -> bool {
        (self.links..self.sampler).contains(&actor.0) || actor == Actors::CONTROL
    }

    /// What an actor is.
    #[inline]
    pub fn actor(self, actor: ActorId) -> Actor {
        if self.is_network(actor) {
            Actor::Network
        } else if actor == self.sampler() {
            Actor::Sampler
        } else {
            Actor::End(RouteId(actor.0 - ENDS))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_actor_has_one_number() {
        let actors = Actors::new(3, 2, 4);
        let links = (0..3).map(|n| actors.link(HopId(n)));
        let media = (0..2).map(|n| actors.medium(n));
        let network: Vec<_> = links.chain(media).collect();
        let ends: Vec<_> = (0..4).map(|n| actors.end(RouteId(n))).collect();
        let before = [Actors::CONTROL].into_iter().chain(ends.clone());
        let all: Vec<_> = before.chain(network.clone()).chain([actors.sampler()]).collect();
        assert_eq!(all, (0..actors.count() as u32).map(ActorId).collect::<Vec<_>>());
        assert_eq!(actors.actor(Actors::CONTROL), Actor::Network);
        assert!(network.iter().all(|&actor| actors.actor(actor) == Actor::Network));
        assert!((0..).zip(&ends).all(|(n, &actor)| actors.actor(actor) == Actor::End(RouteId(n))));
        assert_eq!(actors.actor(actors.sampler()), Actor::Sampler);
    }

    #[test]
    fn a_timer_runs_before_a_packet_that_arrives_at_its_time() {
        let actors = Actors::new(1, 1, 2);
        let [first, last] = [0, 1].map(|n| actors.end(RouteId(n)));
        assert!(Actors::CONTROL < first && first < last, "routes change before anything leaves");
        assert!(last < actors.link(HopId(0)) && last < actors.medium(0));
    }

    #[test]
    fn links_and_media_are_found_by_their_actors() {
        let actors = Actors::new(3, 2, 4);
        assert_eq!([5, 6, 7].map(|n| actors.as_link(ActorId(n)).0), [0, 1, 2]);
        assert_eq!([0, 7, 8, 9].map(|n| actors.as_medium(ActorId(n))), [None, None, Some(0), Some(1)]);
        // Neither the control nor a medium is a link.
        assert!([0, 8, 9].iter().all(|&n| actors.as_link(ActorId(n)).index() >= 3));
    }
}
