//! Interarrival jitter (RFC 3550): difference of the one-way delay from one arrival to the next.

use units::Duration;

/// Interarrival jitter (RFC 3550, section 6.4.1): the difference of the one-way delay from one arrival to the next,
/// smoothed with a gain of 1/16. Results contain the mean of the jitter over all measured arrivals.
#[derive(Clone, Debug, Default)]
pub struct InterarrivalJitter {
    last: Option<Duration>,
    smoothed_s: f64,
    sum_s: f64,
    count: u64,
}

impl InterarrivalJitter {
    /// Adds an arrival with this one-way delay. The arrival counts in the mean if `measured`.
    pub fn see(&mut self, on_the_way: Duration, measured: bool) {
        let Some(last) = self.last.replace(on_the_way) else { return };
        let difference = last.max(on_the_way) - last.min(on_the_way);
        self.smoothed_s += (difference.as_secs_f64() - self.smoothed_s) / 16.0;
        if measured {
            self.sum_s += self.smoothed_s;
            self.count += 1;
        }
    }

    /// Mean in seconds over measured arrivals; NaN with fewer than two arrivals.
    pub fn mean_s(&self) -> f64 {
        self.sum_s / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_follows_the_formula_of_the_rfc() {
        let mut jitter = InterarrivalJitter::default();
        assert!(jitter.mean_s().is_nan());
        [10, 26, 26].into_iter().for_each(|ms| jitter.see(Duration::from_millis(ms), true));
        // The jitter is 16 ms / 16 = 1 ms, then 15/16 of 1 ms.
        assert!((jitter.mean_s() - (1e-3 + 0.9375e-3) / 2.0).abs() < 1e-12, "{}", jitter.mean_s());
    }

    #[test]
    fn a_constant_time_on_the_way_has_no_jitter() {
        let mut jitter = InterarrivalJitter::default();
        (0..100).for_each(|_| jitter.see(Duration::from_millis(30), true));
        assert_eq!(jitter.mean_s(), 0.0);
    }
}
