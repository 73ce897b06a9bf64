//! Parsing modules: what is found and where, with any text around it, and without a panic on any input.

use std::fmt::Write as _;
use std::time::Instant;

use proptest::prelude::*;
use tlaforge_tla::{DefinitionKind, Module, ModuleError, Syntax, find_modules};

const LOCK: &str = include_str!("../data/Lock.tla");
const COUNTER: &str = include_str!("../data/Counter.tla");

fn module(body: &str) -> Module {
    Module::parse(&format!("---- MODULE M ----\n{body}\n====\n")).expect("there is a header")
}

fn names(module: &Module) -> Vec<&str> {
    module.definitions.iter().map(|definition| definition.name.as_str()).collect()
}

#[test]
fn all_kinds_of_units_are_parsed() {
    let lock = Module::parse(LOCK).expect("a module");
    assert_eq!(lock.name, "Lock");
    assert_eq!(lock.extends, ["Naturals", "FiniteSets", "TLC"]);
    let constants: Vec<_> = lock.constants.iter().map(|c| (c.name.as_str(), c.arity)).collect();
    assert_eq!(constants, [("Procs", 0), ("F", 2)]);
    let variables: Vec<_> = lock.variables.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(variables, ["lock", "q", "pc", "mine"]);
    assert_eq!(lock.recursive.iter().map(|r| (r.name.as_str(), r.arity)).collect::<Vec<_>>(), [("Sum", 1)]);
    assert_eq!(
        names(&lock),
        ["Sum", "Safe", "Free", "vars", "Init", "Next", "Spec", "\\prec", "f", "M", "TypeOK", "Uses", "Last"]
    );
    assert_eq!(lock.syntax_errors, []);
    assert_eq!(lock.assumptions[0].name.as_deref(), Some("Pos"));
    assert_eq!(lock.theorems.len(), 1);
    let definition = |name: &str| lock.definition(name).expect(name);
    assert_eq!(definition("f").kind, DefinitionKind::Function);
    assert_eq!((definition("f").params.len(), definition("f").arity()), (2, 0));
    assert_eq!((definition("M").kind, definition("M").local), (DefinitionKind::Instance, true));
    assert_eq!(definition("\\prec").params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(definition("TypeOK").text.starts_with("\\* covers R1, R3\n\\* and more\nTypeOK =="));
    assert!(definition("Last").text.ends_with("4 (* tail *)"));
    let translation = lock.translation.clone().expect("a translation");
    assert!(
        LOCK[translation.clone()].starts_with("\\* BEGIN TRANSLATION")
            && LOCK[translation].ends_with("END TRANSLATION")
    );
    for definition in &lock.definitions {
        assert_eq!(definition.text, LOCK[definition.range.clone()]);
    }
}

#[test]
fn p_syntax_is_parsed_with_labels_define_and_fairness() {
    let lock = Module::parse(LOCK).expect("a module");
    let algorithm = lock.algorithm.expect("an algorithm");
    assert_eq!((algorithm.name.as_str(), algorithm.syntax, algorithm.fair), ("Lock", Syntax::P, true));
    assert_eq!(algorithm.definitions.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["Safe", "Free"]);
    let labels: Vec<_> = algorithm.labels.iter().map(|label| (label.name.as_str(), label.line)).collect();
    assert_eq!(labels, [("ncs", 21), ("try", 22), ("cs", 23), ("rel", 24)]);
    assert_eq!(algorithm.fairness, ["--fair algorithm", "fair+ process p", "cs:+"]);
    assert!(LOCK[algorithm.range].ends_with("end algorithm;"));
}

#[test]
fn c_syntax_is_parsed() {
    let counter = Module::parse(COUNTER).expect("a module");
    assert_eq!(counter.syntax_errors, []);
    let variables = counter.variable_names();
    for name in ["n", "seen", "pc", "stack", "by", "t"] {
        assert!(variables.contains(name), "{name}");
    }
    assert!(counter.mentions_variable("Small"));
    let algorithm = counter.algorithm.expect("an algorithm");
    assert_eq!((algorithm.syntax, algorithm.fair), (Syntax::C, false));
    assert_eq!(algorithm.definitions[0].text, "Small == n <= Max");
    let labels: Vec<_> = algorithm.labels.iter().map(|label| (label.name.as_str(), label.line)).collect();
    assert_eq!(labels, [("first", 8), ("second", 8), ("loop", 10), ("up", 12)]);
    assert_eq!(algorithm.fairness, ["fair process Ticker"]);
    assert!(COUNTER[algorithm.range].ends_with('}'));
}

#[test]
fn the_word_algorithm_in_a_comment_is_not_pluscal() {
    for body in [
        "(* This algorithm is written without PlusCal. *)\nA == 1",
        "\\* --algorithm X\nA == 1",
        "(* see --algorithm in the manual *)\nA == 1",
        "(* --fair play *)\nA == \"--algorithm X begin\"",
    ] {
        assert!(module(body).algorithm.is_none(), "{body}");
    }
}

#[test]
fn a_terminator_of_77_characters_is_the_end_and_prose_after_it_is_ignored() {
    let bar = "=".repeat(77);
    let text = format!("I'll write ----- MODULE\nit.\n---- MODULE A ----\nX == 1\n{bar}\nY == 2\n====\nit's done");
    let read = Module::parse(&text).expect("a module");
    assert_eq!(names(&read), ["X"]);
    assert_eq!(&text[read.terminator.expect("an end")], bar);
}

/// As for SANY; otherwise the second module would be edited and the first one checked.
#[test]
fn a_header_may_have_comments_and_line_ends() {
    for header in ["---- MODULE\nA ----", "---- MODULE (**) A ----", "---- MODULE \\* c\n A\n----", "----MODULEA----"] {
        let text = format!("{header}\nX == 1\n====\n---- MODULE B ----\nY == 2\n====\n");
        let read = Module::parse(&text).expect("a module");
        assert_eq!((read.name.as_str(), names(&read)), ("A", vec!["X"]), "{header}");
    }
}

#[test]
fn what_a_unit_without_a_tree_depends_on_and_its_layout_count() {
    let deep = format!("{}x{}", "(".repeat(300), ")".repeat(300));
    let read = module(&format!("ASSUME Bound < {deep}\nA == {deep}\n  /\\ y\n  \\/ z"));
    assert!(read.assumptions[0].references.names.contains("Bound"));
    let other = module(&format!("A == {deep}\n  /\\ y\n     \\/ z"));
    let text = |module: &Module| module.definition("A").expect("A").normalised(&module.source);
    assert_ne!(text(&read), text(&other));
}

#[test]
fn an_equals_line_in_a_comment_or_string_is_not_a_terminator() {
    let read = module("(* ====\n ==== *)\n\\* =====\nX == \"====\"\nY == 2");
    assert_eq!(names(&read), ["X", "Y"]);
}

#[test]
fn nested_modules_are_skipped() {
    let read = module("A == 1\n---- MODULE Inner ----\nB == 2\n====\nC == 3");
    assert_eq!(names(&read), ["A", "C"]);
    assert_eq!(read.inner.len(), 1);
}

#[test]
fn the_name_of_the_module_is_its_own() {
    assert_eq!(Module::parse("-----MODULE free_tokens-----\n====").expect("a module").name, "free_tokens");
    assert_eq!(Module::parse("no module here").err(), Some(ModuleError::NoModule));
    assert_eq!(Module::parse("").err(), Some(ModuleError::NoModule));
}

#[test]
fn all_modules_of_an_answer_are_found_and_a_truncated_one_is_flagged() {
    let text = "Sure!\n---- MODULE A ----\nX == 1\n====\nand\n---- MODULE B ----\nX == (* never closed";
    let found = find_modules(text);
    assert_eq!(found.iter().map(|f| (f.name.as_str(), f.truncated)).collect::<Vec<_>>(), [("A", false), ("B", true)]);
    assert!(text[found[0].range.clone()].ends_with("===="));
    assert!(Module::parse(&text[found[1].range.clone()]).expect("still a module").terminator.is_none());
}

#[test]
fn an_error_in_one_definition_does_not_hide_others() {
    let read = module("A == 1 +\nB == LET x == 1\nC == x == 3\nD == A");
    assert_eq!(names(&read), ["A", "B", "C", "D"]);
    let lines: Vec<_> = read.syntax_errors.iter().map(|error| error.line).collect();
    assert!(lines.contains(&3) || lines.contains(&2), "{:?}", read.syntax_errors);
    assert!(!read.definition("D").expect("D").has_syntax_errors);
}

#[test]
fn let_definitions_at_the_margin_stay_local() {
    let read = module("A ==\nLET\nx == 1\ny == 2\nIN x + y\nB == 2");
    assert_eq!(names(&read), ["A", "B"]);
}

#[test]
fn helper_definitions_with_parameters_are_definitions() {
    let read = module("Max(a, b) == IF a > b THEN a ELSE b\nApply(Op(_, _), x) == Op(x, x)\n-. x == 0 - x\nx ^+ == x");
    let found: Vec<_> = read.definitions.iter().map(|d| (d.name.as_str(), d.arity())).collect();
    assert_eq!(found, [("Max", 2), ("Apply", 2), ("-.", 1), ("^+", 1)]);
    assert_eq!(read.definitions[1].params[0].arity, 2);
}

#[test]
fn closures_contain_exactly_the_referenced_definitions() {
    let read = module(
        r#"VARIABLES x, y
        K == 1
        Shadow == \A K \in {1} : K = 1
        Param(K) == K + 1
        Field == [K |-> 1].K
        Text == "K" \* K
        Local == LET K == 2 IN K
        Deep == LET h(z) == z + K IN h(3)
        Fun[K \in {1}] == K
        Apply(F(_), a) == F(a)
        Lam == Apply(LAMBDA K : K, 2)
        Chain == Deep /\ x = 1
        Quant == \E v \in {K} : v = 1
        NotX == \A x1 \in {1} : [x |-> 1].x = 1
        Op == Param(K)"#,
    );
    assert_eq!(read.syntax_errors, []);
    for name in ["Shadow", "Param", "Field", "Text", "Local", "Fun", "Lam"] {
        assert!(!read.closure(name).contains("K"), "{name}");
    }
    for name in ["Deep", "Chain", "Quant", "Op"] {
        assert!(read.closure(name).contains("K"), "{name}");
    }
    assert!(read.mentions_variable("Chain"));
    assert!(!read.mentions_variable("NotX"));
}

#[test]
fn parsing_two_megabytes_is_linear() {
    let unit = "Op(a, b) ==\n  /\\ a \\in {1, 2, b}\n  /\\ \\E z \\in {a} : z = b\n\n";
    let time = |count: usize| {
        let body = unit.repeat(count);
        let start = Instant::now();
        assert_eq!(module(&body).definitions.len(), count);
        start.elapsed().as_secs_f64()
    };
    // One of three attempts counts, because other processes of the machine take time from some of them.
    let is_linear = |_| {
        let small = time(2 * 1024 * 1024 / 16 / unit.len());
        let large = time(2 * 1024 * 1024 / unit.len());
        println!("{small} s for 128 kB, {large} s for 2 MB");
        large < small * 48.0 + 1.0
    };
    assert!((0..3).any(is_linear));
}

#[test]
fn large_garbage_is_parsed_quickly() {
    let size = 512 * 1024;
    for piece in [
        "(",
        "[",
        "{ x : ",
        "/\\ ",
        "a + ",
        "<1> ",
        "LET x == ",
        "\" ",
        "(*",
        "x == ",
        "[] ",
        "IF ",
        "~",
        "---- MODULE A ----\n",
        "--algorithm A { ",
        "CASE x -> ",
        "<<",
        ") == ",
        "\n  /\\ \\/",
        "THEOREM <1>1. ",
    ] {
        // One huge unit, and many that are just small enough to be parsed.
        let huge = format!("---- MODULE M ----\nA == {}", piece.repeat(size / piece.len()));
        let many =
            format!("---- MODULE M ----\n{}", format!("A == {}\n", piece.repeat(12_000 / piece.len())).repeat(40));
        let start = Instant::now();
        for text in [huge, many] {
            let _ = Module::parse(&text);
            let _ = find_modules(&text);
        }
        // Minutes: what is not linear takes hours.
        assert!(start.elapsed().as_secs() < 300, "{piece}: {:?}", start.elapsed());
    }
}

#[test]
fn lists_nested_too_deep_for_the_grammar_are_refused() {
    let mut body = String::from("A ==\n");
    for depth in 0..300 {
        body.push_str(&" ".repeat(depth + 1));
        body.push_str("/\\ \n");
    }
    let read = module(&body);
    assert!(read.syntax_errors[0].message.contains("nested too deeply"), "{:?}", read.syntax_errors[0]);
    let mut proofs = String::from("THEOREM TRUE\n");
    for depth in 0..2_000 {
        let _ = writeln!(proofs, "<{depth}>1. TRUE");
    }
    let _ = module(&proofs);
    let _ = module(&format!("A == 1\n{proofs}").replace("THEOREM", "B == "));
}

fn mutated(text: &str, edits: &[(usize, u8, u8)]) -> String {
    const TOKENS: &[&str] = &[
        "==",
        "====",
        "(*",
        "*)",
        "\\*",
        "\"",
        "LET",
        "IN",
        "\n",
        "---- MODULE X ----\n",
        "{",
        "}",
        "[",
        "]_",
        "/\\",
        "\\/",
        "--algorithm",
        "end algorithm",
        "define",
        "RECURSIVE",
        "<1>",
        "THEOREM",
        "\u{e9}",
        "\u{2227}",
        "\u{0}",
        "CHOOSE",
        ":",
        "EXCEPT !",
        "<<",
        ">>_",
        "WF_",
        "INSTANCE",
        "LOCAL",
        "\t",
        "\r\n",
        "~",
        "'",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for (at, what, with) in edits {
        let at = at % (bytes.len() + 1);
        match what % 4 {
            0 if at < bytes.len() => bytes[at] = *with,
            1 if at < bytes.len() => {
                let end = (at + usize::from(*with)).min(bytes.len());
                bytes.drain(at..end);
            }
            2 => {
                let token = TOKENS[usize::from(*with) % TOKENS.len()];
                bytes.splice(at..at, token.bytes());
            }
            _ => {
                let end = (at + usize::from(*with)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parsing_a_mutated_module_never_panics(edits in prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..12), which in any::<bool>()) {
        let text = mutated(if which { LOCK } else { COUNTER }, &edits);
        for found in find_modules(&text) {
            prop_assert!(text.get(found.range).is_some());
        }
        if let Ok(read) = Module::parse(&text) {
            for definition in read.definitions_by_name().values() {
                prop_assert_eq!(text.get(definition.range.clone()), Some(definition.text.as_str()));
                let _ = read.closure(&definition.name);
                let _ = definition.normalised(&text);
                let _ = tlaforge_tla::constantly_true(&read, &definition.name);
            }
            let _ = read.requirements_by_definition();
        }
    }

    #[test]
    fn parsing_never_panics(text in "(?s).{0,400}") {
        let _ = Module::parse(&format!("---- MODULE M ----\n{text}"));
        let _ = find_modules(&text);
    }

    #[test]
    fn definitions_are_found_like_by_a_naive_scan(count in 1_usize..20, gap in "[ \n]{1,3}", comment in "[a-z ]{0,10}") {
        let mut body = String::new();
        for n in 0..count {
            let _ = writeln!(body, "\\* {comment}\nD{n} == {n}{gap}");
        }
        let read = module(&body);
        let naive: Vec<String> = body.lines().filter_map(|line| line.split_once(" == ").map(|(name, _)| name.to_owned())).collect();
        prop_assert_eq!(names(&read), naive.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
