//! C structs of the header, and their conversion to the types of `congestion`.

use congestion::{CaState, EcnMode, LostPacket, RateSample, Recovery};
use units::{Duration, Rate, Time};

/// Value for a missing time, duration or rate.
pub const NONE: u64 = u64::MAX;

/// Struct `fullpipe_traits`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "see the header; so below")]
pub struct Traits {
    pub owns_recovery: u32,
    pub ecn: u32,
    pub needs_pacing: u32,
    pub watches_sends: u32,
    pub watches_losses: u32,
    pub grows_unused: u32,
    pub watches_pauses: u32,
    pub slow_start: u32,
    pub buffers_three_windows: u32,
}

/// Struct `fullpipe_path`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Path {
    pub now: u64,
    pub srtt: u64,
    pub min_rtt: u64,
    pub next: u64,
    pub delivered: u64,
    pub delivered_time: u64,
    pub lost: u64,
    pub marked: u64,
    pub next_departure: u64,
    pub pacing_bps: u64,
    pub mss: u32,
    pub state: u32,
    pub in_flight: u32,
    pub packets_out: u32,
    pub max_burst_bytes: u32,
    pub ecn: u32,
    pub cwnd_limited: u32,
    pub app_limited: u32,
    pub paced: u32,
}

/// Struct `fullpipe_ack`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Ack {
    pub rtt: u64,
    pub one_way_delay: u64,
    pub una: u64,
    pub rate_interval: u64,
    pub rate_prior_delivered: u64,
    pub acked: u32,
    pub cumulative: u32,
    pub lost: u32,
    pub marked: u32,
    pub delayed: u32,
    pub prior_state: u32,
    pub prior_in_flight: u32,
    pub may_grow: u32,
    pub advanced: u32,
    pub acks_probe: u32,
    pub has_rate: u32,
    pub rate_delivered: u32,
    pub rate_app_limited: u32,
    pub rate_lost: u32,
    pub rate_marked: u32,
    pub rate_tx_in_flight: u32,
}

/// Struct `fullpipe_lost_packet`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Lost {
    pub number: u64,
    pub tx_in_flight: u32,
    pub lost: u32,
    pub app_limited: u32,
}

/// Struct `fullpipe_control`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Control {
    pub pacing_bps: u64,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub min_burst: u32,
    pub max_burst: u32,
    pub hide_samples: u32,
    pub reduce: u32,
}

fn span(nanos: u64) -> Option<Duration> {
    (nanos != NONE).then(|| Duration::from_nanos(nanos))
}

fn state(number: u32) -> Option<CaState> {
    let states = [CaState::Open, CaState::Disorder, CaState::Cwr, CaState::Recovery, CaState::Loss];
    states.get(number as usize).copied()
}

impl Path {
    /// Converts the record to the type that algorithms take; `None` if the recovery state is invalid.
    pub(crate) fn read(&self) -> Option<congestion::Path> {
        Some(congestion::Path {
            now: Time::from_nanos(self.now),
            mss: self.mss,
            state: state(self.state)?,
            srtt: span(self.srtt),
            min_rtt: span(self.min_rtt),
            in_flight: self.in_flight,
            packets_out: self.packets_out,
            next: self.next,
            delivered: self.delivered,
            delivered_time: Time::from_nanos(self.delivered_time),
            lost: self.lost,
            marked: self.marked,
            ecn: self.ecn != 0,
            cwnd_limited: self.cwnd_limited != 0,
            app_limited: self.app_limited != 0,
            next_departure: Time::from_nanos(self.next_departure),
            paced: self.paced != 0,
            pacing_rate: Rate::from_bits_per_sec(self.pacing_bps),
            max_burst_bytes: self.max_burst_bytes,
            pacing_shift: congestion::PACING_SHIFT,
        })
    }
}

impl Ack {
    /// Converts the record to the type that algorithms take; `None` if the recovery state is invalid.
    pub(crate) fn read(&self) -> Option<congestion::Ack> {
        let rate = RateSample {
            delivered: self.rate_delivered,
            interval: span(self.rate_interval),
            app_limited: self.rate_app_limited != 0,
            prior_delivered: self.rate_prior_delivered,
            lost: self.rate_lost,
            marked: self.rate_marked,
            tx_in_flight: self.rate_tx_in_flight,
        };
        Some(congestion::Ack {
            acked: self.acked,
            cumulative: self.cumulative,
            lost: self.lost,
            marked: self.marked,
            rtt: span(self.rtt),
            one_way_delay: span(self.one_way_delay),
            delayed: self.delayed != 0,
            prior_state: state(self.prior_state)?,
            prior_in_flight: self.prior_in_flight,
            may_grow: self.may_grow != 0,
            advanced: self.advanced != 0,
            una: self.una,
            rate: (self.has_rate != 0).then_some(rate),
            acks_probe: self.acks_probe != 0,
        })
    }
}

impl Lost {
    pub(crate) fn read(&self) -> LostPacket {
        LostPacket {
            number: self.number,
            tx_in_flight: self.tx_in_flight,
            lost: self.lost,
            app_limited: self.app_limited != 0,
        }
    }
}

impl From<congestion::Traits> for Traits {
    fn from(traits: congestion::Traits) -> Traits {
        Traits {
            owns_recovery: u32::from(traits.recovery == Recovery::Algorithm),
            ecn: match traits.ecn {
                EcnMode::Classic => 0,
                EcnMode::EveryMark => 1,
                EcnMode::L4s => 2,
            },
            needs_pacing: u32::from(traits.needs_pacing),
            watches_sends: u32::from(traits.watches_sends),
            watches_losses: u32::from(traits.watches_losses),
            grows_unused: u32::from(traits.grows_unused),
            watches_pauses: u32::from(traits.watches_pauses),
            slow_start: u32::from(traits.slow_start),
            buffers_three_windows: u32::from(traits.buffers_three_windows),
        }
    }
}

impl From<congestion::Control> for Control {
    fn from(control: congestion::Control) -> Control {
        Control {
            pacing_bps: control.pacing_rate.map_or(NONE, Rate::bits_per_sec),
            cwnd: control.cwnd,
            ssthresh: control.ssthresh,
            min_burst: control.min_burst,
            max_burst: control.max_burst,
            hide_samples: u32::from(control.hide_samples),
            reduce: u32::from(control.reduce),
        }
    }
}
