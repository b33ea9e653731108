//! The network and flows of a run, in the order of events or in windows.

use crate::hosts::Endpoints;
use crate::island::Island;
use crate::routes::HopId;
use crate::windows::Windows;
use network::Counters;
use units::Time;

/// The network and the flows of a run.
pub(crate) enum World {
    /// One island, event by event.
    Events(Box<Island>),
    /// Windows. In each window the flows run one by one.
    Windows(Box<Windows>),
}

impl World {
    /// Reads the counters of a hop for the interval that ends now. Must be called at every sampling time.
    pub fn close_interval(&mut self, hop: HopId, now: Time) -> Counters {
        match self {
            World::Events(island) => island.net.close_interval(hop, now),
            World::Windows(windows) => windows.close_interval(hop, now),
        }
    }

    /// Counters of a hop up to the last sampling time, and the bytes that a link with opportunities could have sent
    /// between two times.
    pub fn standing(&self, hop: HopId, from: Time, to: Time) -> (Counters, Option<u64>) {
        match self {
            World::Events(island) => (island.net.totals(hop).run, island.net.offered_bytes(hop, from, to)),
            World::Windows(windows) => windows.standing(hop, from, to),
        }
    }

    /// Calls `act` with every flow, in the order of the plan.
    pub fn for_each_flow(&mut self, act: impl FnMut(&mut Endpoints)) {
        match self {
            World::Events(island) => island.flows.iter_mut().for_each(act),
            World::Windows(windows) => windows.for_each_flow(act),
        }
    }

    /// Data packets sent so far, over all flows.
    pub fn data_packets(&self) -> u64 {
        match self {
            World::Events(island) => island.data_packets(),
            World::Windows(windows) => windows.data_packets(),
        }
    }
}
