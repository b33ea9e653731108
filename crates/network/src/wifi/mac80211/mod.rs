//! Queues of a radio, handled as in Linux's mac80211 and in the driver below mac80211. When all queues together are
//! full, packets are dropped from the longest flow. Airtime fairness decides which station's packets are passed to the
//! radio, and limits keep the queue in the radio short.
//!
//! The radio sends the packets that it holds first in, first out, without a queue discipline. The number of packets in
//! the radio is limited:
//!
//! - With limits on queued airtime (AQL): by the estimated airtime of single packets, as in ath10k, ath11k and mt76.
//!   The radio aggregates the packets that it holds. The radio next serves the station whose packet reached the radio
//!   first.
//! - Without these limits: to two aggregates, as in ath9k (`ATH_AGGR_MIN_QDEPTH`). Each aggregate is built when it is
//!   passed to the radio. An aggregate takes at most 4 ms and half a block ACK window (`ath_tx_form_aggr`).
//!
//! A station that has received no part of its frame waits for its next turn, as other stations may be reachable in
//! the meantime (`ath_tx_complete_aggr` puts failed packets back into the station's queue).

mod fairness;

use super::aggregate::Aggregate;
use super::phy::Standard;
use super::port::Port;
use crate::queue::{Backlog, RADIO_MEMORY, RadioRules};
use fairness::Fairness;
use std::collections::VecDeque;
use units::{Duration, Time};

/// Number of aggregates that wait in the radio, including the aggregate on the air: ath9k `ATH_AGGR_MIN_QDEPTH`.
const AGGREGATES: usize = 2;
/// Maximum duration of the data of an aggregate: ath9k `ath_lookup_rate`, `ath_update_max_aggr_framelen`.
const LONGEST_AGGREGATE: Duration = Duration::from_millis(4);
/// Memory of a radio without VHT: `ieee80211_txq_setup_flows`.
const MEMORY_N: u64 = 4 << 20;

/// The queues of one device: all queues of the access point, or the queue of a station.
pub struct Driver {
    /// Maximum packets and bytes that may wait in all queues of the device together.
    most: Backlog,
    /// First port of the device. The other ports of the device are every second port after `first` and before `end`.
    first: usize,
    end: usize,
    /// Backlog of all queues together.
    waiting: Backlog,
    fairness: Fairness,
    /// Stations whose aggregates have been passed to the radio, in order; `None` with limits on queued airtime.
    aggregates: Option<VecDeque<usize>>,
    /// Last number that was assigned for the order of service. Numbers are assigned to packets passed to the radio, and
    /// to stations that wait for their next turn.
    handed: u64,
}

impl Driver {
    /// Create the driver of every second port from `first` to `end`; `None` if their queues are not those of
    /// mac80211.
    pub fn new<P: Copy>(
        ports: &mut [Port<P>],
        first: usize,
        end: usize,
        standard: Standard,
    ) -> Option<Driver> {
        let own = || (first..end).step_by(2);
        let rules: Option<Vec<RadioRules>> = own().map(|n| ports[n].rules()).collect();
        let RadioRules { packets, bytes, airtime_fairness, aql, airtime } = *rules?.first()?;
        let is_n = standard == Standard::N;
        let limits = aql.unwrap_or(!is_n).then_some(airtime);
        for n in own() {
            ports[n].hands_down(limits.is_none().then_some(LONGEST_AGGREGATE));
        }
        let bytes = bytes.unwrap_or(if is_n { MEMORY_N } else { RADIO_MEMORY });
        Some(Driver {
            most: Backlog { packets, bytes },
            first,
            end,
            waiting: Backlog::default(),
            fairness: Fairness::new(own().count(), airtime_fairness, limits),
            aggregates: limits.is_none().then(VecDeque::new),
            handed: 0,
        })
    }

    fn station(&self, port: usize) -> usize {
        (port - self.first) / 2
    }

    /// Update the total backlog after the backlog of a port has changed from `before`.
    fn note<P: Copy>(&mut self, port: &Port<P>, before: Backlog) {
        let now = port.backlog();
        self.waiting.packets = self.waiting.packets + now.packets - before.packets;
        self.waiting.bytes = self.waiting.bytes + now.bytes - before.bytes;
    }

    /// Accept a packet that has joined the queue of port `n`. The backlog of this queue was `before`. Return whether
    /// anything was passed to the radio.
    pub fn arrived<P: Copy>(&mut self, ports: &mut [Port<P>], n: usize, before: Backlog, now: Time) -> bool {
        self.note(&ports[n], before);
        while self.waiting.packets > self.most.packets || self.waiting.bytes > self.most.bytes {
            self.drop_from_fattest(ports, now);
        }
        self.fairness.schedule(self.station(n), ports[n].backlog().packets > 0, now);
        self.hand_down(ports, now)
    }

    /// Drop from the longest flow of all stations: Linux `fq_tin_enqueue`.
    fn drop_from_fattest<P: Copy>(&mut self, ports: &mut [Port<P>], now: Time) {
        let own = (self.first..self.end).step_by(2);
        let Some(n) = own.max_by_key(|&n| ports[n].fattest()) else { return };
        let before = ports[n].backlog();
        ports[n].drop_from_fattest(now);
        self.note(&ports[n], before);
    }

    /// Account for a finished frame of port `n` that took `airtime`. `received`: whether any part of the frame arrived.
    /// Return whether anything was passed to the radio.
    pub fn done<P: Copy>(
        &mut self,
        ports: &mut [Port<P>],
        n: usize,
        airtime: Duration,
        received: bool,
        now: Time,
    ) -> bool {
        let station = self.station(n);
        self.fairness.settle(station, ports[n].settled());
        self.fairness.charge(station, airtime, now);
        if !received {
            self.handed += 1;
            ports[n].wait_behind(self.handed);
        }
        if let Some(aggregates) = &mut self.aggregates {
            if aggregates.front() == Some(&station) {
                aggregates.pop_front();
            }
            let first = self.first;
            while aggregates.front().is_some_and(|station| !ports[first + 2 * station].has_below()) {
                aggregates.pop_front();
            }
        }
        let unmade = |aggregates: &VecDeque<usize>| !aggregates.contains(&station) && ports[n].has_below();
        let again = self.aggregates.as_ref().is_some_and(|made| ports[n].missing() > 0 || unmade(made));
        self.fairness.schedule(station, again || ports[n].backlog().packets > 0, now);
        self.hand_down(ports, now)
    }

    /// Charge a station for the airtime of a frame that it sent (`AIRTIME_USE_RX`).
    pub fn heard(&mut self, station: usize, airtime: Duration, now: Time) {
        self.fairness.charge(station, airtime, now);
    }

    /// The port whose aggregate is sent next; `None` with limits on queued airtime.
    pub fn next_port(&self) -> Option<usize> {
        self.aggregates.as_ref()?.front().map(|station| self.first + 2 * station)
    }

    /// Pass packets or aggregates to the radio while the limits permit it. Return whether anything was passed.
    fn hand_down<P: Copy>(&mut self, ports: &mut [Port<P>], now: Time) -> bool {
        let before = self.handed;
        let mut again = false;
        self.fairness.begin_round();
        while self.aggregates.as_ref().is_none_or(|aggregates| aggregates.len() < AGGREGATES) {
            let Some(station) = self.fairness.next() else { break };
            let port = &mut ports[self.first + 2 * station];
            let held = port.backlog();
            if self.aggregates.is_some() {
                again |= self.hand_down_aggregate(port, station, now);
            } else {
                self.hand_down_packets(port, station, now);
            }
            self.note(port, held);
            port.refresh();
            let has_packets = port.backlog().packets > 0;
            self.fairness.schedule(station, has_packets, now);
        }
        again || self.handed > before
    }

    /// Pass as many packets of a station to the radio as the limits on queued airtime permit.
    fn hand_down_packets<P: Copy>(&mut self, port: &mut Port<P>, station: usize, now: Time) {
        while self.fairness.may_queue(station) {
            let Some((_, airtime)) = port.hand_down(self.handed + 1, now) else { break };
            self.handed += 1;
            self.fairness.queue(station, airtime);
        }
    }

    /// Build an aggregate of a station and pass it to the radio. The aggregate begins with packets in the radio that
    /// are in no aggregate, such as packets to be retransmitted. Packets of the queue follow. Return whether there is
    /// an aggregate.
    fn hand_down_aggregate<P: Copy>(&mut self, port: &mut Port<P>, station: usize, now: Time) -> bool {
        let Some(aggregates) = &mut self.aggregates else { return false };
        let more = aggregates.contains(&station);
        let mut aggregate = if more { Aggregate::default() } else { port.aggregate_below() };
        let mut size = 0;
        while port.fits(&aggregate, size) {
            let Some((packet, airtime)) = port.hand_down(self.handed + 1, now) else { break };
            self.handed += 1;
            self.fairness.queue(station, airtime);
            aggregate.add(packet, u64::MAX);
            size = packet;
        }
        if aggregate.mpdus > 0 {
            aggregates.push_back(station);
        }
        aggregate.mpdus > 0
    }
}
