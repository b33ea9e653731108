//! Events of an ideal transport. A test starts with these events and changes the fields that it tests:
//!
//! ```
//! use congestion::{Ack, kit::ideal};
//!
//! let ack = Ack { marked: 1, ..ideal::ack(2) };
//! ```

use crate::{Ack, CaState, Path, RateSample};
use units::{Duration, Rate, Time};

/// Payload of a full packet, bytes.
pub const MSS: u32 = 1448;
/// The base RTT.
pub const RTT: Duration = Duration::from_millis(40);

/// A paced path of 40 ms with ECN at `now`. The window limits the flow. Ten packets are in flight, and no packet has
/// been delivered.
pub fn path(now: Time) -> Path {
    Path {
        now,
        mss: MSS,
        state: CaState::Open,
        srtt: Some(RTT),
        min_rtt: Some(RTT),
        in_flight: 10,
        packets_out: 10,
        next: 10,
        delivered: 0,
        delivered_time: now,
        lost: 0,
        marked: 0,
        ecn: true,
        cwnd_limited: true,
        app_limited: false,
        next_departure: now,
        paced: true,
        pacing_rate: Rate::from_bits_per_sec(20_000_000),
        max_burst_bytes: 65_215,
        pacing_shift: crate::PACING_SHIFT,
    }
}

/// An ACK that only acknowledges `acked` packets in order.
pub fn ack(acked: u32) -> Ack {
    Ack {
        acked,
        cumulative: acked,
        prior_in_flight: 10,
        may_grow: true,
        advanced: acked > 0,
        ..Ack::default()
    }
}

/// A rate sample of `delivered` packets in `interval`, not app-limited.
pub fn sample(delivered: u32, interval: Duration) -> RateSample {
    RateSample {
        delivered,
        interval: Some(interval),
        app_limited: false,
        prior_delivered: 0,
        lost: 0,
        marked: 0,
        tx_in_flight: delivered,
    }
}
