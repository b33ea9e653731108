//! Settings of a sender.

use super::quirks::Quirks;
use crate::feedback::Feedback;
use crate::receiver::{LARGEST_BUFFER, ReceiveMemory};
use crate::wheel::TICK;
use congestion::PACING_SHIFT;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

/// Default of the least difference between the retransmission timeout and the smoothed RTT (`TCP_RTO_MIN`).
pub(super) const MIN_RTO: Duration = Duration::from_millis(200);
/// Descriptor of a burst (`sizeof(struct sk_buff)`), bytes.
const DESCRIPTION: u64 = 256;
/// Bytes of the timestamps option: the largest segment (`mss_clamp`) minus its payload.
const TIMESTAMPS: u64 = 12;

/// Settings of a sender.
#[derive(Clone, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Bytes of options that not every segment has. These bytes are already subtracted from `mss`. Rates are
    /// computed with `mss + option_bytes` (Linux `mss_cache`).
    pub option_bytes: u32,
    /// Initial window, packets.
    pub initial_window: u32,
    /// Bytes that the application offers when the sender is created; `None`: unlimited data.
    pub data: Option<u64>,
    /// Limit of unacknowledged data in the socket.
    pub send_buffer: SendBuffer,
    /// The layer that paces packets, and whether every algorithm is paced.
    pub pacing: Pacing,
    /// The NIC of the host, if the NIC reports departures; `None`: packets never wait in the host's NIC.
    pub nic: Option<Nic>,
    /// Bytes of the largest burst passed to the network as one unit (segmentation offload); 0: single packets.
    pub max_burst_bytes: u32,
    /// Exponent n of the limit of a burst and of data in the host: 2^-n seconds at the pacing rate
    /// (`sk_pacing_shift`).
    pub pacing_shift: u32,
    /// Smallest burst in packets, if data and window allow (sysctl tcp_min_tso_segs; 2 in Linux). The algorithm may
    /// request a larger smallest burst.
    pub min_burst: u32,
    /// ECN feedback by the receiver.
    pub ecn: Feedback,
    /// Method of loss detection.
    pub loss_detection: LossDetection,
    /// Least difference between the retransmission timeout and the smoothed RTT (`rto_min` of a route).
    pub min_rto: Duration,
    /// Whether to probe for losses at the end of a flight (sysctl tcp_early_retrans).
    pub tail_loss_probe: bool,
    /// Whether the window shrinks while it is not used (sysctl tcp_slow_start_after_idle).
    pub slow_start_after_idle: bool,
    /// Whether a short packet waits until the last short packet is acknowledged; false with TCP_NODELAY.
    pub nagle: bool,
    /// Tick of the host's clock, at which its timers fire; `None`: timers are exact.
    pub tick: Option<Duration>,
    /// Whether to undo a window reduction that turns out to be spurious.
    pub undo: bool,
    /// Whether segments have timestamps (RFC 7323). Without them, retransmissions give no RTT samples, and only DSACK and
    /// F-RTO show that a reduction was spurious.
    pub timestamps: bool,
    /// Deviations from Linux.
    pub quirks: Quirks,
    /// Whether the scoreboard saves memory at the cost of time. This setting never changes results.
    pub lean_records: bool,
}

impl Default for SenderConfig {
    /// Settings of Linux on Ethernet, with unlimited data.
    fn default() -> SenderConfig {
        SenderConfig {
            mss: 1448,
            option_bytes: 0,
            initial_window: 10,
            data: None,
            send_buffer: SendBuffer::Unlimited,
            pacing: Pacing::Auto,
            nic: None,
            max_burst_bytes: 65_536,
            pacing_shift: PACING_SHIFT,
            min_burst: 1,
            ecn: Feedback::Off,
            loss_detection: LossDetection::default(),
            min_rto: MIN_RTO,
            tail_loss_probe: true,
            slow_start_after_idle: true,
            nagle: true,
            tick: Some(TICK),
            undo: true,
            timestamps: true,
            quirks: Quirks::default(),
            lean_records: false,
        }
    }
}

impl SenderConfig {
    /// Payload of a full segment plus the bytes of options that not every segment has. Rates and memory are
    /// computed with this size.
    pub(super) fn largest_segment(&self) -> u32 {
        self.mss + self.option_bytes
    }
}

/// The layer that paces packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// The transport paces if the algorithm needs pacing. Otherwise bursts are not paced.
    #[default]
    Auto,
    /// The transport paces every algorithm (SO_MAX_PACING_RATE; the same rates as with `sch_fq`).
    Always,
    /// The qdisc `sch_fq` of the host paces every algorithm. The transport passes packets to `sch_fq` up to a
    /// millisecond before their departure.
    Fq,
}

/// The network interface of a host. It reports departures to the sender ([`Sender::on_left_host`](crate::Sender::on_left_host)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nic {
    /// Bytes of headers around the payload of a data packet on the wire.
    pub header_bytes: u32,
}

/// Method of loss detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LossDetection {
    /// RACK: a packet is marked lost by its send time, with a reordering timer (RFC 8985).
    #[default]
    Rack,
    /// A packet is marked lost after three duplicate ACKs (RFC 6675).
    DupAck,
}

/// Memory of a sender's socket, and the overhead of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendMemory {
    /// Initial size (`tcp_wmem[1]`).
    pub first: Bytes,
    /// Maximum size (`tcp_wmem[2]`).
    pub most: Bytes,
    /// Memory per burst beside its payload: head and descriptor (`skb->truesize` less the payload).
    pub per_packet: Bytes,
}

impl Default for SendMemory {
    /// Initial memory of 64 KiB, as in the guest of the Linux engine, and a maximum that is never a limit. In
    /// that guest, a sent burst has the same overhead as a received packet.
    fn default() -> SendMemory {
        let per_packet = ReceiveMemory::default().per_packet;
        SendMemory { first: Bytes::new(64 << 10), most: Bytes::new(LARGEST_BUFFER), per_packet }
    }
}

impl SendMemory {
    /// Memory of a packet with its own head. The size of the head is rounded up to a power of two.
    pub(super) fn per_segment(&self, mss: u64) -> u64 {
        let head = mss + TIMESTAMPS + self.per_packet.get().saturating_sub(DESCRIPTION);
        head.next_power_of_two() + DESCRIPTION
    }
}

/// Limit on data that a sender holds until it is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendBuffer {
    /// No limit: the application never waits for room.
    #[default]
    Unlimited,
    /// Limit on the payload bytes sent and not acknowledged, whatever memory the packets take.
    Payload(Bytes),
    /// Limit on the memory for written data that is not acknowledged.
    Memory(SendMemory),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_good_for_packets_that_each_have_a_head() {
        let per_segment = |per_packet| {
            let [first, most, per_packet] = [16 << 10, 4 << 20, per_packet].map(Bytes::new);
            SendMemory { first, most, per_packet }.per_segment(1448)
        };
        assert_eq!(per_segment(832), 2_304);
        assert_eq!(per_segment(960), 4_352, "in Linux, twenty segments take 87,040 bytes");
    }
}
