//! Parsing configurations: everything that TLC's `ModelConfig` accepts, and nothing else.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tlaforge_tla::{Cfg, Stage};

fn read(text: &str) -> Cfg {
    Cfg::parse(text).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

#[test]
fn every_keyword_is_read() {
    let cfg = read(
        "SPECIFICATION Spec \\* a comment with INVARIANT Nope\n\
         CONSTANTS\n  N = 3 M = -1 Name = \"a b\"\n  Procs = {p1, p2, {1, 2}} Empty = {} F(1, a) = 2\n  Op <- MCOp\n  \
         Nat <- [Naturals] Small Nat <- Few\n NoVal = NoVal Flag = TRUE\n\
         (* INVARIANT (* nested *) Hidden *)\nINVARIANTS A B\n  C\nINVARIANT D\nPROPERTIES P Q PROPERTY R\n\
         CONSTRAINT Bound CONSTRAINTS Bound2\nACTION_CONSTRAINT Step\nSYMMETRY Perms\nVIEW view\n\
         CHECK_DEADLOCK FALSE\nALIAS Al\nPOSTCONDITION Post\n\\* WITNESS WitnessPaid\n\\* WITNESS W1, W2\n\\* WITNESS what we saw is fine.\n",
    );
    assert_eq!(cfg.specification.as_deref(), Some("Spec"));
    assert_eq!(cfg.invariants, ["A", "B", "C", "D"]);
    assert_eq!(cfg.properties, ["P", "Q", "R"]);
    assert_eq!(cfg.constraints, ["Bound", "Bound2"]);
    assert_eq!(cfg.action_constraints, ["Step"]);
    assert_eq!(cfg.symmetry, ["Perms"]);
    assert_eq!((cfg.view.as_deref(), cfg.check_deadlock), (Some("view"), Some(false)));
    assert_eq!((cfg.alias.as_deref(), cfg.postcondition.as_deref()), (Some("Al"), Some("Post")));
    assert_eq!(cfg.witnesses, ["WitnessPaid", "W1", "W2"]);
    let expected: BTreeMap<String, String> = [
        ("N", "3"),
        ("M", "-1"),
        ("Name", "\"a b\""),
        ("Procs", "{p1, p2, {1, 2}}"),
        ("Empty", "{}"),
        ("F(1, a)", "2"),
        ("Op", "<- MCOp"),
        ("Naturals!Nat", "<- Small"),
        ("Nat", "<- Few"),
        ("NoVal", "NoVal"),
        ("Flag", "TRUE"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    assert_eq!(cfg.constants, expected);
    assert_eq!(read(&cfg.render()), cfg);
}

#[test]
fn lists_of_names_are_parsed_in_any_layout() {
    for text in ["INVARIANTS A B", "INVARIANTS\nA\nB", "INVARIANT A\nINVARIANT B", "INVARIANT\n  A\n\n  B"] {
        assert_eq!(read(text).invariants, ["A", "B"], "{text}");
    }
    assert_eq!(read("PROPERTIES\n  P\n").properties, ["P"]);
    assert_eq!(read("INIT I NEXT N").next.as_deref(), Some("N"));
    assert_eq!(read(""), Cfg::default());
}

#[test]
fn an_error_has_the_position_of_what_tlc_would_reject() {
    for (text, line, column, wording) in [
        ("INVARIANT A\n  ```\n", 2, 3, "not a keyword"),
        ("SPECIFICATION Spec\nFROBNICATE X", 2, 1, "`FROBNICATE`"),
        ("CONSTANT N = 1\nCONSTANT\n  N = 2", 3, 3, "assigned twice"),
        ("CONSTANT N", 1, 10, "wants `= value`"),
        ("CONSTANT N = {1, 2", 1, 19, "expected"),
        ("CONSTANT N = 1 + 2", 1, 16, "define `MyN == 1 + 2` in the module, and write `N <- MyN`"),
        ("CONSTANT N = [a |-> 1] \\* one\nA = 1", 1, 14, "define `MyN == [a |-> 1]` in the module"),
        ("CONSTANT S = 1..3", 1, 15, "define `MyS == 1..3`"),
        ("CONSTANT S = <<1, 2>>", 1, 14, "define `MyS == <<1, 2>>`"),
        ("CONSTANT S = {1..3}", 1, 16, "define `MyS == 1..3`"),
        ("CONSTANT S = 0..3 B = 2", 1, 15, "define `MyS == 0..3` in"),
        ("CONSTANT S <- <<1, 2>>", 1, 15, "define `MyS == <<1, 2>>`"),
        ("CONSTANT S <- -1", 1, 15, "write `S = -1`"),
        ("CONSTANT S = 'a'", 1, 14, "a configuration can hold: `'`"),
        ("CONSTANT S = {<<1, 2>>}\nINVARIANT A", 1, 15, "define `MyS == {<<1, 2>>}`"),
        ("CONSTANT S = A \\cup B", 1, 16, "define `MyS == A \\cup B`"),
        ("CONSTANT S = [ model value ]", 1, 14, "`S = S`"),
        ("CONSTANT S <- 7\nINVARIANT A", 1, 15, "write `S = 7`"),
        ("CONSTANT S <- {1, \"a\"}", 1, 15, "two kinds"),
        ("CONSTANT S <- {a, b}", 1, 15, "write `S = {a, b}`"),
        ("CONSTANT S <- 1..7", 1, 15, "define `MyS == 1..7`"),
        ("CONSTANT S <- ", 1, 12, "the name of a definition"),
        ("CONSTANT S == 7", 1, 12, "write `S = 7`"),
        ("CONSTANT S := 7", 1, 12, "write `S = 7`"),
        ("CONSTANT A = 1, B = 2", 1, 15, "not by `,`"),
        ("CONSTANT A = 1;\n B = 2", 1, 15, "not by `;`"),
        ("CONSTANT A = {\"a\", 1}", 1, 20, "\"a\" and 1 cannot be compared"),
        ("CONSTANT A = {1, b, TRUE}", 1, 21, "1 and TRUE cannot be compared"),
        ("CONSTANT A = {{}, {b}, 1}", 1, 24, "{} and 1 cannot be compared"),
        ("CONSTANT A = {{1}, {\"a\"}}", 1, 20, "{1} and {\"a\"} cannot be compared"),
        ("SPECIFICATION A\nSPECIFICATION B", 2, 1, "twice"),
        ("CHECK_DEADLOCK MAYBE", 1, 16, "TRUE or FALSE"),
        ("INVARIANT A, B", 1, 12, "blanks"),
        ("VIEW", 1, 1, "wants a name"),
        ("TYPE T", 1, 1, "no effect"),
    ] {
        let problem = Cfg::parse(text).expect_err(text);
        assert_eq!((problem.stage, problem.line, problem.column), (Stage::Config, line, column), "{text}: {problem}");
        assert!(problem.message.contains(wording), "{text}: {problem}");
    }
}

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,6}"
}

fn value() -> impl Strategy<Value = String> {
    // A set has values of one kind, and model values.
    let set = |elements: Vec<String>| format!("{{{}}}", elements.join(", "));
    let kind = |leaf: &'static str| {
        let leaf = prop_oneof![leaf, name()];
        let sets = prop::collection::vec(leaf.clone(), 0..4).prop_map(set);
        let sets_of_sets = prop::collection::vec(sets.clone(), 0..4).prop_map(set);
        prop_oneof![leaf, sets, sets_of_sets]
    };
    prop_oneof![kind("[0-9]{1,3}"), kind("-[1-9][0-9]?"), kind("\"[a-z =<*()]{0,5}\""), kind("TRUE|FALSE")]
}

fn names() -> impl Strategy<Value = Vec<String>> {
    prop::collection::btree_set(name(), 0..4).prop_map(|set| set.into_iter().collect())
}

fn cfg() -> impl Strategy<Value = Cfg> {
    let constant = prop_oneof![value(), name().prop_map(|name| format!("<- {name}"))];
    let one = || prop::option::of(name());
    let singles = (one(), one(), one(), one(), one(), one(), prop::option::of(any::<bool>()));
    let lists = (names(), names(), names(), names(), names(), names(), names());
    let id = (1..30u32).prop_map(|number| format!("R{number}"));
    let ids = prop::collection::btree_set(id, 1..3).prop_map(|ids| ids.into_iter().collect::<Vec<_>>());
    let covers = prop::collection::btree_map(prop::sample::select(vec!["Deadlock", "Assertion"]), ids, 0..3);
    let covers = covers.prop_map(|map| map.into_iter().map(|(name, ids)| (name.to_owned(), ids)).collect());
    (singles, lists, covers, prop::collection::btree_map("([A-Z][a-z]{1,3}!)?[a-z][a-z0-9_]{0,6}", constant, 0..4))
        .prop_map(|(singles, lists, covers, constants)| {
            let (specification, init, next, view, alias, postcondition, check_deadlock) = singles;
            let (invariants, properties, constraints, action_constraints, symmetry, witnesses, possible) = lists;
            Cfg {
                specification,
                init,
                next,
                constants,
                invariants,
                properties,
                constraints,
                action_constraints,
                symmetry,
                view,
                check_deadlock,
                alias,
                postcondition,
                not_checked: possible.iter().map(|name| format!("_POSSIBLE {name}")).collect(),
                witnesses,
                covers,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_text_parses_to_the_same_configuration(cfg in cfg()) {
        let text = cfg.render();
        prop_assert_eq!(Cfg::parse(&text).map_err(|problem| problem.to_string()), Ok(cfg));
    }

    #[test]
    fn parsing_never_panics(text in "(?s)(CONSTANT|INVARIANT|VIEW|=|<-|\\{|\\}|\\[|,|\"|-|[a-z ]|\n|.){0,60}") {
        let _ = Cfg::parse(&text);
    }
}
