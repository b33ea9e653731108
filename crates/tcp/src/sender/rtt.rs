//! Round-trip time and retransmission timeout as Linux estimates them (`tcp_rtt_estimator`, `tcp_set_rto`).
//!
//! Unlike in RFC 6298, the floor applies to the variance term, not to the sum of smoothed RTT and variance term,
//! so RTO >= srtt + 200 ms by default. The variance term follows the largest deviation of each round trip, and
//! falls slowly.

use congestion::WindowedMax;
use units::{Duration, Time};

const RTO_INITIAL: Duration = Duration::from_secs(1);
/// Timeout after a handshake without an RTT sample (`TCP_TIMEOUT_FALLBACK`).
const RTO_FALLBACK: Duration = Duration::from_secs(3);
const RTO_MAX: Duration = Duration::from_secs(120);
/// Window of the minimum RTT, in milliseconds (sysctl tcp_min_rtt_wlen).
const MIN_RTT_WINDOW_MS: u32 = 300_000;

/// Estimator of RTT and RTO. Integer fields are in microseconds, with srtt scaled by 8 and the deviations by 4,
/// as in the kernel.
#[derive(Debug)]
pub(super) struct RttEstimator {
    srtt_8: i64,
    mdev_4: i64,
    mdev_max_4: i64,
    rttvar_4: i64,
    round_end: u32,
    rto: Duration,
    /// Floor of the variance term, in microseconds (`tcp_rto_min_us`).
    floor: i64,
    min: WindowedMax, // stores u64::MAX - RTT, whose maximum gives the minimum RTT
    /// The RTT sample that the last arrived segment added to the smoothed RTT, if any.
    last: Option<Duration>,
}

impl RttEstimator {
    /// An estimator without samples; `min_rto`: least difference between timeout and smoothed RTT.
    pub fn new(min_rto: Duration) -> RttEstimator {
        RttEstimator {
            srtt_8: 0,
            mdev_4: 0,
            mdev_max_4: 0,
            rttvar_4: 0,
            round_end: 0,
            rto: RTO_INITIAL,
            floor: min_rto.as_micros() as i64,
            min: WindowedMax::default(),
            last: None,
        }
    }

    /// Smoothed RTT; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        (self.srtt_8 > 0).then(|| Duration::from_nanos(self.srtt_8 as u64 * 125))
    }

    /// Smallest RTT of the last five minutes; `None` before the first sample.
    pub fn min(&self) -> Option<Duration> {
        let inverted = self.min.get();
        (inverted != 0).then(|| Duration::from_nanos(u64::MAX - inverted))
    }

    /// The retransmission timeout, including its back-off.
    pub fn rto(&self) -> Duration {
        self.rto
    }

    /// The retransmission timeout, doubled `times` times.
    pub fn backed_off(&self, times: u32) -> Duration {
        (self.rto * (1 << times.min(63))).min(RTO_MAX)
    }

    /// Set the timeout for a handshake that gave no RTT sample (RFC 6298 section 5.7; Linux `tcp_init_metrics`).
    pub fn fall_back(&mut self) {
        self.rto = RTO_FALLBACK;
    }

    /// Double the retransmission timeout after it has expired.
    pub fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(RTO_MAX);
    }

    /// The RTT sample that the last arrived segment added to the smoothed RTT, if any.
    pub fn last(&self) -> Option<Duration> {
        self.last
    }

    /// Forget the sample of the last arrived segment, because another segment has arrived.
    #[inline]
    pub fn forget_last(&mut self) {
        self.last = None;
    }

    /// Use RTT samples: `smooth` for the smoothed RTT, `newest` for the minimum. If the ACK is `delayed`, a `newest`
    /// above the minimum is ignored. `una` and `next` delimit round trips.
    #[inline(always)] // called for every ACK
    pub fn learn(
        &mut self,
        now: Time,
        smooth: Duration,
        newest: Duration,
        delayed: bool,
        una: u32,
        next: u32,
    ) {
        self.last = Some(smooth);
        if !(delayed && self.min().is_some_and(|min| newest > min)) {
            self.update_min(newest, now);
        }
        self.update(smooth, una, next);
    }

    /// Update the minimum with a sample.
    fn update_min(&mut self, rtt: Duration, now: Time) {
        self.min.update(MIN_RTT_WINDOW_MS, now.as_millis() as u32, u64::MAX - rtt.as_nanos().max(1));
    }

    /// Update smoothed RTT and timeout with a sample; `una` and `next` delimit round trips.
    fn update(&mut self, rtt: Duration, una: u32, next: u32) {
        let sample = rtt.as_micros() as i64;
        if self.srtt_8 == 0 {
            self.srtt_8 = sample * 8;
            self.mdev_4 = sample * 2;
            self.rttvar_4 = self.mdev_4.max(self.floor);
            self.mdev_max_4 = self.rttvar_4;
            self.round_end = next;
        } else {
            self.smooth(sample);
            if una > self.round_end {
                self.end_round(next);
            }
        }
        self.srtt_8 = self.srtt_8.max(1);
        let rto_us = ((self.srtt_8 >> 3) + self.rttvar_4) as u64;
        self.rto = Duration::from_millis(rto_us.div_ceil(1_000)).min(RTO_MAX);
    }

    fn smooth(&mut self, sample: i64) {
        let error = sample - (self.srtt_8 >> 3);
        self.srtt_8 += error;
        let mut change = error.abs() - (self.mdev_4 >> 2);
        if error < 0 && change > 0 {
            change >>= 3; // a falling RTT should not make the timeout jump
        }
        self.mdev_4 += change;
        if self.mdev_4 > self.mdev_max_4 {
            self.mdev_max_4 = self.mdev_4;
            self.rttvar_4 = self.rttvar_4.max(self.mdev_max_4);
        }
    }

    fn end_round(&mut self, next: u32) {
        if self.mdev_max_4 < self.rttvar_4 {
            self.rttvar_4 -= (self.rttvar_4 - self.mdev_max_4) / 4;
        }
        self.round_end = next;
        self.mdev_max_4 = self.floor;
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::MIN_RTO;
    use super::*;

    #[test]
    fn a_constant_rtt_of_100_ms_gives_an_rto_of_300_ms() {
        let mut rtt = RttEstimator::new(MIN_RTO);
        for round in 0..200 {
            rtt.update(Duration::from_millis(100), round * 10, round * 10 + 5);
        }
        assert_eq!(rtt.srtt(), Some(Duration::from_millis(100)));
        assert_eq!(rtt.rto(), Duration::from_millis(300));
    }

    #[test]
    fn the_timeout_is_longer_than_the_rtt_by_what_it_is_told() {
        let mut rtt = RttEstimator::new(Duration::from_secs(1));
        for round in 0..200 {
            rtt.update(Duration::from_millis(100), round * 10, round * 10 + 5);
        }
        assert_eq!(rtt.rto(), Duration::from_millis(1_100));
    }

    #[test]
    fn the_timeout_doubles_up_to_two_minutes() {
        let mut rtt = RttEstimator::new(MIN_RTO);
        rtt.back_off();
        assert_eq!(rtt.rto(), Duration::from_secs(2));
        for _ in 0..20 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Duration::from_secs(120));
    }

    #[test]
    fn the_minimum_is_the_smallest_sample() {
        let mut rtt = RttEstimator::new(MIN_RTO);
        for ms in [50, 40, 60] {
            rtt.update_min(Duration::from_millis(ms), Time::from_nanos(ms * 1_000_000));
        }
        assert_eq!(rtt.min(), Some(Duration::from_millis(40)));
    }
}
