//! Plans of links, with checks of every number.

use super::error::together;
use super::range::{Check, LONGEST_NS, in_order, refuse, within};
use super::{ChangePlan, EntryPlan, LinkPlan, PlanError, declared, is_external};
use crate::payload::Payload;
use network::queue::BuildError;
use network::{Dice, Impairment, Loss, QueueDiscipline, QueueEvents, Server, queue};
use params::Role;
use serde_json::Value;
use std::collections::BTreeSet;
use units::Time;

/// Largest number of packets in a device.
const MOST_IN_DEVICE: u64 = 1_000_000;

impl LinkPlan {
    pub(super) fn check(&self, path: &str, duration_ns: u64) -> Check {
        let rate = within(format!("{path}.rate_bps"), self.rate_bps.unwrap_or(1), 1..=Server::MAX_RATE);
        together([
            rate.map_err(|mut e| {
                e.message += "; null means unlimited";
                e
            }),
            within(format!("{path}.delay_ns"), self.delay_ns, 0..=LONGEST_NS),
            self.queue.check_queue(path),
            check_loss(path, self.loss.as_ref()),
            self.check_impairments(path),
            self.check_service(path, duration_ns),
        ])?;
        self.check_changes(path)?; // limits in changes need a valid queue
        self.check_markov_channel(path, duration_ns)
    }

    fn check_service(&self, path: &str, duration_ns: u64) -> Check {
        if self.device_packets.is_some() && self.rate_bps.is_none() {
            refuse!(format!("{path}.device_packets"), "a link without a rate has no device; set rate_bps");
        }
        within(format!("{path}.device_packets"), self.device_packets.unwrap_or(1), 1..=MOST_IN_DEVICE)?;
        let Some(opportunities) = &self.opportunities else { return Ok(()) };
        let path = format!("{path}.opportunities");
        if self.rate_bps.is_some() {
            refuse!(path, "the link also has a rate; leave out opportunities or rate_bps");
        }
        opportunities.check(&path, duration_ns)
    }

    fn check_markov_channel(&self, path: &str, duration_ns: u64) -> Check {
        let Some(channel) = &self.markov_channel else { return Ok(()) };
        let path = format!("{path}.markov_channel");
        let states = channel.states.iter().enumerate();
        let states = states.map(|(n, state)| self.check_change(&format!("{path}.states[{n}]"), state));
        together(states.chain([channel.check(&path, duration_ns)]))
    }

    fn check_impairments(&self, path: &str) -> Check {
        let mut kinds = BTreeSet::new();
        together(self.impairments.iter().enumerate().map(|(n, entry)| {
            let path = format!("{path}.impairments[{n}]");
            entry.build(&path, Impairment::build, &Dice::new(0, ""))?;
            if !kinds.insert(&entry.kind) {
                refuse!(path, "{} is given twice; leave out one of the two", entry.kind);
            }
            Ok(())
        }))
    }

    fn check_changes(&self, path: &str) -> Check {
        let path_of = |n: usize| format!("{path}.changes[{n}]");
        in_order(&format!("{path}.changes"), self.changes.iter().map(|change| change.at_ns))?;
        let changes = self.changes.iter().enumerate();
        together(changes.map(|(n, change)| self.check_change(&path_of(n), change)))?;
        let rates = || self.changes.iter().enumerate().filter_map(|(n, change)| Some((n, change.rate_bps?)));
        if let Some((n, _)) =
            rates().next_back().filter(|&(_, rate)| rate == 0 && self.markov_channel.is_none())
        {
            refuse!(
                format!("{}.rate_bps", path_of(n)),
                "the link never sends again; add the end of the outage, which may be after the end of the run"
            );
        }
        Ok(())
    }

    fn check_change(&self, path: &str, change: &ChangePlan) -> Check {
        within(format!("{path}.rate_bps"), change.rate_bps.unwrap_or(1), 0..=Server::MAX_RATE)?;
        if change.rate_bps.is_some() && self.opportunities.is_some() {
            refuse!(
                format!("{path}.rate_bps"),
                "a link with opportunities has no rate to change; leave out rate_bps"
            );
        }
        within(format!("{path}.delay_ns"), change.delay_ns.unwrap_or(0), 0..=LONGEST_NS)?;
        check_loss(path, change.loss.as_ref())?;
        let Some(limit) = change.limit else { return Ok(()) };
        declared::check(&limit, &format!("{path}.limit"))?;
        if is_external(&self.queue.kind) {
            return Ok(()); // the limits of an external queue are unknown until the caller has built the queue
        }
        let mut queue = self.queue.build_queue(path, 0)?;
        if !queue.resize(limit, Time::ZERO, &mut QueueEvents::default()) {
            refuse!(format!("{path}.limit"), "{} has no limit of that kind", self.queue.kind);
        }
        Ok(())
    }

    /// Whether the link has a rate, or a queue that shapes to a rate.
    pub(super) fn is_limited(&self) -> bool {
        let known = queue::descriptors().iter().find(|queue| queue.name == self.queue.kind);
        let params = known.map(|queue| (queue.params)()).unwrap_or_default();
        let given = |param: &str| self.queue.params.get(param);
        self.rate_bps.is_some()
            || self.opportunities.is_some()
            || params.iter().any(|param| {
                param.role == Some(Role::Rate) && !given(param.name).unwrap_or(&param.default).is_null()
            })
    }
}

impl EntryPlan {
    /// Refuses a queue that cannot be built; `path` is the path of its link or port.
    pub(super) fn check_queue(&self, path: &str) -> Check {
        if is_external(&self.kind) { Ok(()) } else { self.build_queue(path, 0).map(|_| ()) }
    }

    /// Builds the entry as a queue of the registry. `path` is the path of its link or port. The random numbers of the
    /// queue derive from `seed`.
    pub(crate) fn build_queue(
        &self,
        path: &str,
        seed: u64,
    ) -> Result<Box<dyn QueueDiscipline<Payload>>, PlanError> {
        self.build(&format!("{path}.queue"), queue::build, seed)
    }

    /// Builds the entry; `path` is the path of the entry.
    pub(crate) fn build<T, C>(
        &self,
        path: &str,
        build: fn(&str, &Value, C) -> Result<T, BuildError>,
        context: C,
    ) -> Result<T, PlanError> {
        build(&self.kind, &self.params, context).map_err(|error| PlanError::of_all(path, error.problems()))
    }
}

fn check_loss(path: &str, loss: Option<&EntryPlan>) -> Check {
    let Some(loss) = loss else { return Ok(()) };
    loss.build(&format!("{path}.loss"), Loss::build, &Dice::new(0, "")).map(|_| ())
}
