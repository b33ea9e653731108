//! The fastest scheme that noise allows, as ns-3's `IdealWifiManager` chooses it.

use super::{Choice, Outcome, RateControl};
use crate::wifi::scheme::Scheme;
use units::Time;

/// No more than this share of bits may be wrong: `BerThreshold` of ns-3's `IdealWifiManager`. Of full packets one in eighty
/// is lost then.
const MOST_BIT_ERRORS: f64 = 1e-6;

/// Rates by the signal-to-noise ratio of the last PPDU. ns-3 learns it from answers only; here the sender knows it also of
/// what was lost, so that it is not stuck when the ratio falls.
pub struct Ideal {
    /// The least ratio that each scheme needs, the fastest first.
    needs: Vec<(f64, usize)>,
    /// Where noise takes nothing: infinite.
    snr_db: f64,
}

impl Ideal {
    /// Over these schemes, beginning with a ratio; none: no noise.
    pub fn new(schemes: &[Scheme], snr_db: Option<f64>) -> Ideal {
        let mut order: Vec<usize> = (0..schemes.len()).collect();
        order.sort_by_key(|&n| std::cmp::Reverse(schemes[n].mode.rate()));
        let needs = order.into_iter().map(|n| (schemes[n].least_snr_db(MOST_BIT_ERRORS), n)).collect();
        Ideal { needs, snr_db: snr_db.unwrap_or(f64::INFINITY) }
    }
}

impl RateControl for Ideal {
    /// Where none is good enough, the one that needs least.
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
