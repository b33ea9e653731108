//! The allowed ranges of numbers of a plan.

use super::error::PlanError;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Longest time in a plan: about 11 days. Each time in a scenario is at most a day, so sums of such times are below
/// this limit. Sums of times in a plan stay far from overflow.
pub(crate) const LONGEST_NS: u64 = 1_000_000_000_000_000;
/// Largest amount of data: an exabyte.
pub(crate) const MOST_BYTES: u64 = 1_000_000_000_000_000_000;
/// Maximum rows of a sampled table, so that the table fits into memory.
pub const MAX_ROWS: u64 = 50_000_000;
/// Largest ID of a host.
pub(crate) const MOST_HOSTS: u64 = 1_000_000;
/// Result of a check: nothing, or the errors.
pub(crate) type Check = Result<(), PlanError>;

/// Returns an error with a path and a formatted message.
macro_rules! refuse {
    ($path:expr, $($message:tt)*) => { return Err($crate::plan::error::PlanError::new($path, format!($($message)*))) };
}
pub(crate) use refuse;

/// Refuses a value outside of a range.
pub(crate) fn within<T: PartialOrd + Display>(
    path: impl Into<String>,
    value: T,
    range: RangeInclusive<T>,
) -> Check {
    if range.contains(&value) {
        return Ok(());
    }
    let (low, high) = range.into_inner();
    refuse!(path, "{value} is out of range; it must lie between {low} and {high}")
}

/// Refuses times that are not in order.
pub(crate) fn in_order(path: &str, times_ns: impl Iterator<Item = u64>) -> Check {
    let mut last = 0;
    for (n, at) in times_ns.enumerate() {
        within(format!("{path}[{n}].at_ns"), at, last..=LONGEST_NS)?;
        last = at;
    }
    Ok(())
}
