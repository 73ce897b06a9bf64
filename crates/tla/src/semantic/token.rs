//! The tokens of a module as its grammar needs them: reserved words, operators by meaning, and the column that aligns a
//! bulleted list. Those of a module end with it; any text may follow. Those of a part of a module end with the part.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::operator::{OPERATORS, Operator};
use crate::layout::column_after;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Identifier,
    Number,
    Text,
    /// A reserved word, by its first spelling (`CONSTANTS` is `CONSTANT`).
    Word(&'static str),
    /// `/\` or `\/`, which may begin a list; [`Token::operator`] gives its operator.
    Bullet(&'static Operator),
    Operator(&'static Operator),
    /// Brackets, `==`, `,` and the like.
    Mark(&'static str),
    /// `<3>a`: the name of a proof step, which an expression may use.
    Step,
    /// `<3>`, `<*>`, `<3>a.`, …: begins a proof step, and nothing else.
    StepStart,
    /// `---- MODULE`
    Begin,
    /// `----`
    Line,
    /// `====`
    End,
    /// Not a token of the language, with the reason.
    Bad(&'static str),
    /// After the last token.
    Nothing,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The column for alignment, from 1, as SANY counts it.
    pub(super) column: usize,
}

impl Token {
    pub(super) fn operator(&self) -> Option<&'static Operator> {
        match self.kind {
            Kind::Operator(operator) | Kind::Bullet(operator) => Some(operator),
            _ => None,
        }
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.kind, Kind::Mark(text) | Kind::Word(text) if text == mark)
            || matches!(self.kind, Kind::Operator(operator) if operator.name == mark)
    }
}

/// Reserved words with their spellings; the first one names the word.
const WORDS: &[&[&str]] = &[
    &["ACTION", "ACTIONS"],
    &["ASSUME"],
    &["ASSUMPTION", "AXIOM"],
    &["BY"],
    &["CASE"],
    &["CHOOSE"],
    &["CONSTANT", "CONSTANTS"],
    &["DEF", "DEFS"],
    &["DEFINE"],
    &["ELSE"],
    &["EXCEPT"],
    &["EXTENDS"],
    &["HAVE"],
    &["HIDE"],
    &["IF"],
    &["IN"],
    &["INSTANCE"],
    &["LAMBDA"],
    &["LET"],
    &["LOCAL"],
    &["MODULE"],
    &["NEW"],
    &["OBVIOUS"],
    &["OMITTED"],
    &["ONLY"],
    &["OTHER"],
    &["PICK"],
    &["PROOF"],
    &["PROPOSITION", "LEMMA", "COROLLARY"],
    &["PROVE"],
    &["QED"],
    &["RECURSIVE"],
    &["STATE"],
    &["SUFFICES"],
    &["TAKE"],
    &["TEMPORAL", "TEMPORALS"],
    &["THEN"],
    &["THEOREM"],
    &["USE"],
    &["VARIABLE", "VARIABLES"],
    &["WITH"],
    &["WITNESS"],
];

/// Marks with their spellings; the first one names the mark.
const MARKS: &[&[&str]] = &[
    &["\\E", "\\exists", "\u{2203}"],
    &["\\A", "\\forall", "\u{2200}"],
    &["\\EE"],
    &["\\AA"],
    &["[]ASSUME"],
    &["[]PROVE"],
    &["=="],
    &["\u{225c}"],
    &[","],
    &[":"],
    &["::", "\u{2237}"],
    &["."],
    &["("],
    &[")"],
    &["["],
    &["]"],
    &["]_"],
    &["{"],
    &["}"],
    &["<<", "\u{27e8}"],
    &[">>", "\u{27e9}"],
    &[">>_", "\u{27e9}_"],
    &["!"],
    &["->", "\u{2192}"],
    &["<-", "\u{2190}"],
    &["|->", "\u{21a6}"],
];

/// Whether the word is reserved, or a constant of the language ("Specifying Systems", page 268, and the proof keywords).
pub(crate) fn is_reserved(word: &str) -> bool {
    static RESERVED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let operators = OPERATORS.iter().flat_map(|(_, spellings)| spellings.iter());
        let constants = ["BOOLEAN", "FALSE", "SF_", "STRING", "TRUE", "WF_"];
        WORDS.iter().flat_map(|spellings| spellings.iter()).chain(operators).copied().chain(constants).collect()
    });
    RESERVED.contains(word)
}

/// Whether a reserved word may name a field of a record (`r.IN`, `[CASE |-> 1]`).
pub(super) fn may_name_a_field(token: &Token) -> bool {
    match token.kind {
        Kind::Word(_) | Kind::Mark("[]ASSUME" | "[]PROVE" | "_" | "WF_" | "SF_") => true,
        Kind::Operator(operator) => operator.name.starts_with(|first: char| first.is_ascii_uppercase()),
        _ => false,
    }
}

/// The tokens from the first `---- MODULE` to the end of that module; empty if there is none.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let Some((begin, end)) = module_begin(text, 0) else { return Vec::new() };
    let mut lexer = Lexer::new(text);
    lexer.skip_to(begin);
    let column = lexer.column;
    lexer.skip_to(end);
    lexer.found.push(Token { kind: Kind::Begin, start: begin, end, column });
    lexer.run();
    lexer.found
}

/// Reads the tokens of parts of a module, in any order; fastest in the order of the text.
pub(super) struct PartLexer<'a> {
    text: &'a str,
    /// An offset that was reached, and its column. Keeps the work linear if a line holds many parts.
    reached: (usize, usize),
}

impl<'a> PartLexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, reached: (0, 1) }
    }

    /// The tokens of a byte range; those of an algorithm include `;`.
    pub(super) fn tokens(&mut self, range: Range<usize>, language: Language) -> Vec<Token> {
        let mut lexer = Lexer::new(&self.text[..range.end]);
        if self.reached.0 <= range.start {
            (lexer.offset, lexer.column) = self.reached;
        }
        if let Some(newline) = self.text[lexer.offset..range.start].rfind(['\n', '\r']) {
            (lexer.offset, lexer.column) = (lexer.offset + newline + 1, 1);
        }
        lexer.skip_to(range.start);
        lexer.extent = Extent::Part(language);
        lexer.run();
        self.reached = (lexer.offset, lexer.column);
        lexer.found
    }
}

/// The language of a part of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Tla,
    PlusCal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Module,
    Part(Language),
}

/// The first byte range of `----`, spaces, `MODULE` from an offset on, where SANY begins a module.
pub(crate) fn module_begin(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut from = from;
    while let Some(found) = text[from..].find("----") {
        let begin = from + found;
        let dashes = text[begin..].bytes().take_while(|byte| *byte == b'-').count();
        if let Some(end) = module_word(text, begin + dashes) {
            return Some((begin, end));
        }
        from = begin + dashes;
    }
    None
}

/// The end of spaces and `MODULE` at this offset.
fn module_word(text: &str, from: usize) -> Option<usize> {
    let spaces = text[from..].bytes().take_while(|byte| *byte == b' ').count();
    text[from + spaces..].starts_with("MODULE").then_some(from + spaces + "MODULE".len())
}

type Spelling = (&'static str, Kind);

/// Spellings by first byte, longest first.
static SPELLINGS: LazyLock<Vec<Vec<Spelling>>> = LazyLock::new(|| {
    let mut spellings: Vec<Vec<Spelling>> = vec![Vec::new(); 256];
    let mut add =
        |spelling: &'static str, kind: Kind| spellings[usize::from(spelling.as_bytes()[0])].push((spelling, kind));
    for (operator, names) in OPERATORS {
        for name in *names {
            let bullet = matches!(*name, "/\\" | "\\/" | "\u{2227}" | "\u{2228}");
            add(name, if bullet { Kind::Bullet(operator) } else { Kind::Operator(operator) });
        }
    }
    for names in MARKS {
        let mark = if names[0] == "\u{225c}" { "==" } else { names[0] };
        for name in *names {
            add(name, Kind::Mark(mark));
        }
    }
    for bucket in &mut spellings {
        bucket.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
    }
    spellings
});

fn longest_spelling(text: &str) -> Option<&'static Spelling> {
    SPELLINGS[usize::from(*text.as_bytes().first()?)].iter().find(|(spelling, _)| text.starts_with(spelling))
}

/// The length of a number such as `\b101`, `\o17` or `\hff` at the start of a text; `None` for a symbol such as
/// `\bullet` or `\o`, which has no digit after the letter.
pub(crate) fn based_number_length(text: &str) -> Option<usize> {
    let radix = match text.as_bytes() {
        [b'\\', b'b' | b'B', ..] => 2,
        [b'\\', b'o' | b'O', ..] => 8,
        [b'\\', b'h' | b'H', ..] => 16,
        _ => return None,
    };
    let digits = text[2..].chars().take_while(|char| char.is_digit(radix)).count();
    (digits > 0).then_some(2 + digits)
}

/// The length of the longest operator or mark at the start of a text.
pub(crate) fn spelling_length(text: &str) -> Option<usize> {
    longest_spelling(text).map(|(spelling, _)| spelling.len())
}

struct Lexer<'a> {
    text: &'a str,
    extent: Extent,
    offset: usize,
    column: usize,
    /// Number of open modules.
    open: usize,
    found: Vec<Token>,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, extent: Extent::Module, offset: 0, column: 1, open: 1, found: Vec::new() }
    }

    fn skip_to(&mut self, end: usize) {
        while self.offset < end {
            let Some(char) = self.text[self.offset..].chars().next() else { return };
            self.offset += char.len_utf8();
            self.column = column_after(self.column - 1, char) + 1;
        }
    }

    fn run(&mut self) {
        loop {
            let comment = self.skip_blank();
            let Some(first) = self.text[self.offset..].chars().next() else {
                return match comment {
                    Some(start) => {
                        self.offset = start;
                        self.push(Kind::Bad("a comment begins here and is not closed: `*)` is missing"), start + 2);
                    }
                    None if self.extent == Extent::Module => {
                        self.push(Kind::Bad("the module does not end: `====` is missing"), self.offset);
                    }
                    None => {}
                };
            };
            let (kind, end) = self.next(first);
            self.push(kind, end);
            match kind {
                // Later tokens mean nothing; the parser reports this one if nothing before it is wrong.
                Kind::Bad(_) => return,
                Kind::Begin => self.open += 1,
                Kind::End if self.extent == Extent::Module => {
                    self.open -= 1;
                    if self.open == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn push(&mut self, kind: Kind, end: usize) {
        self.found.push(Token { kind, start: self.offset, end, column: self.column });
        self.skip_to(end);
    }

    /// Skips white space and comments. Returns the start of a comment that does not end.
    fn skip_blank(&mut self) -> Option<usize> {
        loop {
            let rest = &self.text[self.offset..];
            let end = if rest.starts_with([' ', '\t', '\n', '\r']) {
                rest.find(|char: char| !matches!(char, ' ' | '\t' | '\n' | '\r')).unwrap_or(rest.len())
            } else if rest.starts_with("\\*") {
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            } else if rest.starts_with("(*") {
                match block_comment(rest) {
                    Some(length) => length,
                    None => {
                        let start = self.offset;
                        self.skip_to(self.text.len());
                        return Some(start);
                    }
                }
            } else {
                return None;
            };
            self.skip_to(self.offset + end);
        }
    }

    fn next(&self, first: char) -> (Kind, usize) {
        let rest = &self.text[self.offset..];
        match first {
            '"' => self.string(),
            '-' if rest.starts_with("----") => {
                let dashes = rest.bytes().take_while(|byte| *byte == b'-').count();
                match module_word(self.text, self.offset + dashes) {
                    Some(end) => (Kind::Begin, end),
                    None => (Kind::Line, self.offset + dashes),
                }
            }
            '=' if rest.starts_with("====") => {
                (Kind::End, self.offset + rest.bytes().take_while(|byte| *byte == b'=').count())
            }
            '<' => self.step().unwrap_or_else(|| self.symbol()),
            '\\' => match based_number_length(rest) {
                Some(length) => (Kind::Number, self.offset + length),
                None => self.symbol(),
            },
            '\u{2115}' | '\u{2124}' | '\u{211d}' => (Kind::Identifier, self.offset + first.len_utf8()),
            // The old value in an EXCEPT, which the grammar treats like a name.
            '@' if !rest.starts_with("@@") => (Kind::Identifier, self.offset + 1),
            ';' if self.extent == Extent::Part(Language::PlusCal) => (Kind::Mark(";"), self.offset + 1),
            _ if first.is_ascii_alphanumeric() || first == '_' => self.word(),
            _ => self.symbol(),
        }
    }

    fn symbol(&self) -> (Kind, usize) {
        let rest = &self.text[self.offset..];
        match longest_spelling(rest) {
            Some((spelling, kind)) => (*kind, self.offset + spelling.len()),
            None => (
                Kind::Bad("a character that TLA+ does not have here"),
                self.offset + rest.chars().next().map_or(0, char::len_utf8),
            ),
        }
    }

    fn string(&self) -> (Kind, usize) {
        let mut chars = self.text[self.offset..].char_indices().skip(1);
        let unfinished = (Kind::Bad("a string that does not end on its line"), self.text.len().min(self.offset + 1));
        while let Some((offset, char)) = chars.next() {
            match char {
                '"' => return (Kind::Text, self.offset + offset + 1),
                '\n' | '\r' => return unfinished,
                '\\' if !matches!(chars.next(), Some((_, 'n' | 't' | 'r' | 'f' | '\\' | '"'))) => {
                    return (
                        Kind::Bad("a backslash in a string that no escape follows: write `\\\\`"),
                        self.offset + 1,
                    );
                }
                _ => {}
            }
        }
        unfinished
    }

    /// Identifiers, reserved words, decimal numbers, `WF_`, `_`.
    fn word(&self) -> (Kind, usize) {
        let rest = &self.text[self.offset..];
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let word = &rest[..length];
        let plain = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if plain > 0 && (rest[plain..].starts_with("./\\") || rest[plain..].starts_with(".\\/")) {
            return (Kind::Bad("a name directly before `./\\`"), self.offset + plain);
        }
        for fairness in ["WF_", "SF_"] {
            if word.starts_with(fairness) {
                return (Kind::Mark(if fairness == "WF_" { "WF_" } else { "SF_" }), self.offset + 3);
            }
        }
        if !word.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return if word.starts_with('_') {
                (Kind::Mark("_"), self.offset + 1)
            } else {
                (Kind::Number, self.offset + word.bytes().take_while(u8::is_ascii_digit).count())
            };
        }
        let reserved =
            WORDS.iter().find(|spellings| spellings.contains(&word)).map(|spellings| Kind::Word(spellings[0]));
        let operator = || {
            let bucket = &SPELLINGS[usize::from(word.as_bytes()[0])];
            bucket.iter().find(|(spelling, _)| *spelling == word).map(|(_, kind)| *kind)
        };
        (reserved.or_else(operator).unwrap_or(Kind::Identifier), self.offset + length)
    }

    /// `<2>`, `<2>name`, `<*>`, `<+>.`, …
    fn step(&self) -> Option<(Kind, usize)> {
        let rest = &self.text[self.offset..];
        let level = match rest.as_bytes().get(1)? {
            b'+' | b'*' => 1,
            _ => rest[1..].bytes().take_while(u8::is_ascii_digit).count(),
        };
        if level == 0 || rest.as_bytes().get(1 + level) != Some(&b'>') {
            return None;
        }
        let from = self.offset + level + 2;
        let explicit = rest.as_bytes()[1].is_ascii_digit();
        let name = self.text[from..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let dots = |from: usize| self.text[from..].bytes().take_while(|byte| *byte == b'.').count();
        if name > 0 {
            // The name of an implicit step has no underscore unless dots follow, as in SANY.
            let ended = dots(from + name);
            if ended > 0 {
                return Some((Kind::StepStart, from + name + ended));
            }
            let plain = self.text[from..].bytes().take_while(u8::is_ascii_alphanumeric).count();
            let name = if explicit { name } else { plain };
            return Some(if name > 0 { (Kind::Step, from + name) } else { (Kind::StepStart, from) });
        }
        let mark = usize::from(self.text[from..].starts_with(['*', '-']));
        Some((Kind::StepStart, from + mark + dots(from + mark)))
    }
}

/// The length of the nested comment at the start of a text.
fn block_comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut offset, mut depth) = (0, 0_usize);
    while offset + 1 < bytes.len() {
        match &bytes[offset..offset + 2] {
            b"(*" => {
                depth += 1;
                offset += 2;
            }
            b"*)" => {
                depth -= 1;
                offset += 2;
                if depth == 0 {
                    return Some(offset);
                }
            }
            _ => offset += 1,
        }
    }
    None
}
