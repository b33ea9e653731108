//! End markers of handovers.

use network::Mark;

/// Marker behind the last packet on an old route (TS 36.300 10.1.2.3.1: the end marker). It has no size, and no link
/// drops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndMarker {
    /// Number of the handover.
    pub hand_over: usize,
    /// Number of the old route.
    pub way: usize,
    /// Index of its current link.
    pub step: usize,
    /// The last packet before it on that link.
    pub behind: Mark,
}
