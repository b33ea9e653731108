//! Random numbers of a link, one stream per purpose.

use units::Rng;

/// Streams of random numbers of one object, one stream per purpose. The numbers of one purpose never shift the
/// numbers of another.
#[derive(Clone, Debug)]
pub struct Dice {
    seed: u64,
    name: String,
}

impl Dice {
    /// Create the streams of the object `name` in the run with this seed.
    pub fn new(seed: u64, name: impl Into<String>) -> Dice {
        Dice { seed, name: name.into() }
    }

    /// The stream for a purpose. The stream has the name "purpose/name".
    pub fn rng(&self, purpose: &str) -> Rng {
        Rng::stream(self.seed, &format!("{purpose}/{}", self.name))
    }
}
