//! Media of a plan. A medium has several ports, of which one transmits at a time.

use super::range::{Check, within};
use super::{EntryPlan, LinkPlan, Plan, PlanError, is_external};
use crate::payload::Payload;
use network::queue::{DropTail, Limit};
use network::{Element, QueueDiscipline, SamplingTimes, medium};
use params::BuildError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use units::{Duration, Rate, Time};

/// A medium. The ports of media are hops of routes. Ports are numbered after the links, medium by medium.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediumPlan {
    /// Unique name.
    pub name: String,
    /// Name of the medium's random numbers; unique.
    pub stream: String,
    /// Name in [`network::medium::descriptors`].
    pub kind: String,
    /// Parameters.
    pub params: Map<String, Value>,
    /// Ports, in the order of their turns if the medium has turns.
    pub ports: Vec<PortPlan>,
}

/// One port of a medium.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortPlan {
    /// Name, unique among ports and links.
    pub name: String,
    /// Name of the random numbers of the port's queue; unique among ports and links.
    pub stream: String,
    /// Queue discipline.
    pub queue: EntryPlan,
}

type Queue = Box<dyn QueueDiscipline<Payload>>;

impl MediumPlan {
    pub(super) fn check(&self, path: &str) -> Check {
        within(format!("{path}.ports"), self.ports.len(), 1..=usize::from(u16::MAX))?;
        if !is_external(&self.kind) {
            let unlimited = || Box::new(DropTail::new(Limit::default())) as Queue;
            self.build(path, self.ports.iter().map(|_| unlimited()).collect(), never(), 0)?;
        }
        let mut ports = self.ports.iter().enumerate();
        ports.try_for_each(|(n, port)| port.queue.check_queue(&format!("{path}.ports[{n}]")))
    }

    /// Builds the medium. `path` is the path of the medium. The random numbers of the medium derive from `seed`.
    pub(crate) fn build(
        &self,
        path: &str,
        queues: Vec<Queue>,
        sampling: SamplingTimes,
        seed: u64,
    ) -> Result<Box<dyn Element<Payload>>, PlanError> {
        let (kind, params) = (&self.kind, Value::Object(self.params.clone()));
        medium::build(kind, &params, queues, sampling, seed).map_err(|error| match error {
            BuildError::Unknown(message) => PlanError::new(format!("{path}.kind"), message),
            BuildError::Params { problems, .. } => PlanError::of_all(&format!("{path}.params"), problems.0),
        })
    }

    /// Least delay and highest rate of any port. For external media delay and rate are unknown, so the result is a
    /// delay of zero and an unlimited rate.
    ///
    /// # Panics
    /// If the plan was not checked.
    pub(crate) fn bounds(&self) -> (Duration, Rate) {
        if is_external(&self.kind) {
            return (Duration::ZERO, Rate::UNLIMITED);
        }
        let made = self.build("", Vec::new(), never(), 0).expect("a medium that was checked");
        (made.min_delay(), made.capacity())
    }
}

/// The sampling times of a medium that never carries anything.
fn never() -> SamplingTimes {
    SamplingTimes::new(None, Time::ZERO, Time::ZERO)
}

/// Hop to which an index in a route refers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HopRef<'a> {
    /// A link.
    Link(&'a LinkPlan),
    /// A port and its medium.
    Port(&'a MediumPlan, &'a PortPlan),
}

impl HopRef<'_> {
    fn name(self) -> String {
        match self {
            HopRef::Link(link) => link.name.clone(),
            HopRef::Port(_, port) => port.name.clone(),
        }
    }

    /// Propagation delay in nanoseconds at the start of the run, without the wait for a turn.
    pub fn delay_ns(self) -> u64 {
        match self {
            HopRef::Link(link) => link.delay_ns,
            HopRef::Port(medium, _) => medium.bounds().0.as_nanos(),
        }
    }

    /// Whether the hop has a rate, or a queue that shapes to a rate.
    pub(super) fn is_limited(self) -> bool {
        match self {
            HopRef::Link(link) => link.is_limited(),
            HopRef::Port(medium, _) => is_external(&medium.kind) || medium.bounds().1 != Rate::UNLIMITED,
        }
    }
}

impl Plan {
    /// All hops in the order of their indices: links, then the ports of all media.
    pub(crate) fn hops(&self) -> impl Iterator<Item = HopRef<'_>> {
        let ports = self.media.iter().flat_map(|m| m.ports.iter().map(move |port| HopRef::Port(m, port)));
        self.links.iter().map(HopRef::Link).chain(ports)
    }

    /// The hop with this index.
    pub(crate) fn hop(&self, number: usize) -> Option<HopRef<'_>> {
        self.links.get(number).map(HopRef::Link).or_else(|| self.hops().nth(number))
    }

    /// The names of links and ports, in the order of their indices.
    pub fn hop_names(&self) -> Vec<String> {
        self.hops().map(HopRef::name).collect()
    }
}
