//! FQ-PIE: deficit round robin over hashed flows, each with its own PIE controller.
//!
//! Linux `net/sched/sch_fq_pie.c`; RFC 8033 for the controller. All controllers are updated at the same times. The
//! kernel updates the controllers in batches at different times. Memory is counted in bytes on the wire.

use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting, shrink};
use super::fair::Fair;
use super::pie::{Pie, Settings, Ticks};
use crate::Packet;
use params::{Entry, params};
use units::{Probe, Rng, Time};

params! {
    /// Parameters of FQ-PIE.
    pub struct FqPieParams {
        /// Maximum packets that may wait.
        limit: u64 = 10_240, "packets", 1..=10_000_000, role = limit;
        /// Maximum bytes that may wait.
        memory_limit_bytes: u64 = 33_554_432, "bytes", 1.0..=1e12;
        /// Queues into which flows are hashed.
        flows: u32 = 1024, "", 1..=65_536;
        /// Bytes that a flow may send in its turn.
        quantum: u32 = 1514, "bytes", 1..=1_048_576;
        /// Target of the queueing delay.
        target_ms: f64 = 15.0, "ms", 0.001..=10_000.0;
        /// Time between updates of the probabilities.
        tupdate_ms: f64 = 15.0, "ms", 0.1..=10_000.0;
        /// Weight of the difference between queueing delay and target, in sixteenths per second.
        alpha: u32 = 2, "1/16 s", 0..=32;
        /// Weight of the change of the queueing delay, in sixteenths per second.
        beta: u32 = 20, "1/16 s", 0..=32;
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = false, "";
        /// Highest probability at which packets are marked instead of dropped.
        ecn_prob_percent: u32 = 10, "%", 0..=100;
        /// Scale the accumulated probability by packet size.
        bytemode: bool = false, "";
    }
}

/// An FQ-PIE discipline.
pub struct FqPie<P> {
    limit: u64,
    memory_limit: u64,
    /// Highest drop probability at which packets are marked instead of dropped.
    mark_up_to: f64,
    settings: Settings,
    ticks: Ticks,
    fair: Fair<P, Pie>,
    rng: Rng,
}

impl<P: Copy> FqPie<P> {
    /// Source: Linux `fq_pie_timer`.
    fn catch_up(&mut self, now: Time) {
        while self.ticks.pop(now).is_some() {
            self.fair.flows.iter_mut().for_each(|flow| flow.law.update(&self.settings));
        }
    }
}

impl<P: Copy + Send> QueueDiscipline<P> for FqPie<P> {
    /// Source: Linux `fq_pie_qdisc_enqueue`.
    fn enqueue(&mut self, mut packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        self.catch_up(now);
        let Backlog { packets, bytes } = self.fair.backlog();
        if packets >= self.limit || bytes > self.memory_limit {
            return events.drop(&packet);
        }
        let index = self.fair.index(packet.stream);
        let flow = &mut self.fair.flows[index];
        let backlog = flow.waiting.backlog().bytes;
        if flow.law.should_drop(&self.settings, backlog, packet.size, &mut self.rng) {
            if !(flow.law.probability <= self.mark_up_to && packet.ecn.may_mark()) {
                return events.drop(&packet);
            }
            events.mark(&mut packet);
        }
        self.fair.push(index, packet, now);
    }

    /// Source: Linux `fq_pie_qdisc_dequeue`.
    fn dequeue(&mut self, now: Time, _events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        self.catch_up(now);
        self.fair.dequeue(|flow, backlog| {
            let next = flow.waiting.pop()?;
            backlog.remove(next.packet.size);
            flow.law.departed(now.since(next.since), flow.waiting.is_empty(), now);
            Some(next)
        })
    }

    /// Source: Linux `fq_pie_change`.
    fn resize(&mut self, limit: Limit, now: Time, events: &mut QueueEvents<P>) -> bool {
        let Limit { packets: Some(packets), bytes: None } = limit else { return false };
        self.limit = packets;
        shrink(self, packets, events, |queue, events| queue.dequeue(now, events));
        true
    }

    fn observe(&self, _now: Time, probe: &mut Probe<'_>) {
        self.fair.observe(probe);
    }

    fn backlog(&self) -> Backlog {
        self.fair.backlog()
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for FqPie<P> {
    type Params = FqPieParams;
    const TITLE: &'static str = "FQ-PIE: fair queueing, each flow under PIE";
    const SOURCE: &'static str = "Linux net/sched/sch_fq_pie.c; RFC 8033";

    fn new(p: FqPieParams, seed: u64) -> Self {
        let settings = Settings::new(p.target_ms, p.tupdate_ms, p.alpha, p.beta, p.bytemode);
        FqPie {
            limit: p.limit,
            memory_limit: p.memory_limit_bytes,
            mark_up_to: if p.ecn { f64::from(p.ecn_prob_percent) / 100.0 } else { -1.0 },
            settings,
            ticks: Ticks::every(settings.update),
            fair: Fair::new(p.flows, p.quantum, seed),
            rng: Rng::stream(seed, "queue/fq_pie"),
        }
    }
}
