//! Routes: the next hop of a packet after each hop, and the changes of next hops.

use crate::end_marker::EndMarker;
use network::RouteId;
use std::collections::BTreeMap;
use units::Time;

/// ID of a link or of a port of a medium. Links come first, then the ports of all media, medium by medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct HopId(pub u32);

impl HopId {
    /// The ID as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Next hop behind a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another hop.
    Hop(HopId),
    /// A link that packets enter ahead of the clock, as soon as they enter this hop.
    CutThrough(HopId),
    /// The endpoint.
    End,
}

impl Next {
    /// The hop; `None` for the endpoint.
    pub fn hop(self) -> Option<HopId> {
        match self {
            Next::Hop(hop) | Next::CutThrough(hop) => Some(hop),
            Next::End => None,
        }
    }
}

/// The next hops of all routes that cross one hop. A route may cross a hop only once.
///
/// The common case needs no table: an access link has one route, and if a bottleneck is followed by a single link, all
/// of its routes have the same next hop.
#[derive(Clone, Debug)]
pub struct Successors {
    /// Next hop of all routes, if the next hop is the same for all routes and never changes.
    common: Option<Next>,
    table: Table,
}

/// Next hops by route.
#[derive(Clone, Debug)]
enum Table {
    /// One entry per route ID, from `first` on.
    Dense {
        /// ID of the first route in the table.
        first: RouteId,
        /// Next hops; the entries of routes that do not cross the hop are never used.
        hops: Vec<Next>,
    },
    /// Pairs of route and next hop, in the order of routes. Used for few routes with distant IDs.
    Sparse(Vec<(RouteId, Next)>),
}

impl Successors {
    /// Next hops of a hop at which all routes end.
    pub const END: Successors = Successors { common: Some(Next::End), table: Table::Sparse(Vec::new()) };

    /// A table of (route, next hop) pairs, which must be in the order of routes. Only a table that `may_change` permits
    /// [`set`](Self::set).
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

    /// Sets the next hop of `route`.
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

    /// Makes the next hops that are `wanted` cut-through.
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

    /// Next hop of `route`, which must cross this hop.
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
    /// Time from which packets at a fork take the new route. Packets past the fork finish on the old route. At
    /// [`Time::NEVER`], the tables only have room for the route, which a controller may install later.
    pub at: Time,
    /// ID of the route.
    pub route: RouteId,
    /// Hops of the route in order.
    pub path: Vec<HopId>,
}

/// A single change of the routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// A route gets another first hop.
    Entry {
        /// The route.
        route: RouteId,
        /// First hop of the route from now on.
        hop: HopId,
    },
    /// A route gets another next hop behind a hop.
    Fork {
        /// The route.
        route: RouteId,
        /// The hop.
        hop: HopId,
        /// The new next hop.
        next: Next,
    },
    /// A port of a medium hands over its packets.
    HandOver {
        /// Index of the handover.
        number: usize,
    },
    /// The gap of a handover ends.
    GapEnd {
        /// Index of the handover.
        hand_over: usize,
    },
    /// An end marker may move on.
    Follow {
        /// The marker.
        marker: EndMarker,
    },
}

/// All routes, as one table per hop.
#[derive(Clone, Debug)]
pub struct Routes {
    /// First hop of every route.
    pub entries: Vec<HopId>,
    /// Next hops, by hop.
    pub successors: Vec<Successors>,
    /// For each hop, the only hop that ever feeds it; `None` if no hop or several hops feed it.
    pub only_feeder: Vec<Option<HopId>>,
    /// For each hop, whether any route gets another next hop behind it during the run.
    pub switches_at: Vec<bool>,
    /// Changes in the order of time.
    pub switches: Vec<(Time, Switch)>,
}

/// Hops that feed a hop.
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
    /// Tables for `hops` hops and the given routes. Each route is a list of hops that is not empty and has no hop
    /// twice. The tables get room for each reroute at [`Time::NEVER`].
    pub fn new(hops: usize, routes: &[Vec<HopId>], mut reroutes: Vec<Reroute>) -> Routes {
        reroutes.sort_by_key(|reroute| reroute.at); // stable: at equal times the last reroute in the list takes effect
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
            feeders[path[0].index()] = Feeder::Several; // an endpoint counts as several feeders
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
        // Links 0 and 1 are access links, 2 is the bottleneck, 3 and 4 lead to the receivers, and 5 is the route back.
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
        // The bottleneck has two feeders, and the access links are fed by endpoints.
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
        // Two routes from link 0 to link 3: over link 1 or link 2.
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
