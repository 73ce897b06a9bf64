//! Further checks of a violation with the real tools: under weak fairness of every action, and with larger constants.

use std::time::Duration;

use tlaforge::process::Cancel;
use tlaforge::tla::{Cfg, CheckOutcome, Module, ProbeResult, Probes, WeakFairness, probe_lines};
use tlaforge::toolchain::{CheckRequest, JavaToolchain, Limits, SpecText, ToolContext, ToolPaths, Toolchain};

fn text(body: &str) -> String {
    format!("---- MODULE S ----\n{body}\n====\n")
}

/// The outcome of a check, and what its probes found.
async fn probed(body: &str, cfg: &str) -> (CheckOutcome, Option<Probes>) {
    let env = |name: &str| std::env::var_os(name);
    let tools = JavaToolchain::discover(&ToolPaths { jar: None, java: None, env: &env })
        .unwrap_or_else(|missing| panic!("this test runs the Java tools: {missing}"));
    let limits = Limits { check: Duration::from_secs(600), heap_mib: Some(512), workers: Some(1), ..Limits::default() };
    let cancel = Cancel::new();
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let spec = SpecText { name: "S".to_owned(), text: text(body), local_modules: Vec::new() };
    let request = CheckRequest { spec, cfg_text: cfg.to_owned(), cfg: Cfg::parse(cfg).unwrap() };
    let mut outcome = tools.check(&request, &cx).await.unwrap().outcome;
    outcome.probes = tools.probe(&request, &outcome, &cx).await.unwrap().map(|probed| probed.probes);
    let probes = outcome.probes.clone();
    (outcome, probes)
}

/// What became of property `P` under weak fairness, and of which actions.
async fn under_fairness(body: &str) -> (ProbeResult, Vec<String>) {
    let cfg = "SPECIFICATION Spec\nPROPERTY P\nCHECK_DEADLOCK FALSE";
    let (outcome, probes) = probed(body, cfg).await;
    let fair = probes.unwrap_or_else(|| panic!("{outcome:?}")).weak_fairness.expect("an infinite behaviour");
    (fair.result, fair.actions)
}

/// Two counters modulo 2; `x` may spin for ever, `y` is raised once.
const TWO: &str = "EXTENDS Naturals\nVARIABLES x, y\nvars == <<x, y>>\nInit == x = 0 /\\ y = 0\nP == <>(y = 1)\n";

#[tokio::test]
async fn weak_fairness_excludes_a_stuttering_behaviour() {
    let (again, actions) =
        under_fairness(&format!("{TWO}Next == y = 0 /\\ y' = 1 /\\ x' = x\nSpec == Init /\\ [][Next]_vars")).await;
    assert_eq!((again, actions), (ProbeResult::Holds, vec!["Next".to_owned()]));
}

#[tokio::test]
async fn each_disjunct_is_fair_on_its_own_in_any_notation() {
    // Fairness of `Next` alone would let the other action spin for ever.
    let named = "Spin == x' = 1 - x /\\ y' = y\nRaise == y = 0 /\\ y' = 1 /\\ x' = x\nNext == Spin \\/ Raise\n";
    let inline = "Next == \\/ /\\ x' = 1 - x\n           /\\ y' = y\n        \\/ /\\ \\/ y = 0 \\* bullets\n              \\/ y = 5\n           /\\ y' = 1\n           /\\ x' = x\n";
    let processes = "Work(i, j) == /\\ IF i = 1 THEN x' = 1 - x /\\ y' = y\n                ELSE y = 0 /\\ y' = 1 /\\ x' = x\n              /\\ j = j\nNext == (\\E i \\in 1..2, j \\in {0} : Work(i, j))\n";
    let nested = "Spin == x' = 1 - x /\\ y' = y\nRaise(by) == y = 0 /\\ y' = by /\\ x' = x\nWork(by) == \\/ Spin\n            \\/ Raise(by)\nNext == \\E one \\in {1} : (Work(one))\n";
    for next in [named, inline, processes, nested] {
        let (again, actions) =
            under_fairness(&format!("{TWO}{next}Spec == Init /\\ [][Next]_vars /\\ WF_vars(Next)")).await;
        assert_eq!(again, ProbeResult::Holds, "{next}{actions:?}");
        assert!(actions.len() > 1 && actions.contains(&"Next".to_owned()), "{actions:?}");
    }
}

#[tokio::test]
async fn a_livelock_is_still_there_under_weak_fairness() {
    let loops = "Next == x' = 1 - x /\\ y' = y\nSpec == Init /\\ [][Next]_vars";
    assert!(matches!(under_fairness(&format!("{TWO}{loops}")).await.0, ProbeResult::StillViolated { .. }));
    // Enabled again and again, never for good: only strong fairness would help.
    let strong = "Spin == x' = 1 - x /\\ y' = y\nRaise == x = 1 /\\ y = 0 /\\ y' = 1 /\\ x' = x\nNext == Spin \\/ Raise\nSpec == Init /\\ [][Next]_vars";
    assert!(matches!(under_fairness(&format!("{TWO}{strong}")).await.0, ProbeResult::StillViolated { .. }));
    // A set that changes cannot be taken apart; the choice from it is one action.
    let queue = "Take(m) == x' = 1 - x /\\ y' = y /\\ m = m\nNext == \\E m \\in {x, y} : Take(m)\nSpec == Init /\\ [][Next]_vars";
    let (again, actions) = under_fairness(&format!("{TWO}{queue}")).await;
    assert!(matches!(&again, ProbeResult::Inconclusive(why) if why.contains("could be told apart: Next")), "{again:?}");
    assert_eq!(actions, ["Next"]);
}

#[tokio::test]
async fn fairness_of_actions_that_cannot_be_separated_shows_no_violation() {
    // With each action fair `y` is raised; fairness of the whole lets `Spin` go on for ever.
    let acts = "Spin == x' = 1 - x /\\ y' = y\nRaise == y = 0 /\\ y' = 1 /\\ x' = x\n";
    let conjunctive = "Next == /\\ x \\in {0, 1}\n        /\\ \\/ Spin\n           \\/ Raise\n";
    let hidden = "Both == /\\ x < 5\n        /\\ Spin \\/ Raise\nNext == x < 9 /\\ Both\n";
    let conditional = "Next == IF x < 5 THEN Spin \\/ Raise ELSE Raise\n";
    let changing = "Do(m) == IF m = 1 THEN Spin ELSE Raise\nNext == \\E m \\in {1, 2 + y - y} : Do(m)\n";
    let two_lines = "Do(m) == IF m = 1 THEN Spin ELSE Raise\nNext == \\E m \\in {1,\n                   2} : Do(m)\n";
    for next in [conjunctive, hidden, conditional, changing, two_lines] {
        let cfg = "SPECIFICATION Spec\nPROPERTY P\nCHECK_DEADLOCK FALSE";
        let (outcome, probes) = probed(&format!("{TWO}{acts}{next}Spec == Init /\\ [][Next]_vars"), cfg).await;
        let fair = probes.unwrap().weak_fairness.unwrap();
        assert!(matches!(fair.result, ProbeResult::Inconclusive(_)), "{next}{fair:?}");
        let line = &probe_lines(&outcome)[0];
        assert!(!line.contains("of every action") && line.contains("not every action could be told apart"), "{line}");
        assert_eq!(fair.unsplit_actions, ["Next"]);
    }
    // What holds under the weaker fairness holds under the stronger.
    let only = format!("{TWO}Next == y = 0 /\\ (y' = 1 \\/ y' = 1) /\\ x' = x\nSpec == Init /\\ [][Next]_vars");
    assert_eq!(under_fairness(&only).await.0, ProbeResult::Holds);
}

#[test]
fn one_action_is_not_split_into_several() {
    for (next, whole) in [
        (
            "Next == /\\ x = 0 \\/ y = 0\n        /\\ x' = (IF y = 0 \\/ x = 1 THEN 1 ELSE 0)\n        /\\ UNCHANGED y",
            0,
        ),
        ("Next == IF x = 0 THEN x' = 1 /\\ y' = y ELSE UNCHANGED vars", 0),
        ("Next == x' = x /\\ \\E z \\in {1} : z = y /\\ y' = y", 1),
        ("Next == x = 0 /\\ (\\E z \\in {1} : z = y) /\\ x' = y /\\ y' = y", 0),
        ("Next == x' = x /\\ (UNCHANGED y \\/ FALSE)", 1),
        ("Next == LET z == 1 IN x' = z /\\ (y' = 1 \\/ y' = 2)", 1),
    ] {
        let module = Module::parse(&text(&format!("{TWO}{next}\nSpec == Init /\\ [][Next]_vars"))).unwrap();
        let found = WeakFairness::derive(&module, &Cfg::parse("SPECIFICATION Spec").unwrap()).unwrap();
        assert_eq!(found.unsplit_actions.len(), whole, "{next}: {found:?}");
    }
}

#[test]
fn without_visible_actions_there_is_no_fair_specification() {
    for (body, why) in [
        ("Next == x' = x\nSpec == Init /\\ [][Next]_vars /\\ [][x' # x]_x", "Spec"),
        ("Next == x' = x\nSpec == Init", "Spec"),
        ("M == INSTANCE Other\nSpec == Init /\\ [][M!Next]_vars", "M!Next"),
        ("LOCAL A == x' = x\nNext == A \\/ A\nSpec == Init /\\ [][Next]_vars", "LOCAL"),
    ] {
        let module = Module::parse(&text(&format!("{TWO}{body}"))).unwrap();
        let found = WeakFairness::derive(&module, &Cfg::parse("SPECIFICATION Spec").unwrap());
        assert!(found.as_ref().is_err_and(|said| said.contains(why)), "{body}: {found:?}");
    }
}

#[test]
fn the_processes_and_labels_of_an_algorithm_are_fair() {
    let body = "CONSTANT Procs\nVARIABLES pc\nvars == << pc >>\nInit == pc = [p \\in Procs |-> \"a\"]\n\
        a(self) == pc[self] = \"a\" /\\ pc' = [pc EXCEPT ![self] = \"b\"]\n\
        b(self) == pc[self] = \"b\" /\\ pc' = [pc EXCEPT ![self] = \"a\"]\n\
        p(self) == a(self) \\/ b(self)\nProcSet == Procs\n\
        Terminating == /\\ \\A self \\in ProcSet: pc[self] = \"Done\"\n               /\\ UNCHANGED vars\n\
        Next == (\\E self \\in Procs: p(self))\n           \\/ Terminating\nSpec == Init /\\ [][Next]_vars";
    let with_algorithm = format!(
        "(* --algorithm A\nprocess p \\in Procs\nbegin\n  a: skip;\n  b: skip;\nend process;\nend algorithm; *)\n\\* BEGIN TRANSLATION\n{body}\n\\* END TRANSLATION"
    );
    let of = |body: &str| {
        WeakFairness::derive(&Module::parse(&text(body)).unwrap(), &Cfg::parse("SPECIFICATION Spec").unwrap()).unwrap()
    };
    assert_eq!(of(&with_algorithm).actions, ["p(self)", "Next"]);
    assert_eq!(of(body).actions, ["a(self)", "b(self)", "p(self)", "Terminating", "Next"]);
    assert_eq!((of(&with_algorithm).unsplit_actions, of(body).unsplit_actions), (vec![], vec![]));
    let chooses = with_algorithm.replace("![self] = \"b\"]", "![self] = \"b\"] /\\ \\E z \\in {1} : pc' = pc'");
    assert!(of(&chooses).unsplit_actions.is_empty(), "a label is one action");
    assert_eq!(
        of(&with_algorithm).definitions,
        "TlaforgeFairVars == vars\nTlaforgeFair_p(self) == WF_TlaforgeFairVars(p(self))\n\
         TlaforgeFair_Next == WF_TlaforgeFairVars(Next) /\\ (\\A self \\in Procs : (TlaforgeFair_p(self)))\n\
         TlaforgeFairSpec == (Spec) /\\ TlaforgeFair_Next\n"
    );
}

#[tokio::test]
async fn a_deadlock_is_checked_with_every_number_one_larger() {
    let module = "EXTENDS Naturals\nCONSTANTS N, M, K, Set\nASSUME K < 3\nVARIABLES x\nvars == x\nInit == x = 0\n\
        Next == (x < N \\/ M > 2) /\\ x' = (x + 1) % 9\nSpec == Init /\\ [][Next]_vars\nSmall == x < N";
    let constants = "CONSTANTS N = 2 M = 2 K = 2 Set = {1}\n";
    let (outcome, probes) = probed(module, &format!("SPECIFICATION Spec\n{constants}")).await;
    let larger = probes.unwrap().larger_constants;
    let found: Vec<(&str, &ProbeResult)> = larger.iter().map(|l| (l.constant.as_str(), &l.result)).collect();
    let [
        ("K", ProbeResult::Inconclusive(_)),
        ("M", ProbeResult::Holds),
        ("N", ProbeResult::StillViolated { states: Some(4) }),
    ] = found[..]
    else {
        panic!("{found:?}")
    };
    assert!(larger[2].needs_longer_trace(3) && !larger[2].needs_longer_trace(4) && !larger[1].needs_longer_trace(1));
    let lines = probe_lines(&outcome);
    assert!(lines[1].contains("M = 3: VANISHES") && lines[2].contains("4 states instead of 3"), "{lines:?}");
    assert_eq!(lines[3], "not checked with more: Set = {1}");

    // Of an invariant, that invariant alone is looked for.
    let cfg = format!("SPECIFICATION Spec\n{constants}INVARIANT Small\nCHECK_DEADLOCK FALSE");
    let larger = probed(module, &cfg).await.1.unwrap().larger_constants;
    assert!(matches!(larger[1].result, ProbeResult::StillViolated { states: Some(3) }), "{larger:?}");
}

#[tokio::test]
async fn bounds_that_no_run_enlarges_are_named() {
    let module = "EXTENDS Naturals\nCONSTANTS Procs, p1, p2, Top, N\nLimit == 3\nTen == 10\nRange == 1..2\nUnused == 7\n\
        VARIABLES x\nInit == x = 0\nNext == x < Limit /\\ x' = x + 1 /\\ Range # {} /\\ Top = Top\nSpec == Init /\\ [][Next]_x\n\
        Small == x < 3 /\\ Procs # {} /\\ N > 0";
    let cfg = "SPECIFICATION Spec\nCONSTANTS p1 = p1 p2 = p2 Procs = {p1, p2} Top <- Ten N = 1\nINVARIANT Small";
    let (outcome, _) = probed(module, cfg).await;
    let lines = probe_lines(&outcome);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[1], "not checked with more: Procs = {p1, p2}; Top <- Ten; Limit == 3; Range == 1 .. 2");
}

#[tokio::test]
async fn a_violation_that_cannot_be_a_flaw_is_not_probed() {
    let module = "EXTENDS Naturals\nCONSTANT N\nVARIABLE x\nInit == x = 0\nNext == x' = (x + 1) % N\nSpec == Init /\\ [][Next]_x\nTypeOK == x < 2\nFine == x < N";
    let cfg = |name: &str| format!("SPECIFICATION Spec CONSTANT N = 3 INVARIANT {name}");
    assert_eq!(probed(module, &cfg("TypeOK")).await.1, None);
    assert_eq!(probed(module, &cfg("Fine")).await.1, None);
}
