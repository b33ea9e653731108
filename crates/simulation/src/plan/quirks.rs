//! Options of a transport by which it differs from Linux.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::Quirks;

/// Behaviours of another simulator's or kernel's TCP, each named for what it does; Linux as released has none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuirksPlan {
    /// Where the interval of a delivery-rate sample begins.
    pub rate_sample: RateSamplePlan,
    /// What becomes of a sample that is shorter than the smallest RTT.
    pub invalid_rate_samples: InvalidSamplesPlan,
    /// What is sent again in recovery for want of anything else to send.
    pub rescue_retransmit: RescuePlan,
    /// What a sender looks like whose send buffer is all in flight, below its window.
    pub full_send_buffer: FullSendBufferPlan,
    /// What a sender looks like that has sent all its application has written, below its window.
    pub idle_application: IdleApplicationPlan,
    /// How proportional rate reduction counts.
    pub prr: ProportionPlan,
    /// What was in flight when a lost packet left, for algorithms that ask for it.
    pub lost_in_flight: LostInFlightPlan,
}

/// Where the interval of a delivery-rate sample begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum RateSamplePlan {
    /// With the packet that is sampled.
    #[default]
    #[serde(rename = "linux")]
    Linux,
    /// With the sample before.
    #[serde(rename = "ns3_3.40")]
    Ns3_40,
}

/// What becomes of a sample that is shorter than the smallest RTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InvalidSamplesPlan {
    /// It says nothing of the bandwidth.
    #[default]
    Discarded,
    /// It repeats the last valid rate.
    Repeated,
}

/// What is sent again in recovery for want of anything else to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RescuePlan {
    /// Nothing.
    #[default]
    None,
    /// What is missing below the highest packet selectively acknowledged.
    Rfc6675,
    /// Whatever is outstanding.
    Unbounded,
}

/// What a sender looks like whose send buffer is all in flight, below its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullSendBufferPlan {
    /// Limited by the application.
    #[default]
    AppLimited,
    /// Limited by the network.
    NetworkLimited,
}

/// What a sender looks like that has sent all its application has written, below its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdleApplicationPlan {
    /// Limited by the application.
    #[default]
    AppLimited,
    /// Limited by the network.
    NetworkLimited,
}

/// How proportional rate reduction counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProportionPlan {
    /// What is delivered.
    #[default]
    Rfc9937,
    /// A packet more for every ACK that only reports selectively, in 32 bits.
    Ns3,
}

/// What was in flight when a lost packet left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LostInFlightPlan {
    /// What was counted when it left.
    #[default]
    Counted,
    /// Less what has been moved from the head of its burst into the burst before.
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
