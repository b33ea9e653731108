//! FQ-CoDel: deficit round robin over hashed flows, each with its own CoDel.
//!
//! RFC 8290; Linux `net/sched/sch_fq_codel.c`. When the limit is reached, packets are dropped from the head of the
//! flow with the most bytes: up to half of its bytes, and at most 64 packets. Memory is counted in bytes on the wire,
//! not in bytes of kernel buffers.

use super::codel::{Codel, MTU, Settings, ms};
use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting, shrink};
use super::fair::Fair;
use crate::Packet;
use params::{Entry, params};
use units::{Probe, Time};

params! {
    /// Parameters of FQ-CoDel.
    pub struct FqCodelParams {
        /// Maximum packets that may wait.
        limit: u64 = 10_240, "packets", 1..=10_000_000, role = limit;
        /// Maximum bytes that may wait.
        memory_limit_bytes: u64 = 33_554_432, "bytes", 1.0..=1e12;
        /// Queues into which flows are hashed.
        flows: u32 = 1024, "", 1..=65_536;
        /// Bytes that a flow may send in its turn.
        quantum: u32 = 1514, "bytes", 1..=1_048_576;
        /// Target of the queueing delay.
        target_ms: f64 = 5.0, "ms", 0.001..=10_000.0;
        /// Time for which the queueing delay must exceed the target before the first drop.
        interval_ms: f64 = 100.0, "ms", 0.001..=100_000.0;
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = true, "";
        /// Also mark every packet whose queueing delay exceeds this value; null: no such marks.
        ce_threshold_ms: Option<f64> = None, "ms", 0.0..=10_000.0;
    }
}

/// An FQ-CoDel discipline.
pub struct FqCodel<P> {
    limit: u64,
    memory_limit: u64,
    settings: Settings,
    fair: Fair<P, Codel>,
}

impl<P: Copy + Send> QueueDiscipline<P> for FqCodel<P> {
    /// Source: RFC 8290 section 4.1; Linux `fq_codel_enqueue`.
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        let index = self.fair.index(packet.stream);
        self.fair.push(index, packet, now);
        let Backlog { packets, bytes } = self.fair.backlog();
        if packets > self.limit || bytes > self.memory_limit {
            let (longest, dropped) = self.fair.drop_from_longest(events);
            self.fair.flows[longest].law.count_extra(dropped);
        }
    }

    /// Source: RFC 8290 section 4.2; Linux `fq_codel_dequeue`.
    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        let settings = &self.settings;
        self.fair.dequeue(|flow, backlog| {
            let waiting = &mut flow.waiting;
            flow.law.dequeue(settings, now, events, || {
                let next = waiting.pop()?;
                backlog.remove(next.packet.size);
                Some((next, backlog.bytes))
            })
        })
    }

    /// Source: Linux `fq_codel_change`.
    fn resize(&mut self, limit: Limit, now: Time, events: &mut QueueEvents<P>) -> bool {
        let Limit { packets: Some(packets), bytes: None } = limit else { return false };
        self.limit = packets;
        shrink(self, packets, events, |queue, events| queue.dequeue(now, events));
        true
    }

    fn observe(&self, _now: Time, probe: &mut Probe<'_>) {
        self.fair.observe(probe);
        let dropping = self.fair.flows.iter().filter(|flow| flow.law.is_dropping()).count();
        probe.see("dropping_flows", dropping as f64, "");
    }

    fn backlog(&self) -> Backlog {
        self.fair.backlog()
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for FqCodel<P> {
    type Params = FqCodelParams;
    const TITLE: &'static str = "FQ-CoDel: fair queueing, each flow under CoDel";
    const SOURCE: &'static str = "RFC 8290; Linux net/sched/sch_fq_codel.c";

    fn new(params: FqCodelParams, seed: u64) -> Self {
        FqCodel {
            limit: params.limit,
            memory_limit: params.memory_limit_bytes,
            settings: Settings {
                target: ms(params.target_ms),
                interval: ms(params.interval_ms),
                ecn: params.ecn,
                spared_bytes: MTU,
                ce_threshold: params.ce_threshold_ms.map(ms),
            },
            fair: Fair::new(params.flows, params.quantum, seed),
        }
    }
}
