//! Policer: drops arriving packets that exceed a token bucket, and queues all other packets first in, first out.
//!
//! Linux `net/sched/act_police.c` (`police rate R burst B drop`), which acts before a queue. In this model the queue
//! behind the policer is drop-tail.

use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting};
use super::fifo::Fifo;
use super::tbf::Bucket;
use crate::Packet;
use params::{Entry, params};
use units::{Probe, Time};

params! {
    /// Parameters of the policer.
    pub struct PoliceParams {
        /// Rate at which tokens arrive.
        rate_bps: u64 = 100_000_000, "bit/s", 1.0..=1e12, role = rate;
        /// Bytes that may pass in one burst after a pause.
        burst_bytes: u64 = 125_000, "bytes", 1.0..=1e12;
        /// Maximum packets that may wait after the policer; null: no limit.
        packets: Option<u64> = None, "packets", 0.0..=1e18, role = limit;
    }
}

/// A policer and its drop-tail queue.
pub struct Police<P> {
    bucket: Bucket,
    limit: Limit,
    waiting: Fifo<P>,
}

impl<P: Copy + Send> QueueDiscipline<P> for Police<P> {
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        if self.bucket.take(packet.size, now) && self.limit.admits(self.waiting.backlog(), packet.size) {
            self.waiting.push(packet, now);
        } else {
            events.drop(&packet);
        }
    }

    fn dequeue(&mut self, _now: Time, _events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        self.waiting.pop()
    }

    fn resize(&mut self, limit: Limit, _now: Time, _events: &mut QueueEvents<P>) -> bool {
        self.limit.packets = limit.packets;
        limit.bytes.is_none()
    }

    fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        probe.see("tokens", self.bucket.tokens(now), "bytes");
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for Police<P> {
    type Params = PoliceParams;
    const TITLE: &'static str =
        "Policer: drops arriving packets that exceed a rate and a burst, in front of a drop-tail queue";
    const SOURCE: &'static str = "Linux net/sched/act_police.c";

    fn new(params: PoliceParams, _seed: u64) -> Self {
        Police {
            bucket: Bucket::new(params.rate_bps, params.burst_bytes),
            limit: Limit { packets: params.packets, bytes: None },
            waiting: Fifo::default(),
        }
    }
}
