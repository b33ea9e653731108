//! The random numbers of a link, one stream per use.

use units::Rng;

/// Streams of random numbers of one thing: one for every purpose, so that no purpose shifts the numbers of another.
#[derive(Clone, Debug)]
pub struct Dice {
    seed: u64,
    name: String,
}

impl Dice {
    /// Those of the thing called `name` in the run with this seed.
    pub fn new(seed: u64, name: impl Into<String>) -> Dice {
        Dice { seed, name: name.into() }
    }

    /// The stream for a purpose, which is called "purpose/name".
    pub fn rng(&self, purpose: &str) -> Rng {
        Rng::stream(self.seed, &format!("{purpose}/{}", self.name))
    }
}
