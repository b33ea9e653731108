//! Transport options of loss detection and recovery.

use super::range::{Check, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::{LossDetection, SenderConfig};

const MILLISECOND_NS: u64 = 1_000_000;
const LONGEST_MIN_RTO_NS: u64 = 60_000 * MILLISECOND_NS;

/// Loss detection and recovery of a sender. The default is that of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecoveryPlan {
    /// Rule by which packets are marked lost.
    pub loss_detection: LossDetectionPlan,
    /// Least difference between the retransmission timeout and the smoothed RTT.
    pub min_rto_ns: u64,
    /// Whether the sender sends tail loss probes.
    pub tail_loss_probe: bool,
    /// Whether a window reduction that turns out to be spurious is undone.
    pub undo: bool,
}

/// Rule by which packets are marked lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossDetectionPlan {
    /// Sending times (RACK, RFC 8985).
    #[default]
    Rack,
    /// Three duplicate ACKs (RFC 6675).
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
