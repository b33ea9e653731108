//! A link that several flows use.

use crate::net::Exit;
use crate::payload::{Packet, Payload};
use crate::routes::HopId;
use network::{Link, Streams};
use units::{Duration, Time};

use super::order::Sorter;
use super::step::{NANOSECOND, empty};

/// A packet that a shared link has sent into an island.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Arrival time at the far end.
    pub at: Time,
    /// ID of the far end in the network of the island.
    pub hop: HopId,
    /// Index of the island in its share.
    pub island: u32,
    /// The packet.
    pub packet: Packet,
}

/// Next hop behind a shared link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Beyond {
    /// An island of a share, with the ID of the far end in the island's network.
    Island { share: u32, island: u32, hop: HopId },
    /// Another shared link.
    Shared(u32),
    /// No next hop: no packet of the route crosses the link.
    Nothing,
}

/// A link that several flows use, and the packets before and behind it.
pub(super) struct SharedLink {
    pub link: Link<Payload>,
    /// ID of the link's actor in the run.
    pub number: u32,
    /// Lookahead: once islands have run up to a time, all arrivals less than `notice` after that time are known.
    pub notice: Duration,
    /// Next hop, by route.
    pub beyond: Vec<Beyond>,
    pub streams: Streams,
    /// Lists of arriving packets: the first list has packets that must not be served yet, and each further list has the
    /// packets from one share.
    incoming: Vec<Vec<Exit<Payload>>>,
    /// Keys of the packets that are being served.
    keys: Vec<u64>,
    sorter: Sorter,
    /// Time before which all arrivals have been served.
    served: Time,
    /// Packets to islands: one list per share of the islands.
    outgoing: Vec<Vec<Entry>>,
    /// Packets to other shared links, by index of the shared link.
    onwards: Vec<Vec<Exit<Payload>>>,
}

impl SharedLink {
    /// A shared link of a run with `shared` shared links and `shares` shares of islands.
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

    /// List for packets from a share.
    pub fn inlet(&mut self, share: usize) -> &mut Vec<Exit<Payload>> {
        &mut self.incoming[share + 1]
    }

    /// List of the packets that the link has sent to a share.
    pub fn outlet(&mut self, share: usize) -> &mut Vec<Entry> {
        &mut self.outgoing[share]
    }

    /// Packets to other shared links: each list with the index of its link.
    pub fn onward(&mut self) -> impl Iterator<Item = (usize, &mut Vec<Exit<Payload>>)> {
        self.onwards.iter_mut().enumerate().filter(|(_, packets)| !packets.is_empty())
    }

    /// Takes packets from another shared link.
    pub fn receive(&mut self, packets: &mut Vec<Exit<Payload>>) {
        self.incoming[0].append(packets);
    }

    /// Time of the next event: the arrival of a packet, or the departure of a queued packet.
    pub fn next(&self) -> Time {
        let arrivals = self.incoming[0].iter().map(|exit| exit.at);
        arrivals.min().unwrap_or(Time::NEVER).min(self.link.next_arrival())
    }

    /// Serves all packets whose arrival is known when islands have run all events before `done`.
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

    /// Sorts the keys of the packets that arrive before `end`. Returns the packets that arrive at `end` or later, in
    /// the order of the lists.
    #[inline(never)] // the loops are slower if inlined
    fn sort(&mut self, end: Time) -> Vec<Exit<Payload>> {
        let SharedLink { keys, sorter, incoming, served, .. } = self;
        let mut later = Vec::new();
        keys.clear();
        for (list, exits) in (0u64..).zip(&*incoming) {
            assert!(exits.len() < 1 << INDEX_BITS, "more packets in one window than keys can number");
            for (index, exit) in (0u64..).zip(exits) {
                if exit.at < end {
                    assert!(
                        exit.at >= *served,
                        "arrival at {} is too late: all before {served} have been served",
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
        // A fold without a branch per pair, as ties are rare.
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
            Beyond::Nothing => unreachable!("no packet leaves its route"),
        }
    }
}

// From high to low bits, a key has the nanoseconds since `served`, the index of the list, and the index in the list.

const INDEX_BITS: u32 = 26;
const LIST_BITS: u32 = 6;
const PLACE_BITS: u32 = INDEX_BITS + LIST_BITS;

/// Longest span of time whose arrivals can be sorted in one pass.
const LONGEST_SPAN: Duration = Duration::from_nanos((1 << (u64::BITS - PLACE_BITS)) - 1);

/// Maximum number of shares of islands.
pub(super) const MOST_SHARES: usize = (1 << LIST_BITS) - 1;

/// The packet of a key.
#[inline]
fn exit_of(key: u64, lists: &[Vec<Exit<Payload>>]) -> &Exit<Payload> {
    let (list, index) = (key as u32 >> INDEX_BITS, key as u32 & ((1 << INDEX_BITS) - 1));
    &lists[list as usize][index as usize]
}
