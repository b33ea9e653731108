//! Data packets that a network drops, by flow.

use crate::{Packet, Streams};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Time;

/// Counter of the data packets that the elements of a network drop, for each flow.
///
/// All elements of a run share this counter, including elements on other threads. Sums do not depend on the order.
#[derive(Debug)]
pub struct Drops<P> {
    streams: Streams,
    is_data: fn(&Packet<P>) -> bool,
    /// Time range in which drops are counted.
    measured: RangeInclusive<Time>,
    by_flow: Box<[AtomicU64]>,
}

impl<P> Drops<P> {
    /// Create a counter for `flows` flows. A dropped packet is counted if `is_data` accepts the packet and the time
    /// of its drop is in `measured`.
    pub fn new(flows: usize, is_data: fn(&Packet<P>) -> bool, measured: RangeInclusive<Time>) -> Drops<P> {
        let by_flow = (0..flows).map(|_| AtomicU64::new(0)).collect();
        Drops { streams: Streams::for_flows(flows), is_data, measured, by_flow }
    }

    /// Count a dropped packet. `time` is the end of the interval in which links count the drop, or a later time.
    #[cold]
    pub fn count(&self, time: Time, packet: &Packet<P>) {
        let flow = self.streams.route(packet.stream).flow();
        let counts = self.measured.contains(&time) && (self.is_data)(packet);
        if let Some(drops) = self.by_flow.get(flow as usize).filter(|_| counts) {
            drops.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Number of data packets of a flow that were dropped.
    pub fn of_flow(&self, flow: usize) -> u64 {
        self.by_flow[flow].load(Ordering::Relaxed)
    }
}
