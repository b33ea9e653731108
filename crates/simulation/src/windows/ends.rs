//! Runs the two ends of a flow separately within a window.
//!
//! Packets between the ends cross a shared link, so that a packet sent in a window never arrives in the same window.
//! While the application has no turn, the ends are therefore independent. Each end processes its arrivals and its
//! timers; at equal times the timers come first.

use crate::hosts::{End, Endpoints, Headers, Quiet};
use crate::island::Island;
use crate::net::{Lane, Ways};
use crate::payload::Payload;
use network::{Ecn, RouteId, StreamId};
use tcp::{Receiver, Segment, Sender};
use units::{Duration, Time};

/// One end of a connection that carries data in one direction.
trait OneEnd {
    fn next_timer(&self) -> Time;

    /// Time before which no timer is due; it is cheaper than the exact time.
    fn earliest_timer(&self) -> Time;

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>);

    /// Processes a segment that arrives. `ce` is whether the segment has an ECN mark. Returns a sample of the RTT at a
    /// sender, or a sample of the one-way delay of payload at a receiver.
    fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        ce: bool,
        out: &mut Vec<Segment>,
    ) -> Option<Duration>;
}

impl OneEnd for Sender {
    #[inline]
    fn next_timer(&self) -> Time {
        Sender::next_timer(self)
    }

    #[inline]
    fn earliest_timer(&self) -> Time {
        Sender::earliest_timer(self)
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        Sender::on_timer(self, now, out);
    }

    #[inline]
    fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        _: bool,
        out: &mut Vec<Segment>,
    ) -> Option<Duration> {
        Sender::on_segment(self, now, segment, out);
        self.last_rtt()
    }
}

impl OneEnd for Receiver {
    #[inline]
    fn next_timer(&self) -> Time {
        Receiver::next_timer(self)
    }

    #[inline]
    fn earliest_timer(&self) -> Time {
        Receiver::next_timer(self)
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        Receiver::on_timer(self, now, out);
    }

    #[inline]
    fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        ce: bool,
        out: &mut Vec<Segment>,
    ) -> Option<Duration> {
        Receiver::on_segment(self, now, segment, ce, out);
        segment.one_way(now)
    }
}

/// Runs all events of an island before `until`. The two lanes are the routes of the island. Returns the number of
/// turns, or `None` if events other than those of the island's connection are possible before `until`.
pub(super) fn run_ends(
    island: &mut Island,
    [there, back]: &[Lane; 2],
    until: Time,
    segments: &mut Vec<Segment>,
) -> Option<usize> {
    let Island { net, flows, .. } = island;
    let [Endpoints::Tcp(flow)] = &mut flows[..] else { return None };
    let Quiet { sender, receiver, headers, streams, mut samples } = flow.quiet(until)?;
    let mut run = Run { ways: net.ways(there, back), until, segments, headers, stream: streams[1] };
    let mut turns = run.end(receiver, |now, sample| samples.record(End::Receiver, now, sample));
    let mut run = Run { ways: net.ways(back, there), until, segments, headers, stream: streams[0] };
    turns += run.end(sender, |now, sample| samples.record(End::Sender, now, sample));
    flow.after_quiet();
    for (end, lane) in [(End::Receiver, there), (End::Sender, back)] {
        let (actor, arrival) = (net.actors.end(RouteId::new(0, end.direction())), net.next_arrival(lane));
        net.schedule.end(actor, flow.next(end));
        net.schedule.end(net.actors.link(lane.last), arrival);
    }
    Some(turns)
}

/// Context in which an end runs.
struct Run<'a> {
    ways: Ways<'a, Payload>,
    until: Time,
    /// Segments between the end and its first link; empty between turns.
    segments: &'a mut Vec<Segment>,
    headers: Headers,
    /// Stream of the packets that the end sends.
    stream: StreamId,
}

impl Run<'_> {
    /// Runs the end. Returns the number of turns.
    #[inline(always)] // compiled for each of the two kinds of ends
    fn end(&mut self, end: &mut impl OneEnd, mut sample: impl FnMut(Time, Duration)) -> usize {
        for turns in 0.. {
            let mut timer = end.earliest_timer();
            let mut arrival = self.ways.take_before(timer.min(self.until));
            if arrival.is_none() && timer < self.until {
                timer = end.next_timer();
                arrival = self.ways.take_before(timer.min(self.until));
            }
            let now = if let Some((now, packet)) = arrival {
                if let Payload::Tcp(segment) = &packet.payload
                    && let Some(taken) = end.on_segment(now, segment, packet.ecn == Ecn::Ce, self.segments)
                {
                    sample(now, taken);
                }
                now
            } else if timer < self.until {
                end.on_timer(timer, self.segments);
                timer
            } else {
                return turns;
            };
            if !self.segments.is_empty() {
                self.send(now);
            }
        }
        unreachable!("turns are counted without end")
    }

    /// Sends the segments that the end has produced.
    #[inline(never)] // otherwise the loop over turns is slower
    fn send(&mut self, now: Time) {
        let Run { ways, segments, headers, stream, .. } = self;
        ways.leave(segments.iter().map(|segment| headers.packet(*stream, segment)), now);
        segments.clear();
    }
}
