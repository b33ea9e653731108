//! Link adaptation: the choice of the scheme of a transport block, and whether the block is decoded.

use super::blocks::Scheme;
use crate::Snr;
use std::f64::consts::{LOG2_E, SQRT_2};
use units::{Duration, Rng, Time};

/// Gap between the capacity of a Gaussian channel and real codes and receivers, in dB. With this gap, the required
/// signal-to-noise ratios of the LTE schemes differ by at most 1 dB from link-level simulations, which give -6.6 to
/// 19.6 dB for CQI 1 to 15 (C. Mehlfuehrer et al., *Simulating the Long Term Evolution physical layer*, EUSIPCO 2009,
/// cited from memory).
const GAP_DB: f64 = 3.0;

/// Own choice: step of the outer loop after a block that was not decoded, in dB.
const STEP_DB: f64 = 0.5;
/// Own choice: maximum correction by the outer loop in either direction, in dB.
const MOST_DB: f64 = 10.0;

/// Algorithms that choose schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// A fixed scheme.
    Fixed,
    /// The highest scheme for the reported signal-to-noise ratio, corrected by the outcomes of blocks.
    Cqi,
}

/// Period and delay of reports of the signal-to-noise ratio.
#[derive(Clone, Copy, Debug)]
pub struct Reports {
    /// Time between two reports.
    pub period: Duration,
    /// Time from a report until it is used.
    pub delay: Duration,
}

/// Link adaptation of one direction of a user.
#[derive(Clone, Debug)]
pub struct Adaptation {
    law: Law,
    highest: u64,
    schemes: Vec<Scheme>,
    /// The current signal-to-noise ratio, and the last reported ratio that is in use.
    snr: Option<(Snr, Snr)>,
    reports: Reports,
    /// Probability that a try of a block is not decoded, independently of noise and of other tries.
    errors: f64,
    /// Target of the outer loop: share of failed blocks at which its steps up and its steps down cancel.
    target: f64,
    /// Correction that the outer loop adds to reports.
    offset_db: f64,
    mcs: u64,
    rng: Rng,
}

/// A try of a block.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// Index of the scheme of the block.
    pub mcs: u64,
    /// Size of the block.
    pub bytes: u64,
    /// Whether this is the first try of the block.
    pub first: bool,
    /// Sum of the signal-to-noise ratios (as power ratios) of earlier tries, which the receiver combines.
    pub heard: f64,
}

impl Adaptation {
    /// Create link adaptation over `schemes`. A fixed law uses the highest scheme.
    pub fn new(
        law: Law,
        schemes: Vec<Scheme>,
        snr: Option<Snr>,
        reports: Reports,
        errors: f64,
        target: f64,
        rng: Rng,
    ) -> Self {
        let highest = schemes.len() as u64 - 1;
        let snr = snr.map(|snr| (snr.clone(), snr));
        Adaptation { law, highest, schemes, snr, reports, errors, target, offset_db: 0.0, mcs: highest, rng }
    }

    /// Choose the scheme of a block that begins at `start`. Times never decrease.
    pub fn choose(&mut self, start: Time) -> u64 {
        let (Law::Cqi, Some((_, reported))) = (self.law, &mut self.snr) else { return self.mcs };
        let known = start.as_nanos().saturating_sub(self.reports.delay.as_nanos());
        let period = self.reports.period.as_nanos();
        let snr_db = reported.at(Time::from_nanos(known / period * period)) + self.offset_db;
        let within = self.schemes.partition_point(|scheme| least_snr_db(*scheme) <= snr_db);
        self.mcs = within.saturating_sub(1) as u64;
        self.mcs
    }

    /// Return whether a block that begins at `start` is decoded, and the new value of [`Sending::heard`] for the next
    /// try of the block.
    pub fn decodes(&mut self, start: Time, block: &Sending) -> (bool, f64) {
        let heard = block.heard + self.snr.as_mut().map_or(0.0, |(snr, _)| 10f64.powf(snr.at(start) / 10.0));
        let noise = if self.snr.is_some() {
            fails(heard, self.schemes[block.mcs as usize], block.bytes)
        } else {
            0.0
        };
        let failing = 1.0 - (1.0 - self.errors) * (1.0 - noise);
        let decoded = failing == 0.0 || !self.rng.chance(failing);
        if block.first && self.law == Law::Cqi {
            self.correct(decoded);
        }
        (decoded, heard)
    }

    /// Adjust the correction of the outer loop. The steps up and the steps down cancel if the share of failed blocks
    /// equals the target. The correction does not rise while the highest scheme is in use, nor fall while the lowest
    /// scheme is in use.
    fn correct(&mut self, decoded: bool) {
        let step = match decoded {
            true if self.mcs < self.highest => STEP_DB * self.target / (1.0 - self.target),
            false if self.mcs > 0 => -STEP_DB,
            _ => 0.0,
        };
        self.offset_db = (self.offset_db + step).clamp(-MOST_DB, MOST_DB);
    }

    /// Index of the scheme that was last chosen.
    pub fn mcs(&self) -> u64 {
        self.mcs
    }

    /// Signal-to-noise ratio at the last block in dB; `None` without noise.
    pub fn snr_db(&self) -> Option<f64> {
        self.snr.as_ref().map(|(snr, _)| snr.latest())
    }

    /// Whether the scheme is chosen from reports of the signal-to-noise ratio.
    pub fn chooses(&self) -> bool {
        self.law == Law::Cqi
    }
}

/// Signal-to-noise ratio in dB at which half of the code blocks of a scheme are decoded.
fn least_snr_db(scheme: Scheme) -> f64 {
    10.0 * (scheme.efficiency.exp2() - 1.0).log10() + GAP_DB
}

/// Probability that a block is not decoded. A block is decoded if all of its code blocks are decoded. The error
/// probability of a code block follows the normal approximation for codes of finite length (Y. Polyanskiy, H. Poor and
/// S. Verdu, IEEE Trans. Inf. Theory 56(5), 2010, eq. 291).
fn fails(ratio: f64, scheme: Scheme, bytes: u64) -> f64 {
    let snr = ratio / 10f64.powf(GAP_DB / 10.0);
    let code_blocks = (8 * bytes).div_ceil(scheme.code_block).max(1) as f64;
    let symbols = 8.0 * bytes as f64 / code_blocks / scheme.efficiency;
    let dispersion = (1.0 - (1.0 + snr).powi(-2)) * LOG2_E * LOG2_E;
    let distance = ((1.0 + snr).log2() - scheme.efficiency) * (symbols / dispersion).sqrt();
    let one = libm::erfc(distance / SQRT_2) / 2.0;
    1.0 - (1.0 - one).powf(code_blocks)
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{Generation, Lte, Nr};
    use super::*;

    fn schemes() -> Vec<Scheme> {
        (0..Lte::SCHEMES).map(Lte::scheme).collect()
    }

    #[test]
    fn schemes_need_what_link_level_simulations_say() {
        // Linear fit to the simulations: CQI 1 needs -6.7 dB, and every further CQI needs 1.95 dB more.
        for (step, mcs) in [0, 2, 4, 6, 8, 11, 13, 15, 18, 20, 22, 24, 26, 28].into_iter().enumerate() {
            let said = -6.7 + 1.95 * (step + 1) as f64;
            let found = least_snr_db(Lte::scheme(mcs));
            assert!((found - said).abs() < 1.2, "MCS {mcs}: {found} of {said}");
        }
    }

    #[test]
    fn a_block_fails_below_its_ratio_and_not_above_it() {
        for mcs in 0..Nr::SCHEMES {
            let at = |db: f64| {
                fails(10f64.powf((least_snr_db(Nr::scheme(mcs)) + db) / 10.0), Nr::scheme(mcs), 5_000)
            };
            assert!(at(-1.0) > 0.99 && at(1.0) < 0.01, "MCS {mcs}: {} {}", at(-1.0), at(1.0));
        }
    }

    #[test]
    fn the_outer_loop_lets_the_target_fail() {
        let rng = |name| Rng::stream(3, name);
        let snr = Snr::new(12.0, 3.0, Duration::from_millis(200), rng("snr"));
        let reports = Reports { period: Duration::from_millis(5), delay: Duration::from_millis(6) };
        let mut it = Adaptation::new(Law::Cqi, schemes(), Some(snr), reports, 0.0, 0.1, rng("errors"));
        let failed = (0..100_000u64).filter(|&n| {
            let start = Time::from_nanos(n * 1_000_000);
            let mcs = it.choose(start);
            !it.decodes(start, &Sending { mcs, bytes: 4_000, first: true, heard: 0.0 }).0
        });
        let share = failed.count() as f64 / 1e5;
        assert!((share - 0.1).abs() < 0.005, "{share}");
    }
}
