//! What Minstrel knows of each rate, and which rates are best.

use crate::wifi::scheme::Scheme;
use std::cmp::Ordering;

/// Rates with the best throughput that are told apart (`MAX_THR_RATES`).
pub const BEST: usize = 4;

/// Bytes of the packet, and packets of the aggregate, whose duration stands for a rate (`AVG_PKT_SIZE`, `AVG_AMPDU_SIZE`).
const PACKET: u64 = 1_200;
const AGGREGATE: u64 = 16;
/// Of the mean length of aggregates, what an update keeps (`EWMA_LEVEL` of `EWMA_DIV`).
const KEPT: f64 = 96.0 / 128.0;
/// A rate with less is not used, and no rate is taken to be surer (`minstrel_ht_get_tp_avg`).
const LEAST: f64 = 0.1;
const MOST: f64 = 0.9;
/// Sure enough that throughput decides (`minstrel_ht_set_best_prob_rate`).
const SURE: f64 = 0.75;
/// Microseconds around each aggregate: `ieee80211_frame_duration` of an empty frame at 6 Mbit/s, 48, and of an ACK, 60; and
/// what RTS and CTS add (`minstrel_ht_update_caps`).
const OVERHEAD_US: f64 = 108.0;
const PROTECTION_US: f64 = 120.0;
/// More frames than this, of which fewer than a quarter arrive: streams have died (`minstrel_ht_tx_status`).
const DEAD_ATTEMPTS: u64 = 30;

/// What is known of a rate.
#[derive(Clone, Debug)]
struct Rate {
    streams: u64,
    /// Microseconds that a packet takes.
    packet_us: f64,
    /// Frames since the last update.
    sent: u64,
    received: u64,
    /// It has been used.
    known: bool,
    /// The share that arrives, averaged, and the average before.
    probability: f64,
    before: f64,
}

/// All rates of a port: from slow to fast for each number of streams, fewer streams first.
#[derive(Clone, Debug)]
pub struct Table {
    rates: Vec<Rate>,
    /// Aggregates and their packets since the last update.
    aggregates: u64,
    packets: u64,
    /// Packets of an aggregate, averaged.
    mean_packets: f64,
    /// By throughput, the best first.
    pub best: [usize; BEST],
    /// The fastest of those that nearly always arrive, with fewer streams than the best one where there are such.
    pub surest: usize,
}

/// A two-pole low-pass with a period of 16 updates, which is more quiet than an exponential average of the same delay:
/// `minstrel_filter_avg_add`, with the coefficients that its header derives.
fn averaged(rate: &Rate, share: f64) -> f64 {
    let pole = (-std::f64::consts::PI * std::f64::consts::SQRT_2 / 16.0).exp();
    let first = 2.0 * pole * (std::f64::consts::TAU * std::f64::consts::SQRT_2 / 16.0).cos();
    let second = -pole * pole;
    let next = (1.0 - first - second) * share + first * rate.probability + second * rate.before;
    next.clamp(0.0, 1.0)
}

impl Rate {
    fn new(scheme: &Scheme) -> Rate {
        let packet_us = scheme.mode.payload(PACKET * AGGREGATE).as_nanos() as f64 / 1e3 / AGGREGATE as f64;
        let streams = scheme.streams;
        Rate { streams, packet_us, sent: 0, received: 0, known: false, probability: 0.0, before: 0.0 }
    }

    /// `minstrel_ht_calc_rate_stats`: the frames since the last update count.
    fn close(&mut self) {
        if self.sent > 0 {
            let share = self.received as f64 / self.sent as f64;
            (self.before, self.probability) = if self.probability > 0.0 {
                (self.probability, averaged(self, share))
            } else {
                (share, share)
            };
            self.known = true;
        }
        (self.sent, self.received) = (0, 0);
    }
}

impl Table {
    /// Of these schemes, knowing nothing.
    pub fn new(schemes: &[Scheme]) -> Table {
        let rates = schemes.iter().map(Rate::new).collect();
        Table { rates, aggregates: 0, packets: 0, mean_packets: 1.0, best: [0; BEST], surest: 0 }
    }

    /// Of so many frames that were sent as one aggregate so many arrived.
    pub fn count(&mut self, scheme: usize, sent: usize, received: usize) {
        self.aggregates += 1;
        self.packets += sent as u64;
        self.rates[scheme].sent += sent as u64;
        self.rates[scheme].received += received as u64;
    }

    /// The share that arrives at a rate.
    pub fn probability(&self, scheme: usize) -> f64 {
        self.rates[scheme].probability
    }

    /// Microseconds that a packet takes at a rate.
    pub fn packet_us(&self, scheme: usize) -> f64 {
        self.rates[scheme].packet_us
    }

    /// Microseconds that an aggregate of the usual length takes, behind RTS and CTS if it is `protected`.
    pub fn exchange_us(&self, scheme: usize, protected: bool) -> f64 {
        let before = if protected { PROTECTION_US } else { 0.0 };
        before + OVERHEAD_US + self.packet_us(scheme) * self.mean_packets.floor()
    }

    /// Packets per microsecond that arrive at a rate (`minstrel_ht_get_tp_avg`).
    fn throughput(&self, scheme: usize) -> f64 {
        let probability = self.probability(scheme);
        if probability < LEAST {
            return 0.0;
        }
        probability.min(MOST) / (OVERHEAD_US / self.mean_packets.floor() + self.packet_us(scheme))
    }

    /// The better of two by throughput; of equal ones the surer.
    fn compare(&self, one: usize, other: usize) -> Ordering {
        let by_throughput = self.throughput(one).total_cmp(&self.throughput(other));
        by_throughput.then(self.probability(one).total_cmp(&self.probability(other)))
    }

    /// Rates by their number of streams.
    pub fn groups(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let mut first = 0;
        self.rates.chunk_by(|a, b| a.streams == b.streams).map(move |group| {
            let range = first..first + group.len();
            first = range.end;
            range
        })
    }

    /// `minstrel_ht_update_stats`: what was sent since the last time counts, and the best are found.
    pub fn rank(&mut self) {
        if self.aggregates > 0 {
            let mean = self.packets as f64 / self.aggregates as f64;
            self.mean_packets += (1.0 - KEPT) * (mean - self.mean_packets);
            (self.aggregates, self.packets) = (0, 0);
        }
        let groups: Vec<_> = self.groups().collect();
        groups.iter().for_each(|group| self.close(group.clone()));
        let all = 0..self.rates.len();
        self.best = self.best_of(all.clone());
        self.surest = self.surest_of(all);
        let streams = self.rates[self.best[0]].streams;
        let fewer = groups.into_iter().filter(|group| self.rates[group.start].streams < streams);
        let robust = fewer.map(|group| self.surest_of(group)).filter(|&rate| self.throughput(rate) > 0.0);
        self.surest = robust.max_by(|&a, &b| self.compare(a, b)).unwrap_or(self.surest);
    }

    /// The rates of a group. One that was never used is taken to be as sure as the surest of the faster ones.
    fn close(&mut self, group: std::ops::Range<usize>) {
        let mut surest = 0f64;
        for rate in self.rates[group].iter_mut().rev() {
            rate.close();
            if rate.known {
                surest = surest.max(rate.probability);
            } else {
                rate.probability = rate.probability.max(surest);
            }
        }
    }

    /// `minstrel_ht_sort_best_tp_rates`: the slowest fills what is left.
    fn best_of(&self, rates: std::ops::Range<usize>) -> [usize; BEST] {
        let slowest = rates.start;
        let mut used: Vec<usize> = rates.filter(|&rate| self.throughput(rate) > 0.0).collect();
        used.sort_by(|&a, &b| self.compare(b, a));
        std::array::from_fn(|n| used.get(n).copied().unwrap_or(slowest))
    }

    /// `minstrel_ht_set_best_prob_rate`: of what is sure the best by throughput, otherwise the surest; none that is faster
    /// than the best one and less sure.
    fn surest_of(&self, rates: std::ops::Range<usize>) -> usize {
        let best = &self.rates[self.best[0]];
        let mut found = rates.start;
        for rate in rates {
            let Rate { probability, packet_us, .. } = self.rates[rate];
            if packet_us < best.packet_us && probability < best.probability {
                continue;
            }
            let better = if probability > SURE {
                self.throughput(rate) > self.throughput(found)
            } else {
                probability > self.probability(found)
            };
            found = if better { rate } else { found };
        }
        found
    }

    /// `minstrel_ht_tx_status`: if most of what the two best rates send is lost, the best ones with fewer streams take their
    /// places. Did one?
    pub fn leave_dead_streams(&mut self) -> bool {
        let mut fell = false;
        for n in 0..2 {
            let Rate { sent, received, streams, .. } = self.rates[self.best[n]];
            if sent <= DEAD_ATTEMPTS || received >= sent / 4 {
                continue;
            }
            let fewer = self.groups().filter(|group| self.rates[group.start].streams < streams).last();
            if let Some(group) = fewer {
                self.best[n] = self.best_of(group)[n];
                fell = true;
            }
        }
        fell
    }
}
