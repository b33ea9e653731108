//! The registry of algorithms: their descriptors, and how to build one by name.

use crate::algorithms::DESCRIPTORS;
use crate::{CongestionControl, ParamSpec};
use params::{Params, Preset, Refusal, read, there_is};
use serde_json::Value;
use thiserror::Error;

type Boxed = Box<dyn CongestionControl>;

/// What an algorithm is called and where it comes from.
pub struct Descriptor {
    /// Name in scenario files.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// One line that says what it is.
    pub title: &'static str,
    /// The source it follows.
    pub source: &'static str,
    /// Its parameters.
    pub params: fn() -> Vec<ParamSpec>,
    /// Named sets of values for them, the default one first; empty if there is none to choose.
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
        /// What is wrong, and what would be right.
        problems: Refusal,
    },
}

/// An algorithm as the registry sees it: its parameters, and how to make one. Most are what they make; names under which
/// a shared law goes by different rules are not.
pub(crate) trait Algorithm: 'static {
    /// Its parameter struct.
    type Params: Params;
    /// One line that says what it is.
    const TITLE: &'static str;
    /// The source it follows.
    const SOURCE: &'static str;
    /// A fresh instance; `seed` feeds its randomness, if it has any.
    fn new(params: Self::Params, seed: u64) -> impl CongestionControl + 'static;
}

/// Declares the modules of the algorithms and lists them.
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

/// Describes an algorithm under the names it answers to.
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

/// Every algorithm there is.
pub fn descriptors() -> &'static [Descriptor] {
    DESCRIPTORS
}

/// Makes the algorithm called `name` (or an alias), with `params` as a JSON object (null for the defaults).
///
/// # Errors
/// If there is no such algorithm, or a parameter is unknown, of the wrong type or out of range.
pub fn build(name: &str, params: &Value, seed: u64) -> Result<Boxed, BuildError> {
    let found = DESCRIPTORS.iter().find(|d| d.name == name || d.aliases.contains(&name));
    let descriptor = found.ok_or_else(|| BuildError::Unknown(name.to_owned()))?;
    (descriptor.build)(params, seed)
        .map_err(|problems| BuildError::Params { algorithm: descriptor.name, problems })
}
