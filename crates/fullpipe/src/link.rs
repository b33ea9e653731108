//! Links of a network.

use network::QueueDiscipline;
use serde_json::{Map, Value};
use simulation::Payload;
use simulation::plan::{ChangePlan, EntryPlan, LinkPlan, PlanError};
use std::sync::Arc;
use units::{Duration, Rate};

/// Function that builds a queue discipline from a seed.
pub(crate) type MakeQueue = Arc<dyn Fn(u64) -> Box<dyn QueueDiscipline<Payload>> + Send + Sync>;

/// A link in one direction: a queue in front of a wire.
#[derive(Clone)]
pub struct Link {
    pub(crate) plan: LinkPlan,
    pub(crate) queue: Option<MakeQueue>,
}

impl Link {
    /// Creates a link with an unlimited drop-tail queue. With [`Rate::UNLIMITED`] transmission takes no time.
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

    /// Sets a queue discipline of the registry with its parameters, for example `queue("codel", json!({ "target_ms": 5
    /// }))`.
    pub fn queue(mut self, kind: &str, params: Value) -> Link {
        self.plan.queue = entry(kind, params);
        self.queue = None;
        self
    }

    /// Sets your own queue discipline. `make` builds the queue discipline from a seed for its random numbers.
    pub fn own_queue(
        mut self,
        make: impl Fn(u64) -> Box<dyn QueueDiscipline<Payload>> + Send + Sync + 'static,
    ) -> Link {
        self.queue = Some(Arc::new(make));
        self
    }

    /// Adds a device between the queue and the wire. The device holds at most `packets` packets, not counting the
    /// packet in transmission. The queue stops while the device is full. If the queue is a shaper, changes of the rate
    /// apply to the queue.
    pub fn device_queue(mut self, packets: u64) -> Link {
        self.plan.device_packets = Some(packets);
        self
    }

    /// Sets a loss of the registry with its parameters, for example `loss("bernoulli", json!({ "probability": 0.01
    /// }))`.
    pub fn loss(mut self, kind: &str, params: Value) -> Link {
        self.plan.loss = Some(entry(kind, params));
        self
    }

    /// Adds an impairment of the registry with its parameters.
    pub fn impairment(mut self, kind: &str, params: Value) -> Link {
        self.plan.impairments.push(entry(kind, params));
        self
    }

    /// Adds a change during the run. Changes must be in the order of time.
    pub fn change(mut self, change: ChangePlan) -> Link {
        self.plan.changes.push(change);
        self
    }
}

/// An entry of a registry.
pub(crate) fn entry(kind: &str, params: Value) -> EntryPlan {
    EntryPlan { kind: kind.to_owned(), params }
}

/// Parameters as a table (null: empty). `path` is the position of the parameters in the plan, for errors.
pub(crate) fn table(path: &str, params: &Value) -> Result<Map<String, Value>, PlanError> {
    match params {
        Value::Null => Ok(Map::new()),
        Value::Object(params) => Ok(params.clone()),
        other => Err(PlanError::new(path, format!("{other} is wrong; it must be a table"))),
    }
}
