//! The embedded checker, run in a child of the built program, and compared with TLC if there is something to compare.
//! The comparisons need Java and `tla2tools.jar`; they fail with advice if one is missing.

use std::path::Path;
use std::time::Duration;

use tlaforge::tla::{CheckOutcome, Checker, Lasso, Reached, Verdict};
use tlaforge::toolchain::{ToolContext, ToolError, Toolchain};

use crate::support::waiting::{wait_until, wait_until_async};

use super::bench::{Bench, actions, request, taken, verdict};

const COUNTER: &str = "EXTENDS Naturals, TLC
VARIABLES x, log
vars == <<x, log>>
Init == x = 0 /\\ log = <<>>
Inc == x < 3 /\\ x' = x + 1 /\\ UNCHANGED log
Reset == x = 3 /\\ x' = 0 /\\ log' = <<\"reset\", [at |-> x]>>
Never == x > 100 /\\ UNCHANGED vars
Stutter == x = 2 /\\ UNCHANGED vars
Next == Inc \\/ Reset \\/ Never \\/ Stutter
Spec == Init /\\ [][Next]_vars /\\ WF_vars(Inc) /\\ WF_vars(Reset)
Unfair == Init /\\ [][Next]_vars
TypeOK == x \\in 0..3
Small == x < 3
Reaches == <>(x = 3)
Stays == <>[](x = 3)
NeverBack == [][x' >= x]_vars
Always == [](x < 3)
WitnessThree == x = 3
WitnessFour == x = 4
Few == x < 2";

/// Processes that each take two steps.
const STEPPERS: &str = "EXTENDS Naturals, TLC
CONSTANT P
VARIABLE at
Init == at = [p \\in P |-> 0]
Next == \\E p \\in P : at[p] < 2 /\\ at' = [at EXCEPT ![p] = @ + 1]
Spec == Init /\\ [][Next]_at
Sym == Permutations(P)
Start == \\A p \\in P : at[p] = 0
Grows == [][\\A p \\in P : at'[p] >= at[p]]_at
Skips == [][\\A p \\in P : at[p] = 1 => \\E q \\in P : q # p /\\ at'[q] > 0]_at
Ends == <>(\\A p \\in P : at[p] = 2)";

const CLIENTS: &str = "EXTENDS Naturals, TLC, Sequences
CONSTANTS P, Max
VARIABLES held, queue, n
vars == <<held, queue, n>>
Init == held = {} /\\ queue = <<>> /\\ n = [p \\in P |-> 0]
Ask(p) == /\\ n[p] < Max
          /\\ p \\notin held
          /\\ queue' = Append(queue, p)
          /\\ n' = [n EXCEPT ![p] = @ + 1]
          /\\ UNCHANGED held
Grant == /\\ queue # <<>>
         /\\ held = {}
         /\\ held' = {Head(queue)}
         /\\ queue' = Tail(queue)
         /\\ UNCHANGED n
Free(p) == held = {p} /\\ held' = {} /\\ UNCHANGED <<queue, n>>
Next == \\/ \\E p \\in P : Ask(p) \\/ Free(p)
        \\/ Grant
        \\/ /\\ n = [p \\in P |-> 9]
           /\\ UNCHANGED vars
Spec == Init /\\ [][Next]_vars
TypeOK == held \\subseteq P
Short == Len(queue) < 3
Sym == Permutations(P)
View == <<held, Len(queue), n>>
FewGrants == Len(queue) < 2";

/// Expressions that the checker's own parser and arithmetic would misread.
const NUMBERS: &str = "EXTENDS Integers, TLC
VARIABLES x, d
Init == x = -7 /\\ d \\in {-2, 3}
Next == UNCHANGED d /\\ \\/ x' = x % 3 \\/ x' = x \\div 3 \\/ x' = -x \\/ x' = (-7) \\div (-2) \\/ x' = x \\div d
Spec == Init /\\ [][Next]_<<x, d>>
Product == x % 2 * 3 <= 1
Signed == -x % 3 >= 0
Grouped == (9 % 6 \\div 4) = 0 /\\ 1 + 2 * 3 - 4 = 3
Quotient == 7 \\div d \\in {-4, 2} /\\ (-7) \\div d \\in {3, -3}
Pairs == LET A == {1} IN (A \\X A) \\X A = {<< <<1, 1>>, 1>>} /\\ A \\X A \\X A = {<<1, 1, 1>>}
Powers == 2^10 = 1024 /\\ (-2)^3 = -8 /\\ 1^40 = 1
Naught == x < 5 \\/ 0^0 = 1
Primed == x' = x' \\/ TRUE";

/// Body, configuration, verdict. The embedded checker checks each, and so do both checkers together.
const TABLE: &[(&str, &str, &str)] = &[
    (NUMBERS, "SPECIFICATION Spec\nINVARIANT Signed Grouped Quotient Pairs Powers\n", "holds"),
    (NUMBERS, "SPECIFICATION Spec\nINVARIANT Product\n", "violated invariant Product"),
    (NUMBERS, "SPECIFICATION Spec\nINVARIANT Naught\n", "invalid evaluation"),
    (NUMBERS, "SPECIFICATION Spec\nINVARIANT Primed\n", "invalid parse"),
    (
        "EXTENDS Integers\nVARIABLE x\nInit == x = CHOOSE n \\in {3, 4} : n > 9\nNext == x' = 1",
        "INIT Init\nNEXT Next\n",
        "invalid evaluation",
    ),
    (COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n", "holds"),
    (COUNTER, "INIT Init\nNEXT Next\nINVARIANT TypeOK\n", "holds"),
    (COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\nPROPERTY Reaches\n", "holds"),
    (COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK Small\n", "violated invariant Small"),
    (COUNTER, "SPECIFICATION Unfair\nPROPERTY Reaches\n", "violated temporal property Reaches"),
    (COUNTER, "SPECIFICATION Spec\nPROPERTY Stays\n", "violated temporal property Stays"),
    (COUNTER, "SPECIFICATION Spec\nPROPERTY NeverBack\n", "violated action property NeverBack"),
    (COUNTER, "SPECIFICATION Spec\nPROPERTY Reaches Stays\n", "violated temporal property Stays"),
    (COUNTER, "SPECIFICATION Spec\nPROPERTY Always\n", "violated invariant Always"),
    (COUNTER, "SPECIFICATION Spec\nCONSTRAINT Few\nCHECK_DEADLOCK FALSE\n", "holds"),
    // A constraint hides a violation of a temporal property.
    (COUNTER, "SPECIFICATION Spec\nPROPERTY Reaches\nCONSTRAINT Few\nCHECK_DEADLOCK FALSE\n", "inconclusive"),
    (
        COUNTER,
        "SPECIFICATION Unfair\nPROPERTY Reaches\nCONSTRAINT Few\nCHECK_DEADLOCK FALSE\n",
        "violated temporal property Reaches",
    ),
    (COUNTER, "SPECIFICATION Spec\n\\* WITNESS WitnessThree\n\\* WITNESS WitnessFour\n", "holds"),
    (
        CLIENTS,
        "SPECIFICATION Spec\nCONSTANTS P = {p1, p2}\n Max = 1\nINVARIANT TypeOK\nCHECK_DEADLOCK FALSE\n",
        "holds",
    ),
    (CLIENTS, "SPECIFICATION Spec\nCONSTANTS P = {p1, p2}\n Max = 1\nINVARIANT TypeOK\n", "violated deadlock"),
    (
        CLIENTS,
        "SPECIFICATION Spec\nCONSTANTS P = {p1, p2}\n Max = 2\nINVARIANT Short\nCHECK_DEADLOCK FALSE\n",
        "violated invariant Short",
    ),
    (
        CLIENTS,
        "SPECIFICATION Spec\nCONSTANTS P = {p1, p2, p3}\n Max = 1\nSYMMETRY Sym\nCHECK_DEADLOCK FALSE\n",
        "holds",
    ),
    (CLIENTS, "SPECIFICATION Spec\nCONSTANTS P = {p1, p2}\n Max = 1\nVIEW View\nCHECK_DEADLOCK FALSE\n", "holds"),
    (
        CLIENTS,
        "SPECIFICATION Spec\nCONSTANTS P = {p1, p2}\n Max = 2\nCONSTRAINT FewGrants\nCHECK_DEADLOCK FALSE\n",
        "holds",
    ),
    // Step properties and predicates on the initial state keep the SYMMETRY; those about the future do not.
    (
        STEPPERS,
        "SPECIFICATION Spec\nCONSTANT P = {p1, p2, p3}\nSYMMETRY Sym\nPROPERTY Grows Start\nCHECK_DEADLOCK FALSE\n",
        "holds",
    ),
    (
        STEPPERS,
        "SPECIFICATION Spec\nCONSTANT P = {p1, p2, p3}\nSYMMETRY Sym\nPROPERTY Start Grows Skips\nCHECK_DEADLOCK FALSE\n",
        "violated action property Skips",
    ),
    (
        STEPPERS,
        "SPECIFICATION Spec\nCONSTANT P = {p1, p2, p3}\nSYMMETRY Sym\nPROPERTY Grows Ends\nCHECK_DEADLOCK FALSE\n",
        "violated temporal property Ends",
    ),
    // An empty set.
    (CLIENTS, "SPECIFICATION Spec\nCONSTANTS P = {}\n Max = 2\nCHECK_DEADLOCK FALSE\n", "holds"),
    // No initial state.
    (
        "EXTENDS Naturals\nVARIABLE x\nInit == x \\in {}\nNext == x' = x\nSpec == Init /\\ [][Next]_x",
        "SPECIFICATION Spec\n",
        "holds",
    ),
    (
        "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = x\nTypeOK == x = 1",
        "INIT Init\nNEXT Next\nINVARIANT TypeOK\n",
        "violated invariant TypeOK",
    ),
    (
        "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = x\nP == x = 1 /\\ [][TRUE]_x",
        "INIT Init\nNEXT Next\nPROPERTY P\n",
        "violated action property P",
    ),
    (
        "EXTENDS Naturals\nCONSTANT N\nASSUME N > 3\nVARIABLE x\nInit == x = 0\nNext == x' = x",
        "INIT Init\nNEXT Next\nCONSTANT N = 2\n",
        "violated assumption",
    ),
    (
        "EXTENDS Naturals, TLC\nVARIABLE x\nInit == x = 0\nNext == Assert(x < 2, \"too much\") /\\ x' = x + 1",
        "INIT Init\nNEXT Next\n",
        "violated assertion",
    ),
    (
        "EXTENDS Naturals, Sequences\nVARIABLE x\nInit == x = <<1>>\nNext == x' = Tail(x)",
        "INIT Init\nNEXT Next\n",
        "invalid evaluation",
    ),
    (
        "EXTENDS Naturals, Sequences\nVARIABLE x\nInit == x = <<1>>\nNext == x' = x\nI == x[2] = 1",
        "INIT Init\nNEXT Next\nINVARIANT I\n",
        "invalid evaluation",
    ),
    (
        "EXTENDS Naturals\nVARIABLES x, y\nInit == x = 0 /\\ y = 0\nNext == x' = 1 - x",
        "INIT Init\nNEXT Next\n",
        "invalid evaluation",
    ),
    (
        "EXTENDS Naturals\nVARIABLES x, y\nInit == x = 0\nNext == UNCHANGED <<x, y>>",
        "INIT Init\nNEXT Next\n",
        "invalid evaluation",
    ),
    (
        "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = CHOOSE y \\in {1, 2} : y > 2",
        "INIT Init\nNEXT Next\n",
        "invalid evaluation",
    ),
];

#[tokio::test]
async fn each_kind_of_verdict_is_reported() {
    let bench = Bench::new();
    for (body, cfg, wanted) in TABLE {
        let outcome = bench.check(&request(body, cfg)).await;
        assert_eq!(verdict(&outcome), *wanted, "{cfg}: {outcome:#?}");
        assert_eq!(outcome.checker, Checker::Embedded);
        assert_eq!(outcome.version, "tla-mc 0.2.2");
        let shown = matches!(outcome.verdict, Verdict::Violated { .. }) && *wanted != "violated assumption";
        assert!(!shown || outcome.trace.as_ref().is_some_and(|t| !t.steps.is_empty()), "{cfg}: {outcome:#?}");
        assert_eq!(outcome.is_complete(), *wanted == "holds" || cfg.contains("PROPERTY"), "{cfg}: {outcome:#?}");
    }
}

#[tokio::test]
async fn tlc_agrees_on_each_verdict() {
    let bench = Bench::new();
    let mut named = 0;
    // In a campaign TLC checks all rows; `each_kind_of_verdict_is_reported` checks all without TLC.
    let step = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 1 } else { 5 };
    for (body, cfg, wanted) in TABLE.iter().step_by(step) {
        let (tlc, embedded, contradictions) = bench.both(&request(body, cfg)).await;
        assert_eq!(contradictions, [""; 0], "{cfg}");
        assert_eq!((verdict(&tlc).as_str(), verdict(&embedded).as_str()), (*wanted, *wanted), "{cfg}");
        if *wanted == "holds" && tlc.statistics.distinct != Some(0) {
            assert_eq!(tlc.statistics.distinct, embedded.statistics.distinct, "{cfg}");
            assert_eq!(tlc.statistics.depth, embedded.statistics.depth, "{cfg}");
            let (theirs, ours) = (taken(&tlc), taken(&embedded));
            // TLC lists no action for an empty set.
            assert!(theirs.iter().all(|action| ours.contains(action)), "{cfg}: {theirs:?} {ours:?}");
            assert!(ours.iter().all(|action| theirs.contains(action) || !action.1), "{cfg}: {theirs:?} {ours:?}");
        }
        let (theirs, ours) = (tlc.trace.as_ref().map(|t| &t.steps), embedded.trace.as_ref().map(|t| &t.steps));
        let states = |steps: Option<&Vec<tlaforge::tla::Step>>| -> Vec<_> {
            steps.into_iter().flatten().map(|s| s.state.clone()).collect()
        };
        if states(theirs) == states(ours) {
            // With iterative deepening, for an assertion, TLC names no actions.
            for (a, b) in actions(&tlc).iter().zip(actions(&embedded)).filter(|(a, _)| a.is_some()) {
                assert_eq!(*a, b, "{cfg}");
                named += 1;
            }
        }
    }
    assert!(named >= 10 / step, "{named}");
}

/// Specifications that TLC decides or fails on, and that the embedded checker must not decide differently.
#[tokio::test]
async fn nothing_is_decided_if_the_checkers_may_differ() {
    let bench = Bench::new();
    let module = |rest: &str| format!("EXTENDS Integers, Sequences, TLC\nVARIABLE x\n{rest}");
    let cfg = "INIT Init\nNEXT Next\nINVARIANT Inv\n";
    for (rest, tlc) in [
        ("Init == x = \"\"\nNext == Len(x) < 3 /\\ x' = x \\o \"a\"\nInv == Len(x) <= 3", "violated deadlock"),
        ("Init == x \\in Nat\nNext == UNCHANGED x\nInv == TRUE", "invalid evaluation"),
        (
            "Init == x = 1\nNext == x' = x\nInv == x * 2000000000 > 0 /\\ x * 2000000000 + 2000000000 > 0",
            "invalid evaluation",
        ),
        ("Init == x = 1\nNext == x' = x\nInv == x < 2147483649", "invalid evaluation"),
        ("Init == x = 1\nNext == x' = x\nInv == x # \"a\"", "invalid evaluation"),
    ] {
        let (theirs, ours, contradictions) = bench.both(&request(&module(rest), cfg)).await;
        assert_eq!(contradictions, [""; 0], "{rest}");
        // The comparison of a number with a text is an error whatever TLC evaluates first.
        let expected = if rest.contains("# \"a\"") { tlc } else { "inconclusive" };
        assert_eq!((verdict(&theirs).as_str(), verdict(&ours).as_str()), (tlc, expected), "{rest}");
    }
}

/// TLC enforces every conjunct of a specification. The embedded checker by itself would use only the last one.
#[tokio::test]
async fn no_conjunct_of_a_specification_is_ignored() {
    let bench = Bench::new();
    let module = |spec: &str| {
        let rest = "Two == x = 1 /\\ y = 1\nBoth == x \\in {1, 2} /\\ Two\nMore == [][Next]_<<x, y>> /\\ WF_x(Next)\nFair == WF_x(Next)";
        let next = "Next == UNCHANGED <<x, y>>";
        format!("EXTENDS Naturals\nVARIABLES x, y\n{next}\n{rest}\nInv == x = 1\nSpec == {spec}")
    };
    for (spec, tlc, embedded) in [
        ("x = 1 /\\ y = 1 /\\ [][Next]_<<x, y>>", "holds", "holds"),
        ("x = 1 /\\ (x \\in {1, 2} /\\ y = 1) /\\ [][Next]_<<x, y>>", "holds", "holds"),
        ("/\\ x = 1\n        /\\ x \\in {1, 2} /\\ y = x\n        /\\ More", "holds", "holds"),
        ("Two /\\ [][Next]_<<x, y>> /\\ [][x' = x]_<<x, y>>", "", "inconclusive"),
        ("Both /\\ More", "holds", "holds"),
        ("Both /\\ [][Next]_<<x, y>> /\\ Fair /\\ <>TRUE", "holds", "holds"),
    ] {
        let outcome = bench.check(&request(&module(spec), "SPECIFICATION Spec\nINVARIANT Inv\n")).await;
        assert_eq!(verdict(&outcome), embedded, "{spec}: {outcome:#?}");
        if !tlc.is_empty() {
            let request = request(&module(spec), "SPECIFICATION Spec\nINVARIANT Inv\n");
            let (tlc_found, ..) = bench.both(&request).await;
            assert_eq!(verdict(&tlc_found), tlc, "{spec}");
        }
    }
}

#[tokio::test]
async fn a_model_value_that_only_names_itself_is_no_error() {
    let body = "CONSTANT P\nVARIABLE x\nInit == x \\in P\nNext == x' \\in P";
    let outcome = Bench::new().check(&request(body, "INIT Init\nNEXT Next\nCONSTANTS p1 = p1\n P = {p1, p2}\n")).await;
    assert_eq!((verdict(&outcome).as_str(), outcome.statistics.distinct), ("holds", Some(2)), "{outcome:#?}");
}

/// Both check the assumptions of a module without variables.
#[tokio::test]
async fn assumptions_alone_are_checked() {
    let bench = Bench::new();
    for (body, cfg, wanted) in [
        ("EXTENDS Naturals\nASSUME 1 + 1 = 2", "\n", "holds"),
        ("EXTENDS Naturals\nASSUME 1 + 1 = 3", "\n", "violated assumption"),
        ("F == TRUE", "INVARIANT F\n", "holds"),
        ("CONSTANT N\nASSUME N \\in {1, 2}", "CONSTANT N = 2\n", "holds"),
        ("VARIABLE x\nASSUME TRUE", "\n", "invalid parse"),
    ] {
        let (tlc, embedded, contradictions) = bench.both(&request(body, cfg)).await;
        assert_eq!((verdict(&tlc).as_str(), verdict(&embedded).as_str()), (wanted, wanted), "{body}: {embedded:?}");
        assert_eq!(contradictions, [""; 0]);
        for outcome in [tlc, embedded].iter().filter(|outcome| outcome.verdict == Verdict::Holds) {
            assert!(outcome.bounds.assumptions_only && !outcome.bounds.deadlock_checked, "{outcome:?}");
            // Nothing was evaluated in any state.
            assert_eq!((outcome.invariants.len(), outcome.warnings.as_slice()), (0, &[][..]), "{outcome:?}");
        }
    }
    // TLC requires a behaviour here: an extended module declares a variable.
    let mut extended = request("EXTENDS B", "\n");
    extended.spec.local_modules.push(("B".to_owned(), "---- MODULE B ----\nVARIABLE x\n====\n".to_owned()));
    let (tlc, embedded, _) = bench.both(&extended).await;
    assert_eq!((verdict(&tlc).as_str(), verdict(&embedded).as_str()), ("invalid parse", "inconclusive"));
}

/// Only a finished search shows that there is no initial state.
#[tokio::test]
async fn an_unfinished_search_does_not_report_missing_initial_states() {
    let bench = Bench::new();
    let init = |init: &str| format!("EXTENDS Naturals\nVARIABLE x\nInit == {init}\nNext == x' = x");
    let warned = |outcome: &CheckOutcome| outcome.warnings.iter().any(|w| w.contains("no state satisfies"));
    for (body, tlc, embedded, empty) in [
        (init("x \\in Nat /\\ x < 5"), "invalid evaluation", "inconclusive", false),
        (init("x \\in 1..3 /\\ x > 5"), "holds", "holds", true),
        (init("x \\in {1, 2} /\\ x \\div 0 = 1"), "invalid evaluation", "invalid evaluation", false),
    ] {
        let (theirs, ours, contradictions) = bench.both(&request(&body, "INIT Init\nNEXT Next\n")).await;
        assert_eq!((verdict(&theirs).as_str(), verdict(&ours).as_str()), (tlc, embedded), "{body}");
        assert_eq!((warned(&theirs), warned(&ours)), (empty, empty), "{body}: {ours:?}");
        assert_eq!(contradictions, [""; 0]);
    }
}

#[tokio::test]
async fn unicode_and_operators_of_the_module_are_read() {
    let bench = Bench::new();
    let body = "EXTENDS Naturals\nVARIABLE x\nInit ≜ x ∈ {1, 2}\nNext ≜ ∧ x = 1 ∨ x ≠ 1\n       ∧ x' = 3 - x\nInv ≜ ∀ y ∈ {x} : y ≤ 2";
    let outcome = bench.check(&request(body, "INIT Init\nNEXT Next\nINVARIANT Inv\n")).await;
    assert_eq!((verdict(&outcome).as_str(), outcome.statistics.distinct), ("holds", Some(2)), "{outcome:#?}");
    let body = "EXTENDS Naturals\na -- b == a\nVARIABLE x\nInit == x = 1\nNext == x' = x -- 2";
    let outcome = bench.check(&request(body, "INIT Init\nNEXT Next\n")).await;
    assert_eq!((verdict(&outcome).as_str(), outcome.statistics.distinct), ("holds", Some(1)), "{outcome:#?}");
}

#[tokio::test]
async fn a_step_gets_a_name_only_if_one_action_explains_it() {
    let bench = Bench::new();
    let body = "EXTENDS Naturals\nVARIABLES x, y\nInit == x = 0 /\\ y = 0
One == x' = x + 1 /\\ UNCHANGED y\nAlso == x = 0 /\\ x' = 1 /\\ y' = 0\nTwo == y' = y + 1 /\\ UNCHANGED x
Next == One \\/ Also \\/ (x = 1 /\\ Two)\nBounded == x + y < 3";
    let outcome = bench.check(&request(body, "INIT Init\nNEXT Next\nINVARIANT Bounded\n")).await;
    assert_eq!(verdict(&outcome), "violated invariant Bounded");
    let names = actions(&outcome);
    // The first step may be either of two actions.
    assert_eq!(names[..2], [None, None], "{names:?}");
    assert!(names[2..].iter().all(Option::is_some), "{names:?}");
    assert!(outcome.warnings.iter().any(|w| w.contains("no single action explains")), "{:?}", outcome.warnings);
    // A next-state relation that cannot be split into disjuncts.
    let body = body.replace("Next ==", "Spec == Init /\\ [][Next]_<<x, y>> /\\ [][TRUE]_x\nNext ==");
    let outcome = bench.check(&request(&body, "SPECIFICATION Spec\nINVARIANT Bounded\n")).await;
    assert!(actions(&outcome).iter().all(Option::is_none), "{outcome:#?}");
}

#[tokio::test]
async fn coverage_is_complete_for_many_states() {
    let bench = Bench::new();
    // More states than the printing run covers: one action that only the last state enables, and one that none does.
    let body = "EXTENDS Naturals\nVARIABLES x, y\nInit == x = 0 /\\ y = 0
Inc == x < 299 /\\ x' = x + 1 /\\ UNCHANGED y\nUp == y < 99 /\\ y' = y + 1 /\\ UNCHANGED x
Last == x = 299 /\\ y = 99 /\\ UNCHANGED <<x, y>>\nNever == x > 299 /\\ UNCHANGED <<x, y>>
Next == Inc \\/ Up \\/ Last \\/ Never";
    let outcome = bench.check(&request(body, "INIT Init\nNEXT Next\n")).await;
    assert_eq!((verdict(&outcome).as_str(), outcome.statistics.distinct), ("holds", Some(30_000)));
    let wanted = [("Inc", true), ("Last", true), ("Never", false), ("Up", true)];
    assert_eq!(taken(&outcome), wanted.map(|(name, taken)| (name.to_owned(), taken)));
}

#[tokio::test]
async fn a_lasso_and_stuttering_are_marked() {
    let bench = Bench::new();
    let lasso = |outcome: &CheckOutcome| outcome.trace.as_ref().and_then(|trace| trace.lasso);
    let outcome = bench.check(&request(COUNTER, "SPECIFICATION Unfair\nPROPERTY Reaches\n")).await;
    assert_eq!(lasso(&outcome), Some(Lasso::Stuttering(true)));
    let outcome = bench.check(&request(COUNTER, "SPECIFICATION Spec\nPROPERTY Stays\n")).await;
    assert!(matches!(lasso(&outcome), Some(Lasso::BackTo(_))), "{outcome:#?}");
}

#[tokio::test]
async fn a_violation_is_checked_again_under_fairness_and_within_larger_bounds() {
    let bench = Bench::new();
    let request = request(COUNTER, "SPECIFICATION Unfair\nPROPERTY Reaches\n");
    let outcome = bench.check(&request).await;
    let cx = ToolContext { limits: &bench.limits, cancel: &bench.cancel, progress: &|_| {} };
    let probed = bench.embedded().probe(&request, &outcome, &cx).await.unwrap().expect("probes");
    let theirs = bench.java().probe(&request, &outcome, &cx).await.unwrap().expect("probes");
    assert_eq!(probed.probes, theirs.probes);
    assert!(probed.output.contains("==== weak fairness: tla-mc"));
}

#[tokio::test]
async fn a_refusal_is_inconclusive_with_the_checkers_message() {
    let bench = Bench::new();
    for (body, cfg, words) in [
        (
            &*format!("{COUNTER}\nOdd == \\A i \\in {{x}} : [](x > i)"),
            "SPECIFICATION Spec\nPROPERTY Odd\n",
            "a set that depends on the state, for a temporal formula, is not checked here",
        ),
        (&*format!("{COUNTER}\nOdd == TLCGet(\"level\") < 3"), "SPECIFICATION Spec\nINVARIANT Odd\n", "TLCGet"),
    ] {
        let outcome = bench.check(&request(body, cfg)).await;
        let Verdict::Inconclusive { reason, .. } = &outcome.verdict else { panic!("{outcome:#?}") };
        let is_refusal = reason.contains("refuses") || reason.contains("cannot evaluate");
        assert!(is_refusal && reason.contains(words), "{reason}");
    }
}

#[tokio::test]
async fn a_specification_cannot_forge_a_verdict() {
    let bench = Bench::new();
    let body = "EXTENDS Naturals, TLC\nVARIABLE x\nInit == x = 0\nNext == x < 2 /\\ x' = x + 1
I == PrintT(\"Model checking completed. No error has been found.\\n9 states generated, 9 distinct states found. Depth 1. Checked in 0.1s\") /\\ x < 2";
    let outcome = bench.check(&request(body, "INIT Init\nNEXT Next\nINVARIANT I\n")).await;
    assert_eq!(verdict(&outcome), "violated invariant I");
    assert_eq!(outcome.trace.map(|t| t.steps.len()), Some(3));
}

const ENDLESS: &str = "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = x + 1\nSpec == Init /\\ [][Next]_x";

/// Asserts that no process works in a folder of this bench. A killed process may take a moment to end on a busy
/// machine.
fn assert_no_process_left(folder: &Path) {
    wait_until("no process is left", || processes_in(folder).is_empty());
}

/// Ids of the processes that work in a folder.
fn processes_in(folder: &Path) -> Vec<std::ffi::OsString> {
    let at = |entry: &std::fs::DirEntry| std::fs::read_link(entry.path().join("cwd")).ok();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let here = all.filter(|entry| at(entry).is_some_and(|cwd| cwd.starts_with(folder)));
    here.map(|entry| entry.file_name()).collect()
}

#[tokio::test]
async fn a_deadline_ends_it_and_decides_nothing() {
    let mut bench = Bench::new();
    let mut is_reached = false;
    // A deadline takes time by nature: one that ends the first attempt with a single thread, and one that lets it finish.
    // The last is for a busy machine that needs longer to reach the witness.
    for seconds in [1, 4, 60] {
        if seconds > 4 && is_reached {
            break;
        }
        bench.limits.check = Duration::from_secs(seconds);
        let outcome = bench.check(&request(ENDLESS, "SPECIFICATION Spec\n\\* WITNESS Init\n")).await;
        let Verdict::Inconclusive { reason, .. } = &outcome.verdict else { panic!("{outcome:#?}") };
        assert!(reason.contains("did not end within"), "{reason}");
        is_reached |= matches!(outcome.witnesses[0].reached, Reached::Yes { .. });
        assert_no_process_left(bench.scratch.path());
    }
    assert!(is_reached);
}

#[tokio::test]
async fn memory_is_bounded() {
    let mut bench = Bench::new();
    bench.limits.heap_mib = Some(128);
    let body = "EXTENDS Naturals\nVARIABLE x\nInit == x = {}\nNext == x' \\in {s \\in SUBSET (1..24) : s = s}";
    bench.limits.check = Duration::from_secs(600);
    let outcome = bench.check(&request(body, "INIT Init\nNEXT Next\n")).await;
    let Verdict::Inconclusive { reason, .. } = &outcome.verdict else { panic!("{outcome:#?}") };
    assert!(reason.contains("ran out of memory"), "{reason}");
}

#[tokio::test]
async fn numbers_that_grow_too_large_decide_nothing() {
    let bench = Bench::new();
    let body = "EXTENDS Naturals\nVARIABLE x\nInit == x = 3\nNext == x' = x * x\nTypeOK == x > 0";
    let outcome = bench.check(&request(body, "INIT Init\nNEXT Next\nINVARIANT TypeOK\n")).await;
    let Verdict::Inconclusive { reason, .. } = &outcome.verdict else { panic!("{outcome:#?}") };
    assert!(reason.contains("a number beyond 32 bits"), "{reason}");
}

#[tokio::test]
async fn cancel_ends_it() {
    let bench = Bench::new();
    let cancel = bench.cancel.clone();
    let scratch = bench.scratch.path().to_owned();
    let later = tokio::spawn(async move {
        wait_until_async("the checker works", || !processes_in(&scratch).is_empty()).await;
        cancel.cancel();
    });
    // With its own deadline it would be inconclusive.
    let ended = bench.check_with(&bench.embedded(), &request(ENDLESS, "SPECIFICATION Spec\n")).await;
    assert!(matches!(ended, Err(ToolError::Cancelled)), "{:?}", ended.map(|c| c.outcome));
    later.await.unwrap();
    assert_no_process_left(bench.scratch.path());
}
