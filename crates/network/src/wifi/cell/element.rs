//! Implementation of [`Element`] for the cell, and its entry in the list of media.

use super::{Cell, Flight, STATIONS, contender_of};
use crate::counters::{Counters, Totals};
use crate::medium::inputs::Inputs;
use crate::wifi::params::WifiParams;
use crate::{Drops, Element, Packet, PortId, Released};
use params::{Entry, Problem};
use std::sync::Arc;
use units::{Duration, Probe, Rate, Time};

impl<P: Copy + Send> Element<P> for Cell<P> {
    fn ports(&self) -> usize {
        2 * (self.contenders.len() - STATIONS)
    }

    fn put(&mut self, port: PortId, packet: &Packet<P>, now: Time) {
        self.replay(now);
        let n = usize::from(port.0);
        if n % 2 == 0 && self.ports[n].refuses(packet, self.down, now) {
            return;
        }
        self.arrivals += 1;
        let before = self.ports[n].backlog();
        self.ports[n].arrive(*packet, self.arrivals, now);
        let contender = contender_of(n);
        let ready = if let Some(driver) = &mut self.drivers[contender] {
            if driver.arrived(&mut self.ports, n, before, now) { now } else { Time::NEVER }
        } else {
            self.note_backlog(n, before);
            self.ports[n].ready.max(now) // events that this packet makes possible are not earlier
        };
        self.become_ready(contender, ready);
        if self.tells {
            self.ports_of(contender).for_each(|n| self.ports[n].take_released(&mut self.released));
        }
    }

    /// Time of the next arrival of a packet. The time is exact once the PPDU of the packet has begun. Before the PPDU
    /// has begun, the result is the earliest possible time.
    fn next(&self) -> Time {
        let data = match (self.in_flight.front(), self.next_data) {
            (Some(flight), _) => flight.arrival,
            (None, Some(start)) => start + self.least_air,
            (None, None) => Time::NEVER,
        };
        // At the end of an exchange, drivers pass more packets to the radio, and released packets may be reported to
        // hosts.
        if self.reports.is_empty() { data } else { data.min(self.busy_until) }
    }

    fn take(&mut self, now: Time) -> Option<(PortId, Packet<P>)> {
        self.replay(now);
        self.in_flight.front().filter(|flight| flight.arrival <= now)?;
        let &Flight { arrival, port, packet } = self.in_flight.pop()?;
        self.ports[usize::from(port.0)].stats.forwarded(arrival, packet.size);
        Some((port, packet))
    }

    fn close_interval(&mut self, port: PortId, now: Time) -> Counters {
        self.replay(now);
        self.ports[usize::from(port.0)].stats.close()
    }

    /// Report the queue, the window, the aggregates and the airtime of a port. The first port also reports the
    /// airtime of the cell.
    fn observe(&self, port: PortId, now: Time, probe: &mut Probe<'_>) {
        self.ports[usize::from(port.0)].observe(now, probe);
        if port.0 == 0 {
            self.airtime(now).observe(probe);
        }
    }

    fn totals(&self, port: PortId) -> &Totals {
        self.ports[usize::from(port.0)].stats.totals()
    }

    fn count_drops(&mut self, drops: &Arc<Drops<P>>) {
        self.ports.iter_mut().for_each(|port| port.stats.count_drops(drops));
    }

    fn list_released(&mut self, port: PortId) {
        self.ports[usize::from(port.0)].list_released();
        self.tells = true;
    }

    fn take_released(&mut self, into: &mut Vec<Released>) {
        into.append(&mut self.released);
    }

    fn min_delay(&self) -> Duration {
        self.least_air
    }

    fn capacity(&self) -> Rate {
        self.highest_rate
    }
}

impl<P: Copy + Send> Entry<Inputs<P>> for Cell<P> {
    type Params = WifiParams;
    const TITLE: &'static str = "Wi-Fi cell: an access point and its stations contend for one channel, with aggregates and block ACKs";
    const SOURCE: &'static str =
        "IEEE 802.11-2020 (EDCA, A-MPDU, block ACK, HT, VHT) and IEEE 802.11ax-2021 (HE)";

    fn check(params: &WifiParams) -> Option<Problem> {
        params.problem()
    }

    fn new(params: WifiParams, inputs: Inputs<P>) -> Cell<P> {
        Cell::with(&params, inputs)
    }
}
