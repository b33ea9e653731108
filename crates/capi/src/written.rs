//! Conversion of the types of `congestion` to the C structs of the header, for calls into libraries.

use crate::records::{Ack, Control, Lost, NONE, Path, Traits};
use congestion::{CaState, Congestion, EcnMode, LostPacket, RateSample, Recovery};
use units::{Duration, Rate};

fn span(span: Option<Duration>) -> u64 {
    span.map_or(NONE, Duration::as_nanos)
}

fn state(state: CaState) -> u32 {
    match state {
        CaState::Open => 0,
        CaState::Disorder => 1,
        CaState::Cwr => 2,
        CaState::Recovery => 3,
        CaState::Loss => 4,
    }
}

/// Value of `enum fullpipe_episode`.
pub(crate) fn episode(congestion: Congestion) -> u32 {
    match congestion {
        Congestion::Loss => 0,
        Congestion::TailLoss { .. } => 1,
        Congestion::Ecn => 2,
        Congestion::Delay => 3,
        Congestion::Timeout { first: true } => 4,
        Congestion::Timeout { first: false } => 5,
    }
}

impl From<&congestion::Path> for Path {
    fn from(path: &congestion::Path) -> Path {
        Path {
            now: path.now.as_nanos(),
            srtt: span(path.srtt),
            min_rtt: span(path.min_rtt),
            next: path.next,
            delivered: path.delivered,
            delivered_time: path.delivered_time.as_nanos(),
            lost: path.lost,
            marked: path.marked,
            next_departure: path.next_departure.as_nanos(),
            pacing_bps: path.pacing_rate.bits_per_sec(),
            mss: path.mss,
            state: state(path.state),
            in_flight: path.in_flight,
            packets_out: path.packets_out,
            max_burst_bytes: path.max_burst_bytes,
            ecn: u32::from(path.ecn),
            cwnd_limited: u32::from(path.cwnd_limited),
            app_limited: u32::from(path.app_limited),
            paced: u32::from(path.paced),
        }
    }
}

impl From<&congestion::Ack> for Ack {
    fn from(ack: &congestion::Ack) -> Ack {
        let none = RateSample {
            delivered: 0,
            interval: None,
            app_limited: false,
            prior_delivered: 0,
            lost: 0,
            marked: 0,
            tx_in_flight: 0,
        };
        let rate = ack.rate.unwrap_or(none);
        Ack {
            rtt: span(ack.rtt),
            one_way_delay: span(ack.one_way_delay),
            una: ack.una,
            rate_interval: span(rate.interval),
            rate_prior_delivered: rate.prior_delivered,
            acked: ack.acked,
            cumulative: ack.cumulative,
            lost: ack.lost,
            marked: ack.marked,
            delayed: u32::from(ack.delayed),
            prior_state: state(ack.prior_state),
            prior_in_flight: ack.prior_in_flight,
            may_grow: u32::from(ack.may_grow),
            advanced: u32::from(ack.advanced),
            acks_probe: u32::from(ack.acks_probe),
            has_rate: u32::from(ack.rate.is_some()),
            rate_delivered: rate.delivered,
            rate_app_limited: u32::from(rate.app_limited),
            rate_lost: rate.lost,
            rate_marked: rate.marked,
            rate_tx_in_flight: rate.tx_in_flight,
        }
    }
}

impl From<&LostPacket> for Lost {
    fn from(lost: &LostPacket) -> Lost {
        Lost {
            number: lost.number,
            tx_in_flight: lost.tx_in_flight,
            lost: lost.lost,
            app_limited: u32::from(lost.app_limited),
        }
    }
}

impl Traits {
    /// Converts the record to the type that the transport takes; `None` if `ecn` is not a mode.
    pub(crate) fn read(&self) -> Option<congestion::Traits> {
        Some(congestion::Traits {
            recovery: if self.owns_recovery == 0 { Recovery::Transport } else { Recovery::Algorithm },
            ecn: *[EcnMode::Classic, EcnMode::EveryMark, EcnMode::L4s].get(self.ecn as usize)?,
            needs_pacing: self.needs_pacing != 0,
            watches_sends: self.watches_sends != 0,
            grows_unused: self.grows_unused != 0,
            watches_losses: self.watches_losses != 0,
            watches_pauses: self.watches_pauses != 0,
            slow_start: self.slow_start != 0,
            buffers_three_windows: self.buffers_three_windows != 0,
        })
    }
}

/// Largest window, packets, which allows 14 GB in flight. A larger window is a mistake and would not fit in
/// memory, so windows are limited to this value.
const MAX_PACKETS: u32 = 10_000_000;

impl Control {
    /// Converts the record to the type that the transport takes. `told`: the window that the transport last set,
    /// packets.
    ///
    /// # Errors
    /// If a value is invalid.
    pub(crate) fn read(&self, told: u32) -> Result<congestion::Control, String> {
        if self.cwnd == 0 {
            return Err("cwnd is 0; it must be at least 1 packet".to_owned());
        }
        if self.pacing_bps == 0 {
            return Err("pacing_bps is 0; it must be a rate or FULLPIPE_NONE".to_owned());
        }
        if self.max_burst == 0 || self.min_burst > self.max_burst {
            let (min, max) = (self.min_burst, self.max_burst);
            return Err(format!(
                "bursts are from {min} to {max} packets; the largest must be at least 1 and not below the smallest"
            ));
        }
        Ok(congestion::Control {
            cwnd: self.cwnd.min(told.max(MAX_PACKETS)),
            ssthresh: self.ssthresh,
            pacing_rate: (self.pacing_bps != NONE).then(|| Rate::from_bits_per_sec(self.pacing_bps)),
            min_burst: self.min_burst,
            max_burst: self.max_burst,
            hide_samples: self.hide_samples != 0,
            reduce: self.reduce != 0,
        })
    }
}
