//! Lanes: the private links of a flow, between its ends and the links that the flow shares with other flows.

use super::{Exit, Net, Node};
use crate::routes::{HopId, Next};
use network::{Link, Packet, RouteId};
use units::{Duration, Time};

/// A route within a part of a network: the links from one end to the shared links, and the links from the shared links
/// to the other end.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The first link, into which the end sends.
    out: HopId,
    /// Index of the shared link behind `out`.
    shared: u32,
    /// ID, in the whole network, of the actor in whose turns packets reach the shared link.
    order: u32,
    /// The far end of the last shared link.
    pub far: HopId,
    /// The links behind `far`, in order.
    into: Box<[HopId]>,
    /// The last link, from which packets are delivered.
    pub last: HopId,
}

impl<P: Copy + Send> Net<P> {
    /// The lanes of the two routes of this part. Each end must send through a private link with a delay. All links of
    /// both routes must have a closed form, and each link behind the first must be cut-through. The order in which
    /// packets leave then does not depend on turns, and the two ends interact only through shared links. `None` if the
    /// routes of the part do not have these properties.
    pub fn lanes(&self) -> Option<[Lane; 2]> {
        let &[there, back] = &*self.entries else { return None };
        let ways = [self.way(RouteId(0), there)?, self.way(RouteId(1), back)?];
        let both = |hop: &HopId| ways[1].contains(hop) && !self.is_shared(*hop);
        let lanes = [self.lane(&ways[0])?, self.lane(&ways[1])?];
        let same = |of: fn(&Lane) -> HopId| of(&lanes[0]) == of(&lanes[1]);
        let meet = ways[0].iter().any(both) || same(|lane| lane.far) || same(|lane| lane.last);
        (!meet).then_some(lanes)
    }

    fn is_shared(&self, hop: HopId) -> bool {
        self.nodes[hop.index()].shared.is_some()
    }

    /// The links of a route that begins with `entry`, if they have the properties of [`lanes`](Self::lanes).
    fn way(&self, route: RouteId, entry: HopId) -> Option<Vec<HopId>> {
        let own = |node: &&Node<P>| node.shared.is_none() && node.link.min_delay() > Duration::ZERO;
        self.nodes.get(entry.index()).filter(own)?;
        let mut way = vec![entry];
        loop {
            let node =
                self.nodes.get(way[way.len() - 1].index()).filter(|node| node.link.has_closed_form())?;
            match node.next.hop(route) {
                Next::CutThrough(next) => way.push(next),
                Next::Hop(_) => return None,
                Next::End => return Some(way),
            }
        }
    }

    fn lane(&self, way: &[HopId]) -> Option<Lane> {
        let &[out, first, ..] = way else { return None };
        let far = way.iter().rposition(|hop| self.is_shared(*hop))?;
        Some(Lane {
            out,
            shared: self.nodes[first.index()].shared?,
            order: self.border.number(self.actors.link(out)),
            far: way[far],
            into: way[far + 1..].into(),
            last: way[way.len() - 1],
        })
    }

    /// The links that an end needs: the last link of the lane to this end, and the first link of the lane from this
    /// end.
    pub fn ways(&mut self, come: &Lane, leave: &Lane) -> Ways<'_, P> {
        let ends = self.nodes.get_disjoint_mut([come.last.index(), leave.out.index()]);
        let Ok([come, out]) = ends else { unreachable!("lanes have no link of their own in common") };
        let exits = self.border.exits(leave.shared);
        Ways { come: &mut come.link, out: &mut out.link, exits, order: leave.order }
    }

    /// Takes packets that will reach the far end of the last shared link of a lane, in the order of time.
    #[inline]
    pub fn enter_by<'a>(&mut self, lane: &Lane, packets: impl Iterator<Item = (Time, &'a Packet<P>)>)
    where
        P: 'a,
    {
        if let [only] = *lane.into {
            self.nodes[only.index()].link.transit_and_hold(packets);
        } else {
            for (at, packet) in packets {
                let cross = |at: Time, hop: &HopId| self.nodes[hop.index()].link.transit(packet, at);
                if let Some(at) = lane.into.iter().try_fold(at, cross) {
                    self.nodes[lane.last.index()].link.hold(packet, at);
                }
            }
        }
        self.nodes[lane.last.index()].link.trim(); // the link is fullest now
        self.schedule.request(self.actors.link(lane.last), self.next_arrival(lane));
    }

    /// Time at which the next packet reaches the end of a lane.
    #[inline]
    pub fn next_arrival(&self, lane: &Lane) -> Time {
        self.nodes[lane.last.index()].link.next_arrival()
    }
}

/// Last link of the lane to an end, and first link of the lane from the same end.
pub struct Ways<'a, P> {
    come: &'a mut Link<P>,
    out: &'a mut Link<P>,
    exits: &'a mut Vec<Exit<P>>,
    order: u32,
}

impl<P: Copy> Ways<'_, P> {
    /// Takes the next packet if it arrives at the end before `until`.
    #[inline]
    pub fn take_before(&mut self, until: Time) -> Option<(Time, &Packet<P>)> {
        self.come.take_before(until)
    }

    /// Sends packets of the end at `now`.
    #[inline]
    pub fn leave(&mut self, packets: impl Iterator<Item = Packet<P>>, now: Time) {
        let Ways { out, exits, order, .. } = self;
        out.transit_each(packets, now, |at, packet| exits.push(Exit { at, order: *order, packet }));
    }
}
