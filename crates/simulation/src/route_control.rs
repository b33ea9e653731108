//! Controllers of routes, as in software-defined networks: every period a controller reads the counters of links,
//! chooses the route of each of its flows, and updates the routers on these routes. The last router of a route is
//! updated first, then the router before it, and so on, so that packets never reach a router without an entry. A delay
//! passes before the first update and between updates. Until a router is updated, packets follow its current entry.

use crate::net::Net;
use crate::plan::{Plan, PolicyPlan, RouteControllerPlan};
use crate::routes::{HopId, Next, Reroute, Switch};
use network::{Direction, RouteId};
use std::collections::BTreeMap;
use units::{Duration, Time};

/// A controller and its state.
#[derive(Debug)]
pub(crate) struct RouteController {
    every: Duration,
    delay: Duration,
    policy: PolicyPlan,
    flows: Vec<Controlled>,
    /// Total transmission time of each link in nanoseconds at the last decision.
    busy_before: BTreeMap<HopId, u64>,
}

/// A flow and its possible routes.
#[derive(Debug)]
struct Controlled {
    ways: Vec<Way>,
    /// Index of the flow's current route; `None` before the first decision if the flow began on a route that is not in
    /// the list.
    current: Option<usize>,
}

/// A choice of routes for a flow: the route of its data, the route of its ACKs, or both.
#[derive(Debug)]
struct Way {
    routes: Vec<(RouteId, Vec<HopId>)>,
    /// Hops of this choice that at least one other choice lacks. The controller decides by these hops.
    own: Vec<HopId>,
}

/// For each link, its transmission time in the last period in nanoseconds, and the number of the controller's flows
/// that use it.
type Loads = BTreeMap<HopId, (u64, u64)>;

/// The controllers of a plan.
pub(crate) fn controllers(plan: &Plan) -> Vec<RouteController> {
    plan.route_controllers.iter().map(|controller| RouteController::new(controller, plan)).collect()
}

/// All routes that controllers may install, as reroutes at [`Time::NEVER`], so that the routing tables have room for
/// them.
pub(crate) fn alternatives(controllers: &[RouteController]) -> impl Iterator<Item = Reroute> {
    let ways = controllers.iter().flat_map(|controller| &controller.flows).flat_map(|flow| &flow.ways);
    let routes = ways.flat_map(|way| &way.routes);
    routes.map(|(route, path)| Reroute { at: Time::NEVER, route: *route, path: path.clone() })
}

impl RouteController {
    fn new(plan: &RouteControllerPlan, all: &Plan) -> RouteController {
        let flows = plan.flows.iter().map(|steered| {
            let flow = &all.flows[steered.flow as usize];
            let paths = steered.ways.iter().map(|way| {
                let paths = [(Direction::Forward, &way.forward), (Direction::Backward, &way.reverse)];
                let paths = paths.into_iter().filter_map(|(direction, path)| {
                    Some((
                        RouteId::new(steered.flow, direction),
                        path.as_ref()?.iter().copied().map(HopId).collect(),
                    ))
                });
                paths.collect::<Vec<(RouteId, Vec<HopId>)>>()
            });
            let ways = with_own_hops(paths.collect());
            let current = steered.ways.iter().position(|way| {
                way.forward.as_ref().is_none_or(|path| *path == flow.forward)
                    && way.reverse.as_ref().is_none_or(|path| *path == flow.reverse)
            });
            Controlled { ways, current }
        });
        RouteController {
            every: Duration::from_nanos(plan.every_ns),
            delay: Duration::from_nanos(plan.delay_ns),
            policy: plan.policy,
            flows: flows.collect(),
            busy_before: BTreeMap::new(),
        }
    }

    /// Makes the decisions at the end of a period. Must be called at every sampling time, after the counters of links
    /// have been read.
    pub(crate) fn run<P: Copy + Send>(&mut self, now: Time, net: &mut Net<P>) {
        if now.as_nanos() % self.every.as_nanos() != 0 {
            return;
        }
        let mut loads = self.loads(net);
        for n in 0..self.flows.len() {
            let flow = &mut self.flows[n];
            let chosen = match self.policy {
                PolicyPlan::Periodic => flow.in_turn(),
                PolicyPlan::LeastLoaded => flow.least_loaded(&mut loads),
            };
            if flow.current.replace(chosen) != Some(chosen) {
                self.install(n, chosen, now, net);
            }
        }
    }

    /// Loads since the last decision, of the links among which the controller chooses.
    fn loads<P: Copy + Send>(&mut self, net: &Net<P>) -> Loads {
        let mut loads = Loads::new();
        for flow in &self.flows {
            for hop in flow.ways.iter().flat_map(|way| &way.own) {
                loads.entry(*hop).or_default();
            }
            for hop in flow.current.iter().flat_map(|&way| &flow.ways[way].own) {
                loads.entry(*hop).or_default().1 += 1;
            }
        }
        for (&hop, (busy, _)) in &mut loads {
            let now = net.totals(hop).run.busy_ns;
            *busy = now - self.busy_before.insert(hop, now).unwrap_or(0);
        }
        loads
    }

    /// Schedules the updates of all routers of a route whose entries differ from the new route. The last router is
    /// updated first.
    fn install<P: Copy + Send>(&self, flow: usize, way: usize, now: Time, net: &mut Net<P>) {
        for (route, path) in &self.flows[flow].ways[way].routes {
            let following = path.iter().skip(1).map(|&hop| Next::Hop(hop)).chain([Next::End]);
            let forks =
                path.iter().zip(following).map(|(&hop, next)| Switch::Fork { route: *route, hop, next });
            let entry = Switch::Entry { route: *route, hop: path[0] };
            let told: Vec<Switch> =
                [entry].into_iter().chain(forks).filter(|switch| !net.is_so(switch)).collect();
            let mut at = now;
            for switch in told.into_iter().rev() {
                at += self.delay;
                net.change_at(at, switch);
            }
        }
    }
}

impl Controlled {
    /// The route after the current route in the list.
    fn in_turn(&self) -> usize {
        self.current.map_or(0, |way| (way + 1) % self.ways.len())
    }

    /// The route whose busiest link has the lowest load, including the load of this flow. On a tie the flow stays on
    /// its current route. The load of the flow is assumed to be an equal share of its busiest link.
    fn least_loaded(&self, loads: &mut Loads) -> usize {
        let busiest =
            |way: usize, loads: &Loads| self.ways[way].own.iter().map(|hop| loads[hop].0).max().unwrap_or(0);
        let share = self.current.map_or(0, |way| {
            let shares = self.ways[way].own.iter().map(|hop| loads[hop].0 / loads[hop].1.max(1));
            shares.max().unwrap_or(0)
        });
        let cost = |way: usize| busiest(way, loads) + if Some(way) == self.current { 0 } else { share };
        let chosen =
            (0..self.ways.len()).min_by_key(|&way| (cost(way), Some(way) != self.current, way)).unwrap_or(0);
        if self.current != Some(chosen) {
            for hop in self.current.iter().flat_map(|&way| &self.ways[way].own) {
                let load = loads.entry(*hop).or_default();
                *load = (load.0.saturating_sub(share), load.1.saturating_sub(1));
            }
            for hop in &self.ways[chosen].own {
                let load = loads.entry(*hop).or_default();
                *load = (load.0 + share, load.1 + 1);
            }
        }
        chosen
    }
}

/// Choices of routes, each with its hops that at least one other choice lacks.
fn with_own_hops(paths: Vec<Vec<(RouteId, Vec<HopId>)>>) -> Vec<Way> {
    let hops = |routes: &[(RouteId, Vec<HopId>)]| -> Vec<HopId> {
        routes.iter().flat_map(|(_, path)| path.iter().copied()).collect()
    };
    let all: Vec<Vec<HopId>> = paths.iter().map(|routes| hops(routes)).collect();
    let ways = paths.into_iter().enumerate().map(|(n, routes)| {
        let own = all[n].iter().copied().filter(|hop| !all.iter().all(|other| other.contains(hop)));
        Way { own: own.collect(), routes }
    });
    ways.collect()
}
