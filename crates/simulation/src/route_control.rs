//! Controllers of routes, as in software-defined networks: every period one reads the counters of links, chooses the
//! route of each of its flows, and tells the routers on it.
//!
//! A router is told after a delay, and the next one after as much again. The last router of a way is told first, so that a packet
//! never comes to one that does not know where to. Packets on their way meanwhile take what each router knows.

use crate::net::Net;
use crate::plan::{Plan, PolicyPlan, RouteControllerPlan};
use crate::routes::{HopId, Next, Reroute, Switch};
use network::{Direction, RouteId};
use std::collections::BTreeMap;
use units::{Duration, Time};

/// A controller and what it remembers.
#[derive(Debug)]
pub(crate) struct RouteController {
    every: Duration,
    delay: Duration,
    policy: PolicyPlan,
    flows: Vec<Controlled>,
    /// By link: nanoseconds for which it had transmitted at the last decision.
    busy_before: BTreeMap<HopId, u64>,
}

/// A flow and the ways that it may take.
#[derive(Debug)]
struct Controlled {
    ways: Vec<Way>,
    /// The way that it takes; none before the first decision if it began on another.
    current: Option<usize>,
}

/// A route of a flow: the routes of its data and of its acknowledgements, each if it is of the way.
#[derive(Debug)]
struct Way {
    routes: Vec<(RouteId, Vec<HopId>)>,
    /// The hops that not every route of the flow has: what the choice is about.
    own: Vec<HopId>,
}

/// How busy each link was in the last period, and how many flows of the controller are on it.
type Loads = BTreeMap<HopId, (u64, u64)>;

/// The controllers of a plan.
pub(crate) fn controllers(plan: &Plan) -> Vec<RouteController> {
    plan.route_controllers.iter().map(|controller| RouteController::new(controller, plan)).collect()
}

/// Every route that a controller may install, as one that never begins: tables have room for it.
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

    /// Decides if it is time to. Must be called at every sampling time, when the counters of links have been read.
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

    /// What the links that it chooses among have done since the last decision.
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

    /// Tells the routers of a way what they do not do by now, the last one first.
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
    /// The way after the one that it takes.
    fn in_turn(&self) -> usize {
        self.current.map_or(0, |way| (way + 1) % self.ways.len())
    }

    /// The way whose busiest link is the least busy, if that is still so with this flow on it; the way that it takes stays
    /// where it is no worse. The flow is taken to have an equal share of its busiest link.
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

/// Ways with the hops that not all of them have.
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
