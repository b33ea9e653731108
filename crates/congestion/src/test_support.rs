//! A path for unit tests: 40 ms, 1448-byte packets, window-limited, not paced.

use crate::{Path, kit::ideal};
use units::{Duration, Rate, Time};

/// The path at the time of `ms` milliseconds.
pub(crate) fn path_at(ms: u64) -> Path {
    Path {
        paced: false,
        pacing_rate: Rate::from_bits_per_sec(10_000_000),
        max_burst_bytes: 65_536,
        pacing_shift: crate::PACING_SHIFT,
        ..ideal::path(Time::ZERO + Duration::from_millis(ms))
    }
}
