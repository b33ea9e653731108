//! Errors of parameter values: unknown names and values out of range.

use crate::{ParamSpec, Params, Preset};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt;

/// A problem of one parameter, or of the parameters as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the parameter; empty if the problem is not of a single parameter.
    pub name: String,
    /// The problem and what to write instead.
    pub message: String,
}

impl Problem {
    /// Creates a problem of the parameter `name`.
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { name: name.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.name.is_empty() { "" } else { ": " };
        write!(f, "{}{colon}{}", self.name, self.message)
    }
}

/// All problems of the parameters of one entry; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub Vec<Problem>);

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        Refusal(vec![problem])
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        f.write_str(&lines.join("; "))
    }
}

impl std::error::Error for Refusal {}

/// End of an error about an unknown name, after "unknown ...": `; there is a, b, c` with all `known` names.
pub fn there_is<'a>(known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    if known.is_empty() { String::new() } else { format!("; there is {}", known.join(", ")) }
}

/// Reads parameters from a JSON object (null: the defaults).
///
/// # Errors
/// If a name is unknown or missing, or a value is of the wrong type or out of range. The error lists all these
/// problems.
pub fn read<P: Params>(value: &Value) -> Result<P, Refusal> {
    let none = Value::Object(Map::new());
    let given = if value.is_null() { &none } else { value };
    let Some(values) = given.as_object() else {
        return Err(Problem::new("", format!("{given} is wrong; it must be a table")).into());
    };
    if P::PRESETS.is_empty() {
        check_all(&P::specs(), values)?;
        return deserialize(given);
    }
    let laid = on_preset(P::PRESETS, values.clone())?;
    check_all(&P::specs(), &laid)?;
    deserialize(&Value::Object(laid))
}

/// Checks the ranges of parameters that were not read with [`read`].
///
/// # Errors
/// If values are out of range. The error lists all these problems.
pub fn check<P: Params + Serialize>(values: &P) -> Result<(), Refusal> {
    match serde_json::to_value(values) {
        Ok(Value::Object(values)) => check_all(&P::specs(), &values),
        _ => Err(Problem::new("", "the parameters are not a table").into()),
    }
}

fn deserialize<P: Params>(value: &Value) -> Result<P, Refusal> {
    P::deserialize(value).map_err(|e| Problem::new("", e.to_string()).into())
}

fn check_all(specs: &[ParamSpec], values: &Map<String, Value>) -> Result<(), Refusal> {
    let known = || specs.iter().map(|spec| spec.name);
    let unknown = values.keys().filter(|name| known().all(|known| known != name.as_str()));
    let unknown = unknown.map(|name| Problem::new(name, format!("unknown{}", there_is(known()))));
    let problems: Vec<Problem> =
        unknown.chain(specs.iter().filter_map(|spec| spec.problem(values))).collect();
    if problems.is_empty() { Ok(()) } else { Err(Refusal(problems)) }
}

impl ParamSpec {
    /// Returns the problem of this parameter in `values`, if there is a problem.
    fn problem(&self, values: &Map<String, Value>) -> Option<Problem> {
        let message = match values.get(self.name) {
            None if self.required => format!("missing; it must be {}", self.kind),
            None => return None,
            Some(given) if self.optional && given.is_null() => return None,
            Some(given) if !self.kind.takes(given) => format!("{given} is wrong; it must be {}", self.kind),
            Some(given) => {
                let (x, (low, high)) = (given.as_f64()?, self.range?);
                if (low..=high).contains(&x) {
                    return None;
                }
                format!("{x} is out of range; it must lie between {low} and {high}")
            }
        };
        Some(Problem::new(self.name, message))
    }
}

/// Adds the values of the selected preset for parameters that are not given.
fn on_preset(presets: &[Preset], mut given: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    let Some(default) = presets.first() else { return Ok(given) };
    let named = given.remove("preset").unwrap_or_else(|| default.name.into());
    let Some(preset) = presets.iter().find(|preset| named == preset.name) else {
        let known = there_is(presets.iter().map(|preset| preset.name));
        return Err(Problem::new("preset", format!("unknown value {named}{known}")).into());
    };
    for (name, value) in (preset.values)() {
        given.entry(name).or_insert(value);
    }
    Ok(given)
}
