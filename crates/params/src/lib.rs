#![doc = include_str!("../README.md")]
//!
//! A parameter without a default must be given. A parameter with a [`Role`] is found by its role, so code that uses a
//! family does not depend on the parameter's name in each entry. The `label` of a parameter is its short name in
//! figures. Its `example` is a usual value for documentation.
//!
//! ```
//! use params::{Params, Role, params, read};
//!
//! params! {
//!     /// Parameters of a tank.
//!     pub struct Tank {
//!         /// Largest content.
//!         volume: u64, "bytes", 1..=1000000, role = limit, label = "tank", example = 1000;
//!     }
//! }
//! assert_eq!(Tank::specs()[0].role, Some(Role::Limit));
//! assert_eq!((Tank::specs()[0].label, Tank::specs()[0].example.clone()), ("tank", 1000.into()));
//! let error = read::<Tank>(&serde_json::json!({ "depth": 1 })).unwrap_err().to_string();
//! assert_eq!(error, "depth: unknown; there is volume; volume: missing; it must be a whole number");
//! ```
//!
//! A struct with presets also has a parameter `preset`. The first preset is the default. A parameter that a
//! preset omits has the default of its declaration. Given values override the values of the preset.
//!
//! ```
//! use params::{params, read};
//!
//! params! {
//!     /// Parameters of a leaky bucket.
//!     pub struct Bucket {
//!         /// Leak rate.
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
mod spec;

pub use family::{BuildError, Descriptor, Entry, descriptor, make};
pub use kind::Kind;
pub use refusal::{Problem, Refusal, check, read, there_is};
pub use spec::{ParamSpec, Params, Preset, Role};

/// Declares a parameter struct with defaults, units, documentation and ranges in one place, and its presets, if any.
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty $(= $default:expr)?, $unit:literal
            $(, $low:literal ..= $high:literal)? $(, role = $role:ident)?
            $(, label = $label:literal)? $(, example = $example:expr)?;)*
    } $(presets {
        $first:literal => $first_values:tt
        $(, $preset:literal => $values:tt)* $(,)?
    })?) => {
        $(#[$meta])*
        #[derive(Clone, Debug, serde::Deserialize, serde::Serialize)]
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
                    doc: concat!("Named set of parameter values. Parameters that are given as well override the set. One of ", $first $(, ", ", $preset)*, "."),
                    unit: "",
                    kind: $crate::Kind::Choice(vec![$first $(, $preset)*]),
                    optional: false,
                    required: false,
                    default: $first.into(),
                    range: None,
                    role: None,
                    label: "",
                    example: serde_json::Value::Null,
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
                    label: concat!($($label)?),
                    example: $crate::params!(@example $type $(, $example)?),
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
    (@role off) => { Some($crate::Role::Off) };
    (@role share) => { Some($crate::Role::Share) };
    (@example $type:ty) => { serde_json::Value::Null };
    (@example $type:ty, $example:expr) => { { let example: $type = $example; serde_json::json!(example) } };
    (@range) => { None };
    (@range $low:literal ..= $high:literal) => { Some(($low as f64, $high as f64)) };
}
