//! What is wrong with a plan, where, and what to do about it.

use thiserror::Error;

/// A plan that cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{}{message}", path, if path.is_empty() { "" } else { ": " })]
pub struct PlanError {
    /// Where, for example `flows[1].cca`; empty for the plan as a whole.
    pub path: String,
    /// What, and what would be right.
    pub message: String,
}

impl PlanError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> PlanError {
        let path: String = path.into();
        // The deserializer calls the top level ".".
        PlanError { path: if path == "." { String::new() } else { path }, message: message.into() }
    }

    /// The first of the problems of what is at `path`.
    pub(super) fn of_first(path: &str, problems: Vec<params::Problem>) -> PlanError {
        let first = problems.into_iter().next().unwrap_or_else(|| params::Problem::new("", "wrong"));
        let path = if first.name.is_empty() { path.to_owned() } else { format!("{path}.{}", first.name) };
        PlanError::new(path, first.message)
    }
}
