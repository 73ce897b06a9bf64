//! The formula language: what is printed reads back to the same formula, errors have a place and a hint, and no input is
//! too deep, too long or too damaged. 1,000,000 formulas and 2,000,000 damaged texts in the campaign, a twentieth here.

use std::time::Instant;

use crate::temporal_random::{FINITE, Grammar, formula};
use fastrand::Rng;
use tlaforge_temporal::{
    Arithmetic, Atom, Binary, Comparison, Formula, Formulas, Literal, MAX_DEPTH, Node, Number, ParseError, Term, Unary,
};

const EVERYTHING: Grammar = Grammar { causal: true, strange_atoms: true, ..FINITE };

fn campaign(count: u64, otherwise: u64) -> u64 {
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { count } else { otherwise }
}

#[test]
fn printed_formulas_parse_back() {
    let (count, began) = (campaign(1_000_000, 50_000), Instant::now());
    let (mut characters, mut quantities) = (0, 0);
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let mut formulas = Formulas::new();
        let grammar = Grammar { quantities: rng.u8(..4) == 0, ..EVERYTHING };
        let depth = rng.usize(..6);
        let formula = formula(&mut rng, &mut formulas, grammar, depth);
        if grammar.quantities && !as_quantities(&formulas, formula) {
            continue;
        }
        let text = formulas.text(formula);
        let read = if grammar.quantities { formulas.parse_quantity(&text) } else { formulas.parse(&text) };
        match read {
            Ok(again) => assert_eq!(again, formula, "seed {seed}: `{text}` became `{}`", formulas.text(again)),
            Err(error) => panic!("seed {seed}: `{text}`: {error}"),
        }
        characters += text.len();
        quantities += u64::from(grammar.quantities);
    }
    println!("{count} formulas, {quantities} of them over quantities, {characters} bytes, {:?}", began.elapsed());
}

/// A formula over quantities has no names, but quantities in their place.
fn as_quantities(formulas: &Formulas, formula: Formula) -> bool {
    formulas.atoms_of(formula).iter().all(|atom| !matches!(formulas.atom(*atom), Atom::Name(_)))
}

#[test]
fn precedence_and_association_are_those_of_spot() {
    let mut formulas = Formulas::new();
    for (text, meant) in [
        ("a | b & c", "a | (b & c)"),
        ("a U b & c", "(a U b) & c"),
        ("!a U b", "(!a) U b"),
        ("G a U b", "(G a) U b"),
        ("F a -> b", "(F a) -> b"),
        ("a -> b -> c", "a -> (b -> c)"),
        ("a <-> b -> c", "a <-> (b -> c)"),
        ("a U b W c R d M e S f", "a U (b W (c R (d M (e S f))))"),
        ("a & b & c", "(a & b) & c"),
        ("a | (b | c)", "a | b | c"),
        ("!x = 3", "!(x = 3)"),
        ("X x < y + 1", "X (x < (y + 1))"),
        ("1 + 2 * -x - 3 < 4", "((1 + (2 * (-x))) - 3) < 4"),
        ("a && b || c => d <=> e", "((a & b) | c) -> (d <-> e)"),
        ("@A(x) U b", "(@A(x)) U b"),
        ("P(a) & P@A(b) & Seen@A", "(P(a)) & ((P@A(b)) & (Seen@A))"),
        ("a == 1", "a = 1"),
        ("1 & 0", "true & false"),
        ("TRUE | FALSE", "true | false"),
        ("@A.ok", "@A.ok = true"),
        ("\"a b\" & `a b`", "`a b` & \"a b\""),
        ("`f`(x)", "f(x)"),
        ("G(!a)", "G !a"),
        ("XX", "`XX`"),
        ("P & Seen", "\"P\" & `Seen`"),
        ("extra:k=\"v w\"", "extra:\"k=v w\""),
    ] {
        let (read, wanted) = (formulas.parse(text).unwrap(), formulas.parse(meant).unwrap());
        assert_eq!(read, wanted, "`{text}` is `{}`", formulas.text(read));
    }
}

#[test]
fn negative_literals_and_negations_are_distinct() {
    let mut formulas = Formulas::new();
    let literal = |value| Term::Literal(Literal::Number(Number::new(value).unwrap()));
    let negate = |term| Term::Negate(Box::new(term));
    for (text, term) in [
        ("-3", literal(-3.0)),
        ("-(3)", negate(literal(3.0))),
        ("--3", negate(literal(-3.0))),
        ("- 3", literal(-3.0)),
        ("-0", literal(0.0)),
        (".5e1", literal(5.0)),
        ("1e-3", literal(0.001)),
        ("x--1", Term::Arithmetic(Arithmetic::Subtract, Box::new(Term::Field("x".into())), Box::new(literal(-1.0)))),
    ] {
        let formula = formulas.parse(&format!("y < {text}")).unwrap();
        let Node::Atom(atom) = formulas.node(formula) else { panic!("{text}") };
        let expected = Atom::Compare(Comparison::Less, Term::Field("y".into()), term);
        assert_eq!(formulas.atom(*atom), &expected, "{text}");
    }
    assert!(Number::new(f64::NAN).is_none() && Number::new(f64::INFINITY).is_none());
}

#[test]
fn errors_have_positions_and_hints() {
    for (text, line, column, message) in [
        ("", 1, 1, "the formula is empty"),
        ("   ", 1, 1, "the formula is empty"),
        ("(a & b", 1, 7, "expected `)` for the parenthesis of column 1, found the end"),
        ("G (a\n& b", 2, 4, "expected `)` for the parenthesis of line 1, column 3, found the end"),
        ("a &\n  (b |\n c", 3, 3, "expected `)` for the parenthesis of line 2, column 3, found the end"),
        ("a)", 1, 2, "unmatched `)`"),
        ("a &", 1, 4, "expected a formula, found the end"),
        ("& a", 1, 1, "expected a formula, found `&`"),
        ("a b", 1, 3, "expected an operator or the end, found `b`"),
        ("U", 1, 1, "`U` needs a formula on both sides (a proposition of this name is written `\"U\"`)"),
        ("G", 1, 2, "expected a formula, found the end"),
        ("ä & )", 1, 5, "expected a formula, found `)`"),
        ("any(x, contains)", 1, 16, "expected a formula, found `)`"),
        ("any(x contains \"a\")", 1, 7, "expected `,` and a test, found `contains`"),
        ("every(, = 1)", 1, 7, "expected a path, found `,` (write `every(path, contains \"text\")`"),
        ("any(x, = 1 & a)", 1, 12, "expected `)` after the test of `any`, found `&`"),
        ("any(x, one_of(1, 2)", 1, 20, "expected `)` after the test of `any`, found the end"),
        ("a /\\ b", 1, 3, "unexpected `/\\` (conjunction is written `&`)"),
        ("a ~> b", 1, 3, "unexpected `~>` (`a ~> b` is written `G (a -> F b)`)"),
        ("[]a", 1, 1, "unexpected `[]` (always is written `G`)"),
        ("<>a", 1, 1, "unexpected `<>` (eventually is written `F`)"),
        ("a ∧ b", 1, 3, "conjunction is written `&`"),
        ("a < b < c", 1, 7, "comparisons do not chain (write `a < b & b < c`)"),
        ("a <- b", 1, 3, "`<-` is not an operator"),
        ("x <-3", 1, 3, "`a < -b` with a space"),
        ("a & x + 1", 1, 5, "this is a term, not a formula (compare it with another: `x < 3`)"),
        ("7", 1, 1, "this is a term"),
        ("null", 1, 1, "this is a term"),
        ("\"\"", 1, 1, "this is a term"),
        ("(a & b) = c", 1, 9, "expected a term"),
        ("x = G a", 1, 5, "expected a term"),
        ("@A(x) = 3", 1, 7, "expected a term"),
        ("P(x) < 3", 1, 6, "expected a term"),
        ("@", 1, 2, "expected the name of a lifeline, found the end"),
        ("@A", 1, 3, "expected `(` after the lifeline"),
        ("@A.", 1, 4, "expected the name of a field"),
        ("p(a", 1, 4, "expected `,` or `)`"),
        ("p(a,", 1, 5, "expected a formula, found the end"),
        ("p(G a)", 1, 3, "expected a term"),
        ("tool_call:", 1, 1, "is followed by an empty name"),
        ("text_contains:", 1, 1, "is followed by an empty text"),
        ("stop_reason:\"\"", 1, 1, "is followed by an empty name"),
        ("tool_call:f(x)", 1, 12, "the name after `tool_call:` needs quoting"),
        ("tool_call:a->b", 1, 12, "the name needs quoting, or a space"),
        ("tool_call:a = 3", 1, 13, "is true or false and cannot be compared"),
        ("\"never closed", 1, 1, "the quote is never closed"),
        ("`a\\x`", 1, 3, "an unknown escape"),
        ("1x", 1, 1, "a name cannot begin with a digit"),
        ("1e999 < x", 1, 1, "the number is too large"),
        ("a # b", 1, 3, "unexpected '#'"),
        ("a\u{0} b", 1, 2, "unexpected '\\0'"),
    ] {
        let mut formulas = Formulas::new();
        let error = formulas.parse(text).expect_err(text);
        let text_of_error = error.to_string();
        assert!(text_of_error.contains(message), "`{text}`: {text_of_error}");
        assert_eq!((error.line, error.column), (line, column), "`{text}`: {text_of_error}");
        assert!(text.get(error.span.clone()).is_some(), "`{text}`: {:?}", error.span);
    }
}

#[test]
fn an_error_spans_the_wrong_part_of_the_text() {
    for (text, wrong) in [
        ("a & x + 1", "x + 1"),
        ("a b -> c", "b"),
        ("a & ) | b", ")"),
        ("(a & b) = c", "="),
        ("x = G a & b", "G a"),
        ("a ~> b", "~>"),
        ("a <- b", "<-"),
        ("a ∧ b", "∧"),
        ("a # b", "#"),
        ("`a\\é`", "\\é"),
        ("x = \"a", "\"a"),
        ("1xy < 3", "1xy"),
        ("1e999 < x", "1e999"),
        ("G", ""),
        ("(a & b", ""),
        ("tool_call:a->b", "->"),
        ("tool_call: -> b", "tool_call:"),
    ] {
        let error = Formulas::new().parse(text).expect_err(text);
        assert_eq!(&text[error.span.clone()], wrong, "{text}: {error}");
    }
}

/// On the stack of a thread as others start it.
fn run_on_default_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(scope, run).unwrap().join().unwrap()
    })
}

fn read(text: &str) -> Result<(Formulas, Formula), ParseError> {
    let mut formulas = Formulas::new();
    let formula = formulas.parse(text)?;
    Ok((formulas, formula))
}

/// Opened so often, with this inside, closed as often, and then the rest.
fn nested([opens, inside, closes, rest]: [&str; 4], times: usize) -> String {
    format!("{}{inside}{}{rest}", opens.repeat(times), closes.repeat(times))
}

/// What nests, as far as it is a formula at all.
const NESTINGS: [[&str; 4]; 19] = [
    ["(", "a", ")", ""],
    ["!", "a", "", ""],
    ["X ", "a", "", ""],
    ["G(", "a", ")", ""],
    ["X !(", "a", ")", ""],
    ["a -> ", "a", "", ""],
    ["a <-> ", "a", "", ""],
    ["a U ", "a", "", ""],
    ["(a W ", "a", ")", ""],
    ["a & (b | ", "a", ")", ""],
    ["a | !(b & ", "a", ")", ""],
    ["-(", "x", ")", " < 1"],
    ["-", "x", "", " < 1"],
    ["@A(", "a", ")", ""],
    ["P(", "a", ")", ""],
    ["P@A(", "a", ")", ""],
    ["(1 + ", "x", ")", " < 1"],
    ["(1 + (", "x", ") * 2)", " < 1"],
    ["G F X N Y O H ", "a", "", ""],
];

/// What is never closed, and what does not nest.
const HOPELESS: [[&str; 4]; 5] =
    [["(", "", "", ""], ["-(", "", "", ""], ["p(", "x", ")", ""], ["x < (", "1", ")", ""], ["G(", "", "", ""]];

#[test]
fn nesting_beyond_the_limit_is_an_error_with_a_position() {
    for nesting in NESTINGS.into_iter().chain(HOPELESS) {
        let text = nested(nesting, 100_000);
        run_on_default_stack(|| {
            let error = read(&text).expect_err(nesting[0]);
            assert!(error.to_string().contains("nests deeper than"), "{nesting:?}: {error}");
            assert!(error.column > 500, "{nesting:?}: {error}");
        });
    }
}

#[test]
fn formulas_of_maximum_depth_parse_back() {
    let mut deepest = 0;
    for nesting in NESTINGS {
        let mut allowed = 0;
        for times in (MAX_DEPTH / 10..=MAX_DEPTH + 1).step_by(45) {
            let text = nested(nesting, times);
            allowed += run_on_default_stack(|| match read(&text) {
                Ok((mut formulas, formula)) => {
                    let printed = formulas.text(formula);
                    assert_eq!(formulas.parse(&printed), Ok(formula), "{nesting:?} {times} times");
                    1
                }
                Err(error) => {
                    assert!(error.to_string().contains("nests deeper than"), "{nesting:?}: {error}");
                    0
                }
            });
        }
        // Each of them may nest at least a hundred levels.
        assert!(allowed > 0, "{nesting:?}");
        deepest = deepest.max(allowed);
    }
    println!("{} kinds, up to {} times", NESTINGS.len(), MAX_DEPTH / 10 + 45 * (deepest - 1));
}

#[test]
fn a_chain_of_a_hundred_thousand_is_one_node_or_an_error_with_a_position() {
    for (operator, is_chain) in
        [("&", true), ("|", true), ("U", false), ("W", false), ("S", false), ("->", false), ("+", false), ("*", false)]
    {
        let mut text = format!("x {operator} ").repeat(100_000);
        text.push('x');
        if operator == "+" || operator == "*" {
            text.push_str(" < 1");
        }
        run_on_default_stack(|| match read(&text) {
            Ok((mut formulas, formula)) => {
                assert!(is_chain, "{operator}");
                assert_eq!(formulas.node(formula).children().len(), 100_001);
                let printed = formulas.text(formula);
                assert_eq!(formulas.parse(&printed), Ok(formula));
            }
            Err(error) => {
                assert!(!is_chain, "{operator}: {error}");
                assert!(error.to_string().contains("nests deeper than"), "{operator}: {error}");
                assert!(error.column > 1_000, "{operator}: {error}");
            }
        });
    }
}

#[test]
fn parentheses_do_not_bypass_the_depth_limit_of_terms() {
    // A row of 900 terms in each of 900 parentheses would make a tree 810,000 deep.
    let row = "+1".repeat(900);
    let mut text = "(".repeat(900);
    text.push('x');
    for _ in 0..900 {
        text.push_str(&row);
        text.push(')');
    }
    text.push_str(" < 1");
    run_on_default_stack(|| {
        let error = read(&text).expect_err("it is too deep");
        assert!(error.to_string().contains("the term nests deeper than"), "{error}");
    });
}

#[test]
fn formulas_of_any_depth_can_be_printed() {
    run_on_default_stack(|| {
        let mut formulas = Formulas::new();
        let a = formulas.name("a");
        let mut deep = a;
        for i in 0..100_000 {
            deep = match i % 4 {
                0 => formulas.unary(Unary::Next, deep),
                1 => formulas.binary(Binary::Until, deep, a),
                2 => formulas.and([a, deep]),
                _ => formulas.not(deep),
            };
        }
        assert!(formulas.text(deep).starts_with("!(a & X "));
        assert_eq!(formulas.subformulas(deep).len(), 100_001);
    });
}

#[test]
fn damaged_text_parses_or_fails_with_a_position() {
    let (count, began) = (campaign(2_000_000, 100_000), Instant::now());
    let pieces: Vec<&str> = concat!(
        "a b x U W R M S X N G F Y O H P Seen ( ) ( ) ! & | && || -> => <-> <=> = == != < <= > >= + - * / @ @A P@A . , ",
        ": tool_call: tool_call:x extra:k=v \"t\" \"t `q` ` \\ 1 0 .5 1e9 1e -3 true false null p( ä ∧ [] <> ~> \u{a0} \u{0}"
    )
    .split(' ')
    .collect();
    let mut accepted = 0;
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let text = match rng.u8(..3) {
            0 => {
                let bytes: Vec<u8> = (0..rng.usize(..24)).map(|_| rng.u8(..)).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            1 => {
                let spaced = if rng.bool() { " " } else { "" };
                let parts: Vec<&str> = (0..rng.usize(..12)).map(|_| pieces[rng.usize(..pieces.len())]).collect();
                parts.join(spaced)
            }
            _ => {
                let mut formulas = Formulas::new();
                let formula = formula(&mut rng, &mut formulas, EVERYTHING, 3);
                let mut chars: Vec<char> = formulas.text(formula).chars().collect();
                for _ in 0..rng.usize(1..4) {
                    let at = rng.usize(..=chars.len());
                    if rng.bool() && at < chars.len() {
                        chars.remove(at);
                    } else {
                        let piece = pieces[rng.usize(..pieces.len())];
                        chars.splice(at..at, piece.chars());
                    }
                }
                chars.into_iter().collect()
            }
        };
        let mut formulas = Formulas::new();
        match formulas.parse(&text) {
            Ok(formula) => {
                let printed = formulas.text(formula);
                assert_eq!(formulas.parse(&printed), Ok(formula), "seed {seed}: `{text}` printed as `{printed}`");
                accepted += 1;
            }
            Err(error) => {
                assert!(text.get(error.span.clone()).is_some(), "seed {seed}: `{text}`: {error}");
                assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
            }
        }
        let _ = formulas.parse_quantity(&text);
    }
    assert!(accepted > count / 100, "{accepted}");
    println!("{count} damaged texts, {accepted} of them read, {:?}", began.elapsed());
}
