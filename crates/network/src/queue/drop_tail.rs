//! First in, first out. A packet that arrives while the queue is full is dropped (Linux `pfifo`, `bfifo`).

use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting};
use super::fifo::Fifo;
use crate::Packet;
use params::Entry;
use units::Time;

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail<P> {
    limit: Limit,
    waiting: Fifo<P>,
}

impl<P: Copy> DropTail<P> {
    /// Create an empty queue.
    pub fn new(limit: Limit) -> DropTail<P> {
        DropTail { limit, waiting: Fifo::default() }
    }
}

impl<P: Copy + Send> QueueDiscipline<P> for DropTail<P> {
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        if self.limit.admits(self.waiting.backlog(), packet.size) {
            self.waiting.push(packet, now);
        } else {
            events.drop(&packet);
        }
    }

    fn dequeue(&mut self, _now: Time, _events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        self.waiting.pop()
    }

    fn resize(&mut self, limit: Limit, _now: Time, _events: &mut QueueEvents<P>) -> bool {
        self.limit = limit;
        true
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn pass(&mut self, packet: Packet<P>, now: Time, _events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        Some(Waiting { packet, since: now })
    }

    fn plain_limit(&self) -> Option<Limit> {
        Some(self.limit)
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for DropTail<P> {
    type Params = Limit;
    const TITLE: &'static str = "First in, first out, with a limit";
    const SOURCE: &'static str = "Linux net/sched/sch_fifo.c";

    fn new(limit: Limit, _seed: u64) -> Self {
        DropTail::new(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ecn, StreamId};

    fn packet(size: u16) -> Packet<u8> {
        Packet { stream: StreamId(0), size, ecn: Ecn::NotEct, dscp: 0, payload: 0 }
    }

    #[test]
    fn the_third_packet_finds_two_places_taken() {
        let (mut queue, mut events) =
            (DropTail::new(Limit { packets: Some(2), bytes: None }), QueueEvents::default());
        (1..=3).for_each(|size| queue.enqueue(packet(size), Time::ZERO, &mut events));
        assert_eq!((events.dropped_packets, events.dropped_bytes, events.marked_packets), (1, 3, 0));
        assert_eq!(queue.backlog(), Backlog { packets: 2, bytes: 3 });
        assert_eq!(queue.dequeue(Time::ZERO, &mut events).map(|w| w.packet.size), Some(1));
    }

    #[test]
    fn a_small_packet_still_fits_where_a_large_one_does_not() {
        let (mut queue, mut events) =
            (DropTail::new(Limit { packets: None, bytes: Some(100) }), QueueEvents::default());
        [60, 50, 40].into_iter().for_each(|size| queue.enqueue(packet(size), Time::ZERO, &mut events));
        assert_eq!(events.dropped_bytes, 50);
        assert_eq!(queue.backlog().bytes, 100);
    }
}
