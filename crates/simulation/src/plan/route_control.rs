//! Controllers of routes in the plan.

use super::error::together;
use super::range::{Check, LONGEST_NS, refuse, within};
use super::{FlowPlan, Plan, ReroutePlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A controller that reads the counters of links every period, chooses routes for its flows, and installs these routes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteControllerPlan {
    /// Time between decisions: a multiple of `record.interval_ns`, as counters are read with the samples.
    pub every_ns: u64,
    /// Rule of the decisions.
    pub policy: PolicyPlan,
    /// Delay of installation: from the decision to the update of the last router of a route, then from each router to
    /// the router before it.
    pub delay_ns: u64,
    /// Flows whose routes the controller chooses.
    pub flows: Vec<SteeredPlan>,
}

/// Rule by which a controller decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyPlan {
    /// Every flow takes the next route in its list.
    Periodic,
    /// The controller goes through its flows. Each flow takes the route whose busiest link transmitted least in the
    /// last period.
    LeastLoaded,
}

/// A flow whose route a controller chooses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SteeredPlan {
    /// Number of the flow.
    pub flow: u32,
    /// Routes to choose from; the flow begins on its own routes.
    pub ways: Vec<WayPlan>,
}

/// A route of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WayPlan {
    /// Hops from sender to receiver; `None`: unchanged.
    pub forward: Option<Vec<u32>>,
    /// Hops from receiver to sender; `None`: unchanged.
    pub reverse: Option<Vec<u32>>,
}

impl WayPlan {
    /// Routes with their keys in the plan.
    pub(super) fn routes(&self) -> impl Iterator<Item = (&'static str, &Vec<u32>)> {
        [("forward", &self.forward), ("reverse", &self.reverse)]
            .into_iter()
            .filter_map(|(name, path)| Some((name, path.as_ref()?)))
    }
}

impl Plan {
    /// Refuses controllers that cannot install routes within a period, and flows with two controllers or with reroutes.
    pub(super) fn check_route_controllers(&self) -> Check {
        let all = self.route_controllers.iter().enumerate();
        together(all.map(|(n, controller)| controller.check(&format!("route_controllers[{n}]"), self)))?;
        let mut seen = BTreeSet::new();
        for (n, controller) in self.route_controllers.iter().enumerate() {
            for (m, steered) in controller.flows.iter().enumerate() {
                if !seen.insert(steered.flow) {
                    refuse!(
                        format!("route_controllers[{n}].flows[{m}].flow"),
                        "flow {} has a controller already; list the flow in one controller only",
                        steered.flow
                    );
                }
            }
        }
        Ok(())
    }

    /// Routes that controllers may choose for a flow.
    pub(crate) fn choices_of(&self, flow: u32) -> impl Iterator<Item = &WayPlan> + Clone {
        let steered = self.route_controllers.iter().flat_map(|controller| &controller.flows);
        steered.filter(move |steered| steered.flow == flow).flat_map(|steered| &steered.ways)
    }
}

impl RouteControllerPlan {
    fn check(&self, path: &str, plan: &Plan) -> Check {
        within(format!("{path}.every_ns"), self.every_ns, 1..=LONGEST_NS)?;
        within(format!("{path}.delay_ns"), self.delay_ns, 1..=self.every_ns)?;
        if plan.record.interval_ns.is_none_or(|interval| interval == 0 || self.every_ns % interval != 0) {
            refuse!(
                format!("{path}.every_ns"),
                "counters are read with the samples; make it a multiple of record.interval_ns"
            );
        }
        for (n, steered) in self.flows.iter().enumerate() {
            self.check_flow(&format!("{path}.flows[{n}]"), steered, plan)?;
        }
        Ok(())
    }

    fn check_flow(&self, path: &str, steered: &SteeredPlan, plan: &Plan) -> Check {
        let last = plan.flows.len().saturating_sub(1) as u32;
        within(format!("{path}.flow"), steered.flow, 0..=last)?;
        if !plan.flows[steered.flow as usize].reroutes.is_empty() {
            refuse!(
                format!("{path}.flow"),
                "the flow also has reroutes; leave out the reroutes or the controller"
            );
        }
        if steered.ways.is_empty() {
            refuse!(format!("{path}.ways"), "no route is given; name at least one");
        }
        for (n, way) in steered.ways.iter().enumerate() {
            for (name, hops) in way.routes() {
                let path = format!("{path}.ways[{n}].{name}");
                plan.check_route(&path, hops)?;
                let routers = hops.len() as u64 + 1;
                if self.delay_ns.saturating_mul(routers) >= self.every_ns {
                    refuse!(path, "{routers} routers are not updated within a period; shorten delay_ns");
                }
            }
        }
        let changes = steered.ways.iter().cloned();
        let changes = changes.map(|WayPlan { forward, reverse }| ReroutePlan { at_ns: 0, forward, reverse });
        let moved = FlowPlan { reroutes: changes.collect(), ..plan.flows[steered.flow as usize].clone() };
        let path = format!("flows[{}]", steered.flow);
        together([moved.check_bounds(&path, plan), moved.check_nics(&path, plan)])
    }
}
