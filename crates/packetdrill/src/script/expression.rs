//! Expressions of Python over names of `tcp_info`: arithmetic, comparisons, `and`, `or`, `not`.

use std::iter::Peekable;
use std::vec::IntoIter;

/// A name that the model cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

/// Reason for which a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The parser does not understand the text.
    Unknown(String),
    /// The text has too many operators.
    TooLong(String),
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// A variable, a constant, or a field of `tcp_info`.
    Name(String),
    /// `-` or `not` with its operand.
    Unary(Operator, Box<Expression>),
    /// Arithmetic, `and`, `or`.
    Binary(Operator, Box<[Expression; 2]>),
    /// Operands and the comparisons between them: `1 <= a < 3` has two.
    Comparison(Vec<Expression>, Vec<Operator>),
}

/// An operator.
pub type Operator = &'static str;

/// Operators and opening parentheses of an expression. Each may add a level to the tree, which parser and evaluation
/// descend on the stack.
const MOST_OPERATORS: usize = 100;

/// Left-associative operators from the weakest to the strongest, as in Python.
const LEVELS: [&[Operator]; 5] = [&["|"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "//", "/", "%"]];
const COMPARISONS: [Operator; 6] = ["==", "!=", "<=", ">=", "<", ">"];
/// Operators of several characters come before those that they begin with.
const SYMBOLS: [Operator; 18] =
    ["==", "!=", "<=", ">=", "<<", ">>", "//", "<", ">", "+", "-", "*", "/", "%", "&", "|", "(", ")"];

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Symbol(Operator),
}

impl Token {
    /// Whether the token may add a level to the tree.
    fn deepens(&self) -> bool {
        match self {
            Token::Number(_) => false,
            Token::Name(name) => ["and", "or", "not"].contains(&name.as_str()),
            Token::Symbol(symbol) => *symbol != ")",
        }
    }
}

impl Expression {
    /// Parse an expression.
    pub(super) fn parse(text: &str) -> Result<Expression, Fault> {
        let problem =
            |reason: String| Fault::Unknown(format!("{reason} in the expression {:?}", text.trim()));
        let tokens = tokens(text).map_err(problem)?;
        if tokens.iter().filter(|token| token.deepens()).count() > MOST_OPERATORS {
            return Err(Fault::TooLong(format!("an expression of more than {MOST_OPERATORS} operators")));
        }
        let mut parser = Parser { tokens: tokens.into_iter().peekable() };
        let expression = parser.alternatives().map_err(problem)?;
        match parser.tokens.next() {
            None => Ok(expression),
            Some(token) => Err(problem(format!("unexpected {token:?}"))),
        }
    }

    /// Evaluate the expression. `read` returns the value of a name.
    ///
    /// # Errors
    /// If a name that decides the value has none.
    pub fn value(&self, read: &dyn Fn(&str) -> Option<f64>) -> Result<f64, Unreadable> {
        let truth = |is_true: bool| f64::from(u8::from(is_true));
        Ok(match self {
            Expression::Number(value) => *value,
            Expression::Name(name) => read(name).ok_or_else(|| Unreadable(name.clone()))?,
            Expression::Unary("not", operand) => truth(operand.value(read)? == 0.0),
            Expression::Unary(_, operand) => -operand.value(read)?,
            Expression::Binary(operator @ ("and" | "or"), operands) => {
                let first = operands[0].value(read)?;
                if (first != 0.0) == (*operator == "or") { first } else { operands[1].value(read)? }
            }
            Expression::Binary(operator, operands) => {
                calculate(operator, operands[0].value(read)?, operands[1].value(read)?)
            }
            Expression::Comparison(operands, operators) => {
                let values: Vec<f64> =
                    operands.iter().map(|operand| operand.value(read)).collect::<Result<_, _>>()?;
                truth(
                    values
                        .windows(2)
                        .zip(operators)
                        .all(|(pair, operator)| compare(operator, pair[0], pair[1])),
                )
            }
        })
    }

    /// Names in the expression, in their order.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Expression::Number(_) => Vec::new(),
            Expression::Name(name) => vec![name],
            Expression::Unary(_, operand) => operand.names(),
            Expression::Binary(_, operands) => operands.iter().flat_map(Expression::names).collect(),
            Expression::Comparison(operands, _) => operands.iter().flat_map(Expression::names).collect(),
        }
    }
}

fn calculate(operator: &str, a: f64, b: f64) -> f64 {
    let (left, right) = (a as i64, b as i64);
    match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "//" => (a / b).floor(),
        "%" => a - b * (a / b).floor(),
        "<<" => (left << (right & 63)) as f64,
        ">>" => (left >> (right & 63)) as f64,
        "&" => (left & right) as f64,
        _ => (left | right) as f64,
    }
}

fn compare(operator: &str, a: f64, b: f64) -> bool {
    match operator {
        "==" => a == b,
        "!=" => a != b,
        "<=" => a <= b,
        ">=" => a >= b,
        "<" => a < b,
        _ => a > b,
    }
}

struct Parser {
    tokens: Peekable<IntoIter<Token>>,
}

impl Parser {
    fn alternatives(&mut self) -> Result<Expression, String> {
        let mut left = self.conjunction()?;
        while self.takes_word("or") {
            left = Expression::Binary("or", Box::new([left, self.conjunction()?]));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expression, String> {
        let mut left = self.negation()?;
        while self.takes_word("and") {
            left = Expression::Binary("and", Box::new([left, self.negation()?]));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, String> {
        if self.takes_word("not") {
            return Ok(Expression::Unary("not", Box::new(self.negation()?)));
        }
        let (mut operands, mut operators) = (vec![self.arithmetic(0)?], Vec::new());
        while let Some(operator) = self.takes(&COMPARISONS) {
            operators.push(operator);
            operands.push(self.arithmetic(0)?);
        }
        Ok(match operators.is_empty() {
            true => operands.remove(0),
            false => Expression::Comparison(operands, operators),
        })
    }

    fn arithmetic(&mut self, level: usize) -> Result<Expression, String> {
        let Some(operators) = LEVELS.get(level) else { return self.operand() };
        let mut left = self.arithmetic(level + 1)?;
        while let Some(operator) = self.takes(operators) {
            left = Expression::Binary(operator, Box::new([left, self.arithmetic(level + 1)?]));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression, String> {
        match self.tokens.next() {
            Some(Token::Number(value)) => Ok(Expression::Number(value)),
            Some(Token::Name(name)) if name == "True" => Ok(Expression::Number(1.0)),
            Some(Token::Name(name)) if name == "False" => Ok(Expression::Number(0.0)),
            Some(Token::Name(name)) => Ok(Expression::Name(name)),
            Some(Token::Symbol("-")) => Ok(Expression::Unary("-", Box::new(self.operand()?))),
            Some(Token::Symbol("(")) => {
                let inner = self.alternatives()?;
                self.takes(&[")"]).ok_or("a parenthesis is not closed")?;
                Ok(inner)
            }
            Some(token) => Err(format!("unexpected {token:?}")),
            None => Err("an operand is missing".into()),
        }
    }

    /// Take the next token if it is one of these operators.
    fn takes(&mut self, operators: &[Operator]) -> Option<Operator> {
        let next = |token: &Token| matches!(token, Token::Symbol(symbol) if operators.contains(symbol));
        match self.tokens.next_if(next) {
            Some(Token::Symbol(symbol)) => Some(symbol),
            _ => None,
        }
    }

    fn takes_word(&mut self, word: &str) -> bool {
        self.tokens.next_if(|token| matches!(token, Token::Name(name) if name == word)).is_some()
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let (mut rest, mut found) = (text.trim_start(), Vec::new());
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_alphanumeric() || first == '_' || first == '.' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
            found.push(match first.is_ascii_alphabetic() || first == '_' {
                true => Token::Name(word.to_owned()),
                false => Token::Number(number(word).ok_or_else(|| format!("no number: {word:?}"))?),
            });
            rest = after.trim_start();
        } else {
            let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
            let symbol = symbol.ok_or_else(|| format!("unknown operator {first:?}"))?;
            found.push(Token::Symbol(symbol));
            rest = rest[symbol.len()..].trim_start();
        }
    }
    Ok(found)
}

fn number(word: &str) -> Option<f64> {
    match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok().map(f64::from),
        None => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, Unreadable> {
        let read = |name: &str| match name {
            "a" => Some(3.0),
            "b" => Some(10.0),
            _ => None,
        };
        Expression::parse(text).unwrap().value(&read)
    }

    #[test]
    fn operators_bind_as_in_python() {
        assert_eq!(value("2 + 3 * 4 - 8 // 3"), Ok(12.0));
        assert_eq!(value("-7 % 4 + (1 << 4 | 1)"), Ok(18.0));
        assert_eq!(value("not a == 3 or b & 2 == 2"), Ok(1.0));
        assert_eq!(value("not (a == 3 or b == 3)"), Ok(0.0));
        assert_eq!(value("0x10 / 32"), Ok(0.5));
    }

    #[test]
    fn comparisons_may_be_chained() {
        assert_eq!(value("1 <= a < b"), Ok(1.0));
        assert_eq!(value("1 <= b < a"), Ok(0.0));
    }

    #[test]
    fn only_names_that_decide_are_read() {
        assert_eq!(value("a == 3 or unknown == 1"), Ok(1.0));
        assert_eq!(value("a == 3 and unknown == 1"), Err(Unreadable("unknown".into())));
    }

    #[test]
    fn errors_name_the_expression() {
        for text in ["a ==", "(a", "a b", "a ? b", "1.2.3"] {
            let Fault::Unknown(reason) = Expression::parse(text).unwrap_err() else { panic!("{text}") };
            assert!(reason.contains(text), "{text}");
        }
    }
}
