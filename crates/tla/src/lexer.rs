//! The tokens of TLA+ with their byte ranges. They decide where modules and definitions begin and end, and in what
//! form texts are compared. Every text can be lexed; the lexer knows no grammar.

use std::ops::Range;

use super::semantic::{based_number_length, spelling_length};

/// A token's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Identifier or reserved word.
    Word,
    /// Decimal digits.
    Number,
    /// A string with its quotes.
    Text,
    /// Operator, punctuation, or a number such as `\hff`.
    Symbol,
    /// `\* …` without its newline.
    LineComment,
    /// `(* … *)`, nested.
    BlockComment,
    /// Four or more `-`.
    Dashes,
    /// Four or more `=`.
    Equals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// It is the first token of its line.
    pub first: bool,
    /// Number of bytes between the start of the line and the token.
    pub column: usize,
}

impl Token {
    pub fn text<'a>(&self, source: &'a str) -> &'a str {
        &source[self.start..self.end]
    }

    pub fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }

    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The text of a block comment between its delimiters; the closing one may be missing.
    pub(crate) fn inside_comment(&self, source: &str) -> Range<usize> {
        let start = self.start + 2;
        let closed = source[start..self.end].ends_with("*)");
        start..if closed { self.end - 2 } else { self.end }
    }
}

/// Lexes `source[range]`; positions are those of `source`.
pub fn lex(source: &str, range: Range<usize>) -> Vec<Token> {
    let mut lexer = Lexer::new(source, range);
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next_token() {
        tokens.push(token);
    }
    tokens
}

/// Takes tokens from a text one by one.
pub(crate) struct Lexer<'a> {
    source: &'a str,
    offset: usize,
    end: usize,
    line_start: usize,
    first: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(source: &'a str, range: Range<usize>) -> Self {
        let line_start = source[..range.start].rfind(['\n', '\r']).map_or(0, |n| n + 1);
        let first = source[line_start..range.start].trim().is_empty();
        Self { source, offset: range.start, end: range.end, line_start, first }
    }

    pub(crate) fn next_token(&mut self) -> Option<Token> {
        let bytes = self.source.as_bytes();
        loop {
            let byte = *bytes.get(self.offset).filter(|_| self.offset < self.end)?;
            // A lone carriage return ends a line, too, as in SANY.
            if matches!(byte, b'\n' | b'\r') {
                self.offset += 1;
                self.line_start = self.offset;
                self.first = true;
            } else if byte.is_ascii_whitespace() || byte == 0x0b {
                self.offset += 1;
            } else {
                break;
            }
        }
        let start = self.offset;
        let column = start - self.line_start;
        let first = std::mem::replace(&mut self.first, false);
        let (kind, length) = self.measure();
        self.offset = (start + length).min(self.end);
        if kind == Kind::BlockComment
            && let Some(newline) = self.source[start..self.offset].rfind(['\n', '\r'])
        {
            self.line_start = start + newline + 1;
        }
        Some(Token { kind, start, end: self.offset, first, column })
    }

    fn measure(&self) -> (Kind, usize) {
        let rest = &self.source[self.offset..self.end];
        let bytes = rest.as_bytes();
        let run = |byte: u8| bytes.iter().take_while(|b| **b == byte).count();
        match bytes[0] {
            b'-' if run(b'-') >= 4 => (Kind::Dashes, run(b'-')),
            b'=' if run(b'=') >= 4 => (Kind::Equals, run(b'=')),
            b'"' => (Kind::Text, string_length(bytes)),
            b'(' if bytes.get(1) == Some(&b'*') => (Kind::BlockComment, block_length(bytes)),
            b'\\' if bytes.get(1) == Some(&b'*') => (Kind::LineComment, rest.find(['\n', '\r']).unwrap_or(rest.len())),
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let length = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                let number = bytes[..length].iter().all(u8::is_ascii_digit);
                (if number { Kind::Number } else { Kind::Word }, length)
            }
            // As in SANY, the longest operator: `\oTail(s)` is `\o` and a name, `\Tail(s)` is `\` and a name.
            _ => {
                let length = based_number_length(rest).or_else(|| spelling_length(rest));
                (Kind::Symbol, length.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8)))
            }
        }
    }
}

fn string_length(bytes: &[u8]) -> usize {
    let mut offset = 1;
    while let Some(byte) = bytes.get(offset) {
        match byte {
            b'"' => return offset + 1,
            b'\n' | b'\r' => return offset,
            b'\\' if bytes.get(offset + 1).is_some_and(|next| !matches!(next, b'\n' | b'\r')) => offset += 2,
            _ => offset += 1,
        }
    }
    bytes.len()
}

fn block_length(bytes: &[u8]) -> usize {
    let (mut offset, mut depth) = (2, 1_usize);
    while offset < bytes.len() {
        match (bytes[offset], bytes.get(offset + 1)) {
            (b'(', Some(b'*')) => {
                depth += 1;
                offset += 2;
            }
            (b'*', Some(b')')) => {
                depth -= 1;
                offset += 2;
                if depth == 0 {
                    return offset;
                }
            }
            _ => offset += 1,
        }
    }
    bytes.len()
}

/// The lines of a text, to convert byte offsets to lines and columns that count from 1.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub fn new(source: &str) -> Self {
        let bytes = source.as_bytes();
        let ends_line = |offset: &usize| match bytes[*offset] {
            b'\n' => true,
            b'\r' => bytes.get(offset + 1) != Some(&b'\n'),
            _ => false,
        };
        let starts = (0..bytes.len()).filter(ends_line).map(|offset| offset + 1);
        Self { starts: std::iter::once(0).chain(starts).collect() }
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The start of the line that holds the offset.
    pub fn start_of_line(&self, offset: usize) -> usize {
        self.starts[self.line(offset) - 1]
    }

    /// Line and column, from 1; the column counts characters.
    pub fn position(&self, source: &str, offset: usize) -> (usize, usize) {
        let start = self.start_of_line(offset);
        let column = source.get(start..offset).map_or(offset - start, |text| text.chars().count());
        (self.line(offset), column + 1)
    }
}

/// The tokens of `source[range]` without comments and with one blank between them, so that texts which differ only in
/// layout and comments become equal. Layout has a meaning only in the alignment of bulleted lists: `items` are the byte
/// ranges of list items, each of which is put in braces.
pub(crate) fn normalise(source: &str, range: Range<usize>, items: &[Range<usize>]) -> String {
    let mut opens: Vec<usize> = items.iter().map(|item| item.start).collect();
    let mut closes: Vec<usize> = items.iter().map(|item| item.end).collect();
    opens.sort_unstable();
    closes.sort_unstable();
    let (mut opens, mut closes) = (opens.into_iter().peekable(), closes.into_iter().peekable());
    let mut words: Vec<&str> = Vec::new();
    for token in lex(source, range).iter().filter(|token| !token.is_comment()) {
        while closes.next_if(|offset| *offset <= token.start).is_some() {
            words.push("}");
        }
        while opens.next_if(|offset| *offset <= token.start).is_some() {
            words.push("{");
        }
        words.push(token.text(source));
    }
    words.extend(closes.map(|_| "}"));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_as_long_as_possible_and_what_follows_it_is_a_name() {
        for (text, expected) in [
            ("s \\oTail(s)", "s \\o Tail ( s )"),
            ("s \\Tail", "s \\ Tail"),
            ("x\\in_y", "x \\in _y"),
            ("[][A]_Tail", "[] [ A ]_ Tail"),
            ("\\hff \\o17 \\b101 \\oF", "\\hff \\o17 \\b101 \\o F"),
            // `/\` comes before `\*`, and `|=` before a row of `=`.
            ("a /\\* b", "a /\\ * b"),
            ("a |====", "a |= == ="),
            ("a \\* b\nc", "a \\* b c"),
        ] {
            let tokens: Vec<&str> = lex(text, 0..text.len()).iter().map(|token| token.text(text)).collect();
            assert_eq!(tokens.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn positions_count_characters_from_one() {
        let text = "ab\nç d";
        assert_eq!(Lines::new(text).position(text, 5), (2, 2));
    }
}
