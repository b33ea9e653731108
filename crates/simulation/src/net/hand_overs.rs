//! Handovers between ports of media, and the order of the packets that still arrive at old ports.

use super::Net;
use crate::end_marker::EndMarker;
use crate::routes::{HopId, Switch};
use network::{Mark, Packet};
use std::collections::VecDeque;
use units::{Duration, Time};

/// Handover of the packets in a port of a medium to another port.
#[derive(Clone, Debug)]
pub struct HandOver {
    /// The old port.
    pub from: HopId,
    /// The new port.
    pub to: HopId,
    /// Shortest time for which packets of new routes are held at the new port.
    pub gap: Duration,
    /// Links on which packets still arrive at the old port: one list per old route, in order.
    pub ways: Vec<Vec<HopId>>,
}

/// Ports that a node has used in succession. The current port is last. A port is removed when no more packets can
/// arrive for the stay at that port.
pub(super) type Chain<P> = VecDeque<Stay<P>>;

/// Stay of a node at a port, and the packets of that stay.
pub(super) struct Stay<P> {
    port: HopId,
    /// The handover that ended the stay.
    left_by: Option<usize>,
    /// Number of old routes on which packets may still arrive.
    ways: usize,
    /// Whether the gap of the handover `left_by` is not over.
    in_gap: bool,
    /// Packets held because packets of an earlier stay may still arrive.
    held: Vec<Packet<P>>,
}

impl<P> Stay<P> {
    fn at(port: HopId) -> Stay<P> {
        Stay { port, left_by: None, ways: 0, in_gap: false, held: Vec::new() }
    }

    /// Whether packets that arrive at the port may belong to this stay.
    fn takes(&self, port: HopId) -> bool {
        self.port == port && (self.left_by.is_none() || self.ways > 0)
    }

    fn is_over(&self) -> bool {
        self.left_by.is_some() && self.ways == 0 && !self.in_gap
    }
}

impl<P: Copy + Send> Net<P> {
    /// Schedules a handover. The handover comes after the changes that are already scheduled for the same time.
    pub fn hand_over_at(&mut self, at: Time, planned: HandOver) {
        self.change_at(at, Switch::HandOver { number: self.hand_overs.len() });
        self.hand_overs.push(planned);
    }

    /// Carries out a handover: packets in the old port move to the new port, as do packets that arrive at the old port
    /// from now on. Packets of new routes are held at the new port until the end markers have arrived, so that they do
    /// not overtake packets of old routes.
    pub(super) fn hand_over(&mut self, number: usize, now: Time) {
        let HandOver { from, to, gap, ref ways } = self.hand_overs[number];
        let ways = ways.len();
        let mut packets = Vec::new();
        let (medium, id) = (self.port(from).medium, self.port(from).id);
        self.media[medium].element.withdraw(id, now, &mut packets);
        let chain = self.chain_that_ends_at(from);
        if let Some(left) = self.chains[chain].back_mut() {
            (left.left_by, left.ways, left.in_gap) = (Some(number), ways, true);
        }
        self.chains[chain].push_back(Stay::at(to));
        self.port(to).chain = Some(chain);
        packets.iter().for_each(|packet| self.put(to, packet, now));
        self.insert_switch(now + gap, Switch::GapEnd { hand_over: number });
        for way in 0..ways {
            self.set_out(EndMarker { hand_over: number, way, step: 0, behind: Mark::Nothing }, now);
        }
    }

    fn chain_that_ends_at(&mut self, port: HopId) -> usize {
        let known = self.port(port).chain;
        let ends_there = |&n: &usize| self.chains[n].back().is_some_and(|stay| stay.port == port);
        if let Some(n) = known.filter(ends_there) {
            return n;
        }
        self.chains.push(VecDeque::from([Stay::at(port)]));
        self.port(port).chain = Some(self.chains.len() - 1);
        self.chains.len() - 1
    }

    /// Moves an end marker into the next link of its route, or into the old port.
    fn set_out(&mut self, mut marker: EndMarker, now: Time) {
        let way = &self.hand_overs[marker.hand_over].ways[marker.way];
        match way.get(marker.step) {
            Some(hop) => {
                marker.behind = self.nodes[hop.index()].link.mark();
                self.follow(marker, now);
            }
            None => self.update_stay(marker.hand_over, now, |left| left.ways -= 1),
        }
    }

    /// Moves an end marker on when all packets before the marker have passed the link.
    pub(super) fn follow(&mut self, marker: EndMarker, now: Time) {
        let hop = self.hand_overs[marker.hand_over].ways[marker.way][marker.step];
        match self.nodes[hop.index()].link.passes(marker.behind) {
            // The marker moves 1 ns later, as the control runs before all other actors at equal times.
            Some(at) if at >= now => {
                self.insert_switch(at + Duration::from_nanos(1), Switch::Follow { marker });
            }
            _ => self.set_out(EndMarker { step: marker.step + 1, ..marker }, now),
        }
    }

    /// Ends the gap of a handover.
    pub(super) fn end_gap(&mut self, hand_over: usize, now: Time) {
        self.update_stay(hand_over, now, |left| left.in_gap = false);
    }

    /// Changes the stay that a handover has ended, and forwards held packets that need no longer wait.
    fn update_stay(&mut self, hand_over: usize, now: Time, change: impl FnOnce(&mut Stay<P>)) {
        let left_so = |stay: &Stay<P>| stay.left_by == Some(hand_over);
        let Some(chain) = self.chains.iter_mut().find(|chain| chain.iter().any(left_so)) else { return };
        if let Some(left) = chain.iter_mut().find(|stay| left_so(stay)) {
            change(left);
        }
        let mut free = Vec::new();
        while chain[0].is_over() {
            chain.pop_front();
            free.append(&mut chain[0].held);
        }
        let last = chain[chain.len() - 1].port;
        free.iter().for_each(|packet| self.put(last, packet, now));
    }

    /// Takes a packet that arrives at an old or a new port of a handover. The packet belongs to the first stay at that
    /// port for which packets may still arrive.
    pub(super) fn put_in_order(&mut self, chain: usize, hop: HopId, packet: &Packet<P>, now: Time) {
        let stays = &mut self.chains[chain];
        let last = stays.back().map_or(hop, |stay| stay.port);
        match stays.iter().position(|stay| stay.takes(hop)) {
            Some(0) | None => self.put(last, packet, now),
            Some(n) => stays[n].held.push(*packet),
        }
    }
}
