//! The queue of a network device behind a queue discipline: first in, first out, with flow control.
//!
//! A device takes packets from the discipline while it has room. When the device is full, it stops the discipline. When
//! a transmission has made room, the device wakes the discipline (Linux `netif_tx_stop_queue` and
//! `netif_tx_wake_queue`). The discipline no longer drops, marks or reorders packets that are in the device. The packet
//! in transmission is neither in the discipline nor in the device.

use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting};
use super::fifo::Fifo;
use crate::Packet;
use units::{Probe, Rate, Time};

/// A discipline and the device behind it, as one queue.
pub struct Device<P> {
    above: Box<dyn QueueDiscipline<P>>,
    packets: u64,
    waiting: Fifo<P>,
    /// Time of the last arrival or departure. Events that this arrival or departure makes possible do not happen
    /// earlier.
    since: Time,
}

impl<P: Copy> Device<P> {
    /// Create a device that holds `packets` packets, not counting the packet in transmission.
    pub fn new(above: Box<dyn QueueDiscipline<P>>, packets: u64) -> Device<P> {
        Device { above, packets, waiting: Fifo::default(), since: Time::ZERO }
    }

    /// Take the packets that the discipline has released by `now`, each at its exact time.
    fn fill(&mut self, now: Time, events: &mut QueueEvents<P>) {
        if self.above.backlog().packets == 0 {
            return;
        }
        while self.waiting.backlog().packets < self.packets {
            let at = self.above.ready().max(self.since);
            if at > now {
                return;
            }
            match self.above.dequeue(at, events) {
                Some(next) => self.waiting.append(next),
                None => return,
            }
        }
    }
}

impl<P: Copy + Send> QueueDiscipline<P> for Device<P> {
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        self.fill(now, events);
        self.above.enqueue(packet, now, events);
        self.since = now;
        self.fill(now, events);
    }

    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        self.fill(now, events);
        let next = self.waiting.pop();
        self.since = now;
        self.fill(now, events);
        next
    }

    fn pass(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        self.since = now;
        self.above.pass(packet, now, events)
    }

    fn backlog(&self) -> Backlog {
        let (above, below) = (self.above.backlog(), self.waiting.backlog());
        Backlog { packets: above.packets + below.packets, bytes: above.bytes + below.bytes }
    }

    fn ready(&self) -> Time {
        if self.waiting.is_empty() { self.above.ready() } else { Time::ZERO }
    }

    fn shape(&mut self, rates: Vec<(Time, Rate)>) -> Vec<(Time, Rate)> {
        self.above.shape(rates)
    }

    fn resize(&mut self, limit: Limit, now: Time, events: &mut QueueEvents<P>) -> bool {
        self.fill(now, events);
        self.above.resize(limit, now, events)
    }

    fn know_hosts(&mut self, hosts: &[Option<[u32; 2]>]) {
        self.above.know_hosts(hosts);
    }

    fn know_redundancy(&mut self, redundant: fn(&P, &P) -> bool) {
        self.above.know_redundancy(redundant);
    }

    fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        self.above.observe(now, probe);
    }
}
