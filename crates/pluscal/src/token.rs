//! Splits the code of an algorithm into lexemes, like the class `pcal.Tokenize` of the reference.

use super::expr::TokenKind;
use super::options::Compat;
use super::position::Position;
use super::source::{ParseResult, syntax_error};
use super::symbols;

/// The kind of a lexeme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A token that can be part of an expression.
    Token(TokenKind),
    /// `----` or `====`.
    Rule,
}

/// A lexeme: a token or a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lexeme {
    /// For a string, the text without quotes.
    pub text: String,
    pub kind: Kind,
    pub position: Position,
}

impl Lexeme {
    /// Whether the text starts with `prefix`. Never true for a string, which starts with its quote.
    pub(super) fn starts_with(&self, prefix: &str) -> bool {
        self.kind != Kind::Token(TokenKind::String) && self.text.starts_with(prefix)
    }
}

/// Reads lexemes one by one.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    code: &'a [Vec<char>],
    /// The line number of the first line of `code`.
    first: usize,
    line: usize,
    column: usize,
    compat: Compat,
}

fn is_letter(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

impl<'a> Lexer<'a> {
    /// Starts at `start`, which is in the first line.
    pub(super) fn new(code: &'a [Vec<char>], start: Position, compat: Compat) -> Self {
        Self { code, first: start.line, line: 0, column: start.column - 1, compat }
    }

    /// The position of the next character.
    pub(super) fn position(&self) -> Position {
        Position { line: self.first + self.line, column: self.column + 1 }
    }

    /// The next lexeme; `None` at the end of the text.
    pub(super) fn next(&mut self) -> ParseResult<Option<Lexeme>> {
        if !self.skip()? {
            return Ok(None);
        }
        let position = self.position();
        let rest = self.rest();
        let first = rest[0];
        let run = |length: usize| rest[..length].iter().collect::<String>();
        let count = |predicate: fn(char) -> bool| rest.iter().take_while(|character| predicate(**character)).count();
        let (length, text, kind) = if is_word_character(first) {
            // As in TLA+, a name may begin with a digit if it has a letter or underscore as well: `1x` is a name.
            let digits = count(|character| character.is_ascii_digit());
            let length = count(is_word_character);
            let text = run(length);
            // `WF_vars` is an operator and its subscript.
            if text.starts_with("WF_") || text.starts_with("SF_") {
                (3, text[..3].to_owned(), Kind::Token(TokenKind::Builtin))
            } else if digits == length {
                (length, text, Kind::Token(TokenKind::Number))
            } else if symbols::is_word(&text) {
                (length, text, Kind::Token(TokenKind::Builtin))
            } else {
                (length, text, Kind::Token(TokenKind::Ident))
            }
        } else if matches!(first, 'ℕ' | 'ℤ' | 'ℝ') {
            // `Nat`, `Int` and `Real` are names that a module defines, not built in.
            (1, first.to_string(), Kind::Token(TokenKind::Ident))
        } else if first == '"' {
            let length = self.string()?;
            let text = self.rest()[1..length - 1].iter().collect();
            (length, text, Kind::Token(TokenKind::String))
        } else if first == '\\' && rest.get(1).is_some_and(|next| is_letter(*next)) {
            let (length, kind) = self.backslash()?;
            (length, run(length), Kind::Token(kind))
        } else {
            let dashes = count(|character| character == '-').max(count(|character| character == '='));
            match dashes {
                3 => return syntax_error(position, format!("`{}` is not a symbol", run(3))),
                4.. => (dashes, run(dashes), Kind::Rule),
                _ => match symbols::longest(rest) {
                    Some(text) => (text.chars().count(), text, Kind::Token(TokenKind::Builtin)),
                    None => return syntax_error(position, format!("`{first}` is not a symbol")),
                },
            }
        };
        if self.compat == Compat::Y2020 && !text.is_ascii() {
            return syntax_error(position, format!("`{text}` is not a symbol for the translator of 2020"));
        }
        self.column += length;
        Ok(Some(Lexeme { text, kind, position }))
    }

    fn rest(&self) -> &'a [char] {
        self.code.get(self.line).and_then(|line| line.get(self.column..)).unwrap_or_default()
    }

    /// Moves to the next lexeme; false at the end of the text. Comments occur only after the end of the algorithm, because
    /// [`super::source`] has removed the others.
    fn skip(&mut self) -> ParseResult<bool> {
        let start = self.position();
        let mut depth = 0_usize;
        loop {
            match self.rest() {
                [] if self.line + 1 >= self.code.len() => {
                    return if depth == 0 { Ok(false) } else { syntax_error(start, "a comment is not closed by `*)`") };
                }
                [] => (self.line, self.column) = (self.line + 1, 0),
                ['(', '*', ..] => (self.column, depth) = (self.column + 2, depth + 1),
                ['*', ')', ..] if depth > 0 => (self.column, depth) = (self.column + 2, depth - 1),
                [' ' | '\x0c' | '\r', ..] => self.column += 1,
                _ if depth > 0 => self.column += 1,
                // Up to the end of the line.
                rest @ ['\\', '*', ..] => self.column += rest.len(),
                _ => return Ok(true),
            }
        }
    }

    /// The length of the string that starts here, including its quotes.
    fn string(&self) -> ParseResult<usize> {
        let rest = self.rest();
        let wrong = |index: usize, message: &str| {
            syntax_error(Position { column: self.position().column + index, ..self.position() }, message)
        };
        let mut index = 1;
        loop {
            match rest.get(index..).unwrap_or_default() {
                ['"', ..] => return Ok(index + 1),
                ['\\', '"' | '\\' | 't' | 'n' | 'f' | 'r', ..] => index += 2,
                ['\\', ..] => return wrong(index, "expected `\"`, `\\`, `t`, `n`, `f` or `r` after `\\` in a string"),
                [' '..='~', ..] => index += 1,
                [] => return wrong(0, "the string is not closed on its line"),
                [other, ..] => return wrong(index, &format!("`{other}` is not allowed in a string")),
            }
        }
    }

    /// The length and kind of the operator or number that starts here with a backslash and a letter.
    fn backslash(&self) -> ParseResult<(usize, TokenKind)> {
        let rest = self.rest();
        let text = |length: usize| rest[..length].iter().collect::<String>();
        if matches!(rest[1], 'b' | 'B' | 'o' | 'O' | 'h' | 'H') {
            let digits = rest[2..].iter().take_while(|character| character.is_ascii_digit()).count();
            if digits > 0 {
                let length = 2 + digits;
                return match rest.get(length) {
                    Some(next) if is_letter(*next) => {
                        syntax_error(self.position(), format!("`{}` is not a number", text(length + 1)))
                    }
                    _ => Ok((length, TokenKind::Number)),
                };
            }
        }
        let letters = rest[1..].iter().take_while(|character| character.is_ascii_alphabetic()).count();
        let word = text(1 + letters);
        if letters == 0 || symbols::is_named(&word[1..]) {
            return Ok((1 + letters, TokenKind::Builtin));
        }
        syntax_error(self.position(), format!("`{word}` is not an operator"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexed(text: &str) -> Result<Vec<(String, Kind)>, (usize, usize, String)> {
        let code: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
        let mut lexer = Lexer::new(&code, Position { line: 1, column: 1 }, Compat::Today);
        let mut found = Vec::new();
        loop {
            match lexer.next() {
                Ok(Some(lexeme)) => found.push((lexeme.text, lexeme.kind)),
                Ok(None) => return Ok(found),
                Err(error) => return Err((error.position.line, error.position.column, error.message)),
            }
        }
    }

    #[test]
    fn each_kind_of_lexeme_is_recognized() {
        use TokenKind::{Builtin, Ident, Number, String};
        for (text, wanted) in [
            ("x1 1x _ _a 12", vec![("x1", Ident), ("1x", Ident), ("_", Builtin), ("_a", Ident), ("12", Number)]),
            (
                "WF_vars SF_(x)",
                vec![("WF_", Builtin), ("vars", Ident), ("SF_", Builtin), ("(", Builtin), ("x", Ident), (")", Builtin)],
            ),
            (
                "\\b01 \\o7 \\o \\in \\A_x",
                vec![
                    ("\\b01", Number),
                    ("\\o7", Number),
                    ("\\o", Builtin),
                    ("\\in", Builtin),
                    ("\\A", Builtin),
                    ("_x", Ident),
                ],
            ),
            ("\"a\\\"b\" \"\"", vec![("a\\\"b", String), ("", String)]),
            (
                "/\\\\/\\X(\\E x",
                vec![
                    ("/\\", Builtin),
                    ("\\/", Builtin),
                    ("\\X", Builtin),
                    ("(", Builtin),
                    ("\\E", Builtin),
                    ("x", Ident),
                ],
            ),
            (
                "--> ==> a-1",
                vec![
                    ("--", Builtin),
                    (">", Builtin),
                    ("==", Builtin),
                    (">", Builtin),
                    ("a", Ident),
                    ("-", Builtin),
                    ("1", Number),
                ],
            ),
            ("∀ x ∈ ℕ", vec![("∀", Builtin), ("x", Ident), ("∈", Builtin), ("ℕ", Ident)]),
            ("a (* b\n(* c *) *) d \\* e\nf", vec![("a", Ident), ("d", Ident), ("f", Ident)]),
        ] {
            let wanted = wanted.into_iter().map(|(text, kind)| (text.to_owned(), Kind::Token(kind))).collect();
            assert_eq!(lexed(text), Ok(wanted), "{text}");
        }
        assert_eq!(lexed("-----=====").unwrap(), [("-----".into(), Kind::Rule), ("=====".into(), Kind::Rule)]);
    }

    #[test]
    fn invalid_text_is_reported_with_its_position() {
        for (text, column) in [
            ("a ---", 3),
            ("a ===b", 3),
            ("\\foo", 1),
            ("\\b1x", 1),
            ("\"a\\z\"", 3),
            ("\"aé\"", 3),
            (" \"a", 2),
            ("`", 1),
            ("é", 1),
        ] {
            let (line, found, message) = lexed(text).unwrap_err();
            assert_eq!((line, found), (1, column), "{text}: {message}");
        }
        assert_eq!(lexed("a (* b").unwrap_err().1, 2);
    }
}
