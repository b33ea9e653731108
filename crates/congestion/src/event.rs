//! Events: what a transport tells an algorithm, and what the algorithm answers.
//!
//! Windows and counts are in packets of one MSS, as in Linux.

use crate::Window;
use units::{Duration, Rate, Time};

/// Where the transport stands with loss recovery (Linux `tcp_ca_state`; RFC 5681, RFC 6675).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Nothing suspicious.
    #[default]
    Open,
    /// Selective acknowledgements have arrived, nothing is known to be lost.
    Disorder,
    /// The window is being reduced because of an ECN mark or a repaired tail loss.
    Cwr,
    /// Lost packets are being retransmitted.
    Recovery,
    /// The retransmission timer fired.
    Loss,
}

/// A congestion episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Packets were found lost; fast recovery begins.
    Loss,
    /// A tail loss probe repaired a loss: the episode is over as soon as it is known (RFC 8985 section 7.4.2).
    TailLoss {
        /// The packet that was lost had been sent while the application was the limit.
        app_limited: bool,
    },
    /// A congestion mark was echoed.
    Ecn,
    /// The algorithm itself asked for a reduction ([`Control::reduce`]).
    Delay,
    /// The retransmission timer fired. The transport has moved cwnd with `set_cwnd` by the time recovery
    /// proceeds; `first` is false for back-to-back timeouts of one episode, which do not reduce again.
    Timeout {
        /// First timeout of its episode.
        first: bool,
    },
}

/// What to go back to when an episode was spurious.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    /// cwnd when the episode began.
    pub prior_cwnd: u32,
    /// ssthresh when the episode began; 0 if a mark since then forbids restoring it.
    pub prior_ssthresh: u32,
}

/// One delivery-rate sample (draft-ietf-ccwg-bbr section 4.1; Linux `net/ipv4/tcp_rate.c`).
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Packets delivered over `interval`.
    pub delivered: u32,
    /// The longer of the send phase and the ACK phase of the sampled flight. `None` if it is shorter than the smallest
    /// RTT (it was a retransmission's original that arrived): then the sample says nothing of the bandwidth.
    pub interval: Option<Duration>,
    /// The sampled packet was sent while the application, not the network, was the limit.
    pub app_limited: bool,
    /// `Path::delivered` when the sampled packet was sent.
    pub prior_delivered: u64,
    /// Packets found lost since the sampled packet was sent.
    pub lost: u32,
    /// Packets reported CE-marked since the sampled packet was sent.
    pub marked: u32,
    /// Packets in flight just after the sampled packet was sent, itself included.
    pub tx_in_flight: u32,
}

/// A packet just deemed lost.
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// Its number, to tell one hole from several.
    pub number: u64,
    /// Packets in flight just after it was last sent, itself included.
    pub tx_in_flight: u32,
    /// Packets found lost since it was last sent, itself included.
    pub lost: u32,
    /// It was sent while the application, not the network, was the limit.
    pub app_limited: bool,
}

/// One digested acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Packets newly acknowledged, cumulatively or selectively.
    pub acked: u32,
    /// Packets cumulatively acknowledged, those delivered selectively before included (Linux `pkts_acked`).
    pub cumulative: u32,
    /// Packets newly found lost.
    pub lost: u32,
    /// Packets newly reported CE-marked: as counted by accurate feedback, else all that an ACK with ECN-Echo
    /// acknowledges (as Linux's `delivered_ce`).
    pub marked: u32,
    /// RTT of the most recently sent packet that this ACK covers and that was never retransmitted.
    pub rtt: Option<Duration>,
    /// Time the data packet that arrived last before this ACK was sent had been on its way to the receiver, to the
    /// microsecond, both ends reading the same clock; none if the transport does not know.
    pub one_way_delay: Option<Duration>,
    /// The ACK looks as if a delayed-ACK timer had held it back, so `rtt` may be too long.
    pub delayed: bool,
    /// Where loss recovery stood before this ACK was digested.
    pub prior_state: CaState,
    /// Packets in flight before this ACK was digested.
    pub prior_in_flight: u32,
    /// The transport would let a window algorithm grow now: not reducing, and data was acknowledged.
    pub may_grow: bool,
    /// The cumulative acknowledgement advanced.
    pub advanced: bool,
    /// Every packet below this number has been acknowledged, for algorithms that count rounds by sequence.
    pub una: u64,
    /// The delivery-rate sample, if this ACK delivered anything.
    pub rate: Option<RateSample>,
    /// The ACK reaches the end of a repeated tail loss probe, and it is not known yet whether the original had arrived.
    pub acks_probe: bool,
}

impl Ack {
    /// The delivery-rate sample and its interval, if it says something of the bandwidth.
    pub fn bandwidth_sample(&self) -> Option<(&RateSample, Duration)> {
        self.rate.as_ref().and_then(|sample| Some((sample, sample.interval?)))
    }
}

/// The transport's view of the path, valid during one call.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Now.
    pub now: Time,
    /// Payload bytes of a full packet, with what options that come and go take of it: rates are reckoned in it (Linux
    /// `mss_cache`).
    pub mss: u32,
    /// Where loss recovery stands.
    pub state: CaState,
    /// Smoothed RTT (RFC 6298), if any sample was taken.
    pub srtt: Option<Duration>,
    /// Smallest RTT of the last five minutes, if any sample was taken.
    pub min_rtt: Option<Duration>,
    /// Packets in flight: sent, not acknowledged, not deemed lost.
    pub in_flight: u32,
    /// Packets sent and not cumulatively acknowledged, whatever became of them.
    pub packets_out: u32,
    /// Number of the next packet never sent before, for algorithms that count rounds by sequence.
    pub next: u64,
    /// Packets delivered since the start.
    pub delivered: u64,
    /// When `delivered` last changed.
    pub delivered_time: Time,
    /// Packets deemed lost since the start.
    pub lost: u64,
    /// Packets reported CE-marked since the start (see [`Ack::marked`]).
    pub marked: u64,
    /// ECN was negotiated: congestion may show as marks.
    pub ecn: bool,
    /// cwnd was what stopped the sender in the round just acknowledged, or slow start has not yet doubled what was in
    /// flight (Linux `tcp_is_cwnd_limited`); the latter not for algorithms that own recovery, unless they have slow start
    /// as well ([`Traits::slow_start`]).
    pub cwnd_limited: bool,
    /// The application has been the limit since the last rate sample bubble was opened.
    pub app_limited: bool,
    /// When pacing allows the next departure (may be in the past).
    pub next_departure: Time,
    /// The transport paces this flow.
    pub paced: bool,
    /// Rate the transport paces at, or would pace at: 2 or 1.2 windows per RTT unless the algorithm sets one.
    pub pacing_rate: Rate,
    /// Bytes one burst may hold at most (Linux `sk_gso_max_size`); what algorithms reckon with even where the sender
    /// is told to send single packets, as in Linux.
    pub max_burst_bytes: u32,
    /// Bursts last for 2^-n seconds at the pacing rate (Linux `sk_pacing_shift`): [`PACING_SHIFT`], on Wi-Fi 7.
    pub pacing_shift: u32,
}

/// Bursts last for about a millisecond (Linux `sk_pacing_shift`).
pub const PACING_SHIFT: u32 = 10;

/// A burst was handed to the network.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Packets in the burst.
    pub packets: u32,
    /// Nothing was in flight before it.
    pub from_idle: bool,
    /// Time since the burst before it.
    pub gap: Duration,
}

/// What an algorithm allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// Congestion window in packets.
    pub cwnd: u32,
    /// Slow-start threshold in packets; `u32::MAX` if none was ever set. Reduction by the transport aims here.
    pub ssthresh: u32,
    /// Rate to pace at, if the algorithm sets one. `None` leaves pacing to the transport.
    pub pacing_rate: Option<Rate>,
    /// Smallest burst worth sending, in packets (Linux `min_tso_segs`).
    pub min_burst: u32,
    /// Largest burst wanted, in packets; `u32::MAX` leaves it to the transport.
    pub max_burst: u32,
    /// Mark what is sent from now on as application-limited (BBR does while it probes for the RTT).
    pub hide_samples: bool,
    /// Asks the transport to begin an episode ([`Congestion::Delay`]) and reduce, as Linux's `tcp_enter_cwr` does. Looked
    /// at after every [`on_ack`](crate::CongestionControl::on_ack) and granted unless an episode is under way already;
    /// never undone. The algorithm takes the request back in `on_congestion`, or in its next `on_ack`.
    pub reduce: bool,
}

impl Control {
    /// What an algorithm allows that has only a window.
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

/// Who brings the window down and back up during loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// The transport, by proportional rate reduction (RFC 9937) towards `Control::ssthresh`.
    #[default]
    Transport,
    /// The algorithm (Linux `cong_control`).
    Algorithm,
}

/// What an algorithm does with ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// As RFC 3168 says: a mark is like a loss, once per round. Sends ECT(0).
    #[default]
    Classic,
    /// Wants every mark echoed at once (DCTCP, RFC 8257). Sends ECT(0).
    EveryMark,
    /// Expects marks early and wants them counted (L4S, RFC 9330; AccECN, RFC 9768). Sends ECT(1).
    L4s,
}

/// What an algorithm needs from its transport. The default suits algorithms that only have a window. `ecn` is read before
/// the handshake; the rest may depend on what that negotiated, and is final once `on_established` returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Who owns the window in recovery.
    pub recovery: Recovery,
    /// What ECN means to it.
    pub ecn: EcnMode,
    /// It must be paced.
    pub needs_pacing: bool,
    /// `on_send` is wanted for every burst, not only for those that end an idle time.
    pub watches_sends: bool,
    /// Its window grows even while it is not used: a peculiarity, kept where the source has it.
    pub grows_unused: bool,
    /// `on_lost` is wanted for every packet deemed lost.
    pub watches_losses: bool,
    /// Pauses of the application are looked for before every ACK and timer, too, not only when it writes: a packet sent again
    /// after one is application-limited, then (draft-ietf-ccwg-bbr section 4.1.1.3; Google's Linux for BBRv2 and v3).
    pub watches_pauses: bool,
    /// It owns recovery and yet is in slow start below its threshold.
    pub slow_start: bool,
    /// Its send buffer is good for three windows instead of two (Linux `sndbuf_expand`, which the BBRs have).
    pub buffers_three_windows: bool,
}
