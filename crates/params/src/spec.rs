//! Descriptions of parameters.

use crate::kind::Kind;
use serde_json::Value;

/// Description of one parameter, for validation, the command line and the documentation.
#[derive(Clone, Debug)]
pub struct ParamSpec {
    /// Name in scenario files.
    pub name: &'static str,
    /// Effect of the parameter.
    pub doc: &'static str,
    /// Unit of the value; empty for pure numbers, switches and choices.
    pub unit: &'static str,
    /// Kind of the parameter's values.
    pub kind: Kind,
    /// Whether null is allowed.
    pub optional: bool,
    /// Whether the parameter has no default and must be given.
    pub required: bool,
    /// Default value; null if the parameter has no default.
    pub default: Value,
    /// Smallest and largest valid value of a number.
    pub range: Option<(f64, f64)>,
    /// Role of the parameter, if it has a role.
    pub role: Option<Role>,
    /// Short name in figures and tables; empty if figures and tables use `name`.
    pub label: &'static str,
    /// Usual value of a parameter without a default, for documentation; null if none is declared.
    pub example: Value,
}

/// Meaning of a parameter for code that uses a whole family, not a single entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Limit of a queue, in the unit of the parameter; null: no limit.
    Limit,
    /// Rate limit of a link in bits per second; null: no limit.
    Rate,
    /// The value 0 disables the effect of the parameter; scenario files write 0 as "off".
    Off,
    /// A share or a probability, which figures show in percent.
    Share,
}

impl Role {
    /// Name of the role in catalogues.
    pub fn name(self) -> &'static str {
        match self {
            Role::Limit => "limit",
            Role::Rate => "rate",
            Role::Off => "off",
            Role::Share => "share",
        }
    }
}

/// A named set of values.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name of the preset.
    pub name: &'static str,
    /// Values by parameter.
    pub values: fn() -> Vec<(&'static str, Value)>,
}

/// Parameters of one entry of a registry, implemented by [`params!`](crate::params).
pub trait Params: serde::de::DeserializeOwned + Default {
    /// The presets, the default preset first; empty if there are no presets.
    const PRESETS: &'static [Preset] = &[];

    /// Descriptions of all parameters.
    fn specs() -> Vec<ParamSpec>;
}
