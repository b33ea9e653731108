//! Events for algorithms written in Python: the types of the `congestion` crate, with times in seconds.

use congestion::{CaState, Congestion};
use pyo3::prelude::*;
use units::{Duration, Time};

/// Declares a frozen Python class with these fields. Each field has a default, so that tests set only the fields that
/// matter.
macro_rules! event {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $field_doc:literal])* $field:ident: $type:ty = $default:tt $(.$owned:ident())?,)* }) => {
        $(#[doc = $doc])*
        #[pyclass(module = "fullpipe.algorithms", frozen, get_all, from_py_object)]
        #[derive(Clone, Debug)]
        pub struct $name { $($(#[doc = $field_doc])* pub $field: $type,)* }

        #[pymethods]
        impl $name {
            #[new]
            #[allow(clippy::too_many_arguments, reason = "one keyword per field")]
            #[pyo3(signature = (*, $($field = $default $(.$owned())?),*))] // tokens, so that PyO3 shows the values
            fn new($($field: $type),*) -> $name { $name { $($field),* } }

            fn __repr__(&self) -> String { format!("{self:?}") }
        }
    };
}

event! {
    /// A delivery-rate sample.
    RateSample {
        /// Packets delivered over the interval.
        delivered: u32 = 0,
        /// Length of the interval in seconds; None if the sample has no rate.
        interval_s: Option<f64> = None,
        /// Packets per second; None without an interval.
        packets_per_s: Option<f64> = None,
        /// Whether the sampled packet was sent while the application limited the sender.
        app_limited: bool = false,
        /// `Path.delivered` when the sampled packet was sent.
        prior_delivered: u64 = 0,
        /// Packets marked lost since the sampled packet was sent.
        lost: u32 = 0,
        /// Packets reported CE-marked since the sampled packet was sent.
        marked: u32 = 0,
        /// Packets in flight just after the sampled packet was sent, itself included.
        tx_in_flight: u32 = 0,
    }
}

event! {
    /// Report of all ACKs of a round trip, or of a single ACK if the class sets `per_ack`.
    Ack {
        /// Number of ACKs in this report.
        acks: u32 = 1,
        /// Packets newly acknowledged.
        acked: u32 = 0,
        /// Packets newly marked lost.
        lost: u32 = 0,
        /// Packets newly reported CE-marked.
        marked: u32 = 0,
        /// Number of RTT samples in `rtt_min_s`, `rtt_mean_s` and `rtt_max_s`.
        rtts: u32 = 0,
        /// Last RTT sample in seconds.
        rtt_s: Option<f64> = None,
        /// Smallest RTT sample in seconds.
        rtt_min_s: Option<f64> = None,
        /// Mean RTT sample in seconds.
        rtt_mean_s: Option<f64> = None,
        /// Largest RTT sample in seconds.
        rtt_max_s: Option<f64> = None,
        /// One-way delay of the last packet in seconds.
        one_way_delay_s: Option<f64> = None,
        /// Whether the last RTT may be too long, as a delayed-ACK timer seems to have delayed the ACK.
        delayed: bool = false,
        /// Packets in flight before the last ACK.
        prior_in_flight: u32 = 0,
        /// Whether a window-based algorithm may grow its window.
        may_grow: bool = true,
        /// Whether the cumulative acknowledgement advanced.
        advanced: bool = true,
        /// First packet that is not cumulatively acknowledged.
        una: u64 = 0,
        /// Delivery-rate sample; for a round trip, the sample with the highest rate.
        rate: Option<RateSample> = None,
    }
}

event! {
    /// State of the path and of the sender at the time of an event.
    Path {
        /// Simulated time in seconds.
        now_s: f64 = 0.0,
        /// Payload of a full packet, bytes.
        mss: u32 = 1448,
        /// State of loss recovery: "open", "disorder", "cwr", "recovery" or "loss".
        state: String = "open".to_owned(),
        /// Smoothed RTT in seconds.
        srtt_s: Option<f64> = None,
        /// Smallest RTT of the last five minutes in seconds.
        min_rtt_s: Option<f64> = None,
        /// Packets in flight.
        in_flight: u32 = 0,
        /// Packets sent and not cumulatively acknowledged.
        packets_out: u32 = 0,
        /// Sequence number of the next new packet, counted in packets.
        next: u64 = 0,
        /// Packets delivered since the start.
        delivered: u64 = 0,
        /// Packets marked lost since the start.
        lost: u64 = 0,
        /// Packets reported CE-marked since the start.
        marked: u64 = 0,
        /// Whether ECN was negotiated.
        ecn: bool = false,
        /// Whether the congestion window limited the sender.
        cwnd_limited: bool = true,
        /// Whether the application limits the sender.
        app_limited: bool = false,
        /// Whether the flow is paced.
        paced: bool = false,
        /// Pacing rate of payload in bit/s.
        pacing_bps: u64 = 0,
        /// Largest burst in bytes.
        max_burst_bytes: u32 = 65_536,
    }
}

event! {
    /// Start of a congestion episode.
    Episode {
        /// Cause: "loss", "tail_loss", "ecn", "delay" (requested with `reduce`) or "timeout".
        kind: String = "loss".to_owned(),
        /// False for the second and later timeouts of an episode, after which the window must not be reduced again.
        first: bool = true,
    }
}

event! {
    /// State to restore after a spurious episode.
    Undo {
        /// Window at the start of the episode in packets.
        prior_cwnd: u32 = 0,
        /// Slow-start threshold at the start of the episode in packets; 0 if it must not be restored.
        prior_ssthresh: u32 = 0,
    }
}

event! {
    /// A burst that is about to be sent.
    Sent {
        /// Packets in the burst.
        packets: u32 = 1,
        /// Whether no packet was in flight before the burst.
        from_idle: bool = false,
        /// Time since the previous burst in seconds.
        gap_s: f64 = 0.0,
    }
}

event! {
    /// A packet that was just marked lost.
    LostPacket {
        /// Number of the packet.
        number: u64 = 0,
        /// Packets in flight just after the packet was sent.
        tx_in_flight: u32 = 0,
        /// Packets marked lost since the packet was sent, itself included.
        lost: u32 = 1,
        /// Whether the packet was sent while the application limited the sender.
        app_limited: bool = false,
    }
}

fn seconds(duration: Option<Duration>) -> Option<f64> {
    duration.map(Duration::as_secs_f64)
}

impl From<&congestion::RateSample> for RateSample {
    fn from(sample: &congestion::RateSample) -> Self {
        let interval_s = seconds(sample.interval);
        RateSample {
            delivered: sample.delivered,
            interval_s,
            packets_per_s: interval_s.map(|s| f64::from(sample.delivered) / s),
            app_limited: sample.app_limited,
            prior_delivered: sample.prior_delivered,
            lost: sample.lost,
            marked: sample.marked,
            tx_in_flight: sample.tx_in_flight,
        }
    }
}

impl From<&congestion::Path> for Path {
    fn from(path: &congestion::Path) -> Self {
        Path {
            now_s: path.now.as_secs_f64(),
            mss: path.mss,
            state: match path.state {
                CaState::Open => "open",
                CaState::Disorder => "disorder",
                CaState::Cwr => "cwr",
                CaState::Recovery => "recovery",
                CaState::Loss => "loss",
            }
            .to_owned(),
            srtt_s: seconds(path.srtt),
            min_rtt_s: seconds(path.min_rtt),
            in_flight: path.in_flight,
            packets_out: path.packets_out,
            next: path.next,
            delivered: path.delivered,
            lost: path.lost,
            marked: path.marked,
            ecn: path.ecn,
            cwnd_limited: path.cwnd_limited,
            app_limited: path.app_limited,
            paced: path.paced,
            pacing_bps: path.pacing_rate.bits_per_sec(),
            max_burst_bytes: path.max_burst_bytes,
        }
    }
}

impl From<Congestion> for Episode {
    fn from(congestion: Congestion) -> Self {
        let kind = match congestion {
            Congestion::Loss => "loss",
            Congestion::TailLoss { .. } => "tail_loss",
            Congestion::Ecn => "ecn",
            Congestion::Delay => "delay",
            Congestion::Timeout { .. } => "timeout",
        };
        Episode { kind: kind.to_owned(), first: congestion != (Congestion::Timeout { first: false }) }
    }
}

impl From<&congestion::Undo> for Undo {
    fn from(undo: &congestion::Undo) -> Self {
        Undo { prior_cwnd: undo.prior_cwnd, prior_ssthresh: undo.prior_ssthresh }
    }
}

impl From<&congestion::Sent> for Sent {
    fn from(sent: &congestion::Sent) -> Self {
        Sent { packets: sent.packets, from_idle: sent.from_idle, gap_s: sent.gap.as_secs_f64() }
    }
}

impl From<&congestion::LostPacket> for LostPacket {
    fn from(lost: &congestion::LostPacket) -> Self {
        let congestion::LostPacket { number, tx_in_flight, lost, app_limited } = *lost;
        LostPacket { number, tx_in_flight, lost, app_limited }
    }
}

/// Sums over the ACKs since the last report to the algorithm.
#[derive(Default)]
pub struct Round {
    /// End of the round: a packet number and a count of delivered packets. The round ends when all packets below the
    /// number are acknowledged, or when a packet is acknowledged that was sent after the count was reached.
    end: Option<(u64, u64)>,
    acks: u32,
    acked: u32,
    lost: u32,
    marked: u32,
    advanced: bool,
    rtts: u32,
    rtt_sum: Duration,
    rtt_range: Option<(Duration, Duration)>,
    best: Option<congestion::RateSample>,
}

impl Round {
    /// Adds an ACK. Returns whether the ACK ends the round.
    pub fn add(&mut self, ack: &congestion::Ack, path: &congestion::Path) -> bool {
        self.acks += 1;
        self.acked += ack.acked;
        self.lost += ack.lost;
        self.marked += ack.marked;
        self.advanced |= ack.advanced;
        if let Some(rtt) = ack.rtt {
            let (low, high) = self.rtt_range.unwrap_or((rtt, rtt));
            self.rtt_range = Some((low.min(rtt), high.max(rtt)));
            self.rtt_sum = self.rtt_sum + rtt;
            self.rtts += 1;
        }
        if let Some(sample) = &ack.rate
            && self.best.as_ref().is_none_or(|best| faster(sample, best))
        {
            self.best = Some(*sample);
        }
        let (una, delivered) = *self.end.get_or_insert((path.next, path.delivered));
        ack.una >= una || ack.rate.is_some_and(|sample| sample.prior_delivered >= delivered)
    }

    /// Returns the sum up to `ack`, the last ACK, and begins the next round.
    pub fn take(&mut self, ack: &congestion::Ack, path: &congestion::Path) -> Ack {
        let next = Round { end: Some((path.next, path.delivered)), ..Round::default() };
        let round = std::mem::replace(self, next);
        Ack {
            acks: round.acks,
            acked: round.acked,
            lost: round.lost,
            marked: round.marked,
            rtts: round.rtts,
            rtt_s: seconds(ack.rtt),
            rtt_min_s: seconds(round.rtt_range.map(|range| range.0)),
            rtt_mean_s: (round.rtts > 0).then(|| (round.rtt_sum / u64::from(round.rtts)).as_secs_f64()),
            rtt_max_s: seconds(round.rtt_range.map(|range| range.1)),
            one_way_delay_s: seconds(ack.one_way_delay),
            delayed: ack.delayed,
            prior_in_flight: ack.prior_in_flight,
            may_grow: ack.may_grow,
            advanced: round.advanced,
            una: ack.una,
            rate: round.best.as_ref().map(RateSample::from),
        }
    }
}

/// Whether one sample has a higher rate than another. A sample without an interval has no rate.
fn faster(one: &congestion::RateSample, other: &congestion::RateSample) -> bool {
    let (Some(a), Some(b)) = (one.interval, other.interval) else { return one.interval.is_some() };
    u128::from(one.delivered) * u128::from(b.as_nanos())
        > u128::from(other.delivered) * u128::from(a.as_nanos())
}

/// Converts seconds to a time; `None` if out of range.
pub fn instant(seconds: f64) -> Option<Time> {
    let nanos = seconds * 1e9;
    (nanos >= 0.0 && nanos < u64::MAX as f64 / 2.0).then(|| Time::from_nanos(nanos.round() as u64))
}
