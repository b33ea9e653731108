//! Loss that is not congestion.

use units::Rng;

/// Loses packets at the far end of a link, whatever its queue does.
#[derive(Clone, Debug)]
pub enum Loss {
    /// Each packet alone, with the same probability.
    Bernoulli {
        /// Probability in [0, 1].
        probability: f64,
        /// Where the dice come from.
        rng: Rng,
    },
}

impl Loss {
    /// The next packet is lost. One draw per packet, in the order in which they leave.
    pub fn strikes(&mut self) -> bool {
        match self {
            Loss::Bernoulli { probability, rng } => rng.chance(*probability),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_in_a_hundred() {
        let mut loss = Loss::Bernoulli { probability: 0.01, rng: Rng::stream(1, "loss/test") };
        let lost = (0..100_000).filter(|_| loss.strikes()).count();
        assert!((900..1_100).contains(&lost), "{lost}"); // three standard deviations are 94
    }
}
