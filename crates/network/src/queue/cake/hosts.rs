//! Isolation: equal shares for flows, for hosts, or for flows within hosts.

use crate::StreamId;
use serde::{Deserialize, Serialize};
use units::Rng;

/// Units that get equal shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// No isolation: one queue.
    Flowblind,
    /// Source hosts.
    Srchost,
    /// Destination hosts.
    Dsthost,
    /// Pairs of hosts.
    Hosts,
    /// Flows.
    Flows,
    /// Flows within source hosts.
    DualSrchost,
    /// Flows within destination hosts.
    DualDsthost,
    /// Flows within hosts. Of the two hosts of a flow, the host with more flows counts.
    #[default]
    TripleIsolate,
}

/// Host indices of a flow's source and destination. `None` means that no other flow has these hosts.
pub(super) type Hosts = Option<[u32; 2]>;

impl Isolation {
    /// The key that is common to all packets of one queue.
    /// Source: Linux `cake_hash`.
    pub(super) fn key(self, stream: StreamId, hosts: Hosts) -> u64 {
        let own = 1 << 63 | u64::from(stream.0);
        let host = |end: usize| hosts.map_or(own, |pair| u64::from(pair[end]));
        match self {
            Isolation::Flowblind => 0,
            Isolation::Srchost => host(0),
            Isolation::Dsthost => host(1),
            Isolation::Hosts => hosts.map_or(own, |[from, to]| u64::from(from) << 31 | u64::from(to)),
            _ => u64::from(stream.0),
        }
    }

    /// Whether the share of a flow depends on the number of flows of its source, and of its destination.
    /// Source: Linux `cake_dsrc`, `cake_ddst`.
    fn counts(self) -> [bool; 2] {
        match self {
            Isolation::DualSrchost => [true, false],
            Isolation::DualDsthost => [false, true],
            Isolation::TripleIsolate => [true, true],
            _ => [false, false],
        }
    }
}

/// Number of bulk flows of each host, as a source and as a destination.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    counted: [bool; 2],
    flows: Vec<[u32; 2]>,
}

impl Loads {
    pub(super) fn new(isolation: Isolation) -> Loads {
        Loads { counted: isolation.counts(), flows: Vec::new() }
    }

    /// Count a bulk flow with these hosts.
    /// Source: Linux `cake_inc_srchost_bulk_flow_count`.
    pub(super) fn join(&mut self, hosts: Hosts) {
        let Some(hosts) = hosts else { return };
        let most = hosts.iter().max().map_or(0, |&host| host as usize + 1);
        if self.flows.len() < most {
            self.flows.resize(most, [0; 2]);
        }
        (0..2).for_each(|end| self.flows[hosts[end] as usize][end] += 1);
    }

    /// Remove a flow with these hosts that is no longer bulk.
    /// Source: Linux `cake_dec_srchost_bulk_flow_count`.
    pub(super) fn leave(&mut self, hosts: Hosts) {
        let Some(hosts) = hosts else { return };
        (0..2).for_each(|end| self.flows[hosts[end] as usize][end] -= 1);
    }

    /// Bytes that a flow may send in its turn: a share of `quantum`, rounded at random so that the mean is exact.
    /// Source: Linux `cake_get_flow_quantum`.
    pub(super) fn turn(&self, quantum: u32, hosts: Hosts, rng: &mut Rng) -> i64 {
        let load = self.on(hosts);
        let rounding = if load > 1 { rng.below(load) } else { 0 };
        i64::from((quantum + rounding) / load)
    }

    /// Number of flows among which the quantum is divided: the number of flows of this flow's source or of its
    /// destination, whichever is larger.
    /// Source: Linux `cake_get_flow_quantum`.
    fn on(&self, hosts: Hosts) -> u32 {
        let load = |end: usize| {
            let host = hosts.filter(|_| self.counted[end])?[end] as usize;
            self.flows.get(host).map(|load| load[end])
        };
        [load(0), load(1)].into_iter().flatten().fold(1, u32::max)
    }
}
