//! Values that change at given times.

use units::Time;

/// Values that each take effect at a given time.
#[derive(Clone, Debug)]
pub(crate) struct Timetable<T> {
    next: Time,
    /// Entries that have not been taken, in reverse order of time.
    later: Vec<(Time, T)>,
}

impl<T> Timetable<T> {
    /// Create a timetable from entries in the order of time.
    pub fn new(mut entries: Vec<(Time, T)>) -> Timetable<T> {
        entries.reverse();
        Timetable { next: entries.last().map_or(Time::NEVER, |entry| entry.0), later: entries }
    }

    /// Time at which the next value takes effect.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Values that have not been taken.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.later.iter().map(|entry| &entry.1)
    }

    /// Take all values that take effect at or before `now`, and return the last of them.
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

    /// Take the first value that takes effect at or before `now`.
    pub fn one_due(&mut self, now: Time) -> Option<T> {
        self.later.last().filter(|entry| entry.0 <= now)?;
        let due = self.later.pop()?.1;
        self.next = self.later.last().map_or(Time::NEVER, |entry| entry.0);
        Some(due)
    }
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
}
