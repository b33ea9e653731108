//! fq: deficit round robin over flows, with a packet limit and a maximum rate per flow.
//!
//! The model is Linux's `net/sched/sch_fq.c` at a router. At a host, fq also releases every packet at the time that its
//! socket has set for pacing. A router has no sockets, so neither such release times nor the limit on how far ahead
//! they may be (`horizon`) are modelled for routers. For hosts, `tcp.pacing = "fq"` of a flow models the release times.
//! A flow uses this pacing if its host has a network interface with this queue. Flows are identified by their hash, as
//! are packets without a socket in Linux. Not modelled: weights and maps of the bands other than the kernel's defaults,
//! and the slack of the kernel's timers.

use super::codel::ms;
use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting, shrink};
use super::fair::hash;
use super::fifo::Fifo;
use crate::{Packet, Ring};
use params::{Entry, params};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{Duration, Probe, Rng, Time};

/// Bytes that a band may send in its turn while other bands wait, in the ratio 9:3:1.
const WEIGHTS: [i64; 3] = [589_824, 196_608, 65_536];
/// Longest pause of a flow after a packet.
const MOST_PAUSE: Duration = Duration::from_secs(1);

params! {
    /// Parameters of fq.
    pub struct FqParams {
        /// Maximum packets of a band that may wait.
        limit: u64 = 10_000, "packets", 1..=10_000_000, role = limit;
        /// Maximum packets of a flow that may wait.
        flow_limit: u64 = 100, "packets", 1..=10_000_000;
        /// Bytes that a flow may send in its turn.
        quantum: u32 = 3028, "bytes", 1..=1_048_576;
        /// Bytes that a flow may send in its first turn.
        initial_quantum: u32 = 15_140, "bytes", 1..=16_777_216;
        /// Maximum rate of a flow; null: unlimited.
        maxrate_bps: Option<u64> = None, "bit/s", 1.0..=1e12;
        /// Rate up to which the packets of a flow are spaced one by one. At higher rates quanta are spaced.
        low_rate_threshold_bps: u64 = 550_000, "bit/s", 0.0..=1e12;
        /// Time after which an empty flow gets a new quantum when it returns.
        refill_delay_ms: f64 = 40.0, "ms", 0.0..=100_000.0;
        /// Mark packets that leave more than this time after the earliest time at which they could have left; null: no
        /// marks.
        ce_threshold_ms: Option<f64> = None, "ms", 0.0..=10_000.0;
        /// Bit mask of the flow hash: one less than the number of queues.
        orphan_mask: u32 = 1023, "", 0..=65_535;
    }
}

/// State of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// No packet waits.
    Detached,
    /// The flow is in a list of its band.
    Listed,
    /// The flow pauses until its rate allows the next packet.
    Throttled,
}

struct Flow<P> {
    waiting: Fifo<P>,
    credit: i64,
    place: Place,
    band: usize,
    /// Time at which the rate of the flow allows the next packet.
    next: Time,
    empty_since: Time,
}

/// Flows of the same priority, and the order in which they are served.
#[derive(Default)]
struct Band {
    /// Indices of flows that have just begun to send.
    new: Ring<u32>,
    old: Ring<u32>,
    credit: i64,
    packets: u64,
}

impl Band {
    fn is_idle(&self) -> bool {
        self.new.is_empty() && self.old.is_empty()
    }
}

/// An fq discipline.
pub struct Fq<P> {
    params: FqParams,
    flows: Vec<Flow<P>>,
    bands: [Band; 3],
    /// Index of the band that has the turn.
    current: usize,
    throttled: BinaryHeap<Reverse<(Time, u32)>>,
    salt: u64,
    backlog: Backlog,
}

/// The band of a code point. A forwarded packet has the priority of the old type-of-service field.
fn band(dscp: u8) -> usize {
    match dscp & 7 {
        2 | 3 => 2, // bulk
        4 | 5 => 0, // interactive
        _ => 1,
    }
}

impl<P: Copy> Fq<P> {
    /// Append the flows whose pause is over to the lists of their bands.
    fn release(&mut self, now: Time) {
        while let Some(&Reverse((due, index))) = self.throttled.peek()
            && due <= now
        {
            self.throttled.pop();
            let flow = &mut self.flows[index as usize];
            flow.place = Place::Listed;
            self.bands[flow.band].old.push(index);
        }
    }

    /// The band to serve: the current band while it has credit, then the next band that has flows.
    fn turn(&mut self) -> Option<usize> {
        if self.bands[self.current].credit > 0 && !self.bands[self.current].is_idle() {
            return Some(self.current);
        }
        (0..self.bands.len()).find_map(|_| {
            self.current = (self.current + 1) % self.bands.len();
            let band = &mut self.bands[self.current];
            band.credit = (band.credit + WEIGHTS[self.current]).min(WEIGHTS[self.current]);
            (!band.is_idle()).then_some(self.current)
        })
    }

    /// Serve the next flow of a band. `None` only means that this flow does not send now.
    fn visit(&mut self, current: usize, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        let Band { new, old, .. } = &mut self.bands[current];
        let is_new = !new.is_empty();
        let list = if is_new { &mut *new } else { &mut *old };
        let index = *list.front()?;
        let flow = &mut self.flows[index as usize];
        if flow.credit <= 0 {
            flow.credit += i64::from(self.params.quantum);
            list.pop();
            old.push(index);
            return None;
        }
        if flow.waiting.is_empty() {
            list.pop();
            if is_new {
                old.push(index); // otherwise an empty new flow could get priority again immediately
            } else {
                (flow.place, flow.empty_since) = (Place::Detached, now);
            }
            return None;
        }
        if flow.next > now {
            list.pop();
            flow.place = Place::Throttled;
            self.throttled.push(Reverse((flow.next, index)));
            return None;
        }
        self.send(index as usize, now, events)
    }

    fn send(&mut self, index: usize, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        let flow = &mut self.flows[index];
        let mut next = flow.waiting.pop()?;
        let late = now.since(next.since.max(flow.next));
        if self.params.ce_threshold_ms.is_some_and(|most| late > ms(most)) {
            events.mark_if_capable(&mut next.packet);
        }
        let size = next.packet.size;
        flow.credit -= i64::from(size);
        self.backlog.remove(size);
        let band = &mut self.bands[flow.band];
        (band.packets, band.credit) = (band.packets - 1, band.credit - i64::from(size));
        if let Some(rate) = self.params.maxrate_bps {
            flow.pace(rate, size, now, &self.params);
        }
        Some(next)
    }
}

impl<P> Flow<P> {
    /// Start the pause that the rate requires: after each packet, or at higher rates after each quantum.
    fn pace(&mut self, rate: u64, size: u16, now: Time, params: &FqParams) {
        let mut bytes = u64::from(size);
        if rate <= params.low_rate_threshold_bps {
            self.credit = 0;
        } else if self.credit > 0 {
            return;
        } else {
            bytes = bytes.max(params.quantum.into());
        }
        let pause = Duration::from_nanos(bytes * 8_000_000_000 / rate).min(MOST_PAUSE);
        // The pause of a flow that was served late is shorter by the lateness, but by at most half.
        let late = if self.next == Time::ZERO { Duration::ZERO } else { now.since(self.next) };
        self.next = now + pause.saturating_sub(late.min(pause / 2));
    }
}

impl<P: Copy + Send> QueueDiscipline<P> for Fq<P> {
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        let index = hash(packet.stream.0.into(), self.salt, self.flows.len());
        let flow = &mut self.flows[index];
        if flow.place == Place::Detached {
            flow.band = band(packet.dscp);
        }
        let band = &mut self.bands[flow.band];
        let waiting = flow.waiting.backlog().packets;
        if band.packets >= self.params.limit || waiting >= self.params.flow_limit {
            return events.drop(&packet);
        }
        if flow.place == Place::Detached {
            if now.since(flow.empty_since) > ms(self.params.refill_delay_ms) {
                flow.credit = flow.credit.max(self.params.quantum.into());
            }
            flow.place = Place::Listed;
            band.new.push(index as u32);
        }
        flow.waiting.push(packet, now);
        band.packets += 1;
        self.backlog.add(packet.size);
    }

    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        self.release(now);
        while let Some(band) = self.turn() {
            if let Some(next) = self.visit(band, now, events) {
                return Some(next);
            }
        }
        None
    }

    fn resize(&mut self, limit: Limit, now: Time, events: &mut QueueEvents<P>) -> bool {
        let Limit { packets: Some(packets), bytes: None } = limit else { return false };
        self.params.limit = packets;
        shrink(self, packets, events, |queue, events| queue.dequeue(now, events));
        true
    }

    fn observe(&self, _now: Time, probe: &mut Probe<'_>) {
        let lists = self.bands.iter().map(|band| band.new.len() + band.old.len());
        let (listed, throttled) = (lists.sum::<usize>(), self.throttled.len());
        probe.see("active_flows", (listed + throttled) as f64, "");
        probe.see("throttled_flows", throttled as f64, "");
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The time at which the next packet may leave. The time is later than now only if a maximum rate makes all flows
    /// with packets pause.
    fn ready(&self) -> Time {
        if self.params.maxrate_bps.is_none() || self.backlog.packets == 0 {
            return Time::ZERO;
        }
        let paused = self.throttled.peek().map_or(Time::NEVER, |next| next.0.0);
        let listed = self.bands.iter().flat_map(|band| band.new.iter().chain(band.old.iter()));
        let flows = listed.map(|&index| &self.flows[index as usize]);
        flows.filter(|flow| !flow.waiting.is_empty()).map(|flow| flow.next).fold(paused, Time::min)
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for Fq<P> {
    type Params = FqParams;
    const TITLE: &'static str = "fq: fair queueing with limits and a maximum rate per flow";
    const SOURCE: &'static str = "Linux net/sched/sch_fq.c";

    fn new(params: FqParams, seed: u64) -> Self {
        let flow = || Flow {
            waiting: Fifo::default(),
            credit: params.initial_quantum.into(),
            place: Place::Detached,
            band: 0,
            next: Time::ZERO,
            empty_since: Time::ZERO,
        };
        Fq {
            flows: (0..=params.orphan_mask).map(|_| flow()).collect(),
            bands: Default::default(),
            current: 0,
            throttled: BinaryHeap::new(),
            salt: Rng::stream(seed, "queue/hash").next_u64(),
            backlog: Backlog::default(),
            params,
        }
    }
}
