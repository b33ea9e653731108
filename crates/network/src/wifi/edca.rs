//! Enhanced distributed channel access: who transmits when (IEEE 802.11-2020, 10.23.2).
//!
//! All contenders of a cell count the same slots. Slot boundary `k` of an idle medium lies SIFS and `k` slots behind its
//! last frame; a contender may transmit from boundary AIFSN on. At each boundary from there on it transmits if its counter
//! is zero, else it counts down by one (10.23.2.4). So the boundary at which it transmits is known as soon as the medium
//! is idle, and what others have counted down when one transmits follows: no event per slot.

use units::{Duration, Rng, Time};

/// Parameters of an access category: Table 9-155.
#[derive(Clone, Copy, Debug)]
pub struct Category {
    /// Arbitration interframe space number: slots behind SIFS.
    pub aifsn: u64,
    /// Least contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
}

impl Category {
    /// Best effort: Table 9-155, with a TXOP limit of one frame exchange.
    pub const BEST_EFFORT: Category = Category { aifsn: 3, cw_min: 15, cw_max: 1_023 };
    /// Own: beacons go before anything else and do not back off, as in ns-3 (10.3.4.2 leaves it to the access point).
    pub const BEACON: Category = Category { aifsn: 1, cw_min: 0, cw_max: 0 };
}

/// The slot boundaries of an idle medium.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// Boundary 0.
    pub origin: Time,
    /// Length of a slot.
    pub slot: Duration,
}

impl Slots {
    /// When a boundary comes.
    pub fn time(&self, boundary: u64) -> Time {
        self.origin + self.slot * boundary
    }

    /// The first boundary at or behind `time`.
    fn first(&self, time: Time) -> u64 {
        time.since(self.origin).as_nanos().div_ceil(self.slot.as_nanos())
    }
}

/// One access category of one device.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The device, by number. Of two contenders of one device that may transmit at once the second has to wait.
    pub device: usize,
    /// From when on it has something to send; never if it has nothing.
    pub ready: Time,
    category: Category,
    /// Contention window.
    cw: u32,
    /// Its counter when the medium became idle.
    counter: u64,
    /// It has drawn its counter for the exchange that is going on or was the last.
    fresh: bool,
    /// Failures in a row.
    failures: u64,
    rng: Rng,
}

impl Contender {
    /// One that has nothing to send and may transmit at once.
    pub fn new(device: usize, category: Category, rng: Rng) -> Contender {
        let cw = category.cw_min;
        Contender { device, ready: Time::NEVER, category, cw, counter: 0, fresh: false, failures: 0, rng }
    }

    /// The boundary at which it transmits if the medium stays idle; none if it has nothing to send. What becomes ready
    /// while the medium is idle and no backoff is left goes at the next boundary: 10.23.2.2, 10.23.2.4.
    pub fn boundary(&self, slots: &Slots) -> Option<u64> {
        let counted = self.category.aifsn + self.counter;
        match self.ready {
            Time::NEVER => None,
            ready if ready <= slots.origin => Some(counted),
            ready => Some(counted.max(slots.first(ready))),
        }
    }

    /// A device transmits at a boundary: what has been counted by then, 10.23.2.4.
    pub fn freeze(&mut self, boundary: u64) {
        let counted = (boundary + 1).saturating_sub(self.category.aifsn);
        self.counter = self.counter.saturating_sub(counted);
        self.fresh = false;
    }

    /// It gets something to send while the medium is busy: 10.23.2.2 a). A counter that is still running stays.
    pub fn becomes_ready_while_busy(&mut self) {
        if self.counter == 0 && !self.fresh {
            self.draw();
        }
    }

    /// Its transmission succeeded: 10.23.2.2 b).
    pub fn succeed(&mut self) {
        (self.cw, self.failures) = (self.category.cw_min, 0);
        self.draw();
    }

    /// Its transmission failed, or another category of its device went first: 10.23.2.2 c), d). After so many `retries` the
    /// window is the least one again; it never is with 0.
    pub fn fail(&mut self, retries: u64) {
        self.failures += 1;
        self.cw = (2 * self.cw + 1).min(self.category.cw_max);
        if retries > 0 && self.failures > retries {
            (self.cw, self.failures) = (self.category.cw_min, 0);
        }
        self.draw();
    }

    /// A random counter, 0 to CW: 10.3.4.3, 10.23.2.2.
    fn draw(&mut self) {
        self.counter = u64::from(self.rng.below(self.cw + 1));
        self.fresh = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOTS: Slots = Slots { origin: Time::from_nanos(16_000), slot: Duration::from_micros(9) };

    fn contender(counter: u64, ready: Time) -> Contender {
        let mut made = Contender::new(0, Category::BEST_EFFORT, Rng::stream(1, "test"));
        (made.counter, made.ready) = (counter, ready);
        made
    }

    #[test]
    fn a_counter_of_zero_transmits_after_aifs() {
        assert_eq!(SLOTS.time(contender(0, Time::ZERO).boundary(&SLOTS).unwrap()).as_micros(), 43);
        assert_eq!(contender(4, Time::ZERO).boundary(&SLOTS), Some(7));
        assert_eq!(contender(4, Time::NEVER).boundary(&SLOTS), None);
    }

    #[test]
    fn what_comes_to_an_idle_medium_goes_at_the_next_boundary() {
        let at = |us: u64| contender(2, Time::from_nanos(us * 1_000)).boundary(&SLOTS);
        assert_eq!([at(20), at(61), at(62), at(70), at(71)], [Some(5), Some(5), Some(6), Some(6), Some(7)]);
    }

    #[test]
    fn the_boundary_at_which_another_transmits_counts() {
        let left = |counter, boundary| {
            let mut it = contender(counter, Time::ZERO);
            it.freeze(boundary);
            it.counter
        };
        assert_eq!([left(9, 3), left(9, 5), left(9, 2), left(2, 9)], [8, 6, 9, 0]);
    }

    #[test]
    fn the_window_doubles_up_to_its_largest_and_success_resets_it() {
        let mut it = contender(0, Time::ZERO);
        let windows: Vec<u32> = (0..8)
            .map(|_| {
                it.fail(0);
                it.cw
            })
            .collect();
        assert_eq!(windows, [31, 63, 127, 255, 511, 1_023, 1_023, 1_023]);
        it.succeed();
        assert_eq!(it.cw, 15);
        (0..3).for_each(|_| it.fail(2));
        assert_eq!(it.cw, 15); // the third attempt was the last
    }

    #[test]
    fn a_backoff_is_drawn_only_if_none_is_left() {
        let drawn = |mut it: Contender| {
            it.becomes_ready_while_busy();
            it.fresh
        };
        assert!(drawn(contender(0, Time::NEVER)));
        assert!(!drawn(contender(5, Time::NEVER)));
    }
}
