#![doc = include_str!("../README.md")]
//!
//! A parameter without a default must be given. One that does more than to set a number says its [`Role`], so that
//! users of a family need not know what each member calls it.
//!
//! ```
//! use params::{Params, Role, params, read};
//!
//! params! {
//!     /// Parameters of a tank.
//!     pub struct Tank {
//!         /// How much it holds.
//!         volume: u64, "bytes", 1..=1000000, role = limit;
//!     }
//! }
//! assert_eq!(Tank::specs()[0].role, Some(Role::Limit));
//! let error = read::<Tank>(&serde_json::json!({ "depth": 1 })).unwrap_err().to_string();
//! assert_eq!(error, "depth: unknown; there is volume; volume: missing; it must be a whole number");
//! ```
//!
//! A struct with presets has a parameter `preset` besides its own. The first preset is the default; what it leaves
//! out, and what no preset names, has the default of its declaration. A value that is given wins over any preset.
//!
//! ```
//! use params::{params, read};
//!
//! params! {
//!     /// Parameters of a leaky bucket.
//!     pub struct Bucket {
//!         /// How fast it leaks.
//!         rate: f64 = 1.5, "bytes/s", 0.0..=1e9;
//!     }
//!     presets {
//!         "sound" => {},
//!         "broken" => { rate: 1e6 },
//!     }
//! }
//! assert_eq!(read::<Bucket>(&serde_json::json!({ "preset": "broken" })).unwrap().rate, 1e6);
//! assert_eq!(read::<Bucket>(&serde_json::json!({ "preset": "broken", "rate": 2.0 })).unwrap().rate, 2.0);
//! let error = read::<Bucket>(&serde_json::json!({ "preset": "old" })).unwrap_err().to_string();
//! assert_eq!(error, "preset: unknown value \"old\"; there is sound, broken");
//! ```

mod family;
mod kind;
mod refusal;

pub use family::{BuildError, Descriptor, Entry, descriptor, make};
pub use kind::Kind;
pub use refusal::{Problem, Refusal, read, there_is};

use serde_json::Value;

/// Describes one parameter, for validation, the command line and the documentation.
#[derive(Clone, Debug)]
pub struct ParamSpec {
    /// Name in scenario files.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Unit of the value; empty for pure numbers, switches and names.
    pub unit: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Null is allowed, too.
    pub optional: bool,
    /// It has no default and must be given.
    pub required: bool,
    /// Default value; null if it has none.
    pub default: Value,
    /// Smallest and largest value allowed, for numbers.
    pub range: Option<(f64, f64)>,
    /// What it does for others, if anything.
    pub role: Option<Role>,
}

/// What a parameter does that others than its owner must know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It limits what waits, in the unit that it has; null: no limit.
    Limit,
    /// It limits the rate of a link, in bits per second; null: it does not.
    Rate,
}

impl Role {
    /// The name of the role in catalogues.
    pub fn name(self) -> &'static str {
        match self {
            Role::Limit => "limit",
            Role::Rate => "rate",
        }
    }
}

/// A named set of values.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its values by parameter.
    pub values: fn() -> Vec<(&'static str, Value)>,
}

/// Parameters of one entry of a registry: what [`params!`] generates.
pub trait Params: serde::de::DeserializeOwned + Default {
    /// The presets, the default one first; empty if there is no choice.
    const PRESETS: &'static [Preset] = &[];

    /// A description of every parameter.
    fn specs() -> Vec<ParamSpec>;
}

/// Declares a parameter struct with defaults, units, documentation and ranges in one place, and its presets if it has
/// any.
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty $(= $default:expr)?, $unit:literal $(, $low:literal ..= $high:literal)? $(, role = $role:ident)?;)*
    } $(presets {
        $first:literal => $first_values:tt
        $(, $preset:literal => $values:tt)* $(,)?
    })?) => {
        $(#[$meta])*
        #[derive(Clone, Debug, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $($(#[doc = $doc])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self { $name { $($field: $crate::params!(@default $type $(, $default)?),)* } }
        }

        impl $crate::Params for $name {
            $(const PRESETS: &'static [$crate::Preset] = &[
                $crate::Preset { name: $first, values: || $crate::params!(@values $first_values) },
                $($crate::Preset { name: $preset, values: || $crate::params!(@values $values) },)*
            ];)?

            fn specs() -> Vec<$crate::ParamSpec> {
                vec![$($crate::ParamSpec {
                    name: "preset",
                    doc: concat!("The values to begin with; any that is given wins. One of ", $first $(, ", ", $preset)*, "."),
                    unit: "",
                    kind: $crate::Kind::Choice(vec![$first $(, $preset)*]),
                    optional: false,
                    required: false,
                    default: $first.into(),
                    range: None,
                    role: None,
                },)? $($crate::ParamSpec {
                    name: stringify!($field),
                    doc: concat!($($doc),*).trim(),
                    unit: $unit,
                    kind: $crate::Kind::of::<$type>().0,
                    optional: $crate::Kind::of::<$type>().1,
                    required: $crate::params!(@required $($default)?),
                    default: $crate::params!(@json $type $(, $default)?),
                    range: $crate::params!(@range $($low ..= $high)?),
                    role: $crate::params!(@role $($role)?),
                },)*]
            }
        }
    };
    (@values { $($field:ident: $value:expr),* $(,)? }) => {
        vec![$((stringify!($field), serde_json::json!($value)),)*]
    };
    (@default $type:ty) => { <$type>::default() };
    (@default $type:ty, $default:expr) => { $default };
    (@json $type:ty) => { serde_json::Value::Null };
    (@json $type:ty, $default:expr) => { { let default: $type = $default; serde_json::json!(default) } };
    (@required) => { true };
    (@required $default:expr) => { false };
    (@role) => { None };
    (@role limit) => { Some($crate::Role::Limit) };
    (@role rate) => { Some($crate::Role::Rate) };
    (@range) => { None };
    (@range $low:literal ..= $high:literal) => { Some(($low as f64, $high as f64)) };
}
