//! Carrying properties over to another module: which definitions are copied, shared, renamed or missing. The result must
//! parse.

use tlaforge::eval::{Carrier, ModuleWithProperties};
use tlaforge::tla::Module;
use tlaforge::tla::semantic::analyze;

fn module(name: &str, extends: &str, body: &str) -> Module {
    let extends = if extends.is_empty() { String::new() } else { format!("EXTENDS {extends}\n") };
    Module::parse(&format!("---- MODULE {name} ----\n{extends}{body}\n====\n")).unwrap()
}

/// The generated module, with an invariant `Inv` at its end.
fn generated(body: &str) -> Module {
    module("Spec", "Integers, Sequences, FiniteSets", &format!("CONSTANTS N, S\nVARIABLES x, y\n{body}"))
}

fn mutant(body: &str) -> Module {
    module("bug", "Integers", &format!("CONSTANTS N, S\nVARIABLES x, other\n{body}"))
}

#[track_caller]
fn carry_over(from: &Module, to: &Module, properties: &[&str]) -> ModuleWithProperties {
    let carrier = Carrier::new(from, to, &[], &[]);
    for property in properties {
        carrier.needed_definitions(property).unwrap_or_else(|missing| panic!("{property}: {missing:?}"));
    }
    let inserted = carrier.insert_properties(properties).unwrap();
    for text in [&from.source, &inserted.text] {
        let read = analyze(if text == &inserted.text { &to.name } else { &from.name }, text, &[]);
        assert!(
            read.errors.is_empty() && read.not_analysed.is_empty(),
            "{:?} {:?}\n{text}",
            read.errors,
            read.not_analysed
        );
    }
    inserted
}

#[track_caller]
fn missing_names(from: &Module, to: &Module, property: &str) -> String {
    Carrier::new(from, to, &[], &[]).needed_definitions(property).unwrap_err().join("; ")
}

#[test]
fn a_property_is_copied_with_its_dependencies_in_source_order_and_nothing_else() {
    let from = generated(
        "B == N + 1\nA == B + 1\nUnused == 3\nInv == \\* said\n  /\\ x < A\n  /\\ x # 5\nOther == x = Unused",
    );
    let inserted = carry_over(&from, &mutant("Init == x = 0"), &["Inv"]);
    let expected = "Init == x = 0\n\nB == N + 1\n\nA == B + 1\n\nInv == \\* said\n  /\\ x < A\n  /\\ x # 5\n\n====\n";
    assert!(inserted.text.ends_with(expected), "{}", inserted.text);
    assert!(inserted.text.starts_with("---- MODULE bug ----\nEXTENDS Integers\n"), "{}", inserted.text);
    assert_eq!(inserted.names["Inv"], "Inv");
}

#[test]
fn a_definition_is_shared_if_its_text_and_all_its_dependencies_are_the_same() {
    let from = generated("Low == 0\nTop == N + Low\nInv == x < Top");
    let same = mutant("Low == 0\n(* of its own *)\nTop ==\n  N + Low");
    let inserted = carry_over(&from, &same, &["Inv"]);
    assert_eq!(inserted.text.matches("Top ==").count(), 1, "{}", inserted.text);
    assert!(inserted.text.contains("Inv == x < Top"));
    // `Top` has the same text but another meaning.
    let inserted = carry_over(&from, &mutant("Low == 1\nTop == N + Low"), &["Inv"]);
    assert!(inserted.text.contains("L00 == 0") && inserted.text.contains("T00 == N + L00"), "{}", inserted.text);
    assert!(inserted.text.contains("Inv == x < T00"), "{}", inserted.text);
    // The mutant keeps its own property, which is not the one that is checked.
    let inserted = carry_over(&from, &mutant("Inv == TRUE"), &["Inv"]);
    assert_eq!(inserted.names["Inv"], "I00");
    assert!(inserted.text.contains("Inv == TRUE") && inserted.text.contains("I00 == x < Top"), "{}", inserted.text);
}

#[test]
fn renaming_follows_the_tree_and_keeps_columns() {
    let from = generated(
        "Bad(v) == v.Bad = 1 \\* Bad\nInv == /\\ [Bad |-> x].Bad = 1 => \"Bad\" = \"Bad\"\n       /\\ Bad([Bad |-> x])\n       /\\ \\/ x > 0\n          \\/ Bad([Bad |-> 1])",
    );
    let inserted = carry_over(&from, &mutant("Bad == 7\nv == 3"), &["Inv"]);
    let expected = "B00(a) == a.Bad = 1\n\nInv == /\\ [Bad |-> x].Bad = 1 => \"Bad\" = \"Bad\"\n       /\\ B00([Bad |-> x])\n       /\\ \\/ x > 0\n          \\/ B00([Bad |-> 1])\n";
    assert!(inserted.text.contains(expected), "{}", inserted.text);
}

#[test]
fn bound_names_with_a_meaning_in_the_target_are_replaced() {
    let from = generated("Inv == \\A t \\in S : \\E u \\in S, Step \\in 1..N : LET k == t IN k = u /\\ Step > x");
    let inserted = carry_over(&from, &mutant("t == 1\nStep(a) == a\nk == 4"), &["Inv"]);
    assert!(
        inserted.text.contains("\\A c \\in S : \\E u \\in S, S000 \\in 1..N : LET b == c IN b = u /\\ S000 > x"),
        "{}",
        inserted.text
    );
    // A name from a module that only the mutant extends.
    let to = module("bug", "Integers, FiniteSets, TLC", "CONSTANTS N, S\nVARIABLES x, other");
    let from = generated("Inv == \\A Any \\in S : x # Any");
    assert!(carry_over(&from, &to, &["Inv"]).text.contains("\\A A00 \\in S : x # A00"));
}

#[test]
fn recursive_operators_and_functions_are_copied_with_their_declarations() {
    let from = generated(
        "RECURSIVE Sum(_, _)\nSum(f, T) == IF T = {} THEN 0 ELSE LET e == CHOOSE z \\in T : TRUE IN f[e] + Sum(f, T \\ {e})\nfact[n \\in 0..N] == IF n = 0 THEN 1 ELSE n * fact[n - 1]\nInv == Sum(x, S) < fact[N] /\\ Cardinality(S) = 2",
    );
    let inserted = carry_over(&from, &mutant("Sum == 3\nfact == 1"), &["Inv"]);
    assert!(
        inserted.text.contains("RECURSIVE S00(_, _)\nS00(f, T) ==") && inserted.text.contains("f[e] + S00("),
        "{}",
        inserted.text
    );
    assert!(
        inserted.text.contains("f000[n \\in 0..N]") && inserted.text.contains("n * f000[n - 1]"),
        "{}",
        inserted.text
    );
    assert!(inserted.text.contains("EXTENDS Integers, FiniteSets\n"), "{}", inserted.text);
}

#[test]
fn the_tuple_of_all_variables_keeps_the_variables_of_the_target() {
    let from = generated("vars == << x, y >>\nInv == [][x' >= x]_vars");
    let inserted = carry_over(&from, &mutant("vars == <<x, other>>"), &["Inv"]);
    // A step that only changes another variable stutters for these.
    assert!(inserted.text.contains("v000 == <<x>>\n\nInv == [][x' >= x]_v000"), "{}", inserted.text);
    let inserted = carry_over(&from, &mutant("Init == x = 0"), &["Inv"]);
    assert!(inserted.text.contains("vars == <<x>>\n\nInv == [][x' >= x]_vars"), "{}", inserted.text);
    // A tuple of only some variables is copied unchanged.
    let inserted =
        carry_over(&generated("vars == <<x>>\nInv == [][x' >= x]_vars"), &mutant("vars == <<x, other>>"), &["Inv"]);
    assert!(inserted.text.contains("v000 == <<x>>"), "{}", inserted.text);
}

#[test]
fn missing_names_of_the_target_are_reported() {
    let plain = mutant("Init == x = 0");
    for (body, missing) in [
        ("Inv == y = x", "variable y"),
        ("B == y\nA == B\nInv == A = 1", "variable y"),
        ("Inv == Len(<<x>>) = 1 /\\ y = 2", "variable y"),
    ] {
        assert_eq!(missing_names(&generated(body), &plain, "Inv"), missing);
    }
    let constants = module("Spec", "Integers", "CONSTANTS N, Max, F(_)\nVARIABLE x\nInv == x < Max /\\ F(x)");
    assert_eq!(missing_names(&constants, &plain, "Inv"), "constant F; constant Max");
    let named = module("Spec", "Integers", "CONSTANTS N, S(_)\nVARIABLE x\nInv == S(x)");
    assert_eq!(missing_names(&named, &plain, "Inv"), "constant S");
    let foreign = module("Spec", "Integers, Base", "VARIABLE x\nInv == Limit(x)");
    assert_eq!(missing_names(&foreign, &plain, "Inv"), "operator Limit (of another module)");
    let instance = module("Spec", "Integers", "VARIABLE x\nB == INSTANCE Base\nInv == B!Limit(x)");
    assert_eq!(missing_names(&instance, &plain, "Inv"), "module Base");
    let infix = generated("a ++ b == a + b\nInv == x ++ 1 > 0");
    assert_eq!(missing_names(&infix, &mutant("a ++ b == a - b"), "Inv"), "operator ++ (it has another meaning there)");
    let length = generated("Inv == Len(<<x>>) = 1");
    assert!(missing_names(&length, &mutant("Len(s) == 1"), "Inv").contains("operator Len"));
    assert!(missing_names(&length, &mutant("Head == 1"), "Inv").contains("module Sequences (its Head"));
    assert!(missing_names(&length, &plain, "Nothing").contains("Nothing"));
}

#[test]
fn definitions_of_a_define_block_are_copied() {
    let algorithm = "(* --algorithm A { variables x = 0; define { Low == 0\n  Inv == /\\ x >= Low\n         /\\ x < 5 } { L: x := 1 } } *)";
    let text = format!("---- MODULE Spec ----\nEXTENDS Integers\n{algorithm}\n====\n");
    let text = tlaforge::pluscal::translate(&text, &tlaforge::pluscal::Options::default()).unwrap().unwrap().text;
    let from = Module::parse(&text).unwrap();
    let inserted = carry_over(&from, &module("bug", "Integers", "VARIABLE x\nLow == 3"), &["Inv"]);
    assert!(
        inserted.text.contains("L00 == 0") && inserted.text.contains("Inv == /\\ x >= L00\n       /\\ x < 5"),
        "{}",
        inserted.text
    );
}

#[test]
fn control_variables_are_not_carried_over_unless_the_interface_names_them() {
    let algorithm = "(* --algorithm A { variables x = 0; { L: x := 1 } } *)\nVARIABLES x, pc\n";
    let from = module("Spec", "Integers", &format!("{algorithm}Inv == pc = \"L\" => x = 0"));
    let to = module("bug", "Integers", algorithm);
    assert_eq!(missing_names(&from, &to, "Inv"), "variable pc (the control state of its own algorithm)");
    assert!(Carrier::new(&from, &to, &[], &["pc".to_owned()]).needed_definitions("Inv").is_ok());
}

#[test]
fn variables_of_imported_modules_are_known() {
    let base = module("Base", "Integers", "CONSTANTS N, S\nVARIABLES x, y\nInv == FALSE");
    let to = module("bug", "Base", "Init == x = 0");
    let from = generated("Inv == x = y");
    let carrier = Carrier::new(&from, &to, std::slice::from_ref(&base), &[]);
    assert!(carrier.needed_definitions("Inv").is_ok());
    assert_eq!(carrier.insert_properties(&["Inv"]).unwrap().names["Inv"], "I00");
}
