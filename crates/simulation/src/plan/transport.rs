//! Transport options of a plan.

use super::{MemoryPlan, QuirksPlan, RecoveryPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of the transport.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpPlan {
    /// Payload of a full segment.
    pub mss_bytes: u32,
    /// Headers around the payload; also the size of a bare acknowledgement.
    pub overhead_bytes: u32,
    /// Whether the headers include TCP timestamps.
    pub timestamps: bool,
    /// Rule by which the receiver acknowledges.
    pub ack: AckPlan,
    /// Whether the receiver compresses selective acknowledgements.
    pub sack_compression: bool,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Send buffer, in payload; `None`: limited by `send_memory`.
    pub send_buffer_bytes: Option<u64>,
    /// Receive window; `None`: limited by `receive_memory`.
    pub receive_buffer_bytes: Option<u64>,
    /// Memory of the sender's socket; `None`: 64 KiB at the start, as in the guest of the Linux engine, and unlimited
    /// growth. Without segmentation offload `None` is an unlimited buffer from the start.
    #[serde(default)]
    pub send_memory: Option<MemoryPlan>,
    /// Memory of the receiver's socket; `None`: unlimited. The window then opens as in the guest of the Linux engine.
    #[serde(default)]
    pub receive_memory: Option<MemoryPlan>,
    /// Pacing of the flow.
    pub pacing: PacingPlan,
    /// Longest burst of segmentation offload; 0: single packets.
    pub max_burst_bytes: u32,
    /// Smallest burst in packets; `None`: that of the algorithm.
    pub min_burst_packets: Option<u32>,
    /// Time for which arriving packets are collected and merged (GRO); 0: never. `None`: 0, with one exception: a
    /// receiver in a station behind a queue `mac80211` that acknowledges as Linux does merges packets that arrive at
    /// the same time.
    pub gro_ns: Option<u64>,
    /// Whether bytes queued in its host limit a sender (TCP small queues), in a network interface or in the queue
    /// `mac80211` of a Wi-Fi cell.
    #[serde(default = "yes")]
    pub small_queues: bool,
    /// Bursts and the limit of bytes in the host last 2^-n seconds at the pacing rate; `None`: n is 7 behind a queue
    /// `mac80211`, otherwise 10.
    #[serde(default)]
    pub pacing_shift: Option<u32>,
    /// Explicit congestion notification and its feedback.
    pub ecn: EcnPlan,
    /// Loss detection and recovery.
    #[serde(default)]
    pub recovery: RecoveryPlan,
    /// Whether every packet but the SYN carries the AccECN option, if AccECN is used. Its 12 bytes reduce the payload.
    #[serde(default = "yes")]
    pub accecn_option: bool,
    /// Deviations from Linux.
    #[serde(default)]
    pub quirks: QuirksPlan,
}

impl TcpPlan {
    /// Options of Linux on Ethernet: 1448 bytes of payload, 66 bytes of headers with timestamps, and buffers that grow
    /// without limit.
    pub fn linux() -> TcpPlan {
        TcpPlan {
            mss_bytes: 1448,
            overhead_bytes: 66,
            timestamps: true,
            ack: AckPlan::Linux {},
            sack_compression: true,
            initial_window: 10,
            send_buffer_bytes: None,
            receive_buffer_bytes: None,
            send_memory: None,
            receive_memory: None,
            pacing: PacingPlan::Auto,
            max_burst_bytes: 65_536,
            min_burst_packets: None,
            gro_ns: None,
            small_queues: true,
            pacing_shift: None,
            ecn: EcnPlan::Negotiated(false),
            recovery: RecoveryPlan::default(),
            accecn_option: true,
            quirks: QuirksPlan::default(),
        }
    }
}

fn yes() -> bool {
    true
}

/// Rule by which the receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AckPlan {
    /// The rule of Linux.
    Linux {},
    /// An ACK after a number of packets, or after a timeout.
    Every {
        /// Packets per acknowledgement.
        packets: u32,
        /// Longest delay of an ACK.
        timeout_ns: u64,
    },
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected true, false or \"accecn\"")]
pub enum EcnPlan {
    /// `false`: no ECN. `true`: ECN with the feedback that the algorithm needs, for most that of RFC 3168.
    Negotiated(bool),
    /// ECN with a named feedback.
    Feedback(EcnFeedback),
}

/// Name of a feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EcnFeedback {
    /// AccECN (RFC 9768), for every algorithm.
    Accecn,
}

/// Pacing of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacingPlan {
    /// Pacing by the transport, if the algorithm needs pacing.
    Auto,
    /// Pacing by the transport.
    Always,
    /// Pacing by `sch_fq` at the host.
    Fq,
}
