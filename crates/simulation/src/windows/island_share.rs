//! A share of the islands of a run. One thread at a time runs a share.

use super::ends::run_ends;
use super::shared_link::Entry;
use super::step::{NANOSECOND, empty};
use crate::island::Island;
use crate::net::{Exit, Lane, Net};
use crate::payload::Payload;
use crate::record::Silent;
use tcp::Segment;
use units::Time;

/// Islands with consecutive numbers, and the packets between them and shared links.
pub(super) struct IslandShare {
    pub islands: Vec<Island>,
    /// Lanes by island; `None` if the ends of the island are not independent.
    lanes: Vec<Option<[Lane; 2]>>,
    /// Time of the next event, by island.
    next: Vec<Time>,
    /// Packets that have left, by shared link.
    exits: Vec<Vec<Exit<Payload>>>,
    /// Packets that shared links have sent, by shared link.
    entries: Vec<Vec<Entry>>,
    /// Entries as (list, index in the list), sorted by island.
    sorted: Vec<(u32, u32)>,
    /// Start of each island's entries in `sorted`.
    begin: Vec<u32>,
    /// Segments between an end and its first link; empty between turns.
    segments: Vec<Segment>,
}

impl IslandShare {
    /// A share of islands, which must be in the order of their flows.
    pub fn new(islands: Vec<Island>, shared: usize) -> IslandShare {
        IslandShare {
            next: vec![Time::ZERO; islands.len()],
            lanes: islands.iter().map(|island| island.net.lanes()).collect(),
            islands,
            exits: vec![Vec::new(); shared],
            entries: vec![Vec::new(); shared],
            sorted: Vec::new(),
            begin: Vec::new(),
            segments: Vec::new(),
        }
    }

    /// Swaps the packets that have left into a shared link for an empty list.
    pub fn give(&mut self, shared: usize, exits: &mut Vec<Exit<Payload>>) {
        std::mem::swap(&mut self.exits[shared], exits);
    }

    /// Takes the packets that a shared link has sent, and leaves an empty list.
    pub fn get(&mut self, shared: usize, entries: &mut Vec<Entry>) {
        if self.entries[shared].is_empty() {
            std::mem::swap(&mut self.entries[shared], entries);
        } else {
            self.entries[shared].append(entries);
        }
    }

    /// Time of the next event.
    pub fn next(&self) -> Time {
        if self.exits.iter().any(|exits| !exits.is_empty()) {
            return Time::ZERO;
        }
        self.next.iter().copied().min().unwrap_or(Time::NEVER)
    }

    /// Runs all events before `end`. Returns the number of turns.
    pub fn run(&mut self, end: Time) -> usize {
        self.sort_entries();
        let mut turns = 0;
        for n in 0..self.islands.len() {
            let entries = self.begin[n] as usize..self.begin[n + 1] as usize;
            if entries.is_empty() && self.next[n] >= end {
                continue;
            }
            let island = &mut self.islands[n];
            island.net.swap_exits(&mut self.exits);
            for of_list in self.sorted[entries].chunk_by(|a, b| a.0 == b.0) {
                let list = &self.entries[of_list[0].0 as usize];
                let entries = of_list.iter().map(|&(_, place)| &list[place as usize]);
                enter(&mut island.net, self.lanes[n].as_ref(), entries);
            }
            let by_end =
                self.lanes[n].as_ref().and_then(|lanes| run_ends(island, lanes, end, &mut self.segments));
            turns += by_end.unwrap_or_else(|| run_turns(island, end, &mut self.segments));
            self.next[n] = island.net.schedule.next(Time::NEVER).map_or(Time::NEVER, |(time, _)| time);
            island.net.swap_exits(&mut self.exits);
        }
        self.entries.iter_mut().for_each(empty);
        turns
    }

    /// Sorts the places of entries by island with a stable counting sort.
    fn sort_entries(&mut self) {
        let IslandShare { islands, entries, sorted, begin, .. } = self;
        begin.clear();
        begin.resize(islands.len() + 2, 0);
        for entry in entries.iter().flatten() {
            begin[entry.island as usize + 2] += 1;
        }
        for n in 2..begin.len() {
            begin[n] += begin[n - 1];
        }
        sorted.resize(entries.iter().map(Vec::len).sum(), (0, 0)); // all elements are overwritten below
        for (list, entries) in (0..).zip(entries) {
            for (place, entry) in (0..).zip(entries) {
                let to = &mut begin[entry.island as usize + 1];
                sorted[*to as usize] = (list, place);
                *to += 1;
            }
        }
    }
}

/// Takes packets from a shared link, in the order of time.
#[inline(never)] // faster than inlined
fn enter<'a>(
    net: &mut Net<Payload>,
    lanes: Option<&[Lane; 2]>,
    entries: impl Iterator<Item = &'a Entry> + Clone,
) {
    let Some(hop) = entries.clone().next().map(|entry| entry.hop) else { return };
    match lanes.and_then(|lanes| lanes.iter().find(|lane| lane.far == hop)) {
        Some(lane) => net.enter_by(lane, entries.map(|entry| (entry.at, &entry.packet))),
        None => entries.for_each(|entry| net.enter(hop, &entry.packet, entry.at)),
    }
}

/// Runs all events of an island before `end`, turn by turn. Returns the number of turns.
fn run_turns(island: &mut Island, end: Time, segments: &mut Vec<Segment>) -> usize {
    let mut turns = 0;
    while let Some((now, actor)) = island.net.schedule.next(end - NANOSECOND) {
        island.net.begin_turn(now, actor);
        island.turn(actor, now, &mut Silent, segments);
        turns += 1;
    }
    turns
}
