//! Transport options that deviate from Linux.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::Quirks;

/// Behaviours of the TCP of another simulator or kernel. Released Linux has none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuirksPlan {
    /// Start of the interval of a delivery-rate sample.
    pub rate_sample: RateSamplePlan,
    /// Use of a rate sample whose interval is shorter than the smallest RTT.
    pub invalid_rate_samples: InvalidSamplesPlan,
    /// Packet retransmitted in recovery when nothing is marked lost and nothing new can be sent.
    pub rescue_retransmit: RescuePlan,
    /// Classifies a sender whose send buffer is all in flight, below its window.
    pub full_send_buffer: FullSendBufferPlan,
    /// Classifies a sender that has sent everything its application wrote, below its window.
    pub idle_application: IdleApplicationPlan,
    /// Deliveries that proportional rate reduction counts.
    pub prr: ProportionPlan,
    /// Packets in flight when a lost packet was sent, as reported to algorithms that read it.
    pub lost_in_flight: LostInFlightPlan,
}

/// Start of the interval of a delivery-rate sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum RateSamplePlan {
    /// The sending time of the packet that is sampled.
    #[default]
    #[serde(rename = "linux")]
    Linux,
    /// The start of the previous sample.
    #[serde(rename = "ns3_3.40")]
    Ns3_40,
}

/// Use of a rate sample whose interval is shorter than the smallest RTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InvalidSamplesPlan {
    /// The sample has no rate.
    #[default]
    Discarded,
    /// The sample has the rate of the last valid one.
    Repeated,
}

/// Packet retransmitted in recovery when nothing is marked lost and nothing new can be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RescuePlan {
    /// Nothing.
    #[default]
    None,
    /// An unacknowledged packet below the highest one selectively acknowledged.
    Rfc6675,
    /// Any outstanding packet.
    Unbounded,
}

/// Classifies a sender whose send buffer is all in flight, below its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullSendBufferPlan {
    /// Limited by the application.
    #[default]
    AppLimited,
    /// Limited by the network.
    NetworkLimited,
}

/// Classifies a sender that has sent everything its application wrote, below its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdleApplicationPlan {
    /// Limited by the application.
    #[default]
    AppLimited,
    /// Limited by the network.
    NetworkLimited,
}

/// Deliveries that proportional rate reduction counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProportionPlan {
    /// Bytes delivered (RFC 9937).
    #[default]
    Rfc9937,
    /// One packet too many for each ACK that only carries SACK blocks. Products have 32 bits.
    Ns3,
}

/// Packets in flight when a lost packet was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LostInFlightPlan {
    /// The count at its transmission.
    #[default]
    Counted,
    /// The count at its transmission, minus the packets moved from the head of its burst into the previous burst.
    Shifted,
}

impl From<QuirksPlan> for Quirks {
    fn from(plan: QuirksPlan) -> Quirks {
        Quirks {
            rate_sampling: match plan.rate_sample {
                RateSamplePlan::Linux => tcp::RateSampling::Linux,
                RateSamplePlan::Ns3_40 => tcp::RateSampling::Ns3_40,
            },
            invalid_samples: match plan.invalid_rate_samples {
                InvalidSamplesPlan::Discarded => tcp::InvalidSamples::Discarded,
                InvalidSamplesPlan::Repeated => tcp::InvalidSamples::Repeated,
            },
            rescue: match plan.rescue_retransmit {
                RescuePlan::None => tcp::Rescue::None,
                RescuePlan::Rfc6675 => tcp::Rescue::Rfc6675,
                RescuePlan::Unbounded => tcp::Rescue::Unbounded,
            },
            full_send_buffer: match plan.full_send_buffer {
                FullSendBufferPlan::AppLimited => tcp::FullSendBuffer::AppLimited,
                FullSendBufferPlan::NetworkLimited => tcp::FullSendBuffer::NetworkLimited,
            },
            idle_application: match plan.idle_application {
                IdleApplicationPlan::AppLimited => tcp::IdleApplication::AppLimited,
                IdleApplicationPlan::NetworkLimited => tcp::IdleApplication::NetworkLimited,
            },
            prr: match plan.prr {
                ProportionPlan::Rfc9937 => tcp::Proportion::Rfc9937,
                ProportionPlan::Ns3 => tcp::Proportion::Ns3,
            },
            lost_in_flight: match plan.lost_in_flight {
                LostInFlightPlan::Counted => tcp::LostInFlight::Counted,
                LostInFlightPlan::Shifted => tcp::LostInFlight::Shifted,
            },
        }
    }
}
