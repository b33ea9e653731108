//! Gaps: times in which a user neither sends nor receives, such as a handover. Waiting packets are sent after the
//! gap.

use units::{Duration, Time};

/// A gap, which occurs once or periodically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Start of the first gap.
    pub at: Time,
    /// Duration of the gap.
    pub length: Duration,
    /// Period; zero: the gap does not repeat.
    pub every: Duration,
}

impl Gap {
    /// The end of the gap that contains a time.
    fn end(&self, time: Time) -> Option<Time> {
        let passed = time.since(self.at).as_nanos();
        let period = self.every.as_nanos();
        let before = passed.checked_div(period).unwrap_or(0) * period;
        let begins = self.at + Duration::from_nanos(before);
        (time >= begins && time < begins + self.length).then_some(begins + self.length)
    }
}

/// The gaps of a user.
#[derive(Clone, Debug, Default)]
pub struct Gaps(pub Vec<Gap>);

impl Gaps {
    /// The first time at or after `time` that is outside all gaps.
    pub fn after(&self, mut time: Time) -> Time {
        if time == Time::NEVER {
            return time;
        }
        while let Some(end) = self.0.iter().find_map(|gap| gap.end(time)) {
            time = end;
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    fn gap(at: u64, length: u64, every: u64) -> Gap {
        let [length, every] = [length, every].map(Duration::from_millis);
        Gap { at: ms(at), length, every }
    }

    #[test]
    fn what_falls_into_a_gap_goes_on_at_its_end() {
        let gaps = Gaps(vec![gap(100, 50, 0), gap(150, 10, 1_000)]);
        let found = [0, 99, 100, 149, 155, 160, 1_149, 1_150, 2_159, 2_160].map(|at| gaps.after(ms(at)));
        assert_eq!(found, [0, 99, 160, 160, 160, 160, 1_149, 1_160, 2_160, 2_160].map(ms));
        assert_eq!(gaps.after(Time::NEVER), Time::NEVER);
    }
}
