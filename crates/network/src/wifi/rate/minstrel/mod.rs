//! Minstrel-HT, the rate control of Linux (`rc80211_minstrel_ht.c`, read in 6.12; unchanged in 7.2). Minstrel learns
//! from the packets that arrive, and sometimes samples other rates.
//!
//! - [`table`]: statistics of each rate, and the best rates.
//! - [`samples`]: other rates to sample.
//!
//! Linux uses Minstrel-HT for 802.11n and 802.11ac. In this model Minstrel-HT is also used for 802.11ax, although real
//! 802.11ax devices have their own rate control.

mod samples;
mod table;

use super::{Choice, Outcome, RateControl};
use crate::wifi::scheme::Scheme;
use samples::Samples;
use table::{BEST, Table};
use units::{Duration, Rng, Time};

/// Time between evaluations of the statistics (`minstrel_ht_alloc`: HZ / 20).
const UPDATE: Duration = Duration::from_millis(50);
/// Minimum time between samples of other rates (`MINSTREL_SAMPLE_INTERVAL`: HZ / 50).
const SAMPLE: Duration = Duration::from_millis(20);
/// Microseconds that all tries at one rate may take together (`minstrel_ht_alloc`: `segment_size`).
const SEGMENT_US: f64 = 6_000.0;
/// Minimum and maximum tries at a rate (`minstrel_calc_retransmit`, `max_retry`).
const LEAST_TRIES: u32 = 2;
const MOST_TRIES: u32 = 7;
/// Duration of a backoff slot in microseconds, and the contention windows (`minstrel_calc_retransmit`, `cw_min`,
/// `cw_max`).
const SLOT_US: f64 = 9.0;
const WINDOWS: (u32, u32) = (15, 1_023);
/// Number of rates that the driver tries in turn (`hw->max_rates` of ath9k): the best rates by throughput, then the
/// most reliable rate.
const CHAIN: usize = BEST;

/// A rate of the retry chain, and its number of tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stage {
    scheme: usize,
    tries: u32,
}

/// The rate control of one port.
pub struct Minstrel {
    table: Table,
    samples: Samples,
    chain: [Stage; CHAIN],
    /// Stage of the next try, and number of tries at that stage so far.
    stage: usize,
    tried: u32,
    /// Whether the frame samples another rate. The MPDU is then sent alone until it arrives.
    alone: bool,
    updated: Time,
    /// Time from which another rate may be sampled.
    next_sample: Time,
}

impl Minstrel {
    /// Create the rate control of a port. The rate control has no statistics and begins with the slowest rate.
    pub fn new(schemes: &[Scheme], rng: Rng) -> Minstrel {
        let table = Table::new(schemes);
        let samples = Samples::new(schemes, rng);
        let slowest = Stage { scheme: 0, tries: 1 };
        let mut it = Minstrel {
            table,
            samples,
            chain: [slowest; CHAIN],
            stage: 0,
            tried: 0,
            alone: false,
            updated: Time::ZERO,
            next_sample: Time::ZERO,
        };
        it.update(Time::ZERO);
        it.set_chain();
        it
    }

    /// Rank the rates and choose the rates to sample. The next frame may sample a rate immediately:
    /// `minstrel_ht_update_stats`.
    fn update(&mut self, now: Time) {
        self.table.rank();
        self.samples.refill(&self.table);
        (self.updated, self.next_sample) = (now, now);
    }

    /// Set the rates that the driver tries in turn: `minstrel_ht_update_rates`.
    fn set_chain(&mut self) {
        for (n, stage) in self.chain.iter_mut().enumerate() {
            let scheme = if n + 1 < CHAIN { self.table.best[n] } else { self.table.surest };
            *stage = Stage { scheme, tries: tries(&self.table, scheme, n > 0) };
        }
    }

    /// Start with a new frame.
    fn begin(&mut self) {
        (self.stage, self.tried, self.alone) = (0, 0, false);
    }
}

impl RateControl for Minstrel {
    /// Sample another rate if a sample is due and the frame is sent for the first time (`minstrel_ht_get_rate`).
    /// ath9k sends the MPDU of such a frame alone (`ath_tx_form_aggr`).
    fn choose(&mut self, now: Time) -> Choice {
        let mut scheme = self.chain[self.stage].scheme;
        if (self.stage, self.tried) == (0, 0) && now >= self.next_sample {
            self.next_sample = now + SAMPLE;
            let other = self.samples.next();
            self.alone = other.is_some();
            scheme = other.unwrap_or(scheme);
        }
        Choice { scheme, alone: self.alone }
    }

    /// Count the frame and find the stage of the next try (`minstrel_ht_tx_status`). If no MPDU was acknowledged, the
    /// next stage follows once the tries of this stage are used up, or immediately after a sample. A success and the
    /// end of the last stage both lead back to the first stage.
    fn report(&mut self, outcome: &Outcome, now: Time) {
        let Outcome { choice, sent, received, .. } = *outcome;
        self.table.count(choice.scheme, sent, received);
        self.tried += 1;
        let was_probe = self.alone && self.stage == 0;
        if was_probe || self.tried >= self.chain[self.stage].tries {
            (self.stage, self.tried) = (self.stage + 1, 0);
        }
        if received > 0 || self.stage == CHAIN {
            self.begin();
        }
        let fell = self.table.leave_dead_streams();
        let due = now > self.updated + UPDATE;
        if due {
            self.update(now);
        }
        if fell || due {
            self.set_chain();
        }
    }
}

/// Number of tries that fit into the segment, at least two: `minstrel_calc_retransmit`, `minstrel_ht_set_rate`. After
/// the first stage each try includes RTS and CTS.
fn tries(table: &Table, scheme: usize, protected: bool) -> u32 {
    if table.probability(scheme) < 0.2 {
        return LEAST_TRIES;
    }
    let each_us = table.exchange_us(scheme, protected);
    let (mut window, mut taken_us) = (WINDOWS.0, 0.0);
    let fitting = (1..=MOST_TRIES).take_while(|_| {
        taken_us += SLOT_US * f64::from(window) / 2.0 + each_us;
        window = (2 * window + 1).min(WINDOWS.1);
        taken_us < SEGMENT_US
    });
    fitting.last().map_or(LEAST_TRIES, |tries| tries.max(LEAST_TRIES))
}
