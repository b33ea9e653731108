//! Events for algorithms written in Python: those of the `congestion` crate, with times in seconds.

use congestion::{CaState, Congestion};
use pyo3::prelude::*;
use units::{Duration, Time};

/// A frozen Python class with these fields, each of which has a default so that tests name only what they are about.
macro_rules! event {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $field_doc:literal])* $field:ident: $type:ty = $default:tt $(.$owned:ident())?,)* }) => {
        $(#[doc = $doc])*
        #[pyclass(module = "fullpipe.cca", frozen, get_all, from_py_object)]
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
        /// Its length in seconds; None if it says nothing of the bandwidth.
        interval_s: Option<f64> = None,
        /// Packets per second; None without an interval.
        packets_per_s: Option<f64> = None,
        /// The sampled packet was sent while the application was the limit.
        app_limited: bool = false,
        /// `Path.delivered` when it was sent.
        prior_delivered: u64 = 0,
        /// Packets found lost since it was sent.
        lost: u32 = 0,
        /// Packets reported marked since it was sent.
        marked: u32 = 0,
        /// Packets in flight just after it was sent, itself included.
        tx_in_flight: u32 = 0,
    }
}

event! {
    /// What one ACK reports or, unless the class says `per_ack`, all the ACKs of a round trip.
    Ack {
        /// ACKs that this stands for.
        acks: u32 = 1,
        /// Packets newly acknowledged.
        acked: u32 = 0,
        /// Packets newly found lost.
        lost: u32 = 0,
        /// Packets newly reported CE-marked.
        marked: u32 = 0,
        /// RTT samples that `rtt_min_s`, `rtt_mean_s` and `rtt_max_s` are of.
        rtts: u32 = 0,
        /// The last RTT sample in seconds.
        rtt_s: Option<f64> = None,
        /// The smallest one.
        rtt_min_s: Option<f64> = None,
        /// Their mean.
        rtt_mean_s: Option<f64> = None,
        /// The largest one.
        rtt_max_s: Option<f64> = None,
        /// One-way delay of the last packet in seconds.
        one_way_delay_s: Option<f64> = None,
        /// The last RTT may be too long: a delayed-ACK timer seems to have held the ACK back.
        delayed: bool = false,
        /// Packets in flight before the last ACK.
        prior_in_flight: u32 = 0,
        /// A window algorithm may grow now.
        may_grow: bool = true,
        /// The cumulative acknowledgement advanced.
        advanced: bool = true,
        /// Every packet below this number has been acknowledged.
        una: u64 = 0,
        /// The delivery-rate sample; of a round, the one of the highest rate.
        rate: Option<RateSample> = None,
    }
}

event! {
    /// The transport's view of the path at one moment.
    Path {
        /// Simulated time in seconds.
        now_s: f64 = 0.0,
        /// Payload of a full packet, bytes.
        mss: u32 = 1448,
        /// "open", "disorder", "cwr", "recovery" or "loss".
        state: String = "open".to_owned(),
        /// Smoothed RTT in seconds.
        srtt_s: Option<f64> = None,
        /// Smallest RTT of five minutes, in seconds.
        min_rtt_s: Option<f64> = None,
        /// Packets in flight.
        in_flight: u32 = 0,
        /// Packets sent and not cumulatively acknowledged.
        packets_out: u32 = 0,
        /// Number of the next packet never sent before.
        next: u64 = 0,
        /// Packets delivered since the start.
        delivered: u64 = 0,
        /// Packets deemed lost since the start.
        lost: u64 = 0,
        /// Packets reported CE-marked since the start.
        marked: u64 = 0,
        /// ECN was negotiated.
        ecn: bool = false,
        /// The window was what stopped the sender.
        cwnd_limited: bool = true,
        /// The application is the limit.
        app_limited: bool = false,
        /// The flow is paced.
        paced: bool = false,
        /// At this rate, bits of payload per second.
        pacing_bps: u64 = 0,
        /// Bytes that one burst may hold.
        max_burst_bytes: u32 = 65_536,
    }
}

event! {
    /// A congestion episode begins.
    Episode {
        /// "loss", "tail_loss", "ecn", "delay" (asked for with `reduce`) or "timeout".
        kind: String = "loss".to_owned(),
        /// False for timeouts after the first of an episode: they do not reduce again.
        first: bool = true,
    }
}

event! {
    /// What to go back to after a spurious episode.
    Undo {
        /// Window when it began, packets.
        prior_cwnd: u32 = 0,
        /// Threshold when it began, packets; 0 if it must not be restored.
        prior_ssthresh: u32 = 0,
    }
}

event! {
    /// A burst is about to be sent.
    Sent {
        /// Packets in it.
        packets: u32 = 1,
        /// Nothing was in flight before it.
        from_idle: bool = false,
        /// Seconds since the burst before it.
        gap_s: f64 = 0.0,
    }
}

event! {
    /// A packet just deemed lost.
    LostPacket {
        /// Its number.
        number: u64 = 0,
        /// Packets in flight just after it was sent.
        tx_in_flight: u32 = 0,
        /// Packets found lost since it was sent, itself included.
        lost: u32 = 1,
        /// It was sent while the application was the limit.
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

/// ACKs put together until the algorithm is told of them.
#[derive(Default)]
pub struct Round {
    /// Ends when this packet has been acknowledged, or one that was sent after so many had been delivered.
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
    /// Adds an ACK; true if it ends the round.
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

    /// The sum of it, as of `ack`, the last one; the next round begins.
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

/// Whether one sample shows a higher rate than another; one without an interval shows none.
fn faster(one: &congestion::RateSample, other: &congestion::RateSample) -> bool {
    let (Some(a), Some(b)) = (one.interval, other.interval) else { return one.interval.is_some() };
    u128::from(one.delivered) * u128::from(b.as_nanos())
        > u128::from(other.delivered) * u128::from(a.as_nanos())
}

/// A time in seconds, as an instant.
pub fn instant(seconds: f64) -> Option<Time> {
    let nanos = seconds * 1e9;
    (nanos >= 0.0 && nanos < u64::MAX as f64 / 2.0).then(|| Time::from_nanos(nanos.round() as u64))
}
