//! Network interfaces of hosts: links at which routes begin.

use super::error::together;
use super::range::{Check, refuse};
use super::{FlowPlan, LinkPlan, Plan};

impl Plan {
    /// The network interface at which a route begins, if it does at one.
    pub(crate) fn nic(&self, route: &[u32]) -> Option<&LinkPlan> {
        route.first().and_then(|&hop| self.links.get(hop as usize)).filter(|link| link.nic)
    }

    /// Refuses interfaces that do more than queue and send, and routes that do not begin at theirs at all times: a host
    /// would miss what leaves it.
    pub(super) fn check_nics(&self) -> Check {
        let links = self.links.iter().enumerate().map(|(n, link)| link.check_nic(&format!("links[{n}]")));
        let flows = self.flows.iter().enumerate();
        together(links.chain(flows.map(|(n, flow)| flow.check_nics(&format!("flows[{n}]"), self))))
    }
}

impl LinkPlan {
    fn check_nic(&self, path: &str) -> Check {
        let plain = self.delay_ns == 0
            && self.loss.is_none()
            && self.changes.is_empty()
            && self.impairments.is_empty()
            && self.opportunities.is_none()
            && self.markov_channel.is_none();
        if self.nic && !plain {
            refuse!(path, "a network interface has a rate and a queue; give the rest to the link behind it");
        }
        Ok(())
    }
}

impl FlowPlan {
    pub(super) fn check_nics(&self, path: &str, plan: &Plan) -> Check {
        let later = |route: &[u32]| route.iter().skip(1).any(|&hop| plan.nic(&[hop]).is_some());
        let ends = [("forward", &self.forward), ("reverse", &self.reverse)];
        for (direction, route) in ends {
            let changes = self.reroutes.iter().enumerate().filter_map(|(n, reroute)| {
                let changed = if direction == "forward" { &reroute.forward } else { &reroute.reverse };
                Some((format!("{path}.reroutes[{n}].{direction}"), changed.as_ref()?))
            });
            for (path, changed) in [(format!("{path}.{direction}"), route)].into_iter().chain(changes) {
                if later(changed) {
                    refuse!(path, "a network interface is the first link of a route");
                }
                let same = plan.nic(changed).map(|nic| &nic.name) == plan.nic(route).map(|nic| &nic.name);
                if !same {
                    refuse!(path, "a route begins at the same network interface at all times, or at none");
                }
            }
        }
        Ok(())
    }
}
