//! Data packets that a network drops, by flow.

use crate::{Packet, Streams};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Time;

/// Counts the data packets that the elements of a network drop, for each flow.
///
/// All elements of a run have it in common, also those that run on other threads: sums do not depend on the order.
#[derive(Debug)]
pub struct Drops<P> {
    streams: Streams,
    is_data: fn(&Packet<P>) -> bool,
    /// When drops are counted.
    measured: RangeInclusive<Time>,
    by_flow: Box<[AtomicU64]>,
}

impl<P> Drops<P> {
    /// No drops of so many flows; `is_data` says which packets are counted, `measured` when.
    pub fn new(flows: usize, is_data: fn(&Packet<P>) -> bool, measured: RangeInclusive<Time>) -> Drops<P> {
        let by_flow = (0..flows).map(|_| AtomicU64::new(0)).collect();
        Drops { streams: Streams::for_flows(flows), is_data, measured, by_flow }
    }

    /// A packet is dropped.
    #[cold]
    pub fn count_at(&self, time: Time, packet: &Packet<P>) {
        if self.measured.contains(&time) {
            self.count(packet);
        }
    }

    /// A packet is dropped at a time that is measured.
    #[cold]
    pub fn count(&self, packet: &Packet<P>) {
        let flow = self.streams.route(packet.stream).flow();
        if let Some(drops) = self.by_flow.get(flow as usize).filter(|_| (self.is_data)(packet)) {
            drops.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Data packets of a flow that were dropped.
    pub fn of_flow(&self, flow: usize) -> u64 {
        self.by_flow[flow].load(Ordering::Relaxed)
    }
}
