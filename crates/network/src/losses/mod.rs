//! Loss that is not congestion: which packets are lost at the far end of a link, whatever its queue does.
//!
//! Adding a model is one file beside this one and one line in the list below.

use crate::Dice;

params::family! {
    /// A model of loss. Each link has its own and calls it once per packet, in the order in which packets leave.
    pub enum Loss("loss", &Dice) as LossModel {
        "bernoulli" => bernoulli::Bernoulli,
        "periodic" => periodic::Periodic,
        "gilbert_elliott" => gilbert_elliott::GilbertElliott,
        "replay" => replay::Replay,
    }
}

/// Decides which packets are lost.
pub trait LossModel {
    /// The next packet is lost.
    fn is_lost(&mut self) -> bool;
}
