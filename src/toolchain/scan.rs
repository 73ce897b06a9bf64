//! Tokens of TLA+ and PlusCal text, enough to distinguish code from comments and strings. It knows no grammar.
//!
//! Comments nest, and strings and `\*` have no meaning in them, as in SANY. A comment that contains a PlusCal algorithm
//! is code from the algorithm's first word on.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, digits and underscores.
    Word,
    /// A string without its quotes.
    Text,
    /// Any other character.
    Sign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) offset: usize,
}

impl Token<'_> {
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }
}

/// Whether the module has a PlusCal algorithm: `--algorithm` or `--fair algorithm` and a name, in a block comment. The
/// word alone, in prose or in code, does not count. Source: Lamport, "A PlusCal User's Manual", section 2.1.
pub(crate) fn has_pluscal_algorithm(text: &str) -> bool {
    let mut found = false;
    walk(text, module_start(text), &mut |piece| found |= matches!(piece, Piece::Algorithm));
    found
}

/// The tokens of the first module of `text`, including those of its algorithm.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    walk(text, module_start(text), &mut |piece| {
        if let Piece::Token(token) = piece {
            tokens.push(token);
        }
    });
    tokens
}

/// Line and column of a byte offset; both count from 1, columns count characters.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    (line, before[start..].chars().count() + 1)
}

enum Piece<'a> {
    Token(Token<'a>),
    Algorithm,
}

/// Text before the first `---- MODULE` is prose, to SANY too. Without one, everything counts as code.
fn module_start(text: &str) -> usize {
    let mut from = 0;
    while let Some(found) = text[from..].find("----") {
        let dashes = from + found;
        let rest = text[dashes..].trim_start_matches('-');
        if rest.trim_start().starts_with("MODULE") {
            return dashes;
        }
        from = text.len() - rest.len();
    }
    0
}

fn walk<'a>(text: &'a str, start: usize, see: &mut dyn FnMut(Piece<'a>)) {
    walk_within(text, start, text.len(), true, see);
}

/// `whole` if the range is a module; otherwise it is the inside of an algorithm's comment.
fn walk_within<'a>(text: &'a str, start: usize, end: usize, whole: bool, see: &mut dyn FnMut(Piece<'a>)) {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut offset = start;
    while offset < end {
        let rest = &text[offset..end];
        if rest.starts_with("(*") {
            let close = comment_end(text, offset, end);
            if whole && let Some(begin) = algorithm_start(&text[offset + 2..close]) {
                see(Piece::Algorithm);
                let inner_end = if text[..close].ends_with("*)") { close - 2 } else { close };
                walk_within(text, (offset + 2 + begin).min(inner_end), inner_end, false, see);
            }
            offset = close;
        } else if rest.starts_with("\\*") {
            offset += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with('"') {
            let close = string_end(rest);
            see(Piece::Token(Token { kind: Kind::Text, text: rest[1..close].trim_end_matches('"'), offset }));
            offset += close;
        } else if whole && rest.starts_with("----") {
            let after = rest.trim_start_matches('-');
            if after.trim_start().starts_with("MODULE") {
                depth += 1;
            }
            offset += rest.len() - after.len();
        } else if whole && rest.starts_with("====") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return;
            }
            offset += rest.len() - rest.trim_start_matches('=').len();
        } else if is_word(bytes[offset]) {
            let length = rest.bytes().take_while(|b| is_word(*b)).count();
            see(Piece::Token(Token { kind: Kind::Word, text: &rest[..length], offset }));
            offset += length;
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            if !bytes[offset].is_ascii_whitespace() {
                see(Piece::Token(Token { kind: Kind::Sign, text: &rest[..length], offset }));
            }
            offset += length;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The offset after the comment that opens at `offset`; an unclosed one ends at `end`.
fn comment_end(text: &str, offset: usize, end: usize) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut offset = offset;
    while offset + 1 < end {
        match &bytes[offset..offset + 2] {
            b"(*" => {
                depth += 1;
                offset += 2;
            }
            b"*)" => {
                depth -= 1;
                offset += 2;
                if depth == 0 {
                    return offset;
                }
            }
            _ => offset += 1,
        }
    }
    end
}

/// The length of the string at the start of `rest`, with its quotes; a string ends with its line at the latest.
fn string_end(rest: &str) -> usize {
    let mut escaped = false;
    for (offset, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return offset,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return offset + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Where an algorithm begins in a comment. Prose may mention `--algorithm`, so the keyword must begin a line (stars
/// before it do not count) and have a name after it, or have a name and a typical first keyword after it.
fn algorithm_start(comment: &str) -> Option<usize> {
    // Words such as `begin` follow a word in prose as well; these do not.
    const OPENINGS: [&str; 3] = ["variable", "variables", "define"];
    comment.match_indices("--").find_map(|(offset, _)| {
        let after = comment[offset..].trim_start_matches('-');
        let keyword = match after.strip_prefix("fair") {
            Some(rest) if rest.starts_with(char::is_whitespace) => rest.trim_start(),
            _ => after,
        };
        let rest = keyword.strip_prefix("algorithm")?.strip_prefix(char::is_whitespace)?.trim_start();
        let name = rest.bytes().take_while(|b| is_word(*b)).count();
        if name == 0 {
            return None;
        }
        let line = comment[..offset].rfind('\n').map_or(0, |n| n + 1);
        let begins_line = comment[line..offset].chars().all(|c| c.is_whitespace() || c == '*');
        let follows = rest[name..].trim_start();
        let word = follows.bytes().take_while(|b| is_word(*b)).count();
        let structural = follows.starts_with('{') || OPENINGS.contains(&&follows[..word]);
        (begins_line || structural).then_some(offset)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(body: &str) -> String {
        format!("prose \" here (*\n---- MODULE M ----\n{body}\n====\nmore \" prose")
    }

    #[test]
    fn an_algorithm_is_found_in_both_syntaxes_and_with_fairness() {
        for text in [
            "(* --algorithm A\nvariables x = 0;\nbegin skip; end algorithm; *)",
            "(*--algorithm A { { skip; } } *)",
            "(**************\n--fair algorithm A begin skip; end algorithm\n*)",
            "(*\n * --fair   algorithm A\n *)",
            "(* in prose --algorithm A { *)",
        ] {
            assert!(has_pluscal_algorithm(&module(text)), "{text}");
        }
    }

    #[test]
    fn the_word_alone_is_no_algorithm() {
        for text in [
            "(* this algorithm is plain TLA+ *)",
            "\\* --algorithm A",
            "(* write --algorithm to begin one *)",
            "x == \"--algorithm A begin\"",
            "(* --algorithms *)",
        ] {
            assert!(!has_pluscal_algorithm(&module(text)), "{text}");
        }
    }

    #[test]
    fn tokens_leave_out_comments_and_keep_an_algorithm() {
        let text = module("a == \"s (* t\" (* c (* d *) e *) \\* f \"\n(* --algorithm A { g (* h *) := 1 } *)\nz");
        let words: Vec<_> = tokens(&text).into_iter().filter(|t| t.kind != Kind::Sign).map(|t| t.text).collect();
        assert_eq!(words, ["MODULE", "M", "a", "s (* t", "algorithm", "A", "g", "1", "z"]);
    }

    #[test]
    fn a_nested_module_does_not_end_the_outer_one() {
        let text = module("---- MODULE N ----\nx == 1\n====\ny == 2");
        assert!(tokens(&text).iter().any(|t| t.is_word("y")));
        assert!(!tokens(&text).iter().any(|t| t.is_word("prose")));
    }

    #[test]
    fn unclosed_text_ends_at_its_end() {
        for text in ["(* --algorithm A", "\"abc", "(*", "(* (* *)", "\\*", "(* --algorithm A *", "\"é\\", "----"] {
            tokens(text);
            tokens(&format!("---- MODULE M ----\n{text}"));
        }
    }

    #[test]
    fn positions_count_characters_from_one() {
        assert_eq!(position("ab\nç d", 5), (2, 2));
    }
}
