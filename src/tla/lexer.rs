//! The tokens of TLA+ with their byte ranges. They decide where modules and definitions begin and end, and in what
//! form texts are compared. Every text can be lexed; the lexer knows no grammar.

use std::ops::Range;

/// A token's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifier or reserved word.
    Word,
    /// Decimal digits.
    Number,
    /// A string with its quotes.
    Text,
    /// Operator or punctuation.
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
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    /// The byte after the last one.
    pub(crate) end: usize,
    /// It is the first token of its line.
    pub(crate) first: bool,
    /// Number of bytes between the start of the line and the token.
    pub(crate) column: usize,
}

impl Token {
    pub(crate) fn text<'a>(&self, source: &'a str) -> &'a str {
        &source[self.start..self.end]
    }

    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Symbols of more than one byte that do not begin with a backslash, longest first.
const SYMBOLS: &[&str] = &[
    "-+->", "<=>", "::=", "...", ">>_", "(+)", "(-)", "(.)", "(/)", "(\\X)", "|->", "==", "=>", "=<", "=|", "<=", ">=",
    "<-", "->", "<<", ">>", "<>", "~>", "/\\", "\\/", "/=", "//", "::", ":=", ":>", "<:", "..", "++", "--", "-.", "-|",
    "**", "^^", "^+", "^*", "^#", "||", "|-", "|=", "&&", "%%", "##", "@@", "!!", "??", "$$", "[]", "]_",
];

/// Lexes `source[range]`; positions are those of `source`.
pub(crate) fn lex(source: &str, range: Range<usize>) -> Vec<Token> {
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
        let line_start = source[..range.start].rfind('\n').map_or(0, |n| n + 1);
        let first = source[line_start..range.start].trim().is_empty();
        Self { source, offset: range.start, end: range.end, line_start, first }
    }

    pub(crate) fn next_token(&mut self) -> Option<Token> {
        let bytes = self.source.as_bytes();
        loop {
            let byte = *bytes.get(self.offset).filter(|_| self.offset < self.end)?;
            if byte == b'\n' {
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
            && let Some(newline) = self.source[start..self.offset].rfind('\n')
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
            b'\\' if bytes.get(1) == Some(&b'*') => {
                let line = rest.find('\n').unwrap_or(rest.len());
                (Kind::LineComment, rest[..line].trim_end_matches('\r').len())
            }
            b'\\' if bytes.get(1).is_some_and(u8::is_ascii_alphabetic) => {
                (Kind::Symbol, 1 + bytes[1..].iter().take_while(|b| b.is_ascii_alphabetic()).count())
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let length = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                let number = bytes[..length].iter().all(u8::is_ascii_digit);
                (if number { Kind::Number } else { Kind::Word }, length)
            }
            _ => {
                let known = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
                (Kind::Symbol, known.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |s| s.len()))
            }
        }
    }
}

fn string_length(bytes: &[u8]) -> usize {
    let mut offset = 1;
    while let Some(byte) = bytes.get(offset) {
        match byte {
            b'"' => return offset + 1,
            b'\n' => return offset,
            b'\\' if bytes.get(offset + 1).is_some_and(|next| *next != b'\n') => offset += 2,
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
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn new(source: &str) -> Self {
        let newlines = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(offset, _)| offset + 1);
        Self { starts: std::iter::once(0).chain(newlines).collect() }
    }

    /// The line of a byte offset, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The start of the line that holds the offset.
    pub(crate) fn start_of_line(&self, offset: usize) -> usize {
        self.starts[self.line(offset) - 1]
    }

    /// Line and column, from 1; the column counts characters.
    pub(crate) fn position(&self, source: &str, offset: usize) -> (usize, usize) {
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
