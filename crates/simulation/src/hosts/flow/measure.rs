//! Measurements of a flow.

use super::{Flow, Phase};
use crate::applications::Playback;
use crate::hosts::connection::Connection;
use crate::hosts::stats::{CounterSnapshot, FlowStats, Transfer};
use crate::hosts::totals::Totals;
use crate::tables::cell::FlowName;
use crate::tables::series::{DONE, STATES, SeriesRow, WAITING};
use network::Histogram;
use units::Time;

impl Flow {
    /// Counters of all connections, open or not.
    fn totals(&self, now: Time) -> Totals {
        let mut totals = self.past;
        self.connections.iter().for_each(|(_, connection)| totals.add(connection, now));
        totals
    }

    pub(super) fn snapshot(&self, now: Time) -> CounterSnapshot {
        let Totals { delivered_bytes, stats, limited } = self.totals(now);
        let wire_bytes = self.wrapping.headers.bytes(&stats);
        let refused_bytes = self.application.refused_bytes();
        CounterSnapshot { time: now, delivered_bytes, wire_bytes, stats, refused_bytes, limited }
    }

    /// Whether the flow has started and is not over.
    pub(super) fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Running | Phase::Stopped)
    }

    /// Called at the end of the warm-up.
    pub fn on_warmup(&mut self, now: Time) {
        self.connections
            .iter_mut()
            .filter_map(|connection| connection.in_order())
            .for_each(|delays| *delays = Histogram::new());
        self.stats.in_order = None;
        if self.is_active() {
            self.stats.begin = Some(self.snapshot(now));
        }
    }

    /// Called at the end of the run.
    pub fn on_end(&mut self, now: Time) {
        let open: Vec<u32> = self.connections.iter().map(|(id, _)| id).collect();
        open.into_iter().for_each(|id| self.end_transfer(now, id, false));
        self.connections.iter_mut().filter_map(|connection| connection.in_order()).for_each(|delays| {
            self.stats.add_in_order(delays);
        });
        if self.is_active() {
            self.stats.end = Some(self.snapshot(now));
        }
    }

    /// Open connections, while the flow is active.
    pub fn running(&self) -> impl Iterator<Item = &Connection> {
        let active = self.is_active();
        self.connections.iter().map(|(_, connection)| connection).filter(move |_| active)
    }

    /// Returns a row of the table `series`: rates since the last sample and the current state. Windows and bytes in
    /// flight are sums over the open connections. RTTs are of the connection with the lowest stream number. Pacing and
    /// delivery rates are given for a single connection only, and are missing with several connections.
    pub fn sample(&mut self, now: Time) -> SeriesRow {
        let totals = self.totals(now);
        let (before, last) = std::mem::replace(&mut self.sampled, (now, totals));
        let span_s = now.since(before).as_secs_f64();
        let single = self.connections.single().map(|connection| connection.sender().snapshot());
        let states: Vec<_> = self.connections.iter().map(|(_, c)| c.sender().snapshot()).collect();
        let oldest = states.first();
        let known = !self.is_stream || oldest.is_some();
        let bytes = |packets: u32| u64::from(packets) * u64::from(self.wrapping.mss);
        let in_flight: u64 = states.iter().map(|state| bytes(state.in_flight)).sum();
        SeriesRow {
            time_s: now,
            flow: FlowName(self.number),
            goodput_bps: (totals.delivered_bytes - last.delivered_bytes) as f64 * 8.0 / span_s,
            cwnd_bytes: known.then(|| states.iter().map(|state| bytes(state.cwnd)).sum()),
            in_flight_bytes: known.then_some(in_flight),
            srtt_s: oldest.and_then(|state| state.srtt),
            min_rtt_s: oldest.and_then(|state| state.min_rtt),
            pacing_bps: single.and_then(|state| state.pacing_rate),
            delivery_bps: single.and_then(|state| state.delivery_rate),
            retransmitted_packets: totals.stats.retransmitted_packets - last.stats.retransmitted_packets,
            state: match oldest {
                _ if self.phase == Phase::Over && in_flight == 0 => DONE,
                Some(state) => STATES[state.state as usize],
                None => WAITING,
            },
        }
    }

    /// Statistics so far.
    pub fn stats(&self) -> &FlowStats {
        &self.stats
    }

    /// Payload delivered in order since the start of the run.
    pub fn delivered_bytes(&self) -> u64 {
        self.totals(Time::ZERO).delivered_bytes
    }

    /// Data packets sent since the start of the run.
    pub fn sent_packets(&self) -> u64 {
        self.totals(Time::ZERO).stats.sent_packets
    }

    /// Transfers of the flow, in the order in which they began.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// State of the video player at `now`, if the application is a video.
    pub fn playback(&self, now: Time) -> Option<Playback> {
        self.application.playback(now.min(self.stats.end.map_or(now, |end| end.time)))
    }
}
