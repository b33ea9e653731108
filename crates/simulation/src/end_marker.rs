//! End markers of handovers.

use network::Mark;

/// Marker behind the last packet on an old route (TS 36.300 10.1.2.3.1: the end marker). The marker has no size, and no
/// link drops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndMarker {
    /// Index of the handover.
    pub hand_over: usize,
    /// Index of the old route among the old routes of the handover.
    pub way: usize,
    /// Index of the current link on the old route.
    pub step: usize,
    /// The last packet before the marker on the current link.
    pub behind: Mark,
}
