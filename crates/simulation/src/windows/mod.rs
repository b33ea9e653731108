//! Windows: for a span of time, each flow of a run is simulated separately, then the links that flows share.
//!
//! docs/explanation/windows.md explains why the results are those of a simulation in the order of events.

mod ends;
mod island_share;
mod order;
mod shared_link;
mod split;
mod step;
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
use step::NANOSECOND;
use units::{Duration, Time};

/// A run cut into islands of one flow each, and the links that they share.
pub(crate) struct Windows {
    shares: Vec<Mutex<IslandShare>>,
    /// Number of threads.
    threads: usize,
    /// Shared links. Each shared link comes after the shared links that feed it.
    shared: Vec<Mutex<SharedLink>>,
    /// Place of each hop.
    places: Vec<Place>,
    /// Whether shared links are served one after the other, because some shared links feed other shared links, or
    /// because there is only one shared link.
    in_sequence: bool,
    /// The longest window.
    window: Duration,
    /// Time before which islands have run all events.
    done: Time,
}

/// Place of a hop.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Index among the shared links.
    Shared(usize),
    /// A link of an island, and the link's ID in that island.
    Private { share: usize, island: usize, hop: HopId },
}

impl Windows {
    /// Runs all events up to and including `until`, but stops early after `left` turns of actors. All events up to and
    /// including the returned time have been run.
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

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// End of the window that begins at `done`.
    fn end(&self, done: Time, until: Time) -> Time {
        (done + self.window).min(until + NANOSECOND)
    }

    /// Start of the next window, after islands have run the window that began at `done`.
    fn begin_of_next(&self, done: Time, until: Time) -> Time {
        self.end(done, until).max(self.next().min(until + NANOSECOND))
    }

    /// Lets every shared link serve all packets whose arrival at this link is known.
    fn serve_all(&self) {
        (0..self.shared.len()).for_each(|n| self.serve(n, self.done));
    }

    /// Lower bound of the time of the next event.
    fn next(&self) -> Time {
        let islands = self.shares.iter().map(|share| lock(share).next());
        let links = self.shared.iter().map(|link| lock(link).next());
        islands.chain(links).min().unwrap_or(Time::NEVER)
    }

    /// Lets a shared link serve all packets whose arrival is known when islands have run all events before `done`.
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

    /// Counters of a hop up to the last sampling time, and the bytes that a link with opportunities could have sent
    /// between two times.
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

    /// Calls `act` with every flow, in the order of the plan.
    pub fn for_each_flow(&mut self, mut act: impl FnMut(&mut Endpoints)) {
        for share in &mut self.shares {
            lock(share).islands.iter_mut().flat_map(|island| &mut island.flows).for_each(&mut act);
        }
    }

    /// Data packets sent so far, over all flows.
    pub fn data_packets(&self) -> u64 {
        let shares = self
            .shares
            .iter()
            .map(|share| -> u64 { lock(share).islands.iter().map(Island::data_packets).sum() });
        shares.sum()
    }

    /// The flows and the links, both in the order of the plan.
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

/// Locks a mutex and ignores poisoning: a panic elsewhere ends the run anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unlock<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
