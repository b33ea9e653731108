//! COBALT, CAKE's drop law: CoDel without its memory of earlier dropping states, and BLUE against unresponsive flows.

use crate::queue::discipline::{QueueEvents, Waiting};
use units::{Duration, Rng, Time};

/// A probability, as a multiple of 2^-32.
type Probability = u32;
/// Increase of BLUE's probability when a queue overflows: 1/256.
/// Source: Linux `cobalt_params` (`p_inc`).
const BLUE_UP: Probability = 1 << 24;
/// Decrease of BLUE's probability when a queue has run empty: 1/4096.
/// Source: Linux `cobalt_params` (`p_dec`).
const BLUE_DOWN: Probability = 1 << 20;

/// Settings of COBALT.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    target: Duration,
    interval: Duration,
    /// Transmission time of a full packet. The target is at least 1.5 times this value.
    mtu: Duration,
}

impl Settings {
    /// Create settings for flows of a typical `rtt`. At the rate of the tin, a full packet takes `mtu`.
    pub(super) fn new(rtt: Duration, mtu: Duration) -> Settings {
        let wanted = Duration::from_nanos((rtt.as_nanos() / 20).max(1));
        let target = wanted.max(Duration::from_nanos(mtu.as_nanos() * 3 / 2));
        Settings { target, interval: (rtt + target.saturating_sub(wanted)).max(target * 2), mtu }
    }

    /// The queueing delay that `flows` flows cause if each has two packets in the queue.
    pub(super) fn crowd(&self, flows: u32) -> Duration {
        self.mtu * (2 * u64::from(flows))
    }
}

/// The state of COBALT for one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Cobalt {
    count: u32,
    dropping: bool,
    /// The time of the next drop. While COBALT does not drop, the time of the next decay of `count`. Once `count` is
    /// zero, one interval after its last decay was due.
    next: Time,
    /// 1/√count at the last change of `count` by one, as a multiple of 2^-32. The value is 0 before the first change,
    /// so that the first gap is zero.
    /// Source: Linux `cobalt_vars_init` (`rec_inv_sqrt`).
    inverse_root: u32,
    blue: Probability,
    blue_changed: Time,
}

impl Cobalt {
    /// Whether to drop the head of the queue. A packet that is not dropped leaves now and may be marked. A queueing
    /// delay up to `least` is never too long.
    /// Source: Linux `cobalt_should_drop`.
    pub(super) fn drops<P: Copy>(
        &mut self,
        settings: &Settings,
        head: &mut Waiting<P>,
        now: Time,
        least: Duration,
        rng: &mut Rng,
        events: &mut QueueEvents<P>,
    ) -> bool {
        let wait = now.since(head.since);
        let late = wait > settings.target && wait > settings.mtu * 4 && wait > least;
        let due = self.is_due(now);
        let mut overdue = now > self.next;
        if late && !self.dropping {
            self.next = now + self.gap(settings);
        }
        if late {
            self.count = self.count.max(1);
        }
        self.dropping = late;
        let mut drop = false;
        if due && late {
            drop = !head.packet.ecn.may_mark();
            events.mark_if_capable(&mut head.packet);
            self.step(self.count.saturating_add(1), settings);
            overdue = now > self.next;
        } else if due {
            while self.is_due(now) {
                self.step(self.count - 1, settings);
            }
            overdue = now > self.next;
        }
        // BLUE drops packets of a flow that did not respond to marks and drops, even ECN-capable packets.
        drop |= self.blue > 0 && (rng.next_u64() >> 32) < u64::from(self.blue);
        if self.count == 0 {
            self.next = now + settings.interval;
        } else if overdue && !drop {
            self.next = now;
        }
        drop
    }

    /// Record that the flow dropped a packet because the discipline was full.
    /// Source: Linux `cobalt_queue_full`.
    pub(super) fn overflowed(&mut self, settings: &Settings, now: Time) {
        if now.since(self.blue_changed) > settings.target {
            self.blue = self.blue.saturating_add(BLUE_UP);
            self.blue_changed = now;
        }
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// Record that the flow was found empty.
    /// Source: Linux `cobalt_queue_empty`.
    pub(super) fn ran_empty(&mut self, settings: &Settings, now: Time) {
        if self.blue > 0 && now.since(self.blue_changed) > settings.target {
            self.blue = self.blue.saturating_sub(BLUE_DOWN);
            self.blue_changed = now;
        }
        self.dropping = false;
        if self.is_due(now) {
            self.step(self.count - 1, settings);
        }
    }

    /// Whether the drop law has no state left: BLUE never drops, `count` is zero, and `next` has passed.
    pub(super) fn at_rest(&self, now: Time) -> bool {
        self.blue == 0 && self.count == 0 && now >= self.next
    }

    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.next
    }

    /// Change `count`, and move `next` by the resulting gap.
    /// Source: Linux `cobalt_invsqrt`.
    fn step(&mut self, count: u32, settings: &Settings) {
        self.count = count;
        self.inverse_root = (2_f64.powi(32) / f64::from(count.max(1)).sqrt()) as u32; // the cast saturates
        self.next += self.gap(settings);
    }

    /// The gap between drops: interval / √count.
    /// Source: Linux `cobalt_control`.
    fn gap(&self, settings: &Settings) -> Duration {
        let scaled = u128::from(settings.interval.as_nanos()) * u128::from(self.inverse_root);
        Duration::from_nanos((scaled >> 32) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ecn, Packet, StreamId};

    /// Linux `cobalt_should_drop`: `schedule` is the time since the drop that was due before this packet.
    #[test]
    fn a_drop_that_was_next_long_ago_is_due_with_the_second_late_packet() {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let settings = Settings::new(Duration::from_millis(100), Duration::from_millis(1));
        let mut law = Cobalt { inverse_root: u32::MAX, next: at(100), ..Cobalt::default() };
        let packet = Packet { stream: StreamId(0), size: 1500, ecn: Ecn::NotEct, dscp: 0, payload: () };
        let mut drops = |since: u64, now: u64| {
            let mut head = Waiting { packet, since: at(since) };
            let (mut rng, mut events) = (Rng::stream(1, "test"), QueueEvents::default());
            law.drops(&settings, &mut head, at(now), Duration::ZERO, &mut rng, &mut events)
        };
        assert_eq!([drops(300, 310), drops(300, 311)], [false, true]);
    }
}
