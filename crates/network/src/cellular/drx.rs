//! Discontinuous reception: an idle user listens only in a window of each cycle.
//!
//! Source: TS 36.321 5.7 and TS 38.321 5.7. The long and the short cycle of the specification are modelled as a single
//! cycle. A user that has data to send wakes up immediately.

use units::{Duration, Rng, Time};

/// Times at which an idle user listens.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Time for which a user keeps listening after the last new block in either direction.
    pub inactivity: Duration,
    /// Time from the start of one window to the start of the next; zero: the user always listens.
    pub cycle: Duration,
    /// Duration of a window.
    pub on: Duration,
}

/// State of a user's receiver.
#[derive(Clone, Debug)]
pub struct Drx {
    rules: Rules,
    /// Start of the user's first window, nanoseconds.
    phase: u64,
    /// Time until which the user listens also outside its windows.
    awake_until: Time,
}

impl Drx {
    /// Create the state of a user. The windows of each user begin at a random time.
    pub fn new(rules: Rules, mut rng: Rng) -> Drx {
        Drx { rules, phase: rng.next_u64() % rules.cycle.as_nanos().max(1), awake_until: Time::ZERO }
    }

    /// Record a new block in either direction.
    pub fn active(&mut self, start: Time) {
        self.awake_until = self.awake_until.max(start + self.rules.inactivity);
    }

    /// The first time at or after `time` at which the user listens, unless the user is woken earlier.
    pub fn after(&self, time: Time) -> Time {
        let cycle = self.rules.cycle.as_nanos();
        if cycle == 0 || time <= self.awake_until || time == Time::NEVER {
            return time;
        }
        let passed = (time.as_nanos() + cycle - self.phase) % cycle;
        if passed < self.rules.on.as_nanos() { time } else { time + Duration::from_nanos(cycle - passed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    #[test]
    fn an_idle_user_listens_in_windows() {
        let [inactivity, cycle, on] = [100, 40, 10].map(Duration::from_millis);
        let mut it = Drx::new(Rules { inactivity, cycle, on }, Rng::stream(1, "drx"));
        it.phase = 5_000_000;
        let found = |it: &Drx| [0, 4, 5, 14, 15, 44, 46, 120].map(|at| it.after(ms(at)));
        assert_eq!(found(&it), [0, 5, 5, 14, 45, 45, 46, 125].map(ms));
        it.active(ms(10));
        assert_eq!(found(&it), [0, 4, 5, 14, 15, 44, 46, 125].map(ms));
        assert_eq!(it.after(Time::NEVER), Time::NEVER);
    }
}
