//! Counters of a link, per sampling interval.
//!
//! A link may be served ahead of the clock: when a packet's whole journey is known on arrival, so is the time of
//! every event on it. Each event is therefore counted in the interval in which it happens, and an interval
//! is read when the clock has passed its end.

use crate::server::Transmission;
use crate::{Histogram, QueueEvents};
use std::collections::VecDeque;
use std::ops::AddAssign;
use units::{Duration, Time};

/// When counters are read: at every multiple of an interval, when the warm-up ends, and at the end.
#[derive(Clone, Copy, Debug)]
pub struct SamplingTimes {
    interval: Option<Duration>,
    warmup: Time,
    end: Time,
    /// First time that summaries cover.
    from: Time,
}

impl SamplingTimes {
    /// Times at every multiple of `interval` (if any), at `warmup` and at `end`.
    pub fn new(interval: Option<Duration>, warmup: Time, end: Time) -> SamplingTimes {
        let from = if warmup == Time::ZERO { warmup } else { warmup + Duration::from_nanos(1) };
        SamplingTimes { interval: interval.filter(|&i| i > Duration::ZERO), warmup, end, from }
    }

    /// The first sampling time after `time`; never once the run has ended.
    pub fn after(&self, time: Time) -> Time {
        let multiple = self.interval.map_or(Time::NEVER, |interval| {
            let step = interval.as_nanos();
            Time::from_nanos((time.as_nanos() / step + 1).saturating_mul(step))
        });
        let candidates = [multiple, self.warmup, self.end];
        candidates.into_iter().filter(|&t| t > time && t <= self.end).min().unwrap_or(Time::NEVER)
    }

    /// `time` is an exact multiple of the interval.
    pub fn is_sample(&self, time: Time) -> bool {
        self.interval.is_some_and(|i| time.as_nanos() % i.as_nanos() == 0)
    }

    /// `time` belongs to what summaries cover: after the warm-up (or from 0 if there is none), up to the end.
    pub fn measures(&self, time: Time) -> bool {
        (self.from..=self.end).contains(&time)
    }

    /// End of the warm-up.
    pub fn warmup(&self) -> Time {
        self.warmup
    }

    /// End of the run.
    pub fn end(&self) -> Time {
        self.end
    }
}

/// What happened on a link over a span of time. Spans can be added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that reached the link.
    pub arrived_packets: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Packets that the queue dropped.
    pub dropped_packets: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Packets that the queue marked.
    pub marked_packets: u64,
    /// Packets whose transmission began.
    pub started_packets: u64,
    /// Their bytes.
    pub started_bytes: u64,
    /// Nanoseconds that those packets had waited, added up.
    pub waited_ns: u64,
    /// Nanoseconds during which the link transmitted.
    pub busy_ns: u64,
    /// Packets lost at the far end.
    pub lost_packets: u64,
    /// Copies that came into being there.
    pub duplicated_packets: u64,
    /// Packets handed over at the far end.
    pub forwarded_packets: u64,
    /// Their bytes.
    pub forwarded_bytes: u64,
}

impl Counters {
    /// Packets still waiting, if these counters start with the run.
    pub fn waiting_packets(&self) -> u64 {
        self.arrived_packets - self.dropped_packets - self.started_packets
    }

    /// Bytes still waiting, if these counters start with the run.
    pub fn waiting_bytes(&self) -> u64 {
        self.arrived_bytes - self.dropped_bytes - self.started_bytes
    }

    /// Packets being transmitted or on the wire, if these counters start with the run.
    pub fn travelling_packets(&self) -> u64 {
        self.started_packets + self.duplicated_packets - self.lost_packets - self.forwarded_packets
    }

    /// Mean wait in seconds of the packets whose transmission began; NaN if there were none.
    pub fn mean_wait_s(&self) -> f64 {
        self.waited_ns as f64 / self.started_packets as f64 / 1e9
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.arrived_packets += other.arrived_packets;
        self.arrived_bytes += other.arrived_bytes;
        self.dropped_packets += other.dropped_packets;
        self.dropped_bytes += other.dropped_bytes;
        self.marked_packets += other.marked_packets;
        self.started_packets += other.started_packets;
        self.started_bytes += other.started_bytes;
        self.waited_ns = self.waited_ns.saturating_add(other.waited_ns);
        self.busy_ns += other.busy_ns;
        self.lost_packets += other.lost_packets;
        self.duplicated_packets += other.duplicated_packets;
        self.forwarded_packets += other.forwarded_packets;
        self.forwarded_bytes += other.forwarded_bytes;
    }
}

/// What a link has done up to the last sampling time.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Since the run began.
    pub run: Counters,
    /// Since the warm-up ended.
    pub measured: Counters,
    /// Most packets that waited at once since the warm-up ended.
    pub backlog_max_packets: u64,
    /// Waits that were longer than zero, since the warm-up ended.
    waits: Histogram,
}

impl Totals {
    /// The wait in seconds that the share `q` of the measured packets does not exceed, to within 1 %; NaN if no
    /// transmission was measured.
    pub fn wait_quantile_s(&self, q: f64) -> f64 {
        let all = self.measured.started_packets;
        let without = all - self.waits.count();
        let rank = (q * all as f64).ceil();
        match (all, rank > without as f64) {
            (0, _) => f64::NAN,
            (_, false) => 0.0,
            (_, true) => self.waits.quantile_s((rank - without as f64) / self.waits.count() as f64),
        }
    }
}

/// What happened between two sampling times.
#[derive(Clone, Copy, Debug)]
struct Interval {
    /// The sampling time that closes it; events at that very time still belong to it.
    until: Time,
    counters: Counters,
}

/// Counters per interval, and what summaries need besides.
#[derive(Clone, Debug)]
pub(crate) struct LinkStats {
    sampling: SamplingTimes,
    open: Interval,
    /// Intervals begun ahead of the clock, in order, without a gap.
    later: VecDeque<Interval>,
    /// Rarely touched, kept out of the way of what every packet touches.
    totals: Box<Totals>,
}

impl LinkStats {
    pub fn new(sampling: SamplingTimes) -> LinkStats {
        let open = Interval { until: sampling.after(Time::ZERO), counters: Counters::default() };
        LinkStats { sampling, open, later: VecDeque::new(), totals: Box::default() }
    }

    /// A packet passes: it arrives at `at`, its transmission takes from `start` to `finish`, and at `arrival` it
    /// reaches the far end, or is lost there.
    #[inline]
    pub fn passed(&mut self, size: u16, at: Time, sent: Transmission, arrival: Time, lost: bool) {
        if arrival > self.open.until || lost {
            self.passed_across_intervals(size, at, sent, arrival, lost);
        } else {
            let (interval, bytes) = (&mut self.open.counters, u64::from(size));
            interval.arrived_packets += 1;
            interval.arrived_bytes += bytes;
            interval.started_packets += 1;
            interval.started_bytes += bytes;
            interval.forwarded_packets += 1;
            interval.forwarded_bytes += bytes;
            interval.waited_ns = interval.waited_ns.saturating_add(sent.start.since(at).as_nanos());
            interval.busy_ns += sent.finish.since(sent.start).as_nanos();
        }
        self.waited(at, sent.start);
    }

    /// The same, when not everything happens before the next sampling time.
    fn passed_across_intervals(
        &mut self,
        size: u16,
        at: Time,
        sent: Transmission,
        arrival: Time,
        lost: bool,
    ) {
        self.arrived(at, size);
        self.started(size, at, sent);
        if lost {
            self.lost(arrival);
        } else {
            self.forwarded(arrival, size);
        }
    }

    pub fn arrived(&mut self, now: Time, size: u16) {
        let interval = self.interval_of(now);
        interval.arrived_packets += 1;
        interval.arrived_bytes += u64::from(size);
    }

    pub fn queue_events(&mut self, now: Time, events: QueueEvents) {
        let interval = self.interval_of(now);
        interval.dropped_packets += events.dropped_packets;
        interval.dropped_bytes += events.dropped_bytes;
        interval.marked_packets += events.marked_packets;
    }

    pub fn backlog(&mut self, now: Time, packets: u64) {
        if packets > self.totals.backlog_max_packets && self.sampling.measures(now) {
            self.totals.backlog_max_packets = packets;
        }
    }

    /// The transmission of a packet that arrived at `at` begins.
    pub fn started(&mut self, size: u16, at: Time, sent: Transmission) {
        let interval = self.interval_of(sent.start);
        interval.started_packets += 1;
        interval.started_bytes += u64::from(size);
        interval.waited_ns = interval.waited_ns.saturating_add(sent.start.since(at).as_nanos());
        self.busy(sent.start, sent.finish);
    }

    /// A packet waited from `at` to `start`. Most packets of most links do not wait: those are counted by difference.
    #[inline]
    pub fn waited(&mut self, at: Time, start: Time) {
        if start > at && self.sampling.measures(start) {
            self.totals.waits.record(start.since(at));
        }
    }

    pub fn lost(&mut self, now: Time) {
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

    /// Closes the interval that ends now.
    pub fn close(&mut self) -> Counters {
        let Interval { until, counters } = self.open;
        self.totals.run += counters;
        if self.sampling.measures(until) {
            self.totals.measured += counters;
        }
        let next = Interval { until: self.sampling.after(until), counters: Counters::default() };
        self.open = self.later.pop_front().unwrap_or(next);
        counters
    }

    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Splits the time of a transmission between the intervals it touches.
    fn busy(&mut self, mut start: Time, finish: Time) {
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

    /// The interval behind the open one that `time` belongs to.
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
    fn sampling_times_are_multiples_the_warmup_and_the_end() {
        let sampling = SamplingTimes::new(Some(Duration::from_millis(10)), ms(15), ms(32));
        let all: Vec<Time> = std::iter::successors(Some(Time::ZERO), |&t| Some(sampling.after(t)))
            .skip(1)
            .take_while(|&t| t != Time::NEVER)
            .collect();
        assert_eq!(all, [10, 15, 20, 30, 32].map(ms));
        assert!(sampling.is_sample(ms(30)) && !sampling.is_sample(ms(32)));
        assert!(!sampling.measures(ms(15)) && sampling.measures(ms(16)) && !sampling.measures(ms(33)));
    }

    #[test]
    fn a_transmission_is_split_at_sampling_times() {
        let mut stats =
            LinkStats::new(SamplingTimes::new(Some(Duration::from_millis(10)), Time::ZERO, ms(100)));
        stats.started(100, ms(8), Transmission { start: ms(8), finish: ms(25) });
        let intervals = [stats.close(), stats.close(), stats.close()];
        assert_eq!(intervals.map(|c| c.busy_ns / 1_000_000), [2, 10, 5]);
        assert_eq!(intervals.map(|c| c.started_packets), [1, 0, 0]);
    }

    #[test]
    fn events_ahead_of_the_clock_wait_for_their_interval() {
        let mut stats = LinkStats::new(SamplingTimes::new(Some(Duration::from_millis(10)), ms(20), ms(40)));
        stats.forwarded(ms(35), 7);
        stats.forwarded(ms(10), 1);
        stats.forwarded(ms(20), 2);
        assert_eq!([0; 4].map(|_| stats.close().forwarded_bytes), [1, 2, 0, 7]);
        assert_eq!(stats.totals().run.forwarded_bytes, 10);
        assert_eq!(stats.totals().measured.forwarded_bytes, 7);
    }

    #[test]
    fn the_quantile_counts_those_who_did_not_wait() {
        let mut stats = LinkStats::new(SamplingTimes::new(None, Time::ZERO, ms(40)));
        let now = Transmission { start: ms(1), finish: ms(1) };
        (0..90).for_each(|_| stats.passed(100, ms(1), now, ms(1), false));
        (0..10).for_each(|_| stats.passed(100, ms(1) - Duration::from_nanos(100), now, ms(1), false));
        stats.close();
        assert_eq!(stats.totals().wait_quantile_s(0.9), 0.0);
        assert_eq!(stats.totals().wait_quantile_s(0.95), 100e-9);
    }
}
