//! The run loop: takes the earliest wake-up and runs its actor.

use crate::controllers::Controllers;
use crate::execution::Execution;
use crate::external::External;
use crate::hosts::{Datagrams, Endpoints, Flow};
use crate::island::Island;
use crate::links::{CutThrough, build_link};
use crate::media::build_medium;
use crate::net::{HandOver, Net};
use crate::payload::{self, Payload};
use crate::plan::{HandOverPlan, Plan, PlanError, Relays, WorkloadPlan};
use crate::record::{Grown, Recorder};
use crate::rivals::Rivals;
use crate::route_control::{self, RouteController};
use crate::routes::{HopId, Reroute};
use crate::tables::links::LinkRow;
use crate::tables::{Finished, Results};
use crate::windows::Split;
use crate::world::World;
use network::{Direction, Drops, RouteId, SamplingTimes, Streams};
use std::sync::Arc;
use tcp::Segment;
use units::{Duration, Time};

/// Turns of actors after which [`Engine::advance`] returns. These turns take about ten milliseconds, as most turns
/// process one packet.
pub(crate) const TURNS: usize = 1 << 16;

/// A simulation with its recorder.
pub(crate) struct Engine<R> {
    plan: Arc<Plan>,
    seed: u64,
    world: World,
    sampling: SamplingTimes,
    rivals: Rivals,
    drops: Arc<Drops<Payload>>,
    controllers: Vec<RouteController>,
    recorder: R,
    now: Time,
    /// Next time at which a sample is due, or a span of [`Rivals`] begins or ends; only used if the run is executed in
    /// windows.
    sample_at: Time,
    /// Segments between an endpoint and its first link; empty between events.
    segments: Vec<Segment>,
}

impl<R: Recorder> Engine<R> {
    pub fn new(
        plan: Plan,
        seed: u64,
        execution: Execution,
        recorder: R,
        mut external: External,
    ) -> Result<Engine<R>, PlanError> {
        let time = |nanos: u64| Time::from_nanos(nanos);
        let interval = plan.record.interval_ns.map(Duration::from_nanos);
        let sampling = SamplingTimes::new(interval, time(plan.warmup_ns), time(plan.duration_ns));
        let hosts = hosts(&plan);
        let links = plan.links.iter().enumerate().map(|(n, link)| {
            let replays = plan.record.packets.contains(&link.name) || link.nic;
            let cut_through = if replays { CutThrough::No } else { execution.cut_through() };
            build_link(n, link, sampling, seed, cut_through, &hosts, &external)
        });
        let mut links = links.collect::<Result<Vec<_>, PlanError>>()?;
        let media = plan.media.iter().enumerate();
        let media = media.map(|(n, medium)| build_medium(n, medium, sampling, seed, &hosts, &external));
        let mut media = media.collect::<Result<Vec<_>, PlanError>>()?;
        let drops = Arc::new(Drops::new(plan.flows.len(), payload::is_data, sampling.measured()));
        links.iter_mut().for_each(|link| link.count_drops(&drops));
        media.iter_mut().for_each(|medium| medium.count_drops(&drops));
        let streams = Streams::for_flows(plan.flows.len());
        let plan = Arc::new(plan);
        let controllers = external.take_controllers();
        let relays = Relays::new(&plan);
        let flows = 0..plan.flows.len() as u32;
        let flows =
            flows.map(|n| build_flow(n, &plan, streams, sampling, seed, &relays, (&controllers, &external)));
        let flows = flows.collect::<Result<Vec<_>, PlanError>>()?;
        let rivals = Rivals::new(&plan, &flows, sampling);
        let first = sampling.after(Time::ZERO).min(rivals.after(Time::ZERO));
        let routes: Vec<Vec<HopId>> = plan.routes().map(|path| hops(path)).collect();
        let steering = route_control::controllers(&plan);
        let changes = reroutes(&plan).into_iter().chain(route_control::alternatives(&steering)).collect();
        let (split, threads) = match execution {
            Execution::Auto { threads } => {
                (Split::new(&plan, &links).filter(|split| split.pays(&plan, &links)), threads)
            }
            Execution::Windows { threads } => (Split::new(&plan, &links), threads),
            Execution::Events | Execution::OneLinkAtATime => (None, 1),
        };
        let world = match split {
            Some(split) => World::Windows(Box::new(split.cut(links, flows, sampling, threads))),
            None => {
                let ahead_of_clock = execution.cut_through() == CutThrough::Yes;
                let mut net = Net::new(links, media, &routes, changes, ahead_of_clock);
                let names = plan.hop_names();
                net.tap(|hop| plan.record.packets.contains(&names[hop.index()]));
                net.set_nics(|link| plan.links[link].nic);
                net.list_released(&plan.telling_ports());
                for planned in &plan.hand_overs {
                    net.hand_over_at(time(planned.at_ns), hand_over(&plan, planned));
                }
                net.schedule.request(net.actors.sampler(), first);
                World::Events(Box::new(Island::new(net, flows, 0).relaying(relays)))
            }
        };
        Ok(Engine {
            plan,
            seed,
            world,
            sampling,
            rivals,
            drops,
            controllers: steering,
            recorder,
            now: Time::ZERO,
            sample_at: first,
            segments: Vec::new(),
        })
    }

    /// Runs all events up to and including `until`, but stops early after `TURNS` turns of actors. All events up to and
    /// including the returned time have been run.
    pub fn advance(&mut self, until: Time) -> Time {
        let until = until.min(self.sampling.end());
        let reached = match self.world {
            World::Events(_) => self.advance_by_events(until),
            World::Windows(_) => self.advance_by_windows(until),
        };
        self.now = self.now.max(reached);
        self.now
    }

    fn advance_by_events(&mut self, until: Time) -> Time {
        let mut reached = Time::ZERO;
        for _ in 0..TURNS {
            let World::Events(island) = &mut self.world else { break };
            let Some((now, actor)) = island.net.schedule.next(until) else { return until };
            if actor == island.net.actors.sampler() {
                island.net.schedule.end(actor, self.sampling.after(now).min(self.rivals.after(now)));
                self.take_note(now);
            } else {
                island.turn(actor, now, &mut self.recorder, &mut self.segments);
            }
            reached = now;
        }
        Time::from_nanos(reached.as_nanos().saturating_sub(1)) // more events may be due at the time reached
    }

    fn advance_by_windows(&mut self, until: Time) -> Time {
        let mut left = TURNS;
        if let World::Windows(windows) = &self.world {
            left *= windows.threads();
        }
        loop {
            let World::Windows(windows) = &mut self.world else { return until };
            let reached = windows.advance(until.min(self.sample_at), &mut left);
            if reached == self.sample_at {
                self.take_note(reached);
                self.sample_at = self.sampling.after(reached).min(self.rivals.after(reached));
            }
            if reached >= until || left == 0 {
                return reached;
            }
        }
    }

    pub fn is_in_windows(&self) -> bool {
        matches!(self.world, World::Windows(_))
    }

    /// Data packets sent so far, over all flows.
    pub fn data_packets(&self) -> u64 {
        self.world.data_packets()
    }

    /// Rows so far of the tables whose size cannot be computed in advance.
    pub fn grown(&self) -> Grown {
        self.recorder.grown()
    }

    /// Runs to the end and makes the tables.
    pub fn finish(mut self) -> Results {
        while self.advance(self.sampling.end()) < self.sampling.end() {}
        let (flows, net) = match self.world {
            World::Events(island) => (island.flows, island.net),
            World::Windows(windows) => {
                let (flows, links) = windows.into_parts();
                let routes: Vec<Vec<HopId>> = self.plan.routes().map(|path| hops(path)).collect();
                (flows, Net::new(links, Vec::new(), &routes, Vec::new(), true))
            }
        };
        let (plan, recorded) = (&*self.plan, self.recorder.recorded());
        let (rivals, drops) = (&self.rivals, &*self.drops);
        Results::from_run(Finished {
            plan,
            seed: self.seed,
            flows: &flows,
            rivals,
            drops,
            net: &net,
            recorded,
        })
    }

    /// Runs the turn of the sampler, which takes samples and counts the deliveries of rivals.
    fn take_note(&mut self, now: Time) {
        let Engine { plan, world, rivals, sampling, .. } = self;
        if rivals.is_end(now) {
            let mut planned = plan.flows.iter().enumerate();
            world.for_each_flow(|flow| {
                if let Some((number, plan)) = planned.next() {
                    rivals.note(now, number, plan, flow);
                }
            });
        }
        if sampling.is_due(now) {
            self.take_samples(now);
        }
    }

    /// Reads the counters of links and flows.
    fn take_samples(&mut self, now: Time) {
        let Engine { plan, world, recorder, sampling, .. } = self;
        let sample = R::ON && sampling.is_sample(now);
        let from = now - Duration::from_nanos(plan.record.interval_ns.unwrap_or(0));
        for hop in (0..plan.hops().count() as u32).map(HopId) {
            let interval = world.close_interval(hop, now);
            if sample {
                let standing = world.standing(hop, from, now);
                recorder.link(LinkRow::new(plan, hop, standing, &interval, from, now));
            }
            if sample
                && plan.record.variables
                && let World::Events(island) = world
            {
                recorder.queue_variables(now, hop, &island.net);
            }
        }
        if let World::Events(island) = world {
            self.controllers.iter_mut().for_each(|controller| controller.run(now, &mut island.net));
        }
        world.for_each_flow(|flow| {
            if sample {
                recorder.flow(flow.sample(now));
            }
            if sample
                && plan.record.variables
                && let Some(flow) = flow.tcp()
            {
                for connection in flow.running() {
                    recorder.variables(now, flow.number, connection.number, connection.sender());
                }
            }
            if now == sampling.warmup() {
                flow.on_warmup(now);
            }
            if now == sampling.end() {
                flow.on_end(now);
            }
        });
    }
}

/// Builds both ends of a flow.
fn build_flow(
    number: u32,
    plan: &Arc<Plan>,
    streams: Streams,
    sampling: SamplingTimes,
    seed: u64,
    relays: &Relays,
    provided: (&Controllers, &External),
) -> Result<Endpoints, PlanError> {
    let of_flow = &plan.flows[number as usize];
    if let Some(WorkloadPlan::Datagrams(datagrams)) = &of_flow.workload {
        let datagrams = Datagrams::new(number, of_flow, datagrams, sampling, seed);
        return Ok(Endpoints::Datagrams(Box::new(datagrams)));
    }
    Ok(Endpoints::Tcp(Flow::new(number, plan, streams, sampling, seed, relays, provided)?))
}

/// Hops of a path in a plan.
fn hops(path: &[u32]) -> Vec<HopId> {
    path.iter().copied().map(HopId).collect()
}

/// All changes of routes in a plan.
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

/// A handover, with the old routes on which packets still arrive at the old port.
fn hand_over(plan: &Plan, planned: &HandOverPlan) -> HandOver {
    let &HandOverPlan { gap_ns, from, to, .. } = planned;
    let ways = plan.old_ways(planned).iter().map(|way| hops(way)).collect();
    HandOver { from: HopId(from), to: HopId(to), gap: Duration::from_nanos(gap_ns), ways }
}

/// Hosts at which each route begins and ends. All connections of a flow are between the same two hosts.
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
