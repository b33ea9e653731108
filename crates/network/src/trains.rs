//! What short flows meet: packet trains recorded on a path that was idle before.
//!
//! CellReplay (Sentosa et al., NSDI 2025) records two things at once: when a saturated path delivers, and every so often a
//! train of packets sent into an idle one: the delay of its first packet, and how long after it each further packet
//! arrives. A radio gives more to those who ask for more, so that the two differ.

use units::{Duration, Time};

/// One recorded train.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Train {
    /// When it was sent, from the beginning of the recording on.
    pub at: Duration,
    /// One-way delay of its first packet.
    pub delay: Duration,
    /// How long after the first each packet arrived, in order, the first included.
    pub offsets: Vec<Duration>,
}

/// Recorded trains, and the one that is followed at present.
#[derive(Clone, Debug)]
pub struct Trains {
    recorded: Vec<Train>,
    /// How long nothing leaves before a packet begins a train.
    idle: Duration,
    repeats: bool,
    /// The run begins at this time of the recording.
    offset: Duration,
    present: Option<Present>,
}

/// A train that is followed.
#[derive(Clone, Copy, Debug)]
struct Present {
    train: usize,
    start: Time,
    /// Nothing leaves earlier, so that it does not overtake the train before.
    not_before: Time,
    delay: Duration,
    next: usize,
}

impl Trains {
    /// Trains in the order of time; the last one ends the recording, which begins again if it repeats. A packet begins a
    /// train when nothing has left for longer than `idle`.
    ///
    /// # Panics
    /// If there are fewer than two, they last no time, or one has no packet.
    pub fn new(recorded: Vec<Train>, idle: Duration, repeats: bool, offset: Duration) -> Trains {
        let lasts = recorded.last().is_some_and(|last| last.at > Duration::ZERO);
        let whole = recorded.iter().all(|train| !train.offsets.is_empty());
        assert!(recorded.len() > 1 && lasts && whole, "{} trains are no recording", recorded.len());
        Trains { recorded, idle, repeats, offset, present: None }
    }

    /// One-way delay of what leaves now.
    pub(crate) fn delay(&self) -> Duration {
        self.present.map_or(Duration::ZERO, |present| present.delay)
    }

    /// The shortest delay of all trains.
    pub(crate) fn min_delay(&self) -> Duration {
        self.recorded.iter().map(|train| train.delay).min().unwrap_or(Duration::ZERO)
    }

    /// A packet that reaches an empty queue at `now` begins a train, if the last one left at `left`.
    pub(crate) fn begins(&self, now: Time, left: Time) -> bool {
        self.present.is_none() || now > left + self.idle
    }

    /// Begins a train at `now`; what left before was gone at `left`.
    pub(crate) fn begin(&mut self, now: Time, left: Time) {
        let before = left + self.delay();
        let (train, delay) = self.at(now);
        let not_before = Time::from_nanos(before.as_nanos().saturating_sub(delay.as_nanos()));
        self.present = Some(Present { train, start: now, not_before, delay, next: 0 });
    }

    /// The next opportunity of the train, if one is left. The first is there at once.
    pub(crate) fn next(&self) -> Option<Time> {
        let present = self.present?;
        let offset = self.recorded[present.train].offsets.get(present.next)?;
        let offset = if present.next == 0 { Duration::ZERO } else { *offset };
        Some((present.start + offset).max(present.not_before))
    }

    /// Passes the next opportunity.
    pub(crate) fn advance(&mut self) {
        self.present.iter_mut().for_each(|present| present.next += 1);
    }

    /// The train that was sent last at a time, and the delay then: on the line between it and the next.
    fn at(&self, now: Time) -> (usize, Duration) {
        let period = self.recorded.last().map_or(1, |last| last.at.as_nanos());
        let phase = now.as_nanos() + self.offset.as_nanos();
        let phase = if self.repeats { phase % period } else { phase };
        let after = self.recorded.partition_point(|train| train.at.as_nanos() <= phase);
        let n = after.saturating_sub(1);
        let (this, Some(next)) = (&self.recorded[n], self.recorded.get(n + 1)) else {
            return (n, self.recorded[n].delay);
        };
        let (from, to) = (this.at.as_nanos(), next.at.as_nanos());
        let share = |delay: Duration, ns: u64| u128::from(delay.as_nanos()) * u128::from(ns);
        let passed = phase.saturating_sub(from).min(to - from);
        let between = (share(this.delay, to - from - passed) + share(next.delay, passed))
            / u128::from(to - from).max(1);
        (n, Duration::from_nanos(between.try_into().unwrap_or(u64::MAX)))
    }
}
