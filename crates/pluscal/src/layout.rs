//! A buffer for the text of a translation: the finished lines, and the open line that is still being written.

use super::expr::Expr;
use super::origin::{Line, Origin};
use super::position::Position;

#[derive(Debug, Default)]
pub(super) struct Layout {
    lines: Vec<Line>,
    open: Line,
}

impl Layout {
    /// Appends text to the open line.
    pub(super) fn write(&mut self, text: &str) {
        self.open.text.push_str(text);
    }

    /// Appends text to the open line and records that it comes from this position in the algorithm.
    pub(super) fn write_from(&mut self, text: &str, position: Position) {
        // Text that the translator made has no origin.
        if position != Position::default() {
            self.open.origins.push(Origin { column: self.column(), width: width(text), position });
        }
        self.write(text);
    }

    /// The width of the open line.
    pub(super) fn column(&self) -> usize {
        width(&self.open.text)
    }

    pub(super) fn end_line(&mut self) {
        if !self.open.text.is_empty() {
            self.lines.push(std::mem::take(&mut self.open));
        }
    }

    /// Adds a line without origins, after the open one.
    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.end_line();
        self.lines.push(plain(text.into()));
    }

    pub(super) fn lines(&mut self, lines: Vec<String>) {
        self.end_line();
        self.lines.extend(lines.into_iter().map(plain));
    }

    pub(super) fn blank(&mut self) {
        self.line("");
    }

    /// Appends an expression with its lines aligned. Its last line stays open.
    pub(super) fn expression(&mut self, expr: &Expr) {
        let indent = self.column();
        for (number, (text, mut origins)) in expr.to_lines().into_iter().zip(expr.origins()).enumerate() {
            for origin in &mut origins {
                origin.column += indent;
            }
            if number == 0 {
                self.open.origins.extend(origins);
                self.write(&text);
                continue;
            }
            let text = format!("{}{text}", spaces(indent));
            self.lines.push(std::mem::replace(&mut self.open, Line { text, origins }));
        }
    }

    /// The number of finished lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Inserts lines before the finished line with this index.
    pub(super) fn insert(&mut self, number: usize, lines: Vec<String>) {
        self.lines.splice(number..number, lines.into_iter().map(plain));
    }

    /// The finished lines from an index on.
    pub(super) fn lines_mut(&mut self, from: usize) -> &mut [Line] {
        &mut self.lines[from..]
    }

    pub(super) fn into_lines(mut self) -> Vec<Line> {
        self.end_line();
        self.lines
    }
}

fn plain(text: String) -> Line {
    Line { text, origins: Vec::new() }
}

/// The width of a text in columns.
pub(super) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

pub(super) fn spaces(count: usize) -> String {
    " ".repeat(count)
}

/// Names separated by commas, in lines of at most `limit` columns if possible.
pub(super) fn wrapped(names: &[&str], limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for (number, name) in names.iter().enumerate() {
        if number > 0 {
            line.push_str(", ");
        }
        if line.len() + name.len() > limit && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(name);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Whether a value after `=` gets parentheses, because there is an operator outside of all brackets that may bind weaker
/// than `=`. It reads only the first line, once for every line of the value, as the reference does.
pub(super) fn needs_parentheses(lines: &[String]) -> bool {
    let Some(first) = lines.first() else { return false };
    let chars: Vec<char> = first.chars().collect();
    let mut depth = 0_usize;
    let mut in_string = false;
    for _ in lines {
        let mut index = 0;
        while index < chars.len() {
            let (this, next) = (chars[index], chars.get(index + 1).copied().unwrap_or(' '));
            let before = index.checked_sub(1).map(|before| chars[before]);
            if in_string {
                match this {
                    '"' => in_string = false,
                    '\\' => index += 1,
                    _ => {}
                }
                index += 1;
                continue;
            }
            let weak = match this {
                '"' => {
                    in_string = true;
                    false
                }
                '=' | '#' => true,
                '<' | '>' => next != this,
                '|' => next == '-' || before == Some('-'),
                '\\' => !matches!(next, ' ' | 'o' | 'X'),
                '/' => next == '\\',
                _ => false,
            };
            if weak && depth == 0 {
                return true;
            }
            match this {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' if depth == 0 => return true,
                ')' | ']' | '}' => depth -= 1,
                '<' if next == '<' => {
                    depth += 1;
                    index += 1;
                }
                '>' if next == '>' => {
                    if depth == 0 {
                        return true;
                    }
                    depth -= 1;
                    index += 1;
                }
                _ => {}
            }
            index += 1;
        }
        if in_string {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::expr::{Token, TokenKind};
    use super::*;

    #[test]
    fn a_value_with_a_weak_operator_outside_brackets_is_parenthesised() {
        let needs = |text: &str| needs_parentheses(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        for text in
            ["a = b", "a # b", "a /\\ b", "\\lnot a", "a < b", "a > b", "a |- b", "a)", "a >> b", "\"a", "a => (b)"]
        {
            assert!(needs(text), "{text}");
        }
        for text in
            ["", "a + b", "(a = b)", "<< a = b >>", "{a < b}", "\"a = b\"", "a \\o b", "a \\X b", "a | b", "f[a = b]"]
        {
            assert!(!needs(text), "{text}");
        }
        // Only the first line is read, once for each line.
        assert!(!needs("f[1,\n  2] = 3"));
    }

    #[test]
    fn names_are_broken_into_lines() {
        assert_eq!(wrapped(&["a", "bb", "ccc"], 7), ["a, bb, ", "ccc"]);
        assert_eq!(wrapped(&["a", "bb"], 0), ["a, ", "bb"]);
        assert!(wrapped(&[], 5).is_empty());
    }

    #[test]
    fn an_expression_is_indented_where_it_begins() {
        let expr = |lines: &[&str]| {
            let line = |line: &&str| vec![Token::new(*line, 0, TokenKind::Builtin)];
            Expr::from_lines(lines.iter().map(line).collect())
        };
        let mut layout = Layout::default();
        layout.write("x == ");
        layout.expression(&expr(&["a", "b", "c"]));
        layout.write(" + 1");
        layout.blank();
        layout.expression(&expr(&["d", "e"]));
        let lines: Vec<String> = layout.into_lines().into_iter().map(|line| line.text).collect();
        assert_eq!(lines, ["x == a", "     b", "     c + 1", "", "d", "e"]);
    }
}
