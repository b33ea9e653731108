//! The fastest scheme that noise permits, as in ns-3's `IdealWifiManager`.

use super::{Choice, Outcome, RateControl};
use crate::wifi::scheme::Scheme;
use units::Time;

/// Maximum bit error probability of a scheme in use: `BerThreshold` of ns-3's `IdealWifiManager`. At this probability
/// one in eighty full packets is lost.
const MOST_BIT_ERRORS: f64 = 1e-6;

/// Rate control by the signal-to-noise ratio of the last PPDU. The sender in ns-3 learns the ratio only from answers.
/// Here the sender also learns the ratio of lost PPDUs, so that it can leave a scheme when the ratio falls.
pub struct Ideal {
    /// For each scheme, the lowest ratio in dB at which it may be used, and its index; the fastest scheme first.
    needs: Vec<(f64, usize)>,
    /// Ratio of the last PPDU in dB; infinite without noise.
    snr_db: f64,
}

impl Ideal {
    /// Create rate control over `schemes`. `snr_db` is the initial ratio; `None` means no noise.
    pub fn new(schemes: &[Scheme], snr_db: Option<f64>) -> Ideal {
        let mut order: Vec<usize> = (0..schemes.len()).collect();
        order.sort_by_key(|&n| std::cmp::Reverse(schemes[n].mode.rate()));
        let needs = order.into_iter().map(|n| (schemes[n].least_snr_db(MOST_BIT_ERRORS), n)).collect();
        Ideal { needs, snr_db: snr_db.unwrap_or(f64::INFINITY) }
    }
}

impl RateControl for Ideal {
    /// Return the fastest scheme that the ratio permits, or else the scheme that needs the lowest ratio.
    fn choose(&mut self, _now: Time) -> Choice {
        let allowed = self.needs.iter().find(|(needed, _)| *needed <= self.snr_db);
        let least = || self.needs.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        Choice { scheme: allowed.or_else(least).map_or(0, |found| found.1), alone: false }
    }

    fn report(&mut self, outcome: &Outcome, _now: Time) {
        if let Some(snr_db) = outcome.snr_db {
            self.snr_db = snr_db;
        }
    }
}
