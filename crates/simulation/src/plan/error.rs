//! Errors of a plan: the problem, its place, and what to write instead.

use thiserror::Error;

/// A plan that cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{}{message}{}", path, if path.is_empty() { "" } else { ": " }, lines(others))]
pub struct PlanError {
    /// Place of the error, for example `flows[1].cca`; empty for the plan as a whole.
    pub path: String,
    /// The problem and what to write instead.
    pub message: String,
    /// Further errors, except errors that cannot be found because of this error.
    pub others: Vec<PlanError>,
}

fn lines(others: &[PlanError]) -> String {
    others.iter().map(|other| format!("\n{other}")).collect()
}

impl PlanError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> PlanError {
        let path: String = path.into();
        // The deserializer calls the top level ".".
        let path = if path == "." { String::new() } else { path };
        PlanError { path, message: message.into(), others: Vec::new() }
    }

    /// All problems of the entry at `path`; there is at least one.
    pub(super) fn of_all(path: &str, problems: Vec<params::Problem>) -> PlanError {
        let errors = problems.into_iter().map(|problem| {
            let dot = if problem.name.is_empty() { "" } else { "." };
            PlanError::new(format!("{path}{dot}{}", problem.name), problem.message)
        });
        PlanError::merged(errors).unwrap_or_else(|| PlanError::new(path, "wrong"))
    }

    /// Merges errors into one; `None` without errors.
    fn merged(errors: impl IntoIterator<Item = PlanError>) -> Option<PlanError> {
        errors.into_iter().reduce(|mut first, other| {
            first.others.extend(other.each());
            first
        })
    }

    /// Splits this error and its further errors into single errors.
    pub fn each(mut self) -> Vec<PlanError> {
        let others = std::mem::take(&mut self.others);
        std::iter::once(self).chain(others).collect()
    }
}

/// Runs several checks and merges all of their errors.
pub(super) fn together(checks: impl IntoIterator<Item = Result<(), PlanError>>) -> Result<(), PlanError> {
    PlanError::merged(checks.into_iter().filter_map(Result::err)).map_or(Ok(()), Err)
}
