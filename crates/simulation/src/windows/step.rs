//! The smallest step of time, and a function that empties lists between windows.

use units::Duration;

/// Smallest step of time.
pub(super) const NANOSECOND: Duration = Duration::from_nanos(1);

/// Empties a list. If little of its capacity was used, most of the capacity is freed, so that a burst does not hold
/// memory forever.
pub(super) fn empty<T>(list: &mut Vec<T>) {
    let used = list.len();
    list.clear();
    if list.capacity() > 8 * used {
        list.shrink_to(2 * used);
    }
}
