//! The part of the text that a diagnostic is about.

use std::ops::Range;

use super::diagnostic::Diagnostic;
use super::options::Compat;
use super::position::Position;
use super::source::{line_range, offset_of_column};
use super::token::Lexer;

impl Diagnostic {
    /// The byte range of the token at this position in `text`, which [`translate`](crate::translate) was given; empty at
    /// the end of a line, and `None` if the position is unknown.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_pluscal::{Options, translate};
    ///
    /// let module = "---- MODULE M ----\n(* --algorithm M begin\n  Start: goto Nowhere;\nend algorithm; *)\n====\n";
    /// let problems = translate(module, &Options::default()).unwrap_err();
    /// assert_eq!(&module[problems[0].span(module).unwrap()], "goto");
    /// ```
    pub fn span(&self, text: &str) -> Option<Range<usize>> {
        let line = line_range(text, self.line)?;
        let start = line.start + offset_of_column(&text[line.clone()], self.column);
        let rest = &text[start..line.end];
        let code = [rest.chars().collect()];
        let mut lexer = Lexer::new(&code, Position { line: 1, column: 1 }, Compat::Today);
        let length = match lexer.next() {
            Ok(Some(token)) if token.position.column == 1 => lexer.position().column - 1,
            // No token begins here.
            _ => 1,
        };
        Some(start..rest.char_indices().nth(length).map_or(line.end, |(end, _)| start + end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_is_the_token_at_the_position() {
        let text = "a :=\tbc \\in <<\r\n\t\"x y\" \u{e9}(* c *)";
        for ((line, column), expected) in [
            ((1, 1), "a"),
            ((1, 3), ":="),
            // A tabulator reaches to column 8.
            ((1, 9), "bc"),
            ((1, 10), "c"),
            ((1, 12), "\\in"),
            ((1, 16), "<<"),
            ((1, 18), ""),
            ((1, 99), ""),
            ((2, 9), "\"x y\""),
            // No token begins at a blank, a foreign character or a comment.
            ((2, 14), " "),
            ((2, 15), "\u{e9}"),
            ((2, 16), "("),
        ] {
            let diagnostic = Diagnostic { line, column, message: String::new() };
            let span = diagnostic.span(text).unwrap();
            assert_eq!(&text[span], expected, "{line}:{column}");
        }
        for line in [0, 3] {
            assert_eq!(Diagnostic { line, column: 1, message: String::new() }.span(text), None);
        }
    }
}
