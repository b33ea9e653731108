//! The border of a part of a network: the links that the part shares with other parts.

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
    /// ID, in the whole network, of the actor in whose turn the packet arrives; see [`Net::begin_turn`].
    pub order: u32,
    /// The packet.
    pub packet: Packet<P>,
}

/// Border of a part of a network.
pub(super) struct Border<P> {
    /// ID of the part's first route in the whole network.
    first: u32,
    /// IDs of the part's actors in the whole network.
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
    /// ID that a route of the whole network has in this part.
    #[inline]
    pub fn own(&self, route: RouteId) -> RouteId {
        RouteId(route.0 - self.first)
    }

    /// Records a packet that reaches a shared link at `at`. `feeder` is the preceding link, with the time at which the
    /// packet arrived at that link. `None` means that the packet comes from an end.
    pub fn leave(&mut self, shared: u32, feeder: Option<(ActorId, Time)>, packet: &Packet<P>, at: Time) {
        let actor = match feeder {
            Some((link, before)) if before < at => link,
            Some((link, _)) => self.turn.1.max(link),
            None => self.turn.1,
        };
        let order = self.number(actor);
        self.exits(shared).push(Exit { at, order, packet: *packet });
    }

    /// ID that an actor of this part has in the whole network.
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
    /// Makes this a part of a larger network with the given streams. `first` is the ID that its first route has in the
    /// larger network. `numbers` are the IDs that its actors have in the larger network. If a link of this network is
    /// the far end of a shared link, `shared` returns the index of that shared link.
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

    /// Begins a turn. At equal times, the actors of all parts have turns in the order of their IDs. If an actor wakes
    /// another actor with a smaller ID at the same time, that actor runs next. The order of a turn is therefore the
    /// largest ID of any actor that has had a turn at that time.
    #[inline]
    pub fn begin_turn(&mut self, now: Time, actor: ActorId) {
        let (time, last) = self.border.turn;
        self.border.turn = (now, if time == now { last.max(actor) } else { actor });
    }

    /// Swaps the lists of packets that leave into shared links for `exits`. Each shared link has a list.
    pub fn swap_exits(&mut self, exits: &mut Vec<Vec<Exit<P>>>) {
        std::mem::swap(&mut self.border.exits, exits);
    }

    /// Takes a packet that will reach the far end of a shared link at `at`. If the next hop is cut-through, the packet
    /// is forwarded immediately.
    pub fn enter(&mut self, hop: HopId, packet: &Packet<P>, at: Time) {
        let route = self.own_route(packet);
        let node = &mut self.nodes[hop.index()];
        if let Next::CutThrough(next) = node.next.hop(route) {
            self.forward(next, packet, at);
        } else if node.link.hold(packet, at) {
            self.schedule.request(self.actors.link(hop), at);
        }
    }

    /// All links, far ends of shared links included.
    pub fn into_links(self) -> impl Iterator<Item = Link<P>> {
        self.nodes.into_iter().map(|node| node.link)
    }
}
