//! Options of a transport in the plan.

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
    /// Whether those headers bear timestamps.
    pub timestamps: bool,
    /// When the receiver acknowledges.
    pub ack: AckPlan,
    /// Whether the receiver compresses selective acknowledgements.
    pub sack_compression: bool,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Send buffer, payload; `None`: what the memory is good for.
    pub send_buffer_bytes: Option<u64>,
    /// Receive window; `None`: what the memory is good for.
    pub receive_buffer_bytes: Option<u64>,
    /// Memory of the sender's socket; `None`: 64 KiB at first, as in the guest of the Linux engine, and without end; all is
    /// written at once by a host that does not segment later.
    #[serde(default)]
    pub send_memory: Option<MemoryPlan>,
    /// Memory of the receiver's socket; `None`: never limits, and opens its window as the guest of the Linux engine.
    #[serde(default)]
    pub receive_memory: Option<MemoryPlan>,
    /// Whether to pace algorithms that do not need pacing.
    pub pacing: PacingPlan,
    /// Longest burst of segmentation offload; 0: single packets.
    pub max_burst_bytes: u32,
    /// Smallest burst in packets; `None`: that of the algorithm.
    pub min_burst_packets: Option<u32>,
    /// Time for which arriving packets are collected and merged; 0: each is looked at when it arrives. `None`: so it is, but a
    /// receiver that acknowledges as Linux, in a station behind a queue `mac80211`, merges what arrives at one time.
    pub gro_ns: Option<u64>,
    /// Whether what waits in its host limits a sender, where the host tells: in a network interface, and in the queue
    /// `mac80211` of a Wi-Fi cell.
    #[serde(default = "yes")]
    pub small_queues: bool,
    /// Bursts, and what may wait in the host, last for 2^-n seconds at the pacing rate; `None`: n is 10, behind a queue
    /// `mac80211` 7.
    #[serde(default)]
    pub pacing_shift: Option<u32>,
    /// Whether packets may be marked instead of dropped, and how the receiver tells of it.
    pub ecn: EcnPlan,
    /// How losses are found.
    #[serde(default)]
    pub recovery: RecoveryPlan,
    /// With AccECN every packet but the SYN bears its option, whose 12 bytes come out of the payload.
    #[serde(default = "yes")]
    pub accecn_option: bool,
    /// What is done otherwise than Linux does it.
    #[serde(default)]
    pub quirks: QuirksPlan,
}

impl TcpPlan {
    /// The options that Linux has on Ethernet: 1448 bytes of payload with timestamps in 66 bytes of headers, and buffers
    /// that grow without end.
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

/// When the receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AckPlan {
    /// As Linux does.
    Linux {},
    /// Every so many packets, or after a timeout.
    Every {
        /// Packets per acknowledgement.
        packets: u32,
        /// Longest delay.
        timeout_ns: u64,
    },
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected true, false or \"accecn\"")]
pub enum EcnPlan {
    /// `false`: not at all. `true`: with the feedback that the algorithm wants, which is RFC 3168's for most.
    Negotiated(bool),
    /// With a feedback by name.
    Feedback(EcnFeedback),
}

/// A feedback that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EcnFeedback {
    /// AccECN (RFC 9768), whatever the algorithm.
    Accecn,
}

/// Whether to pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacingPlan {
    /// When the algorithm needs it.
    Auto,
    /// Always.
    Always,
    /// Always, by `sch_fq` at the host.
    Fq,
}
