//! What authors write who know other languages: `!=`, `&&`, `||`, `!x`, and `==` for `=`. It is looked for only in a module that
//! does not parse, because nothing here knows the grammar.

use super::code::{algorithm_starts, code_tokens};
use super::diagnostic::{Diagnostic, Stage};
use super::lexer::{Kind, Lines, Token};

/// Words after which an expression begins.
const BEFORE_EXPRESSIONS: &[&str] =
    &["IF", "THEN", "ELSE", "IN", "CASE", "OTHER", "await", "when", "if", "while", "assert"];

/// The first operator of another language in a module that does not parse, with what to write instead.
pub fn find_foreign_operator(text: &str) -> Option<Diagnostic> {
    let tokens = code_tokens(text);
    let (offset, message) = (0..tokens.len()).find_map(|at| Some((tokens[at].start, advice(text, &tokens, at)?)))?;
    Some(diagnostic(text, offset, message))
}

/// An algorithm that was not translated, so that its names are unknown.
pub fn find_untranslated_algorithm(text: &str) -> Option<Diagnostic> {
    let mut is_first = true;
    for (offset, is_in_module) in algorithm_starts(text) {
        let message = match is_in_module {
            false => "this algorithm is outside of the module, so it was not translated: move it below `---- MODULE`",
            true if std::mem::take(&mut is_first) => continue,
            true => "this is a second algorithm: only the first one of a module is translated",
        };
        return Some(diagnostic(text, offset, message.to_owned()));
    }
    None
}

fn diagnostic(text: &str, offset: usize, message: String) -> Diagnostic {
    let (line, column) = Lines::new(text).position(text, offset);
    Diagnostic { stage: Stage::Parse, line, column, message }
}

fn advice(text: &str, tokens: &[Token], at: usize) -> Option<String> {
    let token = tokens[at];
    let word = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text(text));
    let before = |count: usize| at.checked_sub(count);
    let next = tokens.get(at + 1);
    let is_glued = next.is_some_and(|next| next.start == token.end);
    match token.text(text) {
        "!=" => Some("`!=` is not TLA+: write `#` or `/=`".to_owned()),
        "!" if is_glued && word(Some(at + 1)) == "=" => Some("`!=` is not TLA+: write `#` or `/=`".to_owned()),
        "&&" if !defines(text, tokens, "&&") => Some("`&&` is no conjunction in TLA+: write `/\\`".to_owned()),
        "||" if !defines(text, tokens, "||") && !is_assignment(text, &tokens[at..]) => {
            Some("`||` is no disjunction in TLA+: write `\\/`".to_owned())
        }
        "!" if next.is_some_and(|next| next.kind == Kind::Word || next.text(text) == "(") => {
            let previous = before(1).map(|at| tokens[at]);
            let is_selector = previous.is_some_and(|previous| match previous.kind {
                Kind::Word => !BEFORE_EXPRESSIONS.contains(&previous.text(text)),
                Kind::Number => true,
                _ => matches!(previous.text(text), ")" | ">>" | "<<" | "@" | ":" | "]" | "}"),
            });
            (!is_selector).then(|| "`!` is no negation in TLA+: write `~`".to_owned())
        }
        "==" => {
            let previous = before(1).map(|at| tokens[at])?;
            let is_value = match previous.kind {
                Kind::Number | Kind::Text => true,
                Kind::Word => {
                    let earlier = word(before(2));
                    matches!(earlier, "==" | "/\\" | "\\/" | "=>" | "~" | "(") || BEFORE_EXPRESSIONS.contains(&earlier)
                }
                _ => false,
            };
            is_value.then(|| "`==` defines an operator: write `=` to compare".to_owned())
        }
        _ => None,
    }
}

/// Whether the module defines this infix operator.
fn defines(text: &str, tokens: &[Token], operator: &str) -> bool {
    tokens.windows(4).any(|four| {
        four[0].kind == Kind::Word
            && four[1].text(text) == operator
            && four[2].kind == Kind::Word
            && four[3].text(text) == "=="
    })
}

/// Whether the statement goes on with an assignment: `x := 1 || y := 2` assigns both at once in `PlusCal`.
fn is_assignment(text: &str, tokens: &[Token]) -> bool {
    tokens.iter().map(|token| token.text(text)).take_while(|word| !matches!(*word, ";" | "}")).any(|word| word == ":=")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str) -> Option<(usize, usize, String)> {
        let found = find_foreign_operator(&format!("---- MODULE M ----\n{body}\n====\n"))?;
        Some((found.line - 1, found.column, found.message))
    }

    #[test]
    fn operators_of_other_languages_are_named_where_they_stand() {
        for (body, line, column, wording) in [
            ("Next == /\\ x != 3", 1, 14, "`#` or `/=`"),
            ("A == 1 \\* x != 2\nB == x!=3", 2, 7, "`#` or `/=`"),
            ("A == x < 3 && y > 2", 1, 12, "`/\\`"),
            ("A == x < 3 || y > 2", 1, 12, "`\\/`"),
            ("A == !(x = 1)", 1, 6, "`~`"),
            ("A == x = 1 /\\ !done", 1, 15, "`~`"),
            ("A == IF !done THEN 1 ELSE 2", 1, 9, "`~`"),
            ("Init == x == 1", 1, 11, "`=`"),
            ("Init == /\\ x == 1", 1, 14, "`=`"),
            ("A == IF x == 1 THEN 2 ELSE 3", 1, 11, "`=`"),
            ("A == 1 == x", 1, 8, "`=`"),
            ("(* --algorithm a { variables x = 1; { await x = 1 && x != 2; } } *)", 1, 51, "`/\\`"),
            ("(* --algorithm a { variables x = 1; { await !done; } } *)", 1, 45, "`~`"),
        ] {
            let (found_line, found_column, message) = found(body).expect(body);
            assert_eq!((found_line, found_column), (line, column), "{body}: {message}");
            assert!(message.contains(wording), "{body}: {message}");
        }
    }

    #[test]
    fn what_tla_has_is_not_foreign() {
        for body in [
            "a && b == a /\\ b\nX == TRUE && FALSE",
            "a || b == a \\/ b\nX == TRUE || FALSE",
            "A == [f EXCEPT ![1] = 2, !.a = 3]",
            "A == I!Op /\\ I!Op2(1) /\\ Thm!1!(x)",
            "A == x\nB == LET c == 1 IN c",
            "A == \"!=\" \\* && || !x\nf[x \\in S] == x",
            "(* --algorithm a { variables x = 1, y = 2; { x := 1 || y := 2; } } *)",
            "A == x /= 1 /\\ x # 2",
        ] {
            assert_eq!(found(body), None, "{body}");
        }
    }

    #[test]
    fn an_algorithm_that_is_not_translated_is_named() {
        let one = "(* --algorithm one { variable x = 0; { x := 1 } } *)";
        let two = "(* --algorithm two { variable y = 0; { y := 1 } } *)";
        let untranslated = |text: String| find_untranslated_algorithm(&text);
        let second = untranslated(format!("---- MODULE M ----\n{one}\n{two}\n====\n")).expect("the second one");
        assert!(second.line == 3 && second.message.contains("second"), "{second}");
        let outside = untranslated(format!("{one}\n---- MODULE M ----\n{two}\n====\n")).expect("the outer one");
        assert!(outside.line == 1 && outside.message.contains("outside"), "{outside}");
        assert_eq!(untranslated(format!("---- MODULE M ----\n{one}\n====\n")), None);
    }
}
