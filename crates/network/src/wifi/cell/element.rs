//! The cell as an element, and as an entry of the list of media.

use super::{Cell, Flight, STATIONS, contender_of};
use crate::counters::{Counters, Totals};
use crate::medium::Inputs;
use crate::wifi::params::WifiParams;
use crate::{Element, Packet, PortId};
use params::{Entry, Problem};
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
        self.note_backlog(n, before);
        let ready = self.ports[n].ready.max(now); // what this packet makes possible cannot begin before
        let it = &mut self.contenders[contender_of(n)];
        if ready < it.ready {
            it.ready = ready;
            if ready < self.busy_until {
                it.becomes_ready_while_busy();
            }
            self.plan();
        }
    }

    /// The end of a PPDU is known from its start on. Until then: the earliest at which one could end.
    fn next(&self) -> Time {
        match (self.in_flight.front(), self.next_data) {
            (Some(flight), _) => flight.arrival,
            (None, Some(start)) => start + self.least_air,
            (None, None) => Time::NEVER,
        }
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

    /// Besides what the queue shows: the window, the aggregates and the airtime of a port; at the first port that of the cell.
    fn observe(&self, port: PortId, now: Time, probe: &mut Probe<'_>) {
        self.ports[usize::from(port.0)].observe(now, probe);
        if port.0 == 0 {
            self.airtime(now).observe(probe);
        }
    }

    fn totals(&self, port: PortId) -> &Totals {
        self.ports[usize::from(port.0)].stats.totals()
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
