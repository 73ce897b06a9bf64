//! Robustness of the translator: extreme nesting, two megabytes, no algorithm, other line ends.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::pluscal::reference::{Made, block, ours, tokens};
use tlaforge::pluscal::Compat;

fn module(algorithm: &str) -> String {
    format!("---- MODULE M ----\nEXTENDS Integers\n(* {algorithm} *)\n====\n")
}

fn body(statements: &str) -> String {
    module(&format!("--algorithm A\nvariables x = 0;\nbegin\n{statements}\nend algorithm;"))
}

/// Translates without hanging: what grows faster than the text takes hours. A rejection must have a position.
#[track_caller]
fn translate_in_time(what: &str, text: &str) -> Made {
    let began = Instant::now();
    let made = ours(text, Compat::Today);
    assert!(began.elapsed() < Duration::from_secs(300), "{what}: {:?}", began.elapsed());
    if let Made::Rejected(places, message) = &made {
        assert!(places.iter().all(|(line, _)| *line > 0), "{what}: {message}");
    }
    made
}

#[test]
fn extreme_nesting_is_an_error_with_a_position() {
    const DEEP: usize = 50_000;
    let twice = |open: &str, inside: &str, close: &str| open.repeat(DEEP) + inside + &close.repeat(DEEP);
    let inputs = [
        ("parentheses", body(&format!("x := {};", twice("(", "1", ")")))),
        ("sets", body(&format!("x := {};", twice("{", "1", "}")))),
        ("tuples", body(&format!("x := {};", twice("<<", "1", ">>")))),
        ("if", body(&twice("if x = 0 then ", "skip; ", "end if; "))),
        ("either", body(&twice("either ", "skip; ", "or skip; end either; "))),
        ("with", body(&twice("with y = 1 do ", "skip; ", "end with; "))),
        ("while", body(&twice("while x = 0 do ", "skip; ", "end while; "))),
        ("elsif", body(&("if x = 0 then skip; ".to_owned() + &"elsif x = 1 then skip; ".repeat(DEEP) + "end if;"))),
        ("blocks", module(&format!("--algorithm A {{ {{ {} }} }}", twice("{ ", "skip; ", "}; ")))),
        ("if in braces", module(&format!("--algorithm A {{ {{ {} }} }}", twice("if (x = 0) { ", "skip; ", "}; ")))),
        ("else if", module(&format!("--algorithm A {{ {{ {} skip; }} }}", "if (x = 0) skip; else ".repeat(DEEP)))),
        ("if without braces", module(&format!("--algorithm A {{ {{ {} skip; }} }}", "if (x = 0) ".repeat(DEEP)))),
        ("comments", body(&format!("x := 1 {};", twice("(* ", "", "*) ")))),
        ("open parentheses", body(&format!("x := {};", "(".repeat(DEEP)))),
        ("open braces", module(&format!("--algorithm A {}", "{ ".repeat(DEEP)))),
        ("open ifs", body(&"if x = 0 then ".repeat(DEEP))),
        ("labels", body(&"L: ".repeat(DEEP))),
        ("unary", body(&format!("x := {} 1;", "~".repeat(DEEP)))),
    ];
    for (what, text) in inputs {
        translate_in_time(what, &text);
        translate_in_time(what, &text.replace(' ', "\n"));
    }
}

#[test]
fn macros_that_double_their_size_are_refused() {
    // Each macro doubles the one before: 2^40 statements if all were expanded.
    let mut text = String::from("--algorithm A {\n variables x = 0;\n macro M0() { x := x + 1; }\n");
    for at in 1..40 {
        let _ = writeln!(text, " macro M{at}() {{ M{0}(); M{0}(); }}", at - 1);
    }
    text.push_str(" { A: M39(); }\n}");
    let made = translate_in_time("doubling macros", &module(&text));
    assert!(matches!(made, Made::Rejected(..)), "{made:?}");
    let mut text = String::from("--algorithm A {\n variables x = 0;\n macro M0(a) { x := a; }\n");
    for at in 1..40 {
        let _ = writeln!(text, " macro M{at}(a) {{ M{}(a + a); }}", at - 1);
    }
    text.push_str(" { A: M39(1); }\n}");
    let made = translate_in_time("doubling arguments", &module(&text));
    assert!(matches!(made, Made::Rejected(..)), "it cannot have been written out");
}

#[test]
fn two_megabytes_are_translated() {
    let steps = (0..9_000).fold(String::new(), |text, at| {
        text + &format!("  L{at}: x := x + {at}; \\* a remark behind it, so that the line becomes longer than it was\n{}",
            "     \\* and a line that holds nothing else, once more, so that there are two megabytes in the end and no fewer\n")
    });
    let text = body(&steps);
    let text = text
        .replace("(* --algorithm", &format!("{}(* --algorithm", "\\* prose\n".repeat((2_100_000 - text.len()) / 9)));
    assert!(text.len() > 2_000_000);
    let Made::Translated(made) = translate_in_time("steps", &text) else { panic!("rejected") };
    assert!(made.contains("L8999 == /\\ pc = \"L8999\""));
    let long = body(&format!("L: x := {};", "x + ".repeat(500_000) + "1"));
    let Made::Translated(made) = translate_in_time("an expression", &long) else { panic!("rejected") };
    assert!(tokens(block(&made).unwrap()).len() > 1_000_000);
    let noise = "x".repeat(2_000_000);
    assert_eq!(translate_in_time("no algorithm", &noise), Made::Nothing);
    translate_in_time("a long word", &body(&format!("L: {noise} := 1;")));
    translate_in_time("a long string", &body(&format!("L: x := \"{noise}\";")));
    translate_in_time("an open string", &body(&format!("L: x := \"{noise};")));
    translate_in_time("an open comment", &format!("(* --algorithm A {noise}"));
    translate_in_time("algorithms", &module("--algorithm A\n").repeat(60_000));
}

#[test]
fn a_text_without_an_algorithm_is_not_translated() {
    for text in
        ["", "\n", "---- MODULE M ----\n====\n", "(* algorithm *)", "\\* about algorithms\r\n", "\u{feff}", "é∈"]
    {
        assert_eq!(ours(text, Compat::Today), Made::Nothing, "{text:?}");
    }
}

#[test]
fn two_algorithms_are_rejected_or_the_first_is_translated() {
    let text = format!("{}{}", body("A: x := 1;"), module("--algorithm B { { skip; } }"));
    match ours(&text, Compat::Today) {
        Made::Translated(made) => assert!(made.contains("x' = 1") && made.contains("--algorithm B { { skip; } }")),
        other => assert!(matches!(other, Made::Rejected(..)), "{other:?}"),
    }
}

#[test]
fn the_line_ends_of_a_module_are_kept() {
    let text = body("A: x := 1;\nB: x := 2;").replace('\n', "\r\n");
    let Made::Translated(made) = ours(&text, Compat::Today) else { panic!("rejected") };
    assert_eq!(made.matches('\n').count(), made.matches("\r\n").count(), "{made:?}");
}
