//! Duplication: packets that arrive twice.

use super::{Effect, Properties};
use crate::Dice;
use params::{Entry, params};
use units::Rng;

params! {
    /// Parameters of duplication.
    pub struct Params {
        /// Probability that a packet is duplicated; the copy follows directly (`netem duplicate`).
        probability: f64, "", 0..=1, role = share, label = "duplicated packets", example = 0.01;
    }
}

/// Some packets arrive twice, with the copy immediately after the original.
#[derive(Clone, Debug)]
pub struct Duplication {
    probability: f64,
    rng: Rng,
}

impl Effect for Duplication {
    fn properties(&self) -> Properties {
        Properties { copies: true, ..Properties::default() }
    }

    fn copies(&mut self) -> bool {
        self.rng.chance(self.probability)
    }
}

impl Entry<&Dice> for Duplication {
    type Params = Params;
    const TITLE: &'static str = "Some packets arrive twice, the copy right after the packet";
    const SOURCE: &'static str = "Linux net/sched/sch_netem.c (duplicate)";

    fn new(params: Params, dice: &Dice) -> Duplication {
        Duplication { probability: params.probability, rng: dice.rng("duplicate") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_in_ten_arrives_twice() {
        let mut duplication = Duplication::new(Params { probability: 0.1 }, &Dice::new(1, "test"));
        let copied = (0..10_000).filter(|_| duplication.copies()).count();
        assert!((910..1_090).contains(&copied), "{copied}"); // three standard deviations are 90
    }
}
