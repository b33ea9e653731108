//! The run loop: takes the earliest wake-up and lets that actor act.

use crate::actors::{Actor, ActorId};
use crate::controllers::Controllers;
use crate::external::External;
use crate::hosts::{Datagrams, End, Endpoints, Flow, Outbox};
use crate::links::{CutThrough, build_link};
use crate::media::build_medium;
use crate::net::Net;
use crate::payload::{Packet, Payload};
use crate::plan::{Plan, PlanError, WorkloadPlan};
use crate::record::{Grown, Recorder};
use crate::route_control::{self, RouteController};
use crate::routes::{HopId, Reroute};
use crate::tables::links::LinkRow;
use crate::tables::{Finished, Results};
use network::{Direction, Released, RouteId, SamplingTimes, Streams};
use std::sync::Arc;
use tcp::Segment;
use units::{Duration, Time};

/// Turns of actors, most of them a packet each, after which [`Engine::advance`] returns: some ten milliseconds.
pub(crate) const TURNS: usize = 1 << 16;

/// A simulation, and what takes samples of it: the actors of the schedule, each with its turns.
pub(crate) struct Engine<R> {
    plan: Arc<Plan>,
    seed: u64,
    net: Net<Payload>,
    flows: Vec<Endpoints>,
    sampling: SamplingTimes,
    controllers: Vec<RouteController>,
    recorder: R,
    now: Time,
    /// Segments between an endpoint and its first link; empty between events.
    segments: Vec<Segment>,
}

impl<R: Recorder> Engine<R> {
    pub fn new(
        plan: Plan,
        seed: u64,
        cut_through: CutThrough,
        recorder: R,
        mut external: External,
    ) -> Result<Engine<R>, PlanError> {
        let time = |nanos: u64| Time::from_nanos(nanos);
        let interval = plan.record.interval_ns.map(Duration::from_nanos);
        let sampling = SamplingTimes::new(interval, time(plan.warmup_ns), time(plan.duration_ns));
        let hosts = hosts(&plan);
        let links = plan.links.iter().enumerate().map(|(n, link)| {
            let replays = plan.record.packets.contains(&link.name) || link.nic;
            let cut_through = if replays { CutThrough::No } else { cut_through };
            build_link(n, link, sampling, seed, cut_through, &hosts, &external)
        });
        let links = links.collect::<Result<Vec<_>, PlanError>>()?;
        let media = plan.media.iter().enumerate();
        let media = media.map(|(n, medium)| build_medium(n, medium, sampling, seed, &hosts, &external));
        let media = media.collect::<Result<Vec<_>, PlanError>>()?;
        let streams = Streams::for_flows(plan.flows.len());
        let plan = Arc::new(plan);
        let controllers = external.take_controllers();
        let flows = 0..plan.flows.len() as u32;
        let flows = flows.map(|n| build_flow(n, &plan, streams, sampling, seed, (&controllers, &external)));
        let flows = flows.collect::<Result<Vec<_>, PlanError>>()?;
        let routes: Vec<Vec<HopId>> = plan.routes().map(|path| hops(path)).collect();
        let steering = route_control::controllers(&plan);
        let changes = reroutes(&plan).into_iter().chain(route_control::alternatives(&steering)).collect();
        let mut net = Net::new(links, media, &routes, changes, cut_through == CutThrough::Yes);
        let names = plan.hop_names();
        net.tap(|hop| plan.record.packets.contains(&names[hop.index()]));
        net.set_nics(|link| plan.links[link].nic);
        let segments = Vec::new();
        let mut engine = Engine {
            plan,
            seed,
            net,
            flows,
            sampling,
            controllers: steering,
            recorder,
            now: Time::ZERO,
            segments,
        };
        let Net { actors, schedule, .. } = &mut engine.net;
        for (n, flow) in (0..).zip(&engine.flows) {
            let sender = actors.end(RouteId::new(n, End::Sender.direction()));
            schedule.request(sender, flow.stats().start);
        }
        schedule.request(actors.sampler(), sampling.after(Time::ZERO));
        Ok(engine)
    }

    /// Runs everything up to and including `until`, or as much of it as fits into `TURNS` turns of actors. Returns the
    /// time up to and including which everything has been run.
    pub fn advance(&mut self, until: Time) -> Time {
        let until = until.min(self.sampling.end());
        let mut reached = Time::ZERO;
        for _ in 0..TURNS {
            let Some((now, actor)) = self.net.schedule.next(until) else {
                self.now = self.now.max(until);
                return self.now;
            };
            self.run(actor, now);
            reached = now;
        }
        // There may be more to run at that time.
        self.now = self.now.max(Time::from_nanos(reached.as_nanos().saturating_sub(1)));
        self.now
    }

    /// Data packets that all flows have sent by now.
    pub fn data_packets(&self) -> u64 {
        self.flows.iter().map(Endpoints::sent_packets).sum()
    }

    /// How many rows there are by now of those that cannot be counted beforehand.
    pub fn grown(&self) -> Grown {
        self.recorder.grown()
    }

    /// The turn of an actor.
    fn run(&mut self, actor: ActorId, now: Time) {
        if self.net.actors.is_network(actor) {
            let (flows, segments, recorder) = (&mut self.flows, &mut self.segments, &mut self.recorder);
            self.net.run(actor, now, |net, packet| {
                deliver(flows, packet, &mut Outbox { now, net, recorder, segments });
            });
        } else {
            self.run_outside(actor, now);
        }
        if !self.net.released.is_empty() {
            self.tell_hosts(now);
        }
        if R::ON {
            self.net.tapped.drain(..).for_each(|(at, hop, packet)| self.recorder.passed(at, hop, &packet));
        }
    }

    /// The turn of an actor that is no part of the network.
    #[inline(never)] // else a turn of the network is not compiled into the loop
    fn run_outside(&mut self, actor: ActorId, now: Time) {
        match self.net.actors.actor(actor) {
            Actor::Network => {}
            Actor::End(route) => self.run_end(actor, route, now),
            Actor::Sampler => {
                self.take_samples(now);
                self.net.schedule.end(actor, self.sampling.after(now));
            }
        }
    }

    /// Tells connections which of their packets have left their hosts, which may send more then.
    #[cold]
    fn tell_hosts(&mut self, now: Time) {
        let mut told = 0;
        while let Some(&Released { stream, size }) = self.net.released.get(told) {
            told += 1;
            let flow = self.net.route_of(stream).flow();
            let (net, recorder, segments) = (&mut self.net, &mut self.recorder, &mut self.segments);
            let mut out = Outbox { now, net, recorder, segments };
            if let Some((end, next)) = self.flows[flow as usize].on_left_host(stream, size, &mut out) {
                let actor = self.net.actors.end(RouteId::new(flow, end.direction()));
                self.net.schedule.request(actor, next);
            }
        }
        self.net.released.clear();
    }

    /// Runs to the end and sums up.
    pub fn finish(mut self) -> Results {
        while self.advance(self.sampling.end()) < self.sampling.end() {}
        Results::from_run(Finished {
            plan: &self.plan,
            seed: self.seed,
            flows: &self.flows,
            net: &self.net,
            recorded: self.recorder.recorded(),
        })
    }

    /// The turn of the end of a flow at which a route begins.
    fn run_end(&mut self, actor: ActorId, route: RouteId, now: Time) {
        let end = End::sending(route.direction());
        let flow = &mut self.flows[route.flow() as usize];
        let (net, recorder, segments) = (&mut self.net, &mut self.recorder, &mut self.segments);
        flow.run(end, &mut Outbox { now, net, recorder, segments });
        self.net.schedule.end(actor, flow.next(end));
    }

    /// Reads the counters of links and flows.
    fn take_samples(&mut self, now: Time) {
        let sample = R::ON && self.sampling.is_sample(now);
        for hop in self.net.hops() {
            let interval = self.net.close_interval(hop, now);
            if sample {
                let from = now - Duration::from_nanos(self.plan.record.interval_ns.unwrap_or(0));
                self.recorder.link(LinkRow::new(&self.plan, &self.net, hop, &interval, from, now));
            }
            if sample && self.plan.record.variables {
                self.recorder.queue_variables(now, hop, &self.net);
            }
        }
        for controller in &mut self.controllers {
            controller.run(now, &mut self.net);
        }
        for flow in &mut self.flows {
            if sample {
                self.recorder.flow(flow.sample(now));
            }
            if sample
                && self.plan.record.variables
                && let Some(flow) = flow.tcp()
            {
                for connection in flow.running() {
                    self.recorder.variables(now, flow.number, connection.number, connection.sender());
                }
            }
            if now == self.sampling.warmup() {
                flow.on_warmup(now);
            }
            if now == self.sampling.end() {
                flow.on_end(now);
            }
        }
    }
}

/// What a flow of the plan consists of.
fn build_flow(
    number: u32,
    plan: &Arc<Plan>,
    streams: Streams,
    sampling: SamplingTimes,
    seed: u64,
    provided: (&Controllers, &External),
) -> Result<Endpoints, PlanError> {
    let of_flow = &plan.flows[number as usize];
    if let Some(WorkloadPlan::Datagrams(datagrams)) = &of_flow.workload {
        let datagrams = Datagrams::new(number, of_flow, datagrams, sampling, seed);
        return Ok(Endpoints::Datagrams(Box::new(datagrams)));
    }
    Ok(Endpoints::Tcp(Flow::new(number, plan, streams, sampling, seed, provided)?))
}

/// A path of the plan.
fn hops(path: &[u32]) -> Vec<HopId> {
    path.iter().copied().map(HopId).collect()
}

/// What the flows of a plan say of routes that change.
fn reroutes(plan: &Plan) -> Vec<Reroute> {
    let flows = (0u32..).zip(&plan.flows);
    let all = flows.flat_map(|(n, flow)| flow.reroutes.iter().map(move |reroute| (n, reroute)));
    all.flat_map(|(n, reroute)| {
        let paths = [(Direction::Forward, &reroute.forward), (Direction::Backward, &reroute.reverse)];
        paths.map(|(direction, path)| {
            let route = RouteId::new(n, direction);
            let at = Time::from_nanos(reroute.at_ns);
            path.as_ref().map(|path| Reroute { at, route, path: hops(path) })
        })
    })
    .flatten()
    .collect()
}

/// The hosts at which each route begins and ends.
/// The connections of one flow are between the same two hosts.
fn hosts(plan: &Plan) -> Vec<Option<[u32; 2]>> {
    let named = plan.flows.iter().filter_map(|flow| flow.hosts);
    let first_free = named.flatten().max().map_or(0, |last| last + 1);
    let own = |n: u32| [first_free + 2 * n, first_free + 2 * n + 1];
    let hosts = (0u32..).zip(&plan.flows).map(|(n, flow)| {
        let many = flow.workload.as_ref().is_some_and(WorkloadPlan::is_many);
        flow.hosts.or_else(|| many.then(|| own(n)))
    });
    hosts.flat_map(|hosts| [hosts, hosts.map(|[from, to]| [to, from])]).collect()
}

/// A packet reaches its endpoint, which may answer.
#[inline]
fn deliver<R: Recorder>(flows: &mut [Endpoints], packet: &Packet, out: &mut Outbox<'_, R>) {
    out.recorder.arrived(out.now, packet);
    let flow = out.net.route(packet).flow();
    let (end, next) = flows[flow as usize].receive(packet, out);
    let actor = out.net.actors.end(RouteId::new(flow, end.direction()));
    out.net.schedule.request(actor, next);
}
