//! Packet trains recorded on an idle path, for packets of short flows.
//!
//! CellReplay (Sentosa et al., NSDI 2025) makes two recordings at the same time. The first recording has the times at
//! which a saturated path delivers packets. The second recording has the arrivals of periodic packet trains that are
//! sent into an idle path. A train consists of the delay of its first packet and the times of the other packets
//! relative to the first. The two recordings differ because a radio assigns more capacity to users that request more.

use units::{Duration, Time};

/// One recorded train.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Train {
    /// Time at which the train was sent, since the beginning of the recording.
    pub at: Duration,
    /// One-way delay of the first packet of the train.
    pub delay: Duration,
    /// Arrival times of the packets of the train relative to the first packet, in order, including the first.
    pub offsets: Vec<Duration>,
}

/// Recorded trains, and the train in use.
#[derive(Clone, Debug)]
pub struct Trains {
    recorded: Vec<Train>,
    /// A packet begins a train if no packet has departed for longer than this time.
    idle: Duration,
    repeats: bool,
    /// Time within the recording at which the run begins.
    offset: Duration,
    present: Option<Present>,
}

/// A train in use.
#[derive(Clone, Copy, Debug)]
struct Present {
    train: usize,
    start: Time,
    /// Time before which no packet leaves, so that no packet overtakes the preceding train.
    not_before: Time,
    delay: Duration,
    next: usize,
}

impl Trains {
    /// Create trains, in the order of time. The last train ends the recording, which then repeats if `repeats` is
    /// set. A packet begins a train when no packet has left for longer than `idle`.
    ///
    /// # Panics
    /// If there are fewer than two trains, the last train is at zero, or a train has no packet.
    pub fn new(recorded: Vec<Train>, idle: Duration, repeats: bool, offset: Duration) -> Trains {
        let lasts = recorded.last().is_some_and(|last| last.at > Duration::ZERO);
        let whole = recorded.iter().all(|train| !train.offsets.is_empty());
        assert!(
            recorded.len() > 1 && lasts && whole,
            "{} trains: at least two, each with a packet, must end after 0",
            recorded.len()
        );
        Trains { recorded, idle, repeats, offset, present: None }
    }

    /// One-way delay of packets that leave now.
    pub(crate) fn delay(&self) -> Duration {
        self.present.map_or(Duration::ZERO, |present| present.delay)
    }

    /// Minimum delay of all trains.
    pub(crate) fn min_delay(&self) -> Duration {
        self.recorded.iter().map(|train| train.delay).min().unwrap_or(Duration::ZERO)
    }

    /// Whether a packet that reaches an empty queue at `now` begins a train. The last packet left at `left`.
    pub(crate) fn begins(&self, now: Time, left: Time) -> bool {
        self.present.is_none() || now > left + self.idle
    }

    /// Begin a train at `now`. The last packet left at `left`.
    pub(crate) fn begin(&mut self, now: Time, left: Time) {
        let before = left + self.delay();
        let (train, delay) = self.at(now);
        let not_before = Time::from_nanos(before.as_nanos().saturating_sub(delay.as_nanos()));
        self.present = Some(Present { train, start: now, not_before, delay, next: 0 });
    }

    /// The next opportunity of the train, if any is left. The first opportunity is immediate.
    pub(crate) fn next(&self) -> Option<Time> {
        let present = self.present?;
        let offset = self.recorded[present.train].offsets.get(present.next)?;
        let offset = if present.next == 0 { Duration::ZERO } else { *offset };
        Some((present.start + offset).max(present.not_before))
    }

    /// Skip the next opportunity.
    pub(crate) fn advance(&mut self) {
        self.present.iter_mut().for_each(|present| present.next += 1);
    }

    /// Index of the last train sent at or before a time, and the delay at that time, interpolated linearly between
    /// trains.
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
