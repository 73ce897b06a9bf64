//! Properties carried over from one module to another: what comes along, what is shared, what is renamed, what is
//! missing; and the result is a module that parses.

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
fn carried(from: &Module, to: &Module, properties: &[&str]) -> ModuleWithProperties {
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
fn lacks(from: &Module, to: &Module, property: &str) -> String {
    Carrier::new(from, to, &[], &[]).needed_definitions(property).unwrap_err().join("; ")
}

#[test]
fn a_property_comes_with_all_that_it_depends_on_in_its_order_and_nothing_else() {
    let from = generated(
        "B == N + 1\nA == B + 1\nUnused == 3\nInv == \\* said\n  /\\ x < A\n  /\\ x # 5\nOther == x = Unused",
    );
    let inserted = carried(&from, &mutant("Init == x = 0"), &["Inv"]);
    let expected = "Init == x = 0\n\nB == N + 1\n\nA == B + 1\n\nInv == \\* said\n  /\\ x < A\n  /\\ x # 5\n\n====\n";
    assert!(inserted.text.ends_with(expected), "{}", inserted.text);
    assert!(inserted.text.starts_with("---- MODULE bug ----\nEXTENDS Integers\n"), "{}", inserted.text);
    assert_eq!(inserted.names["Inv"], "Inv");
}

#[test]
fn a_definition_of_the_same_text_is_shared_where_all_below_it_is_the_same_too() {
    let from = generated("Low == 0\nTop == N + Low\nInv == x < Top");
    let same = mutant("Low == 0\n(* of its own *)\nTop ==\n  N + Low");
    let inserted = carried(&from, &same, &["Inv"]);
    assert_eq!(inserted.text.matches("Top ==").count(), 1, "{}", inserted.text);
    assert!(inserted.text.contains("Inv == x < Top"));
    // The text of `Top` is the same, and it means something else.
    let inserted = carried(&from, &mutant("Low == 1\nTop == N + Low"), &["Inv"]);
    assert!(inserted.text.contains("L00 == 0") && inserted.text.contains("T00 == N + L00"), "{}", inserted.text);
    assert!(inserted.text.contains("Inv == x < T00"), "{}", inserted.text);
    // The mutant's own property is left alone, and is not what is checked.
    let inserted = carried(&from, &mutant("Inv == TRUE"), &["Inv"]);
    assert_eq!(inserted.names["Inv"], "I00");
    assert!(inserted.text.contains("Inv == TRUE") && inserted.text.contains("I00 == x < Top"), "{}", inserted.text);
}

#[test]
fn renaming_follows_the_tree_and_keeps_columns() {
    let from = generated(
        "Bad(v) == v.Bad = 1 \\* Bad\nInv == /\\ [Bad |-> x].Bad = 1 => \"Bad\" = \"Bad\"\n       /\\ Bad([Bad |-> x])\n       /\\ \\/ x > 0\n          \\/ Bad([Bad |-> 1])",
    );
    let inserted = carried(&from, &mutant("Bad == 7\nv == 3"), &["Inv"]);
    let expected = "B00(a) == a.Bad = 1\n\nInv == /\\ [Bad |-> x].Bad = 1 => \"Bad\" = \"Bad\"\n       /\\ B00([Bad |-> x])\n       /\\ \\/ x > 0\n          \\/ B00([Bad |-> 1])\n";
    assert!(inserted.text.contains(expected), "{}", inserted.text);
}

#[test]
fn bound_names_that_mean_something_there_are_replaced() {
    let from = generated("Inv == \\A t \\in S : \\E u \\in S, Step \\in 1..N : LET k == t IN k = u /\\ Step > x");
    let inserted = carried(&from, &mutant("t == 1\nStep(a) == a\nk == 4"), &["Inv"]);
    assert!(
        inserted.text.contains("\\A c \\in S : \\E u \\in S, S000 \\in 1..N : LET b == c IN b = u /\\ S000 > x"),
        "{}",
        inserted.text
    );
    // A name that a module gives which only the mutant extends.
    let to = module("bug", "Integers, FiniteSets, TLC", "CONSTANTS N, S\nVARIABLES x, other");
    let from = generated("Inv == \\A Any \\in S : x # Any");
    assert!(carried(&from, &to, &["Inv"]).text.contains("\\A A00 \\in S : x # A00"));
}

#[test]
fn recursive_operators_and_functions_come_with_their_declarations() {
    let from = generated(
        "RECURSIVE Sum(_, _)\nSum(f, T) == IF T = {} THEN 0 ELSE LET e == CHOOSE z \\in T : TRUE IN f[e] + Sum(f, T \\ {e})\nfact[n \\in 0..N] == IF n = 0 THEN 1 ELSE n * fact[n - 1]\nInv == Sum(x, S) < fact[N] /\\ Cardinality(S) = 2",
    );
    let inserted = carried(&from, &mutant("Sum == 3\nfact == 1"), &["Inv"]);
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
fn the_tuple_of_all_variables_keeps_those_that_the_other_module_has() {
    let from = generated("vars == << x, y >>\nInv == [][x' >= x]_vars");
    let inserted = carried(&from, &mutant("vars == <<x, other>>"), &["Inv"]);
    // A step that changes another variable alone says nothing about these.
    assert!(inserted.text.contains("v000 == <<x>>\n\nInv == [][x' >= x]_v000"), "{}", inserted.text);
    let inserted = carried(&from, &mutant("Init == x = 0"), &["Inv"]);
    assert!(inserted.text.contains("vars == <<x>>\n\nInv == [][x' >= x]_vars"), "{}", inserted.text);
    // A tuple of some variables is one like any other.
    let inserted =
        carried(&generated("vars == <<x>>\nInv == [][x' >= x]_vars"), &mutant("vars == <<x, other>>"), &["Inv"]);
    assert!(inserted.text.contains("v000 == <<x>>"), "{}", inserted.text);
}

#[test]
fn what_the_other_module_lacks_is_named() {
    let plain = mutant("Init == x = 0");
    for (body, missing) in [
        ("Inv == y = x", "variable y"),
        ("B == y\nA == B\nInv == A = 1", "variable y"),
        ("Inv == Len(<<x>>) = 1 /\\ y = 2", "variable y"),
    ] {
        assert_eq!(lacks(&generated(body), &plain, "Inv"), missing);
    }
    let constants = module("Spec", "Integers", "CONSTANTS N, Max, F(_)\nVARIABLE x\nInv == x < Max /\\ F(x)");
    assert_eq!(lacks(&constants, &plain, "Inv"), "constant F; constant Max");
    let named = module("Spec", "Integers", "CONSTANTS N, S(_)\nVARIABLE x\nInv == S(x)");
    assert_eq!(lacks(&named, &plain, "Inv"), "constant S");
    let foreign = module("Spec", "Integers, Base", "VARIABLE x\nInv == Limit(x)");
    assert_eq!(lacks(&foreign, &plain, "Inv"), "operator Limit (of another module)");
    let instance = module("Spec", "Integers", "VARIABLE x\nB == INSTANCE Base\nInv == B!Limit(x)");
    assert_eq!(lacks(&instance, &plain, "Inv"), "module Base");
    let infix = generated("a ++ b == a + b\nInv == x ++ 1 > 0");
    assert_eq!(lacks(&infix, &mutant("a ++ b == a - b"), "Inv"), "operator ++ (it has another meaning there)");
    let length = generated("Inv == Len(<<x>>) = 1");
    assert!(lacks(&length, &mutant("Len(s) == 1"), "Inv").contains("operator Len"));
    assert!(lacks(&length, &mutant("Head == 1"), "Inv").contains("module Sequences (its Head"));
    assert!(lacks(&length, &plain, "Nothing").contains("Nothing"));
}

#[test]
fn definitions_of_a_define_block_come_along() {
    let algorithm = "(* --algorithm A { variables x = 0; define { Low == 0\n  Inv == /\\ x >= Low\n         /\\ x < 5 } { L: x := 1 } } *)";
    let text = format!("---- MODULE Spec ----\nEXTENDS Integers\n{algorithm}\n====\n");
    let text = tlaforge::pluscal::translate(&text, &tlaforge::pluscal::Options::default()).unwrap().unwrap().text;
    let from = Module::parse(&text).unwrap();
    let inserted = carried(&from, &module("bug", "Integers", "VARIABLE x\nLow == 3"), &["Inv"]);
    assert!(
        inserted.text.contains("L00 == 0") && inserted.text.contains("Inv == /\\ x >= L00\n       /\\ x < 5"),
        "{}",
        inserted.text
    );
}

#[test]
fn control_state_belongs_to_its_own_algorithm_unless_the_interface_asks_for_it() {
    let algorithm = "(* --algorithm A { variables x = 0; { L: x := 1 } } *)\nVARIABLES x, pc\n";
    let from = module("Spec", "Integers", &format!("{algorithm}Inv == pc = \"L\" => x = 0"));
    let to = module("bug", "Integers", algorithm);
    assert_eq!(lacks(&from, &to, "Inv"), "variable pc (the control state of its own algorithm)");
    assert!(Carrier::new(&from, &to, &[], &["pc".to_owned()]).needed_definitions("Inv").is_ok());
}

#[test]
fn variables_of_modules_that_stand_beside_are_there_too() {
    let base = module("Base", "Integers", "CONSTANTS N, S\nVARIABLES x, y\nInv == FALSE");
    let to = module("bug", "Base", "Init == x = 0");
    let from = generated("Inv == x = y");
    let carrier = Carrier::new(&from, &to, std::slice::from_ref(&base), &[]);
    assert!(carrier.needed_definitions("Inv").is_ok());
    assert_eq!(carrier.insert_properties(&["Inv"]).unwrap().names["Inv"], "I00");
}
