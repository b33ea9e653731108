//! Actors of the schedule and their order at equal times.

use crate::routes::HopId;
use network::RouteId;

/// ID of an actor in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ActorId(pub u32);

/// Kind of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A part of the network: the control, a link or a medium.
    Network,
    /// An end of a flow, which sends packets into one route.
    End(RouteId),
    /// The sampler, which reads counters at sampling times.
    Sampler,
}

/// IDs of all actors. At equal times, actors run in the order of their IDs:
///
/// 1. the control, which changes routes, so that all other events of that time see the new routes;
/// 2. the ends of flows, in the order of the routes that begin there. A timer runs before a packet that arrives at the
///    same time is processed, as in the guest of the Linux engine. In that guest the path releases a packet in NET_TX,
///    so that NET_RX processes it in the next pass, after the timers (`handle_softirqs`). Ties between a timer and a
///    packet are common: the ACK of a paced burst arrives exactly when pacing releases the next burst;
/// 3. the links, then the media;
/// 4. the sampler, so that a sample includes all events of its time.
#[derive(Clone, Copy, Debug)]
pub struct Actors {
    /// ID of the first link.
    links: u32,
    /// ID of the first medium.
    media: u32,
    sampler: u32,
}

/// ID of the first end of a flow.
const ENDS: u32 = 1;

impl Actors {
    /// The control, which changes routes.
    pub const CONTROL: ActorId = ActorId(0);

    /// IDs for a network with these counts of links, media and routes.
    pub fn new(links: usize, media: usize, routes: usize) -> Actors {
        let links_from = ENDS + routes as u32;
        let media_from = links_from + links as u32;
        Actors { links: links_from, media: media_from, sampler: media_from + media as u32 }
    }

    /// Number of actors.
    pub fn count(self) -> usize {
        self.sampler as usize + 1
    }

    /// Actor of a link.
    #[inline]
    pub fn link(self, link: HopId) -> ActorId {
        ActorId(self.links + link.0)
    }

    /// Actor of the medium with index `medium`.
    #[inline]
    pub fn medium(self, medium: usize) -> ActorId {
        ActorId(self.media + medium as u32)
    }

    /// Actor of the end of a flow that sends into `route`.
    #[inline]
    pub fn end(self, route: RouteId) -> ActorId {
        ActorId(ENDS + route.0)
    }

    /// Actor that reads counters at sampling times.
    pub fn sampler(self) -> ActorId {
        ActorId(self.sampler)
    }

    /// Link of an actor. If the actor is not a link, the index of the result is beyond all links.
    #[inline]
    pub fn as_link(self, actor: ActorId) -> HopId {
        HopId(actor.0.wrapping_sub(self.links))
    }

    /// Index of the medium if the actor is a medium; `None` for other actors.
    #[inline]
    pub fn as_medium(self, actor: ActorId) -> Option<usize> {
        actor.0.checked_sub(self.media).map(|n| n as usize)
    }

    /// Whether an actor is a part of the network.
    #[inline]
    pub fn is_network(self, actor: ActorId) -> bool {
        (self.links..self.sampler).contains(&actor.0) || actor == Actors::CONTROL
    }

    /// Kind of an actor.
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
