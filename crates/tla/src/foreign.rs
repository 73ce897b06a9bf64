//! What authors write who know other languages: `!=`, `&&`, `||`, `!x`, and `==` for `=`. It is looked for only in a module that
//! does not parse, because nothing here knows the grammar.

use super::code::{algorithm_starts, code_tokens};
use super::diagnostic::{Diagnostic, Stage};
use super::lexer::{Kind, Token};

/// Words after which an expression begins.
const BEFORE_EXPRESSIONS: &[&str] =
    &["IF", "THEN", "ELSE", "IN", "CASE", "OTHER", "await", "when", "if", "while", "assert"];

/// The first operator of another language in a module that does not parse, with what to write instead. `others` are the texts of
/// the modules that it can use, which may define `&&`.
pub fn find_foreign_operator<'t>(text: &str, others: impl IntoIterator<Item = &'t str>) -> Option<Diagnostic> {
    let tokens = code_tokens(text);
    let others: Vec<(&str, Vec<Token>)> = others.into_iter().map(|text| (text, code_tokens(text))).collect();
    let is_defined = |operator: &str| {
        matches!(operator, "&&" | "||")
            && (defines(text, &tokens, operator) || others.iter().any(|(text, tokens)| defines(text, tokens, operator)))
    };
    let mut found = (0..tokens.len()).filter_map(|at| Some((at, advice(text, &tokens, at)?)));
    let (at, message) = found.find(|(at, _)| !is_defined(tokens[*at].text(text)))?;
    Some(Diagnostic::at(Stage::Parse, text, tokens[at].start, message))
}

/// An algorithm that was not translated, so that its names are unknown.
pub fn find_untranslated_algorithm(text: &str) -> Option<Diagnostic> {
    let starts = algorithm_starts(text);
    let (offset, message) = match starts.as_slice() {
        [(outside, false), ..] => (*outside, "this algorithm is outside of the module: move it below `---- MODULE`"),
        [_, (second, true), ..] => {
            (*second, "this is a second algorithm: only the first one of a module is translated")
        }
        _ => return None,
    };
    Some(Diagnostic::at(Stage::Parse, text, offset, message.to_owned()))
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
        "&&" if word(Some(at + 1)) != "<-" => Some("`&&` is no conjunction in TLA+: write `/\\`".to_owned()),
        "||" if word(Some(at + 1)) != "<-" && !is_assignment(text, &tokens[at..]) => {
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
                // A name that begins a line is more likely a definition, after an expression that is not finished.
                Kind::Word if !previous.first => {
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

/// Whether the module defines this infix operator, or declares it as `_ && _`.
fn defines(text: &str, tokens: &[Token], operator: &str) -> bool {
    tokens.windows(3).enumerate().any(|(at, three)| {
        let (left, right) = (three[0].text(text), three[2].text(text));
        three[0].kind == Kind::Word
            && three[1].text(text) == operator
            && three[2].kind == Kind::Word
            && ((left == "_" && right == "_") || tokens.get(at + 3).is_some_and(|next| next.text(text) == "=="))
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
        let found = find_foreign_operator(&format!("---- MODULE M ----\n{body}\n====\n"), [])?;
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
            "CONSTANT _ && _\nX == TRUE && FALSE",
            "I == INSTANCE N WITH && <- +",
            // The line before is not finished.
            "A == x = 1 /\\\nB == x = 2",
            "A == IF x THEN 1 ELSE\n  B == x = 2",
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
        // An old copy below the module, and prose.
        assert_eq!(untranslated(format!("---- MODULE M ----\n{one}\n====\n{two}\n")), None);
        let prose = "(* Old version:\n --algorithm is here *)";
        assert_eq!(untranslated(format!("---- MODULE M ----\n{one}\n{prose}\n====\n")), None);
        let tabs = find_foreign_operator("---- MODULE M ----\nA ==\tx\t!= 3\n====\n", []).expect("an operator");
        assert_eq!(tabs.span("---- MODULE M ----\nA ==\tx\t!= 3\n====\n").map(|span| span.start), Some(26));
    }
}
