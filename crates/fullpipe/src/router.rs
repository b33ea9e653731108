//! Shortest routes through a network.

use simulation::plan::PlanError;
use std::collections::{BTreeMap, BTreeSet};

/// A node, or the outer side of its network interface.
pub(crate) type Place<'a> = (&'a str, Side);

/// Side of a node's network interface. A node without an interface has the inner side only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Inner,
    Outer,
}

/// Finds shortest routes by delay, then by number of hops, then by the order in which hops were added. Routes of
/// scenarios in the Python package follow the same rules.
pub(crate) struct Router<'a> {
    /// Hops that leave a place: index, destination, and delay in nanoseconds.
    leaving: BTreeMap<Place<'a>, Vec<(u32, Place<'a>, u64)>>,
}

impl<'a> Router<'a> {
    /// Creates a router for hops in the order of their indices: origin, destination, and delay in nanoseconds.
    pub fn new(hops: impl Iterator<Item = (Place<'a>, Place<'a>, u64)>) -> Router<'a> {
        let mut leaving: BTreeMap<Place<'a>, Vec<(u32, Place<'a>, u64)>> = BTreeMap::new();
        for (n, (from, to, delay_ns)) in (0..).zip(hops) {
            leaving.entry(from).or_default().push((n, to, delay_ns));
        }
        Router { leaving }
    }

    /// Hops from the first node to the last through all nodes in between, in order. `path` is the position of the
    /// route in the plan, for errors.
    ///
    /// # Errors
    /// If two consecutive nodes are not connected in that direction.
    pub fn route<'s>(&self, path: &str, stops: impl Iterator<Item = &'s str>) -> Result<Vec<u32>, PlanError> {
        let stops: Vec<&str> = stops.collect();
        let legs = stops.windows(2).map(|ends| {
            let [from, to] = [ends[0], ends[1]];
            self.leg(from, to).ok_or_else(|| {
                PlanError::new(path, format!("no route leads from \"{from}\" to \"{to}\"; add a link"))
            })
        });
        Ok(legs.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// The shortest route between two nodes, by Dijkstra's algorithm.
    fn leg(&self, from: &str, to: &str) -> Option<Vec<u32>> {
        let mut done = BTreeSet::new();
        let mut waiting = BTreeSet::from([(0, 0, Vec::new(), (from, Side::Inner))]);
        while let Some((delay_ns, count, hops, place)) = waiting.pop_first() {
            if place == (to, Side::Inner) {
                return Some(hops);
            }
            if !done.insert(place) {
                continue;
            }
            for &(hop, there, more_ns) in self.leaving.get(&place).into_iter().flatten() {
                if !done.contains(&there) {
                    let hops = [&hops[..], &[hop]].concat();
                    waiting.insert((delay_ns + more_ns, count + 1, hops, there));
                }
            }
        }
        None
    }
}
