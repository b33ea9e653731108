//! Rates that Minstrel samples in addition to the rates in use.

use super::table::Table;
use crate::wifi::scheme::Scheme;
use units::Rng;

/// Maximum number of queued rates of each kind (`MINSTREL_SAMPLE_RATES`).
const IN_LINE: usize = 5;
/// Delivery probability above which a slower rate is not sampled (`minstrel_ht_next_jump_rate`).
const KNOWN: f64 = 0.95;

/// Reason to sample a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The next faster rate of a group.
    Step,
    /// Any faster rate.
    Jump,
    /// A rate between the rates in use.
    Slow,
}

/// Order in which kinds are sampled: `minstrel_sample_seq`.
const SEQUENCE: [Kind; 6] = [Kind::Step, Kind::Jump, Kind::Step, Kind::Jump, Kind::Step, Kind::Slow];

/// Queues of rates to sample, one per kind.
#[derive(Clone, Debug)]
pub struct Samples {
    lines: [Vec<usize>; 3],
    /// Index of the next kind in the sequence.
    place: usize,
    /// Groups in which the last step and the last jump were found.
    last_group: [usize; 2],
    /// For each group, the rates in random order, and the index of the next rate.
    shuffled: Vec<(Vec<usize>, usize)>,
    rng: Rng,
}

impl Samples {
    /// Create empty queues for these schemes.
    pub fn new(schemes: &[Scheme], rng: Rng) -> Samples {
        let shuffled = Table::new(schemes).groups().map(|group| (group.collect(), 0)).collect();
        let mut it = Samples { lines: Default::default(), place: 0, last_group: [0; 2], shuffled, rng };
        (0..it.shuffled.len()).for_each(|group| it.shuffle(group));
        it
    }

    /// Remove the next rate to sample from the queue of the next kind in the sequence; `None` if that queue is empty
    /// (`minstrel_ht_get_sample_rate`).
    pub fn next(&mut self) -> Option<usize> {
        let kind = SEQUENCE[self.place];
        self.place = (self.place + 1) % SEQUENCE.len();
        let line = &mut self.lines[kind as usize];
        (!line.is_empty()).then(|| line.remove(0))
    }

    /// Remove rates that no longer fit their kind, and add new rates: `minstrel_ht_refill_sample_rates`.
    pub fn refill(&mut self, table: &Table) {
        let used = [table.best[0], table.best[1], table.surest].map(|rate| table.packet_us(rate));
        let fastest_us = used.into_iter().fold(f64::INFINITY, f64::min);
        let slowest_us = used.into_iter().fold(0.0, f64::max);
        let fits = |kind: Kind, rate: usize| {
            let us = table.packet_us(rate);
            if kind == Kind::Slow { us > fastest_us && us < slowest_us } else { us < fastest_us }
        };
        for kind in [Kind::Step, Kind::Jump, Kind::Slow] {
            self.lines[kind as usize].retain(|&rate| fits(kind, rate));
        }
        let groups: Vec<_> = table.groups().collect();
        for (at, group) in self.after(Kind::Step, groups.len()).map(|n| (n, groups[n].clone())) {
            let next = group.into_iter().find(|&rate| table.packet_us(rate) < used[0]);
            if let Some(rate) = next.filter(|&rate| self.joins(Kind::Step, rate)) {
                self.lines[Kind::Step as usize].push(rate);
                self.last_group[Kind::Step as usize] = at;
            }
        }
        // For each free place in the queue, all groups are searched once.
        for _ in self.lines[Kind::Jump as usize].len()..IN_LINE {
            for n in self.after(Kind::Jump, groups.len()) {
                let Some(rate) = self.random(n, |rate| table.packet_us(rate) < slowest_us) else { continue };
                let kind = if fits(Kind::Jump, rate) { Kind::Jump } else { Kind::Slow };
                let worth = kind == Kind::Jump || table.probability(rate) <= KNOWN;
                if worth && fits(kind, rate) && self.joins(kind, rate) {
                    self.lines[kind as usize].push(rate);
                    self.last_group[Kind::Jump as usize] = n;
                }
            }
        }
    }

    /// All groups in cyclic order, beginning after the group of the last step or jump.
    fn after(&self, kind: Kind, groups: usize) -> impl Iterator<Item = usize> + use<> {
        let last = self.last_group[kind as usize];
        (1..=groups).map(move |n| (last + n) % groups)
    }

    /// Whether a rate can be added to a queue.
    fn joins(&self, kind: Kind, rate: usize) -> bool {
        let line = &self.lines[kind as usize];
        line.len() < IN_LINE && !line.contains(&rate)
    }

    /// Return the next acceptable rate of a group in its random order. The order changes after a full pass.
    fn random(&mut self, group: usize, will_do: impl Fn(usize) -> bool) -> Option<usize> {
        for _ in 0..self.shuffled[group].0.len() {
            let (order, place) = &mut self.shuffled[group];
            let rate = order[*place];
            *place += 1;
            if *place == order.len() {
                self.shuffle(group);
            }
            if will_do(rate) {
                return Some(rate);
            }
        }
        None
    }

    /// Shuffle the rates of a group (Fisher and Yates).
    fn shuffle(&mut self, group: usize) {
        let (order, place) = &mut self.shuffled[group];
        for last in (1..order.len()).rev() {
            order.swap(last, self.rng.below(last as u32 + 1) as usize);
        }
        *place = 0;
    }
}
