//! The cell: its implementation of [`Element`], and its entry in the list of media for each generation.

use super::blocks::Generation;
use super::params::CellularParams;
use super::satellites::Satellites;
use super::way::Way;
use crate::counters::{Counters, Totals};
use crate::medium::inputs::Inputs;
use crate::{Drops, Element, Packet, PortId, Ring};
use params::{Entry, Problem};
use std::marker::PhantomData;
use std::sync::Arc;
use units::{Duration, Probe, Rate, Time};

/// A base station and its users.
///
/// A slot is served at the first call at or after its start. The blocks of a slot carry only packets that had arrived
/// before the start of the slot, so the time of the call does not affect the result. Slots in which no port has
/// anything to send are skipped.
pub struct Cell<P, G> {
    /// The downlink and the uplink.
    ways: [Way<P>; 2],
    /// Propagation delay, without the delay of satellites.
    delay: Duration,
    satellites: Option<Satellites>,
    /// Minimum time from the start of a slot until the packets of the slot arrive.
    least: Duration,
    in_flight: Ring<Flight<P>>,
    highest_rate: Rate,
    /// Whether users have discontinuous reception (DRX).
    sleeps: bool,
    /// `lost` is the latest time at which a loss will become known. `replayed` is the time up to which slots have been
    /// replayed.
    lost: Time,
    replayed: Time,
    generation: PhantomData<G>,
}

/// A packet and the time at which it reaches the far end of its port.
#[derive(Clone, Copy, Debug)]
struct Flight<P> {
    arrival: Time,
    port: PortId,
    packet: Packet<P>,
}

/// Index of the uplink among the directions.
const UP: usize = 1;

/// The direction and the user of a port.
fn place(port: PortId) -> (usize, usize) {
    (usize::from(port.0) % 2, usize::from(port.0) / 2)
}

impl<P: Copy, G> Cell<P, G> {
    /// Replay all slots up to now.
    fn replay(&mut self, now: Time) {
        while let Some(way) =
            (0..2).min_by_key(|&way| self.ways[way].next).filter(|&way| self.ways[way].next <= now)
        {
            let start = self.ways[way].next;
            self.ways[way].serve();
            self.deliver(way);
            self.wake(way, start);
        }
        self.replayed = now;
    }

    /// Restart the inactivity timer (DRX) of each user that has sent in an uplink slot.
    fn wake(&mut self, way: usize, start: Time) {
        let [down, up] = &mut self.ways;
        let sent =
            up.ports.iter().enumerate().filter(|(_, port)| way == UP && self.sleeps && port.active == start);
        for (user, _) in sent {
            down.ports[user].listens(start);
            down.plan_for(user, start);
        }
    }

    /// Send to the far end the packets that the receivers of a direction release.
    fn deliver(&mut self, way: usize) {
        for (user, port) in self.ways[way].ports.iter_mut().enumerate() {
            while let Some((packet, at)) = port.release() {
                let space = self.satellites.as_mut().map_or(Duration::ZERO, |it| it.delay(at));
                port.arrives = port.arrives.max(at + self.delay + space); // keeps the order on a change of satellite
                let flight = Flight { arrival: port.arrives, port: PortId((2 * user + way) as u16), packet };
                self.in_flight.insert(flight, |new, other| new.arrival < other.arrival);
            }
            self.lost = self.lost.max(port.lost);
        }
    }
}

impl<P: Copy + Send, G: Generation> Element<P> for Cell<P, G> {
    fn ports(&self) -> usize {
        self.ways.iter().map(|way| way.ports.len()).sum()
    }

    fn put(&mut self, port: PortId, packet: &Packet<P>, now: Time) {
        self.replay(now);
        let (way, user) = place(port);
        self.ways[way].ports[user].arrive(*packet, now);
        self.ways[way].plan_for(user, now);
    }

    fn next(&self) -> Time {
        let slot = self.ways[0].next.min(self.ways[1].next);
        let served = if slot == Time::NEVER { slot } else { slot + self.least };
        let known = if self.lost > self.replayed { self.lost } else { Time::NEVER };
        let arrival = self.in_flight.front().map_or(Time::NEVER, |flight| flight.arrival);
        served.min(known).min(arrival)
    }

    fn take(&mut self, now: Time) -> Option<(PortId, Packet<P>)> {
        self.replay(now);
        self.in_flight.front().filter(|flight| flight.arrival <= now)?;
        let &Flight { arrival, port, packet } = self.in_flight.pop()?;
        let (way, user) = place(port);
        self.ways[way].ports[user].stats.forwarded(arrival, packet.size);
        Some((port, packet))
    }

    fn close_interval(&mut self, port: PortId, now: Time) -> Counters {
        self.replay(now);
        let (way, user) = place(port);
        self.ways[way].ports[user].stats.close()
    }

    /// Report the queue, the window, the blocks and the resource blocks of a port. The first port of each direction
    /// also reports how many slots of that direction were used.
    fn observe(&self, port: PortId, now: Time, probe: &mut Probe<'_>) {
        let (way, user) = place(port);
        self.ways[way].ports[user].observe(now, probe);
        if user == 0 {
            probe.see("cell_slots", self.ways[way].used as f64, "slots");
        }
    }

    fn totals(&self, port: PortId) -> &Totals {
        let (way, user) = place(port);
        self.ways[way].ports[user].stats.totals()
    }

    fn count_drops(&mut self, drops: &Arc<Drops<P>>) {
        let ports = self.ways.iter_mut().flat_map(|way| &mut way.ports);
        ports.for_each(|port| port.stats.count_drops(drops));
    }

    /// Withdraw packets as in a handover with data forwarding (X2, Xn): TS 36.300 10.1.2.3, TS 38.300 9.2.3.2.
    fn withdraw(&mut self, port: PortId, now: Time, into: &mut Vec<Packet<P>>) {
        self.replay(now);
        let (way, user) = place(port);
        self.ways[way].ports[user].withdraw(now, into);
    }

    fn min_delay(&self) -> Duration {
        let slots = self.ways.iter().map(|way| way.slots.length()).min();
        self.least.saturating_sub(slots.unwrap_or(Duration::ZERO))
    }

    fn capacity(&self) -> Rate {
        self.highest_rate
    }

    fn at_once(&self) -> usize {
        Element::ports(self)
    }
}

impl<P: Copy + Send, G: Generation> Entry<Inputs<P>> for Cell<P, G> {
    type Params = CellularParams;
    const TITLE: &'static str = G::TITLE;
    const SOURCE: &'static str = G::SOURCE;

    fn check(params: &CellularParams) -> Option<Problem> {
        params.problem::<G>()
    }

    fn new(params: CellularParams, inputs: Inputs<P>) -> Cell<P, G> {
        let (highest_rate, sleeps) = (params.capacity::<G>(), params.drx_cycle_ns > 0);
        let (delay, least) = (Duration::from_nanos(params.delay_ns), params.least());
        let satellites = params.satellites(inputs.seed);
        let ways = params.ways::<P, G>(inputs);
        Cell {
            ways,
            delay,
            satellites,
            least,
            in_flight: Ring::new(),
            highest_rate,
            sleeps,
            lost: Time::ZERO,
            replayed: Time::ZERO,
            generation: PhantomData,
        }
    }
}
