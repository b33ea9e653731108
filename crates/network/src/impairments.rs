//! What changes on a link while it is used.

use units::{Duration, Rng, Time};

/// Values that take over at given times, asked for in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Timetable<T> {
    next: Time,
    /// Last first.
    later: Vec<(Time, T)>,
}

impl<T> Timetable<T> {
    /// An timetable of entries in the order of time.
    pub fn new(mut entries: Vec<(Time, T)>) -> Timetable<T> {
        entries.reverse();
        Timetable { next: entries.last().map_or(Time::NEVER, |entry| entry.0), later: entries }
    }

    /// When the next value takes over.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// The values that have not been asked for.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.later.iter().map(|entry| &entry.1)
    }

    /// The value that takes over at or before `now`, if any has not been asked for.
    #[inline]
    pub fn due(&mut self, now: Time) -> Option<T> {
        if now < self.next { None } else { self.advance(now) }
    }

    #[cold]
    fn advance(&mut self, now: Time) -> Option<T> {
        let mut due = None;
        while let Some(value) = self.one_due(now) {
            due = Some(value);
        }
        due
    }

    /// The first value that takes over at or before `now` and has not been asked for.
    pub fn one_due(&mut self, now: Time) -> Option<T> {
        self.later.last().filter(|entry| entry.0 <= now)?;
        let due = self.later.pop()?.1;
        self.next = self.later.last().map_or(Time::NEVER, |entry| entry.0);
        Some(due)
    }
}

/// Every so many packets, one takes longer on the wire, and others overtake it.
#[derive(Clone, Copy, Debug)]
pub struct Detour {
    /// Packets per detour.
    pub every: u64,
    /// How much longer it takes.
    pub extra: Duration,
    /// No packet that leaves earlier takes it.
    pub from: Time,
    /// No packet that leaves at this time or later takes it.
    pub until: Time,
}

/// The detour, and how many packets have passed since the last one that took it.
#[derive(Clone, Debug)]
pub(crate) struct Detours {
    pub detour: Detour,
    pub seen: u64,
}

impl Detours {
    /// What the packet that leaves at `now` takes longer.
    pub fn extra(&mut self, now: Time) -> Duration {
        if now < self.detour.from || now >= self.detour.until {
            return Duration::ZERO;
        }
        self.seen = (self.seen + 1) % self.detour.every;
        if self.seen == 0 { self.detour.extra } else { Duration::ZERO }
    }
}

/// Some packets arrive twice (`netem duplicate`): the copy right behind the packet.
#[derive(Clone, Debug)]
pub struct Duplication {
    /// Probability in [0, 1].
    pub probability: f64,
    /// Where the dice come from.
    pub rng: Rng,
}

/// Extra delay that differs from packet to packet.
#[derive(Clone, Debug)]
pub struct Jitter {
    /// The largest extra delay, or with `normal` its standard deviation.
    pub spread: Duration,
    /// The absolute value of a normal variable instead of a uniform one.
    pub normal: bool,
    /// Packets may overtake each other; otherwise one that would waits for those before.
    pub reorders: bool,
    /// Where the dice come from.
    pub rng: Rng,
}

impl Jitter {
    /// What the next packet takes longer.
    pub(crate) fn extra(&mut self) -> Duration {
        let share = if self.normal { self.normal() } else { self.rng.unit() };
        Duration::from_nanos((self.spread.as_nanos() as f64 * share) as u64)
    }

    /// The absolute value of a standard normal variable (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.rng.unit()).ln()).sqrt();
        (radius * (std::f64::consts::TAU * self.rng.unit()).cos()).abs()
    }
}

/// The first multiple of `slot` at or after `time`.
pub(crate) fn slot_after(time: Time, slot: Duration) -> Time {
    Time::from_nanos(time.as_nanos().div_ceil(slot.as_nanos()).saturating_mul(slot.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_due_values_the_last_one_holds() {
        let at = Time::from_nanos;
        let mut timetable = Timetable::new(vec![(at(5), 'a'), (at(7), 'b'), (at(9), 'c')]);
        assert_eq!(timetable.due(at(4)), None);
        assert_eq!(timetable.due(at(8)), Some('b'));
        assert_eq!(timetable.due(at(8)), None);
        assert_eq!(timetable.due(at(9)), Some('c'));
        assert_eq!(timetable.due(Time::NEVER), None);
    }

    #[test]
    fn a_packet_waits_for_its_slot_unless_it_is_on_time() {
        let slot = Duration::from_nanos(10);
        assert_eq!([20, 21, 30].map(|t| slot_after(Time::from_nanos(t), slot).as_nanos()), [20, 30, 30]);
    }

    #[test]
    fn the_mean_of_jitter_is_half_its_range_or_080_of_its_deviation() {
        for (normal, mean) in [(false, 0.5), (true, (2.0 / std::f64::consts::PI).sqrt())] {
            let rng = Rng::stream(1, "jitter/test");
            let mut jitter = Jitter { spread: Duration::from_millis(1), normal, reorders: false, rng };
            let sum: f64 = (0..20_000).map(|_| jitter.extra().as_secs_f64() * 1e3).sum();
            assert!((sum / 2e4 - mean).abs() < 0.02, "{}", sum / 2e4);
        }
    }
}
