//! Windows: the flows of a run, each by itself for a span of time, then the links that they share.
//!
//! docs/explanation/windows.md says why the results are those of one event after the other.

mod ends;
mod island_share;
mod order;
mod shared_link;
mod split;
mod threads;

pub(crate) use split::Split;

use crate::hosts::Endpoints;
use crate::island::Island;
use crate::net::Net;
use crate::payload::Payload;
use crate::routes::HopId;
use island_share::IslandShare;
use network::{Counters, Link};
use shared_link::SharedLink;
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::{Duration, Time};

/// A run cut into islands of one flow each, and the links that they share.
pub(crate) struct Windows {
    shares: Vec<Mutex<IslandShare>>,
    /// On how many threads it runs.
    threads: usize,
    /// In an order in which each comes after those that feed it.
    shared: Vec<Mutex<SharedLink>>,
    /// Where each hop is.
    places: Vec<Place>,
    /// Shared links are served one after the other: some feed others, or there is one only.
    in_sequence: bool,
    /// The longest window.
    window: Duration,
    /// Islands have run everything before it.
    done: Time,
}

/// Where a hop is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Among the shared links.
    Shared(usize),
    /// A link of an island, with its number there.
    Private { share: usize, island: usize, hop: HopId },
}

impl Windows {
    /// Runs everything up to and including `until`, or as much of it as fits into some turns of actors, of which so many are
    /// `left`. Returns the time up to and including which everything has been run.
    pub fn advance(&mut self, until: Time, left: &mut usize) -> Time {
        if self.threads > 1
            && let Some(reached) = self.advance_on_threads(until, left)
        {
            return reached;
        }
        while self.done <= until && *left > 0 {
            self.serve_all();
            for share in &self.shares {
                *left = left.saturating_sub(lock(share).run(self.end(self.done, until)));
            }
            self.done = self.begin_of_next(self.done, until);
        }
        self.serve_all();
        self.done - NANOSECOND
    }

    /// On how many threads it runs.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The end of the window from `done` on.
    fn end(&self, done: Time, until: Time) -> Time {
        (done + self.window).min(until + NANOSECOND)
    }

    /// The begin of the window after that from `done` on, which islands have run.
    fn begin_of_next(&self, done: Time, until: Time) -> Time {
        self.end(done, until).max(self.next().min(until + NANOSECOND))
    }

    /// Lets every shared link serve what reaches it by what is known.
    fn serve_all(&self) {
        (0..self.shared.len()).for_each(|n| self.serve(n, self.done));
    }

    /// When something happens next: at the latest, but that nothing is done before.
    fn next(&self) -> Time {
        let islands = self.shares.iter().map(|share| lock(share).next());
        let links = self.shared.iter().map(|link| lock(link).next());
        islands.chain(links).min().unwrap_or(Time::NEVER)
    }

    /// Lets a shared link serve all that is known to reach it when islands have run everything before `done`.
    fn serve(&self, n: usize, done: Time) {
        let mut link = lock(&self.shared[n]);
        for (k, share) in self.shares.iter().enumerate() {
            lock(share).give(n, link.inlet(k));
        }
        link.serve(done);
        for (k, share) in self.shares.iter().enumerate() {
            lock(share).get(n, link.outlet(k));
        }
        for (k, packets) in link.onward() {
            lock(&self.shared[k]).receive(packets);
        }
    }

    /// Reads the counters of a hop for the interval that ends now. Must be called at every sampling time.
    pub fn close_interval(&mut self, hop: HopId, now: Time) -> Counters {
        match self.places[hop.index()] {
            Place::Shared(n) => lock(&self.shared[n]).link.close_interval(now),
            Place::Private { share, island, hop } => {
                lock(&self.shares[share]).islands[island].net.close_interval(hop, now)
            }
        }
    }

    /// What a hop has done up to the last sampling time, and what it could have sent between two times if it sends at given
    /// moments only.
    pub fn standing(&self, hop: HopId, from: Time, to: Time) -> (Counters, Option<u64>) {
        match self.places[hop.index()] {
            Place::Shared(n) => {
                let link = &lock(&self.shared[n]).link;
                (link.totals().run, link.offered_bytes(from, to))
            }
            Place::Private { share, island, hop } => {
                let net = &lock(&self.shares[share]).islands[island].net;
                (net.totals(hop).run, net.offered_bytes(hop, from, to))
            }
        }
    }

    /// Does something with every flow, in the order of their numbers.
    pub fn for_each_flow(&mut self, mut act: impl FnMut(&mut Endpoints)) {
        for share in &mut self.shares {
            lock(share).islands.iter_mut().flat_map(|island| &mut island.flows).for_each(&mut act);
        }
    }

    /// Data packets that all flows have sent by now.
    pub fn data_packets(&self) -> u64 {
        let shares = self
            .shares
            .iter()
            .map(|share| -> u64 { lock(share).islands.iter().map(Island::data_packets).sum() });
        shares.sum()
    }

    /// The flows and the links, each in the order of their numbers in the plan.
    pub fn into_parts(self) -> (Vec<Endpoints>, Vec<Link<Payload>>) {
        let mut links: Vec<Option<Link<Payload>>> = self.places.iter().map(|_| None).collect();
        let shared = self.shared.into_iter().map(|link| Some(unlock(link).link));
        let mut shared: Vec<_> = shared.collect();
        let mut flows = Vec::new();
        let mut private: Vec<Vec<Vec<Option<Link<Payload>>>>> = Vec::new();
        for share in self.shares {
            let mut nets = Vec::new();
            for Island { net, flows: of_island, .. } in unlock(share).islands {
                flows.extend(of_island);
                nets.push(Net::into_links(net).map(Some).collect());
            }
            private.push(nets);
        }
        for (place, link) in self.places.iter().zip(&mut links) {
            *link = match *place {
                Place::Shared(n) => shared[n].take(),
                Place::Private { share, island, hop } => private[share][island][hop.index()].take(),
            };
        }
        (flows, links.into_iter().flatten().collect())
    }
}

/// The smallest step of time.
const NANOSECOND: Duration = Duration::from_nanos(1);

/// Empties a list, which gives back most of its room if it used little of that: a burst does not hold its memory for ever.
fn empty<T>(list: &mut Vec<T>) {
    let used = list.len();
    list.clear();
    if list.capacity() > 8 * used {
        list.shrink_to(2 * used);
    }
}

/// What a mutex holds. A panic elsewhere ends the run anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unlock<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
