//! Departures of packets: pacing, the queues of the host, and the cause that keeps the sender from sending more.

use super::config::{Pacing, SenderConfig};
use super::host::HostQueue;
use super::limits::{Limit, Limited, Limits};
use super::pacing::Pacer;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use crate::segment::Segment;
use congestion::{Control, Traits};
use units::{Duration, Rate, Time};

/// Times at which packets may leave, and the packets that wait for their departure time.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Departures {
    last_send: Time,
    pacer: Pacer,
    limits: Limits,
    host: HostQueue,
}

impl Departures {
    pub fn new(config: &SenderConfig, traits: &Traits) -> Departures {
        Departures {
            last_send: Time::ZERO,
            pacer: pacer(traits, config.pacing),
            limits: Limits::default(),
            host: HostQueue::new(config),
        }
    }

    /// Create the pacer again when the connection opens, because the handshake may change whether the algorithm
    /// needs pacing.
    pub fn restart_pacing(&mut self, config: &SenderConfig, traits: &Traits) {
        self.pacer = pacer(traits, config.pacing);
    }

    #[inline]
    pub fn is_paced(&self) -> bool {
        self.pacer.enabled()
    }

    #[inline]
    pub fn rate(&self) -> Rate {
        self.pacer.rate()
    }

    /// When pacing allows the next departure.
    #[inline]
    pub fn next_departure(&self) -> Time {
        self.pacer.next_departure()
    }

    /// Time until pacing allows the next departure, by which timeouts are extended (Linux `tcp_pacing_delay`).
    #[inline]
    pub fn delay(&self, now: Time) -> Duration {
        self.pacer.delay(now)
    }

    /// Set the pacing rate; `mss`: bytes per packet in the rate.
    #[inline]
    pub fn set_rate(&mut self, control: &Control, rtt: &RttEstimator, mss: u32, packets_out: u32) {
        self.pacer.set_rate(control, rtt, mss, packets_out);
    }

    /// Packets per burst.
    #[inline]
    pub fn burst_packets(&self, config: &SenderConfig, control: &Control, rtt: &RttEstimator) -> u32 {
        self.pacer.burst_packets(config, control, rtt)
    }

    /// Whether pacing in the transport holds back the next departure.
    #[inline]
    pub fn is_held(&self, now: Time) -> bool {
        !self.host.is_on() && self.pacer.holds(now)
    }

    /// Whether pacing forbids sending now. With `sch_fq`: whether pacing forbids passing packets to `sch_fq` now.
    #[inline]
    pub fn must_wait(&self, now: Time, config: &SenderConfig, control: &Control, rtt: &RttEstimator) -> bool {
        if !self.host.is_on() {
            return self.pacer.holds(now);
        }
        if self.host.has_nic() {
            return false; // `is_throttled` also counts packets that wait for their departure
        }
        let burst_bytes = u64::from(self.burst_packets(config, control, rtt)) * u64::from(config.mss);
        self.host.is_full(burst_bytes, self.pacer.rate(), config.pacing_shift)
    }

    /// Whether a burst of `packets` must wait because the host already holds enough bytes of the connection. The limit
    /// is multiplied by 2^`factor`.
    #[inline]
    pub fn is_throttled(
        &mut self,
        packets: u32,
        factor: u32,
        config: &SenderConfig,
        board: &Scoreboard,
    ) -> bool {
        self.host.is_throttled(packets, factor, config, &self.pacer, board)
    }

    /// Departure time of a burst that is sent now.
    #[inline]
    pub fn departure(&self, now: Time) -> Time {
        if self.host.is_on() { self.pacer.next_departure().max(now) } else { now }
    }

    /// Pass a packet that departs at `at` to the host.
    #[inline]
    pub fn hand_over(&mut self, now: Time, at: Time, segment: Segment, out: &mut Vec<Segment>) {
        self.host.hand_over(now, at, segment, out);
    }

    /// Account for a burst just sent, with `bytes` of payload; `sent`: data packets sent since the start.
    #[inline]
    pub fn account(&mut self, now: Time, packets: u32, bytes: u64, sent: u64) {
        self.host.count(packets, bytes);
        self.pacer.depart(now, bytes, sent);
        self.last_send = now;
    }

    /// Count a packet without payload that is passed to the NIC and is not paced.
    pub fn count_empty(&mut self) {
        self.host.count(1, 0);
    }

    /// Count a packet that another part of the connection passes to the NIC; `bytes`: its size on the wire.
    pub fn count_bare(&mut self, bytes: u32) {
        self.host.count_bare(bytes);
    }

    /// Record that a packet of `bytes` has left the NIC. True if the connection was waiting for the departure.
    pub fn left_host(&mut self, bytes: u32) -> bool {
        self.host.left(bytes)
    }

    /// Send the waiting packets whose departure time has come.
    #[inline]
    pub fn release(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.host.release(now, out);
    }

    /// Whether no packet waits in the host.
    #[inline]
    pub fn is_host_empty(&self) -> bool {
        self.host.is_empty()
    }

    /// When the next packet may leave, if pacing is the limit or packets wait in the host; else `Time::NEVER`.
    #[inline]
    pub fn wakeup(&self) -> Time {
        let waits = self.limits.is_pacing() && !self.host.is_on(); // with `sch_fq` the host has its own timer
        let pacing = if waits { self.pacer.next_departure() } else { Time::NEVER };
        pacing.min(self.host.next())
    }

    /// Time since the last transmission of a packet.
    #[inline]
    pub fn idle(&self, now: Time) -> Duration {
        now.since(self.last_send)
    }

    /// Record that a packet of the handshake was sent.
    pub fn note_send(&mut self, now: Time) {
        self.last_send = now;
    }

    /// Start counting the time spent limited by each cause.
    pub fn open(&mut self, now: Time) {
        self.limits.start(now);
    }

    /// Record the cause that now keeps the sender from sending more.
    #[inline]
    pub fn limit(&mut self, now: Time, limit: Limit) {
        self.limits.switch(now, limit);
    }

    /// Whether pacing keeps the sender from sending more.
    #[inline]
    pub fn is_limited_by_pacing(&self) -> bool {
        self.limits.is_pacing()
    }

    /// Time spent limited by each cause, up to `now`.
    pub fn limited(&self, now: Time) -> Limited {
        self.limits.up_to(now)
    }
}

/// Build the pacer, which is enabled if the algorithm needs pacing or the configuration paces every flow.
fn pacer(traits: &Traits, pacing: Pacing) -> Pacer {
    Pacer::new(traits.needs_pacing || pacing != Pacing::Auto)
}
