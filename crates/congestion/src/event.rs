//! Events that a transport reports to an algorithm, and the outputs of the algorithm.
//!
//! Windows and counts are in packets of one MSS, as in Linux.

use crate::Window;
use units::{Duration, Rate, Time};

/// State of loss recovery in the transport (Linux `tcp_ca_state`; RFC 5681, RFC 6675).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Normal operation.
    #[default]
    Open,
    /// Packets are SACKed, but none is marked lost.
    Disorder,
    /// The window is being reduced, after an ECN mark or after a tail loss that a tail loss probe repaired.
    Cwr,
    /// Lost packets are being retransmitted.
    Recovery,
    /// The retransmission timer fired.
    Loss,
}

/// A congestion episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Packets were marked lost; fast recovery begins.
    Loss,
    /// A tail loss probe repaired a loss (RFC 8985 section 7.4.2). The episode ends as soon as the loss is
    /// detected.
    TailLoss {
        /// Whether the lost packet was sent while the flow was app-limited.
        app_limited: bool,
    },
    /// The receiver echoed a congestion mark.
    Ecn,
    /// The algorithm itself requested a reduction ([`Control::reduce`]).
    Delay,
    /// The retransmission timer fired. The transport calls `set_cwnd` before its next transmission. `first` is
    /// false for repeated timeouts of one episode, which do not reduce the window again.
    Timeout {
        /// Whether the timeout is the first of its episode.
        first: bool,
    },
}

/// State to restore if an episode was spurious.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    /// Congestion window when the episode began, packets.
    pub prior_cwnd: u32,
    /// Slow-start threshold when the episode began, packets; 0 if an ECN mark since then forbids restoring the
    /// threshold.
    pub prior_ssthresh: u32,
}

/// One delivery-rate sample (draft-ietf-ccwg-bbr section 4.1; Linux `net/ipv4/tcp_rate.c`).
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Packets delivered over `interval`.
    pub delivered: u32,
    /// The longer of the send phase and the ACK phase of the sampled flight. `None` if this time is shorter than
    /// the smallest RTT. The ACK is then for the original of a retransmitted packet, so the sample gives no
    /// bandwidth.
    pub interval: Option<Duration>,
    /// Whether the sampled packet was sent while the flow was app-limited.
    pub app_limited: bool,
    /// `Path::delivered` when the sampled packet was sent.
    pub prior_delivered: u64,
    /// Packets marked lost since the sampled packet was sent.
    pub lost: u32,
    /// Packets reported CE-marked since the sampled packet was sent.
    pub marked: u32,
    /// Packets in flight just after the sampled packet was sent, including the sampled packet.
    pub tx_in_flight: u32,
}

/// A packet just marked lost.
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// Packet number. Lost packets with consecutive numbers are one hole.
    pub number: u64,
    /// Packets in flight just after the packet was last sent, including the packet itself.
    pub tx_in_flight: u32,
    /// Packets marked lost since the packet was last sent, including the packet itself.
    pub lost: u32,
    /// Whether the packet was last sent while the flow was app-limited.
    pub app_limited: bool,
}

/// One processed ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Packets newly acknowledged, cumulatively or selectively.
    pub acked: u32,
    /// Packets cumulatively acknowledged, including packets SACKed earlier (Linux `pkts_acked`).
    pub cumulative: u32,
    /// Packets newly marked lost.
    pub lost: u32,
    /// Packets newly reported CE-marked. With AccECN the receiver counts these packets. Without AccECN the count
    /// is all packets that an ACK with ECN-Echo acknowledges (Linux `delivered_ce`).
    pub marked: u32,
    /// RTT of the most recently sent packet that this ACK covers and that was never retransmitted.
    pub rtt: Option<Duration>,
    /// One-way delay of the last data packet that arrived before this ACK was sent, in whole microseconds. The
    /// sender and the receiver use the same clock. `None` if the transport does not measure the delay.
    pub one_way_delay: Option<Duration>,
    /// Whether a delayed-ACK timer may have held the ACK back, so that `rtt` may be too long.
    pub delayed: bool,
    /// State of loss recovery before this ACK.
    pub prior_state: CaState,
    /// Packets in flight before this ACK.
    pub prior_in_flight: u32,
    /// Whether the transport lets a window algorithm grow the window now: no reduction is under way, and data was
    /// acknowledged.
    pub may_grow: bool,
    /// Whether the cumulative acknowledgement advanced.
    pub advanced: bool,
    /// Number of the first packet not yet acknowledged, for algorithms that count rounds by packet number.
    pub una: u64,
    /// The delivery-rate sample, if this ACK reports newly delivered packets.
    pub rate: Option<RateSample>,
    /// Whether the ACK covers the end of a tail loss probe that was a retransmission. The sender does not yet
    /// know whether the original packet arrived.
    pub acks_probe: bool,
}

impl Ack {
    /// The delivery-rate sample and its interval, if the sample has an interval.
    pub fn bandwidth_sample(&self) -> Option<(&RateSample, Duration)> {
        self.rate.as_ref().and_then(|sample| Some((sample, sample.interval?)))
    }
}

/// The transport's view of the path, valid during one call.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Time of the call.
    pub now: Time,
    /// Payload in bytes of a full packet that has none of the options that only some packets have (Linux
    /// `mss_cache`). Rates are computed with this size.
    pub mss: u32,
    /// State of loss recovery.
    pub state: CaState,
    /// Smoothed RTT (RFC 6298), if any sample was taken.
    pub srtt: Option<Duration>,
    /// Smallest RTT of the last five minutes, if any sample was taken.
    pub min_rtt: Option<Duration>,
    /// Packets in flight: sent, not acknowledged, not marked lost.
    pub in_flight: u32,
    /// Packets sent and not cumulatively acknowledged, including packets SACKed or marked lost.
    pub packets_out: u32,
    /// Number of the next new packet, for algorithms that count rounds by packet number.
    pub next: u64,
    /// Packets delivered since the flow started.
    pub delivered: u64,
    /// When `delivered` last changed.
    pub delivered_time: Time,
    /// Packets marked lost since the flow started.
    pub lost: u64,
    /// Packets reported CE-marked since the flow started (see [`Ack::marked`]).
    pub marked: u64,
    /// Whether ECN was negotiated, so that marks may report congestion.
    pub ecn: bool,
    /// Whether cwnd stopped the sender in the round just acknowledged, or slow start has not yet doubled the packets
    /// outstanding (Linux `tcp_is_cwnd_limited`). The condition on slow start applies only if the transport owns
    /// the window in recovery or [`Traits::slow_start`] is set.
    pub cwnd_limited: bool,
    /// Whether packets sent now are app-limited.
    pub app_limited: bool,
    /// Earliest time of the next departure that pacing allows (may be in the past).
    pub next_departure: Time,
    /// Whether the transport paces this flow.
    pub paced: bool,
    /// Pacing rate of the transport, even if the transport does not pace. If the algorithm sets no rate, the
    /// pacing rate is 2 windows per RTT in early slow start, and 1.2 windows per RTT later.
    pub pacing_rate: Rate,
    /// Largest burst, bytes (Linux `sk_gso_max_size`). As in Linux, algorithms use this value even if the sender is
    /// configured to send single packets.
    pub max_burst_bytes: u32,
    /// Exponent n of the duration of a burst, which is 2^-n seconds at the pacing rate (Linux `sk_pacing_shift`).
    /// The value is [`PACING_SHIFT`], or 7 on Wi-Fi.
    pub pacing_shift: u32,
}

/// Default of [`Path::pacing_shift`]: bursts last for about a millisecond (Linux `sk_pacing_shift`).
pub const PACING_SHIFT: u32 = 10;

/// A burst passed to the network.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Packets in the burst.
    pub packets: u32,
    /// Whether no packet was in flight before the burst.
    pub from_idle: bool,
    /// Time since the preceding burst.
    pub gap: Duration,
}

/// Outputs of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// Congestion window in packets.
    pub cwnd: u32,
    /// Slow-start threshold in packets; `u32::MAX` if it was never set. The transport reduces the window to the
    /// threshold.
    pub ssthresh: u32,
    /// Pacing rate, if the algorithm sets a rate. `None` leaves the rate to the transport.
    pub pacing_rate: Option<Rate>,
    /// Smallest burst, in packets (Linux `min_tso_segs`).
    pub min_burst: u32,
    /// Largest burst, in packets; `u32::MAX` leaves the limit to the transport.
    pub max_burst: u32,
    /// Whether to mark packets sent from now on as app-limited, as BBR does in PROBE_RTT.
    pub hide_samples: bool,
    /// Whether the transport must begin an episode ([`Congestion::Delay`]) and reduce the window, as Linux's
    /// `tcp_enter_cwr` does. The transport reads this flag after every [`on_ack`](crate::CongestionControl::on_ack)
    /// and ignores it during an episode. The reduction is never undone. The algorithm clears the flag in
    /// `on_congestion`, or in its next `on_ack`.
    pub reduce: bool,
}

impl Control {
    /// Create the outputs of an algorithm that sets only a window.
    pub fn window(window: &Window) -> Control {
        Control {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            pacing_rate: None,
            min_burst: 2,
            max_burst: u32::MAX,
            hide_samples: false,
            reduce: false,
        }
    }
}

/// Owner of the window during loss recovery: the transport or the algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// The transport sets the window, by proportional rate reduction (RFC 9937) towards `Control::ssthresh`.
    #[default]
    Transport,
    /// The algorithm sets the window (Linux `cong_control`).
    Algorithm,
}

/// Use of ECN by an algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// Classic ECN (RFC 3168): a mark counts as a loss, once per round trip. The sender sets ECT(0).
    #[default]
    Classic,
    /// DCTCP (RFC 8257): the receiver echoes every mark immediately. The sender sets ECT(0).
    EveryMark,
    /// L4S (RFC 9330): routers mark at a short queue, and the receiver counts the marks (AccECN, RFC 9768). The sender
    /// sets ECT(1).
    L4s,
}

/// Requirements of an algorithm for its transport. The default suits algorithms that set only a window. The
/// transport reads `ecn` before the handshake. The other fields may depend on the negotiated options, and are
/// final once `on_established` returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Owner of the window during loss recovery.
    pub recovery: Recovery,
    /// Use of ECN.
    pub ecn: EcnMode,
    /// Whether the flow must be paced.
    pub needs_pacing: bool,
    /// Whether `on_send` is called for every burst, not only for bursts that end an idle time.
    pub watches_sends: bool,
    /// Whether the window grows even while the flow does not fill the window, as in the published code of some
    /// algorithms.
    pub grows_unused: bool,
    /// Whether `on_lost` is called for every packet marked lost.
    pub watches_losses: bool,
    /// Whether the transport checks for pauses of the application before every ACK and timer, not only when the
    /// application writes. A packet retransmitted after a pause is then marked as app-limited
    /// (draft-ietf-ccwg-bbr section 4.1.1.3; Google's Linux for BBRv2 and v3).
    pub watches_pauses: bool,
    /// Whether the algorithm sets the window in recovery and nevertheless has slow start below its threshold.
    pub slow_start: bool,
    /// Whether the send buffer holds three windows instead of two (Linux `sndbuf_expand`, which BBR modules define).
    pub buffers_three_windows: bool,
}
