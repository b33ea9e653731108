//! CoDel: drops from the head of the queue when every packet of an interval has waited longer than the target. Drops
//! become more frequent while the queueing delay stays above the target.
//!
//! RFC 8289; Linux `include/net/codel_impl.h`, `net/sched/sch_codel.c`. As in Linux the square root of the control
//! law is one Newton step per drop on a 16-bit fraction. The first gaps therefore differ from the exact law (interval
//! / 2 after the first drop instead of interval / √2). Times are not rounded to Linux's ticks of 1.024 µs.

use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting, shrink};
use super::fifo::Fifo;
use crate::Packet;
use params::{Entry, params};
use units::{Duration, Probe, Time};

/// Backlog in bytes up to which nothing is dropped: one full packet.
/// Source: RFC 8289 section 4.2 (`maxpacket`); Linux `codel_should_drop`.
pub(super) const MTU: u64 = 1514;
/// Number of intervals for which an earlier dropping state is remembered.
/// Source: RFC 8289 section 5.5; Linux `codel_dequeue`.
const MEMORY_INTERVALS: u64 = 16;

/// Settings of CoDel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) target: Duration,
    pub(super) interval: Duration,
    pub(super) ecn: bool,
    /// No packet is dropped while at most this number of bytes remain behind the head of the queue.
    pub(super) spared_bytes: u64,
    /// Queueing delay above which packets are also marked.
    pub(super) ce_threshold: Option<Duration>,
}

/// The state of the control law.
#[derive(Clone, Debug)]
pub(super) struct Codel {
    /// Number of drops in this dropping state.
    count: u32,
    /// `count` at the beginning of the dropping state.
    count_before: u32,
    dropping: bool,
    /// 1/√count, with 16 fractional bits.
    inverse_root: u16,
    /// Time at which the queueing delay will have exceeded the target for an interval. `None` while the delay is
    /// below the target.
    first_above_time: Option<Time>,
    next_drop: Time,
}

impl Default for Codel {
    fn default() -> Self {
        Codel {
            count: 0,
            count_before: 0,
            dropping: false,
            inverse_root: u16::MAX,
            first_above_time: None,
            next_drop: Time::ZERO,
        }
    }
}

impl Codel {
    /// Return the next packet to send. `pop` takes the head of the queue, and returns the packet with the number of
    /// bytes that remain in the queue.
    /// Source: RFC 8289 section 5.5; Linux `codel_dequeue`.
    pub(super) fn dequeue<P: Copy>(
        &mut self,
        settings: &Settings,
        now: Time,
        events: &mut QueueEvents<P>,
        mut pop: impl FnMut() -> Option<(Waiting<P>, u64)>,
    ) -> Option<Waiting<P>> {
        let mut head = pop();
        let late = self.should_drop(&head, settings, now);
        if self.dropping {
            self.dropping = late;
            while self.dropping && now >= self.next_drop {
                self.count = self.count.saturating_add(1);
                self.step_root();
                let marked = head.as_mut().is_some_and(|(w, _)| mark_or_drop(w, settings.ecn, events));
                if marked {
                    self.next_drop = self.after(self.next_drop, settings);
                    break;
                }
                head = pop();
                self.dropping = self.should_drop(&head, settings, now);
                if self.dropping {
                    self.next_drop = self.after(self.next_drop, settings);
                }
            }
        } else if late {
            if !head.as_mut().is_some_and(|(w, _)| mark_or_drop(w, settings.ecn, events)) {
                head = pop();
                self.should_drop(&head, settings, now);
            }
            self.start_dropping(settings, now);
        }
        let mut next = head.map(|(waiting, _)| waiting);
        if let (Some(waiting), Some(threshold)) = (&mut next, settings.ce_threshold)
            && now.since(waiting.since) > threshold
        {
            events.mark_if_capable(&mut waiting.packet);
        }
        next
    }

    /// Whether the queue is in the dropping state.
    pub(super) fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Report the control law. `drop_next` is the time until the next drop, as in `tc -s qdisc`.
    pub(super) fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        probe.see("count", f64::from(self.count), "packets");
        probe.flag("dropping", self.dropping);
        if self.dropping {
            probe.see("drop_next", self.next_drop.max(now).since(now).as_secs_f64(), "s");
        }
    }

    /// Count packets that were dropped from this queue for other reasons than CoDel.
    /// Source: Linux `fq_codel_drop`.
    pub(super) fn count_extra(&mut self, dropped: u32) {
        self.count = self.count.saturating_add(dropped);
    }

    /// Whether every packet of the last interval waited longer than the target.
    /// Source: RFC 8289 section 5.4; Linux `codel_should_drop`.
    fn should_drop<P>(&mut self, head: &Option<(Waiting<P>, u64)>, settings: &Settings, now: Time) -> bool {
        let Some((waiting, left)) = head else {
            self.first_above_time = None;
            self.dropping = false;
            return false;
        };
        if now.since(waiting.since) < settings.target || *left <= settings.spared_bytes {
            self.first_above_time = None;
            return false;
        }
        match self.first_above_time {
            None => {
                self.first_above_time = Some(now + settings.interval);
                false
            }
            Some(until) => now > until,
        }
    }

    /// Source: RFC 8289 section 5.5; Linux `codel_dequeue`.
    fn start_dropping(&mut self, settings: &Settings, now: Time) {
        self.dropping = true;
        let recent = now.since(self.next_drop) < settings.interval * MEMORY_INTERVALS;
        let grown = self.count.wrapping_sub(self.count_before);
        if grown > 1 && grown < u32::MAX / 2 && recent {
            self.count = grown; // resume near the drop rate that was effective before
            self.step_root();
        } else {
            self.count = 1;
            self.inverse_root = u16::MAX;
        }
        self.count_before = self.count;
        self.next_drop = self.after(now, settings);
    }

    /// The time of the next drop: interval / √count after `time`.
    /// Source: RFC 8289 section 5.3; Linux `codel_control_law`.
    fn after(&self, time: Time, settings: &Settings) -> Time {
        let span = u128::from(settings.interval.as_nanos()) * u128::from(self.inverse_root);
        time + Duration::from_nanos((span >> 16) as u64)
    }

    /// One Newton step towards 1/√count: y ← y (3 - count y²) / 2.
    /// Source: Linux `codel_Newton_step`.
    fn step_root(&mut self) {
        let root = u64::from(self.inverse_root) << 16; // 32 fractional bits
        let square = (root * root) >> 32;
        let rest = (3u64 << 32).saturating_sub(u64::from(self.count) * square);
        self.inverse_root = (((rest >> 2) * root) >> 47).min(u64::from(u16::MAX)) as u16;
    }
}

/// If a packet is ECN-capable, mark it and return true. Otherwise, record its drop and return false.
/// Source: RFC 8289 section 5.5; Linux `codel_dequeue` (`INET_ECN_set_ce`).
fn mark_or_drop<P: Copy>(waiting: &mut Waiting<P>, ecn: bool, events: &mut QueueEvents<P>) -> bool {
    let marks = ecn && waiting.packet.ecn.may_mark();
    if marks {
        events.mark(&mut waiting.packet);
    } else {
        events.drop(&waiting.packet);
    }
    marks
}

params! {
    /// Parameters of CoDel.
    pub struct CodelParams {
        /// Maximum packets that may wait.
        limit: u64 = 1000, "packets", 1..=10_000_000, role = limit;
        /// Target of the queueing delay.
        target_ms: f64 = 5.0, "ms", 0.001..=10_000.0;
        /// Time for which the queueing delay must exceed the target before the first drop: about the largest RTT.
        interval_ms: f64 = 100.0, "ms", 0.001..=100_000.0;
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = false, "";
        /// Also mark every packet whose queueing delay exceeds this value; null: no such marks.
        ce_threshold_ms: Option<f64> = None, "ms", 0.0..=10_000.0;
    }
}

/// Convert milliseconds of a scenario to a duration, rounded to the nanosecond.
pub(super) fn ms(value: f64) -> Duration {
    Duration::from_nanos((value * 1e6).round() as u64)
}

/// A queue under CoDel.
pub struct CodelQueue<P> {
    limit: u64,
    settings: Settings,
    waiting: Fifo<P>,
    law: Codel,
}

impl<P: Copy + Send> QueueDiscipline<P> for CodelQueue<P> {
    /// Source: Linux `codel_qdisc_enqueue`.
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        if self.waiting.backlog().packets < self.limit {
            self.waiting.push(packet, now);
        } else {
            events.drop(&packet);
        }
    }

    /// Source: RFC 8289 section 5.5; Linux `codel_dequeue`.
    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        let waiting = &mut self.waiting;
        let pop = || waiting.pop().map(|next| (next, waiting.backlog().bytes));
        self.law.dequeue(&self.settings, now, events, pop)
    }

    /// Source: Linux `codel_change`.
    fn resize(&mut self, limit: Limit, _now: Time, events: &mut QueueEvents<P>) -> bool {
        let Limit { packets: Some(packets), bytes: None } = limit else { return false };
        self.limit = packets;
        shrink(self, packets, events, |queue, _| queue.waiting.pop());
        true
    }

    fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        self.law.observe(now, probe);
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for CodelQueue<P> {
    type Params = CodelParams;
    const TITLE: &'static str = "CoDel: keeps the queueing delay near a target";
    const SOURCE: &'static str = "RFC 8289; Linux net/sched/sch_codel.c";

    fn new(params: CodelParams, _seed: u64) -> Self {
        let settings = Settings {
            target: ms(params.target_ms),
            interval: ms(params.interval_ms),
            ecn: params.ecn,
            spared_bytes: MTU,
            ce_threshold: params.ce_threshold_ms.map(ms),
        };
        CodelQueue { limit: params.limit, settings, waiting: Fifo::default(), law: Codel::default() }
    }
}
