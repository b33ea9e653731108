//! The table `conditions`: one row per link and change of its rate or delay.

use super::cell::LinkName;
use super::declare::{Rows, table};
use super::{Finished, Made};
use crate::links::changes_of;
use crate::plan::LinkPlan;
use units::{Duration, Rate, Time};

table! {
    /// Rate and delay of a link from a time on.
    pub struct ConditionRow, one row per "link and change of its rate or delay, and one at 0 s" {
    /// time of the change
        time_s: Time, "s";
        /// name
        link: LinkName, "";
        /// rate of the link, or of the shaper in its queue once that changes; null if unlimited, or if the link follows
        /// a trace of delivery opportunities
        rate_bps: Option<Rate>, "bit/s";
        /// propagation delay of packets that leave from then on
        delay_s: Duration, "s";
    }
}

impl Made for ConditionRow {
    /// Rows in the order of links.
    fn rows(run: &mut Finished<'_>) -> Rows<ConditionRow> {
        let end = Time::from_nanos(run.plan.duration_ns);
        let links = (0u32..).zip(&run.plan.links);
        links.flat_map(|(n, link)| of_link(n, link, run.seed, end)).collect()
    }
}

/// Rows of a link in the order of time, before the end of the run. Changes at the same time are one row.
fn of_link(n: u32, plan: &LinkPlan, seed: u64, end: Time) -> Vec<ConditionRow> {
    let mut now = ConditionRow {
        time_s: Time::ZERO,
        link: LinkName(n),
        rate_bps: plan.rate_bps.map(Rate::from_bits_per_sec),
        delay_s: Duration::from_nanos(plan.delay_ns),
    };
    let mut rows = vec![now.clone()];
    for (at_ns, change) in changes_of(plan, seed, end) {
        let at = Time::from_nanos(at_ns);
        if at >= end || (change.rate_bps.is_none() && change.delay_ns.is_none()) {
            continue;
        }
        now.time_s = at;
        now.rate_bps = change.rate_bps.map(Rate::from_bits_per_sec).or(now.rate_bps);
        now.delay_s = change.delay_ns.map_or(now.delay_s, Duration::from_nanos);
        if rows.last().is_some_and(|last| last.time_s == at) {
            rows.pop();
        }
        rows.push(now.clone());
    }
    rows
}
