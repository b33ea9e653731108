//! Which modulation and coding scheme the next PPDU uses.

mod ideal;
mod minstrel;

use super::scheme::Scheme;
use ideal::Ideal;
use minstrel::Minstrel;
use units::{Rng, Time};

/// The laws that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// One scheme, whatever becomes of what is sent.
    Fixed,
    /// The fastest that the signal-to-noise ratio of the last PPDU allows.
    Ideal,
    /// Linux's: by what arrived.
    Minstrel,
}

/// What the next PPDU uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The number of its scheme.
    pub scheme: usize,
    /// It carries one MPDU only.
    pub alone: bool,
}

/// What became of a PPDU.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// How it was sent.
    pub choice: Choice,
    /// Its MPDUs.
    pub sent: usize,
    /// Those that were acknowledged.
    pub received: usize,
    /// The signal-to-noise ratio; none if there is no noise.
    pub snr_db: Option<f64>,
}

/// Chooses the schemes of a port.
pub trait RateControl: Send {
    /// That of a PPDU that begins now.
    fn choose(&mut self, now: Time) -> Choice;
    /// A PPDU is over.
    fn report(&mut self, outcome: &Outcome, now: Time);
}

/// The law over these schemes, which go from slow to fast for each number of streams, fewer streams first.
pub fn make(law: Law, schemes: &[Scheme], snr_db: Option<f64>, rng: Rng) -> Box<dyn RateControl> {
    match law {
        Law::Fixed => Box::new(Fixed),
        Law::Ideal => Box::new(Ideal::new(schemes, snr_db)),
        Law::Minstrel => Box::new(Minstrel::new(schemes, rng)),
    }
}

/// The only scheme that there is.
struct Fixed;

impl RateControl for Fixed {
    fn choose(&mut self, _now: Time) -> Choice {
        Choice { scheme: 0, alone: false }
    }

    fn report(&mut self, _outcome: &Outcome, _now: Time) {}
}
