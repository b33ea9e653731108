//! Times of scripts: microseconds from the start.

use units::Time;

/// Microseconds from the start.
pub(crate) fn micros(time: Time) -> i64 {
    (time.as_nanos() / 1_000) as i64
}

/// The time so many microseconds after the start.
pub(crate) fn time(micros: i64) -> Time {
    Time::from_nanos(micros.max(0) as u64 * 1_000)
}

/// A time in words.
pub(crate) fn seconds(micros: i64) -> String {
    format!("{:.6} s", micros as f64 / 1e6)
}
