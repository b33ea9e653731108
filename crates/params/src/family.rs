//! Families of entries that are chosen by name: each entry is declared in one file, and listed in one line.

use crate::{ParamSpec, Params, Problem, Refusal, read};
use serde_json::Value;
use std::fmt;

/// What an entry of a family is called and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// Name in plans.
    pub name: &'static str,
    /// One line that says what it is.
    pub title: &'static str,
    /// The source that it follows; empty if there is none.
    pub source: &'static str,
    /// Its parameters.
    pub params: fn() -> Vec<ParamSpec>,
}

/// An entry of a family: its parameters, and how to make one from them and from a context that the family gives.
pub trait Entry<C>: Sized {
    /// Its parameter struct.
    type Params: Params;
    /// One line that says what it is.
    const TITLE: &'static str;
    /// The source that it follows; empty if there is none.
    const SOURCE: &'static str;

    /// What is wrong between the parameters, each of which is right by itself.
    fn check(_params: &Self::Params) -> Option<Problem> {
        None
    }

    /// Makes one.
    fn new(params: Self::Params, context: C) -> Self;
}

/// Why there is no such entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The family has none of that name; the message says what it has.
    Unknown(String),
    /// Its parameters are wrong.
    Params {
        /// The entry.
        name: &'static str,
        /// What is wrong, and what would be right.
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
    /// There is no `what` of that name.
    pub fn unknown(what: &str, name: &str, known: &[Descriptor]) -> BuildError {
        let known = crate::there_is(known.iter().map(|descriptor| descriptor.name));
        BuildError::Unknown(format!("unknown {what} \"{name}\"{known}"))
    }

    /// Every problem by itself; that of a name that is unknown has no parameter.
    pub fn problems(self) -> Vec<Problem> {
        match self {
            BuildError::Unknown(message) => vec![Problem::new("", message)],
            BuildError::Params { problems, .. } => problems.0,
        }
    }
}

/// Makes an entry from the parameters that a plan gives.
///
/// # Errors
/// If a parameter is unknown, missing, of the wrong type or out of range, or they do not go together.
pub fn make<C, E: Entry<C>>(name: &'static str, params: &Value, context: C) -> Result<E, BuildError> {
    let params = read::<E::Params>(params).and_then(|read| match E::check(&read) {
        Some(problem) => Err(problem.into()),
        None => Ok(read),
    });
    let params = params.map_err(|problems| BuildError::Params { name, problems })?;
    Ok(E::new(params, context))
}

/// Describes an entry.
pub const fn descriptor<C, E: Entry<C>>(name: &'static str) -> Descriptor {
    Descriptor { name, title: E::TITLE, source: E::SOURCE, params: <E::Params as Params>::specs }
}

/// Declares a family: the modules of its entries, an enum of them, their descriptors, and how to make one by name. What
/// they all do is a trait, behind `as`.
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
            /// Every kind that there is, in order.
            pub fn descriptors() -> &'static [$crate::Descriptor] {
                const ALL: &[$crate::Descriptor] = &[$($crate::descriptor::<$context, $type>($name),)*];
                ALL
            }

            /// Makes the one called `kind`, with `params` as a JSON object (null for the defaults).
            ///
            /// # Errors
            /// If there is none of that name, or a parameter is unknown, missing, of the wrong type or out of range.
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

            /// Its name in plans.
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
