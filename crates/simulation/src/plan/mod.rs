//! The plan: a fully resolved experiment, integers in base units.

mod check;
pub(crate) mod datagram;
pub(crate) mod declared;
pub(crate) mod error;
mod hand_over;
mod link;
mod markov;
mod medium;
pub(crate) mod nic;
mod opportunities;
pub(crate) mod range;
mod relayed;
mod route_control;

pub use crate::applications::{
    BitrateRule, Distribution, Pace, PoissonSettings, RequestResponseSettings, VideoSettings, WebSettings,
    WorkloadPlan, WritesSettings,
};
pub use crate::periods::Periods;
pub use datagram::{DatagramPlan, Protocol};
pub use error::PlanError;
pub use hand_over::HandOverPlan;
pub use markov::MarkovPlan;
pub(crate) use medium::HopRef;
pub use medium::{MediumPlan, PortPlan};
pub use network::queue::Limit;
pub use opportunities::OpportunitiesPlan;
pub use range::MAX_ROWS;
pub use relayed::RelayedPlan;
pub(crate) use relayed::Relays;
pub use route_control::{PolicyPlan, RouteControllerPlan, SteeredPlan, WayPlan};
pub use tcp::{EcnOption, Options};

use crate::routes::HopId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use units::{Duration, Rng, Time};

/// An experiment to simulate. [`Plan::from_json`] reads and checks a plan.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Simulated time in nanoseconds.
    pub duration_ns: u64,
    /// Warm-up: summaries begin at this time.
    pub warmup_ns: u64,
    /// Links of the network.
    pub links: Vec<LinkPlan>,
    /// Media of the network.
    #[serde(default)]
    pub media: Vec<MediumPlan>,
    /// Senders, their routes and their data.
    pub flows: Vec<FlowPlan>,
    /// Controllers that choose routes of flows during the run.
    #[serde(default)]
    pub route_controllers: Vec<RouteControllerPlan>,
    /// Handovers between ports of media.
    #[serde(default)]
    pub hand_overs: Vec<HandOverPlan>,
    /// Records besides summaries.
    pub record: RecordPlan,
}

/// One link, in one direction.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// Unique name.
    pub name: String,
    /// Name of the link's random numbers; unique.
    pub stream: String,
    /// Whether the link is the network interface of a host. All routes that begin at this link belong to the host.
    /// Departures from the link are reported to the host's senders (TCP small queues).
    #[serde(default)]
    pub nic: bool,
    /// Rate in bits per second; `None`: unlimited.
    pub rate_bps: Option<u64>,
    /// Propagation delay in nanoseconds.
    pub delay_ns: u64,
    /// Queue discipline.
    pub queue: EntryPlan,
    /// Maximum packets in the device behind the queue, without the packet in transmission. With a device, changes of
    /// the rate apply to the queue if the queue is a shaper. `None`: no device; the wire takes packets directly from
    /// the queue.
    #[serde(default)]
    pub device_packets: Option<u64>,
    /// Loss model of packets on the wire.
    pub loss: Option<EntryPlan>,
    /// Changes during the run, in the order of time.
    #[serde(default)]
    pub changes: Vec<ChangePlan>,
    /// Impairments of single packets, at most one of each kind, in any order.
    #[serde(default)]
    pub impairments: Vec<EntryPlan>,
    /// Times at which the link may send, instead of a rate.
    #[serde(default)]
    pub opportunities: Option<OpportunitiesPlan>,
    /// Changes at times drawn from the seed.
    #[serde(default)]
    pub markov_channel: Option<MarkovPlan>,
}

/// A change on a link.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePlan {
    /// Time of the change.
    pub at_ns: u64,
    /// The rate from the change on, 0 for an outage; `None`: unchanged.
    pub rate_bps: Option<u64>,
    /// Propagation delay of packets that leave after the change; `None`: unchanged.
    #[serde(default)]
    pub delay_ns: Option<u64>,
    /// Loss after the change; `None`: unchanged.
    pub loss: Option<EntryPlan>,
    /// Limit of the queue after the change; `None`: unchanged.
    #[serde(default)]
    #[schemars(schema_with = "declared::limit")]
    pub limit: Option<Limit>,
}

/// An entry of a registry of the network: a queue discipline, a loss or an impairment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct EntryPlan {
    /// Name in the registry.
    pub kind: String,
    /// Parameters, in the same JSON object as the name.
    #[serde(flatten)]
    pub params: Value,
}

/// One flow: a connection that carries data one way, or the connections and datagrams of its workload.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// Unique name, without effect on the simulation.
    pub name: String,
    /// Name of the flow's random numbers; unique.
    pub stream: String,
    /// Congestion control algorithm; `None` for datagrams.
    pub cca: Option<CcaPlan>,
    /// Start in nanoseconds.
    pub start_ns: u64,
    /// Width of the interval from which the start is drawn: [start, start + jitter).
    pub start_jitter_ns: u64,
    /// Time at which the application stops sending; `None`: never.
    pub stop_ns: Option<u64>,
    /// Payload to send; `None`: unlimited.
    pub bytes: Option<u64>,
    /// Rates at which the application writes, in the order of time; unlimited before the first entry.
    #[serde(default)]
    pub application: Vec<Pace>,
    /// Application; `None`: one stream of bytes.
    #[serde(default)]
    pub workload: Option<WorkloadPlan>,
    /// Indices of the hops from sender to receiver, in order. The ports of media are numbered after the links.
    pub forward: Vec<u32>,
    /// Hops from receiver to sender, in order.
    pub reverse: Vec<u32>,
    /// Changes of the flow's routes at given times.
    #[serde(default)]
    pub reroutes: Vec<ReroutePlan>,
    /// Whether the flow is an upload on a path with two directions. Data of uploads do not compete with data of
    /// downloads.
    #[serde(default)]
    pub upload: bool,
    /// Differentiated services code point of data and acknowledgements.
    #[serde(default)]
    pub dscp: u8,
    /// IDs of the sending and the receiving host, for queues that give shares to hosts; `None`: no other flow has these
    /// hosts.
    #[serde(default)]
    pub hosts: Option<[u32; 2]>,
    /// Source of the data that this flow relays; `None`: the flow has data of its own.
    #[serde(default)]
    pub relayed: Option<RelayedPlan>,
    /// Options of the transport. Datagrams ignore these options.
    #[serde(default)]
    #[schemars(schema_with = "declared::transport")]
    pub tcp: Options,
}

impl FlowPlan {
    /// Name of the congestion control algorithm; empty if the flow has no algorithm.
    pub fn algorithm(&self) -> &str {
        self.cca.as_ref().map_or("", |cca| &cca.kind)
    }

    /// Start time, jitter included.
    pub(crate) fn start(&self, seed: u64) -> Time {
        let share = Rng::stream(seed, &format!("start/{}", self.stream)).unit();
        let jitter = (share * self.start_jitter_ns as f64) as u64;
        Time::from_nanos(self.start_ns) + Duration::from_nanos(jitter)
    }

    /// Protocol: "tcp", "udp" or "icmp".
    pub fn protocol(&self) -> &'static str {
        match &self.workload {
            Some(WorkloadPlan::Datagrams(datagrams)) => datagrams.protocol.name(),
            _ => "tcp",
        }
    }
}

/// Another route from a time on. A packet on the old route switches to the new route at the next hop that both routes
/// have. A packet past the fork stays on the old route.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReroutePlan {
    /// Time of the change.
    pub at_ns: u64,
    /// Hops from sender to receiver; `None`: unchanged.
    pub forward: Option<Vec<u32>>,
    /// Hops from receiver to sender; `None`: unchanged.
    pub reverse: Option<Vec<u32>>,
}

/// A congestion control algorithm and its parameters.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcaPlan {
    /// Name or alias in [`congestion::descriptors`]. A name with a colon is an
    /// [external](crate::Controllers) algorithm.
    pub kind: String,
    /// Parameters.
    pub params: Map<String, Value>,
}

/// Whether the name refers to a part that the caller provides, not to an entry of a registry.
pub(crate) fn is_external(name: &str) -> bool {
    name.contains(':')
}

impl CcaPlan {
    /// Whether the caller provides the algorithm, not the registry.
    pub(crate) fn is_external(&self) -> bool {
        is_external(&self.kind)
    }
}

/// Records besides summaries.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordPlan {
    /// Time between samples; `None`: no samples.
    pub interval_ns: Option<u64>,
    /// Whether internal variables of algorithms are sampled, too.
    pub variables: bool,
    /// Points of packet capture: "sender", "receiver", and names of links and ports.
    #[serde(default)]
    pub packets: Vec<String>,
    /// Whether the delay of payload until in-order delivery is measured.
    #[serde(default)]
    pub in_order: bool,
}

impl Plan {
    /// Reads and checks a plan.
    ///
    /// # Errors
    /// If the text is not JSON, a field is missing, unknown or of the wrong type, or a value is invalid. The error says
    /// where the problem is, what the problem is, and what to write instead.
    pub fn from_json(text: &str) -> Result<Plan, PlanError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let plan: Plan = serde_path_to_error::deserialize(&mut reader)
            .map_err(|e| PlanError::new(e.path().to_string(), e.inner().to_string()))?;
        reader.end().map_err(|e| PlanError::new("", e.to_string()))?;
        plan.check()?;
        Ok(plan)
    }

    /// The plan as [`from_json`](Self::from_json) reads it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a plan has text as keys and no number that JSON lacks")
    }

    /// The JSON Schema of a plan: every field with its type and its meaning.
    pub fn schema() -> Value {
        schemars::schema_for!(Plan).to_value()
    }

    /// The hops of every route, in the order of [`RouteId`](network::RouteId)s.
    pub(crate) fn routes(&self) -> impl Iterator<Item = &Vec<u32>> {
        self.flows.iter().flat_map(|flow| [&flow.forward, &flow.reverse])
    }

    /// Whether a hop transmits at a rate; media always do.
    pub(crate) fn has_rate(&self, hop: HopId) -> bool {
        self.links.get(hop.index()).is_none_or(|link| link.rate_bps.is_some())
    }
}
