//! Closed form of a first-in, first-out queue whose limit is the only reason for drops. The departure of a packet is
//! known on arrival.

use crate::counters::Passages;
use crate::queue::Limit;
use crate::server::Transmission;
use crate::wire::Wire;
use crate::{Drops, Packet, Ring};
use std::sync::Arc;
use units::Time;

/// State of a first-in, first-out queue whose departures are computed on arrival.
pub(crate) struct ClosedForm<P> {
    max_packets: u64,
    max_bytes: u64,
    /// Departure times and sizes of waiting packets. Packets that have already left may still be listed.
    waiting: Ring<(Time, u16)>,
    waiting_bytes: u64,
    pub passages: Passages,
    /// Counter of drops by flow, if drops are counted.
    pub drops: Option<Arc<Drops<P>>>,
}

impl<P> ClosedForm<P> {
    /// Create the state of an empty queue.
    pub fn new(limit: Limit, passages: Passages) -> ClosedForm<P> {
        let (waiting, waiting_bytes, drops) = (Ring::new(), 0, None);
        let mut made = ClosedForm { max_packets: 0, max_bytes: 0, waiting, waiting_bytes, passages, drops };
        made.limit(limit);
        made
    }

    /// Set the limit. Packets that already wait are not dropped.
    fn limit(&mut self, limit: Limit) {
        self.max_packets = limit.packets.unwrap_or(u64::MAX);
        self.max_bytes = limit.bytes.unwrap_or(u64::MAX);
    }

    /// The time at which a packet that arrives at `at` reaches the far end; `None` if the packet is dropped or lost.
    #[inline(always)]
    pub fn transit(&mut self, wire: &mut Wire, packet: &Packet<P>, at: Time) -> Option<Time> {
        let size = packet.size;
        let free_at = wire.server.free_at();
        if free_at < at {
            let sent = wire.server.transmit_at_once(size, at);
            return self.pass(wire, packet, at, sent, free_at);
        }
        if free_at > at {
            while let Some(limit) = wire.limit(at) {
                self.limit(limit);
            }
            if !self.wait(size, at, free_at) {
                self.dropped(packet, at);
                return None;
            }
        }
        let sent = wire.server.transmit(size, at);
        self.pass(wire, packet, at, sent, free_at)
    }

    /// Send a packet after a packet that left at `free_at`. Return the time at which the packet reaches the far end;
    /// `None` if the packet is lost.
    #[inline(always)] // inlined twice, so that packets that do not wait skip the counting of waiting packets
    fn pass(
        &mut self,
        wire: &mut Wire,
        packet: &Packet<P>,
        at: Time,
        sent: Transmission,
        free_at: Time,
    ) -> Option<Time> {
        let (arrival, lost) = wire.arrival_or_loss(sent.finish);
        self.passages.passed(packet.size, at, sent, arrival, free_at);
        if lost {
            self.lost(packet);
            return None;
        }
        Some(arrival)
    }

    /// Count a dropped packet.
    #[cold]
    #[inline(never)]
    fn dropped(&mut self, packet: &Packet<P>, at: Time) {
        let counted_at = self.passages.dropped(packet.size, at);
        self.drops.iter().for_each(|drops| drops.count(counted_at, packet));
    }

    /// Count the last packet as lost.
    #[cold]
    #[inline(never)]
    fn lost(&mut self, packet: &Packet<P>) {
        let counted_at = self.passages.lost(packet.size);
        self.drops.iter().for_each(|drops| drops.count(counted_at, packet));
    }

    /// Let a packet of `size` bytes that reaches a busy link at `at` wait until `start`. Return false if the queue is
    /// full.
    #[inline(always)] // called for every packet on busy links
    fn wait(&mut self, size: u16, at: Time, start: Time) -> bool {
        // Some listed packets may have left already. Packets that have left are removed from the list only if the
        // removal affects the result.
        let is_calm = self.has_room(size) && (self.waiting.len() as u64) < self.passages.most_waiting();
        if is_calm || self.counts_more(size, at) {
            self.waiting.push((start, size));
            self.waiting_bytes += u64::from(size);
            return true;
        }
        false
    }

    /// Remove the packets that have left. Return whether there is room for another packet.
    #[inline(never)] // otherwise the common case is slower
    fn counts_more(&mut self, size: u16, at: Time) -> bool {
        while let Some(&(_, size)) = self.waiting.pop_if(|&(start, _)| start <= at) {
            self.waiting_bytes -= u64::from(size);
        }
        let has_room = self.has_room(size);
        self.passages.backlog(at, self.waiting.len() as u64 + u64::from(has_room));
        has_room
    }

    #[inline]
    fn has_room(&self, size: u16) -> bool {
        (self.waiting.len() as u64) < self.max_packets
            && self.waiting_bytes + u64::from(size) <= self.max_bytes
    }
}
