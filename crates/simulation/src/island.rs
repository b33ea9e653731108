//! A network with its flows, simulated event by event.

use crate::actors::{Actor, ActorId};
use crate::hosts::{End, Endpoints, Outbox, pass_on};
use crate::net::Net;
use crate::payload::{Packet, Payload};
use crate::plan::Relays;
use crate::record::Recorder;
use network::{Released, RouteId};
use tcp::Segment;
use units::Time;

/// Flows and their network: a whole run, or a part that shares links with other parts.
pub(crate) struct Island {
    pub net: Net<Payload>,
    pub flows: Vec<Endpoints>,
    /// Index in the plan of the island's first flow.
    first_flow: u32,
    /// Relays of the plan, if any. An island with relays has all flows of the plan.
    relays: Option<Box<Relays>>,
}

impl Island {
    /// An island with consecutive flows of the plan, the first of which has the index `first_flow`. The start of each
    /// flow is scheduled.
    pub fn new(net: Net<Payload>, flows: Vec<Endpoints>, first_flow: u32) -> Island {
        let mut island = Island { net, flows, first_flow, relays: None };
        let Net { actors, schedule, .. } = &mut island.net;
        for (n, flow) in (0..).zip(&island.flows) {
            let sender = actors.end(RouteId::new(n, End::Sender.direction()));
            schedule.request(sender, flow.stats().start);
        }
        island
    }

    /// Adds the relays of a plan. The island must have all flows.
    pub fn relaying(self, relays: Relays) -> Island {
        Island { relays: relays.is_any().then(|| Box::new(relays)), ..self }
    }

    /// Data packets sent so far by the flows of the island.
    pub fn data_packets(&self) -> u64 {
        self.flows.iter().map(Endpoints::sent_packets).sum()
    }

    /// Runs the turn of an actor other than the sampler. `segments`: buffer between an end and its first link, empty
    /// between turns.
    #[inline]
    pub fn turn<R: Recorder>(
        &mut self,
        actor: ActorId,
        now: Time,
        recorder: &mut R,
        segments: &mut Vec<Segment>,
    ) {
        if self.net.actors.is_network(actor) {
            let Island { net, flows, first_flow, relays } = self;
            net.run(actor, now, |net, packet| {
                let relays = relays.as_deref();
                deliver(flows, *first_flow, relays, packet, &mut Outbox { now, net, recorder, segments });
            });
        } else {
            self.run_end(actor, now, recorder, segments);
        }
        if !self.net.released.is_empty() {
            self.tell_hosts(now, recorder, segments);
        }
        if R::ON {
            self.net.tapped.drain(..).for_each(|(at, hop, packet)| recorder.passed(at, hop, &packet));
        }
    }

    /// Informs connections of packets that have left their hosts. The connections may then send more.
    #[cold]
    fn tell_hosts<R: Recorder>(&mut self, now: Time, recorder: &mut R, segments: &mut Vec<Segment>) {
        let mut told = 0;
        while let Some(&Released { stream, size }) = self.net.released.get(told) {
            told += 1;
            let flow = self.net.route_of(stream).flow() - self.first_flow;
            let net = &mut self.net;
            let mut out = Outbox { now, net, recorder, segments };
            if let Some((end, next)) = self.flows[flow as usize].on_left_host(stream, size, &mut out) {
                let actor = self.net.actors.end(RouteId::new(flow, end.direction()));
                self.net.schedule.request(actor, next);
            }
        }
        self.net.released.clear();
    }

    /// Runs the turn of `actor`, which is an end of a flow.
    #[inline(never)] // otherwise a turn of the network is not inlined into the loop
    fn run_end<R: Recorder>(
        &mut self,
        actor: ActorId,
        now: Time,
        recorder: &mut R,
        segments: &mut Vec<Segment>,
    ) {
        let Actor::End(route) = self.net.actors.actor(actor) else { return };
        let end = End::sending(route.direction());
        let flow = &mut self.flows[route.flow() as usize];
        let mut out = Outbox { now, net: &mut self.net, recorder, segments };
        flow.run(end, &mut out);
        if let Some(relays) = &self.relays {
            pass_on(relays, route.flow(), end, &mut self.flows, &mut out);
        }
        let flow = &self.flows[route.flow() as usize];
        self.net.schedule.end(actor, flow.next(end));
    }
}

/// Delivers a packet to its endpoint, which may send packets in response.
#[inline]
fn deliver<R: Recorder>(
    flows: &mut [Endpoints],
    first_flow: u32,
    relays: Option<&Relays>,
    packet: &Packet,
    out: &mut Outbox<'_, R>,
) {
    out.recorder.arrived(out.now, packet);
    let flow = out.net.route(packet).flow() - first_flow;
    let (end, next) = flows[flow as usize].receive(packet, out);
    let actor = out.net.actors.end(RouteId::new(flow, end.direction()));
    out.net.schedule.request(actor, next);
    if let Some(relays) = relays {
        pass_on(relays, flow, end, flows, out);
    }
}
