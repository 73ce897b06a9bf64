//! Finds the algorithm in the text of a module, its code without comments and tabs, and the place of the
//! translation. It does not know the grammar.
//!
//! Lines are counted as if there were nothing between `BEGIN TRANSLATION` and `END TRANSLATION`, so that line numbers in
//! the translation (of assertions, for example) do not depend on the length of an earlier translation.

use std::ops::Range;

use super::diagnostic::Diagnostic;
use super::position::Position;

/// The start of an algorithm.
const ALGORITHM: &str = "--algorithm";
/// The start of a fair algorithm.
const FAIR: &str = "--fair";
/// The distance of tab stops in columns.
const TAB_WIDTH: usize = 8;

/// A syntax error of an algorithm. Its line does not count an earlier translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub position: Position,
    pub message: String,
}

/// The result of a parser function.
pub(super) type ParseResult<T> = Result<T, SyntaxError>;

/// A syntax error as a result.
pub(super) fn syntax_error<T>(position: Position, message: impl Into<String>) -> ParseResult<T> {
    Err(SyntaxError { position, message: message.into() })
}

/// The place of the translation in the text of the module, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TranslationPlace {
    /// An existing block: the line with `BEGIN TRANSLATION` without its line end, and the whole lines between it and the
    /// line with `END TRANSLATION`.
    Block { begin: Range<usize>, between: Range<usize> },
    /// A new block at the start of a line, or at the end of the text, whose last line may have no line end.
    Insert(usize),
}

/// A line of the text without its line end. `start` and `next` are the byte offsets of this line and the next one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub text: &'a str,
    start: usize,
    next: usize,
}

/// The lines of a text, which end with `\n`, `\r\n` or `\r`.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let length = text[start..].find(['\n', '\r']).unwrap_or(text.len() - start);
        let end = start + length;
        let next = if text[end..].starts_with("\r\n") { end + 2 } else { (end + 1).min(text.len()) };
        found.push(Line { text: &text[start..end], start, next });
        start = next;
    }
    found
}

/// The code of an algorithm and its place in the module.
#[derive(Debug)]
pub(super) struct Source {
    /// It starts with `--fair`, so the parser must still read the word `algorithm`.
    pub fair: bool,
    /// The first line of the algorithm and all lines after it, with blanks in place of tabs and comments.
    pub code: Vec<Vec<char>>,
    /// The position after `--algorithm` or `--fair`.
    pub start: Position,
    pub place: TranslationPlace,
    /// The existing translation block, whose lines positions do not count.
    block: Option<Block>,
}

/// Line indices of the two markers of a translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    begin: usize,
    end: usize,
}

impl Block {
    fn contains(self, line: usize) -> bool {
        self.begin < line && line < self.end
    }
}

impl Source {
    /// Finds the algorithm; `None` if there is none.
    pub(super) fn find(lines: &[Line<'_>]) -> Result<Option<Self>, Diagnostic> {
        let begin = find_marker(lines, 0, "BEGIN");
        let end = begin.and_then(|begin| find_marker(lines, begin + 1, "END"));
        let block = begin.zip(end).map(|(begin, end)| Block { begin, end });
        let outside = |line: usize| !block.is_some_and(|block| block.contains(line));
        let start = lines.iter().enumerate().filter(|(number, _)| outside(*number)).find_map(|(number, line)| {
            let plain = line.text.find(ALGORITHM).map(|byte| (number, byte + ALGORITHM.len(), false));
            plain.or_else(|| line.text.find(FAIR).map(|byte| (number, byte + FAIR.len(), true)))
        });
        let Some((number, byte, fair)) = start else { return Ok(None) };
        let hidden =
            |line: usize| block.filter(|block| block.end <= line).map_or(0, |block| block.end - block.begin - 1);
        let column = expand_tabs(&lines[number].text[..byte]).len();
        let first = number - hidden(number);
        let mut source = Self {
            fair,
            code: (number..lines.len())
                .filter(|line| outside(*line))
                .map(|line| expand_tabs(lines[line].text))
                .collect(),
            start: Position { line: first + 1, column: column + 1 },
            place: TranslationPlace::Insert(0),
            block,
        };
        source.place = match (begin, block) {
            (Some(begin), None) => {
                let message = "no line with `END TRANSLATION` follows the one with `BEGIN TRANSLATION`";
                return Err(diagnostic(Position { line: begin + 1, column: 1 }, message.into()));
            }
            (_, Some(Block { begin, end })) => {
                let (begin, end) = (lines[begin], lines[end]);
                TranslationPlace::Block {
                    begin: begin.start..begin.start + begin.text.len(),
                    between: begin.next..end.start,
                }
            }
            (None, None) => {
                // Before comments are removed: the one around the algorithm must still be there.
                let last = source.end_of_comment(column).map_err(|error| source.to_diagnostic(&error))?;
                TranslationPlace::Insert(lines[number + last].next)
            }
        };
        source.uncomment(column).map_err(|error| source.to_diagnostic(&error))?;
        Ok(Some(source))
    }

    /// The error as a diagnostic, whose line counts an earlier translation.
    pub(super) fn to_diagnostic(&self, error: &SyntaxError) -> Diagnostic {
        let mut position = error.position;
        if let Some(block) = self.block
            && position.line > block.begin + 1
        {
            position.line += block.end - block.begin - 1;
        }
        diagnostic(position, error.message.clone())
    }

    fn position(&self, line: usize, column: usize) -> Position {
        Position { line: self.start.line + line, column: column + 1 }
    }

    /// The line, relative to the start of the algorithm, at which the comment around the algorithm ends.
    fn end_of_comment(&self, column: usize) -> ParseResult<usize> {
        // Without regard to strings: to TLA+, the algorithm is a comment, and a comment has none.
        let mut open = vec![self.start];
        // The first comment inside that ends on a later line: perhaps its end was meant for the algorithm's comment.
        let mut long = None;
        for (number, line) in self.code.iter().enumerate() {
            let mut index = if number == 0 { column } else { 0 };
            while index + 1 < line.len() {
                match (line[index], line[index + 1]) {
                    ('(', '*') => open.push(self.position(number, index)),
                    ('*', ')') => {
                        let (begin, end) = (open.pop(), self.position(number, index));
                        long = long.or(begin.filter(|begin| begin.line < end.line).map(|begin| (begin, end)));
                    }
                    _ => {
                        index += 1;
                        continue;
                    }
                }
                index += 2;
                if open.is_empty() {
                    let rest: String = line[index..].iter().collect();
                    let rest = rest.trim();
                    if rest.is_empty() || rest.starts_with("\\*") {
                        return Ok(number);
                    }
                    let message = "expected nothing but a comment after the `*)` that ends the algorithm's comment";
                    return syntax_error(self.position(number, index), message);
                }
            }
        }
        if let Some(inner) = open.get(1) {
            return syntax_error(*inner, "this comment inside the algorithm is not closed by `*)`");
        }
        // Lines need no correction for an earlier translation: only a module without one is searched for the end.
        let perhaps = long.map_or_else(String::new, |(begin, end)| {
            format!(
                ": the `*)` of line {} closes the comment that begins at line {}, column {}",
                end.line, begin.line, begin.column
            )
        });
        syntax_error(self.start, format!("the comment around the algorithm is not closed by `*)`{perhaps}"))
    }

    /// Replaces comments by blanks, up to the `*)` that closes the comment around the algorithm.
    fn uncomment(&mut self, column: usize) -> ParseResult<()> {
        let mut depth = 0_usize;
        for number in 0..self.code.len() {
            let line = &mut self.code[number];
            let mut string = None;
            let mut index = if number == 0 { column } else { 0 };
            while index < line.len() {
                let next = line.get(index + 1).copied();
                match (line[index], next) {
                    ('(', Some('*')) if string.is_none() => {
                        depth += 1;
                        line[index..index + 2].fill(' ');
                        index += 1;
                    }
                    ('*', Some(')')) if string.is_none() => {
                        if depth == 0 {
                            line.truncate(index + 2);
                            return Ok(());
                        }
                        depth -= 1;
                        line[index..index + 2].fill(' ');
                        index += 1;
                    }
                    // Before the quote: in a comment it opens no string.
                    _ if depth > 0 => line[index] = ' ',
                    ('"', _) => string = if string.is_some() { None } else { Some(index) },
                    // An escaped quote does not end the string.
                    ('\\', Some(_)) if string.is_some() => index += 1,
                    ('\\', Some('*')) => line.truncate(index),
                    _ => {}
                }
                index += 1;
            }
            if let Some(column) = string {
                return syntax_error(self.position(number, column), "the string is not closed on its line");
            }
        }
        Ok(())
    }
}

fn diagnostic(position: Position, message: String) -> Diagnostic {
    Diagnostic { line: position.line, column: position.column, message }
}

/// The first line from `from` on with this word, blanks, and `TRANSLATION`.
fn find_marker(lines: &[Line<'_>], from: usize, word: &str) -> Option<usize> {
    (from..lines.len()).find(|number| {
        let line = lines[*number].text;
        line.find(word).is_some_and(|byte| {
            let after = byte + word.len();
            let blanks = line[after..].len() - line[after..].trim_start_matches([' ', '\t']).len();
            line.find("TRANSLATION") == Some(after + blanks)
        })
    })
}

/// The characters of a line with tabs expanded to blanks. A character that counts two columns, because it is two units in
/// UTF-16, is followed by a blank: it can only be in a comment.
fn expand_tabs(line: &str) -> Vec<char> {
    let mut found = Vec::with_capacity(line.len());
    for character in line.chars() {
        if character == '\t' {
            found.resize(found.len() + TAB_WIDTH - found.len() % TAB_WIDTH, ' ');
        } else {
            found.push(character);
            found.extend(std::iter::repeat_n(' ', character.len_utf16() - 1));
        }
    }
    found
}

/// The byte range of the line with this number, from 1, without its line end.
pub(super) fn line_range(text: &str, number: usize) -> Option<Range<usize>> {
    let line = *lines(text).get(number.checked_sub(1)?)?;
    Some(line.start..line.start + line.text.len())
}

/// The byte offset in a line of a column from 1, where a tab reaches to its next stop.
pub(super) fn offset_of_column(line: &str, column: usize) -> usize {
    let mut end = 0;
    let reaches = |character: char| {
        end += if character == '\t' { TAB_WIDTH - end % TAB_WIDTH } else { character.len_utf16() };
        end >= column
    };
    line.find(reaches).unwrap_or(line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<Option<Source>, Diagnostic> {
        Source::find(&lines(text))
    }

    fn code(text: &str) -> String {
        let source = found(text).unwrap().unwrap();
        source.code.iter().map(|line| line.iter().collect::<String>()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn all_line_ends_count() {
        let texts = |text: &'static str| lines(text).iter().map(|line| line.text).collect::<Vec<_>>();
        assert_eq!(texts("a\r\nb\rc\n\nd"), ["a", "b", "c", "", "d"]);
        assert_eq!(texts("a\n"), ["a"]);
        assert!(texts("").is_empty());
    }

    #[test]
    fn comments_and_tabs_become_blanks() {
        for (text, wanted) in [
            (
                "(* --algorithm A (* x (* y *) *) b\nc \\* d\n\"(*\" *) e *)\nf",
                "(* --algorithm A                 b\nc \n\"(*\" *)\nf",
            ),
            ("(* --algorithm A\n(*\u{1f600}*)b*)", "(* --algorithm A\n      b*)"),
            ("(*\t--algorithm A\n\tb\"\\\"\\\\\"*)", "(*      --algorithm A\n        b\"\\\"\\\\\"*)"),
            ("(* --algorithm (* a \\* *) b\n\\* (* *)\n*)", "(* --algorithm            b\n\n*)"),
        ] {
            assert_eq!(code(text), wanted);
        }
    }

    #[test]
    fn the_translation_goes_into_an_existing_block_or_after_the_comment() {
        for (text, wanted) in [
            ("(* --algorithm A\n*)\nx", TranslationPlace::Insert(20)),
            ("(* --algorithm A\n*) \\* x", TranslationPlace::Insert(24)),
            ("(* --algorithm A*)\r\nx", TranslationPlace::Insert(20)),
            (
                "(* --fair algorithm A*)\n\\*  BEGIN \t TRANSLATION\nx\n\\* END TRANSLATION y",
                TranslationPlace::Block { begin: 24..47, between: 48..50 },
            ),
            (
                "BEGIN TRANSLATION\nEND TRANSLATION\n(* --algorithm A",
                TranslationPlace::Block { begin: 0..17, between: 18..18 },
            ),
        ] {
            let source = found(text).unwrap().unwrap();
            assert_eq!(source.place, wanted, "{text}");
        }
    }

    #[test]
    fn lines_are_counted_without_an_earlier_translation_and_reported_with_it() {
        let source =
            found("BEGIN TRANSLATION\nx --algorithm\ny\nEND TRANSLATION\n(* --algorithm A *)").unwrap().unwrap();
        assert_eq!(source.start, Position { line: 3, column: 15 });
        let reported = source.to_diagnostic(&SyntaxError { position: source.start, message: String::new() });
        assert_eq!((reported.line, reported.column), (5, 15));
    }

    #[test]
    fn errors_around_the_algorithm_have_positions() {
        assert!(found("---- MODULE A ----\n====").unwrap().is_none());
        assert!(found("BEGIN TRANSLATION\n--algorithm\nEND TRANSLATION").unwrap().is_none());
        for (text, line, column, message) in [
            ("(* --algorithm A", 1, 15, "the comment around the algorithm is not closed by `*)`"),
            ("(* --algorithm A\n (* b\n(* c *)", 2, 2, "this comment inside the algorithm is not closed by `*)`"),
            (
                "(* --algorithm A (* b *)\n (* c (* d *)\n*)\n(* e\n*)",
                1,
                15,
                "not closed by `*)`: the `*)` of line 3 closes the comment that begins at line 2, column 2",
            ),
            ("(* --algorithm A *) x", 1, 20, "expected nothing but a comment"),
            ("\n(* --algorithm A \" *)\n*)", 2, 18, "the string is not closed"),
            ("BEGIN TRANSLATION\n(* --algorithm A *)", 1, 1, "END TRANSLATION"),
        ] {
            let problem = found(text).unwrap_err();
            assert_eq!((problem.line, problem.column), (line, column), "{text}");
            assert!(problem.message.contains(message), "{}", problem.message);
        }
    }
}
