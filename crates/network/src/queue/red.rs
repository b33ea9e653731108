//! RED: drops on arrival with a probability that grows with the average backlog.
//!
//! Floyd and Jacobson, ToN 1(4), 1993; Floyd, Gummadi and Shenker, "Adaptive RED", 2001; Linux `net/sched/sch_red.c`,
//! `include/net/red.h`. The average and its decay during idle times are exact in this model; the kernel uses tables.

use super::codel::ms;
use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting, shrink};
use super::fifo::Fifo;
use super::pie::Ticks;
use crate::Packet;
use params::{Entry, Problem, params};
use units::{Probe, Rng, Time};

/// Time between adaptations of the maximum probability.
/// Source: Floyd, Gummadi and Shenker (2001), section 4; Linux `red_adaptative_timer`.
const ADAPT_MS: f64 = 500.0;

params! {
    /// Parameters of RED, as in `tc`.
    pub struct RedParams {
        /// Maximum bytes that may wait.
        limit: u64 = 400_000, "bytes", 1.0..=1e12, role = limit;
        /// Average backlog at which dropping starts; 0: a third of `max`.
        min: u64 = 0, "bytes", 0.0..=1e12;
        /// Average backlog at which everything is dropped; 0: three times `min`, or a quarter of the limit if `min`
        /// is 0.
        max: u64 = 0, "bytes", 0.0..=1e12;
        /// Average packet size.
        avpkt: u64 = 1000, "bytes", 1..=65_535;
        /// Packets that may pass in a burst, which determine the weight of the average; 0: (2 min + max) / (3 avpkt).
        burst: u64 = 0, "packets", 0..=1_000_000;
        /// Maximum probability of an early drop.
        probability: f64 = 0.02, "", 0.0..=1.0;
        /// Rate of the link, for the decay over idle times.
        bandwidth_mbps: f64 = 10.0, "Mbit/s", 0.001..=1_000_000.0;
        /// Mark ECN-capable packets instead of dropping them early.
        ecn: bool = false, "";
        /// Drop even ECN-capable packets while the average backlog exceeds `max`.
        harddrop: bool = false, "";
        /// Adapt the maximum probability so that the average stays half-way between `min` and `max`.
        adaptive: bool = false, "";
    }
}

/// A RED queue.
pub struct Red<P> {
    params: RedParams,
    weight: f64,
    average: f64,
    /// Packets since the last early drop. `None` if the average has left the range between the thresholds since then.
    since_drop: Option<u64>,
    /// Random number in [0, 1) that determines the gap to the next drop.
    drawn: f64,
    idle_since: Option<Time>,
    ticks: Ticks,
    waiting: Fifo<P>,
    rng: Rng,
}

/// Action of RED on an arrival (Linux `red_action`).
#[derive(PartialEq, Eq)]
enum Action {
    Pass,
    Early,
    Hard,
}

impl<P: Copy> Red<P> {
    /// Source: Floyd and Jacobson (1993), section 4; Linux `red_calc_qavg`.
    fn average_now(&mut self, now: Time) {
        if let Some(since) = self.idle_since.take() {
            self.average = self.decayed(since, now);
        } else {
            self.average += self.weight * (self.waiting.backlog().bytes as f64 - self.average);
        }
    }

    /// The average backlog after an idle time, as if packets of `avpkt` bytes had arrived at the empty queue.
    fn decayed(&self, since: Time, now: Time) -> f64 {
        let packet_seconds = self.params.avpkt as f64 * 8.0 / (self.params.bandwidth_mbps * 1e6);
        self.average * (1.0 - self.weight).powf(now.since(since).as_secs_f64() / packet_seconds)
    }

    /// The probability of an early drop at an average between the thresholds. The result is not corrected by the number
    /// of packets since the last drop.
    fn probability(&self, average: f64) -> f64 {
        let (min, max) = (self.params.min as f64, self.params.max as f64);
        self.params.probability * (average - min) / (max - min)
    }

    /// Source: Floyd and Jacobson (1993), section 7; Linux `red_action`.
    fn action(&mut self) -> Action {
        let (min, max) = (self.params.min as f64, self.params.max as f64);
        if self.average < min {
            self.since_drop = None;
            return Action::Pass;
        }
        if self.average >= max {
            self.since_drop = None;
            return Action::Hard;
        }
        let Some(count) = self.since_drop else {
            self.since_drop = Some(0);
            self.drawn = self.rng.unit();
            return Action::Pass;
        };
        // The gaps between drops are uniformly distributed. The next drop is due when the number of packets times the
        // probability reaches a random number in [0, 1), which is drawn at the beginning of the gap.
        let probability = self.probability(self.average);
        self.since_drop = Some(count + 1);
        if ((count + 1) as f64) * probability < self.drawn {
            return Action::Pass;
        }
        self.since_drop = Some(0);
        self.drawn = self.rng.unit();
        Action::Early
    }

    /// Floyd, Gummadi and Shenker (2001), section 4; Linux `red_adaptative_algo`.
    fn adapt(&mut self, now: Time) {
        if !self.params.adaptive {
            return;
        }
        let (min, max) = (self.params.min as f64, self.params.max as f64);
        let (low, high) = (min + 0.4 * (max - min), min + 0.6 * (max - min));
        while self.ticks.pop(now).is_some() {
            let p = &mut self.params.probability;
            if self.average > high && *p <= 0.5 {
                *p += (*p / 4.0).min(0.01);
            } else if self.average < low && *p >= 0.01 {
                *p *= 0.9;
            }
        }
    }
}

impl<P: Copy + Send> QueueDiscipline<P> for Red<P> {
    /// Source: Linux `red_enqueue`.
    fn enqueue(&mut self, mut packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        self.average_now(now);
        self.adapt(now);
        let action = self.action();
        if action != Action::Pass {
            let marks =
                self.params.ecn && packet.ecn.may_mark() && !(action == Action::Hard && self.params.harddrop);
            if !marks {
                return events.drop(&packet);
            }
            events.mark(&mut packet);
        }
        if self.waiting.backlog().bytes + u64::from(packet.size) > self.params.limit {
            return events.drop(&packet);
        }
        self.waiting.push(packet, now);
    }

    /// Source: Linux `red_dequeue`.
    fn dequeue(&mut self, now: Time, _events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        let next = self.waiting.pop();
        if next.is_none() && self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
        next
    }

    /// Source: Linux `red_change`.
    fn resize(&mut self, limit: Limit, _now: Time, events: &mut QueueEvents<P>) -> bool {
        let Limit { packets: None, bytes: Some(bytes) } = limit else { return false };
        self.params.limit = bytes;
        shrink(self, 0, events, |queue, _| queue.waiting.pop());
        true
    }

    fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        let average = self.idle_since.map_or(self.average, |since| self.decayed(since, now));
        let probability = match average {
            average if average < self.params.min as f64 => 0.0,
            average if average >= self.params.max as f64 => 1.0,
            average => self.probability(average),
        };
        probe.see("average", average, "bytes");
        probe.see("probability", probability, "");
        probe.see("max_probability", self.params.probability, "");
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for Red<P> {
    type Params = RedParams;
    const TITLE: &'static str = "RED: random early detection, optionally adaptive";
    const SOURCE: &'static str = "Floyd and Jacobson, ToN 1(4), 1993; Linux net/sched/sch_red.c";

    /// Source: Linux `red_check_params`.
    fn check(params: &RedParams) -> Option<Problem> {
        let RedParams { min, max, .. } = *params;
        let message = || format!("{max} bytes are less than min, {min} bytes; write the smaller as min");
        (max != 0 && max < min).then(|| Problem::new("max", message()))
    }

    fn new(mut params: RedParams, seed: u64) -> Self {
        let or = |given: u64, default: u64| if given == 0 { default } else { given };
        let most = if params.min == 0 { params.limit / 4 } else { params.min.saturating_mul(3) };
        params.max = or(params.max, most).max(2);
        params.min = or(params.min, params.max / 3).clamp(1, params.max - 1);
        params.burst = or(params.burst, (2 * params.min + params.max) / (3 * params.avpkt)).max(1);
        Red {
            weight: weight(params.min, params.burst, params.avpkt),
            params,
            average: 0.0,
            since_drop: None,
            drawn: 0.0,
            idle_since: None,
            ticks: Ticks::every(ms(ADAPT_MS)),
            waiting: Fifo::default(),
            rng: Rng::stream(seed, "queue/red"),
        }
    }
}

/// The weight of the average: the largest power of 1/2 with which `burst` packets pass before the average reaches `min`
/// (as computed by `tc`).
/// Source: iproute2 `tc_red_eval_ewma`.
fn weight(min: u64, burst: u64, packet: u64) -> f64 {
    let needed = burst as f64 + 1.0 - min as f64 / packet as f64;
    let allows = |w: f64| (1.0 - (1.0 - w).powf(burst as f64)) / w >= needed;
    (1..32).map(|shift| 0.5f64.powi(shift)).find(|&w| allows(w)).unwrap_or(0.5f64.powi(31))
}
