//! Handovers: when a node moves between cells, a port of a medium passes its queued packets to another port.

use super::range::{Check, LONGEST_NS, refuse, within};
use super::{FlowPlan, Plan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Handover of the packets that are still in a port to another port, in order.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandOverPlan {
    /// Time of the handover. Other changes at the time of the handover come first.
    pub at_ns: u64,
    /// Minimum time for which the new port holds packets of new routes. The new port also holds these packets until all
    /// packets on old routes have arrived.
    pub gap_ns: u64,
    /// The old port. Media that do not support handovers keep their packets.
    pub from: u32,
    /// The new port. All routes that crossed the old port must cross the new port from the handover on.
    pub to: u32,
}

impl HandOverPlan {
    /// Whether a route with these changes crosses the new port at the handover, or has never crossed the old port.
    fn follows<'a>(&self, routes: impl Iterator<Item = (u64, &'a Vec<u32>)>) -> bool {
        let (mut crossed, mut crosses) = (false, false);
        for (_, path) in routes.filter(|&(at_ns, _)| at_ns <= self.at_ns) {
            crossed |= path.contains(&self.from);
            crosses = path.contains(&self.to);
        }
        !crossed || crosses
    }

    /// The hops of the last route across the old port, from its fork with the current route up to that port. Packets on
    /// these hops still arrive at the old port. `None` if no earlier route crossed the old port.
    fn old_way<'a>(&self, routes: impl Iterator<Item = (u64, &'a Vec<u32>)>) -> Option<&'a [u32]> {
        let (mut old, mut new) = (None, None);
        for (_, path) in routes.filter(|&(at_ns, _)| at_ns <= self.at_ns) {
            old = new.filter(|before: &&Vec<u32>| before.contains(&self.from)).or(old);
            new = Some(path);
        }
        let (old, new) = (old?, new?);
        let way = &old[..old.iter().position(|&hop| hop == self.from)?];
        let fork = way.iter().rposition(|hop| new.contains(hop));
        Some(&way[fork.map_or(0, |n| n + 1)..])
    }
}

/// Routes of a flow's data and of its ACKs, each with its start time in nanoseconds.
fn routes_of(flow: &FlowPlan) -> [Vec<(u64, &Vec<u32>)>; 2] {
    let later = |way: fn(&super::ReroutePlan) -> &Option<Vec<u32>>| {
        flow.reroutes.iter().filter_map(move |reroute| Some((reroute.at_ns, way(reroute).as_ref()?)))
    };
    let first = |path| std::iter::once((0, path));
    [
        first(&flow.forward).chain(later(|reroute| &reroute.forward)).collect(),
        first(&flow.reverse).chain(later(|reroute| &reroute.reverse)).collect(),
    ]
}

impl Plan {
    /// Links on which packets still arrive at the old port of a handover: one list per route, in order. A list begins
    /// behind the last port of a medium, as packets inside media are unknown.
    pub(crate) fn old_ways(&self, planned: &HandOverPlan) -> BTreeSet<Vec<u32>> {
        let ways =
            self.flows.iter().flat_map(routes_of).filter_map(|routes| planned.old_way(routes.into_iter()));
        let links = |way: &[u32]| {
            let last_port = way.iter().rposition(|&hop| hop as usize >= self.links.len());
            way[last_port.map_or(0, |n| n + 1)..].to_vec()
        };
        ways.map(links).filter(|way| !way.is_empty()).collect()
    }

    pub(super) fn check_hand_overs(&self) -> Check {
        let ports = self.links.len()..self.hops().count();
        for (n, hand_over) in self.hand_overs.iter().enumerate() {
            within(format!("hand_overs[{n}].at_ns"), hand_over.at_ns, 0..=LONGEST_NS)?;
            within(format!("hand_overs[{n}].gap_ns"), hand_over.gap_ns, 1..=LONGEST_NS)?;
            for (name, hop) in [("from", hand_over.from), ("to", hand_over.to)] {
                if !ports.contains(&(hop as usize)) {
                    refuse!(
                        format!("hand_overs[{n}].{name}"),
                        "hop {hop} is not a port of a medium; write the index of a port"
                    );
                }
            }
            let mut routes = self.flows.iter().flat_map(routes_of);
            if !routes.all(|routes| hand_over.follows(routes.into_iter())) {
                let to = hand_over.to;
                refuse!(
                    format!("hand_overs[{n}].to"),
                    "a route across the old port does not cross hop {to} at the handover; reroute it"
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_follows_what_is_handed_over() {
        let (old, new, other) = (vec![1, 2], vec![1, 3], vec![1, 4]);
        let follows = |routes: &[(u64, &Vec<u32>)]| {
            HandOverPlan { at_ns: 5, gap_ns: 1, from: 2, to: 3 }.follows(routes.iter().copied())
        };
        assert!(follows(&[(0, &old), (5, &new)]));
        assert!(follows(&[(0, &old), (4, &other), (5, &new), (9, &old)]));
        assert!(follows(&[(0, &other)]));
        assert!(!follows(&[(0, &old)]));
        assert!(!follows(&[(0, &old), (6, &new)]));
        assert!(!follows(&[(0, &new), (3, &old), (5, &other)]));
    }

    #[test]
    fn what_is_behind_the_last_common_hop_still_comes() {
        let (old, new, third) = (vec![9, 1, 5, 2], vec![9, 1, 6, 3], vec![7, 4]);
        let way = |from, routes: &[(u64, &Vec<u32>)]| {
            HandOverPlan { at_ns: 5, gap_ns: 1, from, to: 3 }
                .old_way(routes.iter().copied())
                .map(<[u32]>::to_vec)
        };
        assert_eq!(way(2, &[(0, &old), (5, &new)]), Some(vec![5]));
        assert_eq!(way(2, &[(0, &old), (5, &third)]), Some(vec![9, 1, 5]));
        assert_eq!(way(2, &[(0, &old), (4, &new), (5, &third)]), Some(vec![9, 1, 5]));
        assert_eq!(way(2, &[(0, &old), (6, &new)]), None);
        assert_eq!(way(2, &[(0, &new), (5, &third)]), None);
    }
}
