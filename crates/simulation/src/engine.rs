//! The run loop.

use crate::Controllers;
use crate::datagram::Datagrams;
use crate::endpoints::Endpoints;
use crate::flow::Flow;
use crate::links::build_link;
use crate::media::build_medium;
use crate::net::Net;
use crate::payload::{Packet, Payload};
use crate::plan::{FlowPlan, Plan, PlanError, WorkloadPlan};
use crate::record::Recorder;
use crate::routes::Reroute;
use crate::tables::links::LinkRow;
use crate::tables::{Finished, Results};
use crate::workload;
use network::{Ecn, SamplingTimes, Streams};
use tcp::Segment;
use units::{Duration, Time};

/// Turns of actors, most of them a packet each, after which [`Engine::advance`] returns: some ten milliseconds.
pub(crate) const TURNS: usize = 1 << 16;

/// Whether packets may be handed over ahead of the clock. Same results either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutThrough {
    Yes,
    /// Also makes every link replay its queue.
    No,
}

/// A simulation, and who takes samples.
///
/// Actors of the schedule, in this order: the links; the media; the sender and the receiver of each flow; the sampler,
/// which come last so that a sample sees everything that happens at its time.
pub(crate) struct Engine<R> {
    plan: Plan,
    seed: u64,
    net: Net<Payload>,
    flows: Vec<Endpoints>,
    sampling: SamplingTimes,
    recorder: R,
    now: Time,
    /// Segments on their way from an endpoint to its first link; empty between events.
    out: Out,
}

/// What endpoints have just put out.
#[derive(Default)]
struct Out {
    /// By one TCP connection.
    segments: Vec<Segment>,
    /// By any other traffic.
    packets: Vec<Packet>,
}

impl<R: Recorder> Engine<R> {
    pub fn new(
        plan: Plan,
        seed: u64,
        cut_through: CutThrough,
        recorder: R,
        controllers: Controllers<'_>,
    ) -> Result<Engine<R>, PlanError> {
        let time = |nanos: u64| Time::from_nanos(nanos);
        let interval = plan.record.interval_ns.map(Duration::from_nanos);
        let sampling = SamplingTimes::new(interval, time(plan.warmup_ns), time(plan.duration_ns));
        let hosts = hosts(&plan);
        let links = plan.links.iter().enumerate().map(|(n, link)| {
            let cut_through =
                if plan.record.packets.contains(&link.name) { CutThrough::No } else { cut_through };
            build_link(n, link, sampling, seed, cut_through, &hosts)
        });
        let links = links.collect::<Result<Vec<_>, PlanError>>()?;
        let media = plan.media.iter().enumerate();
        let media = media.map(|(n, medium)| build_medium(n, medium, sampling, seed, &hosts));
        let media = media.collect::<Result<Vec<_>, PlanError>>()?;
        let streams = Streams::new(2 * plan.flows.len());
        let flows = (0u32..)
            .zip(&plan.flows)
            .map(|(n, flow)| build_flow(n, flow, streams, sampling, seed, controllers));
        let flows = flows.collect::<Result<Vec<_>, PlanError>>()?;
        let routes: Vec<Vec<u32>> =
            plan.flows.iter().flat_map(|f| [f.forward.clone(), f.reverse.clone()]).collect();
        let (others, cut_through) = (2 * flows.len() + 1, cut_through == CutThrough::Yes);
        let mut net = Net::new(links, media, &routes, reroutes(&plan), others, cut_through);
        let hops = plan.hop_names();
        net.tap(|hop| plan.record.packets.contains(&hops[hop]));
        let mut engine =
            Engine { plan, seed, net, flows, sampling, recorder, now: Time::ZERO, out: Out::default() };
        for n in 0..engine.flows.len() {
            let (actor, start) = (engine.sender_actor(n), engine.flows[n].tally().start);
            engine.net.schedule.request(actor, start);
        }
        engine.net.schedule.request(engine.sampler_actor(), sampling.after(Time::ZERO));
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

    /// How many packets have been captured so far, once for every point.
    pub fn captured(&self) -> usize {
        self.recorder.captured()
    }

    /// The turn of an actor.
    fn run(&mut self, actor: u32, now: Time) {
        if actor < self.net.len() as u32 {
            let (flows, out, recorder) = (&mut self.flows, &mut self.out, &mut self.recorder);
            self.net.run(actor, now, |net, packet| deliver(net, flows, out, recorder, packet, now));
        } else if actor == self.sampler_actor() {
            self.take_samples(now);
            self.net.schedule.end(actor, self.sampling.after(now));
        } else {
            self.run_timer(actor, now);
        }
        if R::ON {
            self.net.tapped.drain(..).for_each(|(at, link, packet)| self.recorder.passed(at, link, &packet));
        }
    }

    /// Runs to the end and sums up.
    pub fn finish(mut self) -> Results {
        while self.advance(self.sampling.end()) < self.sampling.end() {}
        Results::of(Finished {
            plan: &self.plan,
            seed: self.seed,
            flows: &self.flows,
            net: &self.net,
            recorded: self.recorder.recorded(),
        })
    }

    fn sender_actor(&self, flow: usize) -> u32 {
        sender_actor(&self.net, flow)
    }

    fn sampler_actor(&self) -> u32 {
        self.sender_actor(self.flows.len())
    }

    /// The turn of an endpoint's timer.
    fn run_timer(&mut self, actor: u32, now: Time) {
        let index = actor as usize - self.net.len();
        let (n, is_sender) = (index / 2, index % 2 == 0);
        let (net, out, recorder) = (&mut self.net, &mut self.out, &mut self.recorder);
        let flow = match &mut self.flows[n] {
            Endpoints::Connection(flow) => flow,
            Endpoints::Traffic(traffic) => {
                traffic.run(now, &mut out.packets);
                net.schedule.end(actor, traffic.next());
                return send_packets(net, &mut out.packets, recorder, now);
            }
        };
        let wakeup = if is_sender {
            flow.on_sender_wakeup(now, &mut out.segments);
            recorder.turn(now, flow);
            flow.sender_wakeup()
        } else {
            if flow.receiver.next_timer() <= now {
                flow.receiver.on_timer(now, &mut out.segments);
            }
            flow.receiver.next_timer()
        };
        net.schedule.end(actor, wakeup);
        send(net, flow, is_sender, &mut out.segments, recorder, now);
    }

    /// Reads the counters of links and flows.
    fn take_samples(&mut self, now: Time) {
        let sample = R::ON && self.sampling.is_sample(now);
        for hop in 0..self.net.hops() {
            let interval = self.net.close_interval(hop, now);
            if sample {
                let from = now - Duration::from_nanos(self.plan.record.interval_ns.unwrap_or(0));
                self.recorder.link(LinkRow::new(&self.plan, &self.net, hop, &interval, from, now));
            }
            if sample && self.plan.record.variables {
                self.recorder.queue_variables(now, hop, &self.net);
            }
        }
        for flow in &mut self.flows {
            if sample {
                self.recorder.flow(flow.sample(now));
            }
            if sample
                && self.plan.record.variables
                && let Some(flow) = flow.connection().filter(|flow| flow.is_running())
            {
                self.recorder.variables(now, flow);
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
    plan: &FlowPlan,
    streams: Streams,
    sampling: SamplingTimes,
    seed: u64,
    controllers: Controllers<'_>,
) -> Result<Endpoints, PlanError> {
    if let Some(WorkloadPlan::Datagrams(datagrams)) = &plan.workload {
        return Ok(Endpoints::Traffic(Box::new(Datagrams::new(number, plan, datagrams, sampling, seed))));
    }
    Ok(match workload::build(number, plan, streams, sampling, seed)? {
        Some(connections) => Endpoints::Traffic(Box::new(connections)),
        None => Endpoints::Connection(Flow::new(number, plan, sampling, seed, controllers)?),
    })
}

/// What the flows of a plan say of routes that change. Data travels on route `2 n`, acknowledgements on `2 n + 1`.
fn reroutes(plan: &Plan) -> Vec<Reroute> {
    let flows = (0u32..).zip(&plan.flows);
    let all = flows.flat_map(|(n, flow)| flow.reroutes.iter().map(move |reroute| (n, reroute)));
    all.flat_map(|(n, reroute)| {
        [(2 * n, &reroute.forward), (2 * n + 1, &reroute.reverse)].map(|(route, path)| {
            let at = Time::from_nanos(reroute.at_ns);
            path.as_ref().map(|path| Reroute { at, route, path: path.clone() })
        })
    })
    .flatten()
    .collect()
}

/// The hosts at which each route begins and ends: data of flow `n` takes route `2 n`, its acknowledgements `2 n + 1`.
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

/// The sender of a flow; its receiver is the next actor.
fn sender_actor(net: &Net<Payload>, flow: usize) -> u32 {
    (net.len() + 2 * flow) as u32
}

/// A packet reaches its endpoint, which may answer.
fn deliver<R: Recorder>(
    net: &mut Net<Payload>,
    flows: &mut [Endpoints],
    out: &mut Out,
    recorder: &mut R,
    packet: &Packet,
    now: Time,
) {
    let n = (net.route(packet) / 2) as usize;
    let to_receiver = packet.flow % 2 == 0;
    let sender = sender_actor(net, n);
    let flow = match &mut flows[n] {
        Endpoints::Connection(flow) => flow,
        Endpoints::Traffic(traffic) => {
            recorder.arrived(now, packet);
            traffic.receive(now, packet, &mut out.packets);
            net.schedule.request(sender, traffic.next());
            return send_packets(net, &mut out.packets, recorder, now);
        }
    };
    let Payload::Tcp(segment) = &packet.payload else { return };
    recorder.arrived(now, packet);
    if to_receiver {
        flow.receiver.on_segment(now, segment, packet.ecn == Ecn::Ce, &mut out.segments);
        net.schedule.request(sender + 1, flow.receiver.next_timer());
    } else {
        flow.on_sender_segment(now, segment, &mut out.segments);
        recorder.turn(now, flow);
        net.schedule.request(sender, flow.sender_wakeup());
    }
    send(net, flow, !to_receiver, &mut out.segments, recorder, now);
}

/// Sends what an endpoint has just put out.
fn send<R: Recorder>(
    net: &mut Net<Payload>,
    flow: &Flow,
    from_sender: bool,
    out: &mut Vec<Segment>,
    recorder: &mut R,
    now: Time,
) {
    for segment in out.drain(..) {
        let packet = flow.packet(segment, from_sender);
        recorder.sent(now, flow.mss(), &packet);
        net.send(&packet, now);
    }
}

/// Sends what other traffic has just put out.
fn send_packets<R: Recorder>(net: &mut Net<Payload>, out: &mut Vec<Packet>, recorder: &mut R, now: Time) {
    for packet in out.drain(..) {
        if let Payload::Datagram(_) = packet.payload {
            recorder.sent(now, 0, &packet);
        }
        net.send(&packet, now);
    }
}
