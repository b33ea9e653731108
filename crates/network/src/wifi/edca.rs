//! Enhanced distributed channel access: the rules that decide when each device transmits (IEEE 802.11-2020, 10.23.2).
//!
//! Slot boundary `k` of an idle medium is SIFS plus `k` slots after the end of the last frame. A contender may transmit
//! from boundary AIFSN on. At each boundary, a contender with a counter of zero transmits; otherwise its counter
//! decreases by one (10.23.2.4). The time of the next transmission is therefore known as soon as the medium is idle.
//! The counters of all other contenders at the time of the next transmission are known, too. No event per slot is
//! needed. After a collision, slot boundaries differ between contenders.

use units::{Duration, Rng, Time};

/// Parameters of an access category: Table 9-155.
#[derive(Clone, Copy, Debug)]
pub struct Category {
    /// Arbitration interframe space number, in slots after SIFS.
    pub aifsn: u64,
    /// Smallest contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
}

/// Number of successive retries after which the contention window is reset: dot11ShortRetryLimit, as in the standard
/// (Annex C), Linux (`wiphy.retry_short`) and ns-3 (`FrameRetryLimit`).
const SHORT_RETRY_LIMIT: u64 = 7;

impl Category {
    /// Best effort: Table 9-155, with a TXOP limit of one frame exchange.
    pub const BEST_EFFORT: Category = Category { aifsn: 3, cw_min: 15, cw_max: 1_023 };
    /// Own choice: beacons have priority over all other frames and do not back off, as in ns-3. Section 10.3.4.2 leaves
    /// this choice to the access point.
    pub const BEACON: Category = Category { aifsn: 1, cw_min: 0, cw_max: 0 };
}

/// One access category of one device.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Index of the device. If two contenders of a device could transmit at the same time, the second contender
    /// waits.
    pub device: usize,
    /// Time from which the contender has something to send; [`Time::NEVER`] if it has nothing to send.
    pub ready: Time,
    category: Category,
    /// Contention window.
    cw: u32,
    /// Time of slot boundary 0 for this contender.
    origin: Time,
    slot: Duration,
    /// Backoff counter when the medium became idle.
    counter: u64,
    /// Whether the counter has been drawn since the last call of [`freeze`](Self::freeze).
    fresh: bool,
    /// Number of successive failures.
    failures: u64,
    rng: Rng,
}

impl Contender {
    /// Create a contender that has nothing to send and no backoff.
    pub fn new(device: usize, category: Category, slot: Duration, rng: Rng) -> Contender {
        Contender {
            device,
            ready: Time::NEVER,
            cw: category.cw_min,
            category,
            origin: Time::ZERO,
            slot,
            counter: 0,
            fresh: false,
            failures: 0,
            rng,
        }
    }

    /// Count slots from `origin`. `origin` is SIFS after the end of the preceding exchange, or SIFS after the
    /// additional wait that follows a failed exchange.
    pub fn count_from(&mut self, origin: Time) {
        self.origin = origin;
    }

    /// The time at which the contender transmits if the medium stays idle; `None` if it has nothing to send. A frame
    /// that becomes ready after the end of the backoff, on an idle medium, is sent at the next boundary: 10.23.2.2,
    /// 10.23.2.4.
    pub fn start(&self) -> Option<Time> {
        let counted = self.category.aifsn + self.counter;
        let boundary = match self.ready {
            Time::NEVER => return None,
            ready if ready <= self.origin => counted,
            ready => counted.max(ready.since(self.origin).as_nanos().div_ceil(self.slot.as_nanos())),
        };
        Some(self.origin + self.slot * boundary)
    }

    /// Stop the countdown because a device transmits at `start`: 10.23.2.4.
    pub fn freeze(&mut self, start: Time) {
        let boundary = start.since(self.origin).as_nanos() / self.slot.as_nanos();
        let counted = (boundary + 1).saturating_sub(self.category.aifsn);
        self.counter = self.counter.saturating_sub(counted);
        self.fresh = false;
    }

    /// Draw a backoff for a frame that becomes ready while the medium is busy: 10.23.2.2 a). If a backoff is still
    /// running, its counter is unchanged.
    pub fn becomes_ready_while_busy(&mut self) {
        if self.counter == 0 && !self.fresh {
            self.draw();
        }
    }

    /// Reset the contention window after a success: 10.23.2.2 b).
    pub fn succeed(&mut self) {
        (self.cw, self.failures) = (self.category.cw_min, 0);
        self.draw();
    }

    /// Double the contention window after a failure, or when another category of the device went first: 10.23.2.2 c),
    /// d). After the limit of successive retries, the window is reset.
    pub fn fail(&mut self) {
        self.failures += 1;
        self.cw = (2 * self.cw + 1).min(self.category.cw_max);
        if self.failures > SHORT_RETRY_LIMIT {
            (self.cw, self.failures) = (self.category.cw_min, 0);
        }
        self.draw();
    }

    /// Draw a random counter from 0 to CW: 10.3.4.3, 10.23.2.2.
    fn draw(&mut self) {
        self.counter = u64::from(self.rng.below(self.cw + 1));
        self.fresh = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contender whose slot boundary 0 is at 16 us.
    fn contender(counter: u64, ready: Time) -> Contender {
        let slot = Duration::from_micros(9);
        let mut made = Contender::new(0, Category::BEST_EFFORT, slot, Rng::stream(1, "test"));
        made.count_from(us(16));
        (made.counter, made.ready) = (counter, ready);
        made
    }

    fn us(n: u64) -> Time {
        Time::from_nanos(n * 1_000)
    }

    #[test]
    fn a_counter_of_zero_transmits_after_aifs() {
        let start = |counter, ready| contender(counter, ready).start();
        assert_eq!([start(0, Time::ZERO), start(4, Time::ZERO)], [Some(us(43)), Some(us(79))]);
        assert_eq!(start(4, Time::NEVER), None);
    }

    #[test]
    fn what_comes_to_an_idle_medium_goes_at_the_next_boundary() {
        let starts = [20, 61, 62, 70, 71].map(|at| contender(2, us(at)).start());
        assert_eq!(starts, [61, 61, 70, 70, 79].map(|at| Some(us(at))));
    }

    #[test]
    fn the_boundary_at_which_another_transmits_counts() {
        let left = |counter, start| {
            let mut it = contender(counter, Time::ZERO);
            it.freeze(us(start));
            it.counter
        };
        let found = [left(9, 43), left(9, 61), left(9, 69), left(9, 34), left(2, 97), left(9, 5)];
        assert_eq!(found, [8, 6, 6, 9, 0, 9]);
    }

    #[test]
    fn the_window_doubles_up_to_its_largest_and_success_resets_it() {
        let mut it = contender(0, Time::ZERO);
        let windows: Vec<u32> = (0..8)
            .map(|_| {
                it.fail();
                it.cw
            })
            .collect();
        assert_eq!(windows, [31, 63, 127, 255, 511, 1_023, 1_023, 15]); // after seven retries
        it.fail();
        it.succeed();
        assert_eq!(it.cw, 15);
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
