//! Token bucket filter: shapes to a rate, with a burst and optionally a peak rate.
//!
//! Linux `net/sched/sch_tbf.c`. The kernel rounds tokens to nanoseconds of transmission time; tokens are exact in this
//! model. The kernel's own tests use tbf as a bottleneck on a link of unlimited rate. The model supports tbf on such a
//! link, too. On a link of unlimited rate, a packet that finds enough tokens leaves immediately: it has no transmission
//! time. A change of the rate does not change the number of tokens.

use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting};
use super::fifo::Fifo;
use crate::Packet;
use params::{Entry, params};
use units::{Duration, Probe, Rate, Time};

params! {
    /// Parameters of the token bucket filter.
    pub struct TbfParams {
        /// Rate at which tokens arrive.
        rate_bps: u64 = 100_000_000, "bit/s", 1.0..=1e12, role = rate;
        /// Bytes that may leave in one burst after a pause.
        burst_bytes: u64 = 125_000, "bytes", 1.0..=1e12;
        /// Peak rate, which a burst does not exceed; null: no such limit.
        peak_bps: Option<u64> = None, "bit/s", 1.0..=1e12;
        /// Bytes that may leave in one burst at the peak rate.
        mtu_bytes: u64 = 1514, "bytes", 1.0..=1e9;
        /// Maximum packets that may wait; null: no limit.
        packets: Option<u64> = None, "packets", 0.0..=1e18, role = limit;
        /// Maximum bytes that may wait; null: no limit.
        limit_bytes: Option<u64> = None, "bytes", 0.0..=1e18, role = limit;
    }
}

/// An exact token bucket. The unit of the level is a billionth of a bit, so each nanosecond adds `rate` units.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: u128,
    depth: u128,
    level: u128,
    /// Time to which `level` applies.
    at: Time,
    /// Future changes of the rate, in reverse order of time.
    later: Vec<(Time, u128)>,
}

const BILLIONTHS_PER_BYTE: u128 = 8_000_000_000;

impl Bucket {
    /// Create a full bucket.
    pub(super) fn new(rate_bps: u64, bytes: u64) -> Bucket {
        let depth = u128::from(bytes) * BILLIONTHS_PER_BYTE;
        Bucket { rate: u128::from(rate_bps), depth, level: depth, at: Time::ZERO, later: Vec::new() }
    }

    /// Set the changes of the rate, in the order of time.
    pub(super) fn change(&mut self, rates: Vec<(Time, Rate)>) {
        self.later =
            rates.into_iter().rev().map(|(at, rate)| (at, u128::from(rate.bits_per_sec()))).collect();
    }

    /// Whether a packet of `size` bytes can ever pass.
    pub(super) fn fits(&self, size: u16) -> bool {
        u128::from(size) * BILLIONTHS_PER_BYTE <= self.depth
    }

    /// The time at which there are enough tokens for `size` bytes.
    pub(super) fn ready(&self, size: u16) -> Time {
        let cost = u128::from(size) * BILLIONTHS_PER_BYTE;
        let (mut at, mut rate, mut level) = (self.at, self.rate, self.level);
        for &(change, next) in self.later.iter().rev() {
            if wait(cost, level, rate) <= u128::from(change.since(at).as_nanos()) {
                break;
            }
            level += gain(rate, at, change);
            (at, rate) = (change, next);
        }
        at + Duration::from_nanos(wait(cost, level, rate) as u64)
    }

    /// Take the tokens for `size` bytes if there are enough. Return whether there were enough tokens.
    pub(super) fn take(&mut self, size: u16, now: Time) -> bool {
        while let Some(&(change, rate)) = self.later.last().filter(|change| change.0 <= now) {
            self.fill(change);
            self.rate = rate;
            self.later.pop();
        }
        self.fill(now);
        let cost = u128::from(size) * BILLIONTHS_PER_BYTE;
        let enough = cost <= self.level;
        if enough {
            self.level -= cost;
        }
        enough
    }

    /// Tokens at `now`, in bytes.
    pub(super) fn tokens(&self, now: Time) -> f64 {
        let mut then = self.clone();
        then.take(0, now);
        then.level as f64 / BILLIONTHS_PER_BYTE as f64
    }

    /// Update the level to `now`.
    fn fill(&mut self, now: Time) {
        self.level = (self.level + gain(self.rate, self.at, now)).min(self.depth);
        self.at = now;
    }
}

/// Tokens that arrive between two times.
fn gain(rate: u128, from: Time, to: Time) -> u128 {
    u128::from(to.since(from).as_nanos()) * rate
}

/// Nanoseconds until the level reaches the cost; `u64::MAX` if the rate is zero, as the level then never reaches the
/// cost.
fn wait(cost: u128, level: u128, rate: u128) -> u128 {
    match cost.saturating_sub(level) {
        0 => 0,
        _ if rate == 0 => u64::MAX.into(),
        missing => missing.div_ceil(rate),
    }
}

/// A token bucket filter and its queue.
pub struct Tbf<P> {
    bucket: Bucket,
    peak: Option<Bucket>,
    limit: Limit,
    waiting: Fifo<P>,
}

impl<P: Copy + Send> QueueDiscipline<P> for Tbf<P> {
    fn enqueue(&mut self, packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        let fits = self.bucket.fits(packet.size) && self.peak.iter().all(|peak| peak.fits(packet.size));
        if fits && self.limit.admits(self.waiting.backlog(), packet.size) {
            self.waiting.push(packet, now);
        } else {
            events.drop(&packet);
        }
    }

    fn dequeue(&mut self, now: Time, _events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        if self.ready() > now {
            return None;
        }
        let next = self.waiting.pop()?;
        self.bucket.take(next.packet.size, now);
        if let Some(peak) = &mut self.peak {
            peak.take(next.packet.size, now);
        }
        Some(next)
    }

    fn resize(&mut self, limit: Limit, _now: Time, _events: &mut QueueEvents<P>) -> bool {
        self.limit = limit;
        true
    }

    fn observe(&self, now: Time, probe: &mut Probe<'_>) {
        probe.see("tokens", self.bucket.tokens(now), "bytes");
        if let Some(peak) = &self.peak {
            probe.see("peak_tokens", peak.tokens(now), "bytes");
        }
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn ready(&self) -> Time {
        let Some(head) = self.waiting.front() else { return Time::ZERO };
        let peak = self.peak.as_ref().map_or(Time::ZERO, |peak| peak.ready(head.packet.size));
        self.bucket.ready(head.packet.size).max(peak)
    }

    fn shape(&mut self, rates: Vec<(Time, Rate)>) -> Vec<(Time, Rate)> {
        self.bucket.change(rates);
        Vec::new()
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for Tbf<P> {
    type Params = TbfParams;
    const TITLE: &'static str = "Token bucket filter: shapes to a rate with a burst";
    const SOURCE: &'static str = "Linux net/sched/sch_tbf.c";

    fn new(params: TbfParams, _seed: u64) -> Self {
        Tbf {
            bucket: Bucket::new(params.rate_bps, params.burst_bytes),
            peak: params.peak_bps.map(|rate| Bucket::new(rate, params.mtu_bytes)),
            limit: Limit { packets: params.packets, bytes: params.limit_bytes },
            waiting: Fifo::default(),
        }
    }
}
