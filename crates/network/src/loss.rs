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
    /// Given packets, such as those that a recording says were lost.
    Replay {
        /// Their numbers, counted from 0, in order.
        lost: Vec<u64>,
        /// After so many packets it begins again.
        period: Option<u64>,
        /// Packets seen in this round.
        seen: u64,
        /// QueueEvents of this round.
        struck: usize,
    },
    /// Good and bad times, each with a loss rate of its own (Gilbert 1960, Elliott 1963; `netem loss gemodel`).
    GilbertElliott {
        /// The chain.
        chain: Chain,
        /// Bad times have begun.
        bad: bool,
        /// Where the dice come from.
        rng: Rng,
    },
}

/// Probabilities of the model of Gilbert and Elliott, per packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    /// Of going from good to bad (p).
    pub worsens: f64,
    /// Of going from bad to good (r).
    pub improves: f64,
    /// Of loss in good times (1 - k).
    pub good: f64,
    /// Of loss in bad times (1 - h).
    pub bad: f64,
}

impl Loss {
    /// The next packet is lost. Asked once per packet, in the order in which they leave.
    pub fn strikes(&mut self) -> bool {
        match self {
            Loss::Bernoulli { probability, rng } => rng.chance(*probability),
            Loss::Periodic { every, seen } => {
                *seen = (*seen + 1) % *every;
                *seen == 0
            }
            Loss::Replay { lost, period, seen, struck } => {
                let strikes = lost.get(*struck) == Some(seen);
                *struck += usize::from(strikes);
                *seen += 1;
                if *period == Some(*seen) {
                    (*seen, *struck) = (0, 0);
                }
                strikes
            }
            Loss::GilbertElliott { chain, bad, rng } => {
                // First the state moves, then it rules this packet, as in netem.
                *bad = if *bad { !rng.chance(chain.improves) } else { rng.chance(chain.worsens) };
                rng.chance(if *bad { chain.bad } else { chain.good })
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
    fn a_recording_is_played_once_or_over_and_over() {
        let numbers = |period| {
            let mut loss = Loss::Replay { lost: vec![0, 2], period, seen: 0, struck: 0 };
            (0..9).filter(|_| loss.strikes()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(None), [0, 2]);
        assert_eq!(numbers(Some(4)), [0, 2, 4, 6, 8]);
    }

    #[test]
    fn one_packet_in_a_hundred() {
        let mut loss = Loss::Bernoulli { probability: 0.01, rng: Rng::stream(1, "loss/test") };
        let lost = (0..100_000).filter(|_| loss.strikes()).count();
        assert!((900..1_100).contains(&lost), "{lost}"); // three standard deviations are 94
    }

    #[test]
    fn bursts_of_the_gilbert_model_have_the_share_and_the_length_of_its_chain() {
        let chain = Chain { worsens: 0.01, improves: 0.2, good: 0.0, bad: 1.0 };
        let mut loss = Loss::GilbertElliott { chain, bad: false, rng: Rng::stream(1, "loss/test") };
        let lost: Vec<bool> = (0..200_000).map(|_| loss.strikes()).collect();
        let share = lost.iter().filter(|&&l| l).count() as f64 / 2e5;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((share - 0.01 / 0.21).abs() < 0.003, "{share}");
        assert!((share * 2e5 / bursts - 5.0).abs() < 0.4, "{}", share * 2e5 / bursts);
    }
}
