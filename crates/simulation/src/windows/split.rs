//! Cuts a run into islands and shared links, if possible.

use super::island_share::IslandShare;
use super::shared_link::{Beyond, MOST_SHARES, SharedLink};
use super::{Place, Windows};
use crate::actors::Actors;
use crate::hosts::Endpoints;
use crate::island::Island;
use crate::net::Net;
use crate::payload::Payload;
use crate::plan::{Plan, WorkloadPlan, is_external};
use crate::routes::HopId;
use network::queue::{DropTail, Limit};
use network::{Direction, Impairments, Link, LinkConfig, RouteId, SamplingTimes, Streams};
use std::collections::BTreeSet;
use std::sync::Mutex;
use units::{Duration, Rate, Time};

/// A cut of a run.
pub(crate) struct Split {
    routes: Vec<Vec<HopId>>,
    /// For each hop, whether no flow, one flow or several flows use the hop.
    uses: Vec<Use>,
    /// Shared links. Each shared link comes after the shared links that feed it.
    shared: Vec<HopId>,
    /// Index of each hop among the shared links; `None` if the hop is not a shared link.
    numbers: Vec<Option<usize>>,
    /// Lookahead by shared link: once islands have run up to a time, all arrivals less than `notice` after that time
    /// are known.
    notice: Vec<Duration>,
    /// Longest window that gives the same results.
    lookahead: Duration,
    /// Longest window that is used.
    window: Duration,
    /// Longest delay of a packet from an island to a shared link.
    farthest: Duration,
}

/// Flows that use a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Nothing,
    Flow(u32),
    Several,
}

/// Size of an IPv4 header without options in bits (RFC 791, section 3.1). No packet is smaller.
const SMALLEST_PACKET_BITS: u64 = 20 * 8;

/// Maximum number of windows in which a packet travels to a shared link, as the packet is copied in each window.
const MOST_WINDOWS: u64 = 16;

/// Packets per window and flow, at the highest rate, above which longer windows save no more time.
const PACKETS_PER_FLOW: u128 = 16;
/// Packets per window over all flows, at the highest rate, above which longer windows save no more time.
const PACKETS_PER_WINDOW: u128 = 8_192;

/// Maximum entries of the tables of next hops, with one entry per route and shared link. Larger tables take long to
/// build.
const MOST_ENTRIES: usize = 1 << 20;

/// Shares of islands per thread. Threads take shares in turns, so that a thread waits at most for the run of one share.
/// More shares mean more lists to merge.
const SHARES_PER_THREAD: usize = 4;

/// Bits of a packet of 1500 bytes times the nanoseconds of a second. Divided by a rate in bit/s, the result is the
/// transmission time in nanoseconds.
const FULL_PACKET_NANOBITS: u128 = 1_500 * 8 * 1_000_000_000;

impl Split {
    /// Finds the cut of a run, if its plan and its links permit one; docs/explanation/windows.md has the conditions.
    pub fn new(plan: &Plan, links: &[Link<Payload>]) -> Option<Split> {
        if !permits(plan) {
            return None;
        }
        let hops = |path: &Vec<u32>| path.iter().copied().map(HopId).collect();
        let routes: Vec<Vec<HopId>> = plan.routes().map(hops).collect();
        let uses = uses(links.len(), &routes);
        let shared = in_order(&uses, &routes)?;
        // Two packets must never leave a shared link at the same time: if they go to two islands, the order of their
        // arrivals would be undefined.
        let highest = Rate::from_bits_per_sec(SMALLEST_PACKET_BITS * 1_000_000_000);
        let served = |hop: &HopId| {
            let link = &links[hop.index()];
            let described = &plan.links[hop.index()];
            let plain = described.impairments.is_empty() && link.capacity() <= highest;
            // A changed limit takes effect when the link is next served, and the time of that service depends on
            // windows.
            let steady =
                link.has_closed_form() || !described.changes.iter().any(|change| change.limit.is_some());
            plain && steady && link.min_delay() > Duration::ZERO && link.arrivals_known_on_departure()
        };
        if shared.is_empty() || !shared.iter().all(served) {
            return None;
        }
        let mut numbers = vec![None; links.len()];
        shared.iter().enumerate().for_each(|(n, hop)| numbers[hop.index()] = Some(n));
        let mut split = Split {
            routes,
            uses,
            shared,
            numbers,
            notice: Vec::new(),
            lookahead: Duration::MAX,
            window: Duration::MAX,
            farthest: Duration::ZERO,
        };
        split.find_notice(links);
        split.find_lookahead(links);
        split.window = split.lookahead.min(split.longest_useful_window(links));
        (split.lookahead > Duration::ZERO).then_some(split)
    }

    /// Whether windows save time. Windows save time if a window has room for a packet of every flow, packets reach
    /// shared links within few windows, and the tables of next hops are small.
    pub fn pays(&self, plan: &Plan, links: &[Link<Payload>]) -> bool {
        let interval = plan.record.interval_ns.map_or(Duration::MAX, Duration::from_nanos);
        let window = self.window.min(interval).as_nanos();
        let nanobits = u128::from(self.highest_rate(links).bits_per_sec()) * u128::from(window);
        nanobits >= self.routes.len() as u128 / 2 * FULL_PACKET_NANOBITS
            && self.farthest.as_nanos() <= MOST_WINDOWS.saturating_mul(window)
            && self.shared.len() * self.routes.len() <= MOST_ENTRIES
    }

    /// Longest useful window. Longer windows only take more memory. The window has enough packets for every flow, and
    /// is at least as long as the delay of a packet to a shared link. The longest useful window is never shorter than
    /// 1/16 of the longest window that gives the same results.
    fn longest_useful_window(&self, links: &[Link<Payload>]) -> Duration {
        let packets = (self.routes.len() as u128 / 2 * PACKETS_PER_FLOW).max(PACKETS_PER_WINDOW);
        let rate = u128::from(self.highest_rate(links).bits_per_sec()).max(1);
        let span = u64::try_from(packets * FULL_PACKET_NANOBITS / rate).unwrap_or(u64::MAX);
        Duration::from_nanos(span).max(self.farthest).max(self.lookahead / MOST_WINDOWS)
    }

    /// Highest rate of any flow's data, as limited by the links that the flow shares with other flows.
    fn highest_rate(&self, links: &[Link<Payload>]) -> Rate {
        let forward =
            (0u32..).zip(&self.routes).filter(|(n, _)| RouteId(*n).direction() == Direction::Forward);
        let rates = forward.filter_map(|(_, path)| {
            path.iter()
                .filter(|hop| self.number(**hop).is_some())
                .map(|hop| links[hop.index()].capacity())
                .min()
        });
        rates.max().unwrap_or(Rate::UNLIMITED)
    }

    /// Index of a hop among the shared links; `None` if the hop is not a shared link.
    fn number(&self, hop: HopId) -> Option<usize> {
        self.numbers[hop.index()]
    }

    /// Feeders of each shared link: hops, or `None` for an end of a flow.
    fn feeders(&self) -> Vec<BTreeSet<Option<HopId>>> {
        let mut feeders = vec![BTreeSet::new(); self.shared.len()];
        for path in &self.routes {
            let before = [None].into_iter().chain(path.iter().copied().map(Some));
            for (feeder, &hop) in before.zip(path) {
                if let Some(n) = self.number(hop) {
                    feeders[n].insert(feeder);
                }
            }
        }
        feeders
    }

    fn find_notice(&mut self, links: &[Link<Payload>]) {
        for feeders in self.feeders() {
            let notice = feeders.into_iter().map(|feeder| {
                let Some(feeder) = feeder else { return Duration::ZERO };
                let link = &links[feeder.index()];
                if self.number(feeder).is_none() {
                    self.farthest = self.farthest.max(link.min_delay());
                }
                match self.number(feeder) {
                    Some(shared) => self.notice[shared] + link.min_delay(),
                    None if link.has_closed_form() => link.min_delay(),
                    None => Duration::ZERO,
                }
            });
            let least = notice.min().unwrap_or(Duration::ZERO);
            self.notice.push(least);
        }
    }

    fn find_lookahead(&mut self, links: &[Link<Payload>]) {
        for path in &self.routes {
            for (n, &hop) in path.iter().enumerate() {
                let into_island = path.get(n + 1).is_none_or(|&next| self.number(next).is_none());
                if let Some(shared) = self.number(hop).filter(|_| into_island) {
                    let span = self.notice[shared] + links[hop.index()].min_delay();
                    self.lookahead = self.lookahead.min(span);
                }
            }
        }
    }

    /// Cuts the run for a number of threads.
    pub fn cut(
        self,
        links: Vec<Link<Payload>>,
        flows: Vec<Endpoints>,
        sampling: SamplingTimes,
        threads: usize,
    ) -> Windows {
        let streams = Streams::for_flows(flows.len());
        let actors = Actors::new(links.len(), 0, self.routes.len());
        let each = flows.len().div_ceil(shares(threads));
        let mut places = vec![Place::Shared(0); links.len()];
        let mut beyond = vec![vec![Beyond::Nothing; self.routes.len()]; self.shared.len()];
        let mut links: Vec<Option<Link<Payload>>> = links.into_iter().map(Some).collect();
        let mut islands = Vec::new();
        for (n, flow) in (0u32..).zip(flows) {
            let place = (n as usize / each, n as usize % each);
            let hops = self.hops_of(n);
            let net = self.net_of(n, &hops, actors, streams, |hop| match self.number(hop) {
                Some(_) => far_end(sampling),
                None => links[hop.index()].take().unwrap_or_else(|| far_end(sampling)),
            });
            self.note_places(n, &hops, place, &mut places, &mut beyond);
            islands.push(Island::new(net, vec![flow], n));
        }
        let shared = self.shared.iter().enumerate().zip(beyond).filter_map(|((n, &hop), beyond)| {
            places[hop.index()] = Place::Shared(n);
            let counts = (islands.len().div_ceil(each), self.shared.len());
            let (number, notice) = (actors.link(hop).0, self.notice[n]);
            let link = links[hop.index()].take()?;
            Some(Mutex::new(SharedLink::new(link, number, notice, beyond, streams, counts)))
        });
        let shared: Vec<_> = shared.collect();
        let mut islands = islands.into_iter();
        let shares = std::iter::from_fn(|| {
            let share: Vec<Island> = islands.by_ref().take(each).collect();
            (!share.is_empty()).then(|| Mutex::new(IslandShare::new(share, shared.len())))
        });
        let feeds = |path: &[HopId]| path.iter().all(|&hop| self.number(hop).is_some());
        let in_sequence = shared.len() < 2 || self.routes.iter().any(|path| path.windows(2).any(feeds));
        let (shares, window, done): (Vec<_>, _, _) = (shares.collect(), self.window, Time::ZERO);
        let threads = threads.clamp(1, shares.len().max(1));
        Windows { shares, threads, shared, places, in_sequence, window, done }
    }

    /// Hops of a flow's routes, in the order of their IDs. The first flow also has the hops that no route crosses.
    fn hops_of(&self, flow: u32) -> Vec<HopId> {
        let routes = [Direction::Forward, Direction::Backward].map(|end| RouteId::new(flow, end));
        let mut hops: BTreeSet<HopId> =
            routes.iter().flat_map(|route| &self.routes[route.index()]).copied().collect();
        if flow == 0 {
            let all = (0..).map(HopId).zip(&self.uses);
            hops.extend(all.filter(|(_, uses)| **uses == Use::Nothing).map(|(hop, _)| hop));
        }
        hops.into_iter().collect()
    }

    /// The network of the island of a flow, with the given hops.
    fn net_of(
        &self,
        flow: u32,
        hops: &[HopId],
        actors: Actors,
        streams: Streams,
        link: impl FnMut(HopId) -> Link<Payload>,
    ) -> Net<Payload> {
        let first = RouteId::new(flow, Direction::Forward);
        let routes = [first, RouteId::new(flow, Direction::Backward)];
        let own = routes.map(|route| {
            let path = self.routes[route.index()].iter();
            path.filter_map(|hop| own_number(hops, *hop)).collect::<Vec<HopId>>()
        });
        let mut net = Net::new(hops.iter().copied().map(link).collect(), Vec::new(), &own, Vec::new(), true);
        let numbers = [Actors::CONTROL].into_iter().chain(routes.map(|route| actors.end(route)));
        let numbers = numbers.chain(hops.iter().map(|&hop| actors.link(hop)));
        net.become_part(first, streams, numbers.map(|actor| actor.0).collect(), |own| {
            self.number(hops[own.index()]).map(|n| n as u32)
        });
        net
    }

    /// Records the places of a flow's hops, and its next hops behind shared links.
    fn note_places(
        &self,
        flow: u32,
        hops: &[HopId],
        (share, island): (usize, usize),
        places: &mut [Place],
        beyond: &mut [Vec<Beyond>],
    ) {
        for (n, &hop) in (0..).zip(hops) {
            if self.number(hop).is_none() {
                places[hop.index()] = Place::Private { share, island, hop: HopId(n) };
            }
        }
        for route in [Direction::Forward, Direction::Backward].map(|end| RouteId::new(flow, end)) {
            let path = &self.routes[route.index()];
            for (n, &hop) in path.iter().enumerate() {
                let (Some(shared), Some(own)) = (self.number(hop), own_number(hops, hop)) else { continue };
                let next = path.get(n + 1).and_then(|&next| self.number(next));
                let into = Beyond::Island { share: share as u32, island: island as u32, hop: own };
                beyond[shared][route.index()] = next.map_or(into, |n| Beyond::Shared(n as u32));
            }
        }
    }
}

/// Number of shares of islands for a number of threads.
fn shares(threads: usize) -> usize {
    if threads < 2 { 1 } else { threads.saturating_mul(SHARES_PER_THREAD).min(MOST_SHARES) }
}

/// ID of a hop in an island with these hops.
fn own_number(hops: &[HopId], hop: HopId) -> Option<HopId> {
    hops.binary_search(&hop).ok().map(|n| HopId(n as u32))
}

/// Far end of a shared link, which only holds packets until they arrive.
fn far_end(sampling: SamplingTimes) -> Link<Payload> {
    let config = LinkConfig {
        rate: Rate::UNLIMITED,
        delay: Duration::ZERO,
        loss: None,
        sampling,
        impairments: Impairments::default(),
    };
    Link::new(config, Box::new(DropTail::new(Limit::default())))
}

/// Whether a plan permits windows: apart from links, no part of the plan acts on more than one flow, and nothing is
/// recorded in the order of events.
fn permits(plan: &Plan) -> bool {
    let recorded = plan.record.variables || !plan.record.packets.is_empty();
    let changes = !plan.media.is_empty() || !plan.route_controllers.is_empty();
    let links = plan.links.iter().all(|link| !link.nic && !is_external(&link.queue.kind));
    let flows = plan.flows.iter().all(|flow| {
        let headers = match &flow.workload {
            Some(WorkloadPlan::Datagrams(datagrams)) => datagrams.overhead_bytes,
            _ => flow.tcp.overhead_bytes(),
        };
        let external =
            is_external(flow.algorithm()) || matches!(flow.workload, Some(WorkloadPlan::External { .. }));
        let plain = flow.reroutes.is_empty() && flow.relayed.is_none() && !external;
        plain && u64::from(headers) * 8 >= SMALLEST_PACKET_BITS
    });
    !recorded && !changes && links && flows
}

fn uses(links: usize, routes: &[Vec<HopId>]) -> Vec<Use> {
    let mut uses = vec![Use::Nothing; links];
    for (route, path) in (0u32..).zip(routes) {
        let flow = RouteId(route).flow();
        for hop in path {
            let uses = &mut uses[hop.index()];
            *uses = match *uses {
                Use::Nothing => Use::Flow(flow),
                Use::Flow(same) if same == flow => *uses,
                _ => Use::Several,
            };
        }
    }
    uses
}

/// Shared links, each after the shared links that feed it; `None` if shared links feed each other in a circle.
fn in_order(uses: &[Use], routes: &[Vec<HopId>]) -> Option<Vec<HopId>> {
    let is_shared = |hop: &HopId| uses[hop.index()] == Use::Several;
    let steps: BTreeSet<(HopId, HopId)> = routes
        .iter()
        .flat_map(|path| path.windows(2))
        .filter(|step| step.iter().all(is_shared))
        .map(|step| (step[0], step[1]))
        .collect();
    let mut left: Vec<HopId> = (0..uses.len() as u32).map(HopId).filter(is_shared).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let fed = |hop: &HopId| steps.iter().any(|(from, to)| to == hop && left.contains(from));
        let free: Vec<HopId> = left.iter().copied().filter(|hop| !fed(hop)).collect();
        left.retain(|hop| !free.contains(hop));
        if free.is_empty() {
            return None;
        }
        order.extend(free);
    }
    Some(order)
}
