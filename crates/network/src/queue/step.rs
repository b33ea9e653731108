//! Step marking: a packet is marked if and only if the queue length or its queueing delay exceeds a threshold.
//!
//! The switches of DCTCP (Alizadeh et al., SIGCOMM 2010, section 3.1; RFC 8257 section 3.1) mark arriving packets by
//! the length of the queue. L4S marks departing packets by their queueing delay (RFC 9331; Linux `ce_threshold` of
//! CoDel).

use super::codel::ms;
use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting};
use super::fifo::Fifo;
use crate::Packet;
use params::{Entry, params};
use units::Time;

params! {
    /// Parameters of step marking.
    pub struct StepParams {
        /// Maximum packets that may wait.
        limit: u64 = 1000, "packets", 1.0..=1e12, role = limit;
        /// Number of waiting packets above which an arriving packet is marked; null: no such marks, or 20 if `mark_ms`
        /// is null, too.
        mark_packets: Option<u64> = None, "packets", 0.0..=1e12;
        /// Queueing delay above which a packet is marked; null: no such marks.
        mark_ms: Option<f64> = None, "ms", 0.0..=60_000.0;
    }
}

/// The threshold that the DCTCP paper uses at 1 Gbit/s, in packets.
const PACKETS: u64 = 20;

/// A queue with step marking.
pub struct Step<P> {
    params: StepParams,
    waiting: Fifo<P>,
}

impl<P: Copy + Send> QueueDiscipline<P> for Step<P> {
    fn enqueue(&mut self, mut packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        let backlog = self.waiting.backlog().packets;
        if backlog >= self.params.limit {
            return events.drop(&packet);
        }
        if self.params.mark_packets.is_some_and(|most| backlog > most) {
            events.mark_if_capable(&mut packet);
        }
        self.waiting.push(packet, now);
    }

    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        let mut next = self.waiting.pop()?;
        if self.params.mark_ms.is_some_and(|most| now.since(next.since) > ms(most)) {
            events.mark_if_capable(&mut next.packet);
        }
        Some(next)
    }

    fn resize(&mut self, limit: Limit, _now: Time, _events: &mut QueueEvents<P>) -> bool {
        self.params.limit = limit.packets.unwrap_or(self.params.limit);
        limit.packets.is_some() && limit.bytes.is_none()
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for Step<P> {
    type Params = StepParams;
    const TITLE: &'static str = "Step marking: the threshold of DCTCP's switches, by packets or by time";
    const SOURCE: &'static str = "Alizadeh et al., DCTCP, SIGCOMM 2010, section 3.1; RFC 9331";

    fn new(mut params: StepParams, _seed: u64) -> Self {
        if params.mark_ms.is_none() {
            params.mark_packets = params.mark_packets.or(Some(PACKETS));
        }
        Step { params, waiting: Fifo::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ecn, StreamId};
    use units::Duration;

    fn packet(ecn: Ecn) -> Packet<u8> {
        Packet { stream: StreamId(0), size: 1514, ecn, dscp: 0, payload: 0 }
    }

    fn queue(mark_packets: Option<u64>, mark_ms: Option<f64>) -> Step<u8> {
        Step::new(StepParams { limit: 5, mark_packets, mark_ms }, 1)
    }

    /// Whether each of eight packets leaves marked. The packets arrive at the same time, and one departs each
    /// millisecond.
    fn marked(mut queue: Step<u8>, ecn: Ecn) -> (Vec<bool>, QueueEvents<'static, u8>) {
        let mut events = QueueEvents::default();
        (0..8).for_each(|_| queue.enqueue(packet(ecn), Time::ZERO, &mut events));
        let leave = |i| queue.dequeue(Time::ZERO + Duration::from_millis(i), &mut events);
        let out = (1..=8).map_while(leave).map(|w| w.packet.ecn == Ecn::Ce).collect();
        (out, events)
    }

    #[test]
    fn whoever_finds_more_than_the_threshold_is_marked() {
        let (out, events) = marked(queue(Some(2), None), Ecn::Ect0);
        assert_eq!(out, [false, false, false, true, true]);
        assert_eq!((events.marked_packets, events.dropped_packets), (2, 3));
    }

    #[test]
    fn whoever_waited_longer_than_the_threshold_is_marked() {
        let (out, _) = marked(queue(None, Some(3.0)), Ecn::Ect1);
        assert_eq!(out, [false, false, false, true, true]);
    }

    #[test]
    fn one_packet_is_marked_once_and_who_may_not_be_marked_passes() {
        let (out, events) = marked(queue(Some(2), Some(3.0)), Ecn::Ect0);
        assert_eq!((out.iter().filter(|m| **m).count(), events.marked_packets), (2, 2));
        assert_eq!(marked(queue(Some(0), Some(0.0)), Ecn::NotEct).1.marked_packets, 0);
    }
}
