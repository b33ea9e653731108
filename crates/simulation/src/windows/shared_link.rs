//! A link that several flows use.

use crate::net::Exit;
use crate::payload::{Packet, Payload};
use crate::routes::HopId;
use network::{Link, Streams};
use units::{Duration, Time};

use super::order::Sorter;
use super::{NANOSECOND, empty};

/// A packet that a shared link has sent into an island.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// When it reaches the far end.
    pub at: Time,
    /// The far end in the network of the island.
    pub hop: HopId,
    /// The number of the island in its share.
    pub island: u32,
    /// The packet.
    pub packet: Packet,
}

/// What comes after a shared link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Beyond {
    /// An island of a share, in whose network the far end has this number.
    Island { share: u32, island: u32, hop: HopId },
    /// Another shared link.
    Shared(u32),
    /// No packet of that route comes here.
    Nothing,
}

/// A link that several flows use, and what is on its way into it and out of it.
pub(super) struct SharedLink {
    pub link: Link<Payload>,
    /// The number of its actor in the run.
    pub number: u32,
    /// Nothing reaches it for so long after the time up to which islands have run that is not known.
    pub notice: Duration,
    /// By route.
    pub beyond: Vec<Beyond>,
    pub streams: Streams,
    /// What may not be served yet, then what came from each share.
    incoming: Vec<Vec<Exit<Payload>>>,
    /// Keys of what is served.
    keys: Vec<u64>,
    sorter: Sorter,
    /// Everything that reached it before has been served.
    served: Time,
    /// By share.
    outgoing: Vec<Vec<Entry>>,
    /// By shared link.
    onwards: Vec<Vec<Exit<Payload>>>,
}

impl SharedLink {
    /// One of `shared` links, with so many shares of islands.
    pub fn new(
        link: Link<Payload>,
        number: u32,
        notice: Duration,
        beyond: Vec<Beyond>,
        streams: Streams,
        (shares, shared): (usize, usize),
    ) -> SharedLink {
        SharedLink {
            link,
            number,
            notice,
            beyond,
            streams,
            incoming: vec![Vec::new(); shares + 1],
            keys: Vec::new(),
            sorter: Sorter::default(),
            served: Time::ZERO,
            outgoing: vec![Vec::new(); shares],
            onwards: vec![Vec::new(); shared],
        }
    }

    /// The place for what comes from a share.
    pub fn inlet(&mut self, share: usize) -> &mut Vec<Exit<Payload>> {
        &mut self.incoming[share + 1]
    }

    /// What goes to a share.
    pub fn outlet(&mut self, share: usize) -> &mut Vec<Entry> {
        &mut self.outgoing[share]
    }

    /// What goes to other shared links.
    pub fn onward(&mut self) -> impl Iterator<Item = (usize, &mut Vec<Exit<Payload>>)> {
        self.onwards.iter_mut().enumerate().filter(|(_, packets)| !packets.is_empty())
    }

    /// Another shared link has sent packets.
    pub fn receive(&mut self, packets: &mut Vec<Exit<Payload>>) {
        self.incoming[0].append(packets);
    }

    /// When something happens next: a packet reaches it, or one departs that waits.
    pub fn next(&self) -> Time {
        let arrivals = self.incoming[0].iter().map(|exit| exit.at);
        arrivals.min().unwrap_or(Time::NEVER).min(self.link.next_arrival())
    }

    /// Serves what is known to reach it when islands have run everything before `done`.
    pub fn serve(&mut self, done: Time) {
        let end = done + self.notice;
        while self.served < end {
            self.serve_until(end.min(self.served + LONGEST_SPAN));
        }
    }

    fn serve_until(&mut self, end: Time) {
        let later = self.sort(end);
        let keys = std::mem::take(&mut self.keys);
        let incoming = std::mem::take(&mut self.incoming);
        let exits = keys.iter().map(|&key| exit_of(key, &incoming));
        if self.link.has_closed_form() {
            for Exit { at, packet, .. } in exits {
                if let Some(arrival) = self.link.transit(packet, *at) {
                    self.pass_on(packet, arrival);
                }
            }
        } else {
            for Exit { at, packet, .. } in exits {
                self.link.send(*packet, *at);
                self.take_departed(*at);
            }
            self.take_departed(end - NANOSECOND);
        }
        (self.keys, self.incoming) = (keys, incoming);
        self.incoming.iter_mut().for_each(empty);
        self.incoming[0] = later;
        self.served = end;
    }

    /// Sorts the keys of what comes before `end`. Returns the rest, in the order in which it came.
    #[inline(never)] // else the loops take longer
    fn sort(&mut self, end: Time) -> Vec<Exit<Payload>> {
        let SharedLink { keys, sorter, incoming, served, .. } = self;
        let mut later = Vec::new();
        keys.clear();
        for (list, exits) in (0u64..).zip(&*incoming) {
            assert!(exits.len() < 1 << INDEX_BITS, "more packets in one window than keys tell apart");
            for (index, exit) in (0u64..).zip(exits) {
                if exit.at < end {
                    assert!(
                        exit.at >= *served,
                        "{} is too late: all before {served} has been served",
                        exit.at
                    );
                    keys.push(exit.at.since(*served).as_nanos() << PLACE_BITS | list << INDEX_BITS | index);
                } else {
                    later.push(*exit);
                }
            }
        }
        sorter.sort(keys, (end.since(*served).as_nanos() << PLACE_BITS) - 1);
        let same_time = |a: u64, b: u64| (a ^ b) >> PLACE_BITS == 0;
        // Without a branch for each pair: there are few ties.
        if keys.windows(2).fold(false, |any, pair| any | same_time(pair[0], pair[1])) {
            for ties in keys.chunk_by_mut(|a, b| same_time(*a, *b)).filter(|ties| ties.len() > 1) {
                ties.sort_by_key(|&key| exit_of(key, incoming).order);
            }
        }
        later
    }

    fn take_departed(&mut self, now: Time) {
        while let Some((arrival, packet)) = self.link.take_departed(now) {
            self.pass_on(&packet, arrival);
        }
    }

    #[inline]
    fn pass_on(&mut self, packet: &Packet, at: Time) {
        match self.beyond[self.streams.route(packet.stream).index()] {
            Beyond::Island { share, island, hop } => {
                self.outgoing[share as usize].push(Entry { at, hop, island, packet: *packet });
            }
            Beyond::Shared(n) => {
                self.onwards[n as usize].push(Exit { at, order: self.number, packet: *packet });
            }
            Beyond::Nothing => unreachable!("a packet keeps to its route"),
        }
    }
}

// A key: nanoseconds after what was served, number of the list, place in the list.

const INDEX_BITS: u32 = 26;
const LIST_BITS: u32 = 6;
const PLACE_BITS: u32 = INDEX_BITS + LIST_BITS;

/// The longest time from which arrivals are sorted at once.
const LONGEST_SPAN: Duration = Duration::from_nanos((1 << (u64::BITS - PLACE_BITS)) - 1);

/// The most shares of islands.
pub(super) const MOST_SHARES: usize = (1 << LIST_BITS) - 1;

/// What a key stands for.
#[inline]
fn exit_of(key: u64, lists: &[Vec<Exit<Payload>>]) -> &Exit<Payload> {
    let (list, index) = (key as u32 >> INDEX_BITS, key as u32 & ((1 << INDEX_BITS) - 1));
    &lists[list as usize][index as usize]
}
