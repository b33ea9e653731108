//! When the timers of a host fire: at ticks of its clock, and the later they are due, the coarser
//! (Linux `kernel/time/timer.c`).

use units::{Duration, Time};

/// Default of the tick of a host's clock (`CONFIG_HZ_1000`).
pub(crate) const TICK: Duration = Duration::from_millis(1);
/// Ticks from which on a timer is in the second level of the wheel; each further level begins at eight times as many
/// (`LVL_START`).
const SECOND_LEVEL: u64 = 63;
/// Bits by which the times of a level are coarser than those of the level before (`LVL_CLK_SHIFT`).
const LEVEL_BITS: u32 = 3;
/// Levels above the first (`LVL_DEPTH` of a clock with more than 100 ticks per second, less 1).
const LEVELS_ABOVE: u32 = 8;

/// The timers of a host.
///
/// The clock ticks at multiples of `tick` (a jiffy). A timer counts whole ticks, rounded up, and never fires early: in the
/// first level of the wheel it fires at the tick after the one that it counted, and in each further level at a multiple
/// of eight times as many ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// Nanoseconds of a tick; 0: timers are exact.
    tick: u64,
}

impl Wheel {
    /// Timers of a host whose clock ticks every `tick`; `None`: exact timers.
    pub fn new(tick: Option<Duration>) -> Wheel {
        Wheel { tick: tick.map_or(0, Duration::as_nanos) }
    }

    /// When a timer fires that is set to `delay` now. The time `paced` until pacing allows a departure is added in whole
    /// ticks, rounded down (`tcp_reset_xmit_timer`, `tcp_pacing_delay`).
    #[inline]
    pub fn after(self, now: Time, delay: Duration, paced: Duration) -> Time {
        self.fires_at(now, delay, paced, 0)
    }

    /// The same for a timer that is set while a timer fires. The clock of the wheel is a tick ahead then, so that the level
    /// may be one lower (`__run_timers`).
    #[inline]
    pub fn after_firing(self, now: Time, delay: Duration, paced: Duration) -> Time {
        self.fires_at(now, delay, paced, 1)
    }

    #[inline]
    fn fires_at(self, now: Time, delay: Duration, paced: Duration, advance: u64) -> Time {
        if self.tick == 0 {
            return now + delay + paced;
        }
        let ticks = delay.as_nanos().div_ceil(self.tick) + paced.as_nanos() / self.tick;
        let expires = now.as_nanos() / self.tick + ticks;
        let away = ticks.saturating_sub(advance);
        let shift = LEVEL_BITS * level(away);
        Time::from_nanos((((expires >> shift) + 1) << shift) * self.tick)
    }
}

/// Level of the wheel, from 0, of a timer that is due after `ticks`.
#[inline]
fn level(ticks: u64) -> u32 {
    match ticks / SECOND_LEVEL {
        0 => 0,
        times => (times.ilog2() / LEVEL_BITS + 1).min(LEVELS_ABOVE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(tick_ms: Option<u64>, now_us: u64, delay_us: u64) -> u64 {
        let wheel = Wheel::new(tick_ms.map(Duration::from_millis));
        let now = Time::from_nanos(now_us * 1_000);
        wheel.after(now, Duration::from_micros(delay_us), Duration::ZERO).as_micros()
    }

    #[test]
    fn a_timer_fires_at_the_tick_after_the_one_it_counted() {
        assert_eq!(fires(None, 1_300, 5_200), 6_500);
        assert_eq!(fires(Some(1), 1_300, 5_200), 8_000);
        assert_eq!(fires(Some(4), 1_300, 5_200), 12_000);
        assert_eq!(fires(Some(1), 1_300, 0), 2_000);
    }

    #[test]
    fn each_level_begins_at_eight_times_as_many_ticks() {
        for above in 1..=8 {
            let from = 63 << (3 * (above - 1));
            assert_eq!([level(from - 1), level(from), level(from + 1)], [above - 1, above, above]);
        }
        assert_eq!(level(u64::MAX), 8);
    }

    #[test]
    fn later_timers_fire_at_multiples_of_8_and_64_ticks() {
        assert_eq!(fires(Some(1), 0, 62_000), 63_000);
        assert_eq!(fires(Some(1), 0, 63_000), 64_000);
        assert_eq!(fires(Some(1), 0, 200_000), 208_000);
        assert_eq!(fires(Some(1), 0, 503_000), 504_000);
        assert_eq!(fires(Some(1), 0, 504_000), 512_000);
        assert_eq!(fires(Some(1), 0, 1_000_000), 1_024_000);
    }

    #[test]
    fn a_timer_that_is_set_while_one_fires_may_be_in_a_lower_level() {
        let wheel = Wheel::new(Some(Duration::from_millis(1)));
        let fires = |ms| {
            let delay = Duration::from_millis(ms);
            [
                wheel.after(Time::ZERO, delay, Duration::ZERO),
                wheel.after_firing(Time::ZERO, delay, Duration::ZERO),
            ]
        };
        assert_eq!(fires(504).map(Time::as_millis), [512, 512]);
        assert_eq!(fires(63).map(Time::as_millis), [64, 64]);
        let late = Time::from_nanos(8_000_000);
        let delay = Duration::from_millis(504);
        assert_eq!(wheel.after(late, delay, Duration::ZERO).as_millis(), 576);
        assert_eq!(wheel.after_firing(late, delay, Duration::ZERO).as_millis(), 520);
    }

    #[test]
    fn the_time_that_pacing_adds_is_rounded_down() {
        let wheel = Wheel::new(Some(Duration::from_millis(1)));
        let fires = wheel.after(Time::ZERO, Duration::from_millis(5), Duration::from_micros(1_900));
        assert_eq!(fires.as_micros(), 7_000);
    }
}
