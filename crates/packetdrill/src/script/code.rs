//! Code blocks: assertions and assignments. Other statements of Python print, or are not understood.

use super::expression::{Expression, Fault};

/// A statement of a code block.
#[derive(Debug, PartialEq)]
pub enum Statement {
    /// `assert CONDITION, MESSAGE`.
    Assert(Assertion),
    /// `NAME = VALUE`, or `NAME += VALUE` as `NAME = NAME + VALUE`.
    Assign(String, Expression),
    /// A statement that the parser does not understand.
    Unknown(String),
}

/// A condition that must hold.
#[derive(Debug, PartialEq)]
pub struct Assertion {
    /// Text of the condition.
    pub text: String,
    /// The condition.
    pub condition: Expression,
}

/// Parse the text between `%{` and `}%`.
pub(super) fn statements(text: &str) -> Result<Vec<Statement>, String> {
    // A backslash continues a line of the script, not a line of code.
    let lines = text.split(['\n', '\\']).map(|line| line.split('#').next().unwrap_or(""));
    let statements = lines.flat_map(|line| line.split(';')).map(str::trim);
    statements.filter(|text| !text.is_empty() && !text.starts_with("print")).map(statement).collect()
}

/// A statement. The error is an expression that is too long.
fn statement(text: &str) -> Result<Statement, String> {
    match read(text) {
        Ok(statement) => Ok(statement),
        Err(Fault::Unknown(_)) => Ok(Statement::Unknown(format!("code such as {text:?}"))),
        Err(Fault::TooLong(reason)) => Err(reason),
    }
}

fn read(text: &str) -> Result<Statement, Fault> {
    if let Some(condition) = text.strip_prefix("assert") {
        let text = before_comma(condition).trim();
        let condition = Expression::parse(text)?;
        return Ok(Statement::Assert(Assertion { text: text.to_owned(), condition }));
    }
    let unknown = || Fault::Unknown(format!("unknown statement {text:?}"));
    let (target, value) = text.split_once('=').ok_or_else(unknown)?;
    let name = target.trim_end_matches(['+', '-']).trim();
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(unknown());
    }
    let value = match target.trim_end().strip_suffix(['+', '-']) {
        Some(_) => format!("{target}({value})"),
        None => value.to_owned(),
    };
    Ok(Statement::Assign(name.to_owned(), Expression::parse(&value)?))
}

/// The part before the first comma outside of parentheses: a message follows.
fn before_comma(text: &str) -> &str {
    let mut depth = 0;
    let comma = text.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    &text[..comma.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_comments_and_prints_are_left_out() {
        let code = "assert a == (1), 'a=%d' % a # why\nprint(a); assert b < 2; \\\n assert c";
        let texts: Vec<String> = statements(code)
            .unwrap()
            .into_iter()
            .map(|statement| match statement {
                Statement::Assert(assertion) => assertion.text,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(texts, ["a == (1)", "b < 2", "c"]);
    }

    #[test]
    fn assignments_may_add() {
        let plain = Expression::parse("3").unwrap();
        assert_eq!(statement("base = 3"), Ok(Statement::Assign("base".into(), plain)));
        let sum = Expression::parse("base + (3)").unwrap();
        assert_eq!(statement("base += 3"), Ok(Statement::Assign("base".into(), sum)));
    }

    #[test]
    fn loops_and_calls_are_not_understood() {
        for text in ["for x in y:", "import os", "assert len(x) == 3"] {
            assert!(matches!(statement(text), Ok(Statement::Unknown(_))), "{text}");
        }
    }
}
