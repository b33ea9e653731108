//! Periodic loss.

use super::LossModel;
use crate::Dice;
use params::{Entry, params};

params! {
    /// Parameters of periodic loss.
    pub struct Params {
        /// Number of packets per lost packet.
        every: u64, "packets", 1.0..=9.223_372_036_854_776e18, label = "packets per loss", example = 10_000;
    }
}

/// Exactly every n-th packet is lost.
#[derive(Clone, Debug)]
pub struct Periodic {
    every: u64,
    /// Packets since the last loss.
    seen: u64,
}

impl LossModel for Periodic {
    #[inline]
    fn is_lost(&mut self) -> bool {
        self.seen = (self.seen + 1) % self.every;
        self.seen == 0
    }
}

impl Entry<&Dice> for Periodic {
    type Params = Params;
    const TITLE: &'static str =
        "Exactly every n-th packet is lost as it leaves the link: the loss that textbook formulas assume";
    const SOURCE: &'static str = "";

    fn new(params: Params, _: &Dice) -> Periodic {
        Periodic { every: params.every, seen: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_every_third_packet() {
        let mut loss = Periodic::new(Params { every: 3 }, &Dice::new(1, "test"));
        let lost: Vec<bool> = (0..6).map(|_| loss.is_lost()).collect();
        assert_eq!(lost, [false, false, true, false, false, true]);
    }
}
