//! Checks of all numbers of a plan, before anything is built.

use super::error::together;
use super::range::{Check, LONGEST_NS, MAX_ROWS, MOST_BYTES, MOST_HOSTS, in_order, refuse, within};
use super::{CcaPlan, FlowPlan, HopRef, Plan, PlanError, WorkloadPlan, declared};
use crate::actors::Actors;
use crate::controllers::Controllers;
use crate::schedule::Schedule;
use network::Server;
use params::there_is;
use serde_json::Value;
use std::collections::BTreeSet;
use std::iter;

impl Plan {
    /// Checks everything that can be checked without running.
    ///
    /// # Errors
    /// If any value is invalid. The error contains the errors of all invalid values. Flows are not checked if the
    /// network has errors.
    pub fn check(&self) -> Check {
        let actors = Actors::new(self.links.len(), self.media.len(), self.routes().count());
        let horizon = Schedule::horizon(actors.count()).as_nanos();
        within("duration_ns", self.duration_ns, 1..=LONGEST_NS.min(horizon))?;
        if self.warmup_ns >= self.duration_ns {
            refuse!(
                "warmup_ns",
                "the warm-up of {} ns is not shorter than the run of {} ns; shorten it",
                self.warmup_ns,
                self.duration_ns
            );
        }
        if self.links.is_empty() && self.media.is_empty() {
            refuse!("links", "there is no link; add at least one");
        }
        if self.flows.is_empty() {
            refuse!("flows", "there is no flow; add at least one");
        }
        self.check_names()?;
        let links = self.links.iter().enumerate();
        let links = links.map(|(n, link)| link.check(&format!("links[{n}]"), self.duration_ns));
        let media = self.media.iter().enumerate().map(|(n, medium)| medium.check(&format!("media[{n}]")));
        together(links.chain(media).chain([self.check_record()]))?;
        let flows = self.flows.iter().enumerate();
        let flows = flows.map(|(n, flow)| flow.check(&format!("flows[{n}]"), self));
        together(self.transport_checks().chain(flows))?;
        self.check_relayed()?;
        self.check_route_controllers()?;
        self.check_hand_overs()?;
        self.check_nics()
    }

    /// Checks the transport of every flow. Adjacent flows with equal options are checked once.
    fn transport_checks(&self) -> impl Iterator<Item = Check> {
        let before = iter::once(None).chain(self.flows.iter().map(|flow| Some(&flow.tcp)));
        let flows = self.flows.iter().enumerate().zip(before);
        let other = flows.filter(|((_, flow), before)| Some(&flow.tcp) != *before);
        other.map(|((n, flow), _)| declared::check_transport(&flow.tcp, &format!("flows[{n}].tcp")))
    }

    /// Refuses names and streams that are not unique among links and ports, among media, or among flows.
    fn check_names(&self) -> Check {
        let links =
            self.links.iter().enumerate().map(|(n, link)| (format!("links[{n}]"), &link.name, &link.stream));
        let ports = self.media.iter().enumerate().flat_map(|(m, medium)| {
            let ports = medium.ports.iter().enumerate();
            ports.map(move |(n, port)| (format!("media[{m}].ports[{n}]"), &port.name, &port.stream))
        });
        unique(links.chain(ports))?;
        let media = self.media.iter().enumerate();
        unique(media.map(|(n, medium)| (format!("media[{n}]"), &medium.name, &medium.stream)))?;
        let flows = self.flows.iter().enumerate();
        unique(flows.map(|(n, flow)| (format!("flows[{n}]"), &flow.name, &flow.stream)))
    }

    /// Refuses a route that is empty, has an unknown hop, or crosses a hop twice.
    pub(super) fn check_route(&self, path: &str, hops: &[u32]) -> Check {
        let kinds = if self.media.is_empty() { "link" } else { "link or port" };
        if hops.is_empty() {
            refuse!(path, "the route is empty; name at least one {kinds}");
        }
        let known = self.hops().count();
        let mut seen = BTreeSet::new();
        for (n, &hop) in hops.iter().enumerate() {
            let path = format!("{path}[{n}]");
            if hop as usize >= known {
                refuse!(path, "there is no {kinds} {hop}; the last one is {}", known - 1);
            }
            if !seen.insert(hop) {
                refuse!(path, "the route already crosses {kinds} {hop}; leave out the repetition");
            }
        }
        Ok(())
    }

    fn check_record(&self) -> Check {
        let hops = self.hop_names();
        for (n, point) in self.record.packets.iter().enumerate() {
            let known = ["sender", "receiver"].into_iter().chain(hops.iter().map(String::as_str));
            if !known.clone().any(|name| name == point) {
                let hint = there_is(known);
                refuse!(format!("record.packets[{n}]"), "unknown capture point \"{point}\"{hint}");
            }
        }
        let Some(interval) = self.record.interval_ns else {
            if self.record.variables {
                refuse!(
                    "record.variables",
                    "variables are recorded with samples; set record.interval_ns, too"
                );
            }
            return Ok(());
        };
        within("record.interval_ns", interval, 1..=LONGEST_NS)?;
        let width = hops.len().max(self.flows.len()) as u64;
        let rows = (self.duration_ns / interval).saturating_mul(width);
        if rows > MAX_ROWS {
            refuse!("record.interval_ns", "{rows} samples would not fit in memory; use a longer interval");
        }
        Ok(())
    }
}

impl FlowPlan {
    fn check(&self, path: &str, plan: &Plan) -> Check {
        if self.start_ns >= plan.duration_ns {
            refuse!(
                format!("{path}.start_ns"),
                "the run ends at {} ns, before this flow starts; start the flow earlier or extend duration_ns",
                plan.duration_ns
            );
        }
        within(format!("{path}.start_jitter_ns"), self.start_jitter_ns, 0..=LONGEST_NS)?;
        if let Some(stop) = self.stop_ns
            && stop <= self.start_ns
        {
            refuse!(format!("{path}.stop_ns"), "{stop} is not after the start ({})", self.start_ns);
        }
        if let Some(bytes) = self.bytes {
            within(format!("{path}.bytes"), bytes, 1..=MOST_BYTES)?;
            if !self.application.is_empty() || matches!(self.workload, Some(WorkloadPlan::Writer(_))) {
                refuse!(
                    format!("{path}.bytes"),
                    "an application with a rate never ends; leave out bytes or application"
                );
            }
        }
        in_order(&format!("{path}.application"), self.application.iter().map(|pace| pace.at_ns))?;
        for (n, pace) in self.application.iter().enumerate() {
            let rate = pace.rate_bps.unwrap_or(0);
            within(format!("{path}.application[{n}].rate_bps"), rate, 0..=Server::MAX_RATE)?;
        }
        if let Some(workload) = &self.workload {
            let until = self.stop_ns.unwrap_or(plan.duration_ns).min(plan.duration_ns);
            workload.check(&format!("{path}.workload"), until - self.start_ns)?;
            if workload.is_many() && (self.bytes.is_some() || !self.application.is_empty()) {
                refuse!(
                    format!("{path}.workload"),
                    "the workload determines what is sent and when; leave out bytes and application"
                );
            }
        }
        plan.check_route(&format!("{path}.forward"), &self.forward)?;
        plan.check_route(&format!("{path}.reverse"), &self.reverse)?;
        in_order(&format!("{path}.reroutes"), self.reroutes.iter().map(|reroute| reroute.at_ns))?;
        for (n, reroute) in self.reroutes.iter().enumerate() {
            let path = format!("{path}.reroutes[{n}]");
            for (direction, hops) in [("forward", &reroute.forward), ("reverse", &reroute.reverse)] {
                if let Some(hops) = hops {
                    plan.check_route(&format!("{path}.{direction}"), hops)?;
                }
            }
        }
        within(format!("{path}.dscp"), self.dscp.into(), 0..=63)?;
        for host in self.hosts.into_iter().flatten() {
            within(format!("{path}.hosts"), host.into(), 0..=MOST_HOSTS)?;
        }
        if self.cca.is_some() {
            self.check_bounds(&format!("{path}.forward"), plan)?;
        }
        self.check_cca(path)
    }

    fn check_cca(&self, path: &str) -> Check {
        let datagrams = matches!(self.workload, Some(WorkloadPlan::Datagrams(_)));
        match &self.cca {
            None if !datagrams => refuse!(format!("{path}.cca"), "missing; only datagrams have no algorithm"),
            Some(_) if datagrams => refuse!(format!("{path}.cca"), "datagrams have no algorithm; set null"),
            Some(cca) if !cca.is_external() => self.build_cca(path, cca, 0).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Refuses flows that would never advance the clock, or whose data in flight would grow without limit.
    ///
    /// Without a rate on the route of the data, neither loss nor a slow route of ACKs bounds a sender. Some algorithms
    /// ignore loss, and if fewer ACKs arrive, each ACK acknowledges more data.
    pub(super) fn check_bounds(&self, path: &str, plan: &Plan) -> Check {
        let hop = |&hop: &u32| plan.hop(hop as usize);
        if self.forward.iter().chain(&self.reverse).filter_map(hop).all(|hop| hop.delay_ns() == 0) {
            refuse!(path, "a round trip takes no time; give one of the links a delay");
        }
        let later = self.reroutes.iter().filter_map(|reroute| reroute.forward.as_ref());
        let mut routes = iter::once(&self.forward).chain(later);
        let limited = routes.all(|route| route.iter().filter_map(hop).any(HopRef::is_limited));
        let buffered = self.tcp.send_buffer.or(self.tcp.receive_buffer).or(self.bytes);
        let bounded = buffered.is_some()
            || self.relayed.is_some()
            || self.workload.as_ref().is_some_and(WorkloadPlan::is_many);
        if !limited && !bounded {
            refuse!(path, "nothing limits this flow; give a link a rate, or the flow a buffer or a size");
        }
        Ok(())
    }

    /// Builds the congestion control algorithm of the flow, which is in the registry or external. `path` is the path of
    /// the flow.
    pub(crate) fn make_cca(
        &self,
        path: &str,
        seed: u64,
        controllers: &Controllers,
    ) -> Result<Box<dyn congestion::CongestionControl>, PlanError> {
        let Some(cca) = &self.cca else { refuse!(format!("{path}.cca"), "missing; name an algorithm") };
        if cca.is_external() {
            return controllers(self, seed).map_err(|problem| PlanError::new(format!("{path}.cca"), problem));
        }
        self.build_cca(path, cca, seed)
    }

    pub(crate) fn build_cca(
        &self,
        path: &str,
        cca: &CcaPlan,
        seed: u64,
    ) -> Result<Box<dyn congestion::CongestionControl>, PlanError> {
        let kind = &cca.kind;
        congestion::build(kind, &Value::Object(cca.params.clone()), seed).map_err(|error| match error {
            congestion::BuildError::Unknown(_) => {
                let names = congestion::descriptors()
                    .iter()
                    .flat_map(|d| [d.name].into_iter().chain(d.aliases.iter().copied()));
                PlanError::new(
                    format!("{path}.cca"),
                    format!("unknown algorithm \"{kind}\"{}", there_is(names)),
                )
            }
            congestion::BuildError::Params { problems, .. } => {
                PlanError::of_all(&format!("{path}.cca.params"), problems.0)
            }
        })
    }
}

/// Refuses names and streams that are empty or repeated. Each item has a path, a name and a stream.
fn unique<'a>(all: impl Iterator<Item = (String, &'a String, &'a String)>) -> Check {
    let mut seen = [BTreeSet::new(), BTreeSet::new()];
    for (path, name, stream) in all {
        for (seen, (key, value)) in seen.iter_mut().zip([("name", name), ("stream", stream)]) {
            if value.is_empty() {
                refuse!(format!("{path}.{key}"), "the {key} is empty; write a unique {key}");
            }
            if !seen.insert(value) {
                refuse!(format!("{path}.{key}"), "\"{value}\" is used twice; write a unique {key}");
            }
        }
    }
    Ok(())
}
