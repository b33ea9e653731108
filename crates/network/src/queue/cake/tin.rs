//! A tin of CAKE: DRR++ over the flows of the tin, with priority for sparse flows. Each flow has a queue, found by a
//! set-associative hash.

use super::acks::Filter;
use super::cobalt::{Cobalt, Settings};
use super::hosts::{Hosts, Loads};
use super::shaper::{Clock, Shaper};
use crate::Packet;
use crate::queue::codel::MTU;
use crate::queue::discipline::{Backlog, QueueEvents, Waiting};
use crate::queue::fair::hash;
use crate::queue::fifo::Fifo;
use std::collections::VecDeque;
use units::{Duration, Rng, Time};

/// Queues per tin.
/// Source: Linux `CAKE_QUEUES`.
const QUEUES: usize = 1024;
/// Queues in which a flow may be placed.
/// Source: Linux `CAKE_SET_WAYS`.
const WAYS: usize = 8;

/// State of a flow. Flows in all states except `Idle` are in one of the lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    /// No packets and no state: the queue is free for another flow.
    #[default]
    Idle,
    /// The flow has just begun to send.
    Sparse,
    /// The flow was empty after its turn. The flow becomes sparse again if no packet arrives before its next turn.
    SparseWait,
    /// The flow has a backlog.
    Bulk,
    /// The flow has no packets, but its drop law still has state.
    Decaying,
}

/// A queue, and the flow that uses it.
struct Flow<P> {
    waiting: Fifo<P>,
    law: Cobalt,
    deficit: i64,
    set: Set,
    key: u64,
    hosts: Hosts,
}

impl<P: Copy> Default for Flow<P> {
    fn default() -> Self {
        Flow {
            waiting: Fifo::default(),
            law: Cobalt::default(),
            deficit: 0,
            set: Set::Idle,
            key: 0,
            hosts: None,
        }
    }
}

/// The lists of flows, in the order in which they are served.
/// Source: Linux `cake_dequeue` (`new_flows`, `old_flows`, `decaying_flows`).
const NEW: usize = 0;
const OLD: usize = 1;
const DECAYING: usize = 2;

/// State that all tins share during one call.
pub(super) struct Call<'a, 'e, P> {
    pub(super) now: Time,
    pub(super) rng: &'a mut Rng,
    pub(super) events: &'a mut QueueEvents<'e, P>,
    /// Backlog of the whole discipline.
    pub(super) backlog: &'a mut Backlog,
    pub(super) shaper: &'a mut Shaper,
    pub(super) filter: Option<Filter<P>>,
}

/// A class of packets.
pub(super) struct Tin<P> {
    /// Schedule of a shaped tin. A tin that is behind its schedule has priority.
    clock: Option<Clock>,
    /// Deficit in the round robin between tins that are not shaped.
    deficit: i64,
    weight: i64,
    quantum: u32,
    settings: Settings,
    salt: u64,
    /// Whether dropped packets count as sent, as they have already crossed the bottleneck.
    ingress: bool,
    flows: Vec<Flow<P>>,
    lists: [VecDeque<u32>; 3],
    sparse: u32,
    bulk: u32,
    loads: Loads,
    packets: u64,
}

impl<P: Copy> Tin<P> {
    /// Number of sparse flows and number of bulk flows.
    /// Source: Linux `cake_dump_stats` (`TCA_CAKE_TIN_STATS_SPARSE_FLOWS`, `TCA_CAKE_TIN_STATS_BULK_FLOWS`).
    pub(super) fn flows(&self) -> (u32, u32) {
        (self.sparse, self.bulk)
    }

    /// Create an empty tin with flows of a typical `rtt`. The `rate` of the tin is `None` if the tin is not shaped.
    pub(super) fn new(
        rate: Option<u64>,
        weight: u64,
        rtt: Duration,
        loads: Loads,
        salt: u64,
        ingress: bool,
    ) -> Tin<P> {
        let quantum = rate.map_or(MTU, |rate| (rate / 8 / 4096).clamp(300, MTU));
        let mtu = rate.map_or(0, |rate| MTU * 8_000_000_000 / rate);
        Tin {
            clock: rate.map(Clock::new),
            deficit: 0,
            weight: weight as i64,
            quantum: quantum as u32,
            settings: Settings::new(rtt, Duration::from_nanos(mtu)),
            salt,
            ingress,
            flows: (0..QUEUES).map(|_| Flow::default()).collect(),
            lists: Default::default(),
            sparse: 0,
            bulk: 0,
            loads,
            packets: 0,
        }
    }

    /// Whether any flow of the tin waits for a turn.
    pub(super) fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The time at which the rate of the tin allows the next packet.
    pub(super) fn due(&self) -> Time {
        self.clock.as_ref().map_or(Time::ZERO, |clock| clock.next)
    }

    /// Whether this tin is served next, if tins are not shaped. If this tin is not served next, its weight is added to
    /// its deficit, unless the deficit is positive.
    /// Source: Linux `cake_dequeue`.
    pub(super) fn takes_turn(&mut self) -> bool {
        let its = self.deficit >= 0 && self.is_active();
        if !its && self.deficit <= 0 {
            self.deficit += self.weight;
        }
        its
    }

    /// Accept an arriving packet, which may make a waiting ACK redundant.
    /// Source: Linux `cake_enqueue`.
    pub(super) fn push(&mut self, packet: Packet<P>, key: u64, hosts: Hosts, call: &mut Call<'_, '_, P>) {
        if let Some(clock) = &mut self.clock
            && self.packets == 0
        {
            clock.catch_up(call.now);
        }
        let index = self.place(key, hosts);
        let flow = &mut self.flows[index];
        flow.waiting.push(packet, call.now);
        self.packets += 1;
        call.backlog.add(packet.size);
        match flow.set {
            Set::Idle | Set::Decaying => {
                if flow.set == Set::Decaying {
                    self.lists[DECAYING].retain(|&other| other as usize != index);
                }
                flow.set = Set::Sparse;
                flow.deficit = self.loads.turn(self.quantum, flow.hosts, call.rng);
                self.sparse += 1;
                self.lists[NEW].push_back(index as u32);
            }
            Set::SparseWait => self.make_bulk(index),
            Set::Sparse | Set::Bulk => {}
        }
        let waiting = &mut self.flows[index].waiting;
        if let Some(victim) = call.filter.and_then(|filter| filter.victim(waiting, packet.stream))
            && let Some(victim) = waiting.remove(victim)
        {
            self.packets -= 1;
            call.backlog.remove(victim.packet.size);
            self.lose(&victim, call);
        }
    }

    /// Index of the queue for a flow: the flow's own queue if it has one, else a free queue near its hash, else the
    /// queue of another flow.
    /// Source: Linux `cake_hash`.
    fn place(&mut self, key: u64, hosts: Hosts) -> usize {
        let home = hash(key, self.salt, QUEUES);
        let first = home / WAYS * WAYS;
        let mut ways = (0..WAYS).map(|way| first + (home + way) % WAYS);
        let own = |&way: &usize| self.flows[way].set != Set::Idle && self.flows[way].key == key;
        if let Some(index) = ways.clone().find(own) {
            return index;
        }
        let index = ways.find(|&way| self.flows[way].set == Set::Idle).unwrap_or(home);
        let flow = &mut self.flows[index];
        if flow.set == Set::Bulk {
            self.loads.leave(flow.hosts);
            self.loads.join(hosts);
        }
        (flow.key, flow.hosts) = (key, hosts);
        index
    }

    /// Serve the next flow. `None` only means that another flow has the next turn.
    /// Source: Linux `cake_dequeue`.
    pub(super) fn visit(&mut self, decaying_first: bool, call: &mut Call<'_, '_, P>) -> Option<Waiting<P>> {
        let order = if decaying_first { [DECAYING, NEW, OLD] } else { [NEW, OLD, DECAYING] };
        let list = order.into_iter().find(|&list| !self.lists[list].is_empty())?;
        let index = *self.lists[list].front()? as usize;
        if self.flows[index].deficit <= 0 {
            self.lists[list].pop_front();
            self.end_turn(index, call);
            return None;
        }
        loop {
            let Some(mut head) = self.take(index, call) else {
                self.lists[list].pop_front();
                self.retire(index, call.now);
                return None;
            };
            let least = self.settings.crowd(if self.ingress { self.bulk } else { 0 });
            let flow = &mut self.flows[index];
            let drop = flow.law.drops(&self.settings, &mut head, call.now, least, call.rng, call.events);
            if !drop || flow.waiting.is_empty() {
                self.charge(index, head.packet.size, call, false);
                return Some(head);
            }
            call.events.drop(&head.packet);
            if self.ingress {
                self.charge(index, head.packet.size, call, true);
                return None;
            }
        }
    }

    /// Bytes and index of the longest queue.
    /// Source: Linux `cake_heapify`.
    pub(super) fn longest(&self) -> (u64, usize) {
        let lengths = self.flows.iter().enumerate().map(|(n, flow)| (flow.waiting.backlog().bytes, n));
        lengths.max().unwrap_or_default()
    }

    /// Drop the head of a queue because the discipline is full.
    /// Source: Linux `cake_drop`.
    pub(super) fn overflow(&mut self, index: usize, call: &mut Call<'_, '_, P>) {
        let Some(victim) = self.take(index, call) else { return };
        self.flows[index].law.overflowed(&self.settings, call.now);
        self.lose(&victim, call);
    }

    /// Drop a packet outside the turn of its flow.
    /// Source: Linux `cake_drop`.
    fn lose(&mut self, victim: &Waiting<P>, call: &mut Call<'_, '_, P>) {
        call.events.drop(&victim.packet);
        if self.ingress {
            call.shaper.charge(&mut self.clock, victim.packet.size, call.now, true);
        }
    }

    /// Source: Linux `cake_dequeue_one`.
    fn take(&mut self, index: usize, call: &mut Call<'_, '_, P>) -> Option<Waiting<P>> {
        let head = self.flows[index].waiting.pop()?;
        self.packets -= 1;
        call.backlog.remove(head.packet.size);
        Some(head)
    }

    /// Charge the shaper, the tin and the flow for a packet.
    /// Source: Linux `cake_advance_shaper`.
    fn charge(&mut self, index: usize, size: u16, call: &mut Call<'_, '_, P>, dropped: bool) {
        let bytes = call.shaper.charge(&mut self.clock, size, call.now, dropped) as i64;
        self.flows[index].deficit -= bytes;
        self.deficit -= bytes;
    }

    /// End the turn of a flow. Append the flow to the old flows with a new share.
    /// Source: Linux `cake_dequeue`.
    fn end_turn(&mut self, index: usize, call: &mut Call<'_, '_, P>) {
        let flow = &mut self.flows[index];
        if flow.set == Set::Sparse {
            if flow.waiting.is_empty() {
                flow.set = Set::SparseWait;
            } else {
                self.make_bulk(index);
            }
        }
        let flow = &mut self.flows[index];
        flow.deficit += self.loads.turn(self.quantum, flow.hosts, call.rng);
        self.lists[OLD].push_back(index as u32);
    }

    /// Source: Linux `cake_dequeue` (`CAKE_SET_BULK`).
    fn make_bulk(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        flow.set = Set::Bulk;
        self.sparse -= 1;
        self.bulk += 1;
        self.loads.join(flow.hosts);
    }

    /// Retire a flow that was found empty. The flow leaves when its drop law has no state left.
    /// Source: Linux `cake_dequeue`.
    fn retire(&mut self, index: usize, now: Time) {
        let flow = &mut self.flows[index];
        flow.law.ran_empty(&self.settings, now);
        match flow.set {
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Bulk => {
                self.bulk -= 1;
                self.loads.leave(flow.hosts);
            }
            Set::Idle | Set::Decaying => {}
        }
        flow.set = Set::Idle;
        if !flow.law.at_rest(now) {
            flow.set = Set::Decaying;
            self.lists[DECAYING].push_back(index as u32);
        }
    }
}
