//! Flows of datagrams: UDP at a rate, calls, pings and probes. The departures of datagrams do not depend on the
//! network, and no datagram is retransmitted.

mod arrivals;
mod departures;

use super::observer::Observer;
use super::outbox::Outbox;
use super::stats::{CounterSnapshot, FlowStats, ProbeRecord};
use crate::payload::{Datagram, Packet, Payload};
use crate::plan::{DatagramPlan, FlowPlan};
use crate::tables::cell::FlowName;
use crate::tables::series::{DONE, STATES, SeriesRow, WAITING};
use arrivals::Arrivals;
use departures::Departures;
use network::{Direction, Ecn, RouteId, SamplingTimes};
use tcp::{Limited, SenderStats};
use units::{Duration, Time};

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
    stats: FlowStats,
    /// One record per datagram, if datagrams are recorded.
    probes: Option<Vec<ProbeRecord>>,
    sampling: SamplingTimes,
    sampled: Sampled,
}

/// State at the last sample, and measurements from the replies since that sample.
#[derive(Clone, Copy, Debug, Default)]
struct Sampled {
    time: Time,
    delivered: u64,
    rtt: Duration,
    replies: u64,
}

impl Datagrams {
    /// Creates the flow of a plan, which has not started yet.
    pub fn new(
        number: u32,
        flow: &FlowPlan,
        plan: &DatagramPlan,
        sampling: SamplingTimes,
        seed: u64,
    ) -> Datagrams {
        let start = flow.start(seed);
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
            stats: FlowStats { jitter: Some(Box::default()), ..FlowStats::new(start) },
            probes: plan.each.then(Vec::new),
            sampling,
            sampled: Sampled::default(),
        }
    }

    fn is_over(&self) -> bool {
        self.stats.end.is_some()
    }

    fn send(&mut self, now: Time) -> Packet {
        let datagram = Datagram { number: self.sent, len: self.len, reply: false, sent: now };
        self.sent += 1;
        self.departures.advance();
        if let Some(probes) = &mut self.probes {
            probes.push(ProbeRecord { sent: now, arrived: Time::NEVER, returned: Time::NEVER });
        }
        self.packet(datagram)
    }

    /// Processes a datagram at the receiver.
    fn on_arrival(&mut self, now: Time, datagram: &Datagram) {
        if !self.there.see(datagram.number) {
            return;
        }
        let (delay, measured) = (now.since(datagram.sent), self.sampling.measures(now));
        if let Some(jitter) = &mut self.stats.jitter {
            jitter.see(delay, measured);
        }
        if measured {
            self.stats.one_way.record(delay);
        }
        if let Some(probes) = &mut self.probes {
            probes[datagram.number as usize].arrived = now;
        }
    }

    /// Processes a reply at the sender.
    fn on_reply(&mut self, now: Time, datagram: &Datagram) {
        if !self.back.see(datagram.number) {
            return;
        }
        let rtt = now.since(datagram.sent);
        self.sampled.rtt = self.sampled.rtt + rtt;
        self.sampled.replies += 1;
        if self.sampling.measures(now) {
            self.stats.rtt.record(rtt);
        }
        if let Some(probes) = &mut self.probes {
            probes[datagram.number as usize].returned = now;
        }
    }

    fn packet(&self, datagram: Datagram) -> Packet {
        let direction = if datagram.reply { Direction::Backward } else { Direction::Forward };
        Packet {
            stream: RouteId::new(self.number, direction).first_stream(),
            size: self.size,
            ecn: Ecn::NotEct,
            dscp: self.dscp,
            payload: Payload::Datagram(datagram),
        }
    }

    fn snapshot(&self, time: Time) -> CounterSnapshot {
        let sent = u64::from(self.sent);
        let lost = if self.echo { self.back.lost() } else { self.there.lost() };
        // A datagram that was missing at the end of the warm-up may have arrived late.
        let lost = lost.max(self.stats.begin.map_or(0, |begin| begin.stats.lost_packets));
        CounterSnapshot {
            time,
            delivered_bytes: self.delivered_bytes(),
            wire_bytes: sent * u64::from(self.size),
            stats: SenderStats {
                sent_packets: sent,
                sent_bytes: sent * u64::from(self.len),
                lost_packets: lost,
                ..SenderStats::default()
            },
            refused_bytes: 0,
            limited: Limited::default(),
        }
    }
}

impl Datagrams {
    /// Payload that has arrived since the start of the run.
    pub fn delivered_bytes(&self) -> u64 {
        self.there.count() * u64::from(self.len)
    }

    /// Time of the next wake-up.
    pub fn next(&self) -> Time {
        if self.is_over() { Time::NEVER } else { self.departures.next().min(self.stop.max(self.stats.start)) }
    }

    /// Sends a datagram if it is due, and stops the flow at its end.
    pub fn run<R: Observer>(&mut self, out: &mut Outbox<'_, R>) {
        let now = out.now;
        if self.is_over() || now < self.stats.start {
            return;
        }
        if self.stats.begin.is_none() && now >= self.sampling.warmup() {
            self.stats.begin = Some(self.snapshot(now));
        }
        if now >= self.stop {
            self.stats.end = Some(self.snapshot(now));
        } else if self.departures.next() <= now {
            out.send(&self.send(now), 0);
        }
    }

    /// Processes a packet at the end of its route.
    pub fn receive<R: Observer>(&mut self, packet: &Packet, out: &mut Outbox<'_, R>) {
        let now = out.now;
        let Payload::Datagram(datagram) = &packet.payload else { return };
        if datagram.reply {
            return self.on_reply(now, datagram);
        }
        self.on_arrival(now, datagram);
        if self.echo {
            out.send(&self.packet(Datagram { reply: true, ..*datagram }), 0);
        }
    }

    /// Called at the end of the warm-up.
    pub fn on_warmup(&mut self, now: Time) {
        if self.stats.start <= now && self.stats.begin.is_none() && !self.is_over() {
            self.stats.begin = Some(self.snapshot(now));
        }
    }

    /// Called at the end of the run.
    pub fn on_end(&mut self, now: Time) {
        // Arrivals after the flow has stopped count as well.
        let stopped = self.stats.end.map_or(now, |end| end.time);
        if self.stats.begin.is_some() {
            self.stats.end = Some(self.snapshot(stopped));
        }
    }

    /// Returns a row of the table `series`: rates since the last sample and the current state.
    pub fn sample(&mut self, time: Time) -> SeriesRow {
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
            state: match (time < self.stats.start, self.is_over()) {
                (true, _) => WAITING,
                (false, true) => DONE,
                (false, false) => STATES[0],
            },
        }
    }

    /// Statistics so far.
    pub fn stats(&self) -> &FlowStats {
        &self.stats
    }

    /// Datagrams sent since the start of the run.
    pub fn sent_packets(&self) -> u64 {
        u64::from(self.sent)
    }

    /// Records of the flow's datagrams, in the order of departure; empty if datagrams are not recorded.
    pub fn probes(&self) -> &[ProbeRecord] {
        self.probes.as_deref().unwrap_or_default()
    }
}
