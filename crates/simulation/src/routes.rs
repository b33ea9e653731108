//! Routes: the next hop of a packet after each link, and when it changes.

use crate::net::EndMarker;
use network::RouteId;
use std::collections::BTreeMap;
use units::Time;

/// A link, or a port of a medium: first come the links, then the ports of all media, one medium after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct HopId(pub u32);

impl HopId {
    /// Its number, to index with.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What comes after a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another hop.
    Hop(HopId),
    /// Another hop, a link into which packets are handed over ahead of the clock.
    CutThrough(HopId),
    /// The endpoint.
    End,
}

impl Next {
    /// The hop; none if it is the endpoint.
    pub fn hop(self) -> Option<HopId> {
        match self {
            Next::Hop(hop) | Next::CutThrough(hop) => Some(hop),
            Next::End => None,
        }
    }
}

/// The next hop of every route that crosses one link. A route may cross a link once.
///
/// The common case needs no table: an access link has one route, and everything that leaves a bottleneck towards a
/// single next link takes the same route.
#[derive(Clone, Debug)]
pub struct Successors {
    /// What comes next on every route, if that is always the same.
    common: Option<Next>,
    table: Table,
}

/// The next hop, route by route.
#[derive(Clone, Debug)]
enum Table {
    /// One entry per route number, from `first` on.
    Dense {
        /// Number of the first route in the table.
        first: RouteId,
        /// Next hops; entries of routes that do not come here are meaningless.
        hops: Vec<Next>,
    },
    /// Pairs of route and next hop, in the order of routes: for few routes with distant numbers.
    Sparse(Vec<(RouteId, Next)>),
}

impl Successors {
    /// All routes end here.
    pub const END: Successors = Successors { common: Some(Next::End), table: Table::Sparse(Vec::new()) };

    /// A table of (route, next hop) pairs, which must be in the order of routes. Only one that `may_change` can be
    /// [`set`](Self::set) later.
    pub fn new(pairs: Vec<(RouteId, Next)>, may_change: bool) -> Successors {
        let (Some(&(first, next)), Some(&(last, _))) = (pairs.first(), pairs.last()) else {
            return Successors::END;
        };
        if !may_change && pairs.iter().all(|pair| pair.1 == next) {
            return Successors { common: Some(next), ..Successors::END };
        }
        let span = last.index() - first.index() + 1;
        if span > 8 * pairs.len() {
            return Successors { common: None, table: Table::Sparse(pairs) };
        }
        let mut hops = vec![Next::End; span];
        pairs.iter().for_each(|&(route, next)| hops[route.index() - first.index()] = next);
        Successors { common: None, table: Table::Dense { first, hops } }
    }

    /// From now on packets of `route` go on to `next`.
    ///
    /// # Panics
    /// If the table may not change.
    pub fn set(&mut self, route: RouteId, next: Next) {
        assert!(self.common.is_none(), "this table does not change");
        match &mut self.table {
            Table::Dense { first, hops } => hops[route.index() - first.index()] = next,
            Table::Sparse(pairs) => {
                if let Ok(n) = pairs.binary_search_by_key(&route, |pair| pair.0) {
                    pairs[n].1 = next;
                }
            }
        }
    }

    /// From now on packets are handed over ahead of the clock into the links that are `wanted`.
    pub fn cut_through(&mut self, wanted: impl Fn(HopId) -> bool) {
        let in_table: &mut dyn Iterator<Item = &mut Next> = match &mut self.table {
            Table::Dense { hops, .. } => &mut hops.iter_mut(),
            Table::Sparse(pairs) => &mut pairs.iter_mut().map(|pair| &mut pair.1),
        };
        for next in in_table.chain(&mut self.common) {
            if let Next::Hop(hop) = *next
                && wanted(hop)
            {
                *next = Next::CutThrough(hop);
            }
        }
    }

    /// What comes next for a packet of `route`, which must be one of those that cross this link.
    #[inline]
    pub fn hop(&self, route: RouteId) -> Next {
        self.common.unwrap_or_else(|| self.table.hop(route))
    }
}

impl Table {
    #[inline]
    fn hop(&self, route: RouteId) -> Next {
        match self {
            Table::Dense { first, hops } => hops[route.index() - first.index()],
            Table::Sparse(pairs) => {
                pairs.binary_search_by_key(&route, |pair| pair.0).map_or(Next::End, |n| pairs[n].1)
            }
        }
    }
}

/// A route from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reroute {
    /// When packets that reach a fork take the new route. Those past it finish on the old one. Never: there is room for it
    /// in the tables, and a controller may install it.
    pub at: Time,
    /// Number of the route.
    pub route: RouteId,
    /// Its hops, in order.
    pub path: Vec<HopId>,
}

/// One thing that changes when a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The route begins with another hop.
    Entry {
        /// The route.
        route: RouteId,
        /// Its first hop from now on.
        hop: HopId,
    },
    /// The route goes on differently after a hop.
    Fork {
        /// The route.
        route: RouteId,
        /// The hop.
        hop: HopId,
        /// What comes after it from now on.
        next: Next,
    },
    /// A port of a medium hands over what has not left it.
    HandOver {
        /// The number of the hand-over.
        number: usize,
    },
    /// The gap of a hand-over is over.
    GapEnd {
        /// The number of the hand-over.
        hand_over: usize,
    },
    /// An end marker may go on.
    Follow {
        /// The marker.
        marker: EndMarker,
    },
}

/// All routes, turned into one table per hop.
#[derive(Clone, Debug)]
pub struct Routes {
    /// First hop of every route.
    pub entries: Vec<HopId>,
    /// Per hop.
    pub successors: Vec<Successors>,
    /// Per hop: the one hop that feeds it, if nothing else ever does.
    pub only_feeder: Vec<Option<HopId>>,
    /// Per hop: what comes after it changes.
    pub switches_at: Vec<bool>,
    /// What changes, in the order of time.
    pub switches: Vec<(Time, Switch)>,
}

/// The hops from which packets come into a hop.
#[derive(Clone, Copy, PartialEq)]
enum Feeder {
    None,
    Hop(HopId),
    Several,
}

impl Feeder {
    fn add(&mut self, hop: HopId) {
        *self = match *self {
            Feeder::None => Feeder::Hop(hop),
            Feeder::Hop(same) if same == hop => *self,
            _ => Feeder::Several,
        };
    }
}

impl Routes {
    /// Tables for so many hops, and the given routes: lists of hops, none empty, none twice in one. Of two that never
    /// begin, both have room.
    pub fn new(hops: usize, routes: &[Vec<HopId>], mut reroutes: Vec<Reroute>) -> Routes {
        reroutes.sort_by_key(|reroute| reroute.at); // stable: of two at a time the later one in the list holds
        let first = (0u32..).zip(routes).map(|(n, path)| Reroute {
            at: Time::ZERO,
            route: RouteId(n),
            path: path.clone(),
        });
        let mut tables: Vec<BTreeMap<RouteId, Next>> = vec![BTreeMap::new(); hops];
        let mut current = tables.clone();
        let mut feeders = vec![Feeder::None; hops];
        let mut entries: Vec<HopId> = routes.iter().map(|path| path[0]).collect();
        let (mut switches, mut switches_at) = (Vec::new(), vec![false; hops]);
        for Reroute { at, route, path } in first.chain(reroutes) {
            feeders[path[0].index()] = Feeder::Several; // an endpoint counts as several
            path.windows(2).for_each(|step| feeders[step[1].index()].add(step[0]));
            if std::mem::replace(&mut entries[route.index()], path[0]) != path[0] {
                switches.push((at, Switch::Entry { route, hop: path[0] }));
            }
            let following = path.iter().skip(1).map(|&hop| Next::Hop(hop)).chain([Next::End]);
            for (&hop, next) in path.iter().zip(following) {
                tables[hop.index()].entry(route).or_insert(next);
                if current[hop.index()].insert(route, next).is_some_and(|before| before != next) {
                    switches_at[hop.index()] = true;
                    switches.push((at, Switch::Fork { route, hop, next }));
                }
            }
        }
        switches.retain(|&(at, _)| at < Time::NEVER);
        let tables = tables.into_iter().zip(&switches_at);
        Routes {
            entries: routes.iter().map(|path| path[0]).collect(),
            successors: tables
                .map(|(table, &may)| Successors::new(table.into_iter().collect(), may))
                .collect(),
            only_feeder: feeders
                .into_iter()
                .map(|feeder| if let Feeder::Hop(hop) = feeder { Some(hop) } else { None })
                .collect(),
            switches_at,
            switches,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(hops: &[u32]) -> Vec<HopId> {
        hops.iter().map(|&n| HopId(n)).collect()
    }

    fn to(hop: u32) -> Next {
        Next::Hop(HopId(hop))
    }

    #[test]
    fn a_dumbbell_of_two_flows() {
        // Links: 0, 1 access; 2 bottleneck; 3, 4 receivers; 5 the route back.
        let routes = [&[0, 2, 3][..], &[5], &[1, 2, 4], &[5]].map(route);
        let tables = Routes::new(6, &routes, Vec::new());
        assert_eq!(tables.entries, route(&[0, 5, 1, 5]));
        assert_eq!(
            (tables.successors[0].common, tables.successors[3].common),
            (Some(to(2)), Some(Next::End))
        );
        assert_eq!(
            (tables.successors[2].hop(RouteId(0)), tables.successors[2].hop(RouteId(2))),
            (to(3), to(4))
        );
        // The bottleneck has two feeders, the access links are fed by endpoints.
        assert_eq!(tables.only_feeder, [None, None, None, Some(HopId(2)), Some(HopId(2)), None]);
    }

    #[test]
    fn few_routes_with_distant_numbers_are_searched() {
        let table = Successors::new(
            [(3, to(1)), (9_000, to(2)), (20_000, Next::End)].map(|(n, hop)| (RouteId(n), hop)).to_vec(),
            false,
        );
        assert!(matches!(table.table, Table::Sparse(_)));
        assert_eq!([3, 9_000, 20_000].map(|r| table.hop(RouteId(r))), [to(1), to(2), Next::End]);
    }

    #[test]
    fn cut_through_is_found_in_every_kind_of_table() {
        let dense = [(0, to(1)), (1, to(2)), (2, Next::End)];
        let sparse = [(3, to(1)), (9_000, to(2)), (20_000, Next::End)];
        for pairs in [&dense[..1], &dense, &sparse] {
            let pairs = pairs.iter().map(|&(n, next)| (RouteId(n), next)).collect::<Vec<_>>();
            let mut table = Successors::new(pairs.clone(), false);
            table.cut_through(|hop| hop == HopId(1));
            let expected =
                pairs.iter().map(|&(_, next)| if next == to(1) { Next::CutThrough(HopId(1)) } else { next });
            let found = pairs.iter().map(|&(route, _)| table.hop(route));
            assert!(found.eq(expected));
        }
    }

    #[test]
    fn a_link_fed_by_a_link_and_an_endpoint_has_no_only_feeder() {
        assert_eq!(Routes::new(2, &[route(&[0, 1]), route(&[1])], Vec::new()).only_feeder, [None, None]);
        assert_eq!(Routes::new(2, &[route(&[1]), route(&[0, 1])], Vec::new()).only_feeder, [None, None]);
    }

    #[test]
    fn a_route_that_changes_its_middle_switches_at_the_fork_only() {
        // Over link 1 or link 2, between links 0 and 3.
        let change = |at, middle| Reroute {
            at: Time::from_nanos(at),
            route: RouteId(0),
            path: route(&[0, middle, 3]),
        };
        let tables = Routes::new(4, &[route(&[0, 1, 3])], vec![change(9, 1), change(5, 2)]);
        let hop = |middle| Switch::Fork { route: RouteId(0), hop: HopId(0), next: to(middle) };
        assert_eq!(tables.switches, [(Time::from_nanos(5), hop(2)), (Time::from_nanos(9), hop(1))]);
        assert_eq!(tables.switches_at, [true, false, false, false]);
        assert_eq!([1, 2].map(|link: usize| tables.successors[link].hop(RouteId(0))), [to(3); 2]);
        assert_eq!(tables.only_feeder, [None, Some(HopId(0)), Some(HopId(0)), None]);
    }
}
