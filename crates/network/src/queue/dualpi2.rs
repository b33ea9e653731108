//! DualPI2: a classic and a low-latency queue with coupled congestion signals. Scalable and classic flows get fair
//! shares, and packets of scalable flows have a very short queueing delay.
//!
//! RFC 9332; Linux `net/sched/sch_dualpi2.c`. Packets are dropped at departure only (the kernel's default).

use super::codel::ms;
use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting, shrink};
use super::fifo::Fifo;
use super::pie::Ticks;
use crate::{Ecn, Packet};
use params::{Entry, params};
use units::{Duration, Probe, Rng, Time};

/// Bytes of a full packet, the unit of the scheduler's credit.
/// Source: Linux `dualpi2_change` (`psched_mtu`).
const MTU: i64 = 1514;

params! {
    /// Parameters of DualPI2.
    pub struct DualPi2Params {
        /// Maximum packets that may wait in both queues together.
        limit: u64 = 10_000, "packets", 1..=10_000_000, role = limit;
        /// Target of the queueing delay in the classic queue.
        target_ms: f64 = 15.0, "ms", 0.001..=10_000.0;
        /// Time between updates of the probability.
        tupdate_ms: f64 = 16.0, "ms", 0.1..=10_000.0;
        /// Weight of the difference between queueing delay and target.
        alpha: f64 = 0.16, "1/s", 0.0..=100.0;
        /// Weight of the change of the queueing delay.
        beta: f64 = 3.2, "1/s", 0.0..=1000.0;
        /// Factor from the base probability to the marking probability of the low-latency queue.
        coupling_factor: f64 = 2.0, "", 0.0..=255.0;
        /// Queueing delay in the low-latency queue above which every packet is marked.
        step_thresh_ms: f64 = 1.0, "ms", 0.0..=10_000.0;
        /// Minimum share of the link for the classic queue while both queues have packets.
        classic_protection_percent: u32 = 10, "%", 0..=90;
        /// Drop from both queues when the marking probability would exceed one. Without this option, the base
        /// probability is limited to the value at which the marking probability is one, and packets are dropped only
        /// when `limit` is reached.
        drop_on_overload: bool = true, "";
        /// Put all ECT packets into the low-latency queue; otherwise only ECT(1) packets. CE packets always enter the
        /// low-latency queue.
        any_ect: bool = false, "";
    }
}

/// State of the controller.
#[derive(Clone, Copy, Debug, Default)]
struct Law {
    /// The base probability p'.
    base: f64,
    /// Queueing delay at the last update: the longer delay of the two queues.
    delay: Duration,
}

/// A DualPI2 discipline with its two queues.
pub struct DualPi2<P> {
    params: DualPi2Params,
    target: Duration,
    step: Duration,
    classic: Fifo<P>,
    low_latency: Fifo<P>,
    law: Law,
    /// Credit of the round robin. If the credit is positive, the classic queue has the turn.
    credit: i64,
    ticks: Ticks,
    rng: Rng,
}

impl<P: Copy> DualPi2<P> {
    /// Source: Linux `dualpi2_timer`.
    fn catch_up(&mut self, now: Time) {
        while let Some(tick) = self.ticks.pop(now) {
            self.law = self.updated(self.law, tick);
        }
    }

    /// Update the proportional-integral controller with the longer of the two queueing delays.
    /// Source: RFC 9332 appendix A.1; Linux `calculate_probability`.
    fn updated(&self, law: Law, now: Time) -> Law {
        let wait = |queue: &Fifo<P>| queue.front().map_or(Duration::ZERO, |head| now.since(head.since));
        let delay = wait(&self.classic).max(wait(&self.low_latency));
        let seconds = Duration::as_secs_f64;
        let error = seconds(delay) - seconds(self.target);
        let trend = seconds(delay) - seconds(law.delay);
        let most =
            if self.params.drop_on_overload { 1.0 } else { 1.0 / self.params.coupling_factor.max(1.0) };
        let base = (law.base + self.params.alpha * error + self.params.beta * trend).clamp(0.0, most);
        Law { base, delay }
    }

    /// Source: RFC 9332 section 2.5.1.1; Linux `dualpi2_skb_classify`.
    fn is_low_latency(&self, ecn: Ecn) -> bool {
        match ecn {
            Ecn::Ect1 | Ecn::Ce => true,
            Ecn::Ect0 => self.params.any_ect,
            Ecn::NotEct => false,
        }
    }

    /// Take the next packet from the queue that has the turn. The returned flag is true if that queue is the
    /// low-latency queue.
    /// Source: Linux `dequeue_packet`.
    fn next(&mut self) -> Option<(Waiting<P>, bool)> {
        let low_latency = !self.low_latency.is_empty() && (self.classic.is_empty() || self.credit <= 0);
        let queue = if low_latency { &mut self.low_latency } else { &mut self.classic };
        Some((queue.pop()?, low_latency))
    }

    /// Update the weighted round robin after a packet has left.
    /// Source: Linux `dequeue_packet` and `dualpi2_reset_c_protection`; RFC 9332 section 2.5.1.2.
    fn settle(&mut self, size: u16, low_latency: bool) {
        let share = i64::from(self.params.classic_protection_percent);
        let size = i64::from(size);
        match (low_latency, self.classic.is_empty(), self.low_latency.is_empty()) {
            (_, true, true) => self.credit = (2 * share - 100) * MTU,
            (true, false, _) => self.credit += share * size,
            (false, _, false) => self.credit -= (100 - share) * size,
            _ => {}
        }
    }

    /// Mark the packet, or return true if it must be dropped. While both queues together hold less than two full
    /// packets, only the step threshold of the low-latency queue applies.
    /// Source: RFC 9332 section 2.4; Linux `must_drop`, `dualpi2_classic_marking`, `dualpi2_scalable_marking`.
    fn signal(
        &mut self,
        next: &mut Waiting<P>,
        low_latency: bool,
        now: Time,
        events: &mut QueueEvents<P>,
    ) -> bool {
        if self.classic.backlog().bytes + self.low_latency.backlog().bytes < 2 * MTU as u64 {
            return self.step_marks(next, low_latency, now, events);
        }
        let coupled = self.law.base * self.params.coupling_factor;
        let overloaded = coupled > 1.0 && self.params.drop_on_overload;
        let classic_strikes = |rng: &mut Rng, p: f64| rng.chance(p) && rng.chance(p); // p'^2
        if !low_latency {
            if !classic_strikes(&mut self.rng, self.law.base) {
                return false;
            }
            if overloaded || !next.packet.ecn.may_mark() {
                return true;
            }
            mark(next, events);
            return false;
        }
        if overloaded && classic_strikes(&mut self.rng, self.law.base) {
            return true;
        }
        if overloaded || self.rng.chance(coupled.min(1.0)) {
            mark(next, events);
        }
        self.step_marks(next, low_latency, now, events)
    }

    /// Mark a packet of the low-latency queue whose queueing delay exceeds the step threshold. The result is always
    /// false, as no packet is dropped.
    /// Source: RFC 9332 section 2.5.1.1; Linux `do_step_aqm`.
    fn step_marks(
        &self,
        next: &mut Waiting<P>,
        low_latency: bool,
        now: Time,
        events: &mut QueueEvents<P>,
    ) -> bool {
        if low_latency && now.since(next.since) > self.step {
            mark(next, events);
        }
        false
    }
}

/// Source: Linux `dualpi2_mark`.
fn mark<P>(waiting: &mut Waiting<P>, events: &mut QueueEvents<P>) {
    if waiting.packet.ecn != Ecn::Ce {
        events.mark(&mut waiting.packet);
    }
}

impl<P: Copy + Send> QueueDiscipline<P> for DualPi2<P> {
    /// Source: Linux `dualpi2_enqueue_skb`.
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        self.catch_up(now);
        if self.backlog().packets >= self.params.limit {
            return events.drop(&packet);
        }
        if self.is_low_latency(packet.ecn) {
            self.low_latency.push(packet, now);
        } else {
            self.classic.push(packet, now);
        }
    }

    /// Source: Linux `dualpi2_qdisc_dequeue`.
    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        self.catch_up(now);
        while let Some((mut next, low_latency)) = self.next() {
            if !self.signal(&mut next, low_latency, now, events) {
                self.settle(next.packet.size, low_latency);
                return Some(next);
            }
            events.drop(&next.packet);
        }
        None
    }

    /// Source: Linux `dualpi2_change`.
    fn resize(&mut self, limit: Limit, _now: Time, events: &mut QueueEvents<P>) -> bool {
        let Limit { packets: Some(packets), bytes: None } = limit else { return false };
        self.params.limit = packets;
        shrink(self, packets, events, |queue, _| queue.classic.pop().or_else(|| queue.low_latency.pop()));
        true
    }

    fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        let (mut law, mut ticks) = (self.law, self.ticks);
        while let Some(tick) = ticks.pop(now) {
            law = self.updated(law, tick);
        }
        // RFC 9332 section 2.4: p_C = p'^2, p_CL = k p'.
        probe.see("base_probability", law.base, "");
        probe.see("classic_probability", law.base * law.base, "");
        probe.see("low_latency_probability", (law.base * self.params.coupling_factor).min(1.0), "");
        probe.see("delay", law.delay.as_secs_f64(), "s");
    }

    fn backlog(&self) -> Backlog {
        let (classic, low_latency) = (self.classic.backlog(), self.low_latency.backlog());
        Backlog { packets: classic.packets + low_latency.packets, bytes: classic.bytes + low_latency.bytes }
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for DualPi2<P> {
    type Params = DualPi2Params;
    const TITLE: &'static str = "DualPI2: coupled queues for classic and low-latency traffic (L4S)";
    const SOURCE: &'static str = "RFC 9332; Linux net/sched/sch_dualpi2.c";

    fn new(params: DualPi2Params, seed: u64) -> Self {
        DualPi2 {
            target: ms(params.target_ms),
            step: ms(params.step_thresh_ms),
            classic: Fifo::default(),
            low_latency: Fifo::default(),
            law: Law::default(),
            credit: (2 * i64::from(params.classic_protection_percent) - 100) * MTU,
            ticks: Ticks::every(ms(params.tupdate_ms)),
            rng: Rng::stream(seed, "queue/dualpi2"),
            params,
        }
    }
}
