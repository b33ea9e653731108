//! Parameters: one documented struct per algorithm or queue, its defaults from the cited source.
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
//! }
//! assert_eq!(read::<Bucket>(&serde_json::json!({})).unwrap().rate, 1.5);
//! let error = read::<Bucket>(&serde_json::json!({ "rate": -1 })).unwrap_err();
//! assert_eq!(error, "rate = -1 is out of range; it must lie between 0 and 1000000000");
//! let error = read::<Bucket>(&serde_json::json!({ "rate": "fast" })).unwrap_err();
//! assert_eq!(error, "rate = \"fast\" is wrong; it must be a number");
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
//! let error = read::<Bucket>(&serde_json::json!({ "preset": "old" })).unwrap_err();
//! assert_eq!(error, "preset = \"old\" is unknown; known: sound, broken");
//! ```

mod kind;

pub use kind::Kind;

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
    /// Default value.
    pub default: Value,
    /// Smallest and largest value allowed, for numbers.
    pub range: Option<(f64, f64)>,
}

/// A named set of values.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its values by parameter.
    pub values: fn() -> Vec<(&'static str, Value)>,
}

/// Parameters of one algorithm: what [`params!`] generates.
pub trait Params: serde::de::DeserializeOwned + Default {
    /// The presets, the default one first; empty if there is no choice.
    const PRESETS: &'static [Preset] = &[];

    /// A description of every parameter.
    fn specs() -> Vec<ParamSpec>;
}

/// Reads parameters from a JSON object (null: the defaults).
///
/// # Errors
/// If a name is unknown, or a value is of the wrong type or out of range.
pub fn read<P: Params>(value: &Value) -> Result<P, String> {
    let given = if value.is_null() { Value::Object(Default::default()) } else { value.clone() };
    let value = on_preset(P::PRESETS, given)?;
    for spec in P::specs() {
        let Some(given) = value.get(spec.name).filter(|given| !(spec.optional && given.is_null())) else {
            continue;
        };
        if !spec.kind.takes(given) {
            return Err(format!("{} = {given} is wrong; it must be {}", spec.name, spec.kind));
        }
        if let (Some(x), Some((low, high))) = (given.as_f64(), spec.range)
            && !(low..=high).contains(&x)
        {
            return Err(format!("{} = {x} is out of range; it must lie between {low} and {high}", spec.name));
        }
    }
    serde_json::from_value(value).map_err(|e| e.to_string())
}

/// Lays the values that were given over those of the preset that was named.
fn on_preset(presets: &[Preset], mut value: Value) -> Result<Value, String> {
    let (Some(default), Some(given)) = (presets.first(), value.as_object_mut()) else { return Ok(value) };
    let named = given.remove("preset").unwrap_or_else(|| default.name.into());
    let preset = presets.iter().find(|p| named == p.name).ok_or_else(|| {
        let known: Vec<_> = presets.iter().map(|p| p.name).collect();
        format!("preset = {named} is unknown; known: {}", known.join(", "))
    })?;
    for (name, value) in (preset.values)() {
        given.entry(name).or_insert(value);
    }
    Ok(value)
}

/// Declares a parameter struct with defaults, units, documentation and ranges in one place, and its presets if it has
/// any.
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr, $unit:literal $(, $low:literal ..= $high:literal)?;)*
    } $(presets {
        $first:literal => $first_values:tt
        $(, $preset:literal => $values:tt)* $(,)?
    })?) => {
        $(#[$meta])*
        #[derive(Clone, Debug, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $($(#[doc = $doc])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self { $name { $($field: $default,)* } }
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
                    default: $first.into(),
                    range: None,
                },)? $($crate::ParamSpec {
                    name: stringify!($field),
                    doc: concat!($($doc),*).trim(),
                    unit: $unit,
                    kind: $crate::Kind::of::<$type>().0,
                    optional: $crate::Kind::of::<$type>().1,
                    default: { let default: $type = $default; serde_json::json!(default) },
                    range: $crate::params!(@range $($low ..= $high)?),
                },)*]
            }
        }
    };
    (@values { $($field:ident: $value:expr),* $(,)? }) => {
        vec![$((stringify!($field), serde_json::json!($value)),)*]
    };
    (@range) => { None };
    (@range $low:literal ..= $high:literal) => { Some(($low as f64, $high as f64)) };
}
