//! Loss without congestion: packets lost at the far end of a link, independently of its queue.
//!
//! To add a model, add a file to this folder and a line to the list below.

use crate::Dice;

params::family! {
    /// A model of loss. Each link has its own instance of the model, and calls the model once per packet in the order
    /// in which packets leave.
    pub enum Loss("loss", &Dice) as LossModel {
        "bernoulli" => bernoulli::Bernoulli,
        "periodic" => periodic::Periodic,
        "gilbert_elliott" => gilbert_elliott::GilbertElliott,
        "replay" => replay::Replay,
    }
}

/// Decides which packets are lost.
pub trait LossModel {
    /// Whether the next packet is lost.
    fn is_lost(&mut self) -> bool;
}
