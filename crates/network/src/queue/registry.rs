//! The list of queue disciplines.

use super::{DropTail, QueueDiscipline, drop_tail};
use serde_json::Value;
use thiserror::Error;

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

/// What a queue discipline is called and where it comes from.
pub struct Descriptor {
    /// Name in scenario files.
    pub name: &'static str,
    /// One line that says what it is.
    pub title: &'static str,
    /// The source it follows.
    pub source: &'static str,
    /// Its parameters.
    pub params: fn() -> Vec<ParamSpec>,
}

/// Why a queue could not be built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// No queue discipline of that name.
    #[error("unknown queue \"{0}\"; known: {known}", known = names().join(", "))]
    Unknown(String),
    /// A parameter is wrong.
    #[error("{queue}: {problem}")]
    Params {
        /// The queue discipline.
        queue: &'static str,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

/// A queue discipline as the registry sees it: its parameters, and how to make one.
pub(super) trait Discipline<P: Copy>: QueueDiscipline<P> + Sized + 'static {
    /// Its parameter struct.
    type Params: serde::de::DeserializeOwned;

    /// An empty queue.
    fn new(params: Self::Params) -> Self;
}

macro_rules! queues {
    ($($name:literal => $type:ident, $params:path, $title:literal, $source:literal;)*) => {
        static DESCRIPTORS: &[Descriptor] =
            &[$(Descriptor { name: $name, title: $title, source: $source, params: $params },)*];

        /// Makes the queue called `kind`, with `params` as a JSON object (null for the defaults).
        ///
        /// # Errors
        /// If there is no such queue, or a parameter is unknown, of the wrong type or out of range.
        pub fn build<P: Copy + Send + 'static>(
            kind: &str,
            params: &Value,
        ) -> Result<Box<dyn QueueDiscipline<P>>, BuildError> {
            match kind {
                $($name => make::<P, $type<P>>(params, &$params())
                    .map_err(|problem| BuildError::Params { queue: $name, problem }),)*
                _ => Err(BuildError::Unknown(kind.to_owned())),
            }
        }
    };
}

queues! {
    "drop_tail" => DropTail, drop_tail::params, "First in, first out, with a limit", "Linux net/sched/sch_fifo.c";
}

fn make<P: Copy + Send + 'static, D: Discipline<P>>(
    params: &Value,
    specs: &[ParamSpec],
) -> Result<Box<dyn QueueDiscipline<P>>, String> {
    let params = if params.is_null() { Value::Object(Default::default()) } else { params.clone() };
    for spec in specs {
        let given = params.get(spec.name).and_then(Value::as_f64);
        if let (Some(x), Some((low, high))) = (given, spec.range)
            && !(low..=high).contains(&x)
        {
            return Err(format!("{} = {x} is out of range; it must lie between {low} and {high}", spec.name));
        }
    }
    let params: D::Params = serde_json::from_value(params).map_err(|e| e.to_string())?;
    Ok(Box::new(D::new(params)))
}

fn names() -> Vec<&'static str> {
    DESCRIPTORS.iter().map(|d| d.name).collect()
}

/// Every queue discipline there is.
pub fn descriptors() -> &'static [Descriptor] {
    DESCRIPTORS
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(kind: &str, params: Value) -> String {
        build::<u8>(kind, &params).err().map(|e| e.to_string()).unwrap_or_default()
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(error("red", json!({})), "unknown queue \"red\"; known: drop_tail");
        assert!(error("drop_tail", json!({"packets": -1})).contains("packets = -1 is out of range"));
        assert!(error("drop_tail", json!({"packet": 1})).contains("unknown field `packet`"));
        assert_eq!(error("drop_tail", Value::Null), "");
    }

    #[test]
    fn every_default_builds() {
        for descriptor in descriptors() {
            let defaults =
                (descriptor.params)().into_iter().map(|s| (s.name.to_owned(), s.default)).collect();
            assert!(build::<u8>(descriptor.name, &Value::Object(defaults)).is_ok(), "{}", descriptor.name);
        }
    }
}
