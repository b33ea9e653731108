//! Loss in bursts: the model of Gilbert and Elliott.

use super::LossModel;
use crate::Dice;
use params::{Entry, params};
use units::Rng;

params! {
    /// Parameters of the model of Gilbert and Elliott; probabilities per packet.
    pub struct Params {
        /// Probability of the transition from good to bad, per packet (p). The share of bad times is
        /// worsens / (worsens + improves).
        worsens: f64, "", 0..=1, role = share, label = "good to bad", example = 0.001;
        /// Probability of the transition from bad to good, per packet (r). A bad time lasts 1 / improves
        /// packets on average.
        improves: f64, "", 0..=1, role = share, label = "bad to good", example = 0.1;
        /// Probability of loss in bad times (1-h).
        bad: f64 = 1.0, "", 0..=1, role = share, label = "loss in bad times";
        /// Probability of loss in good times (1-k).
        good: f64 = 0.0, "", 0..=1, role = share, label = "loss in good times";
    }
}

/// A good and a bad state, each with its own loss rate (Gilbert 1960, Elliott 1963; `netem loss gemodel`).
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    params: Params,
    /// Whether the state is bad.
    is_bad: bool,
    rng: Rng,
}

impl LossModel for GilbertElliott {
    /// Update the state, then decide whether this packet is lost, as in `loss_gilb_ell` of netem.
    #[inline]
    fn is_lost(&mut self) -> bool {
        let moves = if self.is_bad { self.params.improves } else { self.params.worsens };
        self.is_bad ^= self.rng.chance(moves);
        self.rng.chance(if self.is_bad { self.params.bad } else { self.params.good })
    }
}

impl Entry<&Dice> for GilbertElliott {
    type Params = Params;
    const TITLE: &'static str =
        "Losses in bursts: good and bad times, each with a loss rate of its own, as packets leave the link";
    const SOURCE: &'static str = "Gilbert 1960, Elliott 1963; Linux net/sched/sch_netem.c (gemodel)";

    fn new(params: Params, dice: &Dice) -> GilbertElliott {
        GilbertElliott { params, is_bad: false, rng: dice.rng("loss") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_of_the_gilbert_model_have_the_share_and_the_length_of_its_chain() {
        let params = Params { worsens: 0.01, improves: 0.2, good: 0.0, bad: 1.0 };
        let mut loss = GilbertElliott::new(params, &Dice::new(1, "test"));
        let lost: Vec<bool> = (0..200_000).map(|_| loss.is_lost()).collect();
        let share = lost.iter().filter(|&&l| l).count() as f64 / 2e5;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((share - 0.01 / 0.21).abs() < 0.003, "{share}");
        assert!((share * 2e5 / bursts - 5.0).abs() < 0.4, "{}", share * 2e5 / bursts);
    }
}
