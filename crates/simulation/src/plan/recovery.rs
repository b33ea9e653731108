//! Options of a transport: how losses are found.

use super::range::{Check, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::{LossDetection, SenderConfig};

const MILLISECOND_NS: u64 = 1_000_000;
const LONGEST_MIN_RTO_NS: u64 = 60_000 * MILLISECOND_NS;

/// How a sender finds out that packets are lost. What is left out is as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecoveryPlan {
    /// By what.
    pub loss_detection: LossDetectionPlan,
    /// The retransmission timeout is at least so much longer than the smoothed RTT.
    pub min_rto_ns: u64,
    /// Whether it probes for losses at the end of a flight.
    pub tail_loss_probe: bool,
    /// Whether it takes a reduction back that turns out to be spurious.
    pub undo: bool,
}

/// By what losses are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossDetectionPlan {
    /// The time at which packets were sent (RFC 8985).
    #[default]
    Rack,
    /// Three duplicates (RFC 6675).
    Dupack,
}

impl Default for RecoveryPlan {
    fn default() -> RecoveryPlan {
        let SenderConfig { min_rto, tail_loss_probe, undo, .. } = SenderConfig::default();
        let loss_detection = LossDetectionPlan::default();
        RecoveryPlan { loss_detection, min_rto_ns: min_rto.as_nanos(), tail_loss_probe, undo }
    }
}

impl RecoveryPlan {
    pub(super) fn check(&self, path: &str) -> Check {
        within(format!("{path}.min_rto_ns"), self.min_rto_ns, MILLISECOND_NS..=LONGEST_MIN_RTO_NS)
    }
}

impl From<LossDetectionPlan> for LossDetection {
    fn from(plan: LossDetectionPlan) -> LossDetection {
        match plan {
            LossDetectionPlan::Rack => LossDetection::Rack,
            LossDetectionPlan::Dupack => LossDetection::DupAck,
        }
    }
}
