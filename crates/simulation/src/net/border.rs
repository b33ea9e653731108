//! The border of a part of a network: the links that it shares with other parts.

use super::Net;
use crate::actors::ActorId;
use crate::routes::{HopId, Next};
use network::{Link, Packet, RouteId, Streams};
use units::Time;

/// A packet that leaves a part of a network into a shared link.
#[derive(Clone, Copy, Debug)]
pub struct Exit<P> {
    /// Arrival time at the link.
    pub at: Time,
    /// Number in the whole network of the actor in whose turn it arrives; see [`Net::begin_turn`].
    pub order: u32,
    /// The packet.
    pub packet: Packet<P>,
}

/// Border of a part of a network.
pub(super) struct Border<P> {
    /// Number in the whole network of its first route.
    first: u32,
    /// Numbers in the whole network of its actors.
    numbers: Vec<u32>,
    /// Time of the current turn, and the highest actor that has had a turn at that time.
    turn: (Time, ActorId),
    /// Packets that leave, by shared link.
    exits: Vec<Vec<Exit<P>>>,
}

impl<P> Default for Border<P> {
    fn default() -> Border<P> {
        Border { first: 0, numbers: Vec::new(), turn: (Time::ZERO, ActorId(0)), exits: Vec::new() }
    }
}

impl<P: Copy> Border<P> {
    /// Number in this part of a route of the whole network.
    #[inline]
    pub fn own(&self, route: RouteId) -> RouteId {
        RouteId(route.0 - self.first)
    }

    /// Records a packet that reaches a shared link at `at`. `feeder`: the link before, with the arrival time there;
    /// `None`: the packet comes from an end.
    pub fn leave(&mut self, shared: u32, feeder: Option<(ActorId, Time)>, packet: &Packet<P>, at: Time) {
        let actor = match feeder {
            Some((link, before)) if before < at => link,
            Some((link, _)) => self.turn.1.max(link),
            None => self.turn.1,
        };
        let order = self.number(actor);
        self.exits(shared).push(Exit { at, order, packet: *packet });
    }

    /// Number in the whole network of an actor of this part.
    #[inline]
    pub fn number(&self, actor: ActorId) -> u32 {
        self.numbers[actor.0 as usize]
    }

    /// Packets that leave into a shared link.
    #[inline]
    pub fn exits(&mut self, shared: u32) -> &mut Vec<Exit<P>> {
        &mut self.exits[shared as usize]
    }
}

impl<P: Copy + Send> Net<P> {
    /// Makes this a part of a larger network with the given streams. `first` and `numbers` are the numbers there of its
    /// first route and of its actors. `shared` maps a link to the shared link whose far end it is, if any.
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

    /// Begins a turn. At one time, actors of all parts have turns in the order of their numbers. An actor that another
    /// one wakes at that time may have a smaller number; it runs next. The order of a turn is therefore the largest
    /// number so far.
    #[inline]
    pub fn begin_turn(&mut self, now: Time, actor: ActorId) {
        let (time, last) = self.border.turn;
        self.border.turn = (now, if time == now { last.max(actor) } else { actor });
    }

    /// Swaps the lists of packets that leave, by shared link.
    pub fn swap_exits(&mut self, exits: &mut Vec<Vec<Exit<P>>>) {
        std::mem::swap(&mut self.border.exits, exits);
    }

    /// Takes a packet that will reach the far end of a shared link at `at`. If the next hop is cut-through, the packet
    /// is forwarded at once.
    pub fn enter(&mut self, hop: HopId, packet: &Packet<P>, at: Time) {
        let route = self.own_route(packet);
        let node = &mut self.nodes[hop.index()];
        if let Next::CutThrough(next) = node.next.hop(route) {
            self.forward(next, packet, at);
        } else if node.link.hold(packet, at) {
            self.schedule.request(self.actors.link(hop), at);
        }
    }

    /// All links, far ends of shared ones included.
    pub fn into_links(self) -> impl Iterator<Item = Link<P>> {
        self.nodes.into_iter().map(|node| node.link)
    }
}
