//! Counters of a sender, and its state at one moment.

use congestion::CaState;
use std::ops::AddAssign;
use units::{Duration, Rate};

/// Counters since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Payload bytes sent, retransmissions included.
    pub sent_bytes: u64,
    /// Data packets retransmitted.
    pub retransmitted_packets: u64,
    /// Packets marked lost, including packets that arrived after all.
    pub lost_packets: u64,
    /// Packets that the receiver has reported as CE-marked.
    pub marked_packets: u64,
    /// Payload bytes cumulatively acknowledged.
    pub acked_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

impl AddAssign for SenderStats {
    fn add_assign(&mut self, other: SenderStats) {
        self.sent_packets += other.sent_packets;
        self.sent_bytes += other.sent_bytes;
        self.retransmitted_packets += other.retransmitted_packets;
        self.lost_packets += other.lost_packets;
        self.marked_packets += other.marked_packets;
        self.acked_bytes += other.acked_bytes;
        self.timeouts += other.timeouts;
    }
}

/// The state of a sender at one moment, for traces.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// Congestion window, packets.
    pub cwnd: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Smallest RTT of the last five minutes.
    pub min_rtt: Option<Duration>,
    /// Pacing rate, if the flow is paced.
    pub pacing_rate: Option<Rate>,
    /// The last delivery-rate sample, payload only.
    pub delivery_rate: Option<Rate>,
    /// State of loss recovery.
    pub state: CaState,
}

/// The counters by which Linux describes a sender (`tcp_info`), in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Congestion window (`tcpi_snd_cwnd`).
    pub cwnd: u32,
    /// Slow-start threshold (`tcpi_snd_ssthresh`); `u32::MAX` before the first reduction.
    pub ssthresh: u32,
    /// State of loss recovery (`tcpi_ca_state`).
    pub state: CaState,
    /// Outstanding packets (`tcpi_unacked`).
    pub unacked: u32,
    /// Outstanding packets that are SACKed (`tcpi_sacked`).
    pub sacked: u32,
    /// Outstanding packets that are marked lost (`tcpi_lost`).
    pub lost: u32,
    /// Retransmissions in the network (`tcpi_retrans`).
    pub retrans: u32,
    /// Reordering degree (`tcpi_reordering`).
    pub reordering: u32,
}
