//! Links.

use network::QueueDiscipline;
use serde_json::{Map, Value};
use simulation::Payload;
use simulation::plan::{ChangePlan, EntryPlan, LinkPlan, PlanError};
use std::sync::Arc;
use units::{Duration, Rate};

/// Makes a queue discipline from a seed.
pub(crate) type MakeQueue = Arc<dyn Fn(u64) -> Box<dyn QueueDiscipline<Payload>> + Send + Sync>;

/// A link in one direction: a queue in front of a wire.
#[derive(Clone)]
pub struct Link {
    pub(crate) plan: LinkPlan,
    pub(crate) queue: Option<MakeQueue>,
}

impl Link {
    /// A link with a tail-drop queue that has no limit; [`Rate::UNLIMITED`]: packets take no time to send.
    pub fn new(rate: Rate, delay: Duration) -> Link {
        let plan = LinkPlan {
            name: String::new(),
            stream: String::new(),
            nic: false,
            rate_bps: (rate != Rate::UNLIMITED).then(|| rate.bits_per_sec()),
            delay_ns: delay.as_nanos(),
            queue: entry("drop_tail", serde_json::json!({ "packets": null, "bytes": null })),
            device_packets: None,
            loss: None,
            changes: Vec::new(),
            impairments: Vec::new(),
            opportunities: None,
            markov_channel: None,
        };
        Link { plan, queue: None }
    }

    /// A queue discipline of the registry with its parameters, as in `queue("codel", json!({ "target_ms": 5 }))`.
    pub fn queue(mut self, kind: &str, params: Value) -> Link {
        self.plan.queue = entry(kind, params);
        self.queue = None;
        self
    }

    /// A queue discipline that the registry does not have, made from the seed of its randomness.
    pub fn own_queue(
        mut self,
        make: impl Fn(u64) -> Box<dyn QueueDiscipline<Payload>> + Send + Sync + 'static,
    ) -> Link {
        self.queue = Some(Arc::new(make));
        self
    }

    /// A device below the queue that holds so many packets, besides the one being sent, and stops the queue while it is
    /// full. Then changes of the rate are those of the queue, if it shapes.
    pub fn device_queue(mut self, packets: u64) -> Link {
        self.plan.device_packets = Some(packets);
        self
    }

    /// A loss of the registry with its parameters, as in `loss("bernoulli", json!({ "probability": 0.01 }))`.
    pub fn loss(mut self, kind: &str, params: Value) -> Link {
        self.plan.loss = Some(entry(kind, params));
        self
    }

    /// One more impairment of the registry with its parameters.
    pub fn impairment(mut self, kind: &str, params: Value) -> Link {
        self.plan.impairments.push(entry(kind, params));
        self
    }

    /// One more change while the run goes on, not before those that are there.
    pub fn change(mut self, change: ChangePlan) -> Link {
        self.plan.changes.push(change);
        self
    }
}

/// An entry of a registry.
pub(crate) fn entry(kind: &str, params: Value) -> EntryPlan {
    EntryPlan { kind: kind.to_owned(), params }
}

/// Parameters by their names (null for none); `path` is theirs.
pub(crate) fn table(path: &str, params: &Value) -> Result<Map<String, Value>, PlanError> {
    match params {
        Value::Null => Ok(Map::new()),
        Value::Object(params) => Ok(params.clone()),
        other => Err(PlanError::new(path, format!("{other} is wrong; it must be a table"))),
    }
}
