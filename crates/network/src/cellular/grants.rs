//! Grants: permissions that limit how much a user may send.
//!
//! A user whose queue was empty sends a scheduling request at its next opportunity, and gets a small grant after a
//! delay. Every block that the user sends reports how many bytes still wait (buffer status report). The base station
//! grants the reported bytes after the same delay as the first grant: TS 36.321 and TS 38.321, 5.4.1, 5.4.4 and 5.4.5.

use std::collections::VecDeque;
use units::{Duration, Rng, Time};

/// Times of requests and grants, and sizes of grants.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Time between two opportunities of a user to send a request.
    pub period: Duration,
    /// Time from a request or a report until the granted bytes may be sent.
    pub delay: Duration,
    /// Bytes granted in response to a request, which does not report how many bytes wait.
    pub first_bytes: u64,
    /// Smallest useful grant in bytes: a smaller grant has room for headers only.
    pub least_bytes: u64,
}

/// The grants of a user.
#[derive(Clone, Debug)]
pub struct Grants {
    rules: Rules,
    /// Time of the user's first opportunity.
    phase: Duration,
    /// Bytes sent so far.
    sent: u64,
    /// Total bytes that the user has been permitted to send since the start of the run.
    granted: u64,
    /// Grants that are under way: time from which each grant is valid, and the value of `granted` from then on.
    coming: VecDeque<(Time, u64)>,
}

impl Grants {
    /// Create the state of a user without grants. The opportunities of each user begin at a random time.
    pub fn new(rules: Rules, mut rng: Rng) -> Grants {
        let phase = Duration::from_nanos(rng.next_u64() % rules.period.as_nanos().max(1));
        Grants { rules, phase, sent: 0, granted: 0, coming: VecDeque::new() }
    }

    /// Request a grant for a packet that has arrived, unless a grant is valid or under way.
    pub fn arrived(&mut self, now: Time) {
        if self.coming.is_empty() && self.left() == 0 {
            let until = self.sent + self.rules.first_bytes;
            self.coming.push_back((self.opportunity(now) + self.rules.delay, until));
        }
    }

    /// The first opportunity after a time.
    fn opportunity(&self, now: Time) -> Time {
        let (period, phase) = (self.rules.period.as_nanos().max(1), self.phase.as_nanos());
        let passed = (now.as_nanos() + period - phase) / period; // opportunities up to now
        Time::from_nanos(passed * period + phase)
    }

    /// Time from which the user may send.
    pub fn ready(&self) -> Time {
        if self.left() > 0 { Time::ZERO } else { self.coming.front().map_or(Time::NEVER, |grant| grant.0) }
    }

    /// Bytes that the user may send in a slot that begins at `start`.
    pub fn room(&mut self, start: Time) -> u64 {
        while let Some(&(_, until)) = self.coming.front().filter(|grant| grant.0 <= start) {
            self.granted = self.granted.max(until);
            self.coming.pop_front();
        }
        self.left()
    }

    /// Bytes that the valid grants still permit the user to send.
    fn left(&self) -> u64 {
        let left = self.granted.saturating_sub(self.sent);
        if left < self.rules.least_bytes { 0 } else { left }
    }

    /// Record that the user sends `bytes` bytes in a slot and reports that `remain` bytes wait.
    pub fn sends(&mut self, bytes: u64, remain: u64, start: Time) {
        self.sent += bytes;
        let sent = self.sent;
        self.coming.retain(|grant| grant.1 >= sent + self.rules.least_bytes);
        if remain > 0 {
            self.coming.push_back((start + self.rules.delay, sent + remain));
        } else {
            self.granted = sent;
            self.coming.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    fn grants() -> Grants {
        let rules = Rules {
            period: Duration::from_millis(10),
            delay: Duration::from_millis(4),
            first_bytes: 100,
            least_bytes: 6,
        };
        let mut it = Grants::new(rules, Rng::stream(1, "test"));
        it.phase = Duration::from_millis(3);
        it
    }

    #[test]
    fn an_empty_user_asks_at_its_next_opportunity() {
        for (at, asks) in [(0, 3), (2, 3), (3, 13), (12, 13), (13, 23)] {
            let mut it = grants();
            it.arrived(ms(at));
            assert_eq!(it.ready(), ms(asks + 4), "{at}");
        }
    }

    #[test]
    fn what_is_reported_is_granted_a_delay_later() {
        let mut it = grants();
        it.arrived(ms(0));
        it.arrived(ms(1));
        assert_eq!((it.room(ms(6)), it.room(ms(7))), (0, 100));
        it.sends(100, 5_000, ms(7));
        assert_eq!((it.ready(), it.room(ms(10)), it.room(ms(11))), (ms(11), 0, 5_000));
        it.sends(5_000, 0, ms(11));
        assert_eq!((it.ready(), it.room(ms(30))), (Time::NEVER, 0));
        it.arrived(ms(31));
        assert_eq!(it.ready(), ms(37));
    }
}
