//! A TCP flow: its application, and the connections that the application opens and closes.

mod calls;
mod measure;
mod quiet;
mod relayed;

pub use quiet::Quiet;

use super::connection::End;
use super::connections::Connections;
use super::factory::{ConnectionFactory, Wrapping};
use super::observer::Observer;
use super::outbox::Outbox;
use super::stats::{FlowStats, Transfer};
use super::totals::Totals;
use crate::applications::of_flow::build;
use crate::applications::{Application, Order, Sockets};
use crate::controllers::Controllers;
use crate::external::External;
use crate::payload::{Packet, Payload};
use crate::plan::{Plan, PlanError, Relays, WorkloadPlan};
use network::{Ecn, RouteId, SamplingTimes, StreamId, Streams};
use std::sync::Arc;
use units::{Rng, Time};

/// Application and open connections of a TCP flow. Closed connections remain only as counters and transfers.
///
/// The fields that every packet needs are the first fields of the struct, next to each other. With thousands of flows,
/// cache misses dominate the run time.
#[repr(C)]
pub struct Flow {
    /// Index in the plan.
    pub number: u32,
    streams: Streams,
    /// Time at which the flow starts, or at which its application has its next turn or stops.
    due: Time,
    phase: Phase,
    /// Whether the application waits for acknowledgements.
    blocked: bool,
    is_stream: bool,
    wrapping: Wrapping,
    sampling: SamplingTimes,
    connections: Connections,
    stats: FlowStats,
    stop: Time,
    factory: Box<ConnectionFactory>,
    application: Box<dyn Application>,
    sockets: Sockets,
    transfers: Vec<Transfer>,
    /// Counters of removed connections.
    past: Totals,
    sampled: (Time, Totals),
    todo: Vec<Order>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Running,
    /// The application has stopped; transfers in progress are completed.
    Stopped,
    /// No new data are sent; outstanding data may still be retransmitted.
    Over,
}

impl Flow {
    /// The flow with index `number` in the plan. No connection is open before the application has run.
    ///
    /// # Errors
    /// If the algorithm or the application of the flow cannot be built.
    pub fn new(
        number: u32,
        plan: &Arc<Plan>,
        streams: Streams,
        sampling: SamplingTimes,
        seed: u64,
        relays: &Relays,
        (controllers, external): (&Controllers, &External),
    ) -> Result<Flow, PlanError> {
        let of_flow = &plan.flows[number as usize];
        let start = of_flow.start(seed);
        let application = match &of_flow.workload {
            Some(WorkloadPlan::External { name }) => {
                let seed = Rng::stream(seed, &format!("application/{}", of_flow.stream)).next_u64();
                external.make_application(name, &format!("flows[{number}].workload.name"), start, seed)?
            }
            _ => build(of_flow, start, seed),
        };
        let factory = ConnectionFactory::new(plan, number as usize, seed, relays, controllers)?;
        Ok(Flow {
            number,
            streams,
            due: start,
            phase: Phase::Waiting,
            blocked: false,
            is_stream: application.is_stream(),
            wrapping: factory.wrapping(),
            sampling,
            connections: Connections::default(),
            stats: FlowStats::new(start),
            stop: of_flow.stop_ns.map_or(Time::NEVER, Time::from_nanos),
            factory: Box::new(factory),
            application,
            sockets: Sockets::default(),
            transfers: Vec::new(),
            past: Totals::default(),
            sampled: (Time::ZERO, Totals::default()),
            todo: Vec::new(),
        })
    }

    /// Time of the next wake-up of an end. If a flow has several connections, the wake-up of its sender runs both ends
    /// of all connections.
    #[inline]
    pub fn next(&self, end: End) -> Time {
        let single = self.connections.single().map_or(Time::NEVER, |connection| connection.next(end));
        if end == End::Receiver {
            return single;
        }
        single.min(self.connections.next()).min(self.due)
    }

    /// Runs everything that is due at an end.
    pub fn run<R: Observer>(&mut self, end: End, out: &mut Outbox<'_, R>) {
        if end == End::Sender {
            self.run_application(out);
        }
        if let Some(connection) = self.connections.single_mut() {
            connection.on_timer(out.now, end, out.segments);
            connection.settle(&self.sampling);
            self.finish_turn(0, end, out);
        }
        while let Some(id) = self.connections.due(out.now) {
            for end in [End::Sender, End::Receiver] {
                if let Some(connection) = self.connections.get_mut(id) {
                    connection.on_timer(out.now, end, out.segments);
                    connection.settle(&self.sampling);
                    self.finish_turn(id, end, out);
                }
            }
        }
    }

    /// Processes a packet at an end. Returns the end whose wake-up may have changed, and its time.
    #[inline]
    pub fn receive<R: Observer>(&mut self, packet: &Packet, out: &mut Outbox<'_, R>) -> (End, Time) {
        let end = End::reached(packet.stream.direction());
        let id = self.streams.number(packet.stream);
        if let (Payload::Tcp(segment), Some(connection)) = (&packet.payload, self.connections.get_mut(id)) {
            let sample = connection.receive(out.now, segment, packet.ecn == Ecn::Ce, end, out.segments);
            connection.settle(&self.sampling);
            if let Some(sample) = sample.filter(|_| self.sampling.measures(out.now)) {
                self.stats.samples(end).record(sample);
            }
            if self.blocked && end == End::Sender {
                self.let_application_run(out);
            }
            self.finish_turn(id, end, out);
        }
        let end = if self.is_stream { end } else { End::Sender };
        (end, self.next(end))
    }

    /// Called when a packet of `stream` has left the network interface of its host or was dropped there. Returns the
    /// end whose wake-up may have changed, and its time.
    pub fn on_left_host<R: Observer>(
        &mut self,
        stream: StreamId,
        bytes: u16,
        out: &mut Outbox<'_, R>,
    ) -> (End, Time) {
        let end = End::sending(stream.direction());
        let id = self.streams.number(stream);
        if let Some(connection) = self.connections.get_mut(id)
            && connection.on_left_host(out.now, end, bytes, out.segments)
        {
            self.finish_turn(id, end, out);
        }
        let end = if self.is_stream { end } else { End::Sender };
        (end, self.next(end))
    }

    /// Called after an end of a connection has run: sends its segments and informs the observer.
    #[inline(always)] // mostly there is nothing to do
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

    /// Sends the segments that an end of a connection has produced, updates its wake-up, and completes its transfer.
    #[inline(always)] // mostly there is nothing to do
    fn send<R: Observer>(&mut self, id: u32, end: End, out: &mut Outbox<'_, R>) {
        if !out.segments.is_empty() {
            self.flush(id, end, out);
        }
        let Some(connection) = self.connections.get_mut(id) else { return };
        let is_done = connection.is_done();
        if id != 0 {
            let next = connection.next(end);
            self.connections.request(id, next);
            self.see_to_several(id, is_done, out);
        } else if is_done {
            self.on_done(id, out);
        }
    }

    /// Completes the transfer of one of several connections, and removes the connection when it is over.
    fn see_to_several<R: Observer>(&mut self, id: u32, is_done: bool, out: &mut Outbox<'_, R>) {
        if is_done {
            self.on_done(id, out);
        }
        if self.connections.get_mut(id).is_some_and(|connection| connection.is_over()) {
            self.forget(id, out);
        }
    }

    #[inline(never)]
    fn flush<R: Observer>(&mut self, id: u32, end: End, out: &mut Outbox<'_, R>) {
        let stream = self.streams.stream(RouteId::new(self.number, end.direction()), id);
        let Wrapping { headers, mss, has_nic } = self.wrapping;
        if has_nic[end as usize]
            && let Some(connection) = self.connections.get_mut(id)
        {
            let beside = out.segments.iter().filter(|segment| !segment.is_data());
            beside.for_each(|segment| {
                connection.on_sent_beside(end, headers.packet(stream, segment).size);
            });
        }
        out.flush(mss, |segment| headers.packet(stream, segment));
    }
}
