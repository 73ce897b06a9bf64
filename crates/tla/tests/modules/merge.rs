//! Merging generated definitions into a module: each must be there exactly once, where the tools see it.

use tlaforge_tla::{Cfg, Diagnostic, Merged, Module, Sections, Stage, check_cfg_names, merge};

const LOCK: &str = include_str!("../data/Lock.tla");

fn invariants(text: &str, invariants: &str) -> Result<Merged, Vec<Diagnostic>> {
    merge(text, &Sections { invariants, ..Sections::default() })
}

fn merged(text: &str, section: &str) -> Merged {
    invariants(text, section).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn read(text: &str) -> Module {
    Module::parse(text).expect("a module")
}

/// Parses a module and asserts that it has no syntax errors and defines every name once outside the algorithm.
fn parse_valid(text: &str) -> Module {
    let module = read(text);
    assert_eq!(module.syntax_errors, [], "{text}");
    let mut names: Vec<_> = module.definitions.iter().map(|d| d.name.clone()).collect();
    names.sort();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "{text}");
    module
}

#[test]
fn definitions_go_before_the_terminator_even_if_it_is_long_and_prose_follows() {
    let bar = "=".repeat(77);
    let text = format!("prose\n---- MODULE M ----\nVARIABLE x\nInit == x = 1\n{bar}\nmore ==== prose\n");
    let result = merged(&text, "\\* covers R1, R3\nSafe == x = 1\n\nMax(a, b) == a");
    assert_eq!(
        result.text,
        format!(
            "prose\n---- MODULE M ----\nVARIABLE x\nInit == x = 1\n\n\\* covers R1, R3\nSafe == x = 1\n\nMax(a, b) == a\n\n{bar}\nmore ==== prose\n"
        )
    );
    assert_eq!(result.added, ["Safe", "Max"]);
    assert_eq!(parse_valid(&result.text).requirements_by_definition()["Safe"], ["R1", "R3"]);
}

#[test]
fn an_existing_definition_is_replaced_and_nothing_else_is_lost() {
    let text = "---- MODULE M ----\nVARIABLE x\n\\* TypeOK is below\nTypeOK == TRUE\nInit == x = 1\n====";
    let result = merged(text, "TypeOK == x \\in {1}\nSafe == x = 1");
    assert_eq!(
        (result.replaced.as_slice(), result.added.as_slice()),
        (&["TypeOK".to_owned()][..], &["Safe".to_owned()][..])
    );
    let module = parse_valid(&result.text);
    let order: Vec<_> = module.definitions.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(order, ["Init", "TypeOK", "Safe"]);
    assert!(module.definition("TypeOK").expect("TypeOK").text.contains("x \\in {1}"));
}

#[test]
fn a_name_in_a_comment_is_not_a_definition() {
    let text = "---- MODULE M ----\nVARIABLE x\n(* TypeOK == TRUE *)\n\\* Safe == FALSE\nInit == x = 1\n====";
    let result = merged(text, "TypeOK == x = 1\nSafe == x = 1");
    assert_eq!(result.added, ["TypeOK", "Safe"]);
    assert!(result.text.contains("(* TypeOK == TRUE *)\n\\* Safe == FALSE\nInit"));
}

#[test]
fn a_definition_that_is_still_used_is_replaced_in_place_with_its_dependencies() {
    let text = "---- MODULE M ----\nVARIABLE x\n  TypeOK == x = 0\nInv == TypeOK /\\ x = 1\n====";
    let result = merged(text, "TypeOK ==\n  /\\ Helper(x)\n  /\\ x = 1\nHelper(v) == v = 1\nOther == TRUE");
    let module = parse_valid(&result.text);
    let order: Vec<_> = module.definitions.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(order, ["Helper", "TypeOK", "Inv", "Other"]);
}

#[test]
fn a_definition_is_removed_from_the_define_block_and_from_the_old_translation() {
    let result = merged(LOCK, "\\* covers R9\nSafe == lock \\in BOOLEAN");
    let module = parse_valid(&result.text);
    assert!(result.algorithm_changed);
    let algorithm = module.algorithm.as_ref().expect("an algorithm");
    assert_eq!(algorithm.definitions.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["Free"]);
    let safe = module.definition("Safe").expect("Safe");
    assert!(!module.in_translation(safe.code.start));
    assert_eq!(module.definitions.last().map(|d| d.name.as_str()), Some("Safe"));
    assert!(result.text.ends_with("with \"quotes\n"));
}

#[test]
fn a_definition_that_the_algorithm_uses_is_replaced_inside_the_define_block() {
    let result = merged(LOCK, "Free ==\n  /\\ lock = FALSE\n  /\\ Half\nHalf == TRUE");
    let module = read(&result.text);
    let algorithm = module.algorithm.as_ref().expect("an algorithm");
    assert_eq!(algorithm.definitions.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["Safe", "Half", "Free"]);
    assert_eq!(module.syntax_errors, []);
    assert!(result.text.contains("  Half == TRUE\n  Free ==\n    /\\ lock = FALSE\n    /\\ Half\nend define"));
}

#[test]
fn an_empty_define_block_is_removed() {
    let text =
        "---- MODULE M ----\n(* --algorithm A { variables n = 0; define { Small == n < 3 } { lab: n := 1 } } *)\n====";
    let result = merged(text, "Small == n < 2");
    assert!(!result.text.contains("define"), "{}", result.text);
    assert!(parse_valid(&result.text).algorithm.expect("an algorithm").define.is_none());
}

#[test]
fn indented_answers_keep_their_bulleted_lists_aligned() {
    let result = merged("---- MODULE M ----\nVARIABLE x\n====", "  Safe == /\\ x = 1\n          /\\ x = 2\n");
    let module = parse_valid(&result.text);
    assert!(
        module.definition("Safe").expect("Safe").normalised(&module.source).ends_with("{ /\\ x = 1 } { /\\ x = 2 }")
    );
}

#[test]
fn recursive_declarations_move_with_their_definition() {
    let text = "---- MODULE M ----\nRECURSIVE Sum(_)\nSum(s) == Sum(s)\nA == 1\n====";
    let result = merged(text, "RECURSIVE Sum(_)\nSum(s) == IF s = 0 THEN 0 ELSE Sum(s - 1)");
    assert_eq!(result.text.matches("RECURSIVE").count(), 1);
    assert!(result.text.contains("RECURSIVE Sum(_)\nSum(s) == IF"));
}

#[test]
fn text_that_is_not_a_definition_is_reported_with_its_position() {
    let text = "---- MODULE M ----\nVARIABLE x\n====";
    for (section, line, wording) in [
        ("Here are the invariants:\nSafe == x = 1", 1, "Here are the invariants:"),
        ("Safe == x = 1\n\nEXTENDS Naturals", 3, "EXTENDS Naturals"),
        ("VARIABLE y\nSafe == y = 1", 1, "VARIABLE y"),
        ("Safe == x = 1\nThis says that x is one.", 2, "Safe"),
        ("```\nSafe == x = 1\n```", 1, "```"),
        ("Safe == x = 1\n\nSafe == x = 2", 3, "twice"),
        ("A == 1\n====\nB == 2", 2, "ends a module"),
        ("---- MODULE Spec ----\nA == 1\n====", 1, "whole module"),
        ("A == 1 (* never closed", 1, "not closed"),
        ("ASSUME TRUE", 1, "ASSUME"),
        ("x == 1", 0, "variable"),
    ] {
        let problems = invariants(text, section).expect_err(section);
        let found = problems.iter().any(|p| p.stage == Stage::Merge && p.line == line && p.message.contains(wording));
        assert!(found, "{section}: {problems:?}");
    }
}

#[test]
fn a_module_without_end_and_an_invalid_configuration_are_reported() {
    assert!(invariants("---- MODULE M ----\nA == 1", "B == 2").expect_err("no end")[0].message.contains("no end"));
    let problems = merge("---- MODULE M ----\n====", &Sections { cfg: "```cfg\nINIT I", ..Sections::default() });
    assert_eq!(problems.expect_err("a fence")[0].stage, Stage::Config);
    assert!(invariants("no module", "B == 2").is_err());
}

#[test]
fn definitions_of_the_translation_cannot_be_replaced() {
    for name in ["Init", "Next", "vars", "Spec", "try", "Termination"] {
        let problems = invariants(LOCK, &format!("{name} == TRUE")).expect_err(name);
        assert!(problems[0].message.contains("translation"), "{name}: {problems:?}");
    }
}

#[test]
fn merging_the_same_answer_twice_changes_nothing() {
    let section = "\\* covers R1\nSafe == lock \\in BOOLEAN\nMine(a) == a\nTypeOK == Mine(lock) \\in BOOLEAN";
    let once = merged(LOCK, section);
    let twice = merged(&once.text, section);
    let (first, second) = (parse_valid(&once.text), parse_valid(&twice.text));
    for (name, definition) in first.definitions_by_name() {
        let again = second.definition(name).expect(name);
        assert_eq!(definition.normalised(&first.source), again.normalised(&second.source));
        assert_eq!(definition.covers(), again.covers());
    }
}

#[test]
fn every_name_that_a_configuration_lists_must_exist() {
    let module = read(
        "---- MODULE M ----\nEXTENDS Naturals\nCONSTANTS N, K\nVARIABLE x\nInit == x = 1\nNext == x' = 1\nSafe == x = 1\nHelper(a) == a\n\\* Ghost == 1\nPerms == {}\n====",
    );
    let cfg = Cfg::parse("INIT Init NEXT Next INVARIANTS Safe Helper Ghost PROPERTY Live SYMMETRY Perms VIEW v CONSTANTS N = 1 L = 2 M <- Gone Nat <- Perms\n\\* WITNESS W").expect("a cfg");
    let found: Vec<String> = check_cfg_names(&module, &cfg).into_iter().map(|d| d.message).collect();
    for wording in [
        "Helper takes 1",
        "define Ghost",
        "define Live",
        "define v",
        "define W",
        "CONSTANT K: no value",
        "CONSTANT L:",
        "define Gone",
    ] {
        assert!(found.iter().any(|message| message.contains(wording)), "{wording}: {found:?}");
    }
    assert!(!found.iter().any(|m| m.contains("Safe") || m.contains("Perms") || m.contains("Nat")), "{found:?}");
}

#[test]
fn definitions_of_a_future_translation_count_as_defined() {
    let text = "---- MODULE M ----\n(* --algorithm A { variables n = 0; { lab: n := 1 } } *)\nSafe == n = 0\n====";
    let cfg = Cfg::parse("SPECIFICATION Spec INVARIANT Safe PROPERTY Termination").expect("a cfg");
    assert_eq!(check_cfg_names(&read(text), &cfg), []);
    assert!(!check_cfg_names(&read("---- MODULE M ----\nSafe == TRUE\n===="), &cfg).is_empty());
}

#[test]
fn a_standard_module_that_only_the_answer_needs_is_extended() {
    for (prelude, section, extended) in [
        ("EXTENDS TLC", "Safe == x <= 3", "EXTENDS TLC, Naturals\n"),
        ("", "Safe == x \\in 0..3 /\\ Cardinality({x}) = 1", "MODULE M ----\nEXTENDS Naturals, FiniteSets\n"),
        ("EXTENDS Integers", "Safe == x <= 3 /\\ Len(<<x>>) = 1", "EXTENDS Integers, Sequences\n"),
        // Nothing is missing.
        ("EXTENDS Integers", "Safe == x <= 3 /\\ x \\in {1}", "EXTENDS Integers\n"),
        ("EXTENDS TLC", "Safe == Len(x) = 1\nLen(s) == s", "EXTENDS TLC\n"),
        ("EXTENDS TLC", "Safe == Unknown(x)", "EXTENDS TLC\n"),
        // What another module defines is not known here.
        ("EXTENDS Other", "Safe == x <= 3", "EXTENDS Other\n"),
    ] {
        let text = format!("---- MODULE M ----\n{prelude}\nVARIABLE x\nInit == x = 1\n====");
        let result = merged(&text, section);
        assert!(result.text.contains(extended), "{section}: {}", result.text);
        parse_valid(&result.text);
    }
}

#[test]
fn a_comment_that_seems_to_cover_a_requirement_and_does_not_is_reported() {
    const LISTED: &str = "INVARIANT Safe\n";
    const SAFE: &str = "Safe == lock \\in BOOLEAN\n";
    let problems = |invariants: &str, cfg: &str| -> Vec<(usize, String)> {
        let sections = Sections { invariants, cfg, ..Sections::default() };
        let found = merge(LOCK, &sections).err().unwrap_or_default();
        found.into_iter().map(|problem| (problem.line, problem.message)).collect()
    };
    for comment in [
        "\\* covers R1, R2",
        "(* covers R1 *)",
        "(* Nobody else.\n   covers R1 and R2. *)",
        "\\* covers nothing: types",
    ] {
        assert_eq!(problems(&format!("{comment}\n{SAFE}"), LISTED), [], "{comment}");
    }
    for (comment, line) in [
        ("\\* covers R1 no longer", 1),
        ("\\* covers R1?", 1),
        ("\\* does not cover R1", 1),
        ("\\* covers R1 partly", 1),
        ("\\* covers R1, but not R2", 1),
        ("\\* R1 is covered below", 1),
        ("(* Nobody else.\n   covers R1 for two *)", 2),
    ] {
        let found = problems(&format!("{comment}\n{SAFE}"), LISTED);
        let [(at, message)] = found.as_slice() else { panic!("{comment}: {found:?}") };
        assert!(*at == line && message.contains("it is not certain what this comment covers"), "{comment}: {found:?}");
    }
    // Another definition is between the comment and the property, or the comment is behind it.
    for (section, why) in [
        (format!("\\* covers R1\nHelper == 1\n{SAFE}"), "above Helper, which the configuration does not list"),
        (format!("\\* covers R1\nRECURSIVE Sum(_)\nSum(k) == k\n{SAFE}"), "not directly above a definition"),
        (format!("\\* covers R1\n\n{SAFE}"), "not directly above a definition"),
        (format!("{}\\* covers R1\n", SAFE.replace('\n', " ")), "not directly above a definition"),
    ] {
        let found = problems(&section, LISTED);
        assert!(found.len() == 1 && found[0].1.contains(why), "{section}: {found:?}");
    }
    for comment in ["\\* Deadlok covers R1", "\\* Safe covers R1", "\\* Deadlock covers R1 no longer"] {
        let found = problems(SAFE, &format!("{comment}\n{LISTED}"));
        assert!(found.len() == 1 && found[0].1.contains("`Deadlock` or `Assertion`"), "{comment}: {found:?}");
    }
    assert_eq!(problems(SAFE, &format!("\\* Deadlock covers R1\n{LISTED}")), []);
}
