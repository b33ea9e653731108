//! Reproducible random numbers: each run has one seed, and each name has its own stream.
//!
//! Streams are derived by hashing (seed, name), so that a new flow or link never shifts the random numbers of other
//! flows and links. The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Its 64 bits of state are
//! enough for jitter, packet loss and probe phases.

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Creates the stream `name` of the run with seed `seed`.
    pub fn stream(seed: u64, name: &str) -> Rng {
        // FNV-1a over the name, then one SplitMix64 step to mix in the seed.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        let mut rng = Rng { state: hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) };
        rng.next_u64();
        rng
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws a number from 0 to `bound` - 1. The distribution is uniform to within 2^-32.
    ///
    /// # Panics
    /// In debug builds if `bound` is zero.
    pub fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(bound > 0);
        (((self.next_u64() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// Draws a uniform number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draws a standard normal number (Box and Muller, Ann. Math. Statist. 29, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Draws true with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_distinct() {
        let draw = |seed, name| Rng::stream(seed, name).next_u64();
        assert_eq!(draw(1, "loss/bottleneck"), draw(1, "loss/bottleneck"));
        assert_ne!(draw(1, "loss/bottleneck"), draw(2, "loss/bottleneck"));
        assert_ne!(draw(1, "loss/bottleneck"), draw(1, "loss/access"));
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Rng::stream(7, "test");
        let mut seen = [0u32; 7];
        for _ in 0..70_000 {
            seen[rng.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (9_500..10_500).contains(&n)), "{seen:?}");
    }

    #[test]
    fn the_mean_of_unit_is_one_half() {
        let mut rng = Rng::stream(7, "mean");
        let mean = (0..100_000).map(|_| rng.unit()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
    }
}
