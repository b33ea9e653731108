//! The border of a part of a network: the links that it shares with others.

use super::Net;
use crate::actors::ActorId;
use crate::routes::{HopId, Next};
use network::{Link, Packet, RouteId, Streams};
use units::Time;

/// A packet that leaves a part of a network into a shared link.
#[derive(Clone, Copy, Debug)]
pub struct Exit<P> {
    /// When it reaches the link.
    pub at: Time,
    /// Number of the actor of the whole network in whose turn that is; see [`Net::begin_turn`].
    pub order: u32,
    /// The packet.
    pub packet: Packet<P>,
}

/// Where a part of a network ends.
pub(super) struct Border<P> {
    /// The first of its routes among those of the whole network.
    first: u32,
    /// The numbers that its actors have in the whole network.
    numbers: Vec<u32>,
    /// The time of the present turn, and the last actor of those that had a turn at that time.
    turn: (Time, ActorId),
    /// What leaves, by shared link.
    exits: Vec<Vec<Exit<P>>>,
}

impl<P> Default for Border<P> {
    fn default() -> Border<P> {
        Border { first: 0, numbers: Vec::new(), turn: (Time::ZERO, ActorId(0)), exits: Vec::new() }
    }
}

impl<P: Copy> Border<P> {
    /// A route of the whole network among those of this part.
    #[inline]
    pub fn own(&self, route: RouteId) -> RouteId {
        RouteId(route.0 - self.first)
    }

    /// A packet reaches a shared link at `at`: from a link and the time at which it reached that, or from an end.
    pub fn leave(&mut self, shared: u32, feeder: Option<(ActorId, Time)>, packet: &Packet<P>, at: Time) {
        let actor = match feeder {
            Some((link, before)) if before < at => link,
            Some((link, _)) => self.turn.1.max(link),
            None => self.turn.1,
        };
        let order = self.number(actor);
        self.exits(shared).push(Exit { at, order, packet: *packet });
    }

    /// The number that an actor of this part has in the whole network.
    #[inline]
    pub fn number(&self, actor: ActorId) -> u32 {
        self.numbers[actor.0 as usize]
    }

    /// What leaves into a shared link.
    #[inline]
    pub fn exits(&mut self, shared: u32) -> &mut Vec<Exit<P>> {
        &mut self.exits[shared as usize]
    }
}

impl<P: Copy + Send> Net<P> {
    /// Makes this a part of a larger network with the given streams. `first` is the first of its routes there, `numbers`
    /// are those of its actors. `shared` says of each of its links which shared link it is the far end of, if it is one.
    pub fn become_part(
        &mut self,
        first: RouteId,
        streams: Streams,
        numbers: Vec<u32>,
        shared: impl Fn(HopId) -> Option<u32>,
    ) {
        self.border = Border { first: first.0, numbers, ..Border::default() };
        self.streams = streams;
        for (node, n) in self.nodes.iter_mut().zip(0..) {
            node.shared = shared(HopId(n));
            node.next.cut_through(|hop| shared(hop).is_some());
        }
    }

    /// A turn begins. At one time, actors of different parts have turns in the order of their numbers; one that another has
    /// caused at that time runs as soon as its number is the smallest. So turns count by the largest number so far.
    #[inline]
    pub fn begin_turn(&mut self, now: Time, actor: ActorId) {
        let (time, last) = self.border.turn;
        self.border.turn = (now, if time == now { last.max(actor) } else { actor });
    }

    /// Changes places: what leaves is listed there, by shared link.
    pub fn swap_exits(&mut self, exits: &mut Vec<Vec<Exit<P>>>) {
        std::mem::swap(&mut self.border.exits, exits);
    }

    /// A packet will reach the far end of a shared link at `at`. It goes on at once if what comes next permits.
    pub fn enter(&mut self, hop: HopId, packet: &Packet<P>, at: Time) {
        let route = self.own_route(packet);
        let node = &mut self.nodes[hop.index()];
        if let Next::CutThrough(next) = node.next.hop(route) {
            self.forward(next, packet, at);
        } else if node.link.hold(packet, at) {
            self.schedule.request(self.actors.link(hop), at);
        }
    }

    /// Its links, far ends of shared ones included.
    pub fn into_links(self) -> impl Iterator<Item = Link<P>> {
        self.nodes.into_iter().map(|node| node.link)
    }
}
