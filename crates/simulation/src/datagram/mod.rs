//! Flows of datagrams: UDP at a rate, calls, pings and probes. They leave at times of their own, whatever the network does,
//! and nothing is sent again.

mod arrivals;
mod departures;

pub use arrivals::InterarrivalJitter;

use crate::endpoints::Traffic;
use crate::flow::start;
use crate::payload::{Packet, Payload};
use crate::plan::{DatagramPlan, FlowPlan};
use crate::tables::FlowName;
use crate::tables::series::{DONE, STATES, SeriesRow, WAITING};
use crate::tally::{Mark, Tally, Trip};
use arrivals::Arrivals;
use departures::Departures;
use network::{Ecn, SamplingTimes};
use tcp::{Limited, SenderStats};
use units::{Duration, Time};

/// What travels beside the payload. Both ends of a simulated path share a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// From 0, in the order of departure.
    pub number: u32,
    /// Payload bytes.
    pub len: u16,
    /// It is on its way back.
    pub reply: bool,
    /// When it left the sender for the first time.
    pub sent: Time,
}

/// Both ends of a flow of datagrams.
pub struct Datagrams {
    number: u32,
    stop: Time,
    departures: Departures,
    len: u16,
    size: u16,
    dscp: u8,
    echo: bool,
    sent: u32,
    there: Arrivals,
    back: Arrivals,
    tally: Tally,
    /// One per datagram, if they are wanted.
    trips: Option<Vec<Trip>>,
    sampling: SamplingTimes,
    sampled: Sampled,
}

/// What the last sample saw, and the replies that have come since.
#[derive(Clone, Copy, Debug, Default)]
struct Sampled {
    time: Time,
    delivered: u64,
    rtt: Duration,
    replies: u64,
}

impl Datagrams {
    /// The flow that `plan` describes, not started.
    pub fn new(
        number: u32,
        flow: &FlowPlan,
        plan: &DatagramPlan,
        sampling: SamplingTimes,
        seed: u64,
    ) -> Datagrams {
        let start = start(flow, seed);
        Datagrams {
            number,
            stop: flow.stop_ns.map_or(Time::NEVER, Time::from_nanos),
            departures: Departures::new(plan, [start, sampling.end()], seed, &flow.stream),
            len: plan.payload_bytes as u16,
            size: (plan.payload_bytes + plan.overhead_bytes) as u16,
            dscp: flow.dscp,
            echo: plan.echo,
            sent: 0,
            there: Arrivals::default(),
            back: Arrivals::default(),
            tally: Tally { one_way: Some(Box::default()), ..Tally::new(start) },
            trips: plan.each.then(Vec::new),
            sampling,
            sampled: Sampled::default(),
        }
    }

    fn is_over(&self) -> bool {
        self.tally.end.is_some()
    }

    fn send(&mut self, now: Time) -> Packet {
        let datagram = Datagram { number: self.sent, len: self.len, reply: false, sent: now };
        self.sent += 1;
        self.departures.advance();
        if let Some(trips) = &mut self.trips {
            trips.push(Trip { sent: now, arrived: Time::NEVER, returned: Time::NEVER });
        }
        self.packet(datagram)
    }

    /// A datagram reaches the far end.
    fn on_arrival(&mut self, now: Time, datagram: &Datagram) {
        if !self.there.see(datagram.number) {
            return;
        }
        let (delay, measured) = (now.since(datagram.sent), self.sampling.measures(now));
        if let Some(one_way) = &mut self.tally.one_way {
            one_way.jitter.see(delay, measured);
            if measured {
                one_way.delay.record(delay);
            }
        }
        if let Some(trips) = &mut self.trips {
            trips[datagram.number as usize].arrived = now;
        }
    }

    /// A reply reaches the sender.
    fn on_reply(&mut self, now: Time, datagram: &Datagram) {
        if !self.back.see(datagram.number) {
            return;
        }
        let rtt = now.since(datagram.sent);
        self.sampled.rtt = self.sampled.rtt + rtt;
        self.sampled.replies += 1;
        if self.sampling.measures(now) {
            self.tally.rtt.record(rtt);
        }
        if let Some(trips) = &mut self.trips {
            trips[datagram.number as usize].returned = now;
        }
    }

    fn packet(&self, datagram: Datagram) -> Packet {
        Packet {
            flow: 2 * self.number + u32::from(datagram.reply),
            size: self.size,
            ecn: Ecn::NotEct,
            dscp: self.dscp,
            payload: Payload::Datagram(datagram),
        }
    }

    fn mark(&self, time: Time) -> Mark {
        let sent = u64::from(self.sent);
        let lost = if self.echo { self.back.lost() } else { self.there.lost() };
        // What seemed lost at the end of the warm-up may have come late.
        let before = self.tally.begin.map_or(0, |mark| mark.stats.lost_packets);
        Mark {
            time,
            delivered_bytes: self.there.count() * u64::from(self.len),
            wire_bytes: sent * u64::from(self.size),
            stats: SenderStats {
                sent_packets: sent,
                sent_bytes: sent * u64::from(self.len),
                lost_packets: lost.max(before),
                ..SenderStats::default()
            },
            refused_bytes: 0,
            limited: Limited::default(),
        }
    }
}

impl Traffic for Datagrams {
    fn next(&self) -> Time {
        if self.is_over() { Time::NEVER } else { self.departures.next().min(self.stop.max(self.tally.start)) }
    }

    fn run(&mut self, now: Time, out: &mut Vec<Packet>) {
        if self.is_over() || now < self.tally.start {
            return;
        }
        if self.tally.begin.is_none() && now >= self.sampling.warmup() {
            self.tally.begin = Some(self.mark(now));
        }
        if now >= self.stop {
            self.tally.end = Some(self.mark(now));
        } else if self.departures.next() <= now {
            out.push(self.send(now));
        }
    }

    fn receive(&mut self, now: Time, packet: &Packet, out: &mut Vec<Packet>) {
        let Payload::Datagram(datagram) = &packet.payload else { return };
        if datagram.reply {
            return self.on_reply(now, datagram);
        }
        self.on_arrival(now, datagram);
        if self.echo {
            out.push(self.packet(Datagram { reply: true, ..*datagram }));
        }
    }

    fn on_warmup(&mut self, now: Time) {
        if self.tally.start <= now && self.tally.begin.is_none() && !self.is_over() {
            self.tally.begin = Some(self.mark(now));
        }
    }

    fn on_end(&mut self, now: Time) {
        // What arrived after it had stopped counts as well.
        let stopped = self.tally.end.map_or(now, |mark| mark.time);
        if self.tally.begin.is_some() {
            self.tally.end = Some(self.mark(stopped));
        }
    }

    fn sample(&mut self, time: Time) -> SeriesRow {
        let before = self.sampled;
        let delivered = self.there.count();
        self.sampled = Sampled { time, delivered, ..Sampled::default() };
        let bits = (delivered - before.delivered) * u64::from(self.len) * 8;
        SeriesRow {
            time_s: time,
            flow: FlowName(self.number),
            goodput_bps: bits as f64 / time.since(before.time).as_secs_f64(),
            cwnd_bytes: None,
            in_flight_bytes: None,
            srtt_s: (before.replies > 0).then(|| before.rtt / before.replies),
            min_rtt_s: None,
            pacing_bps: None,
            delivery_bps: None,
            retransmitted_packets: 0,
            state: match (time < self.tally.start, self.is_over()) {
                (true, _) => WAITING,
                (false, true) => DONE,
                (false, false) => STATES[0],
            },
        }
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn sent_packets(&self) -> u64 {
        u64::from(self.sent)
    }

    fn trips(&self) -> &[Trip] {
        self.trips.as_deref().unwrap_or_default()
    }
}
