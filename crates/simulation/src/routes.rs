//! Routes: the next hop of a packet after each link, and when it changes.

use network::RouteId;
use std::collections::BTreeMap;
use units::Time;

/// What comes after a hop. Hops are numbered: first the links, then the ports of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Another link, or a port of a medium.
    Link(u32),
    /// The endpoint.
    End,
}

/// The next hop of every route that crosses one link. A route may cross a link once.
///
/// The common case takes no memory: an access link has one route, and everything that leaves a bottleneck towards a
/// single next link goes the same way.
#[derive(Clone, Debug)]
pub enum Successors {
    /// All routes end here.
    End,
    /// All routes go on to the same link.
    Link(u32),
    /// One entry per route number, from `first` on.
    Dense {
        /// Number of the first route in the table.
        first: RouteId,
        /// Next hops; entries of routes that do not come here are meaningless.
        hops: Vec<Hop>,
    },
    /// Pairs of route and next hop, in the order of routes: for few routes with distant numbers.
    Sparse(Vec<(RouteId, Hop)>),
}

impl Successors {
    /// A table of (route, next hop) pairs, which must be in the order of routes. Only one that `may_change` can be
    /// [`set`](Self::set) later.
    pub fn new(pairs: Vec<(RouteId, Hop)>, may_change: bool) -> Successors {
        let (Some(&(first, hop)), Some(&(last, _))) = (pairs.first(), pairs.last()) else {
            return Successors::End;
        };
        if !may_change && pairs.iter().all(|pair| pair.1 == hop) {
            return match hop {
                Hop::End => Successors::End,
                Hop::Link(link) => Successors::Link(link),
            };
        }
        let span = (last.index() - first.index()) + 1;
        if span > 8 * pairs.len() {
            return Successors::Sparse(pairs);
        }
        let mut hops = vec![Hop::End; span];
        pairs.iter().for_each(|&(route, hop)| hops[route.index() - first.index()] = hop);
        Successors::Dense { first, hops }
    }

    /// From now on packets of `route` go on to `hop`.
    ///
    /// # Panics
    /// If the table may not change.
    pub fn set(&mut self, route: RouteId, hop: Hop) {
        match self {
            Successors::Dense { first, hops } => hops[route.index() - first.index()] = hop,
            Successors::Sparse(pairs) => {
                if let Ok(n) = pairs.binary_search_by_key(&route, |pair| pair.0) {
                    pairs[n].1 = hop;
                }
            }
            Successors::End | Successors::Link(_) => panic!("this table does not change"),
        }
    }

    /// What comes next for a packet of `route`, which must be one of those that cross this link.
    #[inline]
    pub fn hop(&self, route: RouteId) -> Hop {
        match self {
            Successors::End => Hop::End,
            Successors::Link(link) => Hop::Link(*link),
            Successors::Dense { first, hops } => hops[route.index() - first.index()],
            Successors::Sparse(pairs) => {
                pairs.binary_search_by_key(&route, |pair| pair.0).map_or(Hop::End, |n| pairs[n].1)
            }
        }
    }
}

/// A route from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reroute {
    /// When packets that reach a fork go the new way. Those past it finish on the old one.
    pub at: Time,
    /// Number of the route.
    pub route: RouteId,
    /// Its hops, in order.
    pub path: Vec<u32>,
}

/// One thing that changes when a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The route begins with another link.
    Entry {
        /// Number of the route.
        route: RouteId,
        /// Its first link from now on.
        link: u32,
    },
    /// The route goes on differently after a link.
    Hop {
        /// Number of the route.
        route: RouteId,
        /// The link.
        link: u32,
        /// What comes after it from now on.
        hop: Hop,
    },
}

/// All routes, turned into one table per link.
#[derive(Clone, Debug)]
pub struct Routes {
    /// First link of every route.
    pub entries: Vec<u32>,
    /// Per link.
    pub successors: Vec<Successors>,
    /// Per link: the one link that feeds it, if nothing else ever does.
    pub only_feeder: Vec<Option<u32>>,
    /// Per link: what comes after it changes.
    pub switches_at: Vec<bool>,
    /// What changes, in the order of time.
    pub switches: Vec<(Time, Switch)>,
}

/// The links from which packets come into a link.
#[derive(Clone, Copy, PartialEq)]
enum Feeder {
    None,
    Link(u32),
    Several,
}

impl Feeder {
    fn add(&mut self, link: u32) {
        *self = match *self {
            Feeder::None => Feeder::Link(link),
            Feeder::Link(same) if same == link => *self,
            _ => Feeder::Several,
        };
    }
}

impl Routes {
    /// Tables for `links` links and ports of media, and the given routes: lists of hops, none empty, none twice in one.
    pub fn new(links: usize, routes: &[Vec<u32>], mut reroutes: Vec<Reroute>) -> Routes {
        reroutes.sort_by_key(|reroute| reroute.at); // stable: of two at a time the later one in the list holds
        let first = (0u32..).zip(routes).map(|(n, path)| Reroute {
            at: Time::ZERO,
            route: RouteId(n),
            path: path.clone(),
        });
        let mut hops: Vec<BTreeMap<RouteId, Hop>> = vec![BTreeMap::new(); links];
        let mut current = hops.clone();
        let mut feeders = vec![Feeder::None; links];
        let mut entries: Vec<u32> = routes.iter().map(|path| path[0]).collect();
        let (mut switches, mut switches_at) = (Vec::new(), vec![false; links]);
        for Reroute { at, route, path } in first.chain(reroutes) {
            feeders[path[0] as usize] = Feeder::Several; // an endpoint counts as several
            path.windows(2).for_each(|step| feeders[step[1] as usize].add(step[0]));
            if std::mem::replace(&mut entries[route.index()], path[0]) != path[0] {
                switches.push((at, Switch::Entry { route, link: path[0] }));
            }
            let next = path.iter().skip(1).map(|&link| Hop::Link(link)).chain([Hop::End]);
            for (&link, hop) in path.iter().zip(next) {
                hops[link as usize].entry(route).or_insert(hop);
                if current[link as usize].insert(route, hop).is_some_and(|before| before != hop) {
                    switches_at[link as usize] = true;
                    switches.push((at, Switch::Hop { route, link, hop }));
                }
            }
        }
        let tables = hops.into_iter().zip(&switches_at);
        Routes {
            entries: routes.iter().map(|path| path[0]).collect(),
            successors: tables
                .map(|(table, &may)| Successors::new(table.into_iter().collect(), may))
                .collect(),
            only_feeder: feeders
                .into_iter()
                .map(|feeder| if let Feeder::Link(link) = feeder { Some(link) } else { None })
                .collect(),
            switches_at,
            switches,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dumbbell_of_two_flows() {
        // Links: 0, 1 access; 2 bottleneck; 3, 4 receivers; 5 the way back.
        let routes = [vec![0, 2, 3], vec![5], vec![1, 2, 4], vec![5]];
        let tables = Routes::new(6, &routes, Vec::new());
        assert_eq!(tables.entries, [0, 5, 1, 5]);
        assert!(matches!(tables.successors[0], Successors::Link(2)));
        assert!(matches!(tables.successors[3], Successors::End));
        assert_eq!(
            (tables.successors[2].hop(RouteId(0)), tables.successors[2].hop(RouteId(2))),
            (Hop::Link(3), Hop::Link(4))
        );
        // The bottleneck has two feeders, the access links are fed by endpoints.
        assert_eq!(tables.only_feeder, [None, None, None, Some(2), Some(2), None]);
    }

    #[test]
    fn few_routes_with_distant_numbers_are_searched() {
        let table = Successors::new(
            [(3, Hop::Link(1)), (9_000, Hop::Link(2)), (20_000, Hop::End)]
                .map(|(n, hop)| (RouteId(n), hop))
                .to_vec(),
            false,
        );
        assert!(matches!(table, Successors::Sparse(_)));
        assert_eq!([3, 9_000, 20_000].map(|r| table.hop(RouteId(r))), [Hop::Link(1), Hop::Link(2), Hop::End]);
    }

    #[test]
    fn a_link_fed_by_a_link_and_an_endpoint_has_no_only_feeder() {
        assert_eq!(Routes::new(2, &[vec![0, 1], vec![1]], Vec::new()).only_feeder, [None, None]);
        assert_eq!(Routes::new(2, &[vec![1], vec![0, 1]], Vec::new()).only_feeder, [None, None]);
    }

    #[test]
    fn a_route_that_changes_its_middle_switches_at_the_fork_only() {
        // Over link 1 or link 2, between links 0 and 3.
        let change =
            |at, middle| Reroute { at: Time::from_nanos(at), route: RouteId(0), path: vec![0, middle, 3] };
        let tables = Routes::new(4, &[vec![0, 1, 3]], vec![change(9, 1), change(5, 2)]);
        let hop = |link| Switch::Hop { route: RouteId(0), link: 0, hop: Hop::Link(link) };
        assert_eq!(tables.switches, [(Time::from_nanos(5), hop(2)), (Time::from_nanos(9), hop(1))]);
        assert_eq!(tables.switches_at, [true, false, false, false]);
        assert_eq!([1, 2].map(|link: usize| tables.successors[link].hop(RouteId(0))), [Hop::Link(3); 2]);
        assert_eq!(tables.only_feeder, [None, Some(0), Some(0), None]);
    }
}
