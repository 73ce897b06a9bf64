//! The text that the embedded checker gets: its own parser must parse it with the meaning that TLA+ gives to the original.
//! Every pair of operators is tested, so that a change of the checker's precedence table or of ours is noticed.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use tla_mc::lexer::lex_module;
use tla_mc::parser::Parser;
use tlaforge_tla::semantic::{CheckerText, rewrite_for_checker};

/// Infix operators that the checker accepts, with their precedences ("Specifying Systems", table 6) and whether they chain.
const INFIX: &[(&str, u8, u8, bool)] = &[
    ("=>", 1, 1, false),
    ("<=>", 2, 2, false),
    ("~>", 2, 2, false),
    ("/\\", 3, 3, true),
    ("\\/", 3, 3, true),
    ("=", 5, 5, false),
    ("#", 5, 5, false),
    ("<", 5, 5, false),
    ("=<", 5, 5, false),
    ("\\geq", 5, 5, false),
    ("\\in", 5, 5, false),
    ("\\notin", 5, 5, false),
    ("\\subseteq", 5, 5, false),
    ("\\subset", 5, 5, false),
    ("\\supseteq", 5, 5, false),
    ("\\prec", 5, 5, false),
    ("\\sqsubseteq", 5, 5, false),
    ("\\ll", 5, 5, false),
    ("\\doteq", 5, 5, false),
    ("@@", 6, 6, true),
    (":>", 7, 7, false),
    ("\\", 8, 8, false),
    ("\\cap", 8, 8, true),
    ("\\cup", 8, 8, true),
    ("..", 9, 9, false),
    ("##", 9, 13, true),
    ("$$", 9, 13, true),
    ("\\sqcap", 9, 13, true),
    ("\\sqcup", 9, 13, true),
    ("\\uplus", 9, 13, true),
    ("+", 10, 10, true),
    ("++", 10, 10, true),
    ("\\oplus", 10, 10, true),
    ("%", 10, 11, false),
    ("%%", 10, 11, true),
    ("-", 11, 11, true),
    ("\\ominus", 11, 11, true),
    ("\\X", 10, 13, true),
    ("*", 13, 13, true),
    ("**", 13, 13, true),
    ("//", 13, 13, false),
    ("\\div", 13, 13, false),
    ("&", 13, 13, true),
    ("&&", 13, 13, true),
    ("\\odot", 13, 13, true),
    ("\\oslash", 13, 13, false),
    ("\\otimes", 13, 13, true),
    ("\\star", 13, 13, true),
    ("\\o", 13, 13, true),
    ("\\bullet", 13, 13, true),
    ("^", 14, 14, false),
    ("^^", 14, 14, false),
];

const PREFIX: &[(&str, u8, u8)] = &[
    ("~", 4, 4),
    ("[]", 4, 15),
    ("<>", 4, 15),
    ("ENABLED", 4, 15),
    ("UNCHANGED", 4, 15),
    ("SUBSET", 10, 13),
    ("UNION", 10, 13),
    ("DOMAIN", 10, 13),
    ("-", 12, 12),
];

/// Operators that the checker does not know. It must reject them instead of parsing something else.
const UNREAD: &[&str] = &[
    "-+->",
    ">=<",
    "\\supset",
    "\\sqsupset2",
    "\\asymp",
    "\\propto",
    "|-",
    "|=",
    "-|",
    "=|",
    ":=",
    "::=",
    "\\cdot",
    "<:",
    "...",
    "!!",
    "$",
    "??",
    "\\wr",
    "|",
    "||",
    "--",
    "/",
    "\\bigcirc",
];

fn module(body: &str) -> String {
    // The module defines arithmetic itself, so no operator of ours replaces it.
    format!("---- MODULE M ----\nx * y == 1\nx ^ y == 1\nx \\div y == 1\nx + y == 1\nx - y == 1\nD == {body}\n====\n")
}

fn written(text: &str) -> Result<CheckerText, String> {
    rewrite_for_checker(&[("M", text)], "").map(|mut all| all.remove(0)).map_err(|e| e.message)
}

/// The checker's syntax tree of the definition D.
fn tree(text: &str) -> Result<String, String> {
    let module = Parser::new(lex_module(text)?).module()?;
    let found = module.defs.iter().find(|def| def.name == "D").ok_or("no D")?;
    Ok(format!("{:?}", found.body))
}

fn as_written(body: &str) -> Result<String, String> {
    tree(&written(&module(body)).unwrap_or_else(|e| panic!("{body}: {e}")).text)
}

/// Whether the first of two operators binds tighter; `None` if TLA+ requires parentheses.
fn tighter(first: (u8, u8), second: (u8, u8), chain: bool) -> Option<bool> {
    match () {
        () if first.0 > second.1 || chain => Some(true),
        () if first.1 < second.0 => Some(false),
        () => None,
    }
}

#[test]
fn every_pair_of_operators_is_parsed_as_tla_requires() {
    let (mut read, mut mended) = (0, 0);
    let mut one = |text: &str, meant: &str| {
        let meant = tree(&module(meant)).unwrap();
        assert_eq!(as_written(text).as_ref(), Ok(&meant), "{text}");
        read += 1;
        mended += usize::from(tree(&module(text)).as_ref() != Ok(&meant));
    };
    for (a, low, high, left) in INFIX {
        for (b, low2, high2, _) in INFIX {
            let text = format!("p {a} q {b} r");
            match tighter((*low, *high), (*low2, *high2), a == b && *left) {
                // A product of three sets is not a set of pairs.
                Some(true) if *a == "\\X" && a == b => one(&text, &text),
                Some(true) => one(&text, &format!("(p {a} q) {b} r")),
                Some(false) => one(&text, &format!("p {a} (q {b} r)")),
                None => assert!(written(&module(&text)).is_err(), "{text}"),
            }
        }
        for (before, low2, high2) in PREFIX {
            let text = format!("{before} p {a} q");
            match tighter((*low2, *high2), (*low, *high), false) {
                Some(true) => one(&text, &format!("({before} p) {a} q")),
                Some(false) => one(&text, &format!("{before} (p {a} q)")),
                None => assert!(written(&module(&text)).is_err(), "{text}"),
            }
        }
    }
    assert!(read > 1_500, "{read}");
    // The number of differences in tla-mc 0.2.2; another number means that its precedence table changed.
    assert_eq!(mended, MENDED, "of {read}");
}

const MENDED: usize = 18;

#[test]
fn unknown_operators_are_refused() {
    for operator in UNREAD {
        let text = module(&format!("p {operator} q"));
        let refused = written(&text).map_or(true, |copy| tree(&copy.text).is_err());
        assert!(refused, "{operator}: {:?}", tree(&text));
    }
}

#[test]
fn added_parentheses_keep_the_columns_of_bulleted_lists() {
    for (text, meant) in [
        (
            "/\\ p % 2*3 = q /\\ /\\ r\n                       /\\ s\n     /\\ t",
            "(((p % (2*3)) = q) /\\ (r /\\ s)) /\\ t",
        ),
        ("/\\ p%2*3 = q /\\ \\/ r\n                     \\/ s\n     /\\ t", "((p%(2*3)) = q /\\ (r \\/ s)) /\\ t"),
        ("\\/ -p %\n        q\n     \\/ s", "((-p) % q) \\/ s"),
        ("\\/ q = \n        -p % 3 \\* so\n     \\/ s", "(q = ((-p) % 3)) \\/ s"),
        ("IF p THEN-q%3 ELSE{-q%3}", "IF p THEN (-q) % 3 ELSE {(-q) % 3}"),
    ] {
        let text = module(text);
        let copy = written(&text).unwrap_or_else(|e| panic!("{text}: {e}")).text;
        assert_eq!(flat(&tree(&copy)), flat(&tree(&module(meant))), "{text}\n{copy}");
    }
}

/// Treats a bulleted list like a conjunction, and flattens nested ones.
fn flat(tree: &Result<String, String>) -> String {
    tree.as_ref().unwrap().replace("And([And([", "And([").replace("])])", "])").replace("]), ", ", ")
}

#[test]
fn a_module_that_needs_no_change_is_not_changed() {
    let text = module("{p + q : p \\in 1..3} \\* ok\nE == [f EXCEPT ![1] = -@ + 1]");
    let copy = written(&text).unwrap();
    assert_eq!(copy.text, text);
    assert_eq!(copy.lines.len(), text.matches('\n').count() + 1);
}

#[test]
fn each_line_maps_to_its_original_line() {
    let text = module("-p%3\nE == q\nF == -p%3\nG == r");
    let copy = written(&text).unwrap();
    assert_eq!(copy.text.matches('\n').count() + 1, copy.lines.len());
    for (line, original) in copy.text.lines().zip(&copy.lines) {
        if let Some(name) = line.split_once(" == q").or_else(|| line.split_once(" == r")).map(|(name, _)| name) {
            let wanted = text.lines().position(|line| line.starts_with(&format!("{name} =="))).unwrap() + 1;
            assert_eq!(*original, wanted, "{}", copy.text);
        }
    }
}

#[test]
fn unicode_becomes_ascii_without_moving_columns() {
    for (text, meant) in [
        (
            "∧ p ∈ ℕ ∧ ∨ q ≠ r\n               ∨ s ≤ t\n     ∧ u ⇒ ¬v",
            "(p \\in Nat /\\ (q # r \\/ s <= t)) /\\ (u => ~v)",
        ),
        ("∀ p ∈ ⟨1, 2⟩ : ∃ q∈r : p×q = {}", "\\A p \\in <<1, 2>> : \\E q \\in r : (p \\X q) = {}"),
        ("[p ∈ q ↦ □(r)] (* é *) ∪ {\"é\"}∪s", "[p \\in q |-> [](r)] \\cup {\"é\"} \\cup s"),
        ("\\forall p \\in q : \\exists s \\in t : p = \\hff", "\\A p \\in q : \\E s \\in t : p = 255"),
        ("p ÷ q", "p \\div q"),
    ] {
        assert_eq!(
            flat(&as_written(text)),
            flat(&tree(&module(meant))),
            "{text}\n{}",
            written(&module(text)).unwrap().text
        );
    }
    let text = "---- MODULE M ----\nD ≜ p ⇒ q\n====\n";
    assert_eq!(tree(&written(text).unwrap().text), tree("---- MODULE M ----\nD == p => q\n====\n"));
}

#[test]
fn a_product_in_parentheses_stays_a_set_of_pairs() {
    let wanted = tree(&module("(IF TRUE THEN p \\X q ELSE {}) \\X r"));
    assert_eq!(as_written("(p \\X q) \\X r"), wanted);
    assert_eq!(as_written("((p \\X q)) \\X r"), wanted);
    assert_eq!(as_written("p \\X (q \\X r)"), tree(&module("p \\X (q \\X r)")));
}

#[test]
fn a_list_item_is_named_only_if_the_checker_counts_items_in_the_same_way() {
    for (body, same) in [
        ("/\\ p\n     /\\ q\nE == D!2", true),
        ("p /\\ q\nE == D!1", true),
        ("p /\\ q /\\ r\nE == D!1", false),
        ("(p /\\ q) /\\ r\nE == D!1", false),
        ("p + q\nE == D!1", false),
    ] {
        assert_eq!(written(&module(body)).is_ok(), same, "{body}");
    }
}

#[test]
fn a_named_part_belongs_to_the_definition_in_scope() {
    let other = "---- MODULE Other ----\nD == p /\\ q /\\ r\n====\n";
    let listed = "---- MODULE Listed ----\nD == /\\ p\n     /\\ q\n====\n";
    for (extended, same) in [("Listed", true), ("Other", false)] {
        let text = format!("---- MODULE M ----\nEXTENDS {extended}\nE == D!2\n====\n");
        let written = rewrite_for_checker(&[("M", &text), ("Other", other), ("Listed", listed)], "");
        assert_eq!(written.is_ok(), same, "{extended}");
    }
}

#[test]
fn numbers_that_tlc_does_not_have_are_refused_with_their_position() {
    let refused = written("---- MODULE M ----\nD == x > 2147483648\n====\n").unwrap_err();
    assert_eq!(refused, "module M, line 2, column 10: this number has more than 32 bits, which TLC does not have");
    assert!(written("---- MODULE M ----\nD == x > 2147483647\n====\n").is_ok());
    assert!(rewrite_for_checker(&[("M", &module("x"))], "CONSTANT N = 3000000000\n").is_err());
}

#[test]
fn arithmetic_fails_where_it_fails_in_tlc() {
    let text = |body: &str| written(&format!("---- MODULE M ----\nD == {body}\n====\n")).unwrap().text;
    let div = text("p \\div q");
    assert!(div.split_whitespace().collect::<String>().contains("D==TlaforgeNumber_M_Div(p,q)"), "{div}");
    assert!(!text("p \\div 2 + 3 - (q % 2)").contains("Tlaforge"));
    assert!(text("p * q ^ 2").contains("Power(") && text("p * q").contains("Times("));
    assert!(text("p + 2000000000").contains("Plus("));
    let fold = text("F(\\div, 1)");
    assert!(fold.contains("F(TlaforgeNumber_M_Div") && fold.contains("TlaforgeNumber_M_Div(Tlaforge"), "{fold}");
}
