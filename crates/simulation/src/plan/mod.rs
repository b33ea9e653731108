//! The plan: a fully resolved experiment, integers in base units.

mod check;
mod datagram;
mod error;
mod hand_over;
mod link;
mod markov;
mod medium;
mod memory;
mod nic;
mod opportunities;
mod periods;
mod quirks;
pub(crate) mod range;
mod recovery;
mod relayed;
mod route_control;
mod transport;

pub use crate::applications::{
    AbrPlan, DistributionPlan, PoissonPlan, RequestResponsePlan, VideoPlan, WebPlan, WorkloadPlan, WritesPlan,
};
pub use datagram::{DatagramPlan, ProtocolPlan};
pub use error::PlanError;
pub use hand_over::HandOverPlan;
pub use markov::MarkovPlan;
pub(crate) use medium::HopPlan;
pub use medium::{MediumPlan, PortPlan};
pub use memory::MemoryPlan;
pub(crate) use nic::Interface;
pub use opportunities::OpportunitiesPlan;
pub use periods::PeriodsPlan;
pub use quirks::{
    FullSendBufferPlan, IdleApplicationPlan, InvalidSamplesPlan, LostInFlightPlan, ProportionPlan,
    QuirksPlan, RateSamplePlan, RescuePlan,
};
pub use range::MAX_ROWS;
pub use recovery::{LossDetectionPlan, RecoveryPlan};
pub use relayed::RelayedPlan;
pub(crate) use relayed::Relays;
pub use route_control::{PolicyPlan, RouteControllerPlan, SteeredPlan, WayPlan};
pub use transport::{AckPlan, EcnFeedback, EcnPlan, PacingPlan, TcpPlan};

use crate::routes::HopId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use units::{Duration, Rng, Time};

/// What to simulate. Read it with [`Plan::from_json`], which checks it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Simulated time in nanoseconds.
    pub duration_ns: u64,
    /// Summaries cover what happens after this time.
    pub warmup_ns: u64,
    /// The network.
    pub links: Vec<LinkPlan>,
    /// Its media.
    #[serde(default)]
    pub media: Vec<MediumPlan>,
    /// Who sends.
    pub flows: Vec<FlowPlan>,
    /// What chooses the routes of flows in the course of the run.
    #[serde(default)]
    pub route_controllers: Vec<RouteControllerPlan>,
    /// What ports of media hand over to others.
    #[serde(default)]
    pub hand_overs: Vec<HandOverPlan>,
    /// What to write down besides summaries.
    pub record: RecordPlan,
}

/// One link, in one direction.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// Unique name.
    pub name: String,
    /// Names its random numbers; unique.
    pub stream: String,
    /// It is the network interface of a host, to which all routes belong that begin here. Its senders are told when their
    /// packets have left it (TCP small queues).
    #[serde(default)]
    pub nic: bool,
    /// Rate in bits per second; `None`: unlimited.
    pub rate_bps: Option<u64>,
    /// Propagation delay in nanoseconds.
    pub delay_ns: u64,
    /// Who waits.
    pub queue: EntryPlan,
    /// Packets that the device below the queue holds, besides the one being sent; then changes of the rate are those of the
    /// queue, if it shapes. `None`: the queue stands right at the wire.
    #[serde(default)]
    pub device_packets: Option<u64>,
    /// Loss that is not congestion.
    pub loss: Option<EntryPlan>,
    /// What changes during the run, in the order of time.
    #[serde(default)]
    pub changes: Vec<ChangePlan>,
    /// What happens to single packets, one of each kind at most, in any order.
    #[serde(default)]
    pub impairments: Vec<EntryPlan>,
    /// The link sends at given moments only, and has no rate.
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
    /// When.
    pub at_ns: u64,
    /// The rate from then on, 0 for an outage; `None`: as before.
    pub rate_bps: Option<u64>,
    /// Propagation delay of what leaves from then on; `None`: as before.
    #[serde(default)]
    pub delay_ns: Option<u64>,
    /// Loss from then on; `None`: as before.
    pub loss: Option<EntryPlan>,
    /// Limit of the queue from then on; `None`: as before.
    #[serde(default)]
    pub limit: Option<LimitPlan>,
}

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitPlan {
    /// Most packets; `None`: no limit.
    pub packets: Option<u64>,
    /// Most bytes; `None`: no limit.
    pub bytes: Option<u64>,
}

/// An entry of a registry of the network: a queue discipline, a loss or an impairment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct EntryPlan {
    /// Its name there.
    pub kind: String,
    /// Parameters, beside the name.
    #[serde(flatten)]
    pub params: Value,
}

/// One flow: a connection that carries data one way, or what its workload makes of it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// Unique name, a label and no more.
    pub name: String,
    /// Names its random numbers; unique.
    pub stream: String,
    /// Congestion control; `None`: it does without, as datagrams do.
    pub cca: Option<CcaPlan>,
    /// Start in nanoseconds.
    pub start_ns: u64,
    /// The start is drawn from [start, start + jitter).
    pub start_jitter_ns: u64,
    /// When the application stops sending; `None`: never.
    pub stop_ns: Option<u64>,
    /// Payload to send; `None`: unlimited.
    pub bytes: Option<u64>,
    /// How fast the application hands data out, in the order of time; before the first entry, without limit.
    #[serde(default)]
    pub application: Vec<PacePlan>,
    /// What the application does; `None`: sends one stream of bytes.
    #[serde(default)]
    pub workload: Option<WorkloadPlan>,
    /// Hops from sender to receiver, in order: numbers of links, then of the ports of media.
    pub forward: Vec<u32>,
    /// Hops from receiver to sender, in order.
    pub reverse: Vec<u32>,
    /// Other routes from given times on.
    #[serde(default)]
    pub reroutes: Vec<ReroutePlan>,
    /// Its data cross a path with two sides the other way than those of downloads, with which it does not compete.
    #[serde(default)]
    pub upload: bool,
    /// Differentiated services code point of data and acknowledgements.
    #[serde(default)]
    pub dscp: u8,
    /// Numbers of the hosts that send and receive, for queues that share among hosts; `None`: no other flow has them.
    #[serde(default)]
    pub hosts: Option<[u32; 2]>,
    /// It is the next connection of another flow, which is ended where this one begins; `None`: it has data of its own.
    #[serde(default)]
    pub relayed: Option<RelayedPlan>,
    /// Transport; of no consequence for datagrams.
    pub tcp: TcpPlan,
}

impl FlowPlan {
    /// Name of the congestion control algorithm; empty if there is none.
    pub fn algorithm(&self) -> &str {
        self.cca.as_ref().map_or("", |cca| &cca.kind)
    }

    /// When it starts, jitter included.
    pub(crate) fn start(&self, seed: u64) -> Time {
        let share = Rng::stream(seed, &format!("start/{}", self.stream)).unit();
        let jitter = (share * self.start_jitter_ns as f64) as u64;
        Time::from_nanos(self.start_ns) + Duration::from_nanos(jitter)
    }

    /// What carries it: "tcp", "udp" or "icmp".
    pub fn protocol(&self) -> &'static str {
        match &self.workload {
            Some(WorkloadPlan::Datagrams(datagrams)) => datagrams.protocol.name(),
            _ => "tcp",
        }
    }
}

/// From a time on, packets take another route where they reach it. Those past a fork finish on the old one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReroutePlan {
    /// When.
    pub at_ns: u64,
    /// Hops from sender to receiver; `None`: as before.
    pub forward: Option<Vec<u32>>,
    /// Hops from receiver to sender; `None`: as before.
    pub reverse: Option<Vec<u32>>,
}

/// From a time on, the application hands data out at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacePlan {
    /// When.
    pub at_ns: u64,
    /// Payload, packet by packet; 0: nothing; `None`: without limit.
    pub rate_bps: Option<u64>,
}

/// A congestion control algorithm and its parameters.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcaPlan {
    /// Name or alias in [`congestion::descriptors`], or with a colon in it that of an
    /// [external](crate::Controllers) algorithm.
    pub kind: String,
    /// Parameters.
    pub params: Map<String, Value>,
}

/// The name is of something that no registry has and the caller provides.
pub(crate) fn is_external(name: &str) -> bool {
    name.contains(':')
}

impl CcaPlan {
    /// The registry does not have it: the caller provides it.
    pub(crate) fn is_external(&self) -> bool {
        is_external(&self.kind)
    }
}

/// What to write down besides summaries.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordPlan {
    /// Time between samples; `None`: no samples.
    pub interval_ns: Option<u64>,
    /// Sample the internal variables of the algorithms, too.
    pub variables: bool,
    /// Where packets are captured: "sender", "receiver", and names of links and ports.
    #[serde(default)]
    pub packets: Vec<String>,
    /// Measure the delay of payload until it is delivered in order.
    #[serde(default)]
    pub in_order: bool,
}

impl Plan {
    /// Reads and checks a plan.
    ///
    /// # Errors
    /// If the text is not JSON, a field is missing, unknown or of the wrong type, or a value makes no sense. The error
    /// says where, what, and what would be right.
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

    /// The JSON Schema of a plan: every field with its type and what it means.
    pub fn schema() -> Value {
        schemars::schema_for!(Plan).to_value()
    }

    /// The hops of every route, in the order of [`RouteId`](network::RouteId)s.
    pub(crate) fn routes(&self) -> impl Iterator<Item = &Vec<u32>> {
        self.flows.iter().flat_map(|flow| [&flow.forward, &flow.reverse])
    }

    /// A hop transmits at a rate; media always do.
    pub(crate) fn has_rate(&self, hop: HopId) -> bool {
        self.links.get(hop.index()).is_none_or(|link| link.rate_bps.is_some())
    }
}
