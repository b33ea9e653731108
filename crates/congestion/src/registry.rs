//! The entry of an algorithm in the registry: its descriptor, with its parameters and constructor.

use crate::CongestionControl;
use params::{ParamSpec, Params, Preset, Refusal, read};
use serde_json::Value;

type Boxed = Box<dyn CongestionControl>;

/// Name, source and parameters of an algorithm.
pub struct Descriptor {
    /// Name in scenario files.
    pub name: &'static str,
    /// Other names in scenario files.
    pub aliases: &'static [&'static str],
    /// Description in one line.
    pub title: &'static str,
    /// Paper, RFC or code that the algorithm follows.
    pub source: &'static str,
    /// Parameters of the algorithm.
    pub params: fn() -> Vec<ParamSpec>,
    /// Named sets of parameter values, the default set first; empty if there are no sets.
    pub presets: &'static [Preset],
    pub(crate) build: fn(&Value, u64) -> Result<Boxed, Refusal>,
}

/// An algorithm of the registry: its parameters and its constructor. Most implementing types hold the state of
/// the algorithm. Some types have no state and only select the rules of a shared algorithm.
pub(crate) trait Algorithm: 'static {
    /// Parameter struct of the algorithm.
    type Params: Params;
    /// Description in one line.
    const TITLE: &'static str;
    /// Paper, RFC or code that the algorithm follows.
    const SOURCE: &'static str;
    /// Build a new instance. `seed` initialises its random numbers, if the algorithm uses any.
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
