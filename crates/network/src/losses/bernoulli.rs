//! Independent loss.

use super::LossModel;
use crate::Dice;
use params::{Entry, params};
use units::Rng;

params! {
    /// Parameters of independent loss.
    pub struct Params {
        /// Loss probability of each packet.
        probability: f64, "", 0..=1, role = share, label = "loss", example = 0.01;
    }
}

/// Every packet is lost with the same probability, independently.
#[derive(Clone, Debug)]
pub struct Bernoulli {
    probability: f64,
    rng: Rng,
}

impl LossModel for Bernoulli {
    #[inline]
    fn is_lost(&mut self) -> bool {
        self.rng.chance(self.probability)
    }
}

impl Entry<&Dice> for Bernoulli {
    type Params = Params;
    const TITLE: &'static str =
        "Every packet is lost with the same probability, independently, as it leaves the link";
    const SOURCE: &'static str = "";

    fn new(params: Params, dice: &Dice) -> Bernoulli {
        Bernoulli { probability: params.probability, rng: dice.rng("loss") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_in_a_hundred() {
        let mut loss = Bernoulli::new(Params { probability: 0.01 }, &Dice::new(1, "test"));
        let lost = (0..100_000).filter(|_| loss.is_lost()).count();
        assert!((900..1_100).contains(&lost), "{lost}"); // three standard deviations are 94
    }
}
