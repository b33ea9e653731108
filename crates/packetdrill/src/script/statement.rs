//! Statements of a script: lines, joined where parentheses, shell blocks or code blocks are open.

use super::Malformed;

/// Split the text of a script into statements without comments, each with the line on which it begins.
pub(super) fn statements(text: &str) -> Result<Vec<(usize, String)>, Malformed> {
    let mut splitter = Splitter { rest: text, line: 1, ..Splitter::default() };
    while !splitter.rest.is_empty() {
        splitter.step()?;
    }
    splitter.finish();
    Ok(splitter.found)
}

#[derive(Default)]
struct Splitter<'a> {
    rest: &'a str,
    line: usize,
    /// Line on which the current statement begins.
    start: usize,
    current: String,
    /// Open parentheses, brackets and braces.
    depth: i32,
    found: Vec<(usize, String)>,
}

impl<'a> Splitter<'a> {
    fn step(&mut self) -> Result<(), Malformed> {
        let blocks = [("`", "`"), ("%{", "}%")];
        if let Some((open, close)) = blocks.into_iter().find(|(open, _)| self.rest.starts_with(open)) {
            let block = self.until(open, close)?;
            self.begin();
            self.current.push_str(block);
            self.line += lines(block);
        } else if self.rest.starts_with("/*") {
            let comment = self.until("/*", "*/")?;
            self.line += lines(comment);
        } else if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.rest = &self.rest[end..];
        } else if let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            self.take(c);
        }
        Ok(())
    }

    /// Take the text from `open` to the next `close`, both included.
    fn until(&mut self, open: &str, close: &str) -> Result<&'a str, Malformed> {
        let Some(at) = self.rest[open.len()..].find(close) else {
            return Err(Malformed { line: self.line, reason: format!("{open} without {close}") });
        };
        let (block, rest) = self.rest.split_at(open.len() + at + close.len());
        self.rest = rest;
        Ok(block)
    }

    fn take(&mut self, c: char) {
        match c {
            '(' | '[' | '{' => self.depth += 1,
            ')' | ']' | '}' => self.depth -= 1,
            _ => {}
        }
        if c != '\n' {
            if !c.is_whitespace() {
                self.begin();
            }
            return self.current.push(c);
        }
        self.line += 1;
        if self.depth > 0 {
            self.current.push(' ');
        } else {
            self.finish();
        }
    }

    /// Record the line of the first character of a statement.
    fn begin(&mut self) {
        if self.current.trim().is_empty() {
            self.start = self.line;
        }
    }

    fn finish(&mut self) {
        let statement = std::mem::take(&mut self.current);
        if !statement.trim().is_empty() {
            self.found.push((self.start, statement.trim().to_owned()));
        }
        self.depth = 0;
    }
}

fn lines(text: &str) -> usize {
    text.matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_open_parentheses_join_lines() {
        let text =
            "// first\n0 close(3,\n  4) = 0 // end\n+0 %{\nassert 1\n}%\n`a\nb`\n/* x\n */ +1 close(5) = 0";
        let found = statements(text).unwrap();
        let expected =
            [(2, "0 close(3,   4) = 0"), (4, "+0 %{\nassert 1\n}%"), (7, "`a\nb`"), (10, "+1 close(5) = 0")];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn an_open_block_is_an_error() {
        assert_eq!(statements("\n`sysctl").unwrap_err().reason, "` without `");
    }
}
