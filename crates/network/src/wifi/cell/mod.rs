//! The Wi-Fi cell, which decides which device has the next access, and which frame the device sends.

mod element;
mod exchange;

use super::aggregate::Aggregate;
use super::airtime::{Account, Airtime};
use super::edca::{Category, Contender};
use super::mac80211::Driver;
use super::params::WifiParams;
use super::phy::Standard;
use super::port::Port;
use super::scheme::Scheme;
use super::timing::{Timing, UNNOTICED};
use crate::medium::inputs::Inputs;
use crate::{Backlog, Packet, PortId, Released, Ring};
use units::{Duration, Rate, Rng, Time};

/// Time between beacons: 100 time units of 1,024 us, the default of access points.
const BEACON_INTERVAL: Duration = Duration::from_micros(102_400);

/// Index of the contender for beacons. The next index is the contender for data of the access point. Station `k` has
/// the index `STATIONS + k`. With more access categories, each device would have one contender per category, the
/// highest first.
const BEACONS: usize = 0;
const ACCESS_POINT: usize = 1;
const STATIONS: usize = 2;

/// An access point and its stations on one channel.
///
/// Devices that have something to send contend for the medium ([`edca`](super::edca)). The access point is one
/// contender for all its stations. The access point serves the port whose oldest packet arrived first, with an
/// aggregate of packets that wait at that port. First-in, first-out queues of the access point share one buffer, with
/// the limit of one of these queues.
///
/// An access is computed at the first call at or after its start. The decisions of an access depend only on packets
/// that had arrived by its start, so the time of the call does not affect the result.
pub struct Cell<P> {
    timing: Timing,
    /// Whether a receiver releases each packet at its own time within a PPDU.
    release_each: bool,
    /// Whether data frames are preceded by RTS and CTS.
    protected: bool,
    /// Whether a missing block ACK is requested.
    asks: bool,
    ports: Vec<Port<P>>,
    contenders: Vec<Contender>,
    /// The mac80211 driver of each contender; `None` if the queues of the contender are not those of mac80211.
    drivers: Vec<Option<Driver>>,
    /// Frames of the current exchange, which are reported to drivers at its end.
    reports: Vec<Report>,
    /// The end of the last exchange.
    busy_until: Time,
    /// `next_access` is the start of the next access. `next_data` is the start of the next access with data.
    next_access: Option<Time>,
    next_data: Option<Time>,
    account: Account,
    in_flight: Ring<Flight<P>>,
    /// Frames of one access. Stored as a field so that the memory is reused.
    frames: Vec<Frame>,
    /// Backlog of all queues of the access point.
    down: Backlog,
    /// Number of packets that have arrived, over all ports.
    arrivals: u64,
    /// `released` has the packets released since the list was last taken. `tells` is whether released packets are
    /// listed.
    released: Vec<Released>,
    tells: bool,
    /// Minimum time that a packet is on the air.
    least_air: Duration,
    highest_rate: Rate,
}

/// A packet and the time at which it reaches the far end of its port.
#[derive(Clone, Copy, Debug)]
struct Flight<P> {
    arrival: Time,
    port: PortId,
    packet: Packet<P>,
}

/// A finished frame, for the driver of its port.
#[derive(Clone, Copy, Debug)]
struct Report {
    port: usize,
    airtime: Duration,
    /// Whether any part of the frame was received.
    received: bool,
}

/// Frame of a contender in an access.
#[derive(Clone, Copy, Debug)]
struct Frame {
    contender: usize,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Beacon,
    /// Request for a block ACK, from the port with this index.
    Request(usize),
    /// An aggregate, from the port with this index.
    Data(usize, Aggregate),
    /// No frame, because another contender of the same device has priority.
    Deferred,
}

/// The contender that transmits for a port.
fn contender_of(port: usize) -> usize {
    if port % 2 == 0 { ACCESS_POINT } else { STATIONS + port / 2 }
}

/// The mac80211 driver of each contender; `None` if the queues of the contender are not those of mac80211.
fn drivers<P: Copy>(ports: &mut [Port<P>], standard: Standard) -> Vec<Option<Driver>> {
    let own = (1..ports.len()).step_by(2).map(|n| (n, n + 1)).collect::<Vec<_>>();
    let of_access_point = [(0, 0), (0, ports.len())];
    let all = of_access_point.into_iter().chain(own);
    all.map(|(first, end)| Driver::new(ports, first, end, standard)).collect()
}

impl<P: Copy> Cell<P> {
    /// Create an idle cell. Without queues, the cell has no ports.
    fn with(params: &WifiParams, inputs: Inputs<P>) -> Cell<P> {
        let Inputs { queues, sampling, seed } = inputs;
        let rng = |what: &str, n: usize| Rng::stream(seed, &format!("wifi/{what}/{n}"));
        let stations = 0..params.station_mcs.len();
        let radios: Vec<_> = stations.clone().map(|station| params.radio(station, seed)).collect();
        let ports = queues.into_iter().enumerate().zip(radios.iter().flat_map(|radio| [radio, radio]));
        let ports = ports.map(|((n, queue), radio)| {
            Port::new(queue, radio.clone(), sampling, rng("errors", n), rng("rates", n))
        });
        let mut ports: Vec<_> = ports.collect();
        let drivers = drivers(&mut ports, params.standard);
        let timing = params.timing();
        let contender = |device, category| {
            let mut made = Contender::new(device, category, timing.slot, rng("backoff", device));
            made.count_from(Time::ZERO + timing.sifs);
            made
        };
        let access_point = [Category::BEACON, Category::BEST_EFFORT].map(|category| contender(0, category));
        let stations = stations.map(|station| contender(1 + station, Category::BEST_EFFORT));
        let schemes = || radios.iter().flat_map(|radio| &radio.schemes);
        let before =
            |scheme: &Scheme| if params.rts { timing.protection(&scheme.control) } else { Duration::ZERO };
        let least_air = schemes().map(|scheme| before(scheme) + scheme.mode.preamble()).min();
        let mut cell = Cell {
            release_each: params.release_each,
            protected: params.rts,
            asks: params.bar,
            ports,
            drivers,
            reports: Vec::new(),
            contenders: access_point.into_iter().chain(stations).collect(),
            busy_until: Time::ZERO,
            next_access: None,
            next_data: None,
            account: Account::new(),
            in_flight: Ring::new(),
            frames: Vec::new(),
            down: Backlog::default(),
            arrivals: 0,
            released: Vec::new(),
            tells: false,
            least_air: least_air.unwrap_or(Duration::ZERO) + timing.delay,
            highest_rate: schemes().map(|scheme| scheme.mode.rate()).max().unwrap_or(Rate::UNLIMITED),
            timing,
        };
        if params.beacons {
            cell.contenders[BEACONS].ready = Time::ZERO + BEACON_INTERVAL;
        }
        cell.plan();
        cell
    }

    /// Replay all accesses and reports up to now.
    fn replay(&mut self, now: Time) {
        loop {
            if !self.reports.is_empty() && self.busy_until <= now {
                self.report();
            } else if let Some(start) = self.next_access.filter(|&next| next <= now) {
                self.access(start);
            } else {
                return;
            }
        }
    }

    /// Report the frames of the last exchange to their drivers. The drivers then pass more packets to the radio.
    fn report(&mut self) {
        let (mut reports, now) = (std::mem::take(&mut self.reports), self.busy_until);
        for Report { port: n, airtime, received } in reports.drain(..) {
            if let (1, true, Some(driver)) = (n % 2, received, &mut self.drivers[ACCESS_POINT]) {
                driver.heard(n / 2, airtime, now);
            }
            if let Some(driver) = &mut self.drivers[contender_of(n)]
                && driver.done(&mut self.ports, n, airtime, received, now)
            {
                self.become_ready(contender_of(n), now);
            }
            self.ports[n].take_released(&mut self.released);
        }
        self.reports = reports;
    }

    /// Let a contender contend from `ready` on, unless it already contends.
    fn become_ready(&mut self, contender: usize, ready: Time) {
        let it = &mut self.contenders[contender];
        if ready < it.ready {
            it.ready = ready;
            if ready < self.busy_until {
                it.becomes_ready_while_busy();
            }
            self.plan();
        }
    }

    /// Find the next access, assuming that no packet arrives before that access.
    fn plan(&mut self) {
        let first = |them: &[Contender]| them.iter().filter_map(Contender::start).min();
        let (beacons, others) = self.contenders.split_at(ACCESS_POINT);
        self.next_data = first(others);
        self.next_access = first(beacons).into_iter().chain(self.next_data).min();
    }

    /// Transmit the frame of the first contender, and the frames of contenders that do not detect it in time.
    fn access(&mut self, start: Time) {
        let mut frames = std::mem::take(&mut self.frames);
        frames.clear();
        for contender in 0..self.contenders.len() {
            let it = &self.contenders[contender];
            if it.start().is_none_or(|its| its >= start + UNNOTICED) {
                continue;
            }
            let before = frames.last().map(|frame: &Frame| self.contenders[frame.contender].device);
            let content = if before == Some(it.device) {
                Some(Content::Deferred)
            } else {
                self.frame(contender, start)
            };
            match content {
                Some(content) => frames.push(Frame { contender, content }),
                None => self.contenders[contender].ready = self.ready_of(contender),
            }
        }
        if !frames.is_empty() {
            self.contenders.iter_mut().for_each(|it| it.freeze(start));
            self.transmit(&frames, start);
        }
        self.frames = frames;
        self.plan();
    }

    /// The frame that a contender transmits at `start`; `None` if its queues have dropped all packets.
    fn frame(&mut self, contender: usize, start: Time) -> Option<Content> {
        if contender == BEACONS {
            return Some(Content::Beacon);
        }
        loop {
            let n = self.next_port(contender, start)?;
            let port = &mut self.ports[n];
            if port.asks {
                return Some(Content::Request(n));
            }
            let before = port.backlog();
            let filled = port.fill(start);
            if filled.is_none() {
                port.refresh();
                port.ready = port.ready.max(start + self.timing.slot);
            }
            self.note_backlog(n, before);
            if let Some(aggregate) = filled {
                return Some(Content::Data(n, aggregate));
            }
        }
    }

    /// Update the backlog of the access point after the queue of port `n` has changed from `before`.
    fn note_backlog(&mut self, n: usize, before: Backlog) {
        if n % 2 == 0 {
            let now = self.ports[n].backlog();
            self.down.packets = self.down.packets + now.packets - before.packets;
            self.down.bytes = self.down.bytes + now.bytes - before.bytes;
        }
    }

    /// The port that a contender serves next. A port that waits for a block ACK comes first, then the port with the
    /// oldest aggregate built in advance, then the port with the oldest packet.
    fn next_port(&self, contender: usize, now: Time) -> Option<usize> {
        let may = |&n: &usize| self.ports[n].ready <= now;
        let order = |&n: &usize| (!self.ports[n].asks, self.ports[n].oldest());
        let first = self.ports_of(contender).filter(may).min_by_key(order)?;
        let made = self.drivers[contender].as_ref().and_then(Driver::next_port);
        made.filter(|_| !self.ports[first].asks).or(Some(first))
    }

    /// The ports at which a contender transmits.
    fn ports_of(&self, contender: usize) -> impl Iterator<Item = usize> + use<P> {
        let ports = self.ports.len();
        let (first, last) = match contender {
            BEACONS => (0, 0),
            ACCESS_POINT => (0, ports),
            _ => (2 * (contender - STATIONS) + 1, (2 * (contender - STATIONS) + 2).min(ports)),
        };
        (first..last).step_by(2)
    }

    /// Time from which a contender has something to send.
    fn ready_of(&self, contender: usize) -> Time {
        self.ports_of(contender).map(|n| self.ports[n].ready).min().unwrap_or(Time::NEVER)
    }

    /// Use of the time up to `now`.
    pub fn airtime(&self, now: Time) -> Airtime {
        self.account.until(now)
    }
}
