//! All algorithms of the registry, and a function that builds one by name.

use crate::CongestionControl;
use crate::algorithms::DESCRIPTORS;
use crate::registry::Descriptor;
use params::{Refusal, there_is};
use serde_json::Value;
use thiserror::Error;

type Boxed = Box<dyn CongestionControl>;

/// Reason why an algorithm could not be built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// No algorithm has this name.
    #[error("unknown algorithm \"{0}\"{known}", known = there_is(names()))]
    Unknown(String),
    /// A parameter is unknown, of the wrong type or out of range.
    #[error("{algorithm}: {problems}")]
    Params {
        /// The algorithm.
        algorithm: &'static str,
        /// The wrong parameters, each with the correct form.
        problems: Refusal,
    },
}

fn names() -> impl Iterator<Item = &'static str> {
    DESCRIPTORS.iter().map(|d| d.name)
}

/// Descriptors of all algorithms.
pub fn descriptors() -> &'static [Descriptor] {
    DESCRIPTORS
}

/// Build the algorithm called `name` (or an alias), with `params` as a JSON object (null for the defaults).
///
/// # Errors
/// If there is no such algorithm, or a parameter is unknown, of the wrong type or out of range.
pub fn build(name: &str, params: &Value, seed: u64) -> Result<Boxed, BuildError> {
    let found = DESCRIPTORS.iter().find(|d| d.name == name || d.aliases.contains(&name));
    let descriptor = found.ok_or_else(|| BuildError::Unknown(name.to_owned()))?;
    (descriptor.build)(params, seed)
        .map_err(|problems| BuildError::Params { algorithm: descriptor.name, problems })
}
