//! Airtime fairness and limits on queued airtime: which station may hand packets down to the radio.
//!
//! Deficit round robin over stations, in airtime: Linux `ieee80211_next_txq`, `__ieee80211_schedule_txq`,
//! `ieee80211_sta_register_airtime` and `ieee80211_txq_airtime_check` (net/mac80211).

use crate::queue::AirtimeLimits;
use std::collections::VecDeque;
use units::{Duration, Time};

/// What a station gets in a round: `IEEE80211_DEFAULT_AIRTIME_WEIGHT`, microseconds.
const WEIGHT_NS: i64 = 256_000;
/// A station that has been idle for longer is charged no more: a tenth of a second (`AIRTIME_ACTIVE_DURATION`).
const ACTIVE: Duration = Duration::from_millis(100);

/// What is kept of a station.
#[derive(Clone, Debug)]
struct Account {
    /// Airtime that it may use before its turn is over, nanoseconds.
    deficit: i64,
    /// Estimated airtime of what has been handed down and is not done.
    pending: Duration,
    last_active: Time,
    /// It has a place in the list.
    listed: bool,
    /// The round in which it was served last.
    round: u64,
}

/// The stations of a radio that have something to send, in order.
#[derive(Debug)]
pub struct Fairness {
    fair: bool,
    /// Limits on queued airtime, if there are some.
    limits: Option<AirtimeLimits>,
    accounts: Vec<Account>,
    list: VecDeque<usize>,
    pending: Duration,
    round: u64,
}

impl Fairness {
    /// Of so many stations, none of which has something to send; `fair`: by airtime, and not by turns.
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

    /// Another round begins: no station is served twice in it (`ieee80211_txq_schedule_start`).
    pub fn begin_round(&mut self) {
        self.round += 1;
    }

    /// The next station to be served, which leaves the list; none if none may be.
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

    /// A station that is not in the list gets a place there, if it has something to send: the first one, from which airtime
    /// that it has used too much will remove it. One that has used too much and has nothing to send now stays for a while.
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

    /// A station has used airtime, sending or receiving.
    pub fn charge(&mut self, station: usize, airtime: Duration, now: Time) {
        if self.fair && self.is_active(station, now) {
            self.accounts[station].deficit -= airtime.as_nanos() as i64;
        }
    }

    /// A packet with so much estimated airtime has been handed down.
    pub fn queue(&mut self, station: usize, airtime: Duration) {
        self.accounts[station].pending = self.accounts[station].pending + airtime;
        self.pending = self.pending + airtime;
    }

    /// And so much is done.
    pub fn settle(&mut self, station: usize, airtime: Duration) {
        self.accounts[station].pending = self.accounts[station].pending - airtime;
        self.pending = self.pending - airtime;
    }

    /// It may hand down another packet.
    pub fn may_queue(&self, station: usize) -> bool {
        self.limits.is_none_or(|AirtimeLimits { low, high, threshold }| {
            let pending = self.accounts[station].pending;
            pending < low || (self.pending < threshold && pending < high)
        })
    }

    /// What it may use, less what waits below (`ieee80211_sta_deficit`). Without limits nothing is estimated.
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

    /// Who is served in each of so many rounds, if every station always has packets and pays for what it sends.
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
        turns.settle(0, ms(1)); // 11 ms of its own, 28 in all
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
        turns.schedule(0, false, at(20)); // it stays and pays
        assert_eq!(turns.list.len(), 1);
        turns.begin_round();
        assert_eq!(turns.next(), Some(0));
        let before = turns.accounts[0].deficit;
        turns.charge(0, ms(3), at(101));
        assert_eq!(turns.accounts[0].deficit, before);
    }
}
