//! Rate control: the choice of the modulation and coding scheme of the next PPDU.

mod ideal;
mod minstrel;

use super::scheme::Scheme;
use ideal::Ideal;
use minstrel::Minstrel;
use units::{Rng, Time};

/// Rate control algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// A fixed scheme.
    Fixed,
    /// The fastest scheme that the signal-to-noise ratio of the last PPDU permits.
    Ideal,
    /// Minstrel-HT of Linux, which learns from the packets that arrive.
    Minstrel,
}

/// Choice of rate control for the next PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Index of the scheme.
    pub scheme: usize,
    /// Whether the PPDU carries only one MPDU.
    pub alone: bool,
}

/// Outcome of a PPDU.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The choice with which the PPDU was sent.
    pub choice: Choice,
    /// Number of MPDUs in the PPDU.
    pub sent: usize,
    /// Number of MPDUs that were acknowledged.
    pub received: usize,
    /// Signal-to-noise ratio in dB; `None` without noise.
    pub snr_db: Option<f64>,
}

/// Chooses the scheme of every PPDU of a port.
pub trait RateControl: Send {
    /// Choose the scheme of a PPDU that begins now.
    fn choose(&mut self, now: Time) -> Choice;
    /// Process the outcome of a PPDU that ended now.
    fn report(&mut self, outcome: &Outcome, now: Time);
}

/// Create rate control over `schemes`, which are sorted by number of streams, then from slow to fast.
pub fn make(law: Law, schemes: &[Scheme], snr_db: Option<f64>, rng: Rng) -> Box<dyn RateControl> {
    match law {
        Law::Fixed => Box::new(Fixed),
        Law::Ideal => Box::new(Ideal::new(schemes, snr_db)),
        Law::Minstrel => Box::new(Minstrel::new(schemes, rng)),
    }
}

/// A single scheme.
struct Fixed;

impl RateControl for Fixed {
    fn choose(&mut self, _now: Time) -> Choice {
        Choice { scheme: 0, alone: false }
    }

    fn report(&mut self, _outcome: &Outcome, _now: Time) {}
}
