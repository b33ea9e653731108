//! Families of entries that plans select by name, such as queues. Each entry is declared in one file and listed
//! in one line.

use crate::{ParamSpec, Params, Problem, Refusal, read};
use serde_json::Value;
use std::fmt;

/// Description of an entry of a family.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// Name in plans.
    pub name: &'static str,
    /// One line that describes the entry.
    pub title: &'static str,
    /// Publication or program that the entry follows; empty if there is none.
    pub source: &'static str,
    /// Descriptions of the parameters.
    pub params: fn() -> Vec<ParamSpec>,
}

/// An entry of a family, built from its parameters and a context `C`, which has the same type in the whole
/// family.
pub trait Entry<C>: Sized {
    /// Parameter struct of the entry.
    type Params: Params;
    /// One line that describes the entry.
    const TITLE: &'static str;
    /// Publication or program that the entry follows; empty if there is none.
    const SOURCE: &'static str;

    /// Checks for contradictions between parameters, each of which is valid by itself.
    fn check(_params: &Self::Params) -> Option<Problem> {
        None
    }

    /// Builds the entry.
    fn new(params: Self::Params, context: C) -> Self;
}

/// Reason why an entry cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The family has no entry of this name. The text is the whole message, which lists the entries.
    Unknown(String),
    /// Parameters of the entry are wrong.
    Params {
        /// Name of the entry.
        name: &'static str,
        /// The problems and what to write instead.
        problems: Refusal,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Unknown(message) => f.write_str(message),
            BuildError::Params { name, problems } => write!(f, "{name}: {problems}"),
        }
    }
}

impl std::error::Error for BuildError {}

impl BuildError {
    /// Returns the error for an unknown `name`. `what`: kind of entry, for the message.
    pub fn unknown(what: &str, name: &str, known: &[Descriptor]) -> BuildError {
        let known = crate::there_is(known.iter().map(|descriptor| descriptor.name));
        BuildError::Unknown(format!("unknown {what} \"{name}\"{known}"))
    }

    /// Splits the error into its problems. For an unknown name, the result is a single problem without the name of a
    /// parameter.
    pub fn problems(self) -> Vec<Problem> {
        match self {
            BuildError::Unknown(message) => vec![Problem::new("", message)],
            BuildError::Params { problems, .. } => problems.0,
        }
    }
}

/// Builds an entry from the parameters in a plan.
///
/// # Errors
/// If a parameter is unknown, missing, of the wrong type or out of range, or parameters contradict each other.
pub fn make<C, E: Entry<C>>(name: &'static str, params: &Value, context: C) -> Result<E, BuildError> {
    let params = read::<E::Params>(params).and_then(|read| match E::check(&read) {
        Some(problem) => Err(problem.into()),
        None => Ok(read),
    });
    let params = params.map_err(|problems| BuildError::Params { name, problems })?;
    Ok(E::new(params, context))
}

/// The description of an entry.
pub const fn descriptor<C, E: Entry<C>>(name: &'static str) -> Descriptor {
    Descriptor { name, title: E::TITLE, source: E::SOURCE, params: <E::Params as Params>::specs }
}

/// Declares a family: the modules of its entries, an enum of the entries, their descriptors, and a builder by name.
/// The name after `as` is the trait that all entries implement.
#[macro_export]
macro_rules! family {
    ($(#[$meta:meta])* pub enum $family:ident($what:literal, $context:ty) $(as $trait:ident)? {
        $($name:literal => $module:ident::$type:ident,)*
    }) => {
        $(mod $module;)*
        $(pub use $module::$type;)*

        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub enum $family {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] $type($type),)*
        }

        impl $family {
            /// Descriptions of all entries, in the order of their declaration.
            pub fn descriptors() -> &'static [$crate::Descriptor] {
                const ALL: &[$crate::Descriptor] = &[$($crate::descriptor::<$context, $type>($name),)*];
                ALL
            }

            /// Builds the entry `kind` with `params` as a JSON object (null: the defaults).
            ///
            /// # Errors
            /// If there is no entry of that name, or a parameter is unknown, missing, of the wrong type or out of
            /// range.
            pub fn build(
                kind: &str,
                params: &serde_json::Value,
                context: $context,
            ) -> Result<$family, $crate::BuildError> {
                match kind {
                    $($name => $crate::make($name, params, context).map($family::$type),)*
                    _ => Err($crate::BuildError::unknown($what, kind, $family::descriptors())),
                }
            }

            /// Name in plans.
            pub fn kind(&self) -> &'static str {
                match self { $($family::$type(_) => $name,)* }
            }
        }

        $crate::family! { @trait $family $($trait)? { $($type,)* } }
    };
    (@trait $family:ident { $($type:ident,)* }) => {};
    (@trait $family:ident $trait:ident $types:tt) => {
        $crate::family! { @deref $family $trait $types }
    };
    (@deref $family:ident $trait:ident { $($type:ident,)* }) => {
        impl std::ops::Deref for $family {
            type Target = dyn $trait;
            #[inline]
            fn deref(&self) -> &(dyn $trait + 'static) {
                match self { $($family::$type(it) => it,)* }
            }
        }

        impl std::ops::DerefMut for $family {
            #[inline]
            fn deref_mut(&mut self) -> &mut (dyn $trait + 'static) {
                match self { $($family::$type(it) => it,)* }
            }
        }
    };
}
