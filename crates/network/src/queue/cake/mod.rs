//! CAKE: a shaper without bursts, classes by DSCP (tins), fairness between hosts and between their flows, and COBALT
//! in every queue.
//!
//! Linux `net/sched/sch_cake.c`; Høiland-Jørgensen, Täht and Morton, "Piece of CAKE" (2018). Deviations from Linux:
//!
//! * Queues and hosts are identified by indices, not by hashes of addresses. Two flows share a queue only if all
//!   eight places for the hash of a flow are taken. Any number of hosts have their own counters (Linux: 1024).
//! * Memory is counted in bytes on the wire, not in bytes of kernel buffers, which are larger.
//! * The square root of COBALT is exact (Linux: exact up to 16 drops, then Newton steps). The clocks of the shaper
//!   are exact, too.
//! * `overhead` replaces the Ethernet header of 14 bytes that packet sizes are assumed to contain
//!   (`tcp.link_overhead`).
//! * With `ingress`, the next flows are served immediately after a drop. Linux first checks the shaper again.
//! * The ACK filter never drops an ACK whose ECN-Echo differs from the ECN-Echo of the younger ACK, nor a D-SACK.
//! * Not modelled: `autorate-ingress`, `fwmark` and NAT look-ups (there is no NAT).
//!
//! Comparison with Linux 7.2: runs of 30 s with 1, 4 and 16 CUBIC flows, an RTT of 40 ms, and 10, 50 and 100 Mbit/s.
//! The queueing delay, measured as smoothed RTT (1.8 to 20 ms), differs from Linux by at most 3 % in eight of nine
//! cases. With 16 flows at 10 Mbit/s the queueing delay is 11 % shorter than in Linux. Goodput differs from Linux by at
//! most 0.4 %. At 50 Mbit/s, the number of retransmissions of 16 CUBIC or Reno flows differs from Linux by at most 3 %.

mod acks;
mod cobalt;
mod hosts;
mod shaper;
mod tin;
mod tins;

use self::acks::{AckFilter, Filter};
use self::hosts::{Hosts, Isolation, Loads};
use self::shaper::{Framing, Shaper, Wire};
use self::tin::{Call, Tin};
use self::tins::Diffserv;
use super::codel::{MTU, ms};
use super::discipline::{Backlog, Limit, QueueDiscipline, QueueEvents, Waiting};
use crate::{Packet, Streams};
use params::{Entry, params};
use units::{Probe, Rng, Time};

/// Number of full packets that may wait if `memlimit_bytes` is not set.
/// Source: Linux `cake_reconfigure`.
const MOST_PACKETS: u64 = 10_240;
/// Lower bound of the buffer limit in bytes.
/// Source: Linux `cake_reconfigure`.
const LEAST_BUFFER: u64 = 4 << 20;

params! {
    /// Parameters of CAKE.
    pub struct CakeParams {
        /// Rate of the shaper; null: unlimited, only the link limits the rate.
        bandwidth_bps: Option<u64> = None, "bit/s", 1000.0..=1e12, role = rate;
        /// Classes by DSCP. One of besteffort, precedence, diffserv3, diffserv4, diffserv8.
        diffserv: Diffserv = Diffserv::Diffserv3, "";
        /// Units that get equal shares. One of flowblind, srchost, dsthost, hosts, flows, dual-srchost, dual-dsthost,
        /// triple-isolate.
        isolation: Isolation = Isolation::TripleIsolate, "";
        /// Typical RTT of the flows. COBALT's interval is this RTT, and COBALT's target is a twentieth of it.
        rtt_ms: f64 = 100.0, "ms", 0.001..=10_000_000.0;
        /// Bytes that the shaper adds to the IP packet; null: packet sizes are used unchanged.
        overhead: Option<i64> = None, "bytes", -64..=256;
        /// Minimum bytes that the shaper counts per packet.
        mpu: u32 = 0, "bytes", 0..=256;
        /// Framing of the link. One of noatm, atm (53 bytes on the link for every 48), ptm (65 bytes for every 64).
        framing: Framing = Framing::Noatm, "";
        /// Maximum bytes that may wait; null: four times rate and RTT, at least 4 MiB, at most 10240 full packets.
        memlimit_bytes: Option<u64> = None, "bytes", 1514.0..=1e12, role = limit;
        /// Count dropped packets as sent, since dropped packets have already crossed the bottleneck.
        ingress: bool = false, "";
        /// Drop ACKs that a younger ACK makes redundant. One of no-ack-filter, ack-filter (keeps the last of several
        /// redundant ACKs), ack-filter-aggressive.
        ack_filter: AckFilter = AckFilter::Off, "";
        /// Clear the DSCP of packets.
        wash: bool = false, "";
    }
}

/// A CAKE discipline.
pub struct Cake<P> {
    diffserv: Diffserv,
    isolation: Isolation,
    limit: u64,
    /// Upper bound of the buffer limit, bytes.
    most: u64,
    wash: bool,
    filter: Option<Filter<P>>,
    shaper: Shaper,
    tins: Vec<Tin<P>>,
    /// Index of the tin that has the turn.
    current: usize,
    hosts: Vec<Hosts>,
    streams: Streams,
    backlog: Backlog,
    rng: Rng,
}

impl<P: Copy> Cake<P> {
    /// Split `self` into the tins and the other state that a call needs. Own choice: Rust's borrow rules require
    /// separate borrows of these two parts.
    fn split<'a, 'e>(
        &'a mut self,
        now: Time,
        events: &'a mut QueueEvents<'e, P>,
    ) -> (&'a mut [Tin<P>], Call<'a, 'e, P>) {
        let Cake { shaper, tins, backlog, rng, filter, .. } = self;
        (tins, Call { now, rng, events, backlog, shaper, filter: *filter })
    }

    /// Index of the tin that sends next. At least one tin must have packets.
    /// Source: Linux `cake_dequeue`.
    fn pick(&mut self, now: Time) -> usize {
        if !self.shaper.is_limited() {
            while !self.tins[self.current].takes_turn() {
                self.current = (self.current + 1) % self.tins.len();
            }
            return self.current;
        }
        // The last tin that is within its rate. If no tin is within its rate, the tin whose rate first allows a packet.
        let active = || self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active());
        let due = active().rev().find(|(_, tin)| tin.due() <= now);
        due.or_else(|| active().rev().min_by_key(|(_, tin)| tin.due())).map_or(0, |(n, _)| n)
    }
}

impl<P: Copy + Send> QueueDiscipline<P> for Cake<P> {
    /// Source: Linux `cake_enqueue`.
    fn enqueue(&mut self, mut packet: Packet<P>, now: Time, events: &mut QueueEvents<P>) {
        let hosts = self.hosts.get(self.streams.route(packet.stream).index()).copied().flatten();
        let key = self.isolation.key(packet.stream, hosts);
        let tin = self.diffserv.tin(packet.dscp);
        let limit = self.limit;
        if self.wash {
            packet.dscp = 0;
        }
        if self.backlog.packets == 0 {
            self.shaper.wake(now);
        }
        let (tins, mut call) = self.split(now, events);
        tins[tin].push(packet, key, hosts, &mut call);
        while call.backlog.bytes > limit {
            let longest = tins.iter().enumerate().map(|(n, tin)| (tin.longest(), n)).max();
            let Some(((_, index), tin)) = longest else { return };
            tins[tin].overflow(index, &mut call);
        }
    }

    /// Source: Linux `cake_dequeue`.
    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<P>) -> Option<Waiting<P>> {
        if self.backlog.packets == 0 || self.ready() > now {
            return None;
        }
        let mut first = true;
        loop {
            let tin = self.pick(now);
            let (tins, mut call) = self.split(now, events);
            if let Some(next) = tins[tin].visit(std::mem::take(&mut first), &mut call) {
                return Some(next);
            }
        }
    }

    /// Source: Linux `cake_change`.
    fn resize(&mut self, limit: Limit, _now: Time, _events: &mut QueueEvents<P>) -> bool {
        self.limit = limit.bytes.unwrap_or(self.limit).min(self.most);
        limit.bytes.is_some() && limit.packets.is_none()
    }

    fn observe(&self, _now: Time, probe: &mut Probe<'_>) {
        let (sparse, bulk) = self.tins.iter().map(Tin::flows).fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
        probe.see("sparse_flows", f64::from(sparse), "");
        probe.see("bulk_flows", f64::from(bulk), "");
        probe.see("active_flows", f64::from(sparse + bulk), "");
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn ready(&self) -> Time {
        if self.backlog.packets == 0 { Time::ZERO } else { self.shaper.ready() }
    }

    fn know_hosts(&mut self, hosts: &[Option<[u32; 2]>]) {
        self.hosts = hosts.to_vec();
        self.streams = Streams::new(hosts.len());
    }

    /// Source: Linux `cake_ack_filter`.
    fn know_redundancy(&mut self, redundant: fn(&P, &P) -> bool) {
        if let Some(filter) = &mut self.filter {
            filter.know(redundant);
        }
    }
}

impl<P: Copy + Send + 'static> Entry<u64> for Cake<P> {
    type Params = CakeParams;
    const TITLE: &'static str = "CAKE: shaper, classes, fairness between hosts and flows, COBALT";
    const SOURCE: &'static str = "Linux net/sched/sch_cake.c; Høiland-Jørgensen et al., Piece of CAKE (2018)";

    fn new(p: CakeParams, seed: u64) -> Self {
        let salt = Rng::stream(seed, "queue/hash").next_u64();
        let rtt = ms(p.rtt_ms);
        let tins = p.diffserv.shares().into_iter().map(|share| {
            let rate = p.bandwidth_bps.map(|rate| share.rate(rate));
            Tin::new(rate, share.weight, rtt, Loads::new(p.isolation), salt, p.ingress)
        });
        let product = |rate: u64| (rate as f64 / 8.0 * rtt.as_secs_f64()) as u64;
        let most = p.bandwidth_bps.map_or(u64::MAX, |rate| LEAST_BUFFER.max(4 * product(rate)));
        Cake {
            diffserv: p.diffserv,
            isolation: p.isolation,
            limit: most.min(p.memlimit_bytes.unwrap_or(MOST_PACKETS * MTU)),
            most,
            wash: p.wash,
            filter: Filter::new(p.ack_filter),
            shaper: Shaper::new(
                p.bandwidth_bps,
                Wire { overhead: p.overhead, mpu: p.mpu.into(), framing: p.framing },
            ),
            tins: tins.collect(),
            current: 0,
            hosts: Vec::new(),
            streams: Streams::default(),
            backlog: Backlog::default(),
            rng: Rng::stream(seed, "queue/cake"),
        }
    }
}
