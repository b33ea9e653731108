//! Errors caused by noise: the probability that an MPDU is received, by modulation, code and signal-to-noise ratio.
//!
//! G. Pei and T. Henderson, *Validation of OFDM error rate model in ns-3*, Boeing, 2010 (`NistErrorRateModel`): bits of
//! Gray-coded square constellations in white noise, then the union bound of the convolutional code of OFDM with hard
//! decisions. Soft decisions and LDPC would gain 2 to 3 dB. Fading within a channel would cost part of this gain. The
//! model has neither soft decisions, nor LDPC, nor fading.

use super::phy::Coding;

/// Distance spectra: numerator of the code rate, smallest distance, and the number of wrong bits on all paths of each
/// distance through the trellis. The code has the generators 133 and 171 (17.3.5.6), punctured as in 17.3.5.6 and
/// 19.3.11.6. A test derives these numbers. Terms of larger distances would have no effect at any signal-to-noise ratio
/// at which packets arrive.
const SPECTRA: [(u64, i32, &[f64]); 4] = [
    (1, 10, &[36.0, 0.0, 211.0, 0.0, 1_404.0, 0.0, 11_633.0, 0.0, 77_433.0, 0.0, 502_690.0]),
    (2, 6, &[3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0]),
    (3, 5, &[42.0, 201.0, 1_492.0, 10_469.0, 62_935.0, 379_644.0, 2_253_373.0]),
    (5, 4, &[92.0, 528.0, 8_694.0, 79_453.0, 792_114.0, 7_375_573.0]),
];

impl Coding {
    /// Bit error probability before decoding. Proakis, *Digital Communications*, 5.2: nearest neighbours of a square
    /// constellation. The formula is exact for one and two bits per symbol.
    fn raw(self, snr: f64) -> f64 {
        if self.bits == 1 {
            return libm::erfc(snr.sqrt()) / 2.0;
        }
        let points = f64::from(1u32 << self.bits);
        let neighbours = 2.0 / self.bits as f64 * (1.0 - 1.0 / points.sqrt());
        neighbours * libm::erfc((1.5 * snr / (points - 1.0)).sqrt())
    }

    /// Bit error probability after decoding, by the union bound: Pei and Henderson, section 3.2.
    pub fn bit_error(self, snr: f64) -> f64 {
        let raw = self.raw(snr);
        let base = (4.0 * raw * (1.0 - raw)).sqrt();
        let Some(&(part, least, weights)) = SPECTRA.iter().find(|found| found.0 == self.part) else {
            return raw;
        };
        let sum: f64 = (least..).zip(weights).map(|(distance, weight)| weight * base.powi(distance)).sum();
        (sum / (2.0 * part as f64)).min(0.5)
    }

    /// The lowest signal-to-noise ratio in dB, to a hundredth of a dB, at which the bit error probability is at most
    /// `bit_error`.
    pub fn least_snr_db(self, bit_error: f64) -> f64 {
        let (mut low, mut high) = (-20.0, 80.0);
        while high - low > 0.01 {
            let middle = (low + high) / 2.0;
            if self.bit_error(ratio(middle)) > bit_error { low = middle } else { high = middle }
        }
        high
    }
}

/// Convert a ratio from decibels to a power ratio.
pub fn ratio(db: f64) -> f64 {
    10f64.powf(db / 10.0)
}

/// Probability that `bytes` bytes arrive without an error, if bit errors are independent and have this probability.
pub fn arrives(bit_error: f64, bytes: u64) -> f64 {
    (8.0 * bytes as f64 * (-bit_error).ln_1p()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Generators of the code, newest bit first: 17.3.5.6.
    const GENERATORS: [u32; 2] = [0o133, 0o171];

    /// For each input bit, which of the two outputs are sent, by code rate: 17.3.5.6, 19.3.11.6.
    fn kept(part: u64) -> &'static [[usize; 2]] {
        match part {
            1 => &[[1, 1]],
            2 => &[[1, 1], [1, 0]],
            3 => &[[1, 1], [1, 0], [0, 1]],
            _ => &[[1, 1], [1, 0], [0, 1], [1, 0], [0, 1]],
        }
    }

    /// Number of wrong bits by distance over all paths that leave the zero state at any position of the puncturing
    /// pattern and return to it at the end of a pattern. As in the literature, a punctured code is treated as a code
    /// over whole patterns.
    fn spectrum(part: u64, least: usize, terms: usize) -> Vec<f64> {
        let pattern = kept(part);
        let most = least + terms - 1;
        let mut found = vec![0.0; most + 1];
        for first in 0..pattern.len() {
            // Number of paths and number of their wrong bits, by state and distance.
            let mut paths = vec![vec![(0.0, 0.0); most + 1]; 64];
            let mut begun = false;
            for position in (first..).take(400) {
                let mut next = vec![vec![(0.0, 0.0); most + 1]; 64];
                let mut step = |state: usize, bit: usize, distance: usize, (paths, bits): (f64, f64)| {
                    let register = (bit << 6 | state) as u32;
                    let out = |n: usize| (register & GENERATORS[n]).count_ones() as usize % 2;
                    let sent = pattern[position % pattern.len()];
                    let distance = distance + out(0) * sent[0] + out(1) * sent[1];
                    if distance <= most {
                        let to: &mut (f64, f64) = &mut next[(register >> 1) as usize][distance];
                        *to = (to.0 + paths, to.1 + bits + bit as f64 * paths);
                    }
                };
                if !begun {
                    step(0, 1, 0, (1.0, 0.0));
                    begun = true;
                }
                for (state, by_distance) in paths.iter().enumerate() {
                    for (distance, &count) in
                        by_distance.iter().enumerate().filter(|(_, count)| count.0 > 0.0)
                    {
                        step(state, 0, distance, count);
                        step(state, 1, distance, count);
                    }
                }
                if (position + 1).is_multiple_of(pattern.len()) {
                    for (total, returned) in found.iter_mut().zip(&mut next[0]) {
                        *total += std::mem::take(&mut returned.1);
                        returned.0 = 0.0;
                    }
                }
                paths = next;
            }
        }
        found.split_off(least)
    }

    #[test]
    fn the_spectra_are_those_of_the_code() {
        for (part, least, weights) in SPECTRA {
            let least = least as usize;
            assert_eq!(spectrum(part, least, weights.len()), weights, "rate {part}/");
            assert!(spectrum(part, 1, least - 1).iter().all(|&weight| weight == 0.0));
        }
    }

    fn coding(mcs: u64) -> Coding {
        Coding::of_mcs(mcs)
    }

    #[test]
    fn raw_bits_are_wrong_as_in_tables_of_the_error_function() {
        // Q(3.0902) = 1e-3, which BPSK reaches at 6.79 dB and QPSK at 9.80 dB.
        assert!((coding(0).raw(ratio(6.79)) / 1e-3 - 1.0).abs() < 0.01);
        assert!((coding(1).raw(ratio(9.80)) / 1e-3 - 1.0).abs() < 0.01);
    }

    #[test]
    fn faster_takes_more_signal() {
        let needed: Vec<f64> = (0..12).map(|mcs| coding(mcs).least_snr_db(1e-6)).collect();
        assert!(needed.windows(2).all(|pair| pair[0] < pair[1]), "{needed:?}");
        for mcs in 0..12 {
            let at = |db: f64| arrives(coding(mcs).bit_error(ratio(db)), 1_538);
            assert!(at(needed[mcs as usize]) > 0.98 && at(needed[mcs as usize] - 3.0) < 0.2, "MCS {mcs}");
        }
    }
}
