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
}

/// `; did you mean "..."?` if one of the `known` names resembles `given`, otherwise the list of known names.
pub(super) fn suggest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let closest = known.iter().map(|name| (distance(given, name), *name)).min();
    match closest {
        Some((edits, name)) if edits <= 1 + name.len() / 4 => format!("; did you mean \"{name}\"?"),
        _ => format!("; known: {}", known.join(", ")),
    }
}

/// Levenshtein distance: single-character insertions, deletions and substitutions from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[row.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        assert_eq!(
            [("cubik", "cubic"), ("", "abc"), ("kitten", "sitting")].map(|(a, b)| distance(a, b)),
            [1, 3, 3]
        );
    }

    #[test]
    fn only_what_resembles_is_suggested() {
        let known = ["reno", "cubic", "bbr1"];
        assert_eq!(suggest("cubik", known), "; did you mean \"cubic\"?");
        assert_eq!(suggest("ledbat", known), "; known: reno, cubic, bbr1");
    }
}
