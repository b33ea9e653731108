//! A flow of many connections, opened and closed as its application likes.

use super::application::{Application, Job, Order, Orders};
use super::connection::{Connection, Sent};
use super::maker::Maker;
use crate::endpoints::Traffic;
use crate::payload::{Packet, Payload};
use crate::tables::FlowName;
use crate::tables::series::{DONE, STATES, SeriesRow, WAITING};
use crate::tally::{Mark, Playback, Tally, Transfer};
use network::{Ecn, SamplingTimes, Streams};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use tcp::{Limited, SenderStats};
use units::Time;

/// Holds the connections that are open. Of those that are not, only what they transferred is left.
pub struct Connections {
    /// Of the flow in the plan.
    flow: u32,
    streams: Streams,
    sampling: SamplingTimes,
    stop: Time,
    phase: Phase,
    maker: Maker,
    application: Box<dyn Application>,
    orders: Orders,
    /// Open connections by the number of their stream.
    open: BTreeMap<u32, Box<Connection>>,
    /// When they want to run. What is here may be outdated, but never too late.
    wakeups: BinaryHeap<Reverse<(Time, u32)>>,
    transfers: Vec<Transfer>,
    /// Of the connections that are closed.
    past: Totals,
    tally: Tally,
    sampled: (Time, Totals),
    sent: Sent,
    todo: Vec<Order>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Running,
    /// The application has stopped; transfers that go on are completed.
    Stopped,
    Over,
}

/// Counters of several connections.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    delivered_bytes: u64,
    stats: SenderStats,
    limited: Limited,
}

impl Totals {
    fn add(&mut self, connection: &Connection, now: Time) {
        self.delivered_bytes += connection.delivered();
        self.stats += *connection.sender().stats();
        self.limited += connection.sender().limited(now);
    }
}

impl Connections {
    /// Nothing is open before the application has run.
    pub fn new(
        flow: u32,
        streams: Streams,
        sampling: SamplingTimes,
        [start, stop]: [Time; 2],
        maker: Maker,
        application: Box<dyn Application>,
    ) -> Connections {
        Connections {
            flow,
            streams,
            sampling,
            stop,
            phase: Phase::Waiting,
            maker,
            application,
            orders: Orders::default(),
            open: BTreeMap::new(),
            wakeups: BinaryHeap::new(),
            transfers: Vec::new(),
            past: Totals::default(),
            tally: Tally::new(start),
            sampled: (Time::ZERO, Totals::default()),
            sent: Sent::default(),
            todo: Vec::new(),
        }
    }

    /// Counters of all connections, open or not.
    fn totals(&self, now: Time) -> Totals {
        let mut totals = self.past;
        self.open.values().for_each(|connection| totals.add(connection, now));
        totals
    }

    fn mark(&self, now: Time) -> Mark {
        let Totals { delivered_bytes, stats, limited } = self.totals(now);
        let wire_bytes = self.maker.wire().bytes(&stats);
        Mark { time: now, delivered_bytes, wire_bytes, stats, refused_bytes: 0, limited }
    }

    /// The application has its turn, unless it has stopped.
    fn run_application(&mut self, now: Time, out: &mut Vec<Packet>) {
        if self.phase == Phase::Waiting && now >= self.tally.start {
            self.phase = Phase::Running;
            self.tally.begin = (now >= self.sampling.warmup()).then(|| self.mark(now));
        }
        if self.phase == Phase::Running && now >= self.stop {
            self.phase = Phase::Stopped;
            self.close_idle(now);
        }
        if self.phase == Phase::Running && self.application.next() <= now {
            self.application.run(now, &mut self.orders);
            self.carry_out(now, out);
        }
    }

    /// Does what the application has asked for.
    fn carry_out(&mut self, now: Time, out: &mut Vec<Packet>) {
        let mut todo = std::mem::take(&mut self.todo);
        self.orders.take(&mut todo);
        for order in todo.drain(..) {
            match order {
                Order::Open { connection, requests } => self.open(now, connection, requests, out),
                Order::Transfer { connection, job } => self.begin(now, connection, job, out),
                Order::Close { connection } => self.close(now, self.stream(connection)),
            }
        }
        self.todo = todo;
    }

    /// The number of a connection's stream. It is that of an older connection only if there have been more than fit
    /// into the number of a stream; the older one, if it is still there, has to go.
    fn stream(&self, connection: u32) -> u32 {
        connection % self.streams.count()
    }

    fn open(&mut self, now: Time, number: u32, requests: bool, out: &mut Vec<Packet>) {
        let id = self.stream(number);
        self.close(now, id);
        let mut connection = Box::new(self.maker.connection(number, requests));
        connection.open(now, &mut self.sent);
        self.open.insert(id, connection);
        self.turn_over(now, id, out);
    }

    fn begin(&mut self, now: Time, number: u32, job: Job, out: &mut Vec<Packet>) {
        let id = self.stream(number);
        let Some(connection) = self.open.get_mut(&id) else { return };
        connection.begin(now, self.transfers.len(), job, &mut self.sent);
        self.transfers.push(Transfer {
            number: self.transfers.len() as u32 + 1,
            connection: number,
            page: job.page,
            start: now,
            finish: None,
            end: None,
            bytes: job.bytes,
            delivered_bytes: 0,
            sent_packets: 0,
            retransmitted_packets: 0,
            round_trips: if connection.delivered() == 0 { 2 } else { 1 },
        });
        self.turn_over(now, id, out);
    }

    /// A connection had its turn: sends what it put out, and sees to what comes next.
    fn turn_over(&mut self, now: Time, id: u32, out: &mut Vec<Packet>) {
        let Some(connection) = self.open.get_mut(&id) else { return };
        connection.answer(now, &mut self.sent);
        let (wire, streams) = (self.maker.wire(), self.streams);
        let packet = |route: u32| move |segment| wire.packet(streams.stream(route, id), segment);
        out.extend(self.sent.forward.drain(..).map(packet(2 * self.flow)));
        out.extend(self.sent.backward.drain(..).map(packet(2 * self.flow + 1)));
        let next = connection.next();
        if next < connection.asked {
            connection.asked = next;
            self.wakeups.push(Reverse((next, id)));
        }
        if connection.is_done() {
            let number = connection.number;
            self.end_transfer(now, id, true);
            if self.phase == Phase::Stopped {
                return self.close_idle(now);
            }
            self.application.done(now, number, &mut self.orders);
            self.carry_out(now, out);
        }
    }

    /// The transfer of a connection, if it has one, is complete or given up.
    fn end_transfer(&mut self, now: Time, id: u32, complete: bool) {
        let Some(connection) = self.open.get_mut(&id) else { return };
        let Some(progress) = connection.transfer.take() else { return };
        let stats = connection.sender().stats();
        let row = &mut self.transfers[progress.row];
        row.finish = complete.then_some(now);
        row.end = Some(now);
        row.delivered_bytes = connection.delivered() - progress.span.0;
        row.sent_packets = stats.sent_packets - progress.before.0;
        row.retransmitted_packets = stats.retransmitted_packets - progress.before.1;
    }

    /// Forgets a connection but for its counters.
    fn close(&mut self, now: Time, id: u32) {
        self.end_transfer(now, id, false);
        if let Some(connection) = self.open.remove(&id) {
            self.past.add(&connection, now);
        }
    }

    /// After the application has stopped: what has no transfer goes, and with the last of them the flow.
    fn close_idle(&mut self, now: Time) {
        let idle = self.open.iter().filter(|(_, connection)| connection.transfer.is_none());
        let idle: Vec<u32> = idle.map(|(&id, _)| id).collect();
        idle.into_iter().for_each(|id| self.close(now, id));
        if self.open.is_empty() {
            self.phase = Phase::Over;
            self.tally.end = Some(self.mark(now));
        }
    }
}

impl Traffic for Connections {
    fn next(&self) -> Time {
        let wakeup = self.wakeups.peek().map_or(Time::NEVER, |first| first.0.0);
        match self.phase {
            Phase::Waiting => self.tally.start,
            Phase::Running => wakeup.min(self.application.next()).min(self.stop),
            Phase::Stopped | Phase::Over => wakeup,
        }
    }

    fn run(&mut self, now: Time, out: &mut Vec<Packet>) {
        self.run_application(now, out);
        while let Some(&Reverse((_, id))) = self.wakeups.peek().filter(|first| first.0.0 <= now) {
            self.wakeups.pop();
            if let Some(connection) = self.open.get_mut(&id) {
                connection.asked = Time::NEVER;
                connection.on_timer(now, &mut self.sent);
                self.turn_over(now, id, out);
            }
        }
    }

    fn receive(&mut self, now: Time, packet: &Packet, out: &mut Vec<Packet>) {
        let Payload::Tcp(segment) = &packet.payload else { return };
        let id = self.streams.number(packet.flow);
        let forward = self.streams.route(packet.flow) % 2 == 0;
        let Some(connection) = self.open.get_mut(&id) else { return };
        let marked = packet.ecn == Ecn::Ce;
        let rtt = connection.receive(now, segment, marked, forward, &mut self.sent);
        if let Some(rtt) = rtt.filter(|_| self.sampling.measures(now)) {
            self.tally.rtt.record(rtt);
        }
        self.turn_over(now, id, out);
    }

    fn on_warmup(&mut self, now: Time) {
        if matches!(self.phase, Phase::Running | Phase::Stopped) {
            self.tally.begin = Some(self.mark(now));
        }
    }

    fn on_end(&mut self, now: Time) {
        let open: Vec<u32> = self.open.keys().copied().collect();
        open.into_iter().for_each(|id| self.end_transfer(now, id, false));
        if matches!(self.phase, Phase::Running | Phase::Stopped) {
            self.tally.end = Some(self.mark(now));
        }
    }

    /// Windows and what is in flight are sums over the open connections, times are those of the connection that has been
    /// open longest.
    fn sample(&mut self, now: Time) -> SeriesRow {
        let totals = self.totals(now);
        let (before, last) = std::mem::replace(&mut self.sampled, (now, totals));
        let span_s = now.since(before).as_secs_f64();
        let states: Vec<_> = self.open.values().map(|connection| connection.sender().snapshot()).collect();
        let oldest = states.first();
        let bytes = |packets: u32| u64::from(packets) * u64::from(self.maker.mss());
        SeriesRow {
            time_s: now,
            flow: FlowName(self.flow),
            goodput_bps: (totals.delivered_bytes - last.delivered_bytes) as f64 * 8.0 / span_s,
            cwnd_bytes: Some(states.iter().map(|state| bytes(state.cwnd)).sum()),
            in_flight_bytes: Some(states.iter().map(|state| bytes(state.in_flight)).sum()),
            srtt_s: oldest.and_then(|state| state.srtt),
            min_rtt_s: oldest.and_then(|state| state.min_rtt),
            pacing_bps: None,
            delivery_bps: None,
            retransmitted_packets: totals.stats.retransmitted_packets - last.stats.retransmitted_packets,
            state: match oldest {
                Some(state) => STATES[state.state as usize],
                None if self.phase == Phase::Over => DONE,
                None => WAITING,
            },
        }
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn sent_packets(&self) -> u64 {
        self.past.stats.sent_packets
            + self.open.values().map(|connection| connection.sender().stats().sent_packets).sum::<u64>()
    }

    fn transfers(&self) -> Vec<Transfer> {
        self.transfers.clone()
    }

    fn playback(&self, now: Time) -> Option<Playback> {
        self.application.playback(now.min(self.tally.end.map_or(now, |end| end.time)))
    }
}
