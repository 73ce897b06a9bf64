//! What the tools read as code: the tokens of a module without comments, but with those of the PlusCal algorithm that is
//! in a comment. It has no grammar, so it also finds the code of a text with errors.

use std::sync::LazyLock;

use regex::Regex;

use super::lexer::{Kind, Token, lex};
use super::semantic::module_begin;
use super::units::tokens_to_terminator;

/// Where an algorithm begins in a comment: `--algorithm` or `--fair algorithm` and a name (Lamport, "A PlusCal User's
/// Manual", section 2.1). Prose may mention `--algorithm`, so the dashes must begin a line (stars before them do not
/// count) or a typical first keyword must follow the name. Words such as `begin` follow a word in prose as well.
static ALGORITHM: LazyLock<Regex> = LazyLock::new(|| {
    let start = r"(--+(?:fair\s+)?algorithm\s+(?-u:\w+\b))";
    let opening = r"\s*(?:\{|(?:variables?|define)(?-u:\b))";
    Regex::new(&format!(r"(?m)^[\s*]*{start}|{start}{opening}")).expect("a valid pattern")
});

/// The tokens of the first module of a text and of the algorithms in its comments, without comments. The text before the
/// first `---- MODULE` and after the end of that module is prose; in a text without such a header, all is code.
pub fn code_tokens(text: &str) -> Vec<Token> {
    let mut code = Vec::new();
    for token in module_tokens(text) {
        match token.kind {
            Kind::LineComment => {}
            Kind::BlockComment => code.extend(algorithm_tokens(text, &token)),
            _ => code.push(token),
        }
    }
    code
}

/// Whether a comment of the first module holds a PlusCal algorithm. The word alone, in prose or in code, does not count.
pub fn has_pluscal_algorithm(text: &str) -> bool {
    module_tokens(text).iter().any(|token| algorithm_start(text, token).is_some())
}

/// Where algorithms begin in the comments of a text, and whether the comment is in the first module.
pub(super) fn algorithm_starts(text: &str) -> Vec<(usize, bool)> {
    let begin = module_begin(text, 0).map_or(0, |(begin, _)| begin);
    let (tokens, _) = tokens_to_terminator(text, begin, 0);
    let end = tokens.last().map_or(begin, |token| token.end);
    let outside = lex(text, 0..begin).into_iter().chain(lex(text, end..text.len()));
    let all = outside.map(|token| (token, false)).chain(tokens.iter().map(|token| (*token, true)));
    // Prose can mention an algorithm at the beginning of a line.
    let has_statements = |token: &Token| {
        let comment = &text[token.range()];
        comment.contains('{') || comment.contains("begin")
    };
    let mut starts: Vec<(usize, bool)> = all
        .filter(|(token, _)| has_statements(token))
        .filter_map(|(token, is_in_module)| Some((algorithm_start(text, &token)?, is_in_module)))
        .collect();
    starts.sort_unstable();
    starts
}

fn module_tokens(text: &str) -> Vec<Token> {
    let start = module_begin(text, 0).map_or(0, |(begin, _)| begin);
    tokens_to_terminator(text, start, 0).0
}

fn algorithm_start(text: &str, token: &Token) -> Option<usize> {
    let comment = (token.kind == Kind::BlockComment).then(|| token.inside_comment(text))?;
    let found = ALGORITHM.captures(&text[comment.clone()])?;
    found.get(1).or(found.get(2)).map(|begin| comment.start + begin.start())
}

fn algorithm_tokens(text: &str, comment: &Token) -> impl Iterator<Item = Token> {
    let tokens = algorithm_start(text, comment).map(|start| lex(text, start..comment.inside_comment(text).end));
    // Inside an algorithm a comment is a comment, also if it mentions another algorithm.
    tokens.into_iter().flatten().filter(|token| !token.is_comment())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(body: &str) -> String {
        format!("prose \" here (*\n---- MODULE M ----\n{body}\n====\nmore \" prose")
    }

    fn words(text: &str) -> Vec<&str> {
        let tokens = code_tokens(text).into_iter().filter(|token| !matches!(token.kind, Kind::Symbol | Kind::Dashes));
        tokens.filter(|token| token.kind != Kind::Equals).map(|token| token.text(text)).collect()
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
    fn the_word_algorithm_alone_does_not_begin_one() {
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
        assert_eq!(words(&text), ["MODULE", "M", "a", "\"s (* t\"", "algorithm", "A", "g", "1", "z"]);
    }

    #[test]
    fn a_nested_module_does_not_end_the_outer_one() {
        let text = module("---- MODULE N ----\nx == 1\n====\ny == 2");
        assert!(words(&text).contains(&"y"));
        assert!(!words(&text).contains(&"prose"));
    }

    #[test]
    fn unclosed_text_ends_at_its_end() {
        for text in ["(* --algorithm A", "\"abc", "(*", "(* (* *)", "\\*", "(* --algorithm A *", "\"é\\", "----"] {
            code_tokens(text);
            code_tokens(&format!("---- MODULE M ----\n{text}"));
        }
    }

    #[test]
    fn only_a_header_that_sany_reads_begins_the_module_and_each_such_header_counts() {
        // SANY reads neither a header over two lines nor the open comment after it: both are prose.
        let prose = "see\n----\nMODULE (* and so on\n---- MODULE M ----\nx == 1\n====";
        assert_eq!(words(prose), ["MODULE", "M", "x", "1"]);
        // It needs no blank before the name.
        let nested = module("---- MODULEN ----\nx == 1\n====\ny == 2");
        assert_eq!(words(&nested), ["MODULE", "M", "MODULEN", "x", "1", "y", "2"]);
        assert_eq!(words("x == 1\n====\ny == 2"), ["x", "1"]);
    }

    #[test]
    fn a_row_of_equals_signs_in_an_algorithm_does_not_end_the_module() {
        let text = module("(* --algorithm A {\n====\n g := 1 } *)\nz");
        assert_eq!(words(&text), ["MODULE", "M", "algorithm", "A", "g", "1", "z"]);
    }
}
