//! Where a packet goes after each link.

/// What comes after a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Another link.
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
        first: u32,
        /// Next hops; entries of routes that do not come here are meaningless.
        hops: Vec<Hop>,
    },
    /// Pairs of route and next hop, in the order of routes: for few routes with distant numbers.
    Sparse(Vec<(u32, Hop)>),
}

impl Successors {
    /// A table of (route, next hop) pairs, which must be in the order of routes.
    pub fn new(pairs: Vec<(u32, Hop)>) -> Successors {
        let (Some(&(first, hop)), Some(&(last, _))) = (pairs.first(), pairs.last()) else {
            return Successors::End;
        };
        if pairs.iter().all(|pair| pair.1 == hop) {
            return match hop {
                Hop::End => Successors::End,
                Hop::Link(link) => Successors::Link(link),
            };
        }
        let span = (last - first) as usize + 1;
        if span > 8 * pairs.len() {
            return Successors::Sparse(pairs);
        }
        let mut hops = vec![Hop::End; span];
        pairs.iter().for_each(|&(route, hop)| hops[(route - first) as usize] = hop);
        Successors::Dense { first, hops }
    }

    /// What comes next for a packet of `route`, which must be one of those that cross this link.
    #[inline]
    pub fn of(&self, route: u32) -> Hop {
        match self {
            Successors::End => Hop::End,
            Successors::Link(link) => Hop::Link(*link),
            Successors::Dense { first, hops } => hops[(route - first) as usize],
            Successors::Sparse(pairs) => {
                pairs.binary_search_by_key(&route, |pair| pair.0).map_or(Hop::End, |n| pairs[n].1)
            }
        }
    }
}

/// All routes, turned into one table per link.
#[derive(Clone, Debug)]
pub struct Routes {
    /// First link of every route.
    pub entries: Vec<u32>,
    /// Per link.
    pub successors: Vec<Successors>,
    /// Per link: the one link that feeds it, if nothing else does.
    pub only_feeder: Vec<Option<u32>>,
}

/// Who sends packets into a link.
#[derive(Clone, Copy, PartialEq)]
enum Feeder {
    Nobody,
    Link(u32),
    Several,
}

impl Routes {
    /// Tables for `links` links and the given routes: lists of link numbers, none empty, no link twice in one.
    pub fn new(links: usize, routes: &[Vec<u32>]) -> Routes {
        let mut pairs = vec![Vec::new(); links];
        let mut feeders = vec![Feeder::Nobody; links];
        for (route, number) in routes.iter().zip(0u32..) {
            feeders[route[0] as usize] = Feeder::Several; // an endpoint counts as several
            for step in route.windows(2) {
                pairs[step[0] as usize].push((number, Hop::Link(step[1])));
                let feeder = &mut feeders[step[1] as usize];
                *feeder = match *feeder {
                    Feeder::Nobody => Feeder::Link(step[0]),
                    same if same == Feeder::Link(step[0]) => same,
                    _ => Feeder::Several,
                };
            }
            pairs[route[route.len() - 1] as usize].push((number, Hop::End));
        }
        let only = |feeder| if let Feeder::Link(link) = feeder { Some(link) } else { None };
        Routes {
            entries: routes.iter().map(|route| route[0]).collect(),
            successors: pairs.into_iter().map(Successors::new).collect(),
            only_feeder: feeders.into_iter().map(only).collect(),
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
        let tables = Routes::new(6, &routes);
        assert_eq!(tables.entries, [0, 5, 1, 5]);
        assert!(matches!(tables.successors[0], Successors::Link(2)));
        assert!(matches!(tables.successors[3], Successors::End));
        assert_eq!((tables.successors[2].of(0), tables.successors[2].of(2)), (Hop::Link(3), Hop::Link(4)));
        // The bottleneck has two feeders, the access links are fed by endpoints.
        assert_eq!(tables.only_feeder, [None, None, None, Some(2), Some(2), None]);
    }

    #[test]
    fn few_routes_with_distant_numbers_are_searched() {
        let table = Successors::new(vec![(3, Hop::Link(1)), (9_000, Hop::Link(2)), (20_000, Hop::End)]);
        assert!(matches!(table, Successors::Sparse(_)));
        assert_eq!([3, 9_000, 20_000].map(|r| table.of(r)), [Hop::Link(1), Hop::Link(2), Hop::End]);
    }

    #[test]
    fn a_link_fed_by_a_link_and_an_endpoint_has_no_only_feeder() {
        assert_eq!(Routes::new(2, &[vec![0, 1], vec![1]]).only_feeder, [None, None]);
        assert_eq!(Routes::new(2, &[vec![1], vec![0, 1]]).only_feeder, [None, None]);
    }
}
