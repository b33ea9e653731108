//! Loss that is not congestion.

use units::Rng;

/// Loses packets at the far end of a link, whatever its queue does.
///
/// # Panics
/// [`strikes`](Loss::strikes) does if `every` is zero.
#[derive(Clone, Debug)]
pub enum Loss {
    /// Each packet alone, with the same probability.
    Bernoulli {
        /// Probability in [0, 1].
        probability: f64,
        /// Where the dice come from.
        rng: Rng,
    },
    /// Every `every`-th packet: the loss that textbook formulas assume.
    Periodic {
        /// Packets per loss.
        every: u64,
        /// Packets seen since the last loss.
        seen: u64,
    },
}

impl Loss {
    /// The next packet is lost. One draw per packet, in the order in which they leave.
    pub fn strikes(&mut self) -> bool {
        match self {
            Loss::Bernoulli { probability, rng } => rng.chance(*probability),
            Loss::Periodic { every, seen } => {
                *seen = (*seen + 1) % *every;
                *seen == 0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_every_third_packet() {
        let mut loss = Loss::Periodic { every: 3, seen: 0 };
        let lost: Vec<bool> = (0..6).map(|_| loss.strikes()).collect();
        assert_eq!(lost, [false, false, true, false, false, true]);
    }

    #[test]
    fn one_packet_in_a_hundred() {
        let mut loss = Loss::Bernoulli { probability: 0.01, rng: Rng::stream(1, "loss/test") };
        let lost = (0..100_000).filter(|_| loss.strikes()).count();
        assert!((900..1_100).contains(&lost), "{lost}"); // three standard deviations are 94
    }
}
