//! The registry of algorithms: their descriptors, and a function that builds one by name.

use crate::algorithms::DESCRIPTORS;
use crate::{CongestionControl, ParamSpec};
use params::{Params, Preset, Refusal, read, there_is};
use serde_json::Value;
use thiserror::Error;

type Boxed = Box<dyn CongestionControl>;

/// Name, source and parameters of an algorithm.
pub struct Descriptor {
    /// Name in scenario files.
    pub name: &'static str,
    /// Other names in scenario files.
    pub aliases: &'static [&'static str],
    /// Description in one line.
    pub title: &'static str,
    /// Paper, RFC or code that it follows.
    pub source: &'static str,
    /// Its parameters.
    pub params: fn() -> Vec<ParamSpec>,
    /// Named sets of parameter values, the default one first; empty if there are none.
    pub presets: &'static [Preset],
    build: fn(&Value, u64) -> Result<Boxed, Refusal>,
}

/// Why an algorithm could not be built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// No algorithm of that name.
    #[error("unknown algorithm \"{0}\"{known}", known = there_is(names()))]
    Unknown(String),
    /// A parameter is wrong.
    #[error("{algorithm}: {problems}")]
    Params {
        /// The algorithm.
        algorithm: &'static str,
        /// The problems, each with the correct form.
        problems: Refusal,
    },
}

/// An algorithm of the registry: its parameters and its constructor. Most types that implement this are the algorithm
/// itself. Some are only a name for a shared law with other rules.
pub(crate) trait Algorithm: 'static {
    /// Its parameter struct.
    type Params: Params;
    /// Description in one line.
    const TITLE: &'static str;
    /// Paper, RFC or code that it follows.
    const SOURCE: &'static str;
    /// Build a new instance; `seed` is for its random numbers, if it draws any.
    fn new(params: Self::Params, seed: u64) -> impl CongestionControl + 'static;
}

/// Declare the modules of the algorithms and list their descriptors.
macro_rules! algorithms {
    ($($name:literal $(or $alias:literal)* => $module:ident::$type:ident,)*) => {
        $(mod $module;)*

        pub(crate) static DESCRIPTORS: &[crate::Descriptor] = &[$(crate::registry::descriptor::<$module::$type>(
            $name,
            &[$($alias),*],
        ),)*];
    };
}
pub(crate) use algorithms;

/// Describe an algorithm with its name and aliases.
pub(crate) const fn descriptor<A: Algorithm>(
    name: &'static str,
    aliases: &'static [&'static str],
) -> Descriptor {
    Descriptor {
        name,
        aliases,
        title: A::TITLE,
        source: A::SOURCE,
        params: <A::Params as Params>::specs,
        presets: <A::Params as Params>::PRESETS,
        build: make::<A>,
    }
}

fn make<A: Algorithm>(params: &Value, seed: u64) -> Result<Boxed, Refusal> {
    Ok(Box::new(A::new(read(params)?, seed)))
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
