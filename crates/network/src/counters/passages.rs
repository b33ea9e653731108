//! Counters of a link on which the whole journey of a packet is known on arrival.
//!
//! Packets keep their order on such a link, so one list of packets with three positions is enough. The positions say
//! how many packets have arrived, have started, and have reached the far end by a given time. For each packet, only the
//! length of the list and sums over the list are updated. When a packet is the first to pass one of the three positions
//! after a sampling time, the sums before that packet are noted for that time.

use super::{Counters, SamplingTimes, Totals};
use crate::server::Transmission;
use std::collections::VecDeque;
use units::{Duration, Time};

/// State that every packet touches.
#[derive(Clone, Debug)]
pub(crate) struct Passages {
    /// Packets that were not dropped.
    packets: u64,
    /// Sum of the queueing delays of these packets in nanoseconds.
    waited_ns: u64,
    /// Bytes of these packets.
    bytes: u64,
    /// A packet that arrives later than this time may be the first to arrive after a sampling time.
    arrives_by: Time,
    /// Sum of the transmission times of these packets in nanoseconds.
    busy_ns: u64,
    /// A packet that reaches the far end later than this time may be the first to start, or to reach the far end,
    /// after a sampling time.
    ends_by: Time,
    rest: Box<Rest>,
}

/// State that few packets touch.
#[derive(Clone, Debug)]
struct Rest {
    sampling: SamplingTimes,
    /// Minimum time from the end of a transmission to the far end.
    delay: Duration,
    dropped_packets: u64,
    dropped_bytes: u64,
    lost_packets: u64,
    lost_bytes: u64,
    arrivals: Place,
    starts: Place,
    ends: Place,
    /// Notes for sampling times that are ahead of the clock and that packets have passed.
    notes: VecDeque<Note>,
    /// Counters at the last sampling time, since the beginning of the run.
    closed: Counters,
    totals: Totals,
}

/// Position at which packets are counted: arrival, start, or far end.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// First sampling time that no packet has passed at this position.
    until: Time,
    /// Number of notes to which this position has contributed.
    notes: usize,
}

/// Counters at a sampling time, since the beginning of the run. Each position notes its own part.
#[derive(Clone, Copy, Debug)]
struct Note {
    at: Time,
    counters: Counters,
}

impl Passages {
    /// Create counters of a link on which a packet takes at least `delay` from the end of its transmission to the far
    /// end.
    pub fn new(sampling: SamplingTimes, delay: Duration) -> Passages {
        let place = Place { until: sampling.after(Time::ZERO), notes: 0 };
        let rest = Rest {
            sampling,
            delay,
            dropped_packets: 0,
            dropped_bytes: 0,
            lost_packets: 0,
            lost_bytes: 0,
            arrivals: place,
            starts: place,
            ends: place,
            notes: VecDeque::new(),
            closed: Counters::default(),
            totals: Totals::default(),
        };
        let (arrives_by, ends_by) = (place.until, place.until);
        Passages { arrives_by, ends_by, packets: 0, bytes: 0, busy_ns: 0, waited_ns: 0, rest: Box::new(rest) }
    }

    /// Count a packet of `size` bytes that arrives at `at` and reaches the far end at `arrival`. The packet is
    /// transmitted after a packet that left at `free_at`.
    #[inline]
    pub fn passed(&mut self, size: u16, at: Time, sent: Transmission, arrival: Time, free_at: Time) {
        if at > self.arrives_by || arrival > self.ends_by {
            self.pass_sampling_times(at, sent.start, arrival, free_at);
        }
        self.packets += 1;
        self.bytes += u64::from(size);
        self.busy_ns = self.busy_ns.wrapping_add(sent.finish.as_nanos() - sent.start.as_nanos());
        if sent.start > at {
            self.waited_ns = self.waited_ns.wrapping_add(sent.start.since(at).as_nanos());
            self.rest.totals.waited(&self.rest.sampling, at, sent.start);
        }
    }

    /// Count the last packet as lost at the far end. Return the end of the interval in which the loss counts.
    #[cold]
    pub fn lost(&mut self, size: u16) -> Time {
        self.rest.lost_packets += 1;
        self.rest.lost_bytes += u64::from(size);
        self.rest.ends.until
    }

    /// Count a packet that arrives at `at` and is dropped. Return the end of the interval in which the drop counts.
    #[cold]
    #[inline(never)]
    pub fn dropped(&mut self, size: u16, at: Time) -> Time {
        if at > self.arrives_by {
            self.pass_sampling_times(at, Time::ZERO, Time::ZERO, Time::ZERO);
        }
        self.rest.dropped_packets += 1;
        self.rest.dropped_bytes += u64::from(size);
        self.rest.arrivals.until
    }

    /// Maximum number of packets that have waited at the same time since the end of the warm-up.
    #[inline]
    pub fn most_waiting(&self) -> u64 {
        self.rest.totals.backlog_max_packets
    }

    /// Update the maximum backlog with `packets` packets that wait at `now`.
    #[inline]
    pub fn backlog(&mut self, now: Time, packets: u64) {
        self.rest.totals.backlog(&self.rest.sampling, now, packets);
    }

    /// Close the interval that ends now. The last transmission ends at `free_at`.
    pub fn close(&mut self, free_at: Time) -> Counters {
        let now = self.so_far();
        let interval = self.rest.close(&now, free_at);
        self.set_limits();
        interval
    }

    /// Counters up to the last sampling time.
    pub fn totals(&self) -> &Totals {
        &self.rest.totals
    }

    /// Note the counters at all sampling times that this packet is the first to pass on arrival, at its start or at the
    /// far end. An argument of zero passes no sampling time.
    #[cold]
    #[inline(never)]
    fn pass_sampling_times(&mut self, at: Time, start: Time, arrival: Time, free_at: Time) {
        let before = self.so_far();
        let rest = &mut *self.rest;
        while at > rest.arrivals.until {
            rest.note_arrivals(&before);
        }
        while start > rest.starts.until {
            rest.note_starts(&before, free_at);
        }
        while arrival > rest.ends.until {
            rest.note_ends(&before);
        }
        self.set_limits();
    }

    fn set_limits(&mut self) {
        self.arrives_by = self.rest.arrivals.until;
        self.ends_by = self.rest.ends.until.min(self.rest.starts.until + self.rest.delay);
    }

    /// The counters up to now.
    fn so_far(&self) -> Counters {
        let &Passages { packets, bytes, busy_ns, waited_ns, ref rest, .. } = self;
        Counters {
            arrived_packets: packets + rest.dropped_packets,
            arrived_bytes: bytes + rest.dropped_bytes,
            dropped_packets: rest.dropped_packets,
            dropped_bytes: rest.dropped_bytes,
            started_packets: packets,
            started_bytes: bytes,
            waited_ns,
            busy_ns,
            lost_packets: rest.lost_packets,
            forwarded_packets: packets - rest.lost_packets,
            forwarded_bytes: bytes - rest.lost_bytes,
            ..Counters::default()
        }
    }
}

impl Rest {
    fn note_arrivals(&mut self, before: &Counters) {
        let Note { counters, .. } = self.arrivals.pass(&self.sampling, &mut self.notes);
        counters.arrived_packets = before.arrived_packets;
        counters.arrived_bytes = before.arrived_bytes;
        counters.dropped_packets = before.dropped_packets;
        counters.dropped_bytes = before.dropped_bytes;
    }

    /// Note the packets that have started. If the last transmission ends at `free_at` after the sampling time, the part
    /// of the transmission after the sampling time belongs to the next interval.
    fn note_starts(&mut self, before: &Counters, free_at: Time) {
        let Note { at, counters } = self.starts.pass(&self.sampling, &mut self.notes);
        counters.started_packets = before.started_packets;
        counters.started_bytes = before.started_bytes;
        counters.waited_ns = before.waited_ns;
        counters.busy_ns = before.busy_ns.wrapping_sub(free_at.since(*at).as_nanos());
    }

    fn note_ends(&mut self, before: &Counters) {
        let Note { counters, .. } = self.ends.pass(&self.sampling, &mut self.notes);
        counters.lost_packets = before.lost_packets;
        counters.forwarded_packets = before.forwarded_packets;
        counters.forwarded_bytes = before.forwarded_bytes;
    }

    /// Close the first open interval. For positions whose packets have not passed the end of the interval, the
    /// counters are `now`.
    fn close(&mut self, now: &Counters, free_at: Time) -> Counters {
        if self.arrivals.notes == 0 {
            self.note_arrivals(now);
        }
        if self.starts.notes == 0 {
            self.note_starts(now, free_at);
        }
        if self.ends.notes == 0 {
            self.note_ends(now);
        }
        for place in [&mut self.arrivals, &mut self.starts, &mut self.ends] {
            place.notes -= 1;
        }
        let Some(Note { at, counters }) = self.notes.pop_front() else { unreachable!("it was just made") };
        let interval = counters - self.closed;
        self.closed = counters;
        self.totals.add(&self.sampling, at, interval);
        interval
    }
}

impl Place {
    /// Pass a sampling time at this position. Return the note for that time. The first position to pass creates the
    /// note.
    fn pass<'a>(&mut self, sampling: &SamplingTimes, notes: &'a mut VecDeque<Note>) -> &'a mut Note {
        if self.notes == notes.len() {
            notes.push_back(Note { at: self.until, counters: Counters::default() });
        }
        self.until = sampling.after(self.until);
        self.notes += 1;
        &mut notes[self.notes - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::super::LinkStats;
    use super::*;
    use crate::{Drops, Ecn, Packet, StreamId};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    /// A packet: nanoseconds since the preceding packet, nanoseconds of its transmission (equal to its size), and its
    /// fate.
    type Case = (u64, u64, u8);

    const DELAY: u64 = 30;
    const DROPPED: u8 = 0;
    const LOST: u8 = 1;

    /// Send packets over a link until `end`, count them with [`Passages`] and with [`LinkStats`], and compare all
    /// intervals and totals.
    fn compare(sampling: SamplingTimes, packets: &[Case], jitter: u64) {
        let (mut passages, mut events) =
            (Passages::new(sampling, Duration::from_nanos(DELAY)), LinkStats::new(sampling));
        let (mut drops, by_event) = (0, Arc::new(Drops::new(1, |_| true, sampling.measured())));
        events.count_drops(&by_event);
        let mut free_at = Time::ZERO;
        let (mut now, mut next) = (Time::ZERO, sampling.after(Time::ZERO));
        let mut close = |passages: &mut Passages, events: &mut LinkStats<()>, free_at, until| {
            while next < until {
                assert_eq!(passages.close(free_at), events.close(), "until {next:?}");
                next = sampling.after(next);
            }
        };
        for &(gap, span, fate) in packets {
            now += Duration::from_nanos(gap);
            close(&mut passages, &mut events, free_at, now);
            let size = span as u16;
            let packet = Packet { stream: StreamId(0), size, ecn: Ecn::NotEct, dscp: 0, payload: () };
            events.arrived(now, size);
            if fate == DROPPED {
                drops += u64::from(sampling.measures(passages.dropped(size, now)));
                events.queue_events(now, None, |events| events.drop(&packet));
                continue;
            }
            let start = now.max(free_at);
            let sent = Transmission { start, finish: start + Duration::from_nanos(span) };
            let arrival = sent.finish + Duration::from_nanos(DELAY + jitter);
            passages.passed(size, now, sent, arrival, free_at);
            events.started(size, now, sent);
            events.waited(now, start);
            if fate == LOST {
                drops += u64::from(sampling.measures(passages.lost(size)));
                events.lost(arrival, &packet);
            } else {
                events.forwarded(arrival, size);
            }
            free_at = sent.finish;
        }
        close(&mut passages, &mut events, free_at, Time::NEVER);
        let [left, right] = [passages.totals(), events.totals()];
        assert_eq!((left.run, left.measured), (right.run, right.measured));
        assert_eq!(drops, left.measured.dropped_packets + left.measured.lost_packets);
        assert_eq!(drops, by_event.of_flow(0));
        for q in [0.1, 0.5, 0.9, 0.99] {
            assert_eq!(left.wait_quantile_s(q).to_bits(), right.wait_quantile_s(q).to_bits());
        }
    }

    #[test]
    fn a_transmission_is_split_at_sampling_times() {
        let sampling = SamplingTimes::new(Some(Duration::from_nanos(10)), Time::ZERO, at(100));
        let mut passages = Passages::new(sampling, Duration::from_nanos(DELAY));
        passages.passed(100, at(8), Transmission { start: at(8), finish: at(25) }, at(55), Time::ZERO);
        passages.passed(100, at(9), Transmission { start: at(25), finish: at(26) }, at(56), at(25));
        let intervals = [0; 6].map(|_| passages.close(at(26)));
        assert_eq!(intervals.map(|c| c.busy_ns), [2, 10, 6, 0, 0, 0]);
        assert_eq!(intervals.map(|c| c.waited_ns), [0, 0, 16, 0, 0, 0]);
        assert_eq!(intervals.map(|c| c.arrived_packets), [2, 0, 0, 0, 0, 0]);
        assert_eq!(intervals.map(|c| c.started_packets), [1, 0, 1, 0, 0, 0]);
        assert_eq!(intervals.map(|c| c.forwarded_packets), [0, 0, 0, 0, 0, 2]);
    }

    proptest! {
        /// The cases include idle and busy links, and intervals shorter and longer than transmissions and delays.
        #[test]
        fn counts_what_counting_every_event_does(
            packets in proptest::collection::vec((0u64..60, 1u64..80, 0u8..6), 1..120),
            interval in proptest::option::of(1u64..200),
            warmup in 0u64..400,
            jitter in 0u64..40,
        ) {
            let interval = interval.map(Duration::from_nanos);
            compare(SamplingTimes::new(interval, at(warmup), at(3_000)), &packets, jitter);
        }
    }
}
