//! A flow of TCP: its application, and the connections that the application opens and closes.

use super::connection::{Connection, End};
use super::connections::Connections;
use super::factory::ConnectionFactory;
use super::observer::Observer;
use super::outbox::Outbox;
use super::stats::{FlowStats, Mark, Transfer};
use super::totals::Totals;
use crate::applications::{self, Application, Job, Order, Playback, Sockets};
use crate::controllers::Controllers;
use crate::external::External;
use crate::payload::{Packet, Payload};
use crate::plan::{Plan, PlanError, WorkloadPlan};
use crate::tables::FlowName;
use crate::tables::series::{DONE, STATES, SeriesRow, WAITING};
use network::{Ecn, RouteId, SamplingTimes, StreamId, Streams};
use std::sync::Arc;
use units::{Rng, Time};

/// Holds the connections that are open. Of those that are not, only what they transferred is left.
pub struct Flow {
    /// Number in the plan.
    pub number: u32,
    streams: Streams,
    connections: Connections,
    phase: Phase,
    stop: Time,
    /// When the flow starts, its application wants to run, or is to stop.
    due: Time,
    /// The application waits for acknowledgements.
    blocked: bool,
    factory: ConnectionFactory,
    application: Box<dyn Application>,
    is_stream: bool,
    sockets: Sockets,
    transfers: Vec<Transfer>,
    sampling: SamplingTimes,
    stats: FlowStats,
    /// Of the connections that are gone.
    past: Totals,
    sampled: (Time, Totals),
    todo: Vec<Order>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Running,
    /// The application has stopped; transfers that go on are completed.
    Stopped,
    /// Nothing more is sent for the first time; what is outstanding may still be repaired.
    Over,
}

impl Flow {
    /// Flow `number` of the plan. No connection is open before the application has run.
    ///
    /// # Errors
    /// If its algorithm or its application cannot be made.
    pub fn new(
        number: u32,
        plan: &Arc<Plan>,
        streams: Streams,
        sampling: SamplingTimes,
        seed: u64,
        (controllers, external): (&Controllers, &External),
    ) -> Result<Flow, PlanError> {
        let of_flow = &plan.flows[number as usize];
        let start = of_flow.start(seed);
        let application = match &of_flow.workload {
            Some(WorkloadPlan::External { name }) => {
                let seed = Rng::stream(seed, &format!("application/{}", of_flow.stream)).next_u64();
                external.make_application(name, &format!("flows[{number}].workload.name"), start, seed)?
            }
            _ => applications::build(of_flow, start, seed),
        };
        Ok(Flow {
            number,
            streams,
            connections: Connections::default(),
            phase: Phase::Waiting,
            stop: of_flow.stop_ns.map_or(Time::NEVER, Time::from_nanos),
            due: start,
            blocked: false,
            factory: ConnectionFactory::new(plan, number as usize, seed, controllers)?,
            is_stream: application.is_stream(),
            application,
            sockets: Sockets::default(),
            transfers: Vec::new(),
            sampling,
            stats: FlowStats::new(start),
            past: Totals::default(),
            sampled: (Time::ZERO, Totals::default()),
            todo: Vec::new(),
        })
    }

    /// When an end wants to run. A flow of several connections runs both ends of them as its sender.
    #[inline]
    pub fn next(&self, end: End) -> Time {
        let single = self.connections.single().map_or(Time::NEVER, |connection| connection.next(end));
        if end == End::Receiver {
            return single;
        }
        single.min(self.connections.next()).min(self.due)
    }

    /// Does what is due at an end.
    pub fn run<R: Observer>(&mut self, end: End, out: &mut Outbox<'_, R>) {
        if end == End::Sender {
            self.run_application(out);
        }
        if let Some(connection) = self.connections.single_mut() {
            connection.on_timer(out.now, end, out.segments);
            self.finish_turn(0, end, out);
        }
        while let Some(id) = self.connections.due(out.now) {
            for end in [End::Sender, End::Receiver] {
                if let Some(connection) = self.connections.get_mut(id) {
                    connection.on_timer(out.now, end, out.segments);
                    self.finish_turn(id, end, out);
                }
            }
        }
    }

    /// A packet reaches an end. Returns the end whose wake-up may have changed, and when that is.
    #[inline]
    pub fn receive<R: Observer>(&mut self, packet: &Packet, out: &mut Outbox<'_, R>) -> (End, Time) {
        let end = End::reached(packet.stream.direction());
        let id = self.streams.number(packet.stream);
        if let (Payload::Tcp(segment), Some(connection)) = (&packet.payload, self.connections.get_mut(id)) {
            let rtt = connection.receive(out.now, segment, packet.ecn == Ecn::Ce, end, out.segments);
            if let Some(rtt) = rtt.filter(|_| self.sampling.measures(out.now)) {
                self.stats.rtt.record(rtt);
            }
            if self.blocked && end == End::Sender {
                self.let_application_run(out);
            }
            self.finish_turn(id, end, out);
        }
        let end = if self.is_stream { end } else { End::Sender };
        (end, self.next(end))
    }

    /// A packet of `stream` has left the network interface of its host, or was dropped there. Returns the end whose wake-up
    /// may have changed, and when that is.
    pub fn on_left_host<R: Observer>(
        &mut self,
        stream: StreamId,
        bytes: u16,
        out: &mut Outbox<'_, R>,
    ) -> (End, Time) {
        let from_sender = stream.direction() == End::Sender.direction();
        let end = if from_sender { End::Sender } else { End::Receiver };
        let id = self.streams.number(stream);
        if let Some(connection) = self.connections.get_mut(id)
            && connection.on_left_host(out.now, end, bytes, out.segments)
        {
            self.finish_turn(id, end, out);
        }
        let end = if self.is_stream { end } else { End::Sender };
        (end, self.next(end))
    }

    /// An end of a connection has had its turn.
    #[inline]
    fn finish_turn<R: Observer>(&mut self, id: u32, end: End, out: &mut Outbox<'_, R>) {
        self.send(id, end, out);
        if R::ON
            && end == End::Sender
            && self.is_active()
            && let Some(connection) = self.connections.get_mut(id)
        {
            out.turn(self.number, connection.number, connection.sender());
        }
    }

    /// Sends what an end of a connection has put out, and sees to what comes next.
    #[inline]
    fn send<R: Observer>(&mut self, id: u32, end: End, out: &mut Outbox<'_, R>) {
        if !out.segments.is_empty() {
            self.flush(id, end, out);
        }
        let Some(connection) = self.connections.get_mut(id) else { return };
        let is_done = connection.is_done();
        if id != 0 {
            let next = connection.next(end);
            self.connections.request(id, next);
        }
        if is_done {
            self.on_done(id, out);
        }
    }

    #[inline]
    fn flush<R: Observer>(&mut self, id: u32, end: End, out: &mut Outbox<'_, R>) {
        let stream = self.streams.stream(RouteId::new(self.number, end.direction()), id);
        let headers = self.factory.headers();
        if self.factory.has_nic(end)
            && let Some(connection) = self.connections.get_mut(id)
        {
            let beside = out.segments.iter().filter(|segment| segment.payload() == 0);
            beside.for_each(|segment| {
                connection.on_sent_beside(end, headers.packet(stream, segment).size);
            });
        }
        out.flush(self.factory.mss(), |segment| headers.packet(stream, segment));
    }

    /// The transfer of a connection is complete.
    #[cold]
    fn on_done<R: Observer>(&mut self, id: u32, out: &mut Outbox<'_, R>) {
        self.end_transfer(out.now, id, true);
        if self.phase == Phase::Stopped {
            return self.close_idle(out.now);
        }
        let number = self.connections.get_mut(id).map_or(0, |connection| connection.number);
        self.application.done(out.now, number, &mut self.sockets);
        self.carry_out(out);
    }

    /// The application has its turn if it is due, unless it has stopped.
    fn run_application<R: Observer>(&mut self, out: &mut Outbox<'_, R>) {
        let now = out.now;
        if now < self.due {
            return;
        }
        if self.phase == Phase::Waiting {
            self.phase = Phase::Running;
            self.stats.begin = (now >= self.sampling.warmup()).then(|| self.mark(now));
            self.schedule_application();
        }
        if self.application.next() <= now {
            self.let_application_run(out);
        }
        if now >= self.stop {
            self.phase = Phase::Stopped;
            self.application.stop(&mut self.sockets);
            self.carry_out(out);
            self.close_idle(now);
        }
    }

    fn let_application_run<R: Observer>(&mut self, out: &mut Outbox<'_, R>) {
        if let Some(connection) = self.connections.single() {
            self.sockets.stream.sent_bytes = connection.sender().sent_once_bytes();
            self.sockets.stream.acked_bytes = connection.sender().stats().acked_bytes;
        }
        self.application.run(out.now, &mut self.sockets);
        self.carry_out(out);
    }

    /// Carries out the calls of the application.
    fn carry_out<R: Observer>(&mut self, out: &mut Outbox<'_, R>) {
        let mut todo = std::mem::take(&mut self.todo);
        self.sockets.take(&mut todo);
        for order in todo.drain(..) {
            match order {
                Order::Open { connection, requests } => self.open(connection, requests, out),
                Order::Write { connection, bytes } => self.write(connection, bytes, out),
                Order::Transfer { connection, job } => self.begin(connection, job, out),
                Order::Close { connection } => self.close(out.now, self.id(connection)),
            }
        }
        self.todo = todo;
        self.schedule_application();
    }

    /// Notes what the application waits for.
    fn schedule_application(&mut self) {
        let runs = self.phase == Phase::Running;
        self.due = if runs { self.application.next().min(self.stop) } else { Time::NEVER };
        self.blocked = runs && self.application.is_blocked();
    }

    /// The number of a connection's stream. It is that of an older connection only if there have been more than fit
    /// into the number of a stream; the older one, if it is still there, has to go.
    fn id(&self, connection: u32) -> u32 {
        if self.is_stream { 0 } else { connection % self.streams.count() }
    }

    fn open<R: Observer>(&mut self, number: u32, requests: bool, out: &mut Outbox<'_, R>) {
        let id = self.id(number);
        self.close(out.now, id);
        let mut connection = self.factory.connection(out.now, number, requests);
        connection.open(out.now, out.segments);
        self.connections.insert(id, connection);
        self.send(id, if requests { End::Receiver } else { End::Sender }, out);
    }

    fn write<R: Observer>(&mut self, number: u32, bytes: Option<u64>, out: &mut Outbox<'_, R>) {
        let id = self.id(number);
        if let Some(connection) = self.connections.get_mut(id) {
            connection.write(out.now, bytes, out.segments);
            self.send(id, End::Sender, out);
        }
    }

    fn begin<R: Observer>(&mut self, number: u32, job: Job, out: &mut Outbox<'_, R>) {
        let id = self.id(number);
        let Some(connection) = self.connections.get_mut(id) else { return };
        let row = self.transfers.len();
        connection.begin(out.now, row, job, out.segments);
        self.transfers.push(Transfer {
            number: row as u32 + 1,
            connection: number,
            page: job.page,
            start: out.now,
            finish: None,
            end: None,
            bytes: job.bytes,
            delivered_bytes: 0,
            sent_packets: 0,
            retransmitted_packets: 0,
            round_trips: if connection.delivered() == 0 { 2 } else { 1 },
        });
        self.send(id, if job.request > 0 { End::Receiver } else { End::Sender }, out);
    }

    /// The transfer of a connection, if it has one, is complete or given up.
    fn end_transfer(&mut self, now: Time, id: u32, complete: bool) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let Some(progress) = connection.transfer.take() else { return };
        let stats = connection.sender().stats();
        let row = &mut self.transfers[progress.row];
        row.finish = complete.then_some(now);
        row.end = row.end.or(Some(now));
        row.delivered_bytes = connection.delivered() - progress.span.0;
        row.sent_packets = stats.sent_packets - progress.before.0;
        row.retransmitted_packets = stats.retransmitted_packets - progress.before.1;
        if complete && self.is_stream {
            self.stats.finish = Some(now);
        }
    }

    /// Closes a connection. A stream still repairs what is outstanding, and ends its flow; of others, only the counters
    /// are left.
    fn close(&mut self, now: Time, id: u32) {
        if self.is_stream {
            let Some(connection) = self.connections.single_mut() else { return };
            connection.close(now);
            if let Some(progress) = &connection.transfer {
                self.transfers[progress.row].end = Some(now);
            }
            return self.end(now);
        }
        self.end_transfer(now, id, false);
        if let Some(connection) = self.connections.remove(id) {
            self.past.add(&connection, now);
        }
    }

    /// After the application has stopped: what has no transfer goes, and with the last of them the flow.
    fn close_idle(&mut self, now: Time) {
        let idle = self.connections.iter().filter(|(_, connection)| connection.transfer.is_none());
        let idle: Vec<u32> = idle.filter(|(_, connection)| !connection.closed).map(|(id, _)| id).collect();
        idle.into_iter().for_each(|id| self.close(now, id));
        if self.phase == Phase::Stopped && self.connections.iter().next().is_none() {
            self.end(now);
        }
    }

    /// Nothing more will be sent for the first time.
    fn end(&mut self, now: Time) {
        self.phase = Phase::Over;
        self.stats.end = Some(self.mark(now));
    }

    /// Counters of all connections, open or not.
    fn totals(&self, now: Time) -> Totals {
        let mut totals = self.past;
        self.connections.iter().for_each(|(_, connection)| totals.add(connection, now));
        totals
    }

    fn mark(&self, now: Time) -> Mark {
        let Totals { delivered_bytes, stats, limited } = self.totals(now);
        let wire_bytes = self.factory.headers().bytes(&stats);
        let refused_bytes = self.application.refused_bytes();
        Mark { time: now, delivered_bytes, wire_bytes, stats, refused_bytes, limited }
    }

    /// It has started and is not over.
    fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Running | Phase::Stopped)
    }

    /// The warm-up is over.
    pub fn on_warmup(&mut self, now: Time) {
        if self.is_active() {
            self.stats.begin = Some(self.mark(now));
        }
    }

    /// The run is over.
    pub fn on_end(&mut self, now: Time) {
        let open: Vec<u32> = self.connections.iter().map(|(id, _)| id).collect();
        open.into_iter().for_each(|id| self.end_transfer(now, id, false));
        if self.is_active() {
            self.stats.end = Some(self.mark(now));
        }
    }

    /// The connections whose algorithm works on new data.
    pub fn running(&self) -> impl Iterator<Item = &Connection> {
        let active = self.is_active();
        self.connections.iter().map(|(_, connection)| connection).filter(move |_| active)
    }

    /// What happened since the last sample, and where things stand. Windows and what is in flight are sums over the open
    /// connections, times are those of the connection that has been open longest; rates are those of a single connection.
    pub fn sample(&mut self, now: Time) -> SeriesRow {
        let totals = self.totals(now);
        let (before, last) = std::mem::replace(&mut self.sampled, (now, totals));
        let span_s = now.since(before).as_secs_f64();
        let single = self.connections.single().map(|connection| connection.sender().snapshot());
        let states: Vec<_> = self.connections.iter().map(|(_, c)| c.sender().snapshot()).collect();
        let oldest = states.first();
        let known = !self.is_stream || oldest.is_some();
        let bytes = |packets: u32| u64::from(packets) * u64::from(self.factory.mss());
        let in_flight: u64 = states.iter().map(|state| bytes(state.in_flight)).sum();
        SeriesRow {
            time_s: now,
            flow: FlowName(self.number),
            goodput_bps: (totals.delivered_bytes - last.delivered_bytes) as f64 * 8.0 / span_s,
            cwnd_bytes: known.then(|| states.iter().map(|state| bytes(state.cwnd)).sum()),
            in_flight_bytes: known.then_some(in_flight),
            srtt_s: oldest.and_then(|state| state.srtt),
            min_rtt_s: oldest.and_then(|state| state.min_rtt),
            pacing_bps: single.and_then(|state| state.pacing_rate),
            delivery_bps: single.and_then(|state| state.delivery_rate),
            retransmitted_packets: totals.stats.retransmitted_packets - last.stats.retransmitted_packets,
            state: match oldest {
                _ if self.phase == Phase::Over && in_flight == 0 => DONE,
                Some(state) => STATES[state.state as usize],
                None => WAITING,
            },
        }
    }

    /// What was measured.
    pub fn stats(&self) -> &FlowStats {
        &self.stats
    }

    /// Data packets sent since the start of the run.
    pub fn sent_packets(&self) -> u64 {
        self.totals(Time::ZERO).stats.sent_packets
    }

    /// Its transfers, in the order in which they began.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// What a viewer has seen by `now`, if it plays a video.
    pub fn playback(&self, now: Time) -> Option<Playback> {
        self.application.playback(now.min(self.stats.end.map_or(now, |end| end.time)))
    }
}
