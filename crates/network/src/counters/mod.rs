//! Counters of a link, per sampling interval.
//!
//! A link may be served ahead of the clock: when a packet arrives, all times of its journey may already be known.
//! Each event is counted in the interval in which it happens. An interval is read when the clock has passed its end.

mod events;
mod passages;

pub(crate) use events::LinkStats;
pub(crate) use passages::Passages;

use std::ops::{AddAssign, RangeInclusive, Sub};
use units::{Duration, Histogram, Time};

/// Times at which counters are read: every multiple of an interval, the end of the warm-up, and the end of the run.
#[derive(Clone, Copy, Debug)]
pub struct SamplingTimes {
    interval: Option<Duration>,
    warmup: Time,
    end: Time,
    /// First time that summaries cover.
    from: Time,
}

impl SamplingTimes {
    /// Create the sampling times: every multiple of `interval` (if any), `warmup` and `end`.
    pub fn new(interval: Option<Duration>, warmup: Time, end: Time) -> SamplingTimes {
        let from = if warmup == Time::ZERO { warmup } else { warmup + Duration::from_nanos(1) };
        SamplingTimes { interval: interval.filter(|&i| i > Duration::ZERO), warmup, end, from }
    }

    /// The first sampling time after `time`; [`Time::NEVER`] after the end of the run.
    pub fn after(&self, time: Time) -> Time {
        let multiple = self.interval.map_or(Time::NEVER, |interval| {
            let step = interval.as_nanos();
            Time::from_nanos((time.as_nanos() / step + 1).saturating_mul(step))
        });
        let candidates = [multiple, self.warmup, self.end];
        candidates.into_iter().filter(|&t| t > time && t <= self.end).min().unwrap_or(Time::NEVER)
    }

    /// Whether `time` is an exact multiple of the interval.
    pub fn is_sample(&self, time: Time) -> bool {
        self.interval.is_some_and(|i| time.as_nanos() % i.as_nanos() == 0)
    }

    /// Whether `time` is a sampling time.
    pub fn is_due(&self, time: Time) -> bool {
        self.is_sample(time) || time == self.warmup || time == self.end
    }

    /// Times that summaries cover: from the end of the warm-up, or from 0 without a warm-up, to the end of the run.
    #[inline]
    pub fn measured(&self) -> RangeInclusive<Time> {
        self.from..=self.end
    }

    /// Whether summaries cover `time`.
    #[inline]
    pub fn measures(&self, time: Time) -> bool {
        self.measured().contains(&time)
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

/// Counts of a link over a time span. Counts of consecutive spans can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that reached the link.
    pub arrived_packets: u64,
    /// Bytes that reached the link.
    pub arrived_bytes: u64,
    /// Packets that the queue dropped.
    pub dropped_packets: u64,
    /// Bytes that the queue dropped.
    pub dropped_bytes: u64,
    /// Packets that the queue marked.
    pub marked_packets: u64,
    /// Packets whose transmission began.
    pub started_packets: u64,
    /// Bytes of packets whose transmission began.
    pub started_bytes: u64,
    /// Sum of the queueing delays of packets whose transmission began, in nanoseconds.
    pub waited_ns: u64,
    /// Nanoseconds during which the link transmitted.
    pub busy_ns: u64,
    /// Packets lost at the far end.
    pub lost_packets: u64,
    /// Copies of packets made at the far end.
    pub duplicated_packets: u64,
    /// Packets delivered at the far end.
    pub forwarded_packets: u64,
    /// Bytes delivered at the far end.
    pub forwarded_bytes: u64,
}

impl Counters {
    /// Packets still waiting, if these counters begin with the run.
    pub fn waiting_packets(&self) -> u64 {
        self.arrived_packets - self.dropped_packets - self.started_packets
    }

    /// Bytes still waiting, if these counters begin with the run.
    pub fn waiting_bytes(&self) -> u64 {
        self.arrived_bytes - self.dropped_bytes - self.started_bytes
    }

    /// Packets being transmitted or on the wire, if these counters begin with the run.
    pub fn travelling_packets(&self) -> u64 {
        self.started_packets + self.duplicated_packets - self.lost_packets - self.forwarded_packets
    }

    /// Mean queueing delay in seconds of the packets whose transmission began; NaN if no transmission began.
    pub fn mean_wait_s(&self) -> f64 {
        self.waited_ns as f64 / self.started_packets as f64 / 1e9
    }
}

impl Sub for Counters {
    type Output = Counters;

    /// Counts since `earlier`, if both counters begin at the same time.
    fn sub(self, earlier: Counters) -> Counters {
        Counters {
            arrived_packets: self.arrived_packets - earlier.arrived_packets,
            arrived_bytes: self.arrived_bytes - earlier.arrived_bytes,
            dropped_packets: self.dropped_packets - earlier.dropped_packets,
            dropped_bytes: self.dropped_bytes - earlier.dropped_bytes,
            marked_packets: self.marked_packets - earlier.marked_packets,
            started_packets: self.started_packets - earlier.started_packets,
            started_bytes: self.started_bytes - earlier.started_bytes,
            waited_ns: self.waited_ns.wrapping_sub(earlier.waited_ns),
            busy_ns: self.busy_ns.wrapping_sub(earlier.busy_ns),
            lost_packets: self.lost_packets - earlier.lost_packets,
            duplicated_packets: self.duplicated_packets - earlier.duplicated_packets,
            forwarded_packets: self.forwarded_packets - earlier.forwarded_packets,
            forwarded_bytes: self.forwarded_bytes - earlier.forwarded_bytes,
        }
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

/// Counters of a link up to the last sampling time.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Counters since the run began.
    pub run: Counters,
    /// Counters since the warm-up ended.
    pub measured: Counters,
    /// Maximum number of packets that waited at the same time, since the warm-up ended.
    pub backlog_max_packets: u64,
    /// Queueing delays above zero, since the warm-up ended.
    waits: Histogram,
}

impl Totals {
    /// Add an interval that ended at `until`.
    fn add(&mut self, sampling: &SamplingTimes, until: Time, counters: Counters) {
        self.run += counters;
        if sampling.measures(until) {
            self.measured += counters;
        }
    }

    /// Update the maximum backlog with `packets` packets that wait at `now`.
    #[inline]
    fn backlog(&mut self, sampling: &SamplingTimes, now: Time, packets: u64) {
        if packets > self.backlog_max_packets && sampling.measures(now) {
            self.backlog_max_packets = packets;
        }
    }

    /// Record that a packet waited from `at` to `start`. Delays of zero are the most frequent delays and are not
    /// recorded, as their number follows from the counters.
    #[inline]
    fn waited(&mut self, sampling: &SamplingTimes, at: Time, start: Time) {
        if start > at && sampling.measures(start) {
            self.waits.record(start.since(at));
        }
    }

    /// Quantile `q` (0 to 1) of the queueing delay of the measured packets in seconds, to within 1 %; NaN if no
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
}
