//! Network interfaces of hosts: links at which routes begin.

use super::error::together;
use super::medium::HopRef;
use super::range::{Check, refuse};
use super::{FlowPlan, LinkPlan, Plan};
use crate::routes::HopId;
use congestion::PACING_SHIFT;
use network::Direction;
use std::collections::BTreeSet;

/// First queue of a route, in the sending host. Departures from this queue are reported to the senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    /// Whether the queue paces the TCP packets that pass through it, as `sch_fq` does.
    pub paces: bool,
    /// Limit on the bytes that a sender has queued in the interface. With value n, the limit is the bytes that the
    /// pacing rate carries in 2^-n seconds.
    pub pacing_shift: u32,
}

/// Pacing shift of mac80211: `tx_sk_pacing_shift` of `ieee80211_alloc_hw_nm`.
const WIFI_PACING_SHIFT: u32 = 7;

impl Plan {
    /// Interface at which all routes of a flow in one direction begin, if this interface reports departures to senders.
    pub(crate) fn interface(&self, flow: &FlowPlan, direction: Direction) -> Option<Interface> {
        let first = if direction == Direction::Forward { &flow.forward } else { &flow.reverse };
        let shift = |usual| flow.tcp.pacing_shift.unwrap_or(usual);
        if let Some(nic) = self.nic(first) {
            return Some(Interface { paces: nic.queue.kind == "fq", pacing_shift: shift(PACING_SHIFT) });
        }
        let changes = flow.reroutes.iter().filter_map(|reroute| match direction {
            Direction::Forward => reroute.forward.as_ref(),
            Direction::Backward => reroute.reverse.as_ref(),
        });
        let mut routes = std::iter::once(first).chain(changes);
        let always = routes.all(|route| route.first().is_some_and(|&hop| self.is_station_queue(hop)));
        let steered = !self.route_controllers.is_empty();
        (always && !steered).then_some(Interface { paces: false, pacing_shift: shift(WIFI_PACING_SHIFT) })
    }

    /// Ports at which routes begin and whose queue is mac80211.
    pub(crate) fn telling_ports(&self) -> Vec<HopId> {
        let later = self.flows.iter().flat_map(|flow| &flow.reroutes);
        let later = later.flat_map(|reroute| [&reroute.forward, &reroute.reverse]).flatten();
        let begins: BTreeSet<u32> =
            self.routes().chain(later).filter_map(|route| route.first().copied()).collect();
        begins.into_iter().filter(|&hop| self.is_station_queue(hop)).map(HopId).collect()
    }

    /// Whether the hop is a port of a Wi-Fi cell with a queue of Linux's mac80211.
    pub(crate) fn is_station_queue(&self, hop: u32) -> bool {
        let port = |hop| matches!(hop, HopRef::Port(medium, port) if medium.kind == "wifi" && port.queue.kind == "mac80211");
        self.hop(hop as usize).is_some_and(port)
    }

    /// The network interface at which a route begins, if any.
    pub(crate) fn nic(&self, route: &[u32]) -> Option<&LinkPlan> {
        route.first().and_then(|&hop| self.links.get(hop as usize)).filter(|link| link.nic)
    }

    /// Refuses interfaces that do more than queue and send, such as links with a delay or losses. Refuses flows whose
    /// routes do not all begin at the same interface, as the host would miss departures.
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
            refuse!(
                path,
                "a network interface has only a rate and a queue; move all other settings to the link behind it"
            );
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
                    refuse!(path, "a network interface must be the first link of a route");
                }
                let same = plan.nic(changed).map(|nic| &nic.name) == plan.nic(route).map(|nic| &nic.name);
                if !same {
                    refuse!(path, "all routes must begin at the same network interface, or at none");
                }
            }
        }
        Ok(())
    }
}
