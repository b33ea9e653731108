//! Deficit round robin over hashed flows, with priority for new flows, for FQ-CoDel and FQ-PIE (RFC 8290 section 4).

use super::discipline::{Backlog, QueueEvents, Waiting};
use super::fifo::Fifo;
use crate::{Packet, Ring, StreamId};
use units::{Probe, Time};

/// Maximum number of packets that are dropped in one batch from the longest flow.
const DROP_BATCH: u64 = 64;

/// One hashed flow, with the state `L` of its drop law.
pub(super) struct Flow<P, L> {
    pub(super) waiting: Fifo<P>,
    pub(super) law: L,
    deficit: i64,
    listed: bool,
}

/// Index of the queue, among `queues` queues, of all packets with `key`.
pub(super) fn hash(key: u64, salt: u64, queues: usize) -> usize {
    let mixed = (key ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hash = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32;
    ((hash * queues as u64) >> 32) as usize
}

/// The flows, and the order in which they are served.
pub(super) struct Fair<P, L> {
    pub(super) flows: Vec<Flow<P, L>>,
    /// Indices of flows that have just begun to send.
    new: Ring<u32>,
    old: Ring<u32>,
    quantum: i64,
    salt: u64,
    backlog: Backlog,
}

impl<P: Copy, L: Default> Fair<P, L> {
    pub(super) fn new(flows: u32, quantum: u32, seed: u64) -> Fair<P, L> {
        let flow = || Flow { waiting: Fifo::default(), law: L::default(), deficit: 0, listed: false };
        Fair {
            flows: (0..flows).map(|_| flow()).collect(),
            new: Ring::new(),
            old: Ring::new(),
            quantum: i64::from(quantum),
            salt: units::Rng::stream(seed, "queue/hash").next_u64(),
            backlog: Backlog::default(),
        }
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Report the number of new flows and the number of all listed flows.
    pub(super) fn observe(&self, probe: &mut Probe<'_>) {
        let (new, old) = (self.new.len(), self.old.len());
        probe.see("new_flows", new as f64, "");
        probe.see("active_flows", (new + old) as f64, "");
    }

    /// Index of the queue of a stream. All streams with the same hash share this queue.
    pub(super) fn index(&self, stream: StreamId) -> usize {
        hash(stream.0.into(), self.salt, self.flows.len())
    }

    pub(super) fn push(&mut self, index: usize, packet: Packet<P>, now: Time) {
        self.backlog.add(packet.size);
        let flow = &mut self.flows[index];
        flow.waiting.push(packet, now);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.new.push(index as u32);
        }
    }

    /// Index of the flow with the most bytes.
    pub(super) fn longest(&self) -> usize {
        let bytes = |i: &usize| self.flows[*i].waiting.backlog().bytes;
        (0..self.flows.len()).rev().max_by_key(bytes).unwrap_or(0)
    }

    /// Drop packets from the head of the longest flow, up to half of the bytes of that flow. Return the index of the
    /// flow and the number of dropped packets.
    pub(super) fn drop_from_longest(&mut self, events: &mut QueueEvents<P>) -> (usize, u32) {
        let longest = self.longest();
        let half = self.flows[longest].waiting.backlog().bytes / 2;
        let (mut dropped, mut freed) = (0, 0);
        while dropped < DROP_BATCH && (dropped == 0 || freed < half) {
            let Some(size) = self.drop_head(longest, events) else { break };
            freed += u64::from(size);
            dropped += 1;
        }
        (longest, dropped as u32)
    }

    /// Drop the head of a flow and return its size.
    pub(super) fn drop_head(&mut self, index: usize, events: &mut QueueEvents<P>) -> Option<u16> {
        let victim = self.flows[index].waiting.pop()?;
        self.backlog.remove(victim.packet.size);
        events.drop(&victim.packet);
        Some(victim.packet.size)
    }

    /// Return the next packet. `serve` gets a flow and the backlog of the whole discipline. `serve` takes packets from
    /// the flow and subtracts these packets from the backlog of the discipline.
    pub(super) fn dequeue(
        &mut self,
        mut serve: impl FnMut(&mut Flow<P, L>, &mut Backlog) -> Option<Waiting<P>>,
    ) -> Option<Waiting<P>> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = &mut self.flows[index as usize];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop();
                self.old.push(index);
                continue;
            }
            if let Some(next) = serve(flow, &mut self.backlog) {
                flow.deficit -= i64::from(next.packet.size);
                return Some(next);
            }
            // An empty new flow is moved to the old flows once, so that the flow does not get priority again
            // immediately.
            list.pop();
            if from_new && !self.old.is_empty() {
                self.old.push(index);
            } else {
                self.flows[index as usize].listed = false;
            }
        }
    }
}
