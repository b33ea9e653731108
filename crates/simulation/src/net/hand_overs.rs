//! Ports of media that hand over, and in which order what still comes to them goes on.

use super::Net;
use crate::routes::{HopId, Switch};
use network::{Mark, Packet};
use std::collections::VecDeque;
use units::{Duration, Time};

/// A port of a medium hands over what has not left it to another one.
#[derive(Clone, Debug)]
pub struct HandOver {
    /// The port.
    pub from: HopId,
    /// The one that gets it.
    pub to: HopId,
    /// For so long at least what comes to the new port by new routes waits.
    pub gap: Duration,
    /// The links on which packets still come to the old port, way by way and in order.
    pub ways: Vec<Vec<HopId>>,
}

/// The end of what comes by an old way (TS 36.300 10.1.2.3.1: the end marker). It has no size, and no link loses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndMarker {
    hand_over: usize,
    way: usize,
    /// Where it is on the way.
    step: usize,
    /// What is before it there.
    behind: Mark,
}

/// The ports at which a node has been one after the other, as long as packets still come for the first one; where it is comes last.
pub(super) type Chain<P> = VecDeque<Stay<P>>;

/// What has come to a port while a node was there.
pub(super) struct Stay<P> {
    port: HopId,
    /// The hand-over with which the node left.
    left_by: Option<usize>,
    /// Packets may still come on so many ways.
    ways: usize,
    /// The gap with which the node left is not over.
    in_gap: bool,
    /// What has come while packets of an earlier stay may still come.
    held: Vec<Packet<P>>,
}

impl<P> Stay<P> {
    fn at(port: HopId) -> Stay<P> {
        Stay { port, left_by: None, ways: 0, in_gap: false, held: Vec::new() }
    }

    /// What comes to the port may belong to it.
    fn takes(&self, port: HopId) -> bool {
        self.port == port && (self.left_by.is_none() || self.ways > 0)
    }

    fn is_over(&self) -> bool {
        self.left_by.is_some() && self.ways == 0 && !self.in_gap
    }
}

impl<P: Copy + Send> Net<P> {
    /// A port will hand over, after what else changes at that time by what is known.
    pub fn hand_over_at(&mut self, at: Time, planned: HandOver) {
        self.change_at(at, Switch::HandOver { number: self.hand_overs.len() });
        self.hand_overs.push(planned);
    }

    /// What has not left the old port goes on at the new one, and so does what comes to the old one from now on. What comes to
    /// the new one by new routes is held until the end markers have come, so that it does not overtake.
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

    /// An end marker reaches the next link of its way, or the old port.
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

    /// Lets an end marker go on if all that was before it has passed the link.
    pub(super) fn follow(&mut self, marker: EndMarker, now: Time) {
        let hop = self.hand_overs[marker.hand_over].ways[marker.way][marker.step];
        match self.nodes[hop.index()].link.passes(marker.behind) {
            // After what happens then, as the control comes first at any time.
            Some(at) if at >= now => {
                self.insert_switch(at + Duration::from_nanos(1), Switch::Follow { marker });
            }
            _ => self.set_out(EndMarker { step: marker.step + 1, ..marker }, now),
        }
    }

    /// A gap is over.
    pub(super) fn end_gap(&mut self, hand_over: usize, now: Time) {
        self.update_stay(hand_over, now, |left| left.in_gap = false);
    }

    /// Something has changed of the stay that a hand-over has ended. What was held behind it may go on.
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

    /// A packet reaches a port that hands over, or to which another one has handed over. It belongs to the first stay there
    /// of which packets may still come.
    pub(super) fn put_in_order(&mut self, chain: usize, hop: HopId, packet: &Packet<P>, now: Time) {
        let stays = &mut self.chains[chain];
        let last = stays.back().map_or(hop, |stay| stay.port);
        match stays.iter().position(|stay| stay.takes(hop)) {
            Some(0) | None => self.put(last, packet, now),
            Some(n) => stays[n].held.push(*packet),
        }
    }
}
