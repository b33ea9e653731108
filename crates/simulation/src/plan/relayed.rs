//! Flows that are two connections back to back: a host between them ends TCP.

use super::range::{Check, MOST_BYTES, refuse, within};
use super::{FlowPlan, Plan, WorkloadPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A flow whose data are those that another one delivers, at a host that ends TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelayedPlan {
    /// Number of the flow that delivers them; it comes before this one.
    pub from: u32,
    /// Payload that the host holds at most: what has come in order and has not been acknowledged to it yet.
    pub buffer_bytes: u64,
}

/// Which flow passes what it delivers on to which, by their numbers.
pub struct Relays {
    onward: Vec<Option<Onward>>,
    /// The flow whose data each one has.
    back: Vec<Option<u32>>,
}

/// What becomes of the data that a flow delivers.
#[derive(Clone, Copy, Debug)]
struct Onward {
    to: u32,
    buffer_bytes: u64,
}

impl Relays {
    /// Those of a plan.
    pub fn new(plan: &Plan) -> Relays {
        let back = plan.flows.iter().map(|flow| flow.relayed.map(|relayed| relayed.from)).collect();
        let mut onward = vec![None; plan.flows.len()];
        for (to, flow) in (0..).zip(&plan.flows) {
            if let Some(relayed) = flow.relayed {
                onward[relayed.from as usize] = Some(Onward { to, buffer_bytes: relayed.buffer_bytes });
            }
        }
        Relays { onward, back }
    }

    /// The flow to which one passes on what it delivers.
    pub fn next(&self, flow: u32) -> Option<u32> {
        self.onward[flow as usize].map(|onward| onward.to)
    }

    /// The flow that delivers what one sends.
    pub fn before(&self, flow: u32) -> Option<u32> {
        self.back[flow as usize]
    }

    /// There are some.
    pub fn is_any(&self) -> bool {
        self.back.iter().any(Option::is_some)
    }

    /// Payload that a host holds at most of a flow that ends there and is passed on; `None`: it ends at its receiver.
    pub fn buffer_bytes(&self, flow: u32) -> Option<u64> {
        self.onward[flow as usize].map(|onward| onward.buffer_bytes)
    }
}

impl Plan {
    /// Refuses flows that are passed on and are no streams, or to more than one, and those that have data of their own, too.
    pub(super) fn check_relayed(&self) -> Check {
        let mut passed_on = BTreeSet::new();
        for (n, flow) in self.flows.iter().enumerate() {
            let Some(relayed) = &flow.relayed else { continue };
            let field = |name: &str| format!("flows[{n}].relayed.{name}");
            if relayed.from as usize >= n {
                refuse!(
                    field("from"),
                    "flow {} does not come before this one; number it lower",
                    relayed.from
                );
            }
            if !passed_on.insert(relayed.from) {
                refuse!(field("from"), "flow {} is passed on already; once is all", relayed.from);
            }
            let first = &self.flows[relayed.from as usize];
            if !first.is_stream() {
                refuse!(field("from"), "flow {} is no stream of bytes; no other is passed on", relayed.from);
            }
            if flow.bytes.is_some() || flow.workload.is_some() || !flow.application.is_empty() {
                refuse!(
                    format!("flows[{n}].relayed"),
                    "its data are those of flow {}; leave out bytes, application and workload",
                    relayed.from
                );
            }
            let least = u64::from(first.tcp.mss_bytes.max(flow.tcp.mss_bytes));
            within(field("buffer_bytes"), relayed.buffer_bytes, least..=MOST_BYTES)?;
        }
        Ok(())
    }
}

impl FlowPlan {
    /// It has one connection, for data that it has all the time or that are written to it.
    fn is_stream(&self) -> bool {
        matches!(self.workload, None | Some(WorkloadPlan::Writer(_)))
    }
}
