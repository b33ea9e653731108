//! Counters of a link on which the departure or drop of a packet is not known when the packet arrives.

use super::{Counters, SamplingTimes, Totals};
use crate::queue::Released;
use crate::server::Transmission;
use crate::{Drops, Packet, QueueEvents};
use std::collections::VecDeque;
use std::sync::Arc;
use units::{Duration, Time};

/// Counts between two sampling times.
#[derive(Clone, Copy, Debug)]
struct Interval {
    /// The sampling time at the end of the interval. Events at exactly this time belong to the interval.
    until: Time,
    counters: Counters,
}

/// Counters per interval, updated event by event, and totals for summaries.
pub(crate) struct LinkStats<P> {
    sampling: SamplingTimes,
    open: Interval,
    /// Intervals that have begun ahead of the clock, in order, without gaps.
    later: VecDeque<Interval>,
    /// Totals for summaries, which few packets touch. The box keeps the totals out of the cache lines that every packet
    /// touches.
    totals: Box<Totals>,
    /// Counter of drops by flow, if drops are counted.
    drops: Option<Arc<Drops<P>>>,
}

impl<P> LinkStats<P> {
    pub fn new(sampling: SamplingTimes) -> LinkStats<P> {
        let open = Interval { until: sampling.after(Time::ZERO), counters: Counters::default() };
        LinkStats { sampling, open, later: VecDeque::new(), totals: Box::default(), drops: None }
    }

    /// Start to count drops by flow, too.
    pub fn count_drops(&mut self, drops: &Arc<Drops<P>>) {
        self.drops = Some(Arc::clone(drops));
    }

    pub fn arrived(&mut self, now: Time, size: u16) {
        let interval = self.interval_of(now);
        interval.arrived_packets += 1;
        interval.arrived_bytes += u64::from(size);
    }

    /// Call a queue and count its drops and marks. Dropped packets are also appended to `listed`, if given.
    #[inline]
    pub fn queue_events<T>(
        &mut self,
        now: Time,
        listed: Option<&mut Vec<Released>>,
        act: impl FnOnce(&mut QueueEvents<P>) -> T,
    ) -> T {
        let counted = self.drops.as_deref().map(|drops| (drops, self.counted_at(now)));
        let mut events = QueueEvents { listed, counted, ..QueueEvents::default() };
        let done = act(&mut events);
        let QueueEvents { dropped_packets, dropped_bytes, marked_packets, .. } = events;
        let interval = self.interval_of(now);
        interval.dropped_packets += dropped_packets;
        interval.dropped_bytes += dropped_bytes;
        interval.marked_packets += marked_packets;
        done
    }

    /// The time at which an event at `now` is counted: `now`, or the end of the open interval if that is later.
    #[inline]
    fn counted_at(&self, now: Time) -> Time {
        now.max(self.open.until)
    }

    pub fn backlog(&mut self, now: Time, packets: u64) {
        self.totals.backlog(&self.sampling, now, packets);
    }

    /// Count a packet that arrived at `at` and whose transmission begins.
    pub fn started(&mut self, size: u16, at: Time, sent: Transmission) {
        let interval = self.interval_of(sent.start);
        interval.started_packets += 1;
        interval.started_bytes += u64::from(size);
        interval.waited_ns = interval.waited_ns.saturating_add(sent.start.since(at).as_nanos());
        self.busy(sent.start, sent.finish);
    }

    /// Record that a packet waited from `at` to `start`.
    #[inline]
    pub fn waited(&mut self, at: Time, start: Time) {
        self.totals.waited(&self.sampling, at, start);
    }

    pub fn lost(&mut self, now: Time, packet: &Packet<P>) {
        if let Some(drops) = &self.drops {
            drops.count(self.counted_at(now), packet);
        }
        self.interval_of(now).lost_packets += 1;
    }

    pub fn duplicated(&mut self, now: Time) {
        self.interval_of(now).duplicated_packets += 1;
    }

    pub fn forwarded(&mut self, now: Time, size: u16) {
        let interval = self.interval_of(now);
        interval.forwarded_packets += 1;
        interval.forwarded_bytes += u64::from(size);
    }

    /// Close the interval that ends now.
    pub fn close(&mut self) -> Counters {
        let Interval { until, counters } = self.open;
        self.totals.add(&self.sampling, until, counters);
        let next = Interval { until: self.sampling.after(until), counters: Counters::default() };
        self.open = self.later.pop_front().unwrap_or(next);
        counters
    }

    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Split the time of a transmission among the intervals that the transmission touches.
    pub fn busy(&mut self, mut start: Time, finish: Time) {
        while start < finish {
            let interval = if start < self.open.until {
                &mut self.open
            } else {
                self.interval_ahead(start + Duration::from_nanos(1))
            };
            let until = finish.min(interval.until);
            interval.counters.busy_ns += until.since(start).as_nanos();
            start = until;
        }
    }

    fn interval_of(&mut self, time: Time) -> &mut Counters {
        if time <= self.open.until {
            &mut self.open.counters
        } else {
            &mut self.interval_ahead(time).counters
        }
    }

    /// The interval after the open interval that contains `time`.
    #[cold]
    fn interval_ahead(&mut self, time: Time) -> &mut Interval {
        let mut last = self.later.back().map_or(self.open.until, |interval| interval.until);
        while last < time {
            last = self.sampling.after(last);
            self.later.push_back(Interval { until: last, counters: Counters::default() });
        }
        let index = self.later.partition_point(|interval| interval.until < time);
        &mut self.later[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    #[test]
    fn a_transmission_is_split_at_sampling_times() {
        let mut stats =
            LinkStats::<()>::new(SamplingTimes::new(Some(Duration::from_millis(10)), Time::ZERO, ms(100)));
        stats.started(100, ms(8), Transmission { start: ms(8), finish: ms(25) });
        let intervals = [stats.close(), stats.close(), stats.close()];
        assert_eq!(intervals.map(|c| c.busy_ns / 1_000_000), [2, 10, 5]);
        assert_eq!(intervals.map(|c| c.started_packets), [1, 0, 0]);
    }

    #[test]
    fn events_ahead_of_the_clock_wait_for_their_interval() {
        let mut stats =
            LinkStats::<()>::new(SamplingTimes::new(Some(Duration::from_millis(10)), ms(20), ms(40)));
        stats.forwarded(ms(35), 7);
        stats.forwarded(ms(10), 1);
        stats.forwarded(ms(20), 2);
        assert_eq!([0; 4].map(|_| stats.close().forwarded_bytes), [1, 2, 0, 7]);
        assert_eq!(stats.totals().run.forwarded_bytes, 10);
        assert_eq!(stats.totals().measured.forwarded_bytes, 7);
    }

    #[test]
    fn the_quantile_counts_those_who_did_not_wait() {
        let mut stats = LinkStats::<()>::new(SamplingTimes::new(None, Time::ZERO, ms(40)));
        let now = Transmission { start: ms(1), finish: ms(1) };
        let pass = |stats: &mut LinkStats<()>, at| {
            stats.started(100, at, now);
            stats.waited(at, now.start);
        };
        (0..90).for_each(|_| pass(&mut stats, ms(1)));
        (0..10).for_each(|_| pass(&mut stats, Time::from_nanos(999_900)));
        stats.close();
        assert_eq!(stats.totals().wait_quantile_s(0.9), 0.0);
        assert_eq!(stats.totals().wait_quantile_s(0.95), 100e-9);
    }
}
