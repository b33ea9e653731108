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
//! ```

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
    /// Default value.
    pub default: Value,
    /// Smallest and largest value allowed, for numbers.
    pub range: Option<(f64, f64)>,
}

/// Parameters of one algorithm: what [`params!`] generates.
pub trait Params: serde::de::DeserializeOwned + Default {
    /// A description of every parameter.
    fn specs() -> Vec<ParamSpec>;
}

/// Reads parameters from a JSON object (null: the defaults).
///
/// # Errors
/// If a name is unknown, or a value is of the wrong type or out of range.
pub fn read<P: Params>(value: &Value) -> Result<P, String> {
    let value = if value.is_null() { Value::Object(Default::default()) } else { value.clone() };
    for spec in P::specs() {
        let given = value.get(spec.name).and_then(Value::as_f64);
        if let (Some(x), Some((low, high))) = (given, spec.range)
            && !(low..=high).contains(&x)
        {
            return Err(format!("{} = {x} is out of range; it must lie between {low} and {high}", spec.name));
        }
    }
    serde_json::from_value(value).map_err(|e| e.to_string())
}

/// Declares a parameter struct with defaults, units, documentation and ranges in one place.
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr, $unit:literal $(, $low:literal ..= $high:literal)?;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $($(#[doc = $doc])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self { $name { $($field: $default,)* } }
        }

        impl $crate::Params for $name {
            fn specs() -> Vec<$crate::ParamSpec> {
                vec![$($crate::ParamSpec {
                    name: stringify!($field),
                    doc: concat!($($doc),*).trim(),
                    unit: $unit,
                    default: { let default: $type = $default; serde_json::json!(default) },
                    range: $crate::params!(@range $($low ..= $high)?),
                },)*]
            }
        }
    };
    (@range) => { None };
    (@range $low:literal ..= $high:literal) => { Some(($low as f64, $high as f64)) };
}
