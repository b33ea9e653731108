//! The queue of a station in Linux's mac80211: FQ-CoDel with a limit that all stations of a radio share.
//!
//! Linux `include/net/fq_impl.h`, `net/mac80211/tx.c` (`ieee80211_txq_setup_flows`). Linux has one table of flows per
//! radio. If flows of two stations collide in this table, Linux uses an extra flow. In this model each station has its
//! own table, created with the station's first packet, so flows of two stations never collide. Memory is counted in
//! bytes on the wire, not in bytes of kernel buffers (`skb->truesize`).
//!
//! This discipline in front of a link is the queue of a radio with a single station. The layers below the queue
//! (airtime fairness, limits on queued airtime) are part of a [Wi-Fi cell](crate::wifi).

use super::codel::{Codel, Settings, ms};
use super::discipline::{
    AirtimeLimits, Backlog, Limit, QueueDiscipline, QueueEvents, RadioRules, StationQueue, Waiting, shrink,
};
use super::fair::Fair;
use crate::Packet;
use params::{Entry, params};
use units::{Probe, Time};

/// Maximum number of packets that are dropped in one batch from the longest flow: Linux `fq_flow_drop`.
const DROP_BATCH: u64 = 32;
/// Memory of a radio that has VHT: Linux `fq_init`.
pub(crate) const MEMORY: u64 = 16 << 20;

params! {
    /// Parameters of mac80211's queues, and of the hand-over of packets to the radio of a Wi-Fi cell.
    pub struct Mac80211Params {
        /// Maximum packets that may wait for all stations of a radio.
        limit: u64 = 8_192, "packets", 1..=10_000_000, role = limit;
        /// Maximum bytes that may wait for all stations of a radio; null: 16 MiB, in cells of 802.11n 4 MiB.
        memory_limit_bytes: Option<u64> = None, "bytes", 1.0..=1e12;
        /// Queues into which flows are hashed.
        flows: u32 = 4_096, "", 1..=65_536;
        /// Bytes that a flow may send in its turn.
        quantum: u32 = 300, "bytes", 1..=1_048_576;
        /// Target of the queueing delay.
        target_ms: f64 = 20.0, "ms", 0.001..=10_000.0;
        /// Time for which the queueing delay must exceed the target before the first drop.
        interval_ms: f64 = 100.0, "ms", 0.001..=100_000.0;
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = true, "";
        /// Give stations equal airtime in a cell. Without airtime fairness, stations take turns, with one aggregate per
        /// turn.
        airtime_fairness: bool = true, "";
        /// Limit the airtime that is queued in the radio of a cell (AQL). Without this limit, two aggregates are queued
        /// in the radio, as in ath9k. Null: limited, except in cells of 802.11n.
        aql: Option<bool> = None, "";
        /// Airtime that a station may always queue in the radio.
        aql_low_ms: f64 = 5.0, "ms", 0.001..=10_000.0;
        /// Airtime that a station may queue in the radio while all stations together queue less than the threshold.
        aql_high_ms: f64 = 12.0, "ms", 0.001..=10_000.0;
        /// Threshold of the airtime that all stations together queue in the radio.
        aql_threshold_ms: f64 = 24.0, "ms", 0.001..=10_000.0;
    }
}

/// The queue of a station.
pub struct Mac80211<P> {
    params: Mac80211Params,
    settings: Settings,
    seed: u64,
    /// The flows; `None` before the first packet.
    fair: Option<Box<Fair<P, Codel>>>,
}

impl<P: Copy + Send> Mac80211<P> {
    fn fair(&mut self) -> &mut Fair<P, Codel> {
        let Mac80211 { params, seed, fair, .. } = self;
        fair.get_or_insert_with(|| Box::new(Fair::new(params.flows, params.quantum, *seed)))
    }
}

impl<P: Copy + Send> QueueDiscipline<P> for Mac80211<P> {
    /// Source: Linux `fq_tin_enqueue`.
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        let fair = self.fair();
        let index = fair.index(packet.stream);
        fair.push(index, packet, now);
        let bytes = self.params.memory_limit_bytes.unwrap_or(MEMORY);
        while self.backlog().packets > self.params.limit || self.backlog().bytes > bytes {
            self.drop_from_fattest(events);
        }
    }

    /// CoDel gets the backlog of the flow, and never drops the last packet of the flow.
    /// Source: Linux `fq_tin_dequeue`.
    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        let Mac80211 { settings, fair, .. } = self;
        fair.as_mut()?.dequeue(|flow, backlog| {
            let waiting = &mut flow.waiting;
            flow.law.dequeue(settings, now, events, || {
                let next = waiting.pop()?;
                backlog.remove(next.packet.size);
                Some((next, waiting.backlog().bytes))
            })
        })
    }

    fn resize(&mut self, limit: Limit, now: Time, events: &mut QueueEvents<P>) -> bool {
        let Limit { packets: Some(packets), bytes: None } = limit else { return false };
        self.params.limit = packets;
        shrink(self, packets, events, |queue, events| queue.dequeue(now, events));
        true
    }

    fn observe(&self, _now: Time, probe: &mut Probe<'_>) {
        let Some(fair) = &self.fair else { return };
        fair.observe(probe);
        let dropping = fair.flows.iter().filter(|flow| flow.law.is_dropping()).count();
        probe.see("dropping_flows", dropping as f64, "");
    }

    fn backlog(&self) -> Backlog {
        self.fair.as_ref().map_or(Backlog::default(), |fair| fair.backlog())
    }

    fn station_queue(&mut self) -> Option<&mut dyn StationQueue<P>> {
        Some(self)
    }
}

impl<P: Copy + Send> StationQueue<P> for Mac80211<P> {
    fn rules(&self) -> RadioRules {
        let Mac80211Params { limit, memory_limit_bytes, airtime_fairness, aql, .. } = self.params;
        let [low, high, threshold] =
            [self.params.aql_low_ms, self.params.aql_high_ms, self.params.aql_threshold_ms].map(ms);
        let airtime = AirtimeLimits { low, high, threshold };
        RadioRules { packets: limit, bytes: memory_limit_bytes, airtime_fairness, aql, airtime }
    }

    fn fattest(&self) -> u64 {
        self.fair.as_ref().map_or(0, |fair| fair.flows[fair.longest()].waiting.backlog().bytes)
    }

    fn drop_from_fattest(&mut self, events: &mut QueueEvents<P>) {
        let Some(fair) = &mut self.fair else { return };
        let fattest = fair.longest();
        let half = fair.flows[fattest].waiting.backlog().packets / 2;
        for _ in 0..half.clamp(1, DROP_BATCH) {
            fair.drop_head(fattest, events);
        }
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for Mac80211<P> {
    type Params = Mac80211Params;
    const TITLE: &'static str = "mac80211: FQ-CoDel for each station of a Wi-Fi cell, with airtime fairness and limits on queued airtime";
    const SOURCE: &'static str = "Linux net/mac80211/{tx,sta_info}.c, include/net/fq_impl.h; Hoiland-Jorgensen et al., USENIX ATC 2017";

    fn new(params: Mac80211Params, seed: u64) -> Self {
        let settings = Settings {
            target: ms(params.target_ms),
            interval: ms(params.interval_ms),
            ecn: params.ecn,
            spared_bytes: 0,
            ce_threshold: None,
        };
        Mac80211 { params, settings, seed, fair: None }
    }
}
