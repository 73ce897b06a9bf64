//! Finds the algorithm in the text of a module: where it begins, its text without comments and tabs, and where the
//! translation goes. Knows nothing of the grammar.
//!
//! Lines are counted as if nothing stood between `BEGIN TRANSLATION` and `END TRANSLATION`, so that what the
//! translation says of a line does not depend on how long the translation was before.

use std::ops::Range;

use super::position::Position;
use crate::tla::{Diagnostic, Stage};

/// What begins an algorithm.
const ALGORITHM: &str = "--algorithm";
/// What begins a fair one.
const FAIR: &str = "--fair";
/// How far apart tabulators are.
const TAB: usize = 8;

/// Something that is not PlusCal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub position: Position,
    pub message: String,
}

/// What parsing gives.
pub(super) type ParseResult<T> = Result<T, SyntaxError>;

/// A fault as a result.
pub(super) fn syntax_error<T>(position: Position, message: impl Into<String>) -> ParseResult<T> {
    Err(SyntaxError { position, message: message.into() })
}

/// Where in the text of the module the translation goes, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TranslationPlace {
    /// There is a block for it: the line with `BEGIN TRANSLATION` without its line end, and the whole lines between it
    /// and the line with `END TRANSLATION`.
    Block { begin: Range<usize>, between: Range<usize> },
    /// There is none: a block is to be put in at the start of a line, or at the end of the text (which may lack a
    /// line end).
    Insert(usize),
}

/// A line of the text, in bytes, without its line end; `next` is where the one after it starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub text: &'a str,
    start: usize,
    next: usize,
}

/// The lines of a text; `\n`, `\r\n` and `\r` end one.
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

/// The algorithm's text and surroundings.
#[derive(Debug)]
pub(super) struct Source {
    /// `--fair` begins it, so that the word `algorithm` is still to come.
    pub fair: bool,
    /// The line where the algorithm begins and all after it: tabulators and comments are blanks.
    pub code: Vec<Vec<char>>,
    /// Just after what begins the algorithm.
    pub start: Position,
    pub place: TranslationPlace,
    /// The lines inside of the translation block, where that stands before the algorithm.
    block: Option<Block>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    begin: usize,
    end: usize,
}

impl Block {
    fn has(self, line: usize) -> bool {
        self.begin < line && line < self.end
    }
}

impl Source {
    /// Finds the algorithm; `None` where there is none.
    pub(super) fn find(lines: &[Line<'_>]) -> Result<Option<Self>, Diagnostic> {
        let begin = pair(lines, 0, "BEGIN");
        let end = begin.and_then(|begin| pair(lines, begin + 1, "END"));
        let block = begin.zip(end).map(|(begin, end)| Block { begin, end });
        let outside = |line: usize| !block.is_some_and(|block| block.has(line));
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
                let last = source.end_of_comment(column).map_err(|error| source.to_diagnostic(&error))?;
                TranslationPlace::Insert(lines[number + last].next)
            }
        };
        source.uncomment(column).map_err(|error| source.to_diagnostic(&error))?;
        Ok(Some(source))
    }

    /// A fault as a diagnostic, its line counted in the text as it is.
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

    /// The line (counted from the algorithm's) where the comment ends that the algorithm stands in.
    fn end_of_comment(&self, column: usize) -> ParseResult<usize> {
        let mut depth = 1_usize;
        for (number, line) in self.code.iter().enumerate() {
            let mut index = if number == 0 { column } else { 0 };
            while index + 1 < line.len() {
                match (line[index], line[index + 1]) {
                    ('(', '*') => depth += 1,
                    ('*', ')') => depth -= 1,
                    _ => {
                        index += 1;
                        continue;
                    }
                }
                index += 2;
                if depth == 0 {
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
        syntax_error(self.start, "the comment that the algorithm stands in is not ended by `*)`")
    }

    /// Makes blanks of comments, up to the `*)` that ends the algorithm's own.
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
                    _ if depth > 0 => line[index] = ' ',
                    ('"', _) => string = if string.is_some() { None } else { Some(index) },
                    ('\\', Some(_)) if string.is_some() => index += 1,
                    ('\\', Some('*')) => line.truncate(index),
                    _ => {}
                }
                index += 1;
            }
            if let Some(column) = string {
                return syntax_error(self.position(number, column), "the string is not ended on its line");
            }
        }
        Ok(())
    }
}

fn diagnostic(position: Position, message: String) -> Diagnostic {
    Diagnostic { stage: Stage::Translate, line: position.line, column: position.column, message }
}

/// The first line from `from` on where this word and `TRANSLATION` stand with nothing but blanks between them.
fn pair(lines: &[Line<'_>], from: usize, word: &str) -> Option<usize> {
    (from..lines.len()).find(|number| {
        let line = lines[*number].text;
        line.find(word).is_some_and(|byte| {
            let after = byte + word.len();
            let blanks = line[after..].len() - line[after..].trim_start_matches([' ', '\t']).len();
            line.find("TRANSLATION") == Some(after + blanks)
        })
    })
}

/// The characters of a line, each tabulator as the blanks that it stands for.
fn expand_tabs(line: &str) -> Vec<char> {
    let mut found = Vec::with_capacity(line.len());
    for character in line.chars() {
        if character == '\t' {
            found.resize(found.len() + TAB - found.len() % TAB, ' ');
        } else {
            found.push(character);
        }
    }
    found
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
    fn comments_and_tabulators_become_blanks() {
        for (text, wanted) in [
            (
                "(* --algorithm A (* x (* y *) *) b\nc \\* d\n\"(*\" *) e *)\nf",
                "(* --algorithm A                 b\nc \n\"(*\" *)\nf",
            ),
            ("(*\t--algorithm A\n\tb\"\\\"\\\\\"*)", "(*      --algorithm A\n        b\"\\\"\\\\\"*)"),
            ("(* --algorithm (* a \\* *) b\n\\* (* *)\n*)", "(* --algorithm            b\n\n*)"),
        ] {
            assert_eq!(code(text), wanted);
        }
    }

    #[test]
    fn the_translation_goes_into_its_block_or_after_the_comment() {
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
    fn lines_are_counted_without_the_translation_and_told_with_it() {
        let source =
            found("BEGIN TRANSLATION\nx --algorithm\ny\nEND TRANSLATION\n(* --algorithm A *)").unwrap().unwrap();
        assert_eq!(source.start, Position { line: 3, column: 15 });
        let told = source.to_diagnostic(&SyntaxError { position: source.start, message: String::new() });
        assert_eq!((told.line, told.column), (5, 15));
    }

    #[test]
    fn what_is_wrong_around_the_algorithm_is_located() {
        assert!(found("---- MODULE A ----\n====").unwrap().is_none());
        assert!(found("BEGIN TRANSLATION\n--algorithm\nEND TRANSLATION").unwrap().is_none());
        for (text, line, column, message) in [
            ("(* --algorithm A", 1, 15, "not ended by `*)`"),
            ("(* --algorithm A *) x", 1, 20, "expected nothing but a comment"),
            ("\n(* --algorithm A \" *)\n*)", 2, 18, "the string is not ended"),
            ("BEGIN TRANSLATION\n(* --algorithm A *)", 1, 1, "END TRANSLATION"),
        ] {
            let problem = found(text).unwrap_err();
            assert_eq!((problem.line, problem.column), (line, column), "{text}");
            assert!(problem.message.contains(message), "{}", problem.message);
        }
    }
}
