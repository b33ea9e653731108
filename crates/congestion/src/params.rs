//! Parameters: one documented struct per algorithm, its defaults from the cited source.

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
pub(crate) trait Params: serde::de::DeserializeOwned + Default {
    /// A description of every parameter.
    fn specs() -> Vec<ParamSpec>;
}

/// Reads parameters from JSON, refusing unknown names, wrong types and values out of range.
pub(crate) fn read<P: Params>(value: &Value) -> Result<P, String> {
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
macro_rules! params {
    ($(#[doc = $struct_doc:literal])* pub struct $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr, $unit:literal $(, $low:literal ..= $high:literal)?;)*
    }) => {
        $(#[doc = $struct_doc])*
        #[derive(Clone, Debug, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $($(#[doc = $doc])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self { $name { $($field: $default,)* } }
        }

        impl crate::params::Params for $name {
            fn specs() -> Vec<crate::ParamSpec> {
                vec![$(crate::ParamSpec {
                    name: stringify!($field),
                    doc: concat!($($doc),*).trim(),
                    unit: $unit,
                    default: serde_json::json!($default),
                    range: params!(@range $($low ..= $high)?),
                },)*]
            }
        }
    };
    (@range) => { None };
    (@range $low:literal ..= $high:literal) => { Some(($low as f64, $high as f64)) };
}
pub(crate) use params;
