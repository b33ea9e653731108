//! Relayed flows: a host receives data on one TCP connection and sends them on over the next connection.

use super::range::{Check, MOST_BYTES, refuse, within};
use super::{FlowPlan, Plan, WorkloadPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Source of the data of a relayed flow: another flow, which ends at the host where the relaying flow begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelayedPlan {
    /// Number of the flow that delivers the data. This number must be lower than the number of the relaying flow.
    pub from: u32,
    /// Maximum payload in the relaying host: received in order and not yet acknowledged by the next receiver.
    pub buffer_bytes: u64,
}

/// Pairs of flows, by index. The first flow of a pair delivers the data that the second flow sends.
pub struct Relays {
    onward: Vec<Option<Onward>>,
    /// For each flow, the flow whose data it relays.
    back: Vec<Option<u32>>,
}

/// The flow that relays the data of another flow.
#[derive(Clone, Copy, Debug)]
struct Onward {
    to: u32,
    buffer_bytes: u64,
}

impl Relays {
    /// The relays of a plan.
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

    /// The flow that relays the data which `flow` delivers.
    pub fn next(&self, flow: u32) -> Option<u32> {
        self.onward[flow as usize].map(|onward| onward.to)
    }

    /// The flow that delivers the data which `flow` relays.
    pub fn before(&self, flow: u32) -> Option<u32> {
        self.back[flow as usize]
    }

    /// Whether the plan has relayed flows.
    pub fn is_any(&self) -> bool {
        self.back.iter().any(Option::is_some)
    }

    /// Maximum payload in the host at which a relayed flow ends; `None`: the flow is not relayed.
    pub fn buffer_bytes(&self, flow: u32) -> Option<u64> {
        self.onward[flow as usize].map(|onward| onward.buffer_bytes)
    }
}

impl Plan {
    /// Refuses to relay flows that are not streams or are relayed twice, and refuses relaying flows that have other
    /// data to send.
    pub(super) fn check_relayed(&self) -> Check {
        let mut passed_on = BTreeSet::new();
        for (n, flow) in self.flows.iter().enumerate() {
            let Some(relayed) = &flow.relayed else { continue };
            let field = |name: &str| format!("flows[{n}].relayed.{name}");
            if relayed.from as usize >= n {
                refuse!(
                    field("from"),
                    "flow {} is not before this flow in the list; list it earlier",
                    relayed.from
                );
            }
            if !passed_on.insert(relayed.from) {
                refuse!(field("from"), "flow {} is already relayed; relay it only once", relayed.from);
            }
            let first = &self.flows[relayed.from as usize];
            if !first.is_stream() {
                refuse!(field("from"), "flow {} is no stream of bytes; relay only streams", relayed.from);
            }
            if flow.bytes.is_some() || flow.workload.is_some() || !flow.application.is_empty() {
                refuse!(
                    format!("flows[{n}].relayed"),
                    "the flow sends the data of flow {}; leave out bytes, application and workload",
                    relayed.from
                );
            }
            let least = u64::from(first.tcp.mss.max(flow.tcp.mss));
            within(field("buffer_bytes"), relayed.buffer_bytes, least..=MOST_BYTES)?;
        }
        Ok(())
    }
}

impl FlowPlan {
    /// Whether the flow has one connection that carries one stream of bytes.
    fn is_stream(&self) -> bool {
        matches!(self.workload, None | Some(WorkloadPlan::Writer(_)))
    }
}
