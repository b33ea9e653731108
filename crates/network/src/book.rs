//! What a link writes down.
//!
//! A link may be served ahead of the clock: when a packet's whole journey is known on arrival, so is the time of
//! every event on it. Each event is therefore booked on the page of the interval in which it happens, and a page
//! is read when the clock has passed its end.

use crate::server::Transmission;
use crate::{Histogram, Losses};
use std::collections::VecDeque;
use std::ops::AddAssign;
use units::{Duration, Time};

/// When somebody looks at the counters: at every multiple of an interval, when the warm-up ends, and at the end.
#[derive(Clone, Copy, Debug)]
pub struct Looks {
    interval: Option<Duration>,
    warmup: Time,
    end: Time,
    /// First time that summaries cover.
    from: Time,
}

impl Looks {
    /// Looks every `interval` (if any), at `warmup` and at `end`.
    pub fn new(interval: Option<Duration>, warmup: Time, end: Time) -> Looks {
        let from = if warmup == Time::ZERO { warmup } else { warmup + Duration::from_nanos(1) };
        Looks { interval: interval.filter(|&i| i > Duration::ZERO), warmup, end, from }
    }

    /// The first look after `time`; never once the run has ended.
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

/// What a link has done up to the last look.
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

/// One interval between two looks.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// The look that closes it; events at that very time still belong to it.
    until: Time,
    counters: Counters,
}

/// Counters per interval, and what summaries need besides.
#[derive(Clone, Debug)]
pub(crate) struct Book {
    looks: Looks,
    open: Page,
    /// Pages begun ahead of the clock, in order, without a gap.
    later: VecDeque<Page>,
    /// Rarely touched, kept out of the way of what every packet touches.
    totals: Box<Totals>,
}

impl Book {
    pub fn new(looks: Looks) -> Book {
        let open = Page { until: looks.after(Time::ZERO), counters: Counters::default() };
        Book { looks, open, later: VecDeque::new(), totals: Box::default() }
    }

    /// A packet passes: it arrives at `at`, its transmission takes from `start` to `finish`, and at `arrival` it
    /// reaches the far end, or is lost there.
    #[inline]
    pub fn passed(&mut self, size: u16, at: Time, sent: Transmission, arrival: Time, lost: bool) {
        if arrival > self.open.until || lost {
            self.passed_across_pages(size, at, sent, arrival, lost);
        } else {
            let (page, bytes) = (&mut self.open.counters, u64::from(size));
            page.arrived_packets += 1;
            page.arrived_bytes += bytes;
            page.started_packets += 1;
            page.started_bytes += bytes;
            page.forwarded_packets += 1;
            page.forwarded_bytes += bytes;
            page.waited_ns = page.waited_ns.saturating_add(sent.start.since(at).as_nanos());
            page.busy_ns += sent.finish.since(sent.start).as_nanos();
        }
        self.waited(at, sent.start);
    }

    /// The same, when not everything happens before the next look.
    fn passed_across_pages(&mut self, size: u16, at: Time, sent: Transmission, arrival: Time, lost: bool) {
        self.arrived(at, size);
        self.started(size, at, sent);
        if lost {
            self.lost(arrival);
        } else {
            self.forwarded(arrival, size);
        }
    }

    pub fn arrived(&mut self, now: Time, size: u16) {
        let page = self.page(now);
        page.arrived_packets += 1;
        page.arrived_bytes += u64::from(size);
    }

    pub fn losses(&mut self, now: Time, losses: Losses) {
        let page = self.page(now);
        page.dropped_packets += losses.dropped_packets;
        page.dropped_bytes += losses.dropped_bytes;
        page.marked_packets += losses.marked_packets;
    }

    pub fn backlog(&mut self, now: Time, packets: u64) {
        if packets > self.totals.backlog_max_packets && self.looks.measures(now) {
            self.totals.backlog_max_packets = packets;
        }
    }

    /// The transmission of a packet that arrived at `at` begins.
    pub fn started(&mut self, size: u16, at: Time, sent: Transmission) {
        let page = self.page(sent.start);
        page.started_packets += 1;
        page.started_bytes += u64::from(size);
        page.waited_ns = page.waited_ns.saturating_add(sent.start.since(at).as_nanos());
        self.busy(sent.start, sent.finish);
    }

    /// A packet waited from `at` to `start`. Most packets of most links do not wait: those are counted by difference.
    #[inline]
    pub fn waited(&mut self, at: Time, start: Time) {
        if start > at && self.looks.measures(start) {
            self.totals.waits.record(start.since(at));
        }
    }

    pub fn lost(&mut self, now: Time) {
        self.page(now).lost_packets += 1;
    }

    pub fn duplicated(&mut self, now: Time) {
        self.page(now).duplicated_packets += 1;
    }

    pub fn forwarded(&mut self, now: Time, size: u16) {
        let page = self.page(now);
        page.forwarded_packets += 1;
        page.forwarded_bytes += u64::from(size);
    }

    /// Closes the page that ends now.
    pub fn close(&mut self) -> Counters {
        let Page { until, counters } = self.open;
        self.totals.run += counters;
        if self.looks.measures(until) {
            self.totals.measured += counters;
        }
        let next = Page { until: self.looks.after(until), counters: Counters::default() };
        self.open = self.later.pop_front().unwrap_or(next);
        counters
    }

    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Splits the time of a transmission between the pages it touches.
    fn busy(&mut self, mut start: Time, finish: Time) {
        while start < finish {
            let page = if start < self.open.until {
                &mut self.open
            } else {
                self.page_ahead(start + Duration::from_nanos(1))
            };
            let until = finish.min(page.until);
            page.counters.busy_ns += until.since(start).as_nanos();
            start = until;
        }
    }

    fn page(&mut self, time: Time) -> &mut Counters {
        if time <= self.open.until { &mut self.open.counters } else { &mut self.page_ahead(time).counters }
    }

    /// The page behind the open one that `time` belongs to.
    #[cold]
    fn page_ahead(&mut self, time: Time) -> &mut Page {
        let mut last = self.later.back().map_or(self.open.until, |page| page.until);
        while last < time {
            last = self.looks.after(last);
            self.later.push_back(Page { until: last, counters: Counters::default() });
        }
        let index = self.later.partition_point(|page| page.until < time);
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
    fn looks_are_multiples_the_warmup_and_the_end() {
        let looks = Looks::new(Some(Duration::from_millis(10)), ms(15), ms(32));
        let all: Vec<Time> = std::iter::successors(Some(Time::ZERO), |&t| Some(looks.after(t)))
            .skip(1)
            .take_while(|&t| t != Time::NEVER)
            .collect();
        assert_eq!(all, [10, 15, 20, 30, 32].map(ms));
        assert!(looks.is_sample(ms(30)) && !looks.is_sample(ms(32)));
        assert!(!looks.measures(ms(15)) && looks.measures(ms(16)) && !looks.measures(ms(33)));
    }

    #[test]
    fn a_transmission_is_split_where_somebody_looks() {
        let mut book = Book::new(Looks::new(Some(Duration::from_millis(10)), Time::ZERO, ms(100)));
        book.started(100, ms(8), Transmission { start: ms(8), finish: ms(25) });
        let pages = [book.close(), book.close(), book.close()];
        assert_eq!(pages.map(|c| c.busy_ns / 1_000_000), [2, 10, 5]);
        assert_eq!(pages.map(|c| c.started_packets), [1, 0, 0]);
    }

    #[test]
    fn events_ahead_of_the_clock_wait_for_their_page() {
        let mut book = Book::new(Looks::new(Some(Duration::from_millis(10)), ms(20), ms(40)));
        book.forwarded(ms(35), 7);
        book.forwarded(ms(10), 1);
        book.forwarded(ms(20), 2);
        assert_eq!([0; 4].map(|_| book.close().forwarded_bytes), [1, 2, 0, 7]);
        assert_eq!(book.totals().run.forwarded_bytes, 10);
        assert_eq!(book.totals().measured.forwarded_bytes, 7);
    }

    #[test]
    fn the_quantile_counts_those_who_did_not_wait() {
        let mut book = Book::new(Looks::new(None, Time::ZERO, ms(40)));
        let now = Transmission { start: ms(1), finish: ms(1) };
        (0..90).for_each(|_| book.passed(100, ms(1), now, ms(1), false));
        (0..10).for_each(|_| book.passed(100, ms(1) - Duration::from_nanos(100), now, ms(1), false));
        book.close();
        assert_eq!(book.totals().wait_quantile_s(0.9), 0.0);
        assert_eq!(book.totals().wait_quantile_s(0.95), 100e-9);
    }
}
