//! Statistics of each rate in Minstrel, and the best rates.

use crate::wifi::scheme::Scheme;
use std::cmp::Ordering;

/// Rates that are ranked by throughput (`MAX_THR_RATES`).
pub const BEST: usize = 4;

/// Bytes of a packet and number of packets of an aggregate. The duration of this aggregate determines the time per
/// packet of a rate (`AVG_PKT_SIZE`, `AVG_AMPDU_SIZE`).
const PACKET: u64 = 1_200;
const AGGREGATE: u64 = 16;
/// Weight of the old mean aggregate length at an update (`EWMA_LEVEL` of `EWMA_DIV`).
const KEPT: f64 = 96.0 / 128.0;
/// Delivery probability below which a rate is not used, and the value to which higher probabilities are limited
/// (`minstrel_ht_get_tp_avg`).
const LEAST: f64 = 0.1;
const MOST: f64 = 0.9;
/// Delivery probability above which rates are compared by throughput (`minstrel_ht_set_best_prob_rate`).
const SURE: f64 = 0.75;
/// `OVERHEAD_US` is the overhead of each aggregate in microseconds: 48 for an empty frame at 6 Mbit/s and 60 for an ACK
/// (`ieee80211_frame_duration`). `PROTECTION_US` is the time that RTS and CTS add (`minstrel_ht_update_caps`).
const OVERHEAD_US: f64 = 108.0;
const PROTECTION_US: f64 = 120.0;
/// Spatial streams have failed if more than this number of frames were sent and less than a quarter of them arrived
/// (`minstrel_ht_tx_status`).
const DEAD_ATTEMPTS: u64 = 30;

/// Statistics of a rate.
#[derive(Clone, Debug)]
struct Rate {
    streams: u64,
    /// Microseconds per packet.
    packet_us: f64,
    /// Frames sent (`sent`) and delivered (`received`) since the last update.
    sent: u64,
    received: u64,
    /// Whether the rate has been used.
    known: bool,
    /// Average delivery probability (`probability`), and its preceding value (`before`).
    probability: f64,
    before: f64,
}

/// All rates of a port, sorted by number of streams, then from slow to fast.
#[derive(Clone, Debug)]
pub struct Table {
    rates: Vec<Rate>,
    /// Aggregates, and packets in them, since the last update.
    aggregates: u64,
    packets: u64,
    /// Average number of packets per aggregate.
    mean_packets: f64,
    /// Best rates by throughput, in descending order.
    pub best: [usize; BEST],
    /// The rate for retries: the rate with the highest throughput among the rates that are nearly always delivered. If
    /// possible, the rate for retries has fewer streams than the best rate.
    pub surest: usize,
}

/// Return the new average: a two-pole low-pass filter with a period of 16 updates (`minstrel_filter_avg_add`, with the
/// coefficients that its header derives). The filter output varies less than an exponential average with the same
/// delay.
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

    /// Update the averages with the frames since the last update: `minstrel_ht_calc_rate_stats`.
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
    /// Create a table of these schemes without statistics.
    pub fn new(schemes: &[Scheme]) -> Table {
        let rates = schemes.iter().map(Rate::new).collect();
        Table { rates, aggregates: 0, packets: 0, mean_packets: 1.0, best: [0; BEST], surest: 0 }
    }

    /// Count an aggregate of `sent` frames, of which `received` arrived.
    pub fn count(&mut self, scheme: usize, sent: usize, received: usize) {
        self.aggregates += 1;
        self.packets += sent as u64;
        self.rates[scheme].sent += sent as u64;
        self.rates[scheme].received += received as u64;
    }

    /// Delivery probability of a rate.
    pub fn probability(&self, scheme: usize) -> f64 {
        self.rates[scheme].probability
    }

    /// Microseconds per packet at a rate.
    pub fn packet_us(&self, scheme: usize) -> f64 {
        self.rates[scheme].packet_us
    }

    /// Microseconds of an aggregate of mean length, with RTS and CTS if it is `protected`.
    pub fn exchange_us(&self, scheme: usize, protected: bool) -> f64 {
        let before = if protected { PROTECTION_US } else { 0.0 };
        before + OVERHEAD_US + self.packet_us(scheme) * self.mean_packets.floor()
    }

    /// Delivered packets per microsecond at a rate (`minstrel_ht_get_tp_avg`).
    fn throughput(&self, scheme: usize) -> f64 {
        let probability = self.probability(scheme);
        if probability < LEAST {
            return 0.0;
        }
        probability.min(MOST) / (OVERHEAD_US / self.mean_packets.floor() + self.packet_us(scheme))
    }

    /// Compare two rates by throughput, then by delivery probability.
    fn compare(&self, one: usize, other: usize) -> Ordering {
        let by_throughput = self.throughput(one).total_cmp(&self.throughput(other));
        by_throughput.then(self.probability(one).total_cmp(&self.probability(other)))
    }

    /// Rates grouped by number of streams.
    pub fn groups(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let mut first = 0;
        self.rates.chunk_by(|a, b| a.streams == b.streams).map(move |group| {
            let range = first..first + group.len();
            first = range.end;
            range
        })
    }

    /// Update the averages and find the best rates: `minstrel_ht_update_stats`.
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

    /// Update the averages of a group. A rate that was never used gets the highest probability of all faster rates.
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

    /// Return the best rates by throughput. If fewer rates have been used, the slowest rate fills the list:
    /// `minstrel_ht_sort_best_tp_rates`.
    fn best_of(&self, rates: std::ops::Range<usize>) -> [usize; BEST] {
        let slowest = rates.start;
        let mut used: Vec<usize> = rates.filter(|&rate| self.throughput(rate) > 0.0).collect();
        used.sort_by(|&a, &b| self.compare(b, a));
        std::array::from_fn(|n| used.get(n).copied().unwrap_or(slowest))
    }

    /// Return the rate with the highest throughput among rates with a high delivery probability. If no rate has a high
    /// delivery probability, return the rate with the highest probability. A rate that is faster than the best rate but
    /// less reliable is skipped: `minstrel_ht_set_best_prob_rate`.
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

    /// If most frames at one of the two best rates are lost, replace that rate by the best rate with fewer streams.
    /// Return whether any rate was replaced: `minstrel_ht_tx_status`.
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
