//! Properties: the requirements they cover, trivial ones, changes since the baseline, and how a violation is shown.

use std::collections::BTreeMap;

use tlaforge_tla::{
    Baseline, Cfg, ChangeKind, Lasso, Module, Step, Trace, checked_texts, constantly_true, constantly_true_under,
    requirements_by_definition, trace_table,
};

fn module(body: &str) -> Module {
    let module = Module::parse(&format!(
        "---- MODULE M ----\nEXTENDS Naturals\nCONSTANT N\nVARIABLES x, y\nvars == <<x, y>>\n{body}\n===="
    ));
    let module = module.expect("a module");
    assert_eq!(module.syntax_errors, []);
    module
}

fn cfg(text: &str) -> Cfg {
    Cfg::parse(text).unwrap_or_else(|problem| panic!("{problem}"))
}

#[test]
fn covered_requirements_are_read_from_the_comment_directly_above() {
    let found = requirements_by_definition(
        "---- MODULE M ----\n\\* covers R1, R3\nA == 1\n\\* Covers: R1 R2 and R12\n\\* a remark\nB == 2\n(* covers R4 *)\nC == 3\n\
         \\* covers R5\n\nD == 4\n\\* it covers R6\nE == 5\n\\* covers R7 because R8 is out\nF == 6\n\
         (*************)\n(* covers R9. *)\n(*************)\nG(a) == 7 \\* covers R10\nH == 8\n====",
    );
    let expected: BTreeMap<String, Vec<String>> =
        [("A", vec!["R1", "R3"]), ("B", vec!["R1", "R2", "R12"]), ("C", vec!["R4"]), ("G", vec!["R9"])]
            .into_iter()
            .map(|(name, covered)| (name.to_owned(), covered.into_iter().map(str::to_owned).collect()))
            .collect();
    assert_eq!(found, expected);
    assert_eq!(requirements_by_definition("\\* covers R1\nSafe == TRUE")["Safe"], ["R1"]);
    assert_eq!(requirements_by_definition("\\* covers R04, R4, R10\nSafe == TRUE")["Safe"], ["R4", "R10"]);
}

#[test]
fn a_trivially_true_property_is_reported() {
    for body in [
        "P == TRUE",
        "P == /\\ TRUE\n     /\\ TRUE",
        "P == (TRUE /\\ (TRUE))",
        "P == x = x",
        "P == x + 1 = x+1 \\* same",
        "P == FALSE => x = 1",
        "P == x = 1 => TRUE",
        "P == x = 1 \\/ ~(x = 1)",
        "P == ~(x = 1) \\/ y = 1 \\/ x = 1",
        "P == \\/ x = 1\n     \\/ y = 2\n     \\/ ~ (x = 1)",
        "P == []TRUE",
        "P == <>TRUE",
        "P == []<>(x = x)",
        "P == \\A z \\in {1, x} : TRUE",
        "P == \\A z \\in {} : x = z",
        "Q == TRUE\nP == Q",
        "Q(a) == a = a\nP == Q(x)",
        "P == IF x = 1 THEN TRUE ELSE TRUE",
        "P == LET z == 1 IN TRUE",
        "P == [][TRUE]_vars",
        "P == x = 1 ~> TRUE",
        "P == ~FALSE",
        "P == x = 1 <=> (x = 1)",
        "P == ~(FALSE /\\ x = 1)",
        "P == ~(\\E z \\in {x} : FALSE)",
        "P == N > 0",
        "Q == N\nP == [](Q > 0)",
        "P == 1 = 2",
        "P == x /= x => FALSE",
        "P == \\A z \\in 1..N : z \\in Nat",
        "P == x \\in {1} \\/ x \\notin {1}",
        "P == x \\notin {1} \\/ y = 1 \\/ (x \\in {1})",
        "P == \\/ ~(x \\in {1})\n     \\/ y = 2\n     \\/ ~(x \\notin {1})",
        "P == x = y \\/ x # y",
        "P == x /= y \\/ y = x",
        "P == x < y \\/ x >= y",
        "P == x > y \\/ x \\leq y",
        "P == x < y \\/ y =< x",
        "P == x < 1 \\/ x = 1 \\/ x > 1",
        "P == x <= y \\/ y <= x",
        "P == x < y => x <= y",
        "P == x \\in {1} => ~(x \\notin {1})",
        "P == x \\in {1} <=> ~(x \\notin {1})",
        "P == ~(x \\in {1} /\\ x \\notin {1})",
        "P == ~(/\\ x < 1\n       /\\ x > 1)",
    ] {
        assert!(constantly_true(&module(body), "P").is_some(), "{body}");
    }
}

#[test]
fn a_property_that_can_fail_is_not_reported() {
    for body in [
        "P == x = 1",
        "P == FALSE \\/ x = 1",
        "P == TRUE => x = 1",
        "P == x = 1 \\/ ~(x = 2)",
        "P == []<>(x = 1)",
        "P == \\E z \\in {x} : TRUE",
        "P == \\A z \\in {1} : z = x",
        "P == LET TT == x = 1 IN TT",
        "Q == x\nP == Q > 0",
        "TT == TRUE\nP == \\A TT1 \\in {x = 1} : TT1",
        "P == x \\in Nat",
        "P == [][FALSE]_vars",
        "P == x' = x",
        "P == ENABLED (x' = 1)",
        "M == INSTANCE Other\nP == M!Inv",
        "RECURSIVE P\nP == P",
        "P == (x = 1 => TRUE) => y = 1",
        "P == ~(x = 1) \\/ ~(x = 1)",
        "P == WF_vars(TRUE)",
        "P == RandomElement({1, 2}) = RandomElement({1, 2})",
        "P == TLCGet(\"level\") < 3",
        "P == ~TRUE \\/ x = 1",
        "P == /\\ x = 1\n        \\/ ~(x = 1)\n     /\\ y = 2",
        "P == <<x, y>> = <<y, x>>",
        "P == x \\in {1} \\/ x \\notin {2}",
        "P == x \\in {1} \\/ y \\notin {1}",
        "P == x < y \\/ x > y",
        "P == x < 1 \\/ x >= 2",
        "P == x <= y => x < y",
        "P == ~(x <= 1 /\\ x >= 1)",
        "P == x \\in {1} <=> x \\notin {1}",
        "P == x < y => y < x",
    ] {
        assert_eq!(constantly_true(&module(body), "P"), None, "{body}");
    }
    assert_eq!(constantly_true(&module("P == TRUE"), "Absent"), None);
    let replaced = module("Q == TRUE\nP == Q");
    assert!(constantly_true_under(&replaced, &cfg("CONSTANT Q <- R"), "P").is_none());
    let other = Module::parse("---- MODULE M ----\nEXTENDS Base\nP == Known > 1\n====").expect("a module");
    assert_eq!(constantly_true(&other, "P"), None);
    let own_order = Module::parse("---- MODULE M ----\nVARIABLES x\na < b == b = a\nP == x < 1 \\/ x >= 1\n====");
    assert_eq!(constantly_true(&own_order.expect("a module"), "P"), None);
}

#[test]
fn layout_and_comments_are_no_change() {
    let config = cfg("SPECIFICATION Spec INVARIANT Inv");
    let one = module("Help == x = 1\nInv == /\\ Help\n       /\\ y = 1\nSpec == x = 1");
    let two = module(
        "\\* moved\nSpec == x = 1\nHelp ==\n  x  =  1 \\* the same\nInv ==\n  /\\ Help (* still *)\n  /\\ y = 1",
    );
    assert_eq!(checked_texts(&one, &config), checked_texts(&two, &config));
    // The same tokens: only the columns say to which list the last line belongs.
    let regrouped = module("Help == x = 1\nInv == /\\ x = 2 => \\/ Help\n       /\\ y = 1\nSpec == x = 1");
    let nested = module("Help == x = 1\nInv == /\\ x = 2 => \\/ Help\n                      /\\ y = 1\nSpec == x = 1");
    assert_eq!(checked_texts(&regrouped, &config).keys().collect::<Vec<_>>(), ["Inv", "role Inv"]);
    assert_ne!(checked_texts(&one, &config), checked_texts(&nested, &config));
    assert_ne!(checked_texts(&regrouped, &config), checked_texts(&nested, &config));
}

#[test]
fn every_weakening_is_a_change() {
    let config = cfg("SPECIFICATION Spec INVARIANTS Inv Gone CONSTANT N = 3");
    let first = checked_texts(
        &module("Help == x = 1\nInv == Help\nGone == y = 1\nSpec == x = 1 /\\ [][x' = 1]_vars /\\ WF_vars(x' = 1)"),
        &config,
    );
    assert_eq!(
        first.keys().map(String::as_str).collect::<Vec<_>>(),
        ["FAIRNESS", "Gone", "Inv", "N", "role Gone", "role Inv"]
    );
    let mut baseline = Baseline::default();
    assert_eq!(baseline.changes(&first), []);
    baseline.absorb(&first);
    assert_eq!(baseline.changes(&first), []);

    let later = checked_texts(
        &module(
            "ASSUME N > 0\nHelp == x \\in {1, 2}\nInv == Help\nNew == y = 1\nC == x < 3\nSpec == x = 1 /\\ [][x' = 1]_vars",
        ),
        &cfg("SPECIFICATION Spec INVARIANTS Inv New CONSTRAINT C CONSTANT N = 2 CHECK_DEADLOCK FALSE"),
    );
    baseline.absorb(&later);
    let changes = |baseline: &Baseline| -> Vec<(String, ChangeKind)> {
        baseline.changes(&later).into_iter().map(|change| (change.name, change.kind)).collect()
    };
    let expected = [
        ("ASSUME", ChangeKind::Appeared),
        ("CHECK_DEADLOCK", ChangeKind::Appeared),
        ("CONSTRAINT", ChangeKind::Appeared),
        ("FAIRNESS", ChangeKind::Vanished),
        ("Gone", ChangeKind::Vanished),
        ("Inv", ChangeKind::Changed),
        ("N", ChangeKind::Changed),
    ];
    assert_eq!(changes(&baseline), expected.map(|(name, kind)| (name.to_owned(), kind)));

    baseline.accept(["Inv", "Gone", "CONSTRAINT", "ASSUME", "FAIRNESS"], &later);
    let left = [("CHECK_DEADLOCK", ChangeKind::Appeared), ("N", ChangeKind::Changed)];
    assert_eq!(changes(&baseline), left.map(|(name, kind)| (name.to_owned(), kind)));
    let text = serde_json::to_string(&baseline).expect("serialises");
    assert_eq!(serde_json::from_str::<Baseline>(&text).expect("reads back"), baseline);
}

/// The names of the changed keys.
fn names(baseline: &Baseline, checked: &BTreeMap<String, String>) -> Vec<String> {
    baseline.changes(checked).into_iter().map(|change| change.name).collect()
}

#[test]
fn a_change_of_covered_requirements_is_reported() {
    let config = cfg("INVARIANT Inv\n\\* Deadlock covers R3");
    let of = |body: &str| checked_texts(&module(body), &config);
    let first = of("\\* covers R2, R1\nInv == x = 1");
    assert_eq!((first["covers Inv"].as_str(), first["covers Deadlock"].as_str()), ("R1, R2", "R3"));
    let mut baseline = Baseline::default();
    baseline.absorb(&first);
    assert_eq!(names(&baseline, &of("\\* covers R01 and R2\nInv == x = 1")), [""; 0]);
    let moved = of("\\* covers R1\nInv == x = 1");
    let change = &baseline.changes(&moved)[0];
    assert_eq!(
        (change.name.as_str(), change.was.as_deref(), change.now.as_deref()),
        ("covers Inv", Some("R1, R2"), Some("R1"))
    );
    assert_eq!(names(&baseline, &of("Inv == x = 1")), ["covers Inv"]);
    assert_eq!(names(&baseline, &checked_texts(&module("x1 == 1"), &cfg("INIT x1"))), ["Inv", "covers Deadlock"]);
    baseline.accept(["Inv"], &checked_texts(&module("x1 == 1"), &cfg("INIT x1")));
    assert_eq!(names(&baseline, &moved), ["covers Deadlock"; 0], "a property that comes back is a new one");
    baseline.absorb(&moved);
    assert_eq!(names(&baseline, &first), ["covers Inv"]);
}

#[test]
fn a_change_of_the_keyword_that_lists_a_name_is_reported() {
    let module = module("Inv == x = 1");
    let of = |text: &str| checked_texts(&module, &cfg(text));
    let mut baseline = Baseline::default();
    baseline.absorb(&of("INVARIANT Inv"));
    for (text, role) in [
        ("PROPERTY Inv", "PROPERTY"),
        ("INIT Inv\n\\* WITNESS Inv", "INIT, WITNESS"),
        ("INVARIANT Inv PROPERTY Inv", "INVARIANT, PROPERTY"),
    ] {
        let changes = baseline.changes(&of(text));
        let [change] = changes.as_slice() else { panic!("{text}: {changes:?}") };
        let shown = (change.name.as_str(), change.was.as_deref(), change.now.as_deref());
        assert_eq!(shown, ("role Inv", Some("INVARIANT"), Some(role)));
    }
    let gone = of("CHECK_DEADLOCK TRUE");
    assert_eq!(names(&baseline, &gone), ["Inv"]);
    baseline.accept(["Inv"], &gone);
    assert_eq!(names(&baseline, &of("PROPERTY Inv")), [""; 0], "a property that comes back is a new one");
}

#[test]
fn comments_of_the_configuration_name_the_requirements_of_deadlock_and_assertion() {
    let read = cfg("INIT A\n\\* Deadlock covers R4, R05\n\\*  Assertion covers: R6\n\
         \\* Deadlock covers R7 no longer\n\\* Deadlocked covers R8\n\\* Assertion R9\n");
    let expected = [("Assertion", vec!["R6"]), ("Deadlock", vec!["R4", "R5"])];
    let expected: BTreeMap<String, Vec<String>> = expected
        .into_iter()
        .map(|(name, ids)| (name.to_owned(), ids.into_iter().map(str::to_owned).collect()))
        .collect();
    assert_eq!(read.covers, expected);
}

#[test]
fn a_removed_assertion_is_a_change() {
    let algorithm = |statement: &str| {
        let text = format!(
            "---- MODULE M ----\nEXTENDS TLC\n(* --algorithm A\nvariables x = 0;\nbegin\n  a: x := 1;\n  {statement}\nend algorithm; *)\n===="
        );
        checked_texts(&Module::parse(&text).expect("a module"), &cfg("SPECIFICATION Spec"))
    };
    let first = algorithm("assert x = 1;");
    assert_eq!(first["Assertion"], "assert x = 1");
    let mut baseline = Baseline::default();
    baseline.absorb(&first);
    assert_eq!(names(&baseline, &algorithm("assert  x = 1; \\* the same")), [""; 0]);
    assert_eq!(names(&baseline, &algorithm("assert x > 0;")), ["Assertion"]);
    assert_eq!(names(&baseline, &algorithm("skip;")), ["Assertion"]);
    let by_hand = checked_texts(&module("A == Assert(x = 1, \"\")\nB == x = 1"), &cfg("INIT A"));
    assert!(by_hand["Assertion"].starts_with("A == Assert"), "{by_hand:?}");
}

#[test]
fn a_changed_helper_is_a_change_of_the_property() {
    let config = cfg("INVARIANT Inv INIT A NEXT A");
    let mut baseline = Baseline::default();
    baseline.absorb(&checked_texts(&module("H(a) == a = 1\nG == H(x)\nInv == G"), &config));
    let changes = baseline.changes(&checked_texts(&module("H(a) == TRUE\nG == H(x)\nInv == G"), &config));
    assert_eq!((changes.len(), changes[0].name.as_str(), changes[0].kind), (1, "Inv", ChangeKind::Changed));
}

/// The tuple of all variables that the translator generates is no part of a property; one of the module's own is.
#[test]
fn a_variable_more_changes_no_property_that_does_not_use_it() {
    let step = |translated: bool, vars: &str| {
        let (begin, end) = if translated { ("\\* BEGIN TRANSLATION\n", "\\* END TRANSLATION\n") } else { ("", "") };
        let text = format!(
            "---- MODULE M ----\n(* --algorithm A\nvariables x = 0, y = 0;\nbegin\n  a: x := 1;\nend algorithm; *)\n\
             {begin}VARIABLES x, y, pc\nvars == {vars}\n{end}Grows == [][x' > x]_vars\n===="
        );
        checked_texts(&Module::parse(&text).expect("a module"), &cfg("PROPERTY Grows"))
    };
    let changed = |translated: bool| {
        let mut baseline = Baseline::default();
        baseline.absorb(&step(translated, "<< x, pc >>"));
        names(&baseline, &step(translated, "<< x, y, pc >>"))
    };
    assert_eq!(changed(true), [""; 0]);
    assert_eq!(changed(false), ["Grows"]);
}

#[test]
fn fairness_is_found_in_used_definitions_and_in_pluscal() {
    let config = cfg("SPECIFICATION Spec");
    let plain = module(
        "Next == x' = 1\nLive == \\A p \\in 1..2 : WF_vars(Next) /\\ SF_vars(Next)\nSpec == /\\ x = 1\n        /\\ [][Next]_vars\n        /\\ Live",
    );
    let checked = checked_texts(&plain, &config);
    assert!(checked["FAIRNESS"].starts_with("Live: \\A p") && checked["FAIRNESS"].contains("SF_vars"), "{checked:?}");
    let weaker = module(
        "Next == x' = 1\nLive == \\A p \\in 1..2 : WF_vars(Next)\nSpec == /\\ x = 1\n        /\\ [][Next]_vars\n        /\\ Live",
    );
    assert_ne!(checked_texts(&weaker, &config), checked);
    let lock = Module::parse(include_str!("../data/Lock.tla")).expect("a module");
    let text = &checked_texts(&lock, &config)["FAIRNESS"];
    for line in ["Spec: WF_vars ( Next )", "PlusCal: fair+ process p", "PlusCal: cs:+", "PlusCal: --fair algorithm"] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
}

fn step(number: usize, action: Option<&str>, state: &[(&str, &str)], changed: &[&str]) -> Step {
    Step {
        step: number,
        branch: None,
        arguments: None,
        process: None,
        source: None,
        action: action.map(str::to_owned),
        state: state.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        changed: changed.iter().map(|name| (*name).to_owned()).collect(),
        false_conjuncts: Vec::new(),
    }
}

#[test]
fn a_trace_shows_the_first_state_in_full_and_then_what_changed() {
    let trace = Trace {
        steps: vec![
            step(1, None, &[("lock", "FALSE"), ("pc", "[a |-> \"x\"]")], &["lock", "pc"]),
            step(2, Some("try"), &[("lock", "TRUE"), ("pc", "[a |-> \"x\"]")], &["lock"]),
            step(3, Some("noop"), &[("lock", "TRUE"), ("pc", "[a |-> \"x\"]")], &[]),
        ],
        lasso: Some(Lasso::BackTo(2)),
    };
    assert_eq!(
        trace_table(&trace, 80),
        "  1  initial state\n     lock = FALSE\n     pc   = [a |-> \"x\"]\n  2  try\n     lock: FALSE -> TRUE\n  3  noop\n     (no variable changed)\n\
         then back to step 2: steps 2 to 3 repeat for ever\n"
    );
    let stuttering = Trace { lasso: Some(Lasso::Stuttering(true)), ..trace.clone() };
    assert!(trace_table(&stuttering, 80).ends_with("then nothing ever happens again (stuttering)\n"));
    let own = Trace { lasso: Some(Lasso::BackTo(3)), ..trace };
    assert!(trace_table(&own, 80).ends_with("then step 3 repeats for ever\n"));
}

#[test]
fn long_values_are_shortened_in_the_middle_and_no_line_is_too_wide() {
    let value = format!("<<{}>>", "\"\u{e9}\u{1b}[31m\", ".repeat(60));
    let name = "n".repeat(90);
    let trace = Trace { steps: vec![step(1, Some(&name), &[(&name, &value), ("v", &value)], &[])], lasso: None };
    for width in [0, 40, 57, 100] {
        let table = trace_table(&trace, width);
        assert!(table.is_ascii() && !table.contains('\u{1b}'));
        assert!(table.lines().all(|line| line.len() <= width.max(40)), "{table}");
        assert!(table.contains(" ... ") && table.contains("<<"), "{table}");
    }
}

#[test]
fn an_assertion_counts_only_if_it_is_always_evaluated() {
    let asserting_definitions = |step: &str| {
        let text = format!(
            "---- MODULE M ----\nEXTENDS Naturals, TLC\nVARIABLE n\nIgnore(a) == TRUE\nBelow == Assert(n <= 2, \"above\")\n\
             Inc == n < 2 /\\ ({step}) /\\ n' = n + 1\nNext == Inc \\/ n' = 0\n====\n"
        );
        tlaforge_tla::asserting_definitions(&Module::parse(&text).unwrap(), &Cfg::default())
    };
    for step in
        ["Below", "TRUE /\\ Below", "\\E i \\in {1} : Below", "Assert(n < i, \"i\")", "IF n > 7 THEN Below ELSE TRUE"]
    {
        assert!(asserting_definitions(step).contains(&"Inc".to_owned()), "{step}: {:?}", asserting_definitions(step));
    }
    for step in [
        "n > 7 => Below",
        "n < 8 \\/ Below",
        "~(n < 8 /\\ Below)",
        "\\A i \\in {} : Below",
        "Ignore(Below)",
        "{Below} # {}",
        "TRUE",
    ] {
        assert!(!asserting_definitions(step).contains(&"Inc".to_owned()), "{step}: {:?}", asserting_definitions(step));
    }
}
