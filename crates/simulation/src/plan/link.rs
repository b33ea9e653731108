//! Every number of a link, checked before anything is built.

use super::check::{Check, LONGEST_NS, in_order, refuse, within};
use super::{ChangePlan, LimitPlan, LinkPlan, LossPlan, PlanError, QueuePlan};
use crate::payload::Payload;
use network::queue::Limit;
use network::{QueueEvents, Server, queue};
use params::{Role, there_is};
use serde_json::Value;
use units::Time;

/// Most changes of state that a walk is expected to make.
const MOST_MOVES: u64 = 1_000_000;

impl LinkPlan {
    pub(super) fn check(&self, path: &str, duration_ns: u64) -> Check {
        if let Some(rate) = self.rate_bps {
            within(format!("{path}.rate_bps"), rate, 1..=Server::MAX_RATE).map_err(|mut e| {
                e.message += "; null means unlimited";
                e
            })?;
        }
        within(format!("{path}.delay_ns"), self.delay_ns, 0..=LONGEST_NS)?;
        check_loss(path, self.loss.as_ref())?;
        self.check_impairments(path)?;
        self.check_opportunities(path, duration_ns)?;
        self.check_wander(path, duration_ns)?;
        self.queue.build(path, 0).map(|_| ())
    }

    fn check_impairments(&self, path: &str) -> Check {
        let path_of = |list: &str, n: usize| format!("{path}.{list}[{n}]");
        in_order(&format!("{path}.changes"), self.changes.iter().map(|change| change.at_ns))?;
        for (n, change) in self.changes.iter().enumerate() {
            self.check_change(&path_of("changes", n), change)?;
        }
        let rates = || self.changes.iter().enumerate().filter_map(|(n, change)| Some((n, change.rate_bps?)));
        if let Some((n, _)) = rates().next_back().filter(|&(_, rate)| rate == 0 && self.wander.is_none()) {
            refuse!(
                format!("{path}.changes[{n}].rate_bps"),
                "nothing is ever sent again; add the end of the outage, which may be after the end of the run"
            );
        }
        within(format!("{path}.duplicate"), self.duplicate.unwrap_or(0.0), 0.0..=1.0)?;
        within(format!("{path}.thin"), self.thin.unwrap_or(1), 1..=1_000_000)?;
        within(format!("{path}.slot_ns"), self.slot_ns.unwrap_or(1), 1..=LONGEST_NS)?;
        within(format!("{path}.jitter.spread_ns"), self.jitter.map_or(0, |j| j.spread_ns), 0..=LONGEST_NS)?;
        if let Some(detour) = self.detour {
            within(format!("{path}.detour.every"), detour.every, 1..=u64::MAX)?;
            within(format!("{path}.detour.extra_ns"), detour.extra_ns, 1..=LONGEST_NS)?;
        }
        Ok(())
    }

    fn check_change(&self, path: &str, change: &ChangePlan) -> Check {
        within(format!("{path}.rate_bps"), change.rate_bps.unwrap_or(1), 0..=Server::MAX_RATE)?;
        if change.rate_bps.is_some() && self.opportunities.is_some() {
            refuse!(format!("{path}.rate_bps"), "a link that sends at given moments has no rate to change");
        }
        within(format!("{path}.delay_ns"), change.delay_ns.unwrap_or(0), 0..=LONGEST_NS)?;
        check_loss(path, change.loss.as_ref())?;
        let Some(LimitPlan { packets, bytes }) = change.limit else { return Ok(()) };
        let mut queue = self.queue.build(path, 0)?;
        if !queue.resize(Limit { packets, bytes }, Time::ZERO, &mut QueueEvents::default()) {
            refuse!(format!("{path}.limit"), "{} has no limit of that kind", self.queue.kind);
        }
        Ok(())
    }

    fn check_opportunities(&self, path: &str, duration_ns: u64) -> Check {
        let Some(plan) = &self.opportunities else { return Ok(()) };
        let path = format!("{path}.opportunities");
        if self.rate_bps.is_some() {
            refuse!(path, "the link has a rate as well; leave out one of them");
        }
        within(format!("{path}.bytes"), plan.bytes, 1..=1_000_000_000)?;
        within(format!("{path}.unit_ns"), plan.unit_ns, 1..=1_000_000_000)?;
        within(format!("{path}.offset_ns"), plan.offset_ns, 0..=LONGEST_NS)?;
        let last = plan.times.last().copied().unwrap_or(0);
        if last == 0 {
            refuse!(format!("{path}.times"), "a round of no length; there has to be one after zero");
        }
        within(format!("{path}.times"), last, 0..=LONGEST_NS / plan.unit_ns)?;
        if let Some(n) = plan.times.windows(2).position(|pair| pair[1] < pair[0]) {
            refuse!(format!("{path}.times[{}]", n + 1), "earlier than the one before it");
        }
        if !plan.repeat && last * plan.unit_ns < plan.offset_ns + duration_ns {
            refuse!(
                path,
                "nothing is ever sent after the last one, before the end of the run; let them repeat"
            );
        }
        Ok(())
    }

    fn check_wander(&self, path: &str, duration_ns: u64) -> Check {
        let Some(plan) = &self.wander else { return Ok(()) };
        let path = format!("{path}.wander");
        within(format!("{path}.from_ns"), plan.from_ns, 0..=LONGEST_NS)?;
        within(format!("{path}.mean_ns"), plan.mean_ns, duration_ns / MOST_MOVES + 1..=LONGEST_NS)?;
        if plan.states.len() < 2 {
            refuse!(format!("{path}.states"), "at least two, or there is nowhere to go");
        }
        for (n, state) in plan.states.iter().enumerate() {
            self.check_change(&format!("{path}.states[{n}]"), state)?;
        }
        if plan.states.iter().all(|state| state.rate_bps == Some(0)) {
            refuse!(format!("{path}.states"), "nothing is ever sent; one of them needs another rate");
        }
        Ok(())
    }

    /// It has a rate, or its queue shapes to one.
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

impl QueuePlan {
    /// Makes the queue; `path` is that of its link or port, `seed` feeds its randomness.
    pub(crate) fn build(
        &self,
        path: &str,
        seed: u64,
    ) -> Result<Box<dyn network::QueueDiscipline<Payload>>, PlanError> {
        let path = format!("{path}.queue");
        let kind = &self.kind;
        queue::build(kind, &Value::Object(self.params.clone()), seed).map_err(|error| match error {
            queue::BuildError::Unknown(_) => {
                let names = queue::descriptors().iter().map(|d| d.name);
                PlanError::new(path, format!("unknown queue \"{kind}\"{}", there_is(names)))
            }
            queue::BuildError::Params { problems, .. } => PlanError::of_first(&path, problems),
        })
    }
}

fn check_loss(path: &str, loss: Option<&LossPlan>) -> Check {
    let probability = |name: &str, p: f64| within(format!("{path}.loss.{name}"), p, 0.0..=1.0);
    match loss {
        None => Ok(()),
        Some(&LossPlan::Bernoulli { probability: p }) => probability("probability", p),
        Some(&LossPlan::Periodic { every }) => within(format!("{path}.loss.every"), every, 1..=u64::MAX),
        Some(LossPlan::Replay { packets, period }) => {
            if let Some(n) = packets.windows(2).position(|pair| pair[1] <= pair[0]) {
                refuse!(format!("{path}.loss.packets[{}]", n + 1), "not above the one before it");
            }
            let most = packets.last().map_or(1, |last| last.saturating_add(1));
            within(format!("{path}.loss.period"), period.unwrap_or(most), most..=u64::MAX)
        }
        Some(&LossPlan::GilbertElliott { worsens, improves, good, bad }) => {
            let all = [("worsens", worsens), ("improves", improves), ("good", good), ("bad", bad)];
            all.into_iter().try_for_each(|(name, p)| probability(name, p))
        }
    }
}
