//! Airtime fairness and limits on queued airtime. Fairness and limits decide which station's packets are passed to the
//! radio.
//!
//! Deficit round robin over stations, in airtime: Linux `ieee80211_next_txq`, `__ieee80211_schedule_txq`,
//! `ieee80211_sta_register_airtime` and `ieee80211_txq_airtime_check` (net/mac80211).

use crate::queue::AirtimeLimits;
use std::collections::VecDeque;
use units::{Duration, Time};

/// Airtime that a station gets in a round, nanoseconds: `IEEE80211_DEFAULT_AIRTIME_WEIGHT`, 256 microseconds.
const WEIGHT_NS: i64 = 256_000;
/// Idle time after which a station is no longer charged: `AIRTIME_ACTIVE_DURATION`, a tenth of a second.
const ACTIVE: Duration = Duration::from_millis(100);

/// Airtime account of a station.
#[derive(Clone, Debug)]
struct Account {
    /// Nanoseconds of airtime that the station may use before its turn is over.
    deficit: i64,
    /// Estimated airtime of the station's packets in the radio.
    pending: Duration,
    last_active: Time,
    /// Whether the station is in [`Fairness::list`].
    listed: bool,
    /// Index of the round in which the station was last served.
    round: u64,
}

/// The stations of a radio that have something to send, in the order of service.
#[derive(Debug)]
pub struct Fairness {
    fair: bool,
    /// Limits on queued airtime; `None` if queued airtime is not limited.
    limits: Option<AirtimeLimits>,
    accounts: Vec<Account>,
    list: VecDeque<usize>,
    pending: Duration,
    round: u64,
}

impl Fairness {
    /// Create the list for `stations` stations that have nothing to send. With `fair`, stations get equal airtime;
    /// otherwise stations take turns.
    pub fn new(stations: usize, fair: bool, limits: Option<AirtimeLimits>) -> Fairness {
        let account = Account {
            deficit: WEIGHT_NS,
            pending: Duration::ZERO,
            last_active: Time::ZERO,
            listed: false,
            round: 0,
        };
        let accounts = vec![account; stations];
        Fairness { fair, limits, accounts, list: VecDeque::new(), pending: Duration::ZERO, round: 0 }
    }

    /// Begin a new round, in which no station is served twice (`ieee80211_txq_schedule_start`).
    pub fn begin_round(&mut self) {
        self.round += 1;
    }

    /// Remove and return the station in the list whose turn is next; `None` if no station may send.
    pub fn next(&mut self) -> Option<usize> {
        let (mut head, mut eligible) = (None, false);
        loop {
            let station = *self.list.front()?;
            if head == Some(station) && !std::mem::take(&mut eligible) {
                return None;
            }
            head.get_or_insert(station);
            let may = self.may_queue(station);
            eligible |= may;
            let exhausted = self.left(station) < 0;
            let account = &mut self.accounts[station];
            if exhausted {
                account.deficit += WEIGHT_NS;
            }
            if exhausted || !may {
                self.list.rotate_left(1);
            } else if account.round == self.round {
                return None;
            } else {
                (account.round, account.listed) = (self.round, false);
                return self.list.pop_front();
            }
        }
    }

    /// List a station if it has something to send and is not listed. The station becomes the first in the list. If
    /// its deficit is negative, [`next`](Self::next) moves the station to the end. A station without packets whose
    /// deficit is negative stays in the list for a while.
    pub fn schedule(&mut self, station: usize, has_packets: bool, now: Time) {
        let pays = self.left(station) < 0 && self.is_active(station, now);
        let account = &mut self.accounts[station];
        if account.listed || !(has_packets || pays) {
            return;
        }
        account.listed = true;
        if has_packets {
            account.last_active = now;
        }
        if has_packets && self.fair {
            self.list.push_front(station);
        } else {
            self.list.push_back(station);
        }
    }

    /// Charge a station for airtime that it used for sending or receiving.
    pub fn charge(&mut self, station: usize, airtime: Duration, now: Time) {
        if self.fair && self.is_active(station, now) {
            self.accounts[station].deficit -= airtime.as_nanos() as i64;
        }
    }

    /// Add the estimated airtime of a packet that has been passed to the radio.
    pub fn queue(&mut self, station: usize, airtime: Duration) {
        self.accounts[station].pending = self.accounts[station].pending + airtime;
        self.pending = self.pending + airtime;
    }

    /// Subtract the estimated airtime of packets that are delivered or given up.
    pub fn settle(&mut self, station: usize, airtime: Duration) {
        self.accounts[station].pending = self.accounts[station].pending - airtime;
        self.pending = self.pending - airtime;
    }

    /// Whether another packet of a station may be passed to the radio.
    pub fn may_queue(&self, station: usize) -> bool {
        self.limits.is_none_or(|AirtimeLimits { low, high, threshold }| {
            let pending = self.accounts[station].pending;
            pending < low || (self.pending < threshold && pending < high)
        })
    }

    /// Airtime that a station may still use, less the airtime queued in the radio (`ieee80211_sta_deficit`). Without
    /// limits, queued airtime is not estimated.
    fn left(&self, station: usize) -> i64 {
        let Account { deficit, pending, .. } = self.accounts[station];
        deficit - if self.limits.is_some() { pending.as_nanos() as i64 } else { 0 }
    }

    fn is_active(&self, station: usize, now: Time) -> bool {
        now.since(self.accounts[station].last_active) <= ACTIVE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + ms(millis)
    }

    /// The station served in each of `rounds` rounds, if every station always has packets. `costs` is the airtime of
    /// each station's frame.
    fn served(turns: &mut Fairness, costs: &[Duration], rounds: u64) -> Vec<usize> {
        (0..costs.len()).for_each(|station| turns.schedule(station, true, at(0)));
        let mut order = Vec::new();
        for n in 0..rounds {
            turns.begin_round();
            let station = turns.next().unwrap();
            turns.charge(station, costs[station], at(n));
            turns.schedule(station, true, at(n));
            order.push(station);
        }
        order
    }

    #[test]
    fn stations_get_equal_airtime() {
        let costs = [ms(4), ms(1), ms(2)];
        let order = served(&mut Fairness::new(3, true, None), &costs, 700);
        let airtime =
            |station| order.iter().filter(|&&one| one == station).count() as u64 * [4, 1, 2][station];
        let used = [0, 1, 2].map(airtime);
        assert!(used.iter().all(|used| used.abs_diff(400) <= 4), "{used:?}");
    }

    #[test]
    fn without_fairness_they_take_turns() {
        let order = served(&mut Fairness::new(2, false, None), &[ms(4), ms(1)], 6);
        assert_eq!(order, [0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn a_station_that_has_just_become_busy_goes_first() {
        let mut turns = Fairness::new(2, true, None);
        served(&mut turns, &[ms(4)], 5);
        turns.schedule(1, true, at(5));
        turns.begin_round();
        assert_eq!(turns.next(), Some(1));
    }

    #[test]
    fn queued_airtime_is_limited_by_the_lower_limit_when_others_queue_much() {
        let limits = AirtimeLimits { low: ms(5), high: ms(12), threshold: ms(24) };
        let mut turns = Fairness::new(3, true, Some(limits));
        let fill = |turns: &mut Fairness, station| {
            let mut packets = 0;
            while turns.may_queue(station) {
                turns.queue(station, ms(1));
                packets += 1;
            }
            packets
        };
        assert_eq!([0, 1, 2].map(|station| fill(&mut turns, station)), [12, 12, 5]);
        turns.schedule(0, true, at(0));
        turns.begin_round();
        assert_eq!(turns.next(), None);
        turns.settle(0, ms(1)); // queued airtime: 11 ms for this station, 28 ms in all
        assert!(!turns.may_queue(0));
        turns.settle(1, ms(5));
        assert!(turns.may_queue(0) && turns.next() == Some(0));
    }

    #[test]
    fn who_has_been_idle_is_charged_no_more_and_does_not_carry_old_debts() {
        let mut turns = Fairness::new(1, true, None);
        turns.schedule(0, true, at(0));
        turns.begin_round();
        turns.next();
        turns.charge(0, ms(3), at(10));
        turns.schedule(0, false, at(20)); // the station stays in the list and its deficit is repaid
        assert_eq!(turns.list.len(), 1);
        turns.begin_round();
        assert_eq!(turns.next(), Some(0));
        let before = turns.accounts[0].deficit;
        turns.charge(0, ms(3), at(101));
        assert_eq!(turns.accounts[0].deficit, before);
    }
}
