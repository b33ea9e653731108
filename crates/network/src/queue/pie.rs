//! PIE: drops on arrival with a probability that a controller adjusts to keep the queueing delay near a target.
//!
//! RFC 8033; Linux `net/sched/sch_pie.c` with its default of measuring the delay by timestamps. The probability is a
//! floating-point number in this model and a 56-bit fraction in Linux.

use super::codel::ms;
use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting, shrink};
use super::fifo::Fifo;
use crate::Packet;
use params::{Entry, params};
use units::{Duration, Probe, Rng, Time};

/// Backlog in bytes below which no packet is dropped: two packets.
/// Source: RFC 8033 section 4.1; Linux `pie_drop_early`.
const SMALL_BACKLOG: u64 = 2 * 1514;
/// No packet is dropped while the sum of the drop probabilities since the last drop is below this value.
/// Source: RFC 8033 section 5.4; Linux `pie_drop_early`.
const MIN_ACCUMULATED: f64 = 0.85;
/// A packet is dropped with certainty when the sum of the drop probabilities since the last drop reaches this value.
/// Source: RFC 8033 section 5.4; Linux `pie_drop_early`.
const MAX_ACCUMULATED: f64 = 8.5;
/// Time for which a burst after a quiet time passes without drops.
/// Source: RFC 8033 section 4.4 (MAX_BURST); Linux `pie_vars_init`.
const BURST_ALLOWANCE: Duration = Duration::from_millis(150);
/// Queueing delay above which the probability rises by an additional two percentage points.
/// Source: RFC 8033 section 5.2; Linux `pie_calculate_probability`.
const HIGH_DELAY: Duration = Duration::from_millis(250);

params! {
    /// Parameters of PIE.
    pub struct PieParams {
        /// Maximum packets that may wait.
        limit: u64 = 1000, "packets", 1..=10_000_000, role = limit;
        /// Target of the queueing delay.
        target_ms: f64 = 15.0, "ms", 0.001..=10_000.0;
        /// Time between updates of the probability.
        tupdate_ms: f64 = 15.0, "ms", 0.1..=10_000.0;
        /// Weight of the difference between queueing delay and target, in sixteenths per second.
        alpha: u32 = 2, "1/16 s", 0..=32;
        /// Weight of the change of the queueing delay, in sixteenths per second.
        beta: u32 = 20, "1/16 s", 0..=32;
        /// Mark ECN-capable packets instead of dropping them, while the probability is at most 10 %.
        ecn: bool = false, "";
        /// Scale the accumulated probability by packet size.
        bytemode: bool = false, "";
    }
}

/// Settings of the controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) target: Duration,
    pub(super) update: Duration,
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) bytemode: bool,
}

impl Settings {
    pub(super) fn new(target_ms: f64, tupdate_ms: f64, alpha: u32, beta: u32, bytemode: bool) -> Settings {
        Settings {
            target: ms(target_ms),
            update: ms(tupdate_ms),
            alpha: f64::from(alpha) / 16.0,
            beta: f64::from(beta) / 16.0,
            bytemode,
        }
    }
}

/// State of the controller.
#[derive(Clone, Debug)]
pub(super) struct Pie {
    pub(super) probability: f64,
    accumulated: f64,
    burst_left: Duration,
    delay: Duration,
    delay_before: Duration,
    /// Time of the last departure. `None` from a renewal of the burst allowance until the next departure, so that idle
    /// time does not use up the allowance.
    last_dequeue: Option<Time>,
}

impl Default for Pie {
    fn default() -> Self {
        Pie {
            probability: 0.0,
            accumulated: 0.0,
            burst_left: BURST_ALLOWANCE,
            delay: Duration::ZERO,
            delay_before: Duration::ZERO,
            last_dequeue: None,
        }
    }
}

impl Pie {
    /// Whether to drop a packet of `size` bytes that arrives at a backlog of `backlog` bytes.
    /// Source: RFC 8033 section 4.1; Linux `pie_drop_early`.
    pub(super) fn should_drop(
        &mut self,
        settings: &Settings,
        backlog: u64,
        size: u16,
        rng: &mut Rng,
    ) -> bool {
        let calm = self.delay < settings.target / 2 && self.probability < 0.2;
        if self.burst_left > Duration::ZERO || calm || backlog < SMALL_BACKLOG {
            return false;
        }
        let share = if settings.bytemode { f64::from(size) / 1514.0 } else { 1.0 };
        let probability = self.probability * share.min(1.0);
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        } else {
            self.accumulated += probability;
        }
        let dropped = self.accumulated >= MIN_ACCUMULATED
            && (self.accumulated >= MAX_ACCUMULATED || rng.chance(probability));
        if dropped {
            self.accumulated = 0.0;
        }
        dropped
    }

    /// Record that a packet has left after the queueing delay `wait`. `empty`: whether the queue is now empty.
    /// Source: Linux `pie_process_dequeue`; RFC 8033 section 5.3 (delay by timestamps).
    pub(super) fn departed(&mut self, wait: Duration, empty: bool, now: Time) {
        self.delay = if empty { Duration::ZERO } else { wait };
        let before = self.last_dequeue.replace(now).unwrap_or(now);
        self.burst_left = self.burst_left.saturating_sub(now.since(before));
    }

    /// Update the probability. Must be called once per update interval.
    /// Source: RFC 8033 section 4.2; Linux `pie_calculate_probability`.
    pub(super) fn update(&mut self, settings: &Settings) {
        let (now, before) = (self.delay.as_secs_f64(), self.delay_before.as_secs_f64());
        let scale = self.gain();
        let mut change = scale * settings.alpha * (now - settings.target.as_secs_f64())
            + scale * settings.beta * (now - before);
        if self.probability >= 0.1 {
            change = change.min(0.02);
        }
        if self.delay > HIGH_DELAY {
            change += 0.02;
        }
        self.probability = (self.probability + change).clamp(0.0, 1.0);
        let idle = self.delay == Duration::ZERO && self.delay_before == Duration::ZERO;
        if idle {
            self.probability -= self.probability / 64.0;
        }
        let half = settings.target / 2;
        if self.delay < half && self.delay_before < half && self.probability == 0.0 {
            self.burst_left = BURST_ALLOWANCE;
            self.accumulated = 0.0;
            self.last_dequeue = None;
        }
        self.delay_before = self.delay;
    }

    /// Factor by which steps of the probability are scaled. The factor is smaller for small probabilities.
    /// Source: RFC 8033 section 4.2 (auto-tuning); Linux `pie_calculate_probability`.
    fn gain(&self) -> f64 {
        if self.probability >= 0.1 {
            return 1.0;
        }
        let thresholds = [0.01, 0.001, 1e-4, 1e-5, 1e-6];
        let below = thresholds.iter().filter(|&&t| self.probability < t).count();
        0.5 * 0.25f64.powi(below as i32)
    }
}

/// Maximum number of missed ticks that are processed. Older ticks no longer have an effect. Own choice: the maximum
/// bounds the work after a long idle time.
const MEMORY_TICKS: u64 = 4096;

/// A timer that ticks every `period`. Ticks are processed at the next call of the queue. The result is the same as with
/// ticks on time, because only the time changes between two calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    next: Time,
    period: Duration,
}

impl Ticks {
    pub(super) fn every(period: Duration) -> Ticks {
        Ticks { next: Time::ZERO + period, period }
    }

    /// Return the next tick that is due by `now`.
    /// Source: Linux `pie_timer`.
    pub(super) fn pop(&mut self, now: Time) -> Option<Time> {
        if now < self.next {
            return None;
        }
        let missed = now.since(self.next).as_nanos() / self.period.as_nanos();
        let tick = self.next + self.period * missed.saturating_sub(MEMORY_TICKS);
        self.next = tick + self.period;
        Some(tick)
    }
}

/// A queue under PIE.
pub struct PieQueue<P> {
    limit: u64,
    ecn: bool,
    settings: Settings,
    law: Pie,
    ticks: Ticks,
    waiting: Fifo<P>,
    rng: Rng,
}

impl<P> PieQueue<P> {
    /// Source: Linux `pie_timer`.
    fn catch_up(&mut self, now: Time) {
        while self.ticks.pop(now).is_some() {
            self.law.update(&self.settings);
        }
    }
}

impl<P: Copy + Send> QueueDiscipline<P> for PieQueue<P> {
    /// Source: Linux `pie_qdisc_enqueue`.
    fn enqueue(&mut self, mut packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        self.catch_up(now);
        let Backlog { packets, bytes } = self.waiting.backlog();
        if packets >= self.limit {
            return events.drop(&packet);
        }
        if self.law.should_drop(&self.settings, bytes, packet.size, &mut self.rng) {
            if !(self.ecn && self.law.probability <= 0.1 && packet.ecn.may_mark()) {
                return events.drop(&packet);
            }
            events.mark(&mut packet);
        }
        self.waiting.push(packet, now);
    }

    /// Source: Linux `pie_qdisc_dequeue`.
    fn dequeue(&mut self, now: Time, _events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        self.catch_up(now);
        let next = self.waiting.pop()?;
        self.law.departed(now.since(next.since), self.waiting.is_empty(), now);
        Some(next)
    }

    /// Source: Linux `pie_change`.
    fn resize(&mut self, limit: Limit, _now: Time, events: &mut QueueEvents<P>) -> bool {
        let Limit { packets: Some(packets), bytes: None } = limit else { return false };
        self.limit = packets;
        shrink(self, packets, events, |queue, _| queue.waiting.pop());
        true
    }

    fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        let (mut law, mut ticks) = (self.law.clone(), self.ticks);
        while ticks.pop(now).is_some() {
            law.update(&self.settings);
        }
        probe.see("probability", law.probability, "");
        probe.see("delay", law.delay.as_secs_f64(), "s");
        probe.see("burst_left", law.burst_left.as_secs_f64(), "s");
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for PieQueue<P> {
    type Params = PieParams;
    const TITLE: &'static str = "PIE: adjusts a drop probability to keep the queueing delay near a target";
    const SOURCE: &'static str = "RFC 8033; Linux net/sched/sch_pie.c";

    fn new(p: PieParams, seed: u64) -> Self {
        let settings = Settings::new(p.target_ms, p.tupdate_ms, p.alpha, p.beta, p.bytemode);
        PieQueue {
            limit: p.limit,
            ecn: p.ecn,
            settings,
            law: Pie::default(),
            ticks: Ticks::every(settings.update),
            waiting: Fifo::default(),
            rng: Rng::stream(seed, "queue/pie"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defaults of RFC 8033.
    fn settings() -> Settings {
        Settings::new(15.0, 15.0, 2, 20, false)
    }

    fn pie(probability: f64, delay_ms: f64) -> Pie {
        let delay = ms(delay_ms);
        Pie { probability, delay, delay_before: delay, burst_left: Duration::ZERO, ..Pie::default() }
    }

    /// Probabilities after updates with these queueing delays in milliseconds.
    fn path(mut law: Pie, delays_ms: &[f64]) -> Vec<f64> {
        let step = |&delay: &f64| {
            law.delay = ms(delay);
            law.update(&settings());
            law.probability
        };
        delays_ms.iter().map(step).collect()
    }

    fn assert_path(found: &[f64], expected: &[f64]) {
        let close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs());
        assert!(close && found.len() == expected.len(), "{found:?} against {expected:?}");
    }

    #[test]
    fn a_small_probability_takes_small_steps() {
        // a = 0.125/s, b = 1.25/s; halved below 10 % and quartered below 1 %, 0.1 %, ... and 0.0001 %.
        let first = 0.5 / 1024.0 * (0.125 * 0.015 + 1.25 * 0.030);
        let second = first + 0.5 / 64.0 * (0.125 * 0.015);
        let third = second + 0.5 / 64.0 * (0.125 * 0.035 + 1.25 * 0.020);
        assert_path(&path(pie(0.0, 0.0), &[30.0, 30.0, 50.0, 10.0]), &[first, second, third, 0.0]);
    }

    #[test]
    fn a_large_probability_rises_by_two_points_and_by_two_more_above_250_ms() {
        assert_path(&path(pie(0.2, 100.0), &[200.0, 300.0]), &[0.22, 0.26]);
        assert_path(&path(pie(0.2, 20.0), &[20.0]), &[0.2 + 0.125 * 0.005]);
    }

    #[test]
    fn a_probability_without_a_queue_decays_by_one_sixty_fourth() {
        let expected = (0.05 - 0.5 * 0.125 * 0.015) * 63.0 / 64.0;
        assert_path(&path(pie(0.05, 0.0), &[0.0]), &[expected]);
    }

    #[test]
    fn no_two_drops_are_closer_than_0_85_or_farther_than_8_5_over_p() {
        for probability in [0.01, 0.05, 0.3] {
            let (mut law, mut rng) = (pie(probability, 20.0), Rng::stream(1, "test"));
            let mut should_drop = |_: &u32| law.should_drop(&settings(), 100_000, 1500, &mut rng);
            let dropped: Vec<u32> = (0..100_000).filter(&mut should_drop).collect();
            let gaps = || dropped.windows(2).map(|pair| f64::from(pair[1] - pair[0]) * probability);
            assert!(gaps().all(|gap| (0.85 - 1e-9..8.5 + 1.5 * probability).contains(&gap)), "{probability}");
            assert!(gaps().any(|gap| gap < 0.85 + 1.5 * probability), "{probability}");
        }
    }

    #[test]
    fn idle_time_does_not_use_up_the_burst_allowance() {
        let mut law = Pie::default();
        law.departed(Duration::ZERO, true, Time::ZERO);
        law.update(&settings());
        law.departed(Duration::ZERO, false, Time::ZERO + Duration::from_secs(1));
        law.departed(Duration::ZERO, false, Time::ZERO + Duration::from_millis(1001));
        assert_eq!(law.burst_left, BURST_ALLOWANCE - Duration::from_millis(1));
    }
}
