//! A path for unit tests: 40 ms, 1448-byte packets, window-limited.

use crate::{CaState, Path};
use units::{Duration, Rate, Time};

/// The path at `ms` milliseconds.
pub(crate) fn path_at(ms: u64) -> Path {
    let now = Time::ZERO + Duration::from_millis(ms);
    let rtt = Duration::from_millis(40);
    Path {
        now,
        mss: 1448,
        state: CaState::Open,
        srtt: Some(rtt),
        min_rtt: Some(rtt),
        in_flight: 10,
        packets_out: 10,
        next: 10,
        delivered: 0,
        delivered_time: now,
        lost: 0,
        cwnd_limited: true,
        app_limited: false,
        next_departure: now,
        paced: false,
        pacing_rate: Rate::from_bits_per_sec(10_000_000),
        max_burst_bytes: 65_536,
    }
}
